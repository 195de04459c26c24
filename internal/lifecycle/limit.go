package lifecycle

import (
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/printable"
)

// Limits are how much may be in progress in a repository at once; 0 is no limit.
type Limits struct {
	Holds        int // of one login, and of one codename
	PullRequests int // that agents have open
}

// A Load is what is in progress in a repository.
type Load struct {
	Issues   []Facts // that are held, or that have an open pull request
	Authored []int   // numbers of the open pull requests that a label calls an agent's
}

// An Asker is who wants to hold one more issue.
type Asker struct {
	Login    string
	Codename string // of the worker; empty for a person
}

// Limit says why the asker may hold nothing more beside the load, but for the issue itself; empty
// when it may. Pull requests keep off neither a person nor a worker who is to work on one of them.
func (r Rules) Limit(l Load, f Facts, who Asker) string {
	of := f.Issue
	same := map[string]map[claim.Worker]bool{who.Login: {}, who.Codename: {}} // a bundle is one hold
	for _, other := range l.Issues {
		c, held := r.Holder(other)
		if !held || other.Issue.Same(of) {
			continue
		}
		if c.IsOf(who.Login) || c.Person == "" && claim.SameLogin(c.Author, who.Login) {
			same[who.Login][c.Record.Worker] = true
		}
		if c.Record.Worker.Codename == who.Codename {
			same[who.Codename][c.Record.Worker] = true
		}
	}

	for _, name := range []string{who.Login, who.Codename} {
		if n := len(same[name]); r.Limits.Holds > 0 && n >= r.Limits.Holds {
			return fmt.Sprintf("limits.holds is %d, and %s holds %s in %s", r.Limits.Holds, name,
				printable.Count(n, "issue", "issues"), of.Slug())
		}
	}

	if who.Codename == "" || f.PullRequest {
		return ""
	}
	return r.PullLimit(l, of.Slug(), r.Limits.PullRequests)
}

// HoldsOf are the numbers of those issues that a person holds.
func (r Rules) HoldsOf(issues []Facts, login string) (numbers []int) {
	for _, f := range issues {
		if c, is := f.Log.HeldBy(login); is && !c.Expired(r.Terms, f.Now) {
			numbers = append(numbers, f.Issue.Number)
		}
	}
	return numbers
}

// PullLimit says that agents have at least so many pull requests open in a repository, where the
// rules limit that; else it is empty.
func (r Rules) PullLimit(l Load, repo string, least int) string {
	open := l.agentPulls(repo)
	if r.Limits.PullRequests == 0 || open < least {
		return ""
	}
	return fmt.Sprintf("limits.pull_requests is %d, and agents have %s open in %s", r.Limits.PullRequests,
		printable.Count(open, "pull request", "pull requests"), repo)
}

// agentPulls counts the open pull requests of agents in a repository: those with the label, those
// that a release names, and those whose author has claimed the issue as a worker.
func (l Load) agentPulls(repo string) int {
	numbers := map[int]bool{}
	for _, n := range l.Authored {
		numbers[n] = true
	}

	for _, f := range l.Issues {
		for _, p := range f.PRs {
			if p.State == PROpened && strings.EqualFold(p.Repo, repo) && (p.Recorded || f.Log.Worked(p.Author)) {
				numbers[p.Number] = true
			}
		}
	}

	return len(numbers)
}
