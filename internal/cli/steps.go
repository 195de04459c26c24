package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// A Step is one thing that a repository needs, and how it was found.
type Step struct {
	Kind, Name string
	Status     string                      // there, missing, kept
	Detail     string                      // what it is for, or what differs
	Do         func(context.Context) error // makes what is missing; a *keptError leaves it as it was
	Done       string                      // the status afterwards
	// that Do creates, from the top of the worktree and with slashes; empty for none
	File string
	// what is left to a person, in lines without the last line break; empty for nothing
	Next string
	Undo string // a command that undoes what Do does besides what the kind says; empty for none
}

// How a step is found, and what becomes of it.
const (
	StepThere   = "there"
	StepMissing = "missing"
	StepKept    = "kept" // a person's: left alone
)

// A KeptError says that there is a person's work in the place, which stays.
type KeptError struct{ Why string }

func (e *KeptError) Error() string { return e.Why }

// An InitView is the JSON of a step.
type InitView struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Status string `json:"status"`
	Detail string `json:"detail,omitempty"`
	Next   string `json:"next,omitempty"`
}

// view is the JSON of a step as it is now.
func (s Step) view() InitView {
	return InitView{
		Kind:   s.Kind,
		Name:   s.Name,
		Status: s.Status,
		Detail: OneLine(s.Detail),
		Next:   s.Next,
	}
}

// TakeSteps does what is missing, in order, and says so as it goes. It returns what it did. What
// was done before an error stays.
func TakeSteps(ctx context.Context, c *Call, steps []Step) (did []Step, err error) {
	for _, s := range steps {
		if s.Status == StepMissing {
			err := s.Do(ctx)
			var kept *KeptError
			switch {
			case errors.As(err, &kept):
				s.Status, s.Detail = StepKept, kept.Why
			case err != nil:
				return did, err
			default:
				s.Status = s.Done
				did = append(did, s)
			}
		}

		if err := ShowStep(c, s); err != nil {
			return did, err
		}
	}

	return did, nil
}

// ShowStep tells what became of one step; what was there is only told in JSON. What something is
// for is said before, what differs also after.
func ShowStep(c *Call, s Step) error {
	text, note := "", ""
	if s.Status == StepKept {
		note = OneLine(s.Detail)
	}

	if s.Status != StepThere {
		text = strings.TrimRight(fmt.Sprintf("%-9s %s %s  %s", s.Status, s.Kind, s.Name, note), " ") + "\n"
	}

	return c.Tell(s.view(), text)
}

// ShowSteps previews the steps below a title, or in JSON.
func ShowSteps(c *Call, title string, steps []Step, last string) error {
	if err := c.Tell(nil, Preview(title, steps)+last); err != nil {
		return err
	}

	for _, s := range steps {
		if err := c.Answer(s.view(), ""); err != nil {
			return err
		}
	}

	return nil
}

// Preview lists the steps as a diff would: + is made, = is there, ! is a person's and stays.
func Preview(repo string, steps []Step) string {
	wide := 0
	for _, s := range steps {
		wide = max(wide, len(s.Kind)+1+len(s.Name))
	}

	signs := map[string]string{StepThere: "=", StepMissing: "+", StepKept: "!"}
	out := repo + "\n"
	for _, s := range steps {
		line := strings.TrimRight(fmt.Sprintf("  %s %-*s  %s", signs[s.Status], wide, s.Kind+" "+s.Name,
			OneLine(s.Detail)), " ")
		if s.Status != StepKept { // what differs is worth a long line
			line = ansi.Truncate(line, HelpWidth, "…")
		}
		out += line + "\n"
	}

	return out
}

// LargestFile is the size in bytes above which a file that init would write is somebody else's.
const LargestFile = 1 << 20
