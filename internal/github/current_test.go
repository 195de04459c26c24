package github

import (
	"slices"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
)

// TestCurrent: what is done, or closed with the label of a person's hold, and has not changed since
// then is not read; everything else of a scan is.
func TestCurrent(t *testing.T) {
	one := func(n int, updated string, names ...string) githubsim.SeedIssue {
		return githubsim.SeedIssue{
			Number:    n,
			Title:     "x",
			Author:    "bot",
			Labels:    names,
			CreatedAt: day("01:00:00"),
			UpdatedAt: day(updated),
		}
	}

	gone := one(6, "02:40:00", "do-not-pickup")
	gone.State = "closed"
	server, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{{
			Login: "bot", Token: "tok-bot",
			Permissions: map[string]string{"acme/app": "admin"},
		}},
		Repos: []githubsim.SeedRepo{{Name: "acme/app", Issues: []githubsim.SeedIssue{
			one(1, "02:00:00", "agent:implement"), one(2, "03:00:00", "agent:done"), one(3, "06:00:00", "agent:done"),
			one(4, "06:30:00"), one(5, "02:30:00", "do-not-pickup"), gone,
		}}},
	}, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, server.Transport())
	for since, want := range map[time.Time][]int{{}: {1, 5}, *day("05:00:00"): {1, 5, 3, 4}} {
		var numbers []int
		for f, err := range c.Current(t.Context(), repoOf("app"), since) {
			if err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, f.Issue.Number)
		}

		if !slices.Equal(numbers, want) {
			t.Errorf("since %s: read %v, want %v", since, numbers, want)
		}
	}
}
