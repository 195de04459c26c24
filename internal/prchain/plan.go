// Package prchain opens the pull requests of one feature in several repositories, in order and each
// once, keeps them pointing at each other, and says what became of their checks.
//
// A Plan is data. Execute carries it out and can be repeated after any interruption: it writes down
// what it is about to do, and looks for a pull request before it opens one. What a body says of its
// chain is a Region, the only part of a body that is ever changed.
package prchain

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
	"github.com/label-state/label-state/internal/labels"
)

// A Plan is a feature's pull requests in the order in which they are opened.
type Plan struct {
	Feature string      // see labels.CheckFeature
	Parent  claim.Issue // the issue that the feature is for
	Closes  int         // the part, counted from 1, whose merge closes the parent; 0 is none
	Parts   []Part
}

// A Part is one pull request of a plan.
type Part struct {
	Repo   string `json:"repo"`            // owner/name
	Branch string `json:"branch"`          // in that repository; it is there when the plan is carried out
	Base   string `json:"base,omitempty"`  // empty is the default branch
	Title  string `json:"title,omitempty"` // empty is made up from the feature
	Body   string `json:"body,omitempty"`  // what people read above the region; may be empty
}

// refuse says what in a plan cannot be.
func refuse(format string, args ...any) error {
	return &answer.Problem{Code: answer.Usage, Why: fmt.Sprintf(format, args...)}
}

// The limits of a plan.
const (
	maxParts = 50
	maxTitle = 256   // GitHub's own
	maxBody  = 60000 // GitHub's 65536 characters, less the region
)

// CheckFeature returns a wrong call unless the name is a slug that can name a file.
func CheckFeature(name string) error {
	if err := labels.CheckFeature(name); err != nil {
		return refuse("feature %s", err)
	}
	return nil
}

// Check returns a wrong call for the first thing in a plan that GitHub or git would not take, or
// that two parts would fight about.
func (p Plan) Check() error {
	if err := CheckFeature(p.Feature); err != nil {
		return err
	}

	switch {
	case !closing.ValidRepo(p.Parent.In()) || p.Parent.Number < 1:
		return refuse("parent %s: expected owner/repo#7", quoted(p.Parent.String()))
	case len(p.Parts) == 0:
		return refuse("no pull request: expected at least one")
	case len(p.Parts) > maxParts:
		return refuse("%d pull requests: expected at most %d", len(p.Parts), maxParts)
	case p.Closes < 0 || p.Closes > len(p.Parts):
		return refuse("part %d is to close the parent: there are %d", p.Closes, len(p.Parts))
	}

	seen := map[string]int{}
	for n, part := range p.Parts {
		if err := part.check(); err != nil {
			return refuse("part %d: %s", n+1, err)
		}
		head := strings.ToLower(part.Repo) + ":" + part.Branch
		if first := seen[head]; first > 0 {
			return refuse("part %d: branch %s of %s is part %d already", n+1, quoted(part.Branch), part.Repo, first)
		}

		seen[head] = n + 1
	}

	return nil
}

func (p Part) check() error {
	owner, name, ok := strings.Cut(p.Repo, "/")
	if !ok || !closing.ValidRepo(claim.Repo{Owner: owner, Name: name}) {
		return fmt.Errorf("repository %s: expected owner/name", quoted(p.Repo))
	}
	if !branchName(p.Branch) {
		return fmt.Errorf("branch %s: not a name that git accepts", quoted(p.Branch))
	}

	switch {
	case p.Base != "" && !branchName(p.Base):
		return fmt.Errorf("base %s: not a name that git accepts", quoted(p.Base))
	case p.Base == p.Branch:
		return fmt.Errorf("base %s: it is the branch itself", quoted(p.Base))
	case len(p.Title) > maxTitle || strings.ContainsFunc(p.Title, unprintable):
		return fmt.Errorf("title: expected one line of at most %d bytes", maxTitle)
	case len(p.Body) > maxBody:
		return fmt.Errorf("body of %d bytes: expected at most %d", len(p.Body), maxBody)
	}

	if _, _, err := locate(p.Body); err != nil || strings.Contains(p.Body, beginMark) {
		return fmt.Errorf("body: it has lines that begin with %s, which mark the chain's own part", beginMark)
	}

	return nil
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// branchName reports whether a chain can be for the branch: git takes the name, and it is short
// enough and printable.
func branchName(name string) bool {
	parsed, err := claim.ParseBranch(name)
	return err == nil && parsed == name && len(name) <= 200 && !strings.ContainsFunc(name, unprintable)
}

// Title is what the pull request of a part, counted from 1, is called.
func (p Plan) Title(part int) string {
	if t := p.Parts[part-1].Title; t != "" {
		return t
	}
	return fmt.Sprintf("%s (%d/%d)", p.Feature, part, len(p.Parts))
}

// same reports whether two plans mean the same pull requests.
func (p Plan) same(o Plan) bool {
	if p.Feature != o.Feature || !p.Parent.Same(o.Parent) || p.Closes != o.Closes || len(p.Parts) != len(o.Parts) {
		return false
	}

	for n, a := range p.Parts {
		b := o.Parts[n]
		if !strings.EqualFold(a.Repo, b.Repo) || a.Branch != b.Branch || a.Base != b.Base ||
			p.Title(n+1) != o.Title(n+1) || a.Body != b.Body {
			return false
		}
	}

	return true
}

// heads begins a reference that is a branch.
const heads = "refs/heads/"

// ParsePart reads owner/repo:branch[:base][=title]. Branches with an equals sign need a file.
func ParsePart(text string) (Part, error) {
	where, title, _ := strings.Cut(text, "=")
	words := strings.Split(where, ":")
	if len(words) < 2 || len(words) > 3 {
		return Part{}, refuse("pull request %s: expected owner/repo:branch, owner/repo:branch:base, either with =title",
			quoted(text))
	}

	part := Part{Repo: words[0], Branch: strings.TrimPrefix(words[1], heads), Title: title}
	if len(words) == 3 {
		part.Base = strings.TrimPrefix(words[2], heads)
		if part.Base == "" {
			return Part{}, refuse("pull request %s: the base is empty", quoted(text))
		}
	}

	if err := part.check(); err != nil {
		return Part{}, refuse("pull request %s: %s", quoted(text), err)
	}

	return part, nil
}

// quoted shows somebody's text in an error, cut short.
func quoted(s string) string { return fmt.Sprintf("%q", labels.Begin(s)) }
