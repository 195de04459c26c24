package prchain

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
)

// A Region is what the body of a pull request says of its chain: the lines between two marks, all
// of them ours. The first mark holds every fact; the lines below it are for people.
type Region struct {
	Feature string
	Parent  claim.Issue
	Closes  int // the part that closes the parent, from 1; 0 is none
	Part    int // which part this is, from 1
	// PRs are the pull requests in order; Number is 0 for one that is not open yet.
	PRs []claim.Issue
}

const (
	beginMark = "<!-- label-state:chain"
	endMark   = "<!-- /label-state:chain -->"
)

// ErrDamaged is a body whose marks are not one beginning and one end behind it, or say nothing
// readable.
var ErrDamaged = errors.New("the marks of the chain's region are damaged")

var beginLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^<!-- label-state:chain feature=(\S+) part=(\d{1,2})/(\d{1,2}) parent=(\S+) closes=(\d{1,2}) prs=(\S+) -->$`)
})

// String is the region as it stands in a body, without a line end behind it.
func (r Region) String() string {
	var b strings.Builder
	names := make([]string, len(r.PRs))
	for n, p := range r.PRs {
		names[n] = p.String()
	}

	fmt.Fprintf(&b, "%s feature=%s part=%d/%d parent=%s closes=%d prs=%s -->\n",
		beginMark, r.Feature, r.Part, len(r.PRs), r.Parent, r.Closes, strings.Join(names, ","))
	fmt.Fprintf(&b, "Part %d of %d of `%s`, for %s:\n\n", r.Part, len(r.PRs), r.Feature, r.Parent)

	for n, p := range r.PRs {
		name, remark := p.String(), ""
		switch {
		case n+1 == r.Part:
			remark = " (this PR)"
		case p.Number == 0:
			remark = " (not open yet)"
		}

		if p.Number == 0 {
			name = p.Slug()
		}
		fmt.Fprintf(&b, "%d. %s%s\n", n+1, name, remark)
	}

	if r.Part == r.Closes {
		fmt.Fprintf(&b, "\nCloses %s\n", r.Parent)
	}
	b.WriteString(endMark)

	return b.String()
}

// Find reads the region of a body. ok is false when there is none; the error is ErrDamaged.
func Find(body string) (r Region, ok bool, err error) {
	start, end, err := locate(body)
	if err != nil || start == end {
		return Region{}, false, err
	}

	line, _, _ := strings.Cut(body[start:end], "\n")
	m := beginLine().FindStringSubmatch(strings.TrimSuffix(line, "\r"))
	if m == nil {
		return Region{}, false, ErrDamaged
	}

	parent, err := parseIssue(m[4])
	if err != nil || parent.Number == 0 {
		return Region{}, false, ErrDamaged
	}

	r = Region{
		Feature: m[1],
		Parent:  parent,
		Part:    number(m[2]),
		Closes:  number(m[5]),
	}

	for text := range strings.SplitSeq(m[6], ",") {
		p, err := parseIssue(text)
		if err != nil || !closing.ValidRepo(p.In()) {
			return Region{}, false, ErrDamaged
		}
		r.PRs = append(r.PRs, p)
	}

	if of := number(m[3]); of != len(r.PRs) || of > maxParts || r.Part < 1 || r.Part > of || r.Closes > of ||
		CheckFeature(r.Feature) != nil {
		return Region{}, false, ErrDamaged
	}

	return r, true, nil
}

// Replace puts a region into a body: in the place of the one that is there, else after everything.
// All other bytes stay. A body whose marks are damaged, or which is part of another chain, is
// refused.
func Replace(body string, r Region) (string, error) {
	old, found, err := Find(body)
	switch {
	case err != nil:
		return "", err
	case found && (old.Feature != r.Feature || !old.Parent.Same(r.Parent)):
		return "", fmt.Errorf("it is part of chain %s for %s already", old.Feature, old.Parent)
	case !found && body == "":
		return r.String(), nil
	case !found && strings.HasSuffix(body, "\n"):
		return body + "\n" + r.String(), nil
	case !found:
		return body + "\n\n" + r.String(), nil
	}

	start, end, _ := locate(body)
	if strings.ReplaceAll(body[start:end], "\r\n", "\n") == r.String() { // editors on the web change line ends
		return body, nil
	}

	return body[:start] + r.String() + body[end:], nil
}

// locate finds the region's bytes; start equals end when there is none.
func locate(body string) (start, end int, err error) {
	start, end = -1, -1
	at := 0
	for line := range strings.Lines(body) {
		text := strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(text, beginMark):
			if start >= 0 {
				return 0, 0, ErrDamaged
			}
			start = at

		case text == endMark:
			if start < 0 || end >= 0 {
				return 0, 0, ErrDamaged
			}
			end = at + len(text)
		}

		at += len(line)
	}

	if (start < 0) != (end < 0) {
		return 0, 0, ErrDamaged
	}

	return max(start, 0), max(end, 0), nil
}

// number reads digits that a pattern has let through.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// Names reports whether the region of the pull request p agrees with o, the region of another one,
// that both are of one chain: o lists p as the part that it says it is, and p lists the other at
// that one's place, or does not know it yet.
func (r Region) Names(p claim.Issue, o Region, other claim.Issue) bool {
	if r.Feature != o.Feature || !r.Parent.Same(o.Parent) || r.Closes != o.Closes || len(r.PRs) != len(o.PRs) ||
		r.Part == o.Part {
		return false
	}

	there := r.PRs[o.Part-1]
	known := there.Same(other) || there.Number == 0 && strings.EqualFold(there.Slug(), other.Slug())
	return known && o.PRs[r.Part-1].Same(p)
}
