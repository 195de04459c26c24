package prchain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/label-state/label-state/internal/claim"
)

// A PlanFile is how a plan is written in JSON; keys are stable.
type PlanFile struct {
	Feature string `json:"feature"`
	Parent  string `json:"parent"`
	Closes  int    `json:"closes"`
	Parts   []Part `json:"parts"`
}

// MarshalJSON writes the plan as a plan file.
func (p Plan) MarshalJSON() ([]byte, error) {
	return json.Marshal(PlanFile{
		Feature: p.Feature,
		Parent:  p.Parent.String(),
		Closes:  p.Closes,
		Parts:   p.Parts,
	})
}

// UnmarshalJSON reads a plan file. Keys it does not know are errors; whether the plan can be is not
// asked.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var in PlanFile
	if err := strict(data, &in); err != nil {
		return err
	}

	parent, err := parseIssue(in.Parent)
	if err != nil {
		return fmt.Errorf("parent %w", err)
	}

	*p = Plan{
		Feature: in.Feature,
		Parent:  parent,
		Closes:  in.Closes,
		Parts:   in.Parts,
	}
	for n := range p.Parts {
		part := &p.Parts[n]
		part.Branch, part.Base = strings.TrimPrefix(part.Branch, heads), strings.TrimPrefix(part.Base, heads)
	}

	return nil
}

// ReadPlan reads a plan file and checks it. The error is a wrong call.
func ReadPlan(data []byte) (Plan, error) {
	var p Plan
	if err := strict(data, &p); err != nil {
		return Plan{}, refuse("read plan: %s", err)
	}
	return p, p.Check()
}

// strict decodes one JSON value with known keys and nothing behind it.
func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("unexpected data after it")
	}

	return nil
}

// parseIssue reads owner/repo#7; #0 is a pull request that is not open yet.
func parseIssue(text string) (claim.Issue, error) {
	where, digits, _ := strings.Cut(text, "#")
	owner, repo, full := strings.Cut(where, "/")
	number, err := strconv.ParseUint(digits, 10, 31)
	if !full || err != nil || strconv.FormatUint(number, 10) != digits {
		return claim.Issue{}, fmt.Errorf("%s: expected owner/repo#7", quoted(text))
	}

	return claim.Issue{Owner: owner, Repo: repo, Number: int(number)}, nil
}
