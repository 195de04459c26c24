package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestLimit: what is in progress, as issues "LOGIN CODENAME:RUN" or "LOGIN person", with "pr=LOGIN"
// for an open pull request, "pr=LOGIN recorded" for one that a release names, and what that means
// for who asks.
func TestLimit(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	bot, rex := lifecycle.Asker{Login: "bot", Codename: "lucius"}, lifecycle.Asker{Login: "other", Codename: "lucius"}
	olga := lifecycle.Asker{Login: "olga"}
	for _, c := range []struct {
		name     string
		load     []string
		authored []int
		limits   lifecycle.Limits
		who      lifecycle.Asker
		want     string
	}{
		{name: "no limit", load: []string{"bot lucius:1", "bot lucius:2"}, who: bot},
		{
			name:   "of a login",
			load:   []string{"bot rex:1", "bot fox:1", "olga person"},
			limits: lifecycle.Limits{Holds: 2},
			who:    bot,
			want:   "limits.holds is 2, and bot holds 2 issues in o/r",
		},
		{name: "one is left", load: []string{"bot rex:1"}, limits: lifecycle.Limits{Holds: 2}, who: bot},
		{
			name:   "of a codename, under another login",
			load:   []string{"bot lucius:1"},
			limits: lifecycle.Limits{Holds: 1},
			who:    rex,
			want:   "limits.holds is 1, and lucius holds 1 issue in o/r",
		},
		{name: "a bundle is one", load: []string{"bot lucius:1", "bot lucius:1"}, limits: lifecycle.Limits{Holds: 2}, who: bot},
		{
			name:   "a person's",
			load:   []string{"olga person"},
			limits: lifecycle.Limits{Holds: 1, PullRequests: 9},
			who:    olga,
			want:   "limits.holds is 1, and olga holds 1 issue in o/r",
		},
		{
			name:     "pull requests: by the label, and by who has claimed the issue",
			load:     []string{"bot lucius:1 pr=bot", "bot lucius:1 pr=eve", "bot rex:1 pr=bot"},
			authored: []int{100, 900},
			limits:   lifecycle.Limits{PullRequests: 3},
			who:      bot,
			want:     "limits.pull_requests is 3, and agents have 3 pull requests open in o/r",
		},
		{
			name:   "pull requests: by a release, also those that others have opened",
			load:   []string{"bot lucius:1 pr=eve recorded", "bot fox:1"},
			limits: lifecycle.Limits{PullRequests: 1},
			who:    lifecycle.Asker{Login: "bot", Codename: "rex"},
			want:   "limits.pull_requests is 1, and agents have 1 pull request open in o/r",
		},
		{
			name:     "more pull requests than the limit",
			authored: []int{100, 101, 900},
			limits:   lifecycle.Limits{PullRequests: 2},
			who:      bot,
			want:     "limits.pull_requests is 2, and agents have 3 pull requests open in o/r",
		},
		{
			name:     "pull requests keep no person off",
			authored: []int{100},
			limits:   lifecycle.Limits{PullRequests: 1},
			who:      olga,
		},
	} {
		var load lifecycle.Load
		for n, words := range c.load {
			login, rest, _ := strings.Cut(words, " ")
			holder, author, open := strings.Cut(rest, " pr=")
			author, recorded := strings.CutSuffix(author, " recorded")
			f := lifecycle.Facts{Issue: claim.Issue{Owner: "o", Repo: "r", Number: 10 + n}, Now: now}
			record := strings.Replace("codename="+holder, ":", " firing_id=", 1)
			if holder == "person" {
				record = "codename=" + login + " firing_id=1 ttl=none person=" + login
			}

			f.Log = claim.Replay([]claim.Comment{{
				ID:      1,
				Created: now,
				Updated: now,
				Author:  login,
				Trusted: true,
				Body:    "<!-- agent-claim:" + record + " nonce=n state=held -->",
			}})
			if open {
				f.PRs = []lifecycle.PR{{
					Repo:     "O/r",
					Number:   100 + n,
					State:    lifecycle.PROpened,
					Author:   author,
					Recorded: recorded,
				}}
			}

			load.Issues = append(load.Issues, f)
		}

		load.Authored = c.authored
		rules := lifecycle.DefaultRules()
		rules.Limits = c.limits
		f := lifecycle.Facts{Issue: claim.Issue{Owner: "o", Repo: "r", Number: 1}}
		if got := rules.Limit(load, f, c.who); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		f.PullRequest = true
		if got := rules.Limit(load, f, c.who); got != "" && c.limits.Holds == 0 {
			t.Errorf("%s: %q for the work on a pull request", c.name, got)
		}

		if len(load.Issues) == 1 { // the issue itself does not count
			if got := rules.Limit(load, load.Issues[0], c.who); got != "" {
				t.Errorf("%s: %q for the issue itself", c.name, got)
			}
		}
	}
}
