package keep_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/keep"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// An outage is a time in which the embedded GitHub answers nothing.
type outage struct{ from, to time.Duration }

// onGitHub is a hold on an embedded GitHub that goes away, all in virtual time.
func onGitHub(t *testing.T, o outage) (*ledger.Ledger, ledger.Hold) {
	t.Helper()
	s, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{{Login: "bot", Token: "tok", Permissions: map[string]string{"o/r": "write"}}},
		Repos: []githubsim.SeedRepo{{Name: "o/r", Issues: []githubsim.SeedIssue{{
			Number: 7,
			Title:  "Work",
			Author: "bot",
			Labels: []string{"agent:implement"},
		}}}},
	}, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	c, err := github.New(github.Options{
		REST:    "https://api.github.com/",
		GraphQL: "https://api.github.com/graphql",
		Token:   github.NewSecret("tok"),
		HTTP:    s.Transport(),
		Clock:   clock{newBook(nil)},
	})
	if err != nil {
		t.Fatal(err)
	}
	words := 0
	l := ledger.New(c, clock{newBook(nil)}, func() string { words++; return fmt.Sprintf("%08x", words) },
		ledger.DefaultSettings())
	h, err := l.Claim(t.Context(), issue, ledger.Request{Worker: ann, TTL: lease})
	if err != nil {
		t.Fatal(err)
	}

	start := time.Now()
	s.Fault = func(*http.Request) *githubsim.Fault {
		if since := time.Since(start); since >= o.from && since < o.to {
			return &githubsim.Fault{Status: http.StatusBadGateway}
		}
		return nil
	}

	return l, h
}

// TestOutage: a GitHub that is away for less than the lease takes no hold away, and one that is
// away for longer is noticed before anybody else may take the issue.
func TestOutage(t *testing.T) {
	for name, c := range map[string]struct {
		outage outage
		want   error
	}{
		"between two renewals":    {outage{11 * time.Minute, 19 * time.Minute}, nil},
		"for nearly a lease":      {outage{9 * time.Minute, 27 * time.Minute}, nil},
		"for longer than a lease": {outage{9 * time.Minute, 50 * time.Minute}, claim.ErrOverdue},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, h := onGitHub(t, c.outage)
				ctx, stop := context.WithTimeout(t.Context(), time.Hour)
				defer stop()
				start := time.Now()
				err := keep.Alive(ctx, l, h, keep.Options{Clock: clock{newBook(nil)}})
				if !errors.Is(err, c.want) || err == nil && c.want != nil {
					t.Fatalf("%v after %s, want %v", err, time.Since(start), c.want)
				}

				if c.want == nil {
					holds(t, l)
				} else if took := time.Since(start); took >= lease {
					t.Errorf("told after %s, when somebody else may have it", took)
				}
			})
		})
	}
}

// holds wants ann's hold to stand, for longer than from now.
func holds(t *testing.T, l *ledger.Ledger) {
	t.Helper()
	f, _, err := l.Check(t.Context(), issue, lifecycle.Seeker{Worker: ann})
	if err != nil {
		t.Fatal(err)
	}

	own, found := f.Log.Find(ann)
	if !found || !own.Live() || own.Expired(l.Rules().Terms, f.Now) || len(own.Ranks) != 1 {
		t.Errorf("found %v: %+v", found, own)
	}
}
