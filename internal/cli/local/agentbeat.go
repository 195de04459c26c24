package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/smallfile"
	"github.com/label-state/label-state/internal/state"
)

// beatLock is held, below the folder of the holds, by the event that renews: hosts run hooks side
// by side.
const beatLock = "label-state/beat.lock"

// largestLog is the size in bytes above which a log of git's is not read.
const largestLog = 64 << 20

// renew is one heartbeat of the hold. One that another event is at, or has just made, is left out.
func (e *hostEvent) renew(ctx context.Context, r *record) {
	free, busy := r.lock()
	if busy {
		if e.event.Kind == agenthost.BeforeTool && e.event.Call == agenthost.Publishes {
			e.verify(ctx, r)
		}
		return
	}

	defer free()
	if e.renewedMeanwhile(r) {
		return
	}

	start := e.now()
	s, err := e.ask(ctx, r.worktreeHolds, r.Issue)
	if err != nil {
		e.untold(r, err)
		return
	}

	defer func() { _ = s.Close() }()

	got, err := s.Ledger.Renew(ctx, r.Issue, r.Worker, r.Token)
	if err != nil {
		e.failed(ctx, s, r, err)
		return
	}

	e.change(r, func(h *state.Hold) { setup.Extend(h, got, start) })
	e.good = append(e.good, r.Issue)
}

// lock keeps the other events of the worktree from renewing; busy says that one of them is at it.
// Where no lock can be made two may renew at once, which does no harm.
func (t *worktreeHolds) lock() (free func(), busy bool) {
	unlock, err := state.Lock(filepath.Join(t.git, filepath.FromSlash(beatLock)))
	if err != nil {
		return func() {}, errors.Is(err, state.ErrLocked)
	}
	return func() { _ = unlock() }, false
}

// renewedMeanwhile reports whether another process has extended the hold, or claimed it again,
// since this one has read it; the record is read again then.
func (e *hostEvent) renewedMeanwhile(r *record) bool {
	h, ok, err := r.store.Load(r.Issue)
	if err != nil || !ok || !h.Renewed.After(r.Renewed) {
		return false
	}

	r.Hold = h
	e.good = append(e.good, h.Issue)
	return true
}

// failed tells what became of a hold that could not be extended; an answer that is none leaves it
// as it was.
func (e *hostEvent) failed(ctx context.Context, s *setup.Session, r *record, err error) {
	var lost *ledger.LostError
	if !errors.As(err, &lost) {
		e.untold(r, err)
		return
	}

	f, _, asked := s.Ledger.Check(ctx, r.Issue, lifecycle.Seeker{Worker: r.Worker})
	if asked != nil {
		e.ended(s, r, lost.End, lost.Err, lost.Holder)
		return
	}

	e.judge(s, f, r, lost.Err)
}

// judge tells by a snapshot what became of a hold that does not stand as it should, which err says.
func (e *hostEvent) judge(s *setup.Session, f lifecycle.Facts, r *record, err error) {
	var holder *claim.Claim
	if c, ok := f.Log.Holder(); ok && c.Record.Worker != r.Worker {
		holder = &c
	}
	e.ended(s, r, s.Ledger.Rules().EndOf(f, r.Worker), err, holder)
}

// ended keeps what became of a hold. One that time has ended, and that nobody has taken, is claimed
// again behind the session, which goes on.
func (e *hostEvent) ended(s *setup.Session, r *record, end lifecycle.HoldEnd, err error, holder *claim.Claim) {
	switch {
	case end == lifecycle.HoldDelivered:
		e.answer.Context = agenthost.HandedOver(r.Issue)
		e.forget(r)
	case end == lifecycle.HoldReleased:
		e.forget(r)
	case end.Overdue(err):
		e.change(r, func(h *state.Hold) { h.Tried = e.now() })
		e.expired = true
	// claimed again, and cut off before the record
	case holder != nil && e.event.Session.Made(holder.Record.Worker.FiringID):
		e.change(r, func(h *state.Hold) {
			h.Worker, h.Nonce, h.Comment, h.URL = holder.Record.Worker, holder.Record.Nonce, holder.Comment, holder.URL
			h.Token, h.TTL = holder.Record.Token, cmp.Or(holder.Record.TTL, h.TTL)
			h.Until, _ = holder.Until(s.Ledger.Rules().Terms)
			h.Renewed, h.Tried = holder.Updated, time.Time{}
			h.Refused, h.Unsure = "", false
		})
	default:
		e.lose(r, whyLost(err, holder))
	}
}

// claimAgain is what runs after an event that has found holds of its session expired: those that
// nobody has taken are claimed again, each under a new key and with a new fencing token.
func (e *hostEvent) claimAgain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, againTime)
	defer cancel()

	for _, h := range e.world().Mine {
		if h.Lost == "" && (h.Expired(e.now()) || !h.Tried.IsZero()) { // an event has found it overdue
			e.with(func(r *record) { e.again(ctx, r) }, h.Issue)
		}
	}
}

func (e *hostEvent) again(ctx context.Context, r *record) {
	free, busy := r.lock()
	if busy {
		return
	}

	defer free()
	if e.renewedMeanwhile(r) {
		return
	}

	was := r.Hold
	env := e.environment(r.worktreeHolds)
	env.Getenv, env.Processes = agenthost.Within(e.event.Session, env.Getenv), nil
	s, err := setup.Open(ctx, env, setup.Options{Ref: was.Issue.String()})
	if err != nil {
		e.untold(r, err)
		return
	}

	defer func() { _ = s.Close() }()

	got, err := s.ClaimAgain(ctx, was, ledger.Request{
		Worker:  claim.Worker{Codename: was.Worker.Codename},
		TTL:     was.TTL,
		Branch:  was.Branch,
		Earlier: func(w claim.Worker) bool { return w == was.Worker || e.event.Session.Made(w.FiringID) },
	})
	var lost *ledger.LostError
	var held *ledger.HeldError
	var late *ledger.LabelsError
	switch {
	case errors.As(err, &lost):
		e.ended(s, r, lost.End, lost.Err, lost.Holder)
		return

	case errors.As(err, &held):
		e.refused(r, held)
		return

	case err != nil && !errors.As(err, &late):
		e.untold(r, err)
		return
	}

	kept := e.change(r, func(h *state.Hold) {
		if h.Worker != got.Record.Worker { // else it was only late
			h.Tell = agenthost.Again(h.Issue)
		}
		setup.Extend(h, got, got.Extended())
	})

	if kept {
		return
	}

	_, err = s.Ledger.Release(ctx, was.Issue, ledger.Ending{
		Worker:  got.Record.Worker,
		Outcome: claim.OutcomeCancelled,
		Token:   got.Token,
		Reason:  "its worktree was released or claimed for something else meanwhile",
	})
	e.note(err)
}

// refused keeps why an expired hold could not be claimed again: somebody else has the issue, or it
// is not to be claimed now, which ends no work.
func (e *hostEvent) refused(r *record, held *ledger.HeldError) {
	why := cli.OneLine(held.Error())
	if held.Yielded != nil || held.Verdict.Has(lifecycle.CodeInFlight) || held.Verdict.Has(lifecycle.CodeHold) {
		e.lose(r, "its lease expired, and "+why)
		return
	}

	e.change(r, func(h *state.Hold) {
		h.Tried = e.now()
		if h.Refused != why {
			h.Refused = why
			h.Tell = agenthost.NotAgain(hostHold(*h))
		}
	})
}

// lose records that a hold is somebody else's. Its session is told by the first event that can tell
// it.
func (e *hostEvent) lose(r *record, why string) {
	e.change(r, func(h *state.Hold) {
		h.Lost, h.Tried = why, time.Time{}
		h.Tell = agenthost.Over(h.Issue, why)
	})
}

// whyLost says in a few words what became of a hold.
func whyLost(err error, holder *claim.Claim) string {
	text := err.Error()
	if holder != nil {
		text += "; " + holder.HolderKey() + " has held it since " +
			cli.Moment(holder.Created)
	}
	return cli.OneLine(text)
}

// untold keeps that nothing was found out: the next attempt waits a little.
func (e *hostEvent) untold(r *record, err error) {
	e.change(r, func(h *state.Hold) {
		h.Tried = e.now()
		if hold := hostHold(*h); hold.Expired(e.now()) && !h.Unsure {
			h.Unsure, h.Tell = true, agenthost.Unsure(hold)
		}
	})
	e.note(fmt.Errorf("could not find out whether %s is still held: %s", r.Issue,
		strings.ReplaceAll(err.Error(), "\n", "; ")))
}

// forget removes a record, here and, unless another claim has replaced it, on the disk.
func (e *hostEvent) forget(r *record) {
	e.note(r.store.RemoveIf(r.Issue, func(now state.Hold) bool { return now.Worker == r.Worker }))
	r.drop()
}

// verify looks whether the hold stands now, by one snapshot.
func (e *hostEvent) verify(ctx context.Context, r *record) {
	s, err := e.ask(ctx, r.worktreeHolds, r.Issue)
	if err != nil {
		e.note(err)
		return
	}

	defer func() { _ = s.Close() }()
	f, _, err := s.Ledger.Check(ctx, r.Issue, lifecycle.Seeker{Worker: r.Worker})
	if err != nil {
		e.note(fmt.Errorf("could not find out whether %s is still held: %w", r.Issue, err))
		return
	}

	lost := claim.ErrNotHolder
	if _, found := f.Log.Find(r.Worker); found {
		lost = f.Log.RefuseHolder(r.Worker, r.Token, s.Ledger.Rules().Terms, f.Now)
	}

	switch {
	case lost == nil:
		e.good = append(e.good, r.Issue)
	case s.Ledger.Rules().EndOf(f, r.Worker) == lifecycle.HoldDelivered: // its pull request is pushed to
		e.good = append(e.good, r.Issue)
	default:
		e.judge(s, f, r, lost)
	}
}

// waiting says what the holds wait for, from one snapshot of each worktree. What cannot be found
// out is left out in silence: the start of a session is no place for it.
func (e *hostEvent) waiting(ctx context.Context) map[claim.Issue]agenthost.Shown {
	out := map[claim.Issue]agenthost.Shown{}
	for _, t := range e.trees[:e.about] {
		all := slices.Clone(t.holds)
		var here []claim.Issue
		for _, r := range all {
			here = append(here, r.Issue)
		}

		if len(here) == 0 {
			continue
		}
		s, err := e.ask(ctx, t, here[0])
		if err != nil {
			continue
		}

		for k, got := range s.Client.FactsOf(ctx, here) {
			if got.Err == nil {
				out[here[k]] = waits(got.Facts, all[k].Worker, s.Ledger.Rules().Terms)
				e.learn(s, got.Facts, all[k])
			}
		}

		_ = s.Close()
	}

	return out
}

// learn puts into the record that the hold is lost, where the snapshot shows that and the log is
// what decides.
func (e *hostEvent) learn(s *setup.Session, f lifecycle.Facts, r *record) {
	own, ok := f.Log.Find(r.Worker)
	if s.Store != nil || !ok || own.Live() || s.Ledger.Rules().EndOf(f, r.Worker) != lifecycle.HoldLost {
		return
	}

	var holder *claim.Claim
	if c, held := f.Log.Holder(); held {
		holder = &c
	}

	e.lose(r, whyLost(claim.ErrEnded, holder))
}

// waits is what the holder waits for; the hold itself is left out.
func waits(f lifecycle.Facts, w claim.Worker, t claim.Terms) (s agenthost.Shown) {
	if own, ok := f.Log.Find(w); ok && own.Plan.Pending() {
		s.Waits = "its plan is waiting for an answer; wait for it with: label-state plan " + f.Issue.String() +
			" --wait 30m"
		if !own.Stored && !own.Overdue(t, f.Now) {
			s.Until, _ = own.Until(t)
		}
		return s
	}

	for _, p := range f.PRs {
		if p.State == lifecycle.PROpened {
			s.Waits = "pull request " + cli.OneLine(p.URL) + " is open for it"
			return s
		}
	}

	return s
}

// endSession is what runs after the end of a session: holds under which nothing was done are released.
// The session's file goes last. Where the host's process goes on, so does its person, in another
// session, which takes the holds over.
func (e *hostEvent) endSession(ctx context.Context) {
	if e.goesOn(ctx) {
		return
	}

	ctx, cancel := context.WithTimeout(ctx, releaseTime)
	defer cancel()
	for _, h := range e.world().Mine {
		if h.Alive(e.now()) {
			e.with(func(r *record) { e.release(ctx, r) }, h.Issue)
		}
	}

	e.note(e.files.Remove(e.event.Session))
}

// goesOn reports whether the process of the session's host is still there when it has had the time
// to end.
func (e *hostEvent) goesOn(ctx context.Context) bool {
	if e.kept.Process.IsZero() || e.Env.Processes == nil {
		return false
	}

	for end := e.now().Add(goneTime); !e.Env.Processes.Gone(e.kept.Process); {
		if e.now().After(end) || setup.Clock().Sleep(ctx, gonePause) != nil {
			return true
		}
	}

	return false
}

func (e *hostEvent) release(ctx context.Context, r *record) {
	h, there, err := r.store.Load(r.Issue)
	if err != nil || !there || h.Session != e.event.Session || !e.untouched(ctx, r.worktreeHolds, h) {
		return // another session may have taken it over
	}

	s, err := e.ask(ctx, r.worktreeHolds, h.Issue)
	if err != nil {
		e.note(err)
		return
	}

	defer func() { _ = s.Close() }()
	_, err = s.Ledger.Release(ctx, h.Issue, ledger.Ending{
		Worker:  h.Worker,
		Outcome: claim.OutcomeCancelled,
		Token:   h.Token,
		Reason:  "its session ended before anything was done",
	})
	var late *ledger.LabelsError
	if err == nil || errors.As(err, &late) {
		e.forget(r)
		return
	}

	e.note(err)
}

// untouched reports whether nothing was done since the claim: the session's events only looked, and
// git knows of no change, in whatever worktree of the clone, and of no commit or stash. Whatever
// cannot be found out counts as done.
func (e *hostEvent) untouched(ctx context.Context, t *worktreeHolds, h state.Hold) bool {
	// A session of which nothing is kept may have sent events that did not find the hold.
	if h.Claimed.IsZero() || !t.store.Untouched(h.Issue) || !slices.Contains(e.kept.Worktrees, t.top) {
		return false
	}
	common, err := git.Common(t.git)
	if err != nil || moved(common, t.git, h.Claimed) {
		return false
	}

	run := e.Env.Git()
	run.Dir = t.top
	all, err := run.Ask(ctx, "worktree", "list", "--porcelain")
	if err != nil {
		return false
	}

	for one := range strings.SplitSeq(all, "\n\n") {
		top, rest, _ := strings.Cut(strings.TrimPrefix(one, "worktree "), "\n")
		if _, gone := os.Stat(top); errors.Is(gone, fs.ErrNotExist) || strings.HasPrefix(rest, "bare") {
			continue
		}

		run.Dir = top
		out, err := run.Ask(ctx, git.Status()...)
		if err != nil || out != "" {
			return false
		}
	}

	return true
}

// clean reports whether the worktree has nothing that a remote does not have: no change, and no
// commit at its HEAD. Whatever cannot be found out is something.
func (e *hostEvent) clean(ctx context.Context, t *worktreeHolds) bool {
	run := e.Env.Git()
	run.Dir = t.top
	changed, err := run.Ask(ctx, git.Status()...)
	if err != nil || changed != "" {
		return false
	}

	ahead, err := run.Ask(ctx, "rev-list", "--max-count=1", "HEAD", "--not", "--remotes")
	return err == nil && ahead == ""
}

// moved reports whether a log of git's has an entry since then: of HEAD in whatever worktree, of a
// branch, of stashes. What was fetched is not work. A worktree without a log of HEAD has none that
// could be trusted.
func moved(common, worktree string, since time.Time) bool {
	if _, err := os.Stat(filepath.Join(worktree, "logs", "HEAD")); err != nil {
		return true
	}
	others, err := os.ReadDir(filepath.Join(common, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true
	}

	all := []string{filepath.Join(common, "logs")}
	for _, o := range others {
		all = append(all, filepath.Join(common, "worktrees", o.Name(), "logs"))
	}

	fetched := filepath.Join(common, "logs", "refs", "remotes")
	for _, logs := range all {
		err := filepath.WalkDir(logs, func(file string, d fs.DirEntry, err error) error {
			switch {
			case file == logs && errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case file == fetched:
				return filepath.SkipDir
			case d.IsDir():
				return nil
			}

			moves, err := smallfile.Follow(file, largestLog)
			if err == nil && agenthost.Committed(string(moves), since) {
				err = errMoved
			}

			return err
		})
		if err != nil {
			return true
		}
	}

	return false
}

var errMoved = errors.New("a reference moved")
