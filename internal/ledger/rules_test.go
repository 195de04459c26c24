package ledger_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
)

// told plays the story that the lines tell (search.follow). "ann on" lets ann go on undisturbed
// until she has nothing more to ask, or is at work under her hold.
func told(t *testing.T, s scenario, story ...string) *exploration {
	t.Helper()
	found := explore(s)
	p := found.scenario.start(found.views)
	t.Cleanup(p.end)

	for _, line := range story {
		name, on := strings.CutSuffix(line, " on")
		if !on {
			if err := p.take(line); err != nil {
				t.Fatal(err)
			}
			continue
		}

		for a := p.named(name); !a.over && a.want.verb != "work"; {
			if err := p.take(name + " " + a.want.verb); err != nil {
				t.Fatal(err)
			}
		}
	}

	return p
}

func (p *exploration) named(name string) *actor {
	return p.actors[slices.IndexFunc(p.actors, func(a *actor) bool { return a.name == name })]
}

// ended checks what an actor was told last, and what it wrote in all.
func (p *exploration) ended(t *testing.T, name, last string, sent ...string) {
	t.Helper()
	a := p.named(name)
	if len(a.told) == 0 || a.told[len(a.told)-1] != last || !slices.Equal(a.sent, sent) {
		t.Errorf("%s was told %q and wrote %q, want %q and %q\n%s", name, a.told, a.sent, last, sent, p.server)
	}

	if p.broken != nil {
		t.Error(p.broken)
	}
}

// TestLoserConfirmsNothing: who sees a smaller rival at R1 writes one claim and its end, no
// confirmation and no label (spec-writing.md#claim).
func TestLoserConfirmsNothing(t *testing.T) {
	p := told(t, scenario{cast: []role{worker("ann"), worker("bob")}, labels: true},
		"ann read", "bob read", "ann comment", "bob comment", "bob on")
	p.ended(t, "bob", "claim yielded", "comment", "comment")
}

// TestLateClaimAfterGiveUp: a post that was believed lost lands after its worker gave up, and after
// the record that ended it; it is dead on arrival.
func TestLateClaimAfterGiveUp(t *testing.T) {
	p := told(t, scenario{cast: []role{worker("ann")}, faults: budget{lost: 4}},
		"ann read", "ann comment late", "ann read", "ann comment denied", "ann read", "ann comment denied",
		"ann read", "ann comment denied", "ann on", "land 0")
	p.ended(t, "ann", "claim unknown", "comment", "comment", "comment", "comment", "comment")
	if live := p.look().log.Live(); len(live) > 0 {
		t.Errorf("%s is live\n%s", live[0].Record.Worker, p.server)
	}
}

// TestOnePostAfterALostAnswer: the log is asked before a post is repeated (spec-writing.md#claim).
func TestOnePostAfterALostAnswer(t *testing.T) {
	p := told(t, scenario{cast: []role{worker("ann", release)}, faults: budget{lost: 2}},
		"ann read", "ann comment lost", "ann on", "ann work", "ann read", "ann comment lost", "ann on")
	p.ended(t, "ann", "release ok", "comment", "edit", "comment")
}

// TestContenderFencesItself: a claim that waited for longer than an unconfirmed one lives is given
// up, whatever its next snapshot shows.
func TestContenderFencesItself(t *testing.T) {
	timed := scenario{
		cast:  []role{worker("ann")},
		tick:  term,
		ticks: 2,
		set:   func(s *ledger.Settings) { s.Rules.Terms.Grace = 10 * term },
	}
	told(t, timed, "ann read", "ann comment", "tick", "ann on").ended(t, "ann", "claim unknown", "comment", "comment")
	told(t, timed, "ann read", "ann comment", "ann read", "tick", "ann on").ended(t, "ann", "claim unknown", "comment",
		"edit", "comment")
}

// TestRetryDoesNotRestartTheLease: the lease counts from before the first try, of the claim and of
// its confirmation (spec-writing.md#claim).
func TestRetryDoesNotRestartTheLease(t *testing.T) {
	timed := scenario{
		cast:   []role{worker("ann")},
		tick:   term,
		ticks:  1,
		faults: budget{lost: 1},
	}
	told(t, timed, "ann read", "ann comment lost", "tick", "ann on").ended(t, "ann", "claim unknown", "comment",
		"comment")

	timed.cast, timed.tick, timed.ticks = []role{worker("ann", idle)}, time.Minute, 2
	p := told(t, timed, "ann read", "ann comment", "ann read", "ann edit lost", "tick", "ann on", "tick")
	p.ended(t, "ann", "claim ok", "comment", "edit", "edit")
	if p.named("ann").owns() {
		t.Error("the repeated confirmation made the lease longer")
	}
}

// TestNoRevivalByOwnClock: a holder whose own clock says that the lease is over writes nothing
// more, although the server's clock, which seems to stand, would let it.
func TestNoRevivalByOwnClock(t *testing.T) {
	p := told(t, scenario{cast: []role{holder("ann", renew)}})
	p.named("ann").skew = term
	if err := p.take("ann work"); err != nil {
		t.Fatal(err)
	}
	p.ended(t, "ann", "renew lost", "comment", "edit")
}

// TestClockSkew: what a client's clock says matters to nobody, only how it goes on.
func TestClockSkew(t *testing.T) {
	for _, skew := range []time.Duration{-5 * time.Hour, -time.Hour, time.Hour, 5 * time.Hour} {
		p := told(t, scenario{cast: []role{worker("ann", renew, release), worker("bob")}})
		p.named("ann").skew = skew
		for _, line := range []string{
			"ann read", "ann comment", "ann read", "ann edit", "ann read", "bob read",
			"ann work", "ann read", "ann edit",
		} {
			if err := p.take(line); err != nil {
				t.Fatal(err)
			}
		}

		p.ended(t, "ann", "renew ok", "comment", "edit", "edit")
		p.ended(t, "bob", "claim held")
	}
}

// TestNeverSeen: an own claim that no snapshot shows is not a hold, and is ended.
func TestNeverSeen(t *testing.T) {
	s := scenario{
		cast:   []role{worker("ann")},
		reads:  prefixes,
		within: forever,
		faults: budget{stale: 3},
	}
	told(t, s, "ann read", "ann comment", "ann read without 1", "ann read without 1", "ann read without 1", "ann on").
		ended(t, "ann", "claim unknown", "comment", "comment")
}

// stubborn is somebody who puts back every label that is taken off.
type stubborn struct{ calm }

func (s stubborn) RemoveLabel(ctx context.Context, i claim.Issue, name string) error {
	return s.AddLabel(ctx, i, name)
}

// TestDirty: labels that somebody keeps changing are late, and reported as that after so many
// rounds.
func TestDirty(t *testing.T) {
	p := told(t, scenario{cast: []role{holder("ann")}, labels: true})
	f := stubborn{calm{p}}
	p.server.commit(p.server.stamp("add", 0, "agent:done"))
	_, err := p.ledger(f, f, func() string { return "0123abcd" }).Reconcile(t.Context(), issue, "sweep-1")
	if !errors.Is(err, ledger.ErrDirty) || outcome(err) != "late" {
		t.Errorf("reconcile: %v", err)
	}
}

// TestBoundRank: of a claim that was posted twice the comment seen first stays the own rank, also
// when the other one, with the smaller id, surfaces later (spec-writing.md#claim).
func TestBoundRank(t *testing.T) {
	p := told(t, scenario{cast: []role{worker("ann"), worker("bob")}, faults: budget{hidden: 2, lost: 1}},
		"ann read", "bob read", "ann comment adrift", "bob comment hidden", "ann read", "ann comment", "ann read",
		"land 1", "bob read", "bob edit", "ann edit", "bob on", "land 0", "ann on")
	p.ended(t, "bob", "claim ok", "comment", "edit")
	p.ended(t, "ann", "claim yielded", "comment", "comment", "edit", "comment")
}

// TestSweepReadsAgain: a hold that a list showed as expired is looked at again before it is ended
// (guarantees.md#the-search, B3b).
func TestSweepReadsAgain(t *testing.T) {
	s := refutations()["sweep-reads-unbounded-prefix"].scenario
	p := told(t, s, "ann work", "sue start", "tick", "ann read", "ann edit", "tick", "sue read without 1", "sue on")
	p.ended(t, "sue", "sweep ok")
}

// TestPersonBetweenReadings: what a person did between two snapshots of a claim ends the claim.
func TestPersonBetweenReadings(t *testing.T) {
	for name, d := range map[string]deed{
		"do-not-pickup": adds(holdLabel), "closed": closes(),
		"out of scope": adds("needs:human-scope"),
	} {
		t.Run(name, func(t *testing.T) {
			s := scenario{cast: []role{worker("ann"), person(d)}}
			told(t, s, "olga on", "ann on").ended(t, "ann", "claim held")
			told(t, s, "ann read", "ann comment", "olga on", "ann on").ended(t, "ann", "claim held", "comment",
				"comment")
			told(t, s, "ann read", "ann comment", "ann read", "ann edit", "olga on", "ann on").ended(t, "ann",
				"claim held", "comment", "edit", "comment")
		})
	}
}

// TestPersonStopsTheHeartbeat: closing the issue, or taking it, stops its holder at the next
// heartbeat.
func TestPersonStopsTheHeartbeat(t *testing.T) {
	for name, d := range map[string]deed{
		"do-not-pickup": adds(holdLabel), "closed": closes(),
	} {
		t.Run(name, func(t *testing.T) {
			told(t, scenario{cast: []role{holder("ann", renew), person(d)}}, "olga on", "ann work", "ann on").
				ended(t, "ann", "renew lost", "comment", "edit")
		})
	}
}

// TestCommentDeletedUnderTheEdit: a heartbeat that finds its comment gone is a lost hold.
func TestCommentDeletedUnderTheEdit(t *testing.T) {
	told(t, scenario{cast: []role{holder("ann", renew), person(deletes(1))}}, "ann work", "ann read", "olga on",
		"ann on").
		ended(t, "ann", "renew lost", "comment", "edit", "edit")
}

// TestOriginalWriter: a claim without nonce, which was never confirmed, wins over ours in both
// orders in which ours can see it (spec.md#the-original-record-format).
func TestOriginalWriter(t *testing.T) {
	legacy := deed{"claims the old way", func(s *scriptedServer) {
		s.commit(s.stamp("comment", 0, "<!-- agent-claim:codename=old firing_id=1 ts=2026-05-01T12:00:00Z -->"))
	}}
	s := scenario{cast: []role{worker("ann"), person(legacy)}}
	told(t, s, "olga on", "ann on").ended(t, "ann", "claim held")
	told(t, s, "ann read", "olga on", "ann on").ended(t, "ann", "claim yielded", "comment", "comment")
	told(t, s, "ann read", "ann comment", "olga on", "ann on").ended(t, "ann", "claim yielded", "comment", "comment")
}

// TestRenewalAsksTheStore: the first look at the chain was older than the force, the second was
// not.
func TestRenewalAsksTheStore(t *testing.T) {
	s := scenario{
		cast:   []role{holder("ann", renew), operator(forces)},
		strict: true,
		reads:  prefixes,
		within: forever,
		faults: budget{stale: 1},
	}
	p := told(t, s, "olga on", "ann work", "ann look without 11", "ann on")
	if a := p.named("ann"); !slices.Equal(a.told, []string{"claim ok", "renew lost"}) {
		t.Errorf("ann was told %q\n%s", a.told, p.server)
	}
}

// refusal is an error that says that nothing was written.
type refusal struct{ error }

func (refusal) Rejected() bool { return true }

// moody answers posts as its script says; nil is success.
type moody struct {
	calm
	script []error
	lost   []string // posts that are still on their way
}

func (m *moody) Comment(ctx context.Context, i claim.Issue, body string) (claim.Comment, error) {
	var err error
	if len(m.script) > 0 {
		err, m.script = m.script[0], m.script[1:]
	}

	if err == nil {
		return m.calm.Comment(ctx, i, body)
	}

	if !errors.As(err, &refusal{}) {
		m.lost = append(m.lost, body)
	}

	return claim.Comment{}, err
}

// TestRefusedRetryIsOpen: the first post's answer is lost, the second is refused for good. The
// first may still land, so the claim's end is written all the same.
func TestRefusedRetryIsOpen(t *testing.T) {
	p := told(t, scenario{})
	m := &moody{calm: calm{p}, script: []error{errAnswer, refusal{errors.New("403")}}}
	l := p.ledger(m, m, func() string { return "0123abcd" })
	_, err := l.Claim(t.Context(), issue, ledger.Request{Worker: claim.Worker{Codename: "ann"}})
	if outcome(err) != "unknown" {
		t.Errorf("claim: %v", err)
	}

	for _, body := range m.lost {
		if _, err := m.calm.Comment(t.Context(), issue, body); err != nil {
			t.Fatal(err)
		}
	}

	if live := p.look().log.Live(); len(live) > 0 {
		t.Errorf("%s is live\n%s", live[0].Record.Worker, p.server)
	}
}
