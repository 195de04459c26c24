package setup_test

import (
	"slices"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
)

// TestSettingsOfTheClient: what the configuration says of whose records count, of blockers and of strangers' pull
// requests decides what a session reads.
func TestSettingsOfTheClient(t *testing.T) {
	record := func(author string) githubsim.SeedComment {
		return githubsim.SeedComment{
			Author: author,
			Body:   "<!-- agent-claim:codename=" + author + " firing_id=1 nonce=" + author + " ttl=3600 state=held -->",
		}
	}
	blocked := func(by ...int) func(lifecycle.Facts) bool {
		return func(f lifecycle.Facts) bool {
			return slices.EqualFunc(f.Blockers, by, func(b lifecycle.Blocker, n int) bool { return b.Issue.Number == n })
		}
	}

	for setting, shows := range map[string]func(lifecycle.Facts) bool{
		"":                                       blocked(2),
		"blockers: {native: false}":              blocked(3),
		"blockers: {native: false, text: false}": blocked(),
		"trust: {permission: triage}":            func(f lifecycle.Facts) bool { return len(f.Log.Claims) == 1 },
		"trust: {permission: write}":             func(f lifecycle.Facts) bool { return len(f.Log.Claims) == 0 },
		"trust: {logins: [mal]}":                 func(f lifecycle.Facts) bool { return len(f.Log.Claims) == 2 },
		"trust: {apps: [ci]}":                    func(f lifecycle.Facts) bool { return len(f.Log.Claims) == 2 },
		"lifecycle: {outsider_issues: 2}":        func(f lifecycle.Facts) bool { return len(f.PRs) == 1 && len(f.Excessive) == 0 },
		"lifecycle: {outsider_issues: 1}":        func(f lifecycle.Facts) bool { return len(f.PRs) == 0 && len(f.Excessive) == 1 },
	} {
		sim, err := githubsim.New(githubsim.Seed{
			Users: []githubsim.SeedUser{
				{Login: "olga", Token: "tok", Permissions: map[string]string{"acme/app": "admin"}},
				{Login: "tia", Permissions: map[string]string{"acme/app": "triage"}, Token: "t"},
				{Login: "mal", Token: "m"},
				{Login: "ci[bot]", Token: "c"},
			},
			Repos: []githubsim.SeedRepo{{
				Name:  "acme/app",
				Files: map[string]string{".github/label-state.yml": "version: 1\n" + setting + "\n"},
				Issues: []githubsim.SeedIssue{
					{
						Number:   1,
						Title:    "One",
						Author:   "olga",
						Body:     "Blocked by #3",
						Labels:   []string{"agent:implement"},
						Comments: []githubsim.SeedComment{record("tia"), record("mal"), record("ci[bot]")},
					},
					{Number: 2, Title: "Two", Author: "olga"},
					{Number: 3, Title: "Three", Author: "olga"},
				},
				Pulls: []githubsim.SeedPull{{
					SeedIssue: githubsim.SeedIssue{Number: 4, Title: "Four", Author: "mal", Body: "Closes #1, closes #2"},
					Head:      "work",
					Base:      "main",
				}},
			}},
		}, githubsim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := sim.Block("acme/app", 1, 2, "olga"); err != nil {
			t.Fatal(err)
		}

		e := newMachine(t, map[string]string{"GH_TOKEN": "tok"}).environment()
		e.HTTP = sim.Transport()
		s, err := setup.Open(t.Context(), e, setup.Options{Repo: "acme/app"})
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.Client.Facts(t.Context(), claim.Issue{Owner: "acme", Repo: "app", Number: 1})
		if err != nil || !shows(f) {
			t.Errorf("%q: %v, %d claims, blockers %v, pull requests %v, excessive %v", setting, err, len(f.Log.Claims),
				f.Blockers, f.PRs, f.Excessive)
		}
	}
}
