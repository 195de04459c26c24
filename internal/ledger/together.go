package ledger

import (
	"context"
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// runAll carries several operations to their conclusions, side by side: what they read at one time
// is one request, and so are edits and labels that they write at one time. New comments are
// requests of their own. An operation that waits holds up no other; one whose snapshot is older
// than its own hold does.
func runAll(runs []*run, ops []protocol.Operation) []protocol.Conclusion {
	under := make([]*underway, len(runs))
	for n, r := range runs {
		if r.begun.IsZero() {
			r.begun = r.clock.Now()
		}
		next, stop := ops[n].Begin()
		defer stop()
		under[n] = &underway{run: r, step: next}
		under[n].next(protocol.Seen{})
	}

	for ready := awake(under); len(ready) > 0; ready = awake(under) {
		readTogether(ready)
		extendTogether(ready)
		writeTogether(ready)
		for _, u := range ready {
			u.next(u.do(u.effects))
		}
	}

	done := make([]protocol.Conclusion, len(runs))
	for n, u := range under {
		done[n] = *u.effects.Done
		done[n].Began = u.begun
		if u.cancel != nil {
			u.cancel()
		}
	}

	return done
}

// An underway is a run with what it is to do next.
type underway struct {
	*run
	step    func(protocol.Seen) protocol.Effects
	effects protocol.Effects
	wake    time.Time // it waits until then
}

// next shows the operation what came of its effects.
func (u *underway) next(s protocol.Seen) {
	u.effects = u.step(s)
	if u.set.DryRun && len(u.effects.Writes) > 0 {
		u.effects.Done = &protocol.Conclusion{Err: u.unsent()}
	}

	u.wake = u.clock.Now().Add(u.effects.Wait)
}

// awake returns the operations that have something to do now. If all wait, it is the first to go
// on, which waits itself.
func awake(all []*underway) []*underway {
	var ready []*underway
	var first *underway
	for _, u := range all {
		switch {
		case u.effects.Done != nil:
		case !u.clock.Now().Before(u.wake):
			u.effects.Wait = 0
			ready = append(ready, u)
		case first == nil || u.wake.Before(first.wake):
			first = u
		}
	}

	if len(ready) == 0 && first != nil {
		first.effects.Wait = first.wake.Sub(first.clock.Now())
		ready = append(ready, first)
	}

	return ready
}

// readAll reads many issues, each of its own GitHub, in as few requests as those allow.
func readAll(ctx context.Context, forges []Forge, issues []claim.Issue) []lifecycle.Snapshot {
	out := make([]lifecycle.Snapshot, len(issues))
	for n, f := range forges {
		if slices.Contains(forges[:n], f) {
			continue
		}

		var at []int
		var group []claim.Issue
		for k, i := range issues {
			if forges[k] == f {
				at, group = append(at, k), append(group, i)
			}
		}
		for k, got := range f.FactsOf(ctx, group) {
			out[at[k]] = got
		}
	}

	return out
}

// readTogether reads for all operations that do nothing but read now.
func readTogether(ready []*underway) {
	var group []*underway
	var forges []Forge
	var issues []claim.Issue
	for _, u := range ready {
		if u.effects.Read && len(u.effects.Writes) == 0 && u.ending == nil {
			group, forges, issues = append(group, u), append(forges, u.forge), append(issues, u.issue)
		}
	}

	if len(group) < 2 {
		return
	}
	for n, got := range readAll(group[0].ctx, forges, issues) {
		group[n].judged = &got
	}
}

// extendTogether extends the leases of all operations that write that first, where their store does
// so in one step. What does not come of it as wanted is left to each of them.
func extendTogether(ready []*underway) {
	var group []*underway
	var asks []lease.Ask
	for _, u := range ready {
		if u.ending == nil && len(u.effects.Writes) > 0 && u.effects.Writes[0].Kind == protocol.WriteExtend &&
			u.leases.store == ready[0].leases.store && u.issue.SameRepo(ready[0].issue) {
			l := u.effects.Writes[0].Lease
			group = append(group, u)
			asks = append(asks, lease.Ask{
				Issue:  l.Issue,
				Worker: l.Worker,
				Nonce:  l.Nonce,
				TTL:    l.TTL,
			})
		}
	}

	if len(group) < 2 {
		return
	}
	batcher, able := group[0].leases.store.(lease.Batcher)
	if !able {
		return
	}

	begun := make([]time.Duration, len(group))
	for n, u := range group {
		begun[n] = u.passed()
	}

	got, err := batcher.AcquireAll(group[0].ctx, asks) // by the process that has them: it extends them
	for n, u := range group {
		if err == nil && got[n].Token == u.effects.Writes[0].Lease.Token {
			u.ahead.results = []protocol.Result{{
				Did:      protocol.Applied,
				Lease:    got[n],
				Sent:     begun[n],
				Answered: u.passed(),
			}}
		}
	}
}

// writeTogether writes for all operations of which all that is left to write is one batch that may
// be repeated.
func writeTogether(ready []*underway) {
	forges := map[Forge][]*underway{}
	for _, u := range ready {
		if u.ending == nil && u.repeats() {
			forges[u.forge] = append(forges[u.forge], u)
		}
	}

	for _, u := range ready {
		group := forges[u.forge]
		delete(forges, u.forge)
		if len(group) < 2 {
			continue
		}

		batches, begun := make([]Batch, len(group)), make([]time.Duration, len(group))
		for n, one := range group {
			batches[n], begun[n] = one.batch(one.effects, len(one.ahead.results)), one.passed()
		}
		for n, got := range u.forge.Write(u.ctx, batches) {
			next := group[n].took(got, begun[n])
			group[n].ahead.results, group[n].ahead.after = append(group[n].ahead.results, next.results...), next.after
		}
	}
}

// repeats reports whether all that is left to write is an edit, or a change of labels, with a
// snapshot after it.
func (u *underway) repeats() bool {
	writes, n := u.effects.Writes, len(u.ahead.results)
	return u.effects.Read && n == len(writes)-1 &&
		(writes[n].Kind == protocol.WriteEdit || writes[n].Kind == protocol.WriteRelabel)
}
