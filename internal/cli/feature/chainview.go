package feature

import (
	"cmp"
	"fmt"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/prchain"
)

// A ChainView is the JSON of a chain.
type ChainView struct {
	Feature string      `json:"feature"`
	Parent  string      `json:"parent"`
	Answer  string      `json:"answer"` // done, incomplete or dry-run; green, red or pending
	Parts   []ChainPart `json:"parts"`

	cli.Negative
}

// A ChainPart is the JSON of one pull request of a chain.
type ChainPart struct {
	Part    int    `json:"part"`
	Repo    string `json:"repo"`
	Branch  string `json:"branch"`
	PR      string `json:"pr,omitempty"` // absent while it is not open yet
	URL     string `json:"url,omitempty"`
	State   string `json:"state,omitempty"`   // open, closed or merged
	Opened  bool   `json:"opened,omitempty"`  // by this run
	Changed bool   `json:"changed,omitempty"` // its body, by this run
	Error   string `json:"error,omitempty"`   // why its body was left alone
	Checks  string `json:"checks,omitempty"`  // green, red or pending
	Why     string `json:"why,omitempty"`
}

// viewChain is a chain as it was found, with the pull requests that there are.
func viewChain(r prchain.Result, word string) ChainView {
	v := ChainView{
		Feature: r.Plan.Feature,
		Parent:  r.Plan.Parent.String(),
		Answer:  word,
		Parts:   []ChainPart{},
	}

	for n, o := range r.Parts {
		part := r.Plan.Parts[n]
		one := ChainPart{
			Part:    n + 1,
			Repo:    part.Repo,
			Branch:  part.Branch,
			Opened:  o.Opened,
			Changed: o.Changed,
			Why:     cli.OneLine(o.Why),
		}

		if o.Pull.ID != (claim.Issue{}) {
			one.PR, one.URL, one.State = o.Pull.ID.String(), cli.OneLine(o.Pull.URL), o.Pull.State
		}

		if o.Err != nil {
			one.Error = cli.OneLine(o.Err.Error())
		}

		v.Parts = append(v.Parts, one)
	}

	return v
}

// answerChain says what became of a chain; opened is what is said of pull requests that were not
// there. With a problem that is the answer.
func answerChain(c chainCall, r prchain.Result, word, opened string, problem error) error {
	v := viewChain(r, word)
	return c.tell(v, v.text(func(p ChainPart) []string {
		did := ""
		switch {
		case p.Error != "":
			did = "left alone: " + p.Error
		case p.Opened:
			did = opened
		case p.Changed:
			did = "brought up to date"
		}

		return []string{p.State, did, p.URL}
	}), problem)
}

// answerReport says how the checks of a chain stand. With a problem that is the answer.
func answerReport(c chainCall, r prchain.Result, problem error) error {
	v := viewChain(r, r.Colour().String())
	for n, o := range r.Parts {
		v.Parts[n].Checks = o.Colour.String()
	}

	text := v.text(func(p ChainPart) []string { return []string{p.State, p.Checks, p.Why, p.URL} })
	return c.tell(v, fmt.Sprintf("%s%s: %s\n", text, v.Feature, v.Answer), problem)
}

// tell answers with the chain as it is, also where a problem is the answer.
func (c chainCall) tell(v ChainView, text string, problem error) error {
	if problem == nil {
		return c.Answer(v, text)
	}
	return c.Decline(problem, text, &v)
}

func (v ChainView) text(rest func(p ChainPart) []string) string {
	var rows [][]string
	for _, p := range v.Parts {
		name := cmp.Or(p.PR, p.Repo+" ("+p.Branch+")")
		rows = append(rows, append([]string{fmt.Sprintf("%d/%d", p.Part, len(v.Parts)), name}, rest(p)...))
	}
	return cli.Columns(rows)
}
