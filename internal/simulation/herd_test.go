package simulation

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/githubwork"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/sample"
	"github.com/label-state/label-state/work"
)

// TestHerd: workers that come within an hour and take the next issue of one repository seldom try
// the same one. It plays as many in a part of the hour.
func TestHerd(t *testing.T) { herd(t, sample.Size(100, 300)) }

// BenchmarkHerd plays 1,000 workers.
func BenchmarkHerd(b *testing.B) {
	for b.Loop() {
		virtually(b, func(t *testing.T) { b.ReportMetric(herd(t, 1000), "claims/hold") })
	}
}

// herd returns how many claims there were for each hold.
func herd(t *testing.T, workers int) (each float64) {
	t.Helper()
	over := time.Hour * time.Duration(workers) / 1000
	synctest.Test(t, func(t *testing.T) {
		f := &fleet{workers: workers}
		f.timeline, f.gauge, f.begun = newTimeline(), newGauge(), time.Now()
		server, err := githubsim.New(scaledSeed(workers+50, 1, 50), githubsim.Options{})
		if err != nil {
			t.Fatal(err)
		}

		f.server, server.Fault = server, faultOf
		failed := make(chan error)
		for n := range workers {
			rng := sample.Chance(5, uint64(n))
			first := f.take(f.begun.Add(span(rng, over)))
			go func() {
				time.Sleep(time.Until(first))
				h := &hand{fleet: f, rng: rng, name: worker(n)}
				failed <- h.takesNext(f.client(worker(n%50), rng))
			}()
		}

		for range workers {
			if err := <-failed; err != nil {
				t.Error(err)
			}
		}

		claims := 0
		for n := range workers + 50 {
			comments, err := server.Comments("acme/app-0", n+1)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range comments {
				claims += strings.Count(m.Body, "agent-claim:")
			}
		}

		if each = float64(claims) / float64(workers); each > 1.05 {
			t.Errorf("%d workers in %s: %d claims, %.3f for each hold", workers, over, claims, each)
		}
	})

	return each
}

// takesNext takes the next issue of the first repository.
func (h *hand) takesNext(c *github.Client) error {
	l := ledger.New(c, clock{timeline: h.timeline}, h.word, ledger.DefaultSettings())
	src := githubwork.New(c, l, githubwork.Options{
		Repo:   claim.Repo{Owner: "acme", Name: "app-0"},
		Worker: claim.Worker{Codename: h.name},
		TTL:    4 * time.Hour,
	})

	_, err := work.Next(context.Background(), src, work.FetchOptions{Spread: work.SpreadOf(h.name)})
	if err != nil {
		return fmt.Errorf("%s: %w", h.name, err)
	}
	return nil
}
