package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lease/gitref"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A scenario says who plays and what may go wrong; a search plays every story it has.
type scenario struct {
	cast      []role
	faults    budget
	reads     consistency
	within    time.Duration // how old an event may be that a read lacks
	blurred   string        // whose reads may lack something; empty is everybody's
	tick      time.Duration // by which time passes, anywhere; 0 is a scenario without time
	ticks     int
	along     bool // a comment that is written, or edited, comes back with a snapshot
	labels    bool // label writes are steps and are read as stale as the log
	switches  int  // how often an actor may be interrupted; 0 is without bound
	set       func(*ledger.Settings)
	watch     func(*exploration) error // beside the invariants of every scenario
	ends      func(*exploration) error // at the end of a story, before the sweep
	tokenless bool                     // tokens may come again
	strict    bool                     // references decide, and the log, their mirror, is written in no time
	fair      bool                     // what is late lands before anybody loses patience
	// it is a pull request: of all rules about holds, that its end ends them is the only one of its
	// own
	pull bool
}

// A role is one actor's part. Actors of one kind that follow one another in the cast play the same
// part and are begun in that order: stories that only swap their names are one.
type role struct {
	name string
	kind string
	life func(*actor)
	has  bool // it has claimed the issue when the story begins
}

// A budget is how many faults of each kind one story may have.
type budget struct {
	stale  int // reads that lack something
	hidden int // comments that become visible later than they were answered
	lost   int // writes whose answer is lost: applied, not applied, or applied later
	crash  int // actors that die before a request
	unread int // reads that fail
}

// An exploration is one sequence of choices over actors and a server that follows a script.
type exploration struct {
	scenario *scenario
	server   *scriptedServer
	actors   []*actor
	left     budget
	ticks    int
	switches int
	last     int // who moved last
	token    int64
	wins     int
	broken   error
	resumed  []string // nonces of the processes whose holds were taken over
}

func (s *scenario) start(views map[uint64]*snapshot) *exploration {
	p := &exploration{
		scenario: s,
		server:   newScriptedServer(views),
		left:     s.faults,
		ticks:    s.ticks,
		last:     -1,
	}

	for _, r := range s.cast {
		a := &actor{name: r.name, run: p}
		a.ledger = p.ledger(a, a, a.word)
		p.actors = append(p.actors, a)
		a.enter(r.life)
	}

	for n, a := range p.actors {
		for s.cast[n].has && a.hold == nil && !a.over {
			p.grant(choice{who: n})
		}
	}

	p.last, p.switches = -1, s.switches
	return p
}

// ledger is a worker's, over its own connection and clock.
func (p *exploration) ledger(f server, c ledger.Clock, word func() string) *ledger.Ledger {
	set := ledger.DefaultSettings()
	set.Rules.MaxAttempts, set.Rules.Rest = 0, nil
	set.Rules.Terms.TTL, set.Rules.Terms.Legacy = 2*time.Minute, 2*time.Minute
	set.MaxReads = 3
	if p.scenario.set != nil {
		p.scenario.set(&set)
	}

	l := ledger.New(over(f), c, word, set)
	if refs, ok := f.(gitref.Refs); ok && p.scenario.strict {
		l = l.Strict(gitref.New(refs, gitref.Options{Sleep: c.Sleep}), "refs")
	}

	return l
}

// end lets go of the coroutines.
func (p *exploration) end() {
	for _, a := range p.actors {
		a.stop()
	}
}

// facts is the snapshot as the ledger asks for it.
func (p *exploration) facts(r *snapshot) lifecycle.Facts {
	f := r.facts(issue, p.server.now)
	f.PullRequest = p.scenario.pull
	if !p.scenario.labels {
		scheme := labels.Agent()
		f.Labels = slices.Clone(p.server.painted)
		for _, l := range r.labels {
			if len(scheme.Of([]string{l})) == 0 {
				f.Labels = append(f.Labels, l)
			}
		}
	}

	return f
}

// paint changes a label in no time.
func (p *exploration) paint(verb, label string) {
	p.server.painted = slices.DeleteFunc(slices.Clone(p.server.painted), func(l string) bool { return l == label })
	if verb == "add" {
		p.server.painted = append(p.server.painted, label)
		slices.Sort(p.server.painted)
	}
}

// look is the whole truth.
func (p *exploration) look() *snapshot {
	r, _ := p.server.read(0)
	return r
}

// A choice is one thing that may happen next.
type choice struct {
	who  int // -1: nobody
	how  how
	mask uint64 // of a read; of a landing, which event
}

type how byte

const (
	plain how = iota
	hidden
	lost   // applied, the answer is lost
	denied // not applied, an error all the same
	late   // an error, and applied later
	adrift // hidden, and the answer is lost
	blind  // without the snapshot that should come along
	crash
	land
	tick
)

func (p *exploration) name(c choice) string {
	switch c.how {
	case tick:
		return "tick"
	case land:
		return fmt.Sprintf("land %d", c.mask)
	case crash:
		return p.actors[c.who].name + " crash"
	}

	a := p.actors[c.who]
	text := a.name + " " + a.want.verb
	switch {
	case c.mask != 0:
		text += fmt.Sprintf(" without %b", c.mask)
	case c.how != plain:
		text += " " + [...]string{
			hidden: "hidden",
			lost:   "lost",
			denied: "denied",
			late:   "late",
			adrift: "adrift",
			blind:  "blind",
		}[c.how]
	}

	return text
}

// choices lists what may happen next, the undisturbed course first.
func (p *exploration) choices(out []choice) []choice {
	out = out[:0]
	awake := slices.ContainsFunc(p.actors, (*actor).awake)
	for n, a := range p.actors {
		if p.mayMove(n, a, awake) {
			out = p.moves(out, n, a)
		}
	}

	for n := range p.server.late {
		out = append(out, choice{who: -1, how: land, mask: uint64(n)})
	}

	if p.ticks > 0 && (len(out) > 0 || slices.ContainsFunc(p.actors, func(a *actor) bool { return !a.over })) {
		out = append(out, choice{who: -1, how: tick})
	}

	return out
}

// mayMove reports whether it can be the actor's turn. One that would only see again what it saw
// waits for a change, unless all the others wait as well.
func (p *exploration) mayMove(n int, a *actor, awake bool) bool {
	switch {
	case a.over || a.wake.After(p.server.now):
		return false
	case awake && !a.awake():
		return false
	case p.scenario.fair && !a.awake() && len(p.server.late) > 0:
		return false
	case n > 0 && p.scenario.cast[n-1].kind == p.scenario.cast[n].kind && a.digest == 0 && p.actors[n-1].digest == 0:
		return false
	case p.scenario.switches > 0 && p.switches == 0 && p.last >= 0 && p.last != n && p.actors[p.last].awake():
		return false
	}

	return true
}

func (p *exploration) moves(out []choice, n int, a *actor) []choice {
	out = append(out, choice{who: n})
	switch {
	case a.want.reads() && p.left.stale != 0 && (p.scenario.blurred == "" || p.scenario.blurred == a.name):
		for _, m := range p.server.gaps(p.scenario.reads, p.scenario.within)[1:] {
			out = append(out, choice{who: n, mask: m})
		}
	case a.want.verb == "comment" && p.left.hidden > 0:
		out = append(out, choice{who: n, how: hidden})
	}

	if a.want.reads() && p.left.unread > 0 {
		out = append(out, choice{who: n, how: denied})
	}

	if p.alongWith(a.want) && p.left.unread > 0 {
		out = append(out, choice{who: n, how: blind})
	}

	if a.want.write() && p.left.lost > 0 {
		out = append(out, choice{who: n, how: lost}, choice{who: n, how: denied}, choice{who: n, how: late})
	}

	if a.want.verb == "comment" && p.left.lost > 0 && p.left.hidden > 0 {
		out = append(out, choice{who: n, how: adrift})
	}

	if p.left.crash > 0 && a.digest != 0 && p.scenario.cast[n].kind != "person" {
		out = append(out, choice{who: n, how: crash})
	}

	return out
}

// alongWith reports whether a snapshot comes with the answer.
func (p *exploration) alongWith(r request) bool {
	return p.scenario.along && (r.verb == "comment" || r.verb == "edit")
}

// grant makes the choice happen.
func (p *exploration) grant(c choice) {
	switch c.how {
	case tick:
		p.ticks--
		p.server.now = p.server.now.Add(p.scenario.tick)
		p.server.version++
	case land:
		p.server.land(int(c.mask))
	case crash:
		p.left.crash--
		p.actors[c.who].crash()
	default:
		p.move(c)
	}

	p.broken = p.check()
}

func (p *exploration) move(c choice) {
	a := p.actors[c.who]
	if p.last >= 0 && p.last != c.who && p.actors[p.last].awake() && p.switches > 0 {
		p.switches--
	}

	p.last = c.who
	a.wake, a.dozing = time.Time{}, false
	if a.want.reads() {
		p.readFor(a, c)
	} else {
		a.polled = -1
		p.writeFor(a, c)
	}

	a.proceed()
}

func (p *exploration) readFor(a *actor, c choice) {
	if c.how == denied {
		p.left.unread--
		a.answer, a.polled = heard{err: errAnswer}, -1
		a.digest = mix(a.digest, "unread", p.server.now)
		return
	}

	view, key := p.server.read(c.mask)
	a.polled = p.server.version
	if c.mask != 0 {
		a.polled = -1
		p.left.stale--
	}

	a.answer = heard{facts: p.facts(view), tip: view.tip}
	a.digest = mix(a.digest, "read", key, p.server.now)
}

var errAnswer = errors.New("answer lost")

func (p *exploration) writeFor(a *actor, c choice) {
	w := a.want
	a.answer = heard{}
	if w.act == nil {
		a.sent = append(a.sent, w.verb)
	}

	a.digest = mix(a.digest, w.verb, int(c.how), p.server.now)
	switch {
	case w.act != nil:
		w.act(p.server)
		return

	case w.verb == "edit" && p.server.gone(w.id):
		a.answer.err = ledger.ErrGone
		return

	case w.verb == "push" && c.how == plain && !a.owns(): // its timeout is over
		a.answer.err = errAnswer
		return

	case w.verb == "swap" && c.how == plain && !p.server.swaps(w.text):
		a.answer.err = gitref.ErrMoved
		a.digest = mix(a.digest, "moved")
		return
	}

	if c.how == lost || c.how == denied || c.how == late || c.how == adrift {
		p.left.lost--
		a.answer.err = errAnswer
	}

	if c.how == denied {
		return
	}
	if c.how == late {
		p.server.late = append(p.server.late, entry{
			what:   w.verb,
			id:     w.id,
			text:   w.text,
			open:   true,
			digest: mix(1, w.verb, uint64(w.id), w.text),
		})

		return
	}

	e := p.server.stamp(w.verb, w.id, w.text)
	switch {
	case c.how == hidden || c.how == adrift:
		p.server.late = append(p.server.late, e)
	case w.verb != "swap" || p.server.swaps(w.text):
		p.server.commit(e)
	}

	if c.how == hidden || c.how == adrift {
		p.left.hidden--
	}

	if a.answer.err == nil {
		a.answer.comment = claim.Comment{
			ID:      e.id,
			Created: e.at,
			Updated: e.at,
			URL:     fmt.Sprint("#", e.id),
		}
		a.digest = mix(a.digest, uint64(e.id))
	}

	switch {
	case !p.alongWith(w) || a.answer.err != nil:
	case c.how == blind:
		p.left.unread--
	default:
		view, key := p.server.read(0)
		after := p.facts(view)
		a.answer.after, a.polled = &after, p.server.version
		a.digest = mix(a.digest, "along", key)
	}
}

func (p *exploration) digest() uint64 {
	h := mix(p.server.digest(), p.ticks, p.left.stale, p.left.hidden, p.left.lost, p.left.crash, p.left.unread,
		uint64(p.token))
	for n, a := range p.actors {
		h = mix(h, n, a.digest, a.over, a.crashed, a.hold != nil, a.dozing && a.polled == p.server.version, a.wake)
	}

	if p.scenario.switches > 0 {
		h = mix(h, p.last, p.switches)
	}

	return h
}

// check holds the invariants that hold at every moment.
func (p *exploration) check() error {
	if p.broken != nil {
		return p.broken
	}
	var owners []string
	for _, a := range p.actors {
		if a.owns() && !p.fencedOff(a) {
			owners = append(owners, a.hold.Record.Worker.String())
		}
	}

	if len(owners) > 1 {
		return fmt.Errorf("two holders: %s", strings.Join(owners, " and "))
	}
	if p.scenario.watch != nil {
		return p.scenario.watch(p)
	}

	return nil
}

// fencedOff reports whether another process has taken over the actor's hold: until its next
// heartbeat it acts with a token that is too small.
func (p *exploration) fencedOff(a *actor) bool {
	return slices.Contains(p.resumed, a.hold.Record.Nonce)
}
