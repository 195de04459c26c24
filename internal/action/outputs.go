package action

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/label-state/label-state/internal/printable"
)

// A transition is one entry of the transitions output.
type transition struct {
	Issue string   `json:"issue"`
	Was   []string `json:"was"`
	Is    []string `json:"is"`
	Why   string   `json:"why"`
	Error string   `json:"error,omitempty"`
}

// transitionsLimit keeps the transitions under the megabyte that a job's outputs may have.
const transitionsLimit = 700 << 10

func (r result) transitions() (string, error) {
	moved, size := []transition{}, 0
	changed, _ := r.findings()
	for _, f := range changed {
		t := transition{
			Issue: f.Issue.String(),
			Was:   append([]string{}, f.Was...),
			Is:    append([]string{}, f.Is...),
			Why:   printable.Short(explained(f, false), cellLimit),
		}

		if f.Err != nil {
			t.Error = printable.Short(f.Err.Error(), cellLimit)
		}
		one, err := json.Marshal(t)
		if err != nil {
			return "", err
		}
		if size += len(one); size > transitionsLimit {
			break
		}

		moved = append(moved, t)
	}

	all, err := json.Marshal(moved)
	return string(all), err
}

// writeOutputs writes the step's outputs in the runner's file format. The delimiter is random, so
// that no value can end its own block and start another output. They count what was done: a run
// that writes nothing has swept, repaired and moved nothing.
func (s *Step) writeOutputs(r result) error {
	if s.dry() {
		r.report.Findings = nil
	}
	moved, err := r.transitions()
	if err != nil {
		return err
	}

	_, swept, repaired := r.report.Totals()
	delimiter := "label-state-" + s.Word() + s.Word()
	var b strings.Builder
	for _, v := range [][2]string{
		{"examined", strconv.Itoa(len(r.report.Examined))},
		{"swept", strconv.Itoa(swept)},
		{"repaired", strconv.Itoa(repaired)},
		{"skipped", strconv.Itoa(len(r.report.Skipped))},
		{"failed", strconv.Itoa(r.report.Failed)},
		{"transitions", moved},
		{"refused", strconv.Itoa(len(r.refused))},
		{"incomplete", strconv.FormatBool(r.err != nil || len(r.unjudged) > 0 || !r.report.Complete())},
		{"next-sweep-advice", r.advice()},
	} {
		if strings.Contains(v[1], delimiter) {
			return fmt.Errorf("write output %s: value contains the delimiter", v[0])
		}
		fmt.Fprintf(&b, "%s<<%s\n%s\n%s\n", v[0], delimiter, v[1], delimiter)
	}

	_, err = io.WriteString(s.Output, b.String())
	return err
}

func (r result) advice() string {
	var called *InputError
	switch {
	case errors.As(r.err, &called):
		return "correct the step's inputs"
	case r.called:
		return "correct the workflow, or the configuration"
	case len(r.unjudged) > 0:
		return "run this check again: the guard could not judge"
	case r.readOnly():
		return "sweep with a token that may write: this one may only read"
	case r.err != nil:
		return "run again: nothing could be read"
	case len(r.report.Skipped) > 0:
		return "run again soon: something was not examined"
	case r.report.Failed > 0:
		return "run again: a write failed"
	}

	return "none"
}
