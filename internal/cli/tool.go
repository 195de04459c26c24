package cli

// A Tool is what the MCP server alone needs to offer a verb. A verb is offered as several tools
// where an agent should see several, and as none where it has none.
type Tool struct {
	Name  string // snake_case
	Title string
	About string // for an agent, which reads it in every session
	Set   Toolset

	// The names of its arguments, with spaces between them: those of the verb's parameters that it
	// takes. What is not named, no text can talk an agent into.
	Takes string
	Needs string // which of them must be given, besides those that no call of the verb may leave out
	With  string // parameters that it sets: options without a value

	Wait   string // the parameter that says how long a call waits for others; as an argument it is "wait"
	Many   bool   // it answers with any number of objects
	Asks   bool   // no is an answer to its question, and not an error
	Worker bool   // it needs to know who works

	Reads    bool // it writes nothing
	Destroys bool // what it ends does not come back
	Repeats  bool // to ask twice is to ask once

	Untrusted string // paths in its answers with other people's text
}

// A Toolset is a group of tools that a server offers together.
type Toolset string

// The toolsets. The last two are offered only where that is asked for.
const (
	Core     Toolset = "core"     // claim, keep and end a hold
	Work     Toolset = "work"     // the queue and the board
	Plan     Toolset = "plan"     // the approval gate and stages
	Bundle   Toolset = "bundle"   // several issues, all or none
	Chain    Toolset = "chain"    // pull requests in several repositories
	Approver Toolset = "approver" // decides on what others mean to do
	Operator Toolset = "operator" // ends what others do
)

// Toolsets are those that are offered by their names.
func Toolsets() []Toolset { return []Toolset{Core, Work, Plan, Bundle, Chain} }
