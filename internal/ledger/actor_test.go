package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// An actor is a worker, a sweeper or a person whose every request waits until the search grants it.
// It runs real ledger code on a coroutine of its own, one request at a time.
type actor struct {
	name    string
	run     *exploration
	next    func() (request, bool)
	stop    func()
	yield   func(request) bool
	want    request // what it waits for
	answer  heard
	over    bool // it has ended, or crashed
	person  bool // it claims as a person
	guest   bool // … whose hold ends by itself
	shared  bool // it claims with the key of other processes
	resumes bool // and takes their hold over
	crashed bool
	digest  uint64 // of all it was told since the digest was last reset
	skew    time.Duration

	ledger *ledger.Ledger
	hold   *ledger.Hold // what it believes
	told   []string     // what its operations returned
	sent   []string     // its writes
	labels int          // label writes of the operation under way
	words  int
	wake   time.Time // it sleeps until then
	polled int       // version of the server its last, whole snapshot showed; -1 after a write
	dozing bool      // it slept after that snapshot: only a change is news
	tidy   bool      // it is writing labels
}

// A request is one call that the server will answer.
type request struct {
	verb string // read, comment, edit, add, remove, or an act of its own
	id   int64
	text string
	act  func(*scriptedServer)
}

func (r request) reads() bool { return r.verb == "read" || r.verb == "look" }

func (r request) write() bool { return !r.reads() && r.act == nil }

type heard struct {
	facts   lifecycle.Facts
	comment claim.Comment
	after   *lifecycle.Facts // a snapshot that came with a write
	tip     string           // of a chain
	err     error
}

var errCrashed = errors.New("crashed")

// enter starts the actor; it stops at its first request.
func (a *actor) enter(life func(*actor)) {
	a.polled = -1
	a.next, a.stop = iter.Pull(func(yield func(request) bool) {
		a.yield = yield
		life(a)
	})
	a.proceed()
}

// proceed lets the actor run to its next request.
func (a *actor) proceed() {
	r, more := a.next()
	a.want, a.over = r, !more
	if a.over {
		a.want = request{}
	}
}

// crash ends the actor without another request. Its belief dies with it.
func (a *actor) crash() {
	a.crashed, a.over, a.hold = true, true, nil
	a.stop()
	a.hold, a.want = nil, request{}
}

// ask waits for the search to answer.
func (a *actor) ask(r request) heard {
	if a.crashed {
		return heard{err: errCrashed}
	}
	if !a.yield(r) {
		a.crashed = true
		return heard{err: errCrashed}
	}

	return a.answer
}

// step is an act of the actor itself that others may come before or after.
func (a *actor) step(verb string, act func(*scriptedServer)) bool {
	a.ask(request{verb: verb, act: act})
	return !a.crashed
}

func (a *actor) Facts(_ context.Context, _ claim.Issue) (lifecycle.Facts, error) {
	if a.tidy && !a.run.scenario.labels || a.run.scenario.strict {
		return a.run.facts(a.run.look()), nil
	}
	got := a.ask(request{verb: "read"})
	return got.facts, got.err
}

func (a *actor) Comment(ctx context.Context, i claim.Issue, body string) (claim.Comment, error) {
	if a.run.scenario.strict {
		return calm{a.run}.Comment(ctx, i, body)
	}
	a.tidy = false
	got := a.ask(request{verb: "comment", text: body})
	return got.comment, got.err
}

func (a *actor) EditComment(ctx context.Context, i claim.Issue, id int64, body string) (claim.Comment, error) {
	if a.run.scenario.strict {
		return calm{a.run}.EditComment(ctx, i, id, body)
	}
	a.tidy = false
	got := a.ask(request{verb: "edit", id: id, text: body})
	return got.comment, got.err
}

// Shown is the snapshot that came with the last write.
func (a *actor) Shown(claim.Issue) *lifecycle.Facts { return a.answer.after }

func (a *actor) AddLabel(_ context.Context, _ claim.Issue, name string) error {
	return a.label("add", name)
}

func (a *actor) RemoveLabel(_ context.Context, _ claim.Issue, name string) error {
	return a.label("remove", name)
}

// label is a request of its own only in scenarios about labels: they decide nothing about holds.
func (a *actor) label(verb, name string) error {
	if a.crashed {
		return errCrashed
	}
	a.labels++
	a.tidy, a.answer.after = true, nil
	if a.run.scenario.labels {
		return a.ask(request{verb: verb, text: name}).err
	}

	a.run.paint(verb, name)
	return nil
}

// Now is the actor's own clock.
func (a *actor) Now() time.Time { return a.run.server.now.Add(a.skew) }

// Sleep passes no time where a request may take any time as well. Waits that reach the scenario's
// tick last until their time has come.
func (a *actor) Sleep(ctx context.Context, d time.Duration) error {
	if a.crashed {
		return errCrashed
	}
	if tick := a.run.scenario.tick; tick > 0 && d >= tick {
		a.wake = a.run.server.now.Add(d)
	}

	a.dozing = a.polled >= 0
	return ctx.Err()
}

func (a *actor) word() string {
	a.words++
	return fmt.Sprintf("%s%04d", a.name, a.words)
}

// awake reports whether the actor's next request has any news to bring.
func (a *actor) awake() bool {
	if a.over || a.wake.After(a.run.server.now) {
		return false
	}
	return !a.dozing || a.polled != a.run.server.version
}

// tell notes how an operation ended. From here on only that matters, so states that differ in how
// it came about are one.
func (a *actor) tell(op string, err error) {
	text := op + " " + outcome(err)
	a.told = append(a.told, text)
	a.digest = mix(0, len(a.told), text, a.words)
	if h := a.hold; h != nil {
		a.digest = mix(a.digest, fmt.Sprint(*h))
	}

	a.tidy, a.polled, a.dozing = false, -1, false
}

// owns reports whether the actor believes to hold the issue and its own clock agrees.
func (a *actor) owns() bool { return a.hold != nil && a.ledger.Owns(*a.hold) }

func outcome(err error) string {
	var held *ledger.HeldError
	var lost *ledger.LostError
	var late *ledger.LabelsError
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &held) && held.Shared:
		return "shared"
	case errors.As(err, &held) && held.Yielded != nil:
		return "yielded"
	case errors.As(err, &held):
		return "held"
	case errors.As(err, &lost):
		return "lost"
	case errors.As(err, &late):
		return "late"
	}

	return "unknown"
}
