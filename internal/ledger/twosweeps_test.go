package ledger_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A town is a repository of many issues, 30 to 100 ms away.
type town struct {
	mu     sync.Mutex
	rng    *rand.Rand
	issues map[int]*world
}

// on is the connection to an issue, after the way there.
func (t *town) on(i claim.Issue) *forge {
	t.mu.Lock()
	d := 30*time.Millisecond + time.Duration(t.rng.Int64N(int64(70*time.Millisecond)))
	t.mu.Unlock()
	time.Sleep(d)
	return &forge{world: t.issues[i.Number], near: true, calls: map[string]int{}}
}

func (t *town) Facts(ctx context.Context, i claim.Issue) (lifecycle.Facts, error) {
	return t.on(i).Facts(ctx, i)
}

func (t *town) Comment(ctx context.Context, i claim.Issue, body string) (claim.Comment, error) {
	return t.on(i).Comment(ctx, i, body)
}

func (t *town) EditComment(ctx context.Context, i claim.Issue, id int64, body string) (claim.Comment, error) {
	return t.on(i).EditComment(ctx, i, id, body)
}

func (t *town) AddLabel(ctx context.Context, i claim.Issue, name string) error {
	return t.on(i).AddLabel(ctx, i, name)
}

func (t *town) RemoveLabel(ctx context.Context, i claim.Issue, name string) error {
	return t.on(i).RemoveLabel(ctx, i, name)
}

func (t *town) issue(n int) claim.Issue { return claim.Issue{Owner: "o", Repo: "r", Number: n} }

// Scan reads all issues in one request.
func (t *town) Scan(ctx context.Context, _ claim.Repo, _ time.Time) iter.Seq2[lifecycle.Facts, error] {
	return func(yield func(lifecycle.Facts, error) bool) {
		t.on(t.issue(1))
		for n := range len(t.issues) {
			near := &forge{world: t.issues[n+1], near: true, calls: map[string]int{}}
			if f, err := near.Facts(ctx, t.issue(n+1)); !yield(f, err) {
				return
			}
		}
	}
}

func (*town) Pause(context.Context, claim.Repo) (*lifecycle.Pause, error) { return nil, nil }
func (*town) Minimize(context.Context, []claim.Comment) (int, error)      { return 0, nil }

// TestTwoSweeps: the sweep of the Action and one by hand begin at one moment over 16 dead holds.
// Each record of the two is written by one of them, but for few; what they report is in the order
// of the scan.
func TestTwoSweeps(t *testing.T) {
	const issues, rounds = 16, 8
	twice := 0
	for seed := range uint64(rounds) {
		synctest.Test(t, func(t *testing.T) {
			place := &town{rng: rand.New(rand.NewPCG(seed, 1)), issues: map[int]*world{}}
			for n := range issues {
				place.issues[n+1] = newWorld(seed, faults{})
				place.issues[n+1].shown = []string{"agent:in-flight"}
				dead := claim.Record{
					Kind:   claim.KindClaim,
					Worker: claim.Worker{Codename: "ann", FiringID: fmt.Sprint("a", n)},
					Nonce:  "n",
					TTL:    ttl,
					Held:   true,
				}
				post(t, &forge{world: place.issues[n+1], near: true, calls: map[string]int{}}, dead)
			}

			time.Sleep(time.Hour)
			var both sync.WaitGroup
			for _, word := range []string{"643a", "9f21"} {
				by := fmt.Sprintf("sweep-20260501-194217-%s%d", word, seed)
				both.Go(func() {
					l := ledger.New(over(place), virtual{}, place.issues[1].words(), ledger.DefaultSettings())
					r := l.Sweep(t.Context(), place,
						ledger.Sweep{Repos: []claim.Repo{{Owner: "o", Name: "r"}}, By: by})
					if !r.Complete() || len(r.Findings) != issues {
						t.Errorf("%s: %d findings, complete %t", by, len(r.Findings), r.Complete())
					}

					for n, f := range r.Findings {
						if f.Issue.Number != n+1 {
							t.Errorf("%s: finding %d is of issue %d", by, n, f.Issue.Number)
						}
					}
				})
			}

			both.Wait()
			for _, w := range place.issues {
				twice += records(w, "outcome=stale-swept") - 1
			}
		})
	}

	t.Logf("%d of %d records twice", twice, issues*rounds)
	if most := issues * rounds / 16; twice > most {
		t.Errorf("%d of %d records were written twice, want %d at most", twice, issues*rounds, most)
	}
}
