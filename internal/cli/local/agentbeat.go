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

// beatLock is held, below the folder of the holds, by the event that renews: hosts run hooks side by side.
const beatLock = "label-state/beat.lock"

// largestLog is the size in bytes above which a log of git's is not read.
const largestLog = 64 << 20

// renew is one heartbeat of the hold. One that another event is at, or has just made, is left out.
func (e *hostEvent) renew(ctx context.Context, t *worktreeHolds, n int) {
	free, err := state.Lock(filepath.Join(t.git, filepath.FromSlash(beatLock)))
	if errors.Is(err, state.ErrLocked) {
		return
	}
	if err == nil { // where no lock can be made two may renew at once, which does no harm
		defer func() { _ = free() }()
	}

	h, ok, err := t.store.Load(t.holds[n].Issue)
	if err == nil && ok && h.Beat.Renewed.After(t.holds[n].Beat.Renewed) {
		t.holds[n] = h
		return
	}

	h, start := t.holds[n], e.now()
	s, err := setup.Open(ctx, e.environment(t), setup.Options{Ref: h.Issue.String()})
	if err != nil {
		e.untold(t, n, err)
		return
	}
	defer func() { _ = s.Close() }()

	got, err := s.Ledger.Renew(ctx, h.Issue, h.Worker, h.Token)
	if err != nil {
		e.failed(ctx, s, t, n, err)
		return
	}
	e.change(t, n, func(h *state.Hold) {
		h.Comment, h.URL, h.Token, h.TTL, h.Until = got.Comment, got.URL, got.Token, got.Lease(), got.Until
		h.Beat.Renewed, h.Beat.Tried = start, time.Time{}
	})
}

// failed tells a hold that is lost, one whose work is handed over, and a question without an answer
// apart.
func (e *hostEvent) failed(ctx context.Context, s *setup.Session, t *worktreeHolds, n int, err error) {
	var lost *ledger.LostError
	if !errors.As(err, &lost) {
		e.untold(t, n, err)
		return
	}

	h := t.holds[n]
	f, _, asked := s.Ledger.Check(ctx, h.Issue, lifecycle.Seeker{Worker: h.Worker})
	if asked == nil && s.Ledger.Rules().EndOf(f, h.Worker) == lifecycle.HoldDelivered {
		e.answer.Context = agenthost.HandedOver(h.Issue)
		e.forget(t, h.Issue)
		return
	}

	holder := lost.Holder
	if asked == nil {
		if c, ok := f.Log.Holder(); ok && c.Record.Worker != h.Worker {
			holder = &c
		}
	}
	e.lose(t, n, whyLost(lost.Err, holder))
}

// lose records that a hold is lost. Its session is told by the first event that can tell it.
func (e *hostEvent) lose(t *worktreeHolds, n int, why string) {
	e.change(t, n, func(h *state.Hold) {
		h.Beat.Lost, h.Beat.Tried = why, time.Time{}
		h.Beat.Tell = agenthost.Over(hostHold(*h))
	})
}

// whyLost says in a few words what became of a hold.
func whyLost(err error, holder *claim.Claim) string {
	text := err.Error()
	if holder != nil {
		text += "; " + cmp.Or(holder.Person, holder.Record.Worker.String()) + " holds it since " + cli.Moment(holder.Created)
	}
	return cli.OneLine(text)
}

// untold keeps that nothing was found out: the next attempt waits a little.
func (e *hostEvent) untold(t *worktreeHolds, n int, err error) {
	i := t.holds[n].Issue
	e.change(t, n, func(h *state.Hold) { h.Beat.Tried = e.now() })
	e.note(fmt.Errorf("could not find out whether %s is still held: %s", i, strings.ReplaceAll(err.Error(), "\n", "; ")))
}

// forget removes a record, here and on the disk.
func (e *hostEvent) forget(t *worktreeHolds, i claim.Issue) {
	if err := t.store.Remove(i); err != nil {
		e.note(err)
	}
	t.drop(i)
}

// verify looks whether the hold stands now, by one snapshot.
func (e *hostEvent) verify(ctx context.Context, t *worktreeHolds, n int) {
	h := &t.holds[n]
	s, err := setup.Open(ctx, e.environment(t), setup.Options{Ref: h.Issue.String()})
	if err != nil {
		e.note(err)
		return
	}
	defer func() { _ = s.Close() }()
	f, _, err := s.Ledger.Check(ctx, h.Issue, lifecycle.Seeker{Worker: h.Worker})
	if err != nil {
		e.note(fmt.Errorf("could not find out whether %s is still held: %w", h.Issue, err))
		return
	}
	own, found := f.Log.Find(h.Worker)
	lost := claim.ErrNotHolder
	if found {
		lost = cmp.Or(f.Log.RefuseRenewal(h.Worker, own.Author, s.Ledger.Rules().Terms, f.Now, 0), f.Log.RefuseToken(h.Worker, h.Token))
	}
	if lost != nil && s.Ledger.Rules().EndOf(f, h.Worker) != lifecycle.HoldDelivered {
		why := whyLost(lost, nil)
		if c, ok := f.Log.Holder(); ok && c.Record.Worker != h.Worker {
			why = whyLost(lost, &c)
		}
		e.lose(t, n, why)
	}
}

// waiting says what the holds wait for, from one snapshot of each worktree. What cannot be found out is left out in silence: the
// start of a session is no place for it.
func (e *hostEvent) waiting(ctx context.Context, issues []claim.Issue) map[claim.Issue]string {
	out := map[claim.Issue]string{}
	for _, t := range e.trees[:e.about] {
		var here []claim.Issue
		for _, h := range t.holds {
			here = append(here, h.Issue)
		}
		if len(here) == 0 {
			continue
		}
		s, err := setup.Open(ctx, e.environment(t), setup.Options{Ref: here[0].String()})
		if err != nil {
			continue
		}
		for k, r := range s.Client.FactsOf(ctx, here) {
			n := t.index(here[k])
			if r.Err != nil || n < 0 {
				continue
			}
			out[here[k]] = waits(r.Facts, t.holds[n].Worker)
			e.learn(s, r.Facts, t, n)
		}
		_ = s.Close()
	}
	return out
}

// learn puts into the record that the hold is lost, where the snapshot shows that and the log is what decides.
func (e *hostEvent) learn(s *setup.Session, f lifecycle.Facts, t *worktreeHolds, n int) {
	h := &t.holds[n]
	own, ok := f.Log.Find(h.Worker)
	if s.Store != nil || !ok || own.Live() || s.Ledger.Rules().EndOf(f, h.Worker) == lifecycle.HoldDelivered {
		return
	}
	var holder *claim.Claim
	if c, held := f.Log.Holder(); held {
		holder = &c
	}
	e.lose(t, n, whyLost(claim.ErrEnded, holder))
}

// waits is what the holder waits for.
func waits(f lifecycle.Facts, w claim.Worker) string {
	if own, ok := f.Log.Find(w); ok && own.Plan.Pending() {
		return "its plan waits for an answer, which this waits for: label-state plan " + f.Issue.String() + " --wait 30m"
	}
	for _, p := range f.PRs {
		if p.State == lifecycle.PROpened {
			return "pull request " + cli.OneLine(p.URL) + " is open for it"
		}
	}
	return ""
}

// finish is what runs behind the end of a session: holds under which nothing was done are released. The session's file goes last.
func (e *hostEvent) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, releaseTime)
	defer cancel()
	for _, h := range e.world().Mine {
		if h.Alive(e.now()) {
			e.with(h.Issue, func(t *worktreeHolds, n int) { e.release(ctx, t, n) })
		}
	}
	e.forgetSession()
}

func (e *hostEvent) release(ctx context.Context, t *worktreeHolds, n int) {
	h := t.holds[n]
	if !e.untouched(ctx, t, h) {
		return
	}
	s, err := setup.Open(ctx, e.environment(t), setup.Options{Ref: h.Issue.String()})
	if err != nil {
		e.note(err)
		return
	}
	defer func() { _ = s.Close() }()
	_, err = s.Ledger.Release(ctx, h.Issue, ledger.Ending{
		Worker: h.Worker, Outcome: claim.OutcomeCancelled, Token: h.Token, Reason: "its session ended before anything was done",
	})
	var late *ledger.LabelsError
	if err == nil || errors.As(err, &late) {
		e.forget(t, h.Issue)
		return
	}
	e.note(err)
}

// untouched reports whether nothing was done since the claim: the session's events only looked, and git knows of no change, in whatever
// worktree of the clone, and of no commit or stash. Whatever cannot be found out counts as done.
func (e *hostEvent) untouched(ctx context.Context, t *worktreeHolds, h state.Hold) bool {
	// A session of which nothing is kept may have sent events that did not find the hold.
	if h.Beat.Claimed.IsZero() || !t.store.Untouched(h.Issue) || !slices.Contains(e.kept.Worktrees, t.top) {
		return false
	}
	common, err := git.Common(t.git)
	if err != nil || moved(common, t.git, h.Beat.Claimed) {
		return false
	}
	run := e.terminal.Env.Git()
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
	run := e.terminal.Env.Git()
	run.Dir = t.top
	changed, err := run.Ask(ctx, git.Status()...)
	if err != nil || changed != "" {
		return false
	}
	ahead, err := run.Ask(ctx, "rev-list", "--max-count=1", "HEAD", "--not", "--remotes")
	return err == nil && ahead == ""
}

// moved reports whether a log of git's has an entry since then: of HEAD in whatever worktree, of a branch, of stashes. What was fetched
// is no work. A worktree without a log of HEAD has none that could be trusted.
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
