package ledger_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
)

// TestMixed plays workers of which some have not heard that a store decides: an old configuration,
// or the day on which it was changed. Both kinds work on one issue, and there is never a second
// holder.
func TestMixed(t *testing.T) {
	for name, f := range map[string]faults{
		"perfect": {crash: 0.2},
		"stale":   {stale: 15 * time.Second, crash: 0.2}, // a store's claim looks that long for its record
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
			if !answer.Is(err, answer.WrongStore) ||
				!strings.Contains(err.Error(), "store table, and the configuration here says comments") {
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

// TestTokens: a caller that shows a token that is not the hold's is refused, from the claim on,
// with every store and with none, and nothing is written; the hold's own token is accepted.
func TestTokens(t *testing.T) {
	for name, strict := range map[string]bool{"log": false, "store": true} {
		t.Run(name, func(t *testing.T) {
			alone(t, func(t *testing.T, w *world) {
				l, f := w.ledger(nil)
				if strict {
					l = l.Strict(&table{}, "table")
				}

				h := take(t, l, "ann")
				ann := h.Record.Worker
				if edits := f.calls["edit"]; !strict && edits != 1 {
					t.Errorf("%d edits of a claim without rivals, want the one that confirms it with its token", edits)
				}

				post(t, f, claim.Record{
					Kind: claim.KindClaim, Worker: claim.Worker{Codename: "bob", FiringID: "b1"},
					Nonce: "n",
				})
				for range 2 { // before the first renewal and after it
					refuseTokens(t, l, ann, h.Token+1, h.Token+2, 999)
					if _, err := l.Renew(t.Context(), issue, ann, h.Token); err != nil {
						t.Fatalf("renew with the hold's token: %v", err)
					}
				}

				if _, err := l.Release(t.Context(), issue, ledger.Ending{Worker: ann, Token: h.Token}); err != nil {
					t.Errorf("release with the hold's token: %v", err)
				}
			})
		})
	}
}

func refuseTokens(t *testing.T, l *ledger.Ledger, w claim.Worker, tokens ...int64) {
	t.Helper()
	for _, token := range tokens {
		_, renew := l.Renew(t.Context(), issue, w, token)
		_, release := l.Release(t.Context(), issue, ledger.Ending{Worker: w, Token: token})
		for name, err := range map[string]error{"renew": renew, "release": release} {
			var lost *ledger.LostError
			if !errors.As(err, &lost) || !errors.Is(err, claim.ErrStale) {
				t.Errorf("%s with token %d: %v, want that it is lost", name, token, err)
			}
		}
	}
}
