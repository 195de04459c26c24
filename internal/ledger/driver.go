package ledger

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// detachedIn is how long an operation may clean up after its caller gave up.
const detachedIn = 20 * time.Second

// Run carries an operation about an issue to its conclusion: it reads, writes and waits as the
// operation says. Whatever there is of contexts and clocks is here. When the caller gives up, the
// operation is told, and has twenty seconds more to clean up.
func (l *Ledger) Run(ctx context.Context, i claim.Issue, op protocol.Operation) protocol.Conclusion {
	r := run{Ledger: l, ctx: ctx, issue: i}
	return r.through(op)
}

// A run is an operation on its way.
type run struct {
	*Ledger
	ctx    context.Context
	cancel context.CancelFunc // of the time after the caller gave up
	ending error
	issue  claim.Issue
	begun  time.Time           // zero is when it is carried through
	judged *lifecycle.Snapshot // what the next read shows; nil asks the server
	ahead  sent                // of the next effects, what was done already together with other runs
	shown  lifecycle.Facts     // the latest snapshot
	lease  lease.Lease         // that came with it
	wrote  int64               // the comment that was written last
}

// sent is what became of the first writes of some effects.
type sent struct {
	results []protocol.Result
	after   *lifecycle.Facts // a snapshot that came with the last of them; nil without
}

// through carries the operation to its conclusion.
func (r *run) through(op protocol.Operation) protocol.Conclusion {
	return runAll([]*run{r}, []protocol.Operation{op})[0]
}

// passed is the time since the beginning.
func (r *run) passed() time.Duration { return r.elapsed(r.begun) }

// do carries the effects out and returns what came of them.
func (r *run) do(e protocol.Effects) protocol.Seen {
	seen := r.write(e)
	if e.Wait > 0 {
		r.sleep(e)
	}

	if complete := len(seen.Results) == len(e.Writes) && landed(e.Writes, seen.Results); e.Read && !seen.Read &&
		complete {
		f, err := r.read()
		r.show(&seen, f, err, e.Ask)
	}

	if !e.Read {
		seen.Replies = r.forge.Reply(r.ctx, r.issue, e.Ask)
	}

	if err := r.ctx.Err(); err != nil {
		r.giveUp(err)
	}
	seen.Elapsed, seen.Ending = r.passed(), r.ending

	return seen
}

// read makes a snapshot; it may be the one by which the caller chose the issue, or have been made
// together with others.
func (r *run) read() (lifecycle.Facts, error) {
	got := r.judged
	r.judged = nil
	if got == nil || got.Err == nil && r.behind(got.Facts) {
		made := r.facts(r.ctx, r.issue)
		got = &made
	}
	return got.Facts, got.Err
}

// landed reports whether the writes were applied, but for those that may be refused.
func landed(writes []protocol.Write, results []protocol.Result) bool {
	for n, result := range results {
		if result.Did != protocol.Applied && !(writes[n].Optional && result.Did == protocol.Refused) {
			return false
		}
	}
	return true
}

// giveUp goes on without the caller's context, for a while.
func (r *run) giveUp(err error) {
	if r.ending != nil {
		return
	}
	r.ending = err
	r.ctx, r.cancel = context.WithTimeout(context.WithoutCancel(r.ctx), detachedIn)
}

// sleep waits.
func (r *run) sleep(e protocol.Effects) {
	d := e.Wait
	if e.Spread {
		word := fnv.New32a()
		word.Write([]byte(r.token()))
		d = time.Duration(float64(d) * float64(word.Sum32()) / float64(1<<32))
	}

	_ = r.clock.Sleep(r.ctx, d) // do asks the context whether that was cut short
}

// show makes a snapshot what the operation sees.
func (r *run) show(seen *protocol.Seen, f lifecycle.Facts, err error, ask protocol.Ask) {
	if f, err = r.whole(r.issue, f, err); err == nil && ask.Lease {
		seen.Lease, err = r.leases.look(r.ctx, r.issue)
	}

	if seen.Err = err; err != nil {
		return
	}

	r.shown, r.lease = f, seen.Lease
	if ask.Here {
		f = r.Here(f)
	}
	seen.Read, seen.Facts = true, f
}

// counts asks whether what we write on the issue counts for others. Its error says that nothing was
// written.
func (r *run) counts() error {
	if err := r.forge.Reply(r.ctx, r.issue, protocol.Ask{Counts: true}).Err; err != nil {
		return protocol.NotWritten(err)
	}
	return nil
}

// write sends writes in order, up to the first that was not applied. What is to be read may come
// with the last.
func (r *run) write(e protocol.Effects) (seen protocol.Seen) {
	done := r.ahead
	r.ahead = sent{}
	for len(done.results) < len(e.Writes) && landed(e.Writes, done.results) {
		n := len(done.results)
		next := r.send(e, n)
		done.results, done.after = append(done.results, next.results...), next.after
	}

	seen.Results = done.results
	if e.Read && done.after != nil && landed(e.Writes, done.results) {
		r.show(&seen, *done.after, nil, e.Ask)
	}

	return seen
}

// send sends the write with the number n, and the one after it where both are one batch.
func (r *run) send(e protocol.Effects, n int) sent {
	begun := r.passed()
	if e.Writes[n].Kind.Tells() {
		result := protocol.Result{Sent: begun}
		result.Lease, result.Err = r.tell(e.Writes[n])
		result.Answered, result.Did = r.passed(), did(result.Err)
		return sent{results: []protocol.Result{result}}
	}

	b := r.batch(e, n)
	if post := b.Writes[0]; post.Kind == protocol.WritePost && !post.Uncertain {
		if err := r.counts(); err != nil {
			return sent{results: []protocol.Result{{Did: protocol.Refused, Err: err, Answered: r.passed()}}}
		}
	}

	return r.took(r.forge.Write(r.ctx, []Batch{b})[0], begun)
}

// batch is what GitHub is sent at once, from the write with the number n on.
func (r *run) batch(e protocol.Effects, n int) Batch {
	last := n
	if k := n + 1; e.Read && k == len(e.Writes)-1 && e.Writes[n].Kind == protocol.WritePost &&
		e.Writes[k].Kind == protocol.WriteRelabel {
		last = k
	}

	b := Batch{
		Issue:  r.issue,
		Writes: slices.Clone(e.Writes[n : last+1]),
		Read:   e.Read && last == len(e.Writes)-1,
	}

	own := slices.IndexFunc(r.shown.Log.Log, func(m claim.Entry) bool { return m.ID == b.Writes[0].Comment })
	if b.Writes[0].Kind == protocol.WriteEdit && own >= 0 && !r.shown.PullRequest {
		b.Writes[0].Node = r.shown.Log.Log[own].Node
	}

	return b
}

// took takes in what became of a batch that was sent then. A snapshot that does not show it, or
// less, is none.
func (r *run) took(got Written, then time.Duration) sent {
	for n := range got.Results {
		got.Results[n].Sent, got.Results[n].Answered = then, r.passed()
		got.Results[n].Did = did(got.Results[n].Err)
	}

	r.wrote = cmp.Or(got.Results[0].Comment.ID, r.wrote)
	if got.After != nil && (!shows(*got.After, r.wrote) || r.behind(*got.After)) {
		got.After = nil
	}

	return sent{got.Results, got.After}
}

// did is what the error of a write says about it.
func did(err error) protocol.Did {
	switch {
	case err == nil:
		return protocol.Applied
	case errors.Is(err, ErrGone):
		return protocol.Gone
	case lease.Rejected(err):
		return protocol.Refused
	}

	return protocol.Unknown
}

// shows reports whether a snapshot that came with a write can be gone by: it is whole, and has the
// comment, if there is one.
func shows(f lifecycle.Facts, comment int64) bool {
	if len(f.Missing)+len(f.Doubts) > 0 {
		return false
	}
	is := func(c claim.Comment) bool { return c.ID == comment }

	return comment == 0 ||
		slices.ContainsFunc(f.Log.Log, func(e claim.Entry) bool { return is(e.Comment) }) ||
		slices.ContainsFunc(f.Log.Ignored, func(g claim.Ignored) bool { return is(g.Comment) })
}

// tell tells a lease store what a write says.
func (r *run) tell(w protocol.Write) (got lease.Lease, err error) {
	switch w.Kind {
	case protocol.WriteAcquire:
		got, err = r.leases.store.Acquire(r.ctx, w.Acquire)
	case protocol.WriteExtend:
		got, err = r.leases.store.Renew(r.ctx, w.Lease)
		if errors.Is(err, lease.ErrLost) {
			return got, err
		}
	case protocol.WriteRelease:
		err = r.leases.store.Release(r.ctx, w.Lease)
	case protocol.WriteEnd:
		err = r.leases.end(r.ctx, r.issue, w.Record)
	}

	return got, r.leases.named(err)
}

// whole refuses a snapshot that something is missing from, or with records of which nobody knows
// whether they count, or that is older than a hold of ours.
func (l *Ledger) whole(i claim.Issue, f lifecycle.Facts, err error) (lifecycle.Facts, error) {
	switch {
	case err != nil:
	case len(f.Missing) > 0:
		err = errors.New(l.set.Rules.Verdict(f, lifecycle.Seeker{}).String())
	case len(f.Doubts) > 0:
		err = errors.New(lifecycle.Unknown.String() + ": " + strings.Join(f.Doubts, "; "))
	case l.behind(f):
		err = ErrInvisible
	default:
		return f, nil
	}

	return lifecycle.Facts{}, &UnknownError{Issue: i, Err: err}
}

// config is what the operations go by.
func (l *Ledger) config() *protocol.Config {
	c := l.set.Config
	c.Store = l.leases.name
	return &c
}
