package lifecycle

import (
	"fmt"
	"maps"

	"github.com/label-state/label-state/internal/claim"
)

// MostIssues is how many issues an open pull request may move, whoever opened it
// (spec.md#facts-of-a-pull-request).
const MostIssues = 20

// An Excess is an open pull request that names more issues than it may move. It moves none of them.
type Excess struct {
	PR     PR
	Issues int // that it names; so many that the rest was not read are 1,000
	Before int // issues that older open pull requests of the same stranger move
	Most   int // 0: a stranger's pull request in another repository, which moves none in this one
}

// String says so in one clause.
func (e Excess) String() string {
	issues := fmt.Sprint(e.Issues, " issues")
	switch {
	case e.Issues == 1:
		issues = "1 issue"
	case e.Issues >= 1000:
		issues = "1,000 issues or more"
	}

	switch {
	case e.Most == 0:
		return fmt.Sprintf("pull request %s is in another repository, and records of %s do not count here, so it moves no issue here", e.PR, e.PR.Author)
	case e.Before > 0:
		return fmt.Sprintf("pull request %s names %s; with the %d of the older open pull requests of %s that is more than the %d they may move together, so it moves none",
			e.PR, issues, e.Before, e.PR.Author, e.Most)
	}

	return fmt.Sprintf("pull request %s names %s, more than the %d it may move, so it moves none", e.PR, issues, e.Most)
}

// A Standing is what is known of who opened a pull request (spec.md#facts-of-a-pull-request).
type Standing int

// The standings.
const (
	Member   Standing = iota // their records count, or it could not be found out
	Outsider                 // their records are known not to count
	Stranger                 // an outsider who is neither an App nor belongs to the issue's repository
)

// Excessive says which open pull requests move none of the issues that they name
// (spec.md#facts-of-a-pull-request); nil is one that moves them. named is what each names. Of a
// stranger these are all open ones in the repository, oldest first; of anybody else each is judged
// alone. elsewhere says that they are in another repository than the issue. most is
// outsider_issues. The caller knows which pull request an Excess is of.
func Excessive(who Standing, elsewhere bool, most int, named [][]claim.Issue) []*Excess {
	out := make([]*Excess, len(named))
	fits, before := allowance(most, named)
	for n, issues := range named {
		switch count := len(distinct(issues)); {
		case count > MostIssues:
			out[n] = &Excess{Issues: count, Most: MostIssues}
		case who != Member && count > most:
			out[n] = &Excess{Issues: count, Most: most}
		case who == Stranger && elsewhere:
			out[n] = &Excess{Issues: count}
		case who == Stranger && !fits[n]:
			out[n] = &Excess{Issues: count, Before: before[n], Most: most}
		}
	}

	return out
}

// allowance decides which pull requests move the issues that they name, oldest first: one moves
// them if they are, with those that its predecessors move, no more than most. before is how many
// issues the predecessors move.
func allowance(most int, named [][]claim.Issue) (moves []bool, before []int) {
	moved := map[claim.Issue]bool{}
	for _, issues := range named {
		fresh := distinct(issues)
		maps.DeleteFunc(fresh, func(i claim.Issue, _ bool) bool { return moved[i] })
		fits := len(moved)+len(fresh) <= most
		moves, before = append(moves, fits), append(before, len(moved))
		if fits {
			maps.Copy(moved, fresh)
		}
	}

	return moves, before
}

func distinct(issues []claim.Issue) map[claim.Issue]bool {
	out := map[claim.Issue]bool{}
	for _, i := range issues {
		out[i.Folded()] = true
	}
	return out
}
