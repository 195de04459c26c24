package ledger_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease/gitref"
)

// swaps reports whether the swap "BEFORE AFTER" finds the chain at BEFORE.
func (s *scriptedServer) swaps(text string) bool {
	before, _, _ := strings.Cut(text, " ")
	now, _ := s.read(0)
	return now.tip == before
}

// GetRef is a step; it may answer with an older tip.
func (a *actor) GetRef(context.Context, claim.Issue, string) (gitref.Tip, error) {
	got := a.ask(request{verb: "look"})
	if got.err != nil {
		return gitref.Tip{}, got.err
	}

	t := a.run.server.commits[got.tip]
	t.Now, t.RepoID = a.run.server.now, "R_1"
	return t, nil
}

// CreateCommit is a step because its date counts; nobody sees the commit yet.
func (a *actor) CreateCommit(_ context.Context, _ claim.Issue, parent, message string) (gitref.Commit, error) {
	if !a.step("commits", func(*scriptedServer) {}) {
		return gitref.Commit{}, errCrashed
	}
	s := a.run.server
	oid := fmt.Sprintf("%040x", mix(0, parent, message, s.now, a.name))
	s.commits[oid] = gitref.Tip{OID: oid, Message: message, Date: s.now}

	return gitref.Commit{OID: oid, Date: s.now}, nil
}

// SwapRefs is a step. The scenes have one issue.
func (a *actor) SwapRefs(_ context.Context, _ claim.Issue, all ...gitref.Swap) error {
	return a.ask(request{verb: "swap", text: all[0].Before + " " + all[0].After}).err
}

// CanSwapRefs is asked by no scene.
func (*actor) CanSwapRefs(context.Context) error { return nil }

// RefNames is asked by no scene.
func (*actor) RefNames(context.Context, claim.Issue, string) ([]string, error) { return nil, nil }

// ShownRef knows nothing.
func (*actor) ShownRef(claim.Issue, string) (gitref.Tip, bool) { return gitref.Tip{}, false }

// TestInterleavingsOfRefs plays the strict mode: the real ledger over the real chain of references.
func TestInterleavingsOfRefs(t *testing.T) {
	for name, b := range strictScenes() {
		if !b.sampled(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b.scenario.strict = true
			b.played(t)
		})
	}
}

func strictScenes() map[string]bound {
	pair := []role{worker("ann", release), worker("bob", release)}
	return map[string]bound{
		"two workers": {scenario{cast: pair, ends: progress}, 8, 150},
		"two workers, stale": {scenario{
			cast:     []role{worker("ann"), worker("bob")},
			reads:    prefixes,
			within:   forever,
			faults:   budget{stale: 1},
			switches: 2,
		}, 15, 39},
		"two workers, lost":  {scenario{cast: pair, faults: budget{lost: 2}, switches: 1}, 145, 3600},
		"two workers, crash": {scenario{cast: pair, faults: budget{crash: 1}}, 115, 340},
		"three workers": {
			scenario{cast: []role{worker("ann"), worker("bob"), worker("cyd")}, ends: progress},
			14, 120,
		},
		"one key": {scenario{
			cast: []role{twin("ann", release), twin("bob", release)},
			ends: progress,
		}, 11, 140},
		"one key, stale": {scenario{
			cast:     []role{twin("ann"), twin("bob")},
			reads:    prefixes,
			within:   forever,
			faults:   budget{stale: 1},
			switches: 2,
		}, 15, 39},
		"one key, lost": {scenario{
			cast: []role{twin("ann"), twin("bob")}, faults: budget{lost: 2},
			switches: 1,
		}, 55, 470},
		"one key, crash": {scenario{cast: []role{twin("ann"), twin("bob")}, faults: budget{crash: 1}}, 19, 43},
		"resumed": {scenario{cast: []role{
			crashedTwin("ann"), resumer("bob", renew),
			resumer("cyd", renew),
		}}, 10, 120},
		"resumed, lost": {scenario{
			cast:   []role{crashedTwin("ann"), resumer("bob", renew), resumer("cyd", renew)},
			faults: budget{lost: 1}, switches: 1,
		}, 44, 600},
		"resumed at work": {scenario{cast: []role{
			holderTwin("ann", renew, release), resumer("bob", renew, release),
			worker("cyd"),
		}, switches: 2}, 115, 2000},
		"renewal against two": {scenario{
			cast:     []role{holder("ann", renew), worker("bob"), worker("cyd")},
			tick:     term,
			ticks:    3,
			switches: 2,
		}, 900, 7000},
		"expired, lost": {scenario{
			cast:     []role{holder("ann", renew), worker("bob")},
			tick:     term,
			ticks:    3,
			faults:   budget{lost: 1},
			switches: 1,
		}, 1400, 7000},
		"expired, stale": {scenario{
			cast:     []role{holder("ann", renew), worker("bob")},
			tick:     term,
			ticks:    3,
			reads:    prefixes,
			within:   forever,
			faults:   budget{stale: 1},
			switches: 1,
		}, 1200, 4500},
	}
}
