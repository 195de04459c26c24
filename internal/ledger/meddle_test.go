package ledger_test

import (
	"slices"
	"testing"
	"time"
)

// What people do to comments: an issue is theirs, and GitHub lets everybody who may write edit and
// delete all of it. A record that was deleted is absent, one that somebody else edited is void
// (spec.md#which-records-count).

// TestMeddledContender: a contender whose comment a person deletes, or edits, while it is being
// claimed gets no hold from it, unless its own confirmation, which undoes the edit, was the last
// word.
func TestMeddledContender(t *testing.T) {
	for name, d := range map[string]deed{"deleted": deletes(1), "edited": edits(1)} {
		t.Run(name, func(t *testing.T) {
			s := scenario{cast: []role{worker("ann"), person(d)}}
			told(t, s, "ann read", "ann comment", "olga on", "ann on").ended(t, "ann", "claim unknown", "comment",
				"comment")
			told(t, s, "ann read", "ann comment", "ann read", "ann edit", "olga on", "ann on").ended(t, "ann",
				"claim unknown", "comment", "edit", "comment")
		})
	}

	told(t, scenario{cast: []role{worker("ann"), person(deletes(1))}}, "ann read", "ann comment", "ann read", "olga on",
		"ann on").
		ended(t, "ann", "claim unknown", "comment", "edit", "comment")

	told(t, scenario{cast: []role{worker("ann"), person(edits(1))}}, "ann read", "ann comment", "ann read", "olga on",
		"ann on").
		ended(t, "ann", "claim ok", "comment", "edit")
}

// TestMeddledHold: a holder whose comment a person edited or deleted learns it at its next
// heartbeat, which writes nothing, as soon as no read can be so late that it only lacks the claim.
// A quotation of the record changes nothing.
func TestMeddledHold(t *testing.T) {
	for name, d := range map[string]deed{"edited": edits(1), "deleted": deletes(1)} {
		t.Run(name, func(t *testing.T) {
			s := scenario{cast: []role{holder("ann", renew), person(d)}, tick: 58 * time.Second, ticks: 1}
			told(t, s, "olga on", "ann work", "ann on").ended(t, "ann", "renew unknown", "comment", "edit")
			told(t, s, "olga on", "tick", "ann work", "ann on").ended(t, "ann", "renew lost", "comment", "edit")
		})
	}

	told(t, scenario{cast: []role{holder("ann", renew), person(replies(1))}}, "olga on", "ann work", "ann on").
		ended(t, "ann", "renew ok", "comment", "edit", "edit")
}

// TestHoldMadeAgain: a person's edit voids a hold, somebody else takes the issue, and then a
// heartbeat that was under way undoes the edit. The second holder stops at its own next heartbeat;
// one that has expired stops nobody.
func TestHoldMadeAgain(t *testing.T) {
	s := scenario{cast: []role{holder("ann", renew, renew), worker("bob", renew), person(edits(1))}}
	p := told(t, s, "ann work", "ann read", "olga on", "bob on", "ann edit", "bob work", "bob on", "ann work", "ann on")
	for name, want := range map[string][]string{
		"ann": {"claim ok", "renew ok", "renew ok"},
		"bob": {"claim ok", "renew lost"},
	} {
		if got := p.named(name).told; !slices.Equal(got, want) {
			t.Errorf("%s was told %q, want %q\n%s", name, got, want, p.server)
		}
	}
}

// TestReleaseDeleted: a release that a person deletes makes its claim live again. It keeps
// newcomers away, and is ended like that of a worker that died.
func TestReleaseDeleted(t *testing.T) {
	s := scenario{
		cast: []role{holder("ann", release), worker("bob"), worker("cyd"), person(deletes(2))}, tick: term,
		ticks: 2,
	}
	p := told(t, s, "ann work", "ann on", "olga on", "bob on", "tick", "tick", "cyd on")
	p.ended(t, "ann", "release ok", "comment", "edit", "comment")
	p.ended(t, "bob", "claim held")
	p.ended(t, "cyd", "claim ok", "comment", "comment", "edit")
}

// TestPausedSweeper: a sweep stops for longer than a lease between its snapshot and its record,
// while another one ends the dead hold and somebody takes the issue. It ends nothing that lives and
// leaves the labels true.
func TestPausedSweeper(t *testing.T) {
	s := scenario{
		cast:   []role{holder("ann"), sweeper("sue", 1), sweeper("sid", 1), worker("bob", renew)},
		labels: true,
		tick:   term,
		ticks:  2,
	}
	p := told(t, s, "tick", "tick", "sue start", "sue read", "sue read", "sid start", "sid on", "bob on", "sue on",
		"bob work", "bob on")
	for name, want := range map[string][]string{
		"sue": {"sweep ok"}, "sid": {"sweep ok"},
		"bob": {"claim ok", "renew ok"},
	} {
		if got := p.named(name).told; !slices.Equal(got, want) {
			t.Errorf("%s was told %q, want %q\n%s", name, got, want, p.server)
		}
	}

	f := p.facts(p.look())
	if h, _ := f.Log.Holder(); h.Record.Worker.Codename != "bob" ||
		!slices.Equal(f.Labels, []string{"agent:in-flight"}) || len(f.Log.Attempts) != 1 {
		t.Errorf("%s holds it, labels %q, %d attempts\n%s", h.Record.Worker, f.Labels, len(f.Log.Attempts), p.server)
	}
}
