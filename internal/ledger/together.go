package ledger

import (
	"context"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// A Library is a Forge that reads many issues at once, of several repositories, too.
type Library interface {
	// FactsOfAll reads each issue like Facts. Each has its own error.
	FactsOfAll(ctx context.Context, issues []claim.Issue) ([]lifecycle.Facts, []error)
}

// A reading is what came of one read.
type reading struct {
	facts lifecycle.Facts
	err   error
}

// readAll reads many issues in as few requests as their forges allow.
func readAll(ctx context.Context, all []*run) []reading {
	out := make([]reading, len(all))
	shared := map[Library][]int{}
	for n, r := range all {
		if library, able := r.forge.(Library); able {
			shared[library] = append(shared[library], n)
		}
	}

	for n, r := range all {
		library, able := r.forge.(Library)
		if !able {
			out[n].facts, out[n].err = r.forge.Facts(ctx, r.issue)
			continue
		}

		if group := shared[library]; group[0] == n {
			issues := make([]claim.Issue, len(group))
			for k, m := range group {
				issues[k] = all[m].issue
			}

			facts, errs := library.FactsOfAll(ctx, issues)
			for k, m := range group {
				out[m] = reading{facts[k], errs[k]}
			}
		}
	}

	return out
}

// runAll carries several operations to their conclusions, side by side: what they read at one time
// is one request. Everything that they write is a request of its own, in their order. An operation
// that waits holds up no other.
func runAll(ctx context.Context, runs []*run, ops []protocol.Operation) []protocol.Conclusion {
	done := make([]protocol.Conclusion, len(runs))
	under := make([]*underway, len(runs))
	for n, r := range runs {
		r.ctx, r.begun = ctx, r.clock.Now()
		under[n] = &underway{run: r, op: ops[n]}
		under[n].next(protocol.Seen{})
	}

	for {
		ready := awake(under)
		if len(ready) == 0 {
			break
		}

		prefetch(ctx, ready)
		for _, u := range ready {
			u.next(u.do(u.effects))
		}
	}

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
	op      protocol.Operation
	effects protocol.Effects
	wake    time.Time // it waits until then; zero does not
}

// next shows the operation what came of its effects.
func (u *underway) next(s protocol.Seen) {
	u.op, u.effects = u.op.Next(s)
	u.wake = time.Time{}
	if u.effects.Wait > 0 {
		u.wake = u.clock.Now().Add(u.effects.Wait)
	}
}

// awake returns the operations that have something to do now. If all wait, it is the first to go
// on, which waits itself.
func awake(all []*underway) []*underway {
	var ready []*underway
	var first *underway
	for _, u := range all {
		switch {
		case u.effects.Done != nil:
		case u.wake.IsZero():
			ready = append(ready, u)
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

// prefetch reads for all operations that do nothing but read now.
func prefetch(ctx context.Context, ready []*underway) {
	var readers []*run
	for _, u := range ready {
		if u.effects.Read && len(u.effects.Writes) == 0 && u.ending == nil && u.judged == nil {
			readers = append(readers, u.run)
		}
	}

	if len(readers) < 2 {
		return
	}

	for n, got := range readAll(ctx, readers) {
		readers[n].judged = &got
	}
}
