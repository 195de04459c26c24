package prchain

import (
	"fmt"
	"strings"
)

// A Check is one thing that judges a commit: a check run or a commit status.
type Check struct {
	Name string
	// State is GitHub's word, lower case: a run's conclusion once it is completed and its status
	// until then; a status's state.
	State string
}

// A Colour is what checks come to. The zero value is Pending.
type Colour int

// The colours of a commit, a pull request or a chain.
const (
	Pending Colour = iota // not finished, not known, or nothing was read
	Green
	Red
)

// String returns pending, green or red.
func (c Colour) String() string { return [...]string{"pending", "green", "red"}[c] }

// Judge is green only if there is a check and every one is; red if one is red.
func Judge(checks []Check) (Colour, string) {
	var red, waiting []string
	for _, c := range checks {
		switch c.State {
		case "success", "neutral", "skipped":
		case "failure", "error", "cancelled", "timed_out", "action_required", "startup_failure":
			red = append(red, c.Name+" "+c.State)
		default: // a word that is not known is pending, never green
			waiting = append(waiting, c.Name+" "+c.State)
		}
	}

	switch {
	case len(red) > 0:
		return Red, few(red)
	case len(waiting) > 0:
		return Pending, few(waiting)
	case len(checks) == 0:
		return Pending, "no check yet"
	}

	return Green, fmt.Sprintf("%d checks", len(checks))
}

// few names the first of many.
func few(names []string) string {
	const most = 3
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
