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

// viewPlan is a chain as its plan has it, with the pull requests that there are.
func viewPlan(p prchain.Plan, word string, pull func(n int) prchain.Pull) ChainView {
	v := ChainView{
		Feature: p.Feature,
		Parent:  p.Parent.String(),
		Answer:  word,
		Parts:   []ChainPart{},
	}

	for n, part := range p.Parts {
		one := ChainPart{Part: n + 1, Repo: part.Repo, Branch: part.Branch}
		if found := pull(n); found.ID != (claim.Issue{}) {
			one.PR, one.URL, one.State = found.ID.String(), cli.OneLine(found.URL), found.State
		}
		v.Parts = append(v.Parts, one)
	}

	return v
}

// answerChain says what became of a chain; opened is what is said of pull requests that were not
// there. With a problem that is the answer.
func answerChain(c chainCall, r prchain.Result, word, opened string, problem error) error {
	v := viewPlan(r.Plan, word, func(n int) prchain.Pull { return r.Parts[n].Pull })
	for n, o := range r.Parts {
		v.Parts[n].Opened, v.Parts[n].Changed = o.Opened, o.Changed
		if o.Err != nil {
			v.Parts[n].Error = cli.OneLine(o.Err.Error())
		}
	}

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
func answerReport(c chainCall, r prchain.Report, problem error) error {
	v := viewPlan(r.Plan, r.Colour().String(), func(n int) prchain.Pull { return r.Parts[n].Pull })
	for n, s := range r.Parts {
		v.Parts[n].Checks, v.Parts[n].Why = s.Colour.String(), cli.OneLine(s.Why)
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
