package gitref_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/gitref"
	"github.com/label-state/label-state/internal/lease/leasetest"
	"github.com/label-state/label-state/internal/sample"
)

// TestExam sits the exam on the embedded GitHub with real git repositories.
func TestExam(t *testing.T) {
	leasetest.Exam(t, func(t *testing.T) leasetest.Bench { return bench(t, simulated(t)) })
}

func simulated(t *testing.T) *githubsim.Server {
	t.Helper()
	s, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{
			{Login: "bot", Token: "tok-bot", Permissions: map[string]string{"acme/app": "write"}},
			{Login: "tia", Token: "tok-tia", Permissions: map[string]string{"acme/app": "triage"}},
		},
		Repos: []githubsim.SeedRepo{{Name: "acme/app", DefaultBranch: "main"}},
	}, githubsim.Options{Dir: t.TempDir(), RateLimit: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}

	return s
}

func bench(t *testing.T, s *githubsim.Server) leasetest.Bench {
	wire := &leasetest.Wire{}
	s.Fault = func(*http.Request) *githubsim.Fault {
		fault, spoiled := wire.Next()
		switch {
		case !spoiled:
			return nil
		case fault == leasetest.Lost:
			return &githubsim.Fault{ApplyThenFail: true}
		case fault == leasetest.Late:
			wire.Postpone(s.ReleaseLate)
			return &githubsim.Fault{ApplyHeld: true}
		}

		return &githubsim.Fault{Reset: true}
	}

	return leasetest.Bench{
		Client: func(skew time.Duration) lease.Store {
			return gitref.New(client(t, s, "tok-bot", skew), gitref.Options{Sleep: hurry})
		},
		Advance: s.Skip,
		Wire:    wire,
		TTL:     30 * time.Minute,
		Grace:   gitref.DefaultGrace,
		Sparse:  !sample.All(),
	}
}

// client is the product's own client of the server.
func client(t *testing.T, s *githubsim.Server, token string, skew time.Duration) *github.Client {
	t.Helper()
	c, err := github.New(github.Options{
		REST:    "https://api.github.com/",
		GraphQL: "https://api.github.com/graphql",
		Token:   github.NewSecret(token),
		HTTP:    s.Transport(),
		Clock:   hasty{skew},
		Rand:    func() float64 { return 0 },
	})
	if err != nil {
		t.Fatal(err)
	}

	return c
}

// hurry does not wait.
func hurry(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// hasty is a clock that is wrong and does not wait.
type hasty struct{ skew time.Duration }

func (h hasty) Now() time.Time { return time.Now().Add(h.skew) }

func (hasty) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }
