package ledger_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
)

func quiet(s *ledger.Settings) { s.Quiet = true }

// deadForEver: a key whose end was in the log once never lives again (spec.md#fold).
func deadForEver(p *exploration) error {
	for _, c := range p.look().log.Live() {
		if p.buried(c.Record.Worker) {
			return fmt.Errorf("%s lives again", c.Record.Worker)
		}
	}
	return nil
}

// buried reports whether any write so far said that the key has ended.
func (p *exploration) buried(w claim.Worker) bool {
	for _, e := range p.server.log {
		if e.what != "comment" && e.what != "edit" {
			continue
		}
		r, ok, err := claim.Decode(e.text)
		if ok && err == nil && r.Kind == claim.KindRelease && r.Worker == w {
			return true
		}
	}

	return false
}

// overwrites is what no holder does (docs/decisions/2026-11-22-quiet-comments.md): it ends the hold
// by an edit of its claim comment.
func overwrites(a *actor) bool {
	if !idle(a) {
		return false
	}
	h := *a.hold
	a.hold = nil
	body, err := claim.Body(claim.Record{
		Kind: claim.KindRelease, Worker: h.Record.Worker,
		Outcome: claim.OutcomeSuccess,
	}, "")
	if err == nil {
		_, err = a.EditComment(context.Background(), issue, h.Comment, body)
	}

	if !a.crashed {
		a.tell("overwrite", err)
	}

	return false
}

// beater is another process of the same worker, which renews its hold.
func beater(name, of string) role {
	return role{name: name, kind: "beater", life: func(a *actor) {
		if a.step("start", func(*scriptedServer) {}) {
			_, err := a.ledger.Renew(context.Background(), issue, claim.Worker{Codename: of, FiringID: of + "1"}, 0)
			if !a.crashed {
				a.tell("renew", err)
			}
		}
	}}
}

// TestQuietLoser: who loses before it has sent an edit turns its claim into its own end
// (spec-writing.md#quiet-comments). In all other cases the end is a record of its own, as without quiet.
func TestQuietLoser(t *testing.T) {
	pair := []role{worker("ann"), worker("bob")}
	t.Run("R1", func(t *testing.T) {
		p := told(t, scenario{cast: pair, set: quiet, labels: true}, "ann read", "bob read", "ann comment",
			"bob comment", "bob on")
		p.ended(t, "bob", "claim yielded", "comment", "edit")
		w := claim.Worker{Codename: "bob", FiringID: "bob1"}
		if log := p.look().log; !log.Dead(w) || log.Records != 2 {
			t.Errorf("bob is dead: %t; %d records\n%s", log.Dead(w), log.Records, p.server)
		}
	})

	t.Run("a person closes it", func(t *testing.T) {
		p := told(t, scenario{cast: []role{worker("ann"), person(closes())}, set: quiet}, "ann read", "ann comment",
			"olga on", "ann on")
		p.ended(t, "ann", "claim held", "comment", "edit")
	})

	t.Run("R2", func(t *testing.T) {
		p := told(t, scenario{cast: pair, set: quiet, faults: budget{hidden: 2, lost: 1}},
			"ann read", "bob read", "ann comment adrift", "bob comment hidden", "ann read", "ann comment", "ann read",
			"land 1", "bob read", "bob edit", "ann edit", "bob on", "land 0", "ann on")
		p.ended(t, "ann", "claim yielded", "comment", "comment", "edit", "comment")
	})

	t.Run("never seen", func(t *testing.T) {
		p := told(t, scenario{cast: pair[:1], set: quiet, faults: budget{hidden: 1}}, "ann read", "ann comment hidden",
			"ann on")
		p.ended(t, "ann", "claim unknown", "comment", "comment")
	})

	t.Run("the edit fails", func(t *testing.T) {
		p := told(t, scenario{cast: pair, set: quiet, faults: budget{lost: 4}}, "ann read", "bob read", "ann comment",
			"bob comment", "bob read",
			"bob edit denied", "bob edit denied", "bob edit denied", "bob edit denied", "bob on")
		p.ended(t, "bob", "claim yielded", "comment", "edit", "edit", "edit", "edit", "comment")
	})

	t.Run("a person", func(t *testing.T) {
		p := told(t, scenario{cast: []role{human("ann"), human("bob")}, set: quiet}, "ann read", "bob read",
			"ann comment", "bob comment", "bob on")
		p.ended(t, "bob", "claim yielded", "comment", "comment")
	})

	t.Run("may be gone on with", func(t *testing.T) {
		again := role{name: "bob", kind: "resumes", life: func(a *actor) {
			h, err := a.ledger.Claim(context.Background(), issue,
				ledger.Request{Worker: claim.Worker{Codename: "bob", FiringID: "bob1"}, TTL: term, Nonce: "b0b00001"})
			a.took(h, err)
		}}
		p := told(t, scenario{cast: []role{worker("ann"), again}, set: quiet}, "ann read", "bob read", "ann comment",
			"bob comment", "bob on")
		p.ended(t, "bob", "claim yielded", "comment", "comment")
	})
}
