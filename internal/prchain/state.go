package prchain

import (
	"errors"
	"fmt"
	"slices"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/state"
)

// A Book is where states are kept, a page for each feature, so that a run that was killed can be
// gone on with.
type Book = state.Journal[State]

// A State is how far a plan was carried out.
type State struct {
	Plan  Plan       `json:"plan"`
	Parts []Progress `json:"parts"` // one for each part of the plan
}

// Progress is how far one part is.
type Progress struct {
	Base   string `json:"base,omitempty"`   // the branch it is for, once that is known
	Intent bool   `json:"intent,omitempty"` // it was about to be opened: there may be one already
	Number int    `json:"number,omitempty"` // of the pull request; 0 is not known
	URL    string `json:"url,omitempty"`
}

// id is the pull request of a part, counted from 0; its Number is 0 when it is not known.
func (s State) id(part int) claim.Issue {
	i, _ := parseIssue(s.Plan.Parts[part].Repo + "#0") // the plan was checked
	i.Number = s.Parts[part].Number
	return i
}

// region is what the body of a part, counted from 0, should say.
func (s State) region(part int) Region {
	r := Region{
		Feature: s.Plan.Feature,
		Parent:  s.Plan.Parent,
		Closes:  s.Plan.Closes,
		Part:    part + 1,
	}

	for n := range s.Parts {
		r.PRs = append(r.PRs, s.id(n))
	}

	return r
}

// UnmarshalJSON reads a state strictly: on the strength of one that is damaged, or of a later
// version, nothing may be opened, because pull requests are open that only it knows.
func (s *State) UnmarshalJSON(data []byte) error {
	type stateFile State // which has no method to read it
	var f stateFile
	if err := strict(data, &f); err != nil {
		return err
	}
	if err := f.Plan.Check(); err != nil {
		return err
	}
	if len(f.Parts) != len(f.Plan.Parts) {
		return fmt.Errorf("%d parts of a plan of %d", len(f.Parts), len(f.Plan.Parts))
	}

	for _, p := range f.Parts {
		if p.Number < 0 {
			return fmt.Errorf("pull request %d", p.Number)
		}
	}

	*s = State(f)
	return nil
}

// Load reads the state of a feature from a book. Errors are a wrong call for a name that is not a
// slug, ErrNoChain, and *state.UnreadableJournalError.
func Load(b Book, feature string) (State, error) {
	if err := CheckFeature(feature); err != nil {
		return State{}, err
	}
	s, found, err := b.Read(feature)
	if err == nil && !found {
		err = &answer.Problem{
			Code: answer.Usage,
			Why:  "no chain " + feature + " was begun here",
			Next: []answer.Command{answer.Call("begin it", "chain execute", "--feature", feature, "--parent",
				"owner/repo#7", "--pr", "owner/repo:branch")},
			Cause: ErrNoChain,
		}
	}

	if err == nil && s.Plan.Feature != feature {
		err = &state.UnreadableJournalError{
			File: b.File(feature),
			Err:  fmt.Errorf("it belongs to feature %s", quoted(s.Plan.Feature)),
		}
	}

	if err != nil {
		return State{}, err
	}

	return s, nil
}

// known is the state of a plan: that of a book, or a new one. A book may have another plan: a wrong
// call, unless nothing is or may be open for that one.
func known(b Book, p Plan) (State, error) {
	s, err := Load(b, p.Feature)
	another := err == nil && !s.Plan.same(p)
	begun := slices.ContainsFunc(s.Parts, func(p Progress) bool { return p.Intent || p.Number > 0 })
	switch {
	case errors.Is(err, ErrNoChain), another && !begun:
		return State{Plan: p, Parts: make([]Progress, len(p.Parts))}, nil
	case another:
		return State{}, &answer.Problem{
			Code: answer.Usage,
			Why:  "chain " + p.Feature + " was begun with another plan, which " + b.File(p.Feature) + " has",
			Next: []answer.Command{
				answer.Call("go on with that one", "chain execute", "--feature", p.Feature),
				answer.Advice("or move that file away and repeat the command: what is open for a part is found"),
			},
		}
	}

	return s, err
}
