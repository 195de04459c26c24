package labels

import (
	"slices"
	"time"
)

// A Stage is one step of a pipeline. While an issue is in it, it shows the stage's label, and
// beside it the claimed label when somebody works on it.
type Stage struct {
	Name  string        // in records and on the command line
	Label string        // on issues
	TTL   time.Duration // lease of a claim in this stage that names none; 0 is the repository's
}

// Pipeline returns the scheme with stages: each but the last is a queue of its own, the last is
// done. Fewer than two are not a pipeline.
func (s Scheme) Pipeline(stages []Stage) Scheme {
	if len(stages) < 2 {
		return s
	}
	s.Stages = stages
	s.Done = stages[len(stages)-1].Label
	return s.At(0)
}

// At returns the scheme as it is for an issue in that stage: its queue is the stage's label.
// Without stages, and behind the last queue, nothing changes.
func (s Scheme) At(stage int) Scheme {
	if stage >= 0 && stage < len(s.Stages)-1 {
		s.Available = s.Stages[stage].Label
	}
	return s
}

// Stage returns the number of the stage that is called so, or -1.
func (s Scheme) Stage(name string) int {
	return slices.IndexFunc(s.Stages, func(t Stage) bool { return t.Name == name })
}

// StageOf returns the furthest stage whose label is among have, -1 when there is none.
func (s Scheme) StageOf(have []string) int {
	for n := len(s.Stages) - 1; n >= 0; n-- {
		if Has(have, s.Stages[n].Label) {
			return n
		}
	}
	return -1
}

// Queues are the labels of issues that are ready.
func (s Scheme) Queues() []string {
	if len(s.Stages) == 0 {
		return []string{s.Available}
	}
	var out []string
	for _, t := range s.Stages[:len(s.Stages)-1] {
		out = append(out, t.Label)
	}

	return out
}

// Shows returns the lifecycle labels that a projection asks for. In a pipeline an issue that
// somebody works on shows its stage as well, unless that is the last one, and one with a gate the
// plan label.
func (s Scheme) Shows(p Projection) []string {
	at := s.At(p.Stage)
	var out []string
	if p.Stage < len(s.Stages)-1 && p.State != None && p.State != Available && p.State != Done {
		out = append(out, at.Available)
	}

	if p.State != None {
		out = append(out, at.Name(p.State))
	}

	if p.Gate && p.State != PlanPending {
		out = append(out, s.PlanPending)
	}

	return out
}

// Shown are the lifecycle labels among have, in the order of the lifecycle, spelled as the scheme
// does.
func (s Scheme) Shown(have []string) []string {
	var out []string
	for _, name := range s.Lifecycle() {
		if Has(have, name) {
			out = append(out, name)
		}
	}

	return out
}
