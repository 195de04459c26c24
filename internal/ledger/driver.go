package ledger

import (
	"context"
	"errors"
	"fmt"
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
func (bs *base) Run(ctx context.Context, i claim.Issue, op protocol.Operation) protocol.Conclusion {
	r := run{
		base:  bs,
		ctx:   ctx,
		issue: i,
		begun: bs.clock.Now(),
	}

	return r.through(op)
}

// A run is an operation on its way.
type run struct {
	*base
	ctx    context.Context
	cancel context.CancelFunc // of the time after the caller gave up
	ending error
	issue  claim.Issue
	begun  time.Time
	judged *reading        // what the next read shows; nil asks the server
	shown  lifecycle.Facts // the latest snapshot
}

// through carries the operation to its conclusion.
func (r *run) through(op protocol.Operation) protocol.Conclusion {
	defer func() {
		if r.cancel != nil {
			r.cancel()
		}
	}()

	var seen protocol.Seen
	for {
		next, effects := op.Next(seen)
		if effects.Done != nil {
			done := *effects.Done
			done.Began = r.begun
			return done
		}

		op, seen = next, r.do(effects)
	}
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
		seen.Replies = r.reply(e.Ask)
	}

	if err := r.ctx.Err(); err != nil {
		r.giveUp(err)
	}
	seen.Elapsed, seen.Ending = r.passed(), r.ending

	return seen
}

// read makes a snapshot; it may be the one by which the caller chose the issue, or have been made
// together with others.
func (r *run) read() (f lifecycle.Facts, err error) {
	if r.judged != nil {
		got := *r.judged
		r.judged = nil
		return got.facts, got.err
	}
	return r.forge.Facts(r.ctx, r.issue)
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

	if err := r.clock.Sleep(r.ctx, d); err != nil {
		r.giveUp(err)
	}
}

// show makes a snapshot what the operation sees.
func (r *run) show(seen *protocol.Seen, f lifecycle.Facts, err error, ask protocol.Ask) {
	if f, err = r.whole(r.issue, f, err); err == nil && ask.Lease {
		seen.Lease, err = r.leases.look(r.ctx, r.issue)
	}

	if err == nil {
		r.shown = f
	}

	if ask.Here {
		f = r.Here(f)
	}
	seen.Read, seen.Facts, seen.Err = err == nil, f, err
}

// reply answers what was asked without a snapshot.
func (r *run) reply(ask protocol.Ask) (out protocol.Replies) {
	if ask.Counts {
		out.Err = r.counts()
	}

	if ask.Limit != nil && out.Err == nil {
		out.Limit, out.Err = r.limit(r.ctx, r.issue, *ask.Limit)
	}

	if see, able := r.forge.(PullReader); able && ask.Pull != "" {
		out.Pull, out.Err = see.PullAt(r.ctx, ask.Pull, r.issue)
	}
	see, able := r.forge.(Witness)
	switch {
	case !able || ask.Moved == nil:
	case ask.Moved.On:
		out.Moved, out.Err = see.LastAddition(r.ctx, r.issue, ask.Moved.Label)
	default:
		out.Moved, out.Err = see.LastRemoval(r.ctx, r.issue, ask.Moved.Label)
	}

	return out
}

// counts asks whether what we write on the issue counts for others. Its error says that nothing was
// written.
func (r *run) counts() error {
	jury, able := r.forge.(Jury)
	if !able {
		return nil
	}
	if err := jury.Heard(r.ctx, Repo{r.issue.Owner, r.issue.Repo}); err != nil {
		return protocol.NotWritten(err)
	}

	return nil
}

// write sends writes in order, up to the first that was not applied. What is to be read may come
// with the last.
func (r *run) write(e protocol.Effects) (seen protocol.Seen) {
	for n := 0; n < len(e.Writes); n++ {
		w := e.Writes[n]
		if mirrored := e.Read && n == len(e.Writes)-2 && r.mirror(e, n, &seen); mirrored {
			return seen
		}

		last := e.Read && n == len(e.Writes)-1
		result := protocol.Result{Sent: r.passed()}
		var along *lifecycle.Facts
		result.Err = r.send(w, last, &result, &along)
		result.Answered = r.passed()
		result.Did = did(result.Err)
		seen.Results = append(seen.Results, result)
		if !landed(e.Writes[n:n+1], seen.Results[n:]) {
			break
		}

		if along != nil && shows(*along, result.Comment.ID) {
			r.show(&seen, *along, nil, e.Ask)
		}
	}

	return seen
}

// mirror posts a comment and changes labels in one request, and reports whether there is such a
// request.
func (r *run) mirror(e protocol.Effects, n int, seen *protocol.Seen) bool {
	post, relabel := e.Writes[n], e.Writes[n+1]
	at, able := r.forge.(Mirrorer)
	if !able || post.Kind != protocol.WritePost || relabel.Kind != protocol.WriteRelabel || post.Uncertain ||
		r.counts() != nil {
		return false
	}

	result := protocol.Result{Sent: r.passed()}
	var along *lifecycle.Facts
	result.Comment, along, result.Err = at.Mirror(r.ctx, r.issue, post.Body, relabel.Labels)
	if errors.Is(result.Err, errors.ErrUnsupported) {
		return false
	}

	result.Answered, result.Did = r.passed(), did(result.Err)
	seen.Results = append(seen.Results, result)
	if result.Did != protocol.Applied {
		return true
	}

	labelled := protocol.Result{
		Did:      protocol.Unknown,
		Err:      errUnseen,
		Sent:     result.Sent,
		Answered: result.Answered,
	}

	if along != nil && shows(*along, result.Comment.ID) {
		labelled.Did, labelled.Err = protocol.Applied, nil
		r.show(seen, *along, nil, e.Ask)
	}

	seen.Results = append(seen.Results, labelled)
	return true
}

// errUnseen is why it is not known whether labels were changed together with a post.
var errUnseen = errors.New("the issue was not shown after it")

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
// comment, if that has an id.
func shows(f lifecycle.Facts, comment int64) bool {
	if len(f.Missing)+len(f.Doubts) > 0 {
		return false
	}
	is := func(c claim.Comment) bool { return c.ID == comment }

	return comment == 0 ||
		slices.ContainsFunc(f.Log.Log, func(e claim.Entry) bool { return is(e.Comment) }) ||
		slices.ContainsFunc(f.Log.Ignored, func(g claim.Ignored) bool { return is(g.Comment) })
}

// send sends one write. along asks for the snapshot after it.
func (r *run) send(w protocol.Write, along bool, result *protocol.Result, f **lifecycle.Facts) (err error) {
	switch w.Kind {
	case protocol.WritePost:
		if !w.Uncertain {
			if err := r.counts(); err != nil {
				return err
			}
		}
		result.Comment, *f, err = r.post(w.Body, along)
	case protocol.WriteEdit:
		result.Comment, *f, err = r.edit(w, along)
	case protocol.WriteErase:
		if e, able := r.forge.(Eraser); able {
			err = e.DeleteComment(r.ctx, r.issue, w.Comment)
		}
	case protocol.WriteRelabel:
		*f, err = r.relabel(w, along)
	case protocol.WriteAssign:
		if a, able := r.forge.(Assigner); able {
			err = a.Assign(r.ctx, r.issue, w.Login)
		}

	case protocol.WriteUnassign:
		if a, able := r.forge.(Assigner); able {
			err = a.Unassign(r.ctx, r.issue, w.Login)
		}

	case protocol.WriteClose:
		closer, able := r.forge.(Closer)
		if !able {
			return callError("this ledger closes no issue")
		}
		err = closer.CloseCompleted(r.ctx, r.issue)
	default:
		result.Lease, err = r.tell(w)
	}

	return err
}

// post posts a comment.
func (r *run) post(body string, along bool) (claim.Comment, *lifecycle.Facts, error) {
	if at, able := r.forge.(Recorder); able && along {
		c, f, err := at.Record(r.ctx, r.issue, body)
		if !errors.Is(err, errors.ErrUnsupported) {
			return c, f, err
		}
	}

	c, err := r.forge.Comment(r.ctx, r.issue, body)
	return c, nil, err
}

// edit edits a comment.
func (r *run) edit(w protocol.Write, along bool) (claim.Comment, *lifecycle.Facts, error) {
	own := slices.IndexFunc(r.shown.Log.Log, func(e claim.Entry) bool { return e.ID == w.Comment })
	if at, able := r.forge.(Amender); able && along && own >= 0 && !r.shown.PullRequest {
		c, f, err := at.Amend(r.ctx, r.issue, r.shown.Log.Log[own].Comment, w.Body)
		if !errors.Is(err, errors.ErrUnsupported) {
			return c, f, err
		}
	}

	c, err := r.forge.EditComment(r.ctx, r.issue, w.Comment, w.Body)
	return c, nil, err
}

// relabel adds labels before it removes others: in one request where the snapshot is wanted, else,
// and where there is no such request, in one for each, up to the first that fails.
func (r *run) relabel(w protocol.Write, along bool) (*lifecycle.Facts, error) {
	if at, able := r.forge.(Relabeler); able && along {
		f, err := at.Relabel(r.ctx, r.issue, w.Labels)
		if err == nil {
			return &f, nil
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			return nil, err
		}
	}

	for _, name := range w.Labels.Add {
		if err := r.forge.AddLabel(r.ctx, r.issue, name); err != nil {
			return nil, err
		}
	}

	for _, name := range w.Labels.Remove {
		if err := r.forge.RemoveLabel(r.ctx, r.issue, name); err != nil {
			return nil, err
		}
	}

	return nil, nil
}

// tell tells a lease store what a write says.
func (r *run) tell(w protocol.Write) (got lease.Lease, err error) {
	if !r.IsStrict() {
		return got, fmt.Errorf("%s: no lease store decides", w.Kind)
	}

	switch w.Kind {
	case protocol.WriteAcquire:
		got, err = r.leases.store.Acquire(r.ctx, w.Acquire)
	case protocol.WriteExtend:
		got, err = r.leases.store.Renew(r.ctx, w.Lease)
		if errors.Is(err, lease.ErrLost) {
			return got, err
		}
	case protocol.WriteRelease:
		return got, r.leases.store.Release(r.ctx, w.Lease)
	case protocol.WriteEnd:
		err = r.leases.end(r.ctx, r.issue, w.Record)
	}

	return got, r.leases.named(err)
}

// whole refuses a snapshot that something is missing from, or with records of which nobody knows
// whether they count.
func (bs *base) whole(i claim.Issue, f lifecycle.Facts, err error) (lifecycle.Facts, error) {
	if err == nil && len(f.Missing) > 0 {
		err = errors.New(bs.set.Rules.Verdict(f, lifecycle.Seeker{}).String())
	}

	if err == nil && len(f.Doubts) > 0 {
		err = errors.New(lifecycle.Unknown.String() + ": " + strings.Join(f.Doubts, "; "))
	}

	if err != nil {
		return f, &UnknownError{Issue: i, Err: err}
	}

	return f, nil
}

// config is what the operations go by.
func (bs *base) config() *protocol.Config {
	assign := bs.set.Assign
	if _, able := bs.forge.(Assigner); !able {
		assign = AssignNone
	}

	return &protocol.Config{
		Rules:      bs.set.Rules,
		Store:      bs.leases.name,
		Settle:     bs.set.Settle,
		Margin:     bs.set.Margin,
		Patience:   bs.set.Patience,
		Reconciles: bs.set.Reconciles,
		Assign:     assign,
		Lease:      bs.set.Lease,
		Quiet:      bs.set.Quiet,
	}
}
