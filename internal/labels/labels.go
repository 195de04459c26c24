// Package labels knows the lifecycle labels: their names and colours, which moves between them
// are legal, and which change gets an issue from what it has to what it should have.
//
// It is pure. Labels are a projection of the state and never decide anything; what an issue
// should show is package lifecycle's question.
package labels

import (
	"slices"
	"strings"
)

// A State is where an issue is in its life. At most one lifecycle label stands for it.
type State int

// The lifecycle states (spec.md#names).
const (
	None        State = iota
	Available         // eligible for autonomous pickup
	Claimed           // a worker holds it
	PlanPending       // its holder waits for go or no-go
	PROpen            // a pull request exists for it
	Done              // closed and shipped
)

// String returns the state's name in records, vectors and JSON.
func (s State) String() string {
	return [...]string{"none", "available", "claimed", "plan-pending", "pr-open", "done"}[s]
}

// MarshalText is the name, in JSON.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Scheme holds the names a repository uses. Names compare without case, as GitHub's do.
type Scheme struct {
	Available, Claimed, PlanPending, PROpen, Done string

	Stages []Stage // of a pipeline, in order; none usually

	Hold         string // a person's hold
	NeedsScope   string // too vague, or failed too often
	Blocked      string // has open blockers; set and removed automatically
	Authored     string // on pull requests written by an agent
	LargeFeature string
	BundlePrefix string
	Paused       string // exists in a repository that is paused
}

// Agent is the default preset: the names of the issue claim state machine.
func Agent() Scheme {
	return Scheme{
		Available:    "agent:implement",
		Claimed:      "agent:in-flight",
		PlanPending:  "agent:plan-pending-approval",
		PROpen:       "agent:pr-open",
		Done:         "agent:done",
		Hold:         "do-not-pickup",
		NeedsScope:   "needs:human-scope",
		Blocked:      "agent:blocked",
		Authored:     "agent:authored",
		LargeFeature: "agent:large-feature",
		BundlePrefix: "agent:bundle:",
		Paused:       "agent:paused",
	}
}

// Ready is the second preset, for repositories that queue with "ready".
func Ready() Scheme {
	s := Agent()
	s.Available, s.Claimed = "ready", "agent-working"
	return s
}

// A Definition is a label as it should exist in a repository. Color is six hexadecimal digits.
type Definition struct{ Name, Color, Description string }

// Among looks for the label among those that a repository has. differs says that its colour there
// is another than the definition's, which is not a fault where people chose it.
func (d Definition) Among(have []Definition) (differs string, found bool) {
	i := slices.IndexFunc(have, func(h Definition) bool { return Same(h.Name, d.Name) })
	if i < 0 || strings.EqualFold(have[i].Color, d.Color) {
		return "", i >= 0
	}
	return "colour " + have[i].Color + ", ours is " + d.Color, true
}

// Definitions lists every label a repository needs. The pause marker is not among them: its
// existence is the pause. GitHub allows 100 characters of description.
func (s Scheme) Definitions() []Definition {
	var out []Definition
	for _, queue := range s.Queues() {
		out = append(out, Definition{queue, "0e8a16", "Eligible for autonomous pickup"})
	}

	return append(out, []Definition{
		{s.Claimed, "e11d21", "A worker holds it; see the claim comment"},
		{s.PlanPending, "d4c5f9", "Plan posted, waiting for go or no-go"},
		{s.PROpen, "fbca04", "A pull request exists for it"},
		{s.Done, "0e8a16", "Closed and shipped"},
		{s.Hold, "5319e7", "A person holds it; agents keep off"},
		{s.NeedsScope, "e99695", "Too vague, or failed too often; a person must look"},
		{s.Blocked, "bfd4f2", "Has open blockers; wakes when the last one closes"},
		{s.Authored, "c2e0c6", "Pull request written by an agent"},
		{s.LargeFeature, "ff6b00", "Parent of work in several repositories"},
	}...)
}

// Name returns the label of a state; None has none. In a pipeline Available is the stage's (At).
func (s Scheme) Name(st State) string {
	return [...]string{"", s.Available, s.Claimed, s.PlanPending, s.PROpen, s.Done}[st]
}

// Lifecycle lists the lifecycle labels: five, or in a pipeline one for each stage and those beside
// it.
func (s Scheme) Lifecycle() []string {
	return append(s.Queues(), s.Claimed, s.PlanPending, s.PROpen, s.Done)
}

// Of returns the states whose labels are among have, in the order of the lifecycle.
func (s Scheme) Of(have []string) []State {
	var out []State
	for _, name := range s.Shown(have) {
		if st, ok := s.Parse(name); ok && !slices.Contains(out, st) {
			out = append(out, st)
		}
	}

	return out
}

// Parse returns the state whose label name is, or false.
func (s Scheme) Parse(name string) (State, bool) {
	for st := Claimed; st <= Done; st++ {
		if Same(name, s.Name(st)) {
			return st, true
		}
	}

	if Has(s.Queues(), name) {
		return Available, true
	}

	return None, false
}

// Same compares two label names as GitHub does: without case.
func Same(a, b string) bool { return strings.EqualFold(a, b) }

// Has reports whether name is among have.
func Has(have []string, name string) bool {
	return slices.ContainsFunc(have, func(h string) bool { return Same(h, name) })
}
