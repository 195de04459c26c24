package ledger_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/sample"
)

// A bound is a scenario and how much of it there must be: one that stops short of that has stopped
// to look. An ordinary run plays the scenarios of few states, and those of many that it always
// names.
type bound struct {
	scenario scenario
	stories  int
	states   int
}

// fewStates are so few that an ordinary run plays the scenario.
const fewStates = 1000

// always are the scenarios of many states in an ordinary run: for R2, and for references whose
// lease runs out.
var always = []string{"two workers, inverted, in turns", "expired, stale"}

// sampled reports whether this run plays the scenario.
func (b bound) sampled(name string) bool {
	return sample.All() || *deep || b.states <= fewStates || slices.Contains(always, name)
}

// TestInterleavings plays, over the real ledger, every order of single requests of a few actors,
// with faults at every place the scenario allows, and in every state asks: is there one holder at
// most, do tokens grow, does no loser touch a label; and at every end, after lease and sweep: are
// the labels the projection, is the issue free (guarantees.md#what-the-log-guarantees).
func TestInterleavings(t *testing.T) {
	every := scenarios()
	if *deep {
		maps.Copy(every, night())
	}

	for _, name := range slices.Sorted(maps.Keys(every)) {
		if !every[name].sampled(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			every[name].played(t)
		})
	}
}

func (b bound) played(t *testing.T) {
	found := holds(t, b.scenario)
	if found.stories < b.stories || len(found.met) < b.states {
		t.Errorf("%d stories and %d states; there were %d and %d", found.stories, len(found.met), b.stories, b.states)
	}
}

// scenarios are complete within their bounds: so many actors, faults, interruptions and ticks of
// time.
func scenarios() map[string]bound {
	pair := []role{worker("ann", release), worker("bob", release)}
	twins := []role{twin("ann"), twin("bob")}
	trio := []role{worker("ann"), worker("bob"), worker("cyd")}
	beat := []role{holder("ann", renew, release), sweeper("sue", 1)}
	dead := []role{holder("ann"), sweeper("sue", 1), sweeper("sid", 1), worker("bob")}

	return map[string]bound{
		"along, two workers": {scenario{cast: pair, along: true, ends: all(progress, noGhost)}, 9, 45},
		"along, inverted and lost": {scenario{
			cast:     trio[:2],
			along:    true,
			faults:   budget{hidden: 1, lost: 1},
			switches: 1,
		}, 1800, 5800},
		"along, stale and blind": {scenario{
			cast:   pair,
			along:  true,
			reads:  prefixes,
			within: forever,
			faults: budget{stale: 1, unread: 1},
		}, 430, 1500},
		"along, crash": {scenario{cast: pair, along: true, faults: budget{crash: 1}}, 50, 90},
		"along, heartbeat, sweep and rival": {scenario{
			cast:     []role{holder("ann", renew), sweeper("sue", 1), worker("bob")},
			along:    true,
			tick:     term,
			ticks:    3,
			switches: 1,
		}, 530, 3200},
		"along, one key, lost and crash": {scenario{
			watch:    keyStands,
			cast:     twins,
			along:    true,
			faults:   budget{lost: 1, crash: 1},
			switches: 1,
		}, 230, 420},
		"two workers":        {scenario{cast: pair, ends: all(progress, noGhost)}, 55, 340},
		"two workers, crash": {scenario{cast: pair, faults: budget{crash: 1}}, 370, 660},
		"two workers, stale": {scenario{
			cast:     pair,
			reads:    prefixes,
			within:   forever,
			faults:   budget{stale: 2},
			switches: 4,
			ends:     noGhost,
		}, 2300, 8100},
		"two workers, inverted": {scenario{cast: pair, faults: budget{hidden: 2}, ends: noGhost}, 1500, 10000},
		"two workers, inverted, in turns": {scenario{
			cast:     pair,
			faults:   budget{hidden: 2},
			switches: 1,
			ends:     noGhost,
		}, 550, 4300},
		"two workers, inverted, fair": {scenario{
			cast:   pair,
			faults: budget{hidden: 2},
			fair:   true,
			ends:   all(progress, noGhost),
		}, 1100, 8400},
		"two workers, lost": {scenario{cast: pair, faults: budget{lost: 1}, ends: noGhost}, 2000, 13000},
		"two workers, stale and lost": {scenario{
			cast:     trio[:2],
			reads:    prefixes,
			within:   forever,
			faults:   budget{stale: 1, lost: 1},
			switches: 1,
		}, 410, 1300},
		"two workers, inverted and lost": {
			scenario{cast: trio[:2], faults: budget{hidden: 1, lost: 1}, switches: 2},
			4000, 16000,
		},
		"two workers, twice each": {scenario{
			cast:     []role{again("ann", 2, release), again("bob", 2, release)},
			switches: 2, faults: budget{hidden: 1},
		}, 990, 15000},
		"three workers":           {scenario{cast: trio, ends: progress}, 650, 2700},
		"three workers, inverted": {scenario{cast: trio, faults: budget{hidden: 1}, switches: 3}, 2700, 13000},
		"three workers, crash":    {scenario{cast: trio, faults: budget{crash: 1}, switches: 4}, 990, 2400},
		"heartbeat against sweep": {scenario{cast: beat, tick: term, ticks: 3}, 740, 2900},
		"heartbeat lost": {scenario{
			cast:     []role{holder("ann", renew), sweeper("sue", 1)},
			tick:     term,
			ticks:    3,
			switches: 2,
			faults:   budget{lost: 1},
		}, 3000, 9900},
		"heartbeat, sweep and rival": {scenario{
			cast:     []role{holder("ann", renew), sweeper("sue", 1), worker("bob")},
			tick:     term,
			ticks:    3,
			switches: 1,
		}, 820, 4600},
		"claim lost and a sweeper": {scenario{
			cast: []role{worker("ann"), sweeper("sue", 1)}, tick: term, ticks: 2,
			switches: 1, faults: budget{lost: 1},
		}, 2000, 7800},
		"two sweepers": {scenario{cast: dead, tick: term, ticks: 2, switches: 2}, 240, 2000},
		"subset reads, settled": {scenario{
			cast: trio[:2], reads: subsets, within: time.Second,
			faults: budget{stale: 2}, tick: time.Second, ticks: 4, switches: 2, tokenless: true,
		}, 700, 1600},
		"stale, less than grace": {scenario{
			cast:  []role{holder("ann", renew, renew), sweeper("sue", 1)},
			reads: prefixes, within: time.Minute, faults: budget{stale: 2}, blurred: "sue", tick: 58 * time.Second,
			ticks: 5, switches: 2, watch: sweptAlive,
		}, 8400, 9800},
		"expired, inverted": {scenario{
			cast: []role{holder("ann"), worker("bob"), worker("cyd")},
			tick: term, ticks: 2, faults: budget{hidden: 1}, switches: 1,
		}, 120, 600},
		"push in time": {scenario{cast: []role{
			holder("ann", push), sweeper("sue", 1),
			worker("bob", push),
		}, tick: term, ticks: 2, switches: 2, watch: pushedUnderAnother}, 640, 5900},
		"push on a stale look": {scenario{
			cast:  []role{holder("ann", push), sweeper("sue", 1), worker("bob")},
			reads: prefixes, within: forever, blurred: "ann", tick: term, ticks: 2, switches: 1,
			faults: budget{stale: 1}, watch: pushedUnderAnother,
		}, 780, 3800},
		"refused with late labels": {scenario{
			cast: []role{holder("ann"), worker("bob")}, labels: true, tick: term,
			ticks: 2, faults: budget{lost: 1}, set: resting,
		}, 17, 53},
		"never bare": {scenario{
			cast: []role{worker("ann", release)}, labels: true,
			faults: budget{crash: 1}, watch: bare,
		}, 13, 13},
		"reads fail": {scenario{cast: pair, faults: budget{unread: 2}}, 460, 1900},
		"sweep reads fail": {scenario{
			cast: []role{holder("ann"), sweeper("sue", 1), worker("bob")},
			tick: term, ticks: 2, labels: true, faults: budget{unread: 1}, switches: 1,
		}, 170, 680},
		"a sweep crashes": {scenario{
			cast: []role{holder("ann"), sweeper("sue", 1), sweeper("sid", 1)},
			tick: term, ticks: 2, labels: true, faults: budget{crash: 1}, switches: 1,
		}, 210, 720},
		"a person withholds": {
			scenario{cast: append(pair, person(adds(holdLabel), removes(holdLabel)))},
			1800, 8200,
		},
		"a person closes": {scenario{cast: append(pair, person(closes(), reopens()))}, 1900, 8600},
		"labels": {scenario{
			cast: []role{worker("ann", release), worker("bob")}, labels: true,
			ends: painted,
		}, 520, 2800},
		"labels after a crash": {scenario{cast: []role{
			holder("ann", release), sweeper("sue", 1),
			reconciler("rex"),
		}, labels: true, faults: budget{crash: 1}}, 660, 3000},
		"labels, lost": {scenario{
			cast:   []role{holder("ann", release), reconciler("rex")},
			labels: true, faults: budget{lost: 1},
		}, 140, 660},
		"two people": {scenario{
			cast: []role{human("ann", release), human("bob", release)},
			ends: all(progress, noGhost),
		}, 50, 300},
		"two people, inverted": {scenario{
			cast:   []role{human("ann", release), human("bob", release)},
			faults: budget{hidden: 2}, ends: noGhost,
		}, 1000, 8000},
		"a person and a worker, stale": {scenario{
			cast:  []role{human("ann", release), worker("bob", release)},
			reads: prefixes, within: forever, faults: budget{stale: 2}, ends: noGhost,
		}, 1900, 7000},
		"a person and a worker, lost": {scenario{
			cast:   []role{human("ann", release), worker("bob", release)},
			faults: budget{lost: 1}, ends: noGhost,
		}, 1500, 8000},
		"two contributors": {scenario{
			cast: []role{guest("ann", release), guest("bob", release)},
			ends: all(progress, noGhost),
		}, 55, 350},
		"two contributors, inverted and lost": {scenario{
			cast:   []role{guest("ann"), guest("bob")},
			faults: budget{hidden: 1, lost: 1}, switches: 1,
		}, 1500, 5900},
		"a contributor, a worker and a sweep": {scenario{
			cast: []role{guest("ann"), worker("bob", release), sweeper("sue", 1)},
			tick: term, ticks: 2, switches: 1,
		}, 2100, 12000},
		"a contributor and a person, inverted": {scenario{
			cast:   []role{guest("ann"), human("bob", release)},
			faults: budget{hidden: 1}, switches: 1,
		}, 100, 600},
		"quiet, two workers": {scenario{
			cast: pair, set: quiet, ends: all(progress, noGhost),
			watch: deadForEver,
		}, 60, 380},
		"quiet, inverted and lost": {scenario{
			cast: trio[:2], set: quiet, faults: budget{hidden: 1, lost: 1},
			switches: 1, watch: deadForEver,
		}, 1500, 5800},
		"quiet, stale and lost": {scenario{
			cast: trio[:2], set: quiet, reads: prefixes, within: forever,
			faults: budget{stale: 1, lost: 1}, switches: 1, watch: deadForEver,
		}, 450, 1400},
		"quiet, crash": {scenario{
			cast: pair, set: quiet, faults: budget{crash: 1}, switches: 3,
			watch: deadForEver,
		}, 260, 540},
		"quiet, three workers": {scenario{
			cast: trio, set: quiet, faults: budget{hidden: 1}, switches: 2,
			watch: deadForEver,
		}, 750, 3700},
		"quiet, and a sweep": {scenario{
			cast: append(trio[:2:2], sweeper("sue", 1)), set: quiet, tick: term,
			ticks: 2, switches: 2, watch: deadForEver,
		}, 2600, 12400},
		"quiet, lost": {scenario{
			cast: pair, set: quiet, faults: budget{lost: 1}, switches: 2,
			ends: noGhost, watch: deadForEver,
		}, 450, 3800},
		"quiet, twice each": {scenario{
			cast: []role{again("ann", 2, release), again("bob", 2, release)},
			set:  quiet, switches: 1, faults: budget{hidden: 1}, watch: deadForEver,
		}, 270, 4300},
		"a person edits labels": {scenario{cast: []role{
			worker("ann", release), worker("bob"),
			person(removes("agent:in-flight"), adds("agent:implement")),
		}, labels: true, switches: 3}, 1900, 15000},
		"a pull request, merged": {
			scenario{cast: append(pair, person(closes())), pull: true, ends: noGhost},
			590, 2000,
		},
		"a pull request, merged, swept": {scenario{cast: []role{
			worker("ann", renew), worker("bob"), person(closes()),
			sweeper("sue", 1),
		}, pull: true, switches: 2}, 500, 2700},
		"one key, two processes": {scenario{watch: keyStands, cast: twins, ends: all(wins(1), noGhost)}, 12, 46},
		"one key, three processes": {scenario{
			watch: keyStands,
			cast:  []role{twin("ann"), twin("bob"), twin("cyd")}, ends: all(wins(1), noGhost),
		}, 88, 490},
		"one key, used again": {scenario{
			watch: keyStands,
			cast:  []role{twin("ann", release), twin("bob", release)}, ends: all(progress, noGhost),
		}, 23, 110},
		"one key, stale": {scenario{
			watch: keyStands, cast: twins, reads: prefixes, within: forever,
			faults: budget{stale: 2}, ends: wins(1),
		}, 220, 610},
		"one key, inverted": {
			scenario{watch: keyStands, cast: twins, faults: budget{hidden: 2}},
			740, 3200,
		},
		"one key, inverted, fair": {scenario{
			watch: keyStands, cast: twins, faults: budget{hidden: 2}, fair: true,
			ends: wins(1),
		}, 320, 1700},
		"one key, lost": {scenario{watch: keyStands, cast: twins, faults: budget{lost: 1}}, 200, 940},
		"one key, inverted and lost": {scenario{
			watch: keyStands, cast: twins, faults: budget{hidden: 1, lost: 1},
			switches: 2,
		}, 3500, 14000},
		"one key, crash":      {scenario{watch: keyStands, cast: twins, faults: budget{crash: 1}}, 56, 88},
		"one key, reads fail": {scenario{watch: keyStands, cast: twins, faults: budget{unread: 2}}, 100, 290},
		"one key, quiet": {scenario{
			watch: keyStands, cast: twins, set: quiet,
			faults: budget{hidden: 1, lost: 1}, switches: 2,
		}, 3500, 14000},
		"one key, and a rival": {scenario{
			watch: keyStands, cast: append(twins[:2:2], worker("cyd")),
			faults: budget{hidden: 1}, switches: 2,
		}, 1400, 7400},
		"one key, rival and crash": {scenario{
			watch: keyStands, cast: append(twins[:2:2], worker("cyd")),
			faults: budget{crash: 1}, switches: 3,
		}, 890, 2000},
		"one key, and a sweep": {scenario{
			watch: keyStands, cast: append(twins[:2:2], sweeper("sue", 1)),
			tick: term, ticks: 2, switches: 2,
		}, 1900, 7600},
		"resumed": {scenario{
			watch: keyStands,
			cast:  []role{crashedTwin("ann"), resumer("bob", renew, release)}, ends: all(wins(2), noGhost),
		}, 1, 12},
		"resumed twice at once": {scenario{
			watch: keyStands,
			cast:  []role{crashedTwin("ann"), resumer("bob"), resumer("cyd")},
		}, 14, 58},
		"resumed, inverted": {
			scenario{
				watch: keyStands,
				cast:  []role{crashedTwin("ann"), resumer("bob"), resumer("cyd")}, faults: budget{hidden: 2}, switches: 2,
			},
			1100, 4200,
		},
		"resumed, lost": {
			scenario{
				watch: keyStands,
				cast:  []role{crashedTwin("ann"), resumer("bob"), resumer("cyd")}, faults: budget{lost: 1}, switches: 2,
			},
			240, 1000,
		},
		"resumed, crash": {scenario{
			watch: keyStands,
			cast:  []role{crashedTwin("ann"), resumer("bob"), resumer("cyd")}, faults: budget{crash: 1},
		}, 70, 110},
		"resumed from one at work": {scenario{
			watch: keyStands,
			cast:  []role{holderTwin("ann", renew, renew), resumer("bob", renew)},
		}, 30, 250},
		"resumed from one that ends": {scenario{
			watch: keyStands,
			cast:  []role{holderTwin("ann", renew, release), resumer("bob", renew, release)}, ends: noGhost,
		}, 100, 570},
		"resumed, and a sweep": {scenario{
			watch: keyStands,
			cast:  []role{crashedTwin("ann"), resumer("bob", renew), sweeper("sue", 1), worker("cyd")}, tick: term,
			ticks: 2, switches: 1,
		}, 700, 4500},
		"resumed while claiming": {scenario{
			watch: keyStands,
			cast:  []role{twin("ann"), resumer("bob"), worker("cyd")}, switches: 4,
		}, 670, 2800},
		"asked to stop": {scenario{cast: []role{
			worker("ann", renew, release), operator(revokes),
			worker("bob"),
		}}, 620, 3500},
	}
}

// all asks one question after the other.
func all(questions ...func(*exploration) error) func(*exploration) error {
	return func(p *exploration) error {
		for _, q := range questions {
			if err := q(p); err != nil {
				return err
			}
		}
		return nil
	}
}

// progress: somebody won.
func progress(p *exploration) error {
	if p.wins == 0 {
		return errors.New("everybody gave up")
	}
	return nil
}

// noGhost: when all have stopped in an orderly way, no live claim is left that nobody holds.
func noGhost(p *exploration) error {
	for _, c := range p.look().log.Live() {
		if !p.held(c.Record.Worker) {
			return fmt.Errorf("%s is live and nobody's", c.Record.Worker)
		}
	}
	return nil
}

func (p *exploration) held(w claim.Worker) bool {
	return slices.ContainsFunc(p.actors, func(a *actor) bool { return a.hold != nil && a.hold.Record.Worker == w })
}

// wins: of all that claimed, so many were told that they have it.
func wins(n int) func(*exploration) error {
	return func(p *exploration) error {
		if p.wins != n {
			return fmt.Errorf("%d processes were told that they have it, want %d", p.wins, n)
		}
		return nil
	}
}

// keyStands: whoever was told that it has the issue has it, by the log, whatever other processes
// with its key write, until one takes it over.
func keyStands(p *exploration) error {
	log := p.look().log
	for _, a := range p.actors {
		h, held := log.Holder()
		stands := held && a.hold != nil && h.Record.Worker == a.hold.Record.Worker &&
			(h.Record.Nonce == a.hold.Record.Nonce || h.Record.Resumes != "" && h.Record.Token > a.hold.Token)
		if a.owns() && !p.fencedOff(a) && !stands {
			return fmt.Errorf("%s was told that it has the issue, and the log says otherwise", a.name)
		}
	}

	return nil
}

// sweptAlive: nobody who may act is ended by a sweep.
func sweptAlive(p *exploration) error {
	log := p.look().log
	for _, a := range p.actors {
		if a.owns() && log.Dead(a.hold.Record.Worker) {
			return fmt.Errorf("%s was ended and may act", a.name)
		}
	}

	return nil
}

// painted: labels are the projection without any sweep, once everybody is done. A loser touches no
// label, so the end of its claim may wait for the sweep.
func painted(p *exploration) error {
	if slices.ContainsFunc(p.actors, func(a *actor) bool { return slices.Contains(a.told, "claim yielded") }) {
		return nil
	}
	rules := p.actors[0].ledger.Rules()
	f := p.facts(p.look())
	want, why := rules.Label(f)
	if c := rules.Scheme.Change(f.Labels, want); !c.Empty() {
		return fmt.Errorf("labels are %q before the sweep, and %s", f.Labels, why)
	}

	return nil
}

// bare: the issue shows a lifecycle label at every moment.
func bare(p *exploration) error {
	if shown := p.look().labels; len(labels.Agent().Of(shown)) == 0 {
		return fmt.Errorf("no lifecycle label among %q", shown)
	}
	return nil
}
