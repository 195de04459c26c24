package cli

import (
	"time"

	"github.com/label-state/label-state/internal/setup"
)

// Shared are the parameters that the code which all verbs share reads. A Call takes them over from
// the verb's struct, by name and kind.
type Shared struct {
	Common
	Repo     string
	Repos    Repos
	Names    []string
	DryRun   bool
	Local    bool
	Codename string
	FiringID string
	Token    int64
	Agent    string
	Issue    string
}

// Common are the parameters of every verb that asks GitHub.
type Common struct {
	Config  string        `flag:"config" value:"FILE" text:"configuration (default: .github/label-state.yml of the repository)" show:"common"`
	Timeout time.Duration `flag:"timeout" text:"give up after this long, such as 30s" show:"common"`
	JSON    bool          `flag:"json" text:"answer with JSON, one object a line" show:"common"`
	Verbose bool          `flag:"verbose" text:"say on stderr what is asked of GitHub" show:"common"`
	NoColor bool          `flag:"no-color" text:"plain text" show:"common"`
}

// Answering is for verbs that concern this machine only.
type Answering struct {
	JSON bool `flag:"json" text:"answer with JSON, one object a line" show:"common"`
}

// Here is Answering for verbs that may take long.
type Here struct {
	Timeout time.Duration `flag:"timeout" text:"give up after this long, such as 30s" show:"common"`
	Answering
}

// OneRepo is for verbs about one repository, or about an issue of one.
type OneRepo struct {
	Repo string `flag:"repo,R" value:"OWNER/NAME" text:"repository (default: this clone's)" show:"common"`
	Common
}

// Rehearsal is for verbs that write. A dry run sends no request that does.
type Rehearsal struct {
	DryRun bool `flag:"dry-run" text:"look and report, write nothing" show:"common"`
}

// Writing is OneRepo for verbs that write.
type Writing struct {
	Rehearsal
	OneRepo
}

// SomeRepos are for verbs about any number of repositories.
type SomeRepos struct {
	Names []string `arg:"[OWNER/NAME]..."`
	Repos Repos    `flag:"repo,R" value:"OWNER/NAME" text:"repository; may be repeated, or several with commas" show:"common"`
	Common
}

// Named are the repositories that arguments and --repo name, each once. Each may be several, with
// commas between.
func (s Shared) Named() []string { return setup.Listed(append(s.Names, s.Repos...)...) }

// AnIssue is for verbs about one issue (cli.md#naming-an-issue).
type AnIssue struct {
	Issue string `arg:"ISSUE" text:"owner/repo#7, its URL, or #7 or 7 of this repository"`
}

// HeldIssue is AnIssue where it may be the one that the environment names or this worktree holds.
type HeldIssue struct {
	Issue string `arg:"[ISSUE]" text:"owner/repo#7, its URL, or #7 or 7 of this repository"`
}

// Identity says which worker asks.
type Identity struct {
	Codename string `flag:"codename" value:"NAME" text:"which kind of worker (default: LABEL_STATE_CODENAME)"`
	FiringID string `flag:"firing-id" value:"ID" text:"key of this run, which claim makes up (default: LABEL_STATE_FIRING_ID, else as recorded here)" show:"all"`
}

// Holder says who holds an issue, and proves that it is the hold that stands.
type Holder struct {
	Identity
	Token int64 `flag:"token" value:"N" text:"fencing token that claim printed (default: recorded)" show:"all"`
}

// OfAgent is for verbs that an agent of a fleet works with.
type OfAgent struct {
	Agent string `flag:"agent" value:"NAME" text:"agent of the configuration, with its work source" show:"all"`
}

// Claiming says how a worker claims.
type Claiming struct {
	TTL    time.Duration `flag:"ttl" text:"lease, such as 2h (default: as configured; of run: 30m)"`
	Branch string        `flag:"branch" value:"BRANCH" text:"branch that the work will be pushed to"`
	Resume bool          `flag:"resume" text:"take over the hold of another process of this run; that process is fenced off" show:"all"`
}

// Stopping is for verbs that run another program.
type Stopping struct {
	Grace *time.Duration `flag:"grace" text:"time between TERM and KILL (default: 10s)" show:"all"`
}

// Program is what a command line runs under a hold, with its input.
func (s Stopping) Program(c *Call, args []string) Program {
	p := Program{args, c.In, defaultGrace}
	if s.Grace != nil {
		p.Grace = *s.Grace
	}
	return p
}

// Because says why, which may be left open.
type Because struct {
	Reason *string `flag:"reason" text:"why, for people"`
}

// Why is the reason; empty where none is given.
func (b Because) Why() string {
	if b.Reason == nil {
		return ""
	}
	return *b.Reason
}
