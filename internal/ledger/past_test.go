package ledger_test

import (
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// TestRecordFailure: a failure of the past is counted once, and whoever holds the issue keeps it.
func TestRecordFailure(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(nil)
		h := take(t, l, "ann")
		past := claim.Worker{Codename: "before", FiringID: "attempt-1"}
		for _, wrote := range []bool{true, false} {
			time.Sleep(time.Minute)
			facts, err := f.Facts(t.Context(), issue)
			if err != nil {
				t.Fatal(err)
			}
			got, err := l.RecordFailure(t.Context(), facts, past, "olga", "counted by a label before")
			if err != nil || got != wrote {
				t.Fatalf("RecordFailure = %v, %v; want %v", got, err, wrote)
			}
		}
		facts, err := f.Facts(t.Context(), issue)
		if err != nil {
			t.Fatal(err)
		}
		if a := facts.Log.Attempts; len(a) != 1 || a[0].Worker != past || a[0].Release.Outcome != claim.OutcomeFailure || a[0].Release.By != "olga" {
			t.Errorf("attempts %+v, want the one of the past", a)
		}
		if c, held := facts.Log.Holder(); !held || c.Record.Worker != h.Record.Worker {
			t.Errorf("%v holds it, %v; want ann", c.Record.Worker, held)
		}
		if n := records(w, "codename=before"); n != 2 {
			t.Errorf("%d records, want an end and its claim", n)
		}
	})
}

// TestRecordFailureGoesOn: when only the end was written, nobody is kept waiting, nothing is counted yet, and the
// next run writes the claim alone.
func TestRecordFailureGoesOn(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(nil)
		past := claim.Worker{Codename: "before", FiringID: "attempt-1"}
		post(t, f, claim.Record{Kind: claim.KindRelease, Worker: past, Outcome: claim.OutcomeFailure, By: "olga"})
		time.Sleep(time.Minute)
		facts, err := f.Facts(t.Context(), issue)
		if err != nil {
			t.Fatal(err)
		}
		if _, held := facts.Log.Holder(); held || len(facts.Log.Attempts) > 0 {
			t.Errorf("held %v, attempts %v; want neither", held, facts.Log.Attempts)
		}
		if wrote, err := l.RecordFailure(t.Context(), facts, past, "olga", ""); err != nil || !wrote {
			t.Fatalf("RecordFailure = %v, %v", wrote, err)
		}
		if facts, err = f.Facts(t.Context(), issue); err != nil || len(facts.Log.Attempts) != 1 {
			t.Errorf("attempts %v, %v; want one", facts.Log.Attempts, err)
		}
		if n := records(w, "agent-release:codename=before"); n != 1 {
			t.Errorf("%d ends, want one", n)
		}
		take(t, l, "ann")
	})
}
