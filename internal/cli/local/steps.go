package local

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/cli"
)

// An InitStep is one thing that a repository needs, and how it was found.
type InitStep struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Status string `json:"status"`           // there, missing, kept
	Detail string `json:"detail,omitempty"` // what it is for, or what differs
	// what is left to a person, in lines without the last line break; empty for nothing
	Next string `json:"next,omitempty"`

	Do   func(context.Context) error `json:"-"` // makes what is missing; a *KeptError leaves it as it was
	Done string                      `json:"-"` // the status afterwards
	// that Do creates, from the top of the worktree and with slashes; empty for none
	File string `json:"-"`
	// that it is here, and the default branch has it not yet
	Unlanded bool   `json:"-"`
	Undo     string `json:"-"` // a command that undoes what Do does besides what the kind says; empty for none
}

// How a step is found, and what becomes of it.
const (
	stepThere   = "there"
	stepMissing = "missing"
	stepKept    = "kept" // a person's: left alone
)

// A KeptError says that there is a person's work in the place, which stays.
type KeptError struct{ Why string }

func (e *KeptError) Error() string { return e.Why }

// takeSteps does what is missing, in order, and says so as it goes. It returns what it did. What
// was done before an error stays.
func takeSteps(ctx context.Context, c *cli.Call, steps []InitStep) (did []InitStep, err error) {
	for _, s := range steps {
		if s.Status == stepMissing {
			err := s.Do(ctx)
			var kept *KeptError
			switch {
			case errors.As(err, &kept):
				s.Status, s.Detail = stepKept, cli.OneLine(kept.Why)
			case err != nil:
				return did, err
			default:
				s.Status = s.Done
				did = append(did, s)
			}
		}

		if err := showStep(c, s); err != nil {
			return did, err
		}
	}

	return did, nil
}

// showStep tells what became of one step; what was there is only told in JSON. What something is
// for is said before, what differs also after.
func showStep(c *cli.Call, s InitStep) error {
	text, note := "", ""
	if s.Status == stepKept {
		note = s.Detail
	}

	if s.Status != stepThere {
		text = strings.TrimRight(fmt.Sprintf("%-9s %s %s  %s", s.Status, s.Kind, s.Name, note), " ") + "\n"
	}

	return c.Tell(s, text)
}

// showSteps previews the steps below a title, or in JSON.
func showSteps(c *cli.Call, title string, steps []InitStep, last string) error {
	if err := c.Tell(nil, previewSteps(title, steps)+last); err != nil {
		return err
	}

	for _, s := range steps {
		if err := c.Answer(s, ""); err != nil {
			return err
		}
	}

	return nil
}

// previewSteps lists the steps as a diff would: + is made, = is there, ! is a person's and stays.
func previewSteps(repo string, steps []InitStep) string {
	wide := 0
	for _, s := range steps {
		wide = max(wide, len(s.Kind)+1+len(s.Name))
	}

	signs := map[string]string{stepThere: "=", stepMissing: "+", stepKept: "!"}
	out := repo + "\n"
	for _, s := range steps {
		line := strings.TrimRight(fmt.Sprintf("  %s %-*s  %s", signs[s.Status], wide, s.Kind+" "+s.Name,
			s.Detail), " ")
		out += line + "\n"
	}

	return out
}

// largestFile is the size in bytes above which a file that init would write is somebody else's.
const largestFile = 1 << 20

// labelSteps are the labels. Colours that people chose stay.
func labelSteps(ctx context.Context, c *cli.Call) ([]InitStep, error) {
	have, err := c.Session.Client.Labels(ctx, c.Session.Repo)
	if err != nil {
		return nil, err
	}

	var out []InitStep
	want := c.Rules().Scheme.Definitions()
	for n, v := range cli.CompareLabels(want, have) {
		s := InitStep{
			Kind:   "label",
			Name:   v.Name,
			Status: stepThere,
			Detail: v.Detail,
			Done:   "created",
		}

		if v.Status == "missing" {
			s.Status, s.Detail = stepMissing, want[n].Description
			s.Do = func(ctx context.Context) error { return c.Session.Client.CreateLabel(ctx, c.Session.Repo, want[n]) }
		}

		out = append(out, s)
	}

	return out, nil
}
