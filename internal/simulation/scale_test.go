package simulation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/sample"
)

// TestScale checks docs/scale.md: 1,000 workers on 20 repositories, each with one hold after the
// other of 50 minutes, stay inside GitHub's limits with the logins that the page computes; 600 with
// one login are refused. An ordinary run plays 12 workers with one login.
func TestScale(t *testing.T) {
	enough := &fleet{workers: sample.Size(12, 1000)}
	enough.scaled(t, sample.Size(4, 20), sample.Size(1, 5), 2)
	t.Log(enough.report())
	if want := 2 * enough.workers; enough.gauge.refused > 0 || enough.done != want || enough.lost > 0 {
		t.Errorf("refused %d, %d of %d holds done, %d not released", enough.gauge.refused, enough.done, want,
			enough.lost)
	}

	// A claim is 5 requests, a renewal 2, a release 3 (docs/speed.md).
	if most := 2 * enough.workers * (5 + 3*2 + 3); enough.gauge.requests > most {
		t.Errorf("%d requests, want at most %d", enough.gauge.requests, most)
	}
	enough.gauge.within(t)
	if !sample.All() {
		return
	}

	few := &fleet{workers: 600}
	few.scaled(t, 20, 1, 1)
	t.Log(few.report())
	if few.gauge.refused == 0 {
		t.Error("one login was enough: the test does not show what it is for")
	}

	few.gauge.within(t)
}

// scaled plays a fleet that shares so many logins on so many repositories; each worker has so many
// holds.
func (f *fleet) scaled(t *testing.T, repos, logins, holds int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f.timeline, f.gauge, f.begun = newTimeline(), newGauge(), time.Now()
		server, err := githubsim.New(scaledSeed(f.workers*holds, repos, logins),
			githubsim.Options{SecondaryLimits: true})
		if err != nil {
			t.Fatal(err)
		}

		f.server, server.Fault = server, faultOf
		finished := make(chan int)
		for n := range f.workers {
			first := f.take(f.begun.Add(time.Duration(n) * time.Hour / time.Duration(f.workers)))
			go func() {
				time.Sleep(time.Until(first))
				done := 0
				rng := sample.Chance(3, uint64(n))
				h := &hand{fleet: f, rng: rng, name: worker(n)}
				h.Ledger = ledger.New(f.client(worker(n%logins), rng), clock{timeline: f.timeline}, h.word,
					ledger.DefaultSettings())

				for k := range holds {
					number := n*holds + k
					if h.hour(claim.Issue{Owner: "acme", Repo: fmt.Sprint("app-", number%repos), Number: 1 +
						number/repos}) {
						done++
					}
				}

				finished <- done
			}()
		}

		for range f.workers {
			f.done += <-finished
		}
		f.spent = time.Since(f.begun)
	})
}

func scaledSeed(issues, repos, logins int) githubsim.Seed {
	var out githubsim.Seed
	may := map[string]string{}
	for r := range repos {
		repo := githubsim.SeedRepo{Name: fmt.Sprint("acme/app-", r), DefaultBranch: "main"}
		for _, d := range ledger.DefaultSettings().Rules.Scheme.Definitions() {
			if d.Name != "" {
				repo.Labels = append(repo.Labels, githubsim.SeedLabel{Name: d.Name, Color: d.Color})
			}
		}

		for n := r; n < issues; n += repos {
			repo.Issues = append(repo.Issues, githubsim.SeedIssue{
				Number: 1 + n/repos,
				Title:  "Work",
				Author: "olga",
				Labels: []string{"agent:implement"},
			})
		}

		out.Repos, may[repo.Name] = append(out.Repos, repo), "write"
	}

	out.Users = append(out.Users, githubsim.SeedUser{Login: "olga", Token: "olga", Permissions: maps.Clone(may)})
	for l := range logins {
		out.Users = append(out.Users, githubsim.SeedUser{
			Login: worker(l), Token: worker(l),
			Permissions: maps.Clone(may),
		})
	}

	return out
}

// hour is one hold of 50 minutes with three renewals, and ten minutes of rest. It reports whether
// the hold was begun and ended.
func (h *hand) hour(i claim.Issue) bool {
	ctx := context.Background()
	var hold ledger.Hold
	for {
		var err error
		var held *ledger.HeldError
		hold, err = h.Claim(ctx, i, ledger.Request{Worker: claim.Worker{Codename: h.name}, TTL: time.Hour})
		if err == nil {
			break
		}
		if errors.As(err, &held) || time.Since(h.begun) > 6*time.Hour {
			return false
		}

		h.wait(err)
	}

	for range 3 {
		_ = h.sleep(ctx, 15*time.Minute) // it has no end but its own
		if next, err := h.Keep(ctx, hold); err == nil {
			hold = next
		}
	}

	_ = h.sleep(ctx, 5*time.Minute)
	for range 5 {
		_, err := h.Release(ctx, i, ledger.Ending{Worker: hold.Record.Worker, Outcome: claim.OutcomeCancelled})
		if err == nil {
			_ = h.sleep(ctx, 10*time.Minute)
			return true
		}
		h.wait(err)
	}

	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost++
	return false
}
