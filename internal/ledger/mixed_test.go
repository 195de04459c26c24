package ledger_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
)

// TestMixed plays workers of which some have not heard that a store decides: an old configuration, or the
// day on which it was changed. Both kinds work on one issue, and there is never a second holder.
func TestMixed(t *testing.T) {
	for name, f := range map[string]faults{
		"perfect": {crash: 0.2},
		"stale":   {stale: 20 * time.Second, crash: 0.2},
		"lost":    {lost: 0.1, denied: 0.5, crash: 0.2},
	} {
		t.Run(name, func(t *testing.T) {
			wins := 0
			for seed := range uint64(40) {
				synctest.Test(t, func(t *testing.T) { wins += mixed(t, newWorld(seed, f)) })
				if t.Failed() {
					t.Fatalf("seed %d of %s", seed, name)
				}
			}
			if wins < 40 {
				t.Errorf("%d claims won in 40 stories: the test does not exercise holding", wins)
			}
		})
	}
}

func mixed(t *testing.T, w *world) int {
	store := &table{}
	var crew sync.WaitGroup
	for n, who := range []string{"ann", "bob", "cyd", "dan"} {
		l, _ := w.ledger(nil)
		if n%2 == 0 {
			l = l.Strict(store, "table")
		}
		crew.Go(func() { w.workBy(t, t.Context(), l, who, 3) })
	}
	crew.Wait()
	return w.wins
}

// TestOtherStore: a hold that another kind of store decided is not touched past it.
func TestOtherStore(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		plain, _ := w.ledger(nil)
		strict := plain.Strict(&table{}, "table")
		h := take(t, strict, "ann")
		ann := h.Record.Worker
		was := len(w.now(true).comments)
		_, renew := plain.Renew(t.Context(), issue, ann, h.Token)
		_, release := plain.Release(t.Context(), issue, ledger.Ending{Worker: ann})
		_, _, force := plain.Force(t.Context(), issue, "olga", "")
		for name, err := range map[string]error{"renew": renew, "release": release, "force": force} {
			var other *ledger.StoreError
			if !errors.As(err, &other) || other.Hold != "table" || other.Here != "comments" {
				t.Errorf("%s: %v, want that another store decides", name, err)
			}
		}
		if now := len(w.now(true).comments); now != was {
			t.Errorf("%d comments were written", now-was)
		}
		if _, err := strict.Renew(t.Context(), issue, ann, h.Token); err != nil {
			t.Errorf("renew by its own store: %v", err)
		}
	})
}

// TestTokens: who shows a token that is not the hold's is refused, with every store and with none.
func TestTokens(t *testing.T) {
	for name, strict := range map[string]bool{"log": false, "store": true} {
		t.Run(name, func(t *testing.T) {
			alone(t, func(t *testing.T, w *world) {
				l, _ := w.ledger(nil)
				if strict {
					l = l.Strict(&table{}, "table")
				}
				h := take(t, l, "ann")
				ann := h.Record.Worker
				if _, err := l.Keep(t.Context(), h); err != nil {
					t.Fatal(err)
				}
				_, renew := l.Renew(t.Context(), issue, ann, h.Token+1)
				_, release := l.Release(t.Context(), issue, ledger.Ending{Worker: ann, Token: h.Token + 1})
				for name, err := range map[string]error{"renew": renew, "release": release} {
					var lost *ledger.LostError
					if !errors.As(err, &lost) || !errors.Is(err, claim.ErrStale) {
						t.Errorf("%s with a token of somebody else: %v, want that it is lost", name, err)
					}
				}
				if _, err := l.Release(t.Context(), issue, ledger.Ending{Worker: ann, Token: h.Token}); err != nil {
					t.Errorf("release: %v", err)
				}
			})
		})
	}
}
