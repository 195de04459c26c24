package setup

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/state"
)

// Remember records a hold that was claimed for the worktree, so that later commands and the hook
// know whose it is. It takes the place of holds that were lost or have expired there. Outside a git
// repository there is nothing to record it for.
func (s *Session) Remember(h ledger.Hold) error {
	store, ok, err := s.holds()
	if !ok {
		return err
	}

	known, again, _ := store.Load(h.Issue) // one that cannot be read is replaced
	again = again && known.Worker == h.Record.Worker
	if !again {
		known = state.Hold{}
	}

	made := s.record(h, known.Beat)
	if err := store.Save(made); err != nil {
		return err
	}

	s.seen(h.Issue)

	if !again {
		past, _ := store.Past().All()
		for _, old := range past { // one that was retired is kept for as long as its lease
			if old.Lost != "" || old.Over(made.Claimed) || old.Issue.Same(h.Issue) {
				err = errors.Join(err, store.Past().Remove(old.Issue))
			}
		}

		holds, _ := store.All() // what cannot be read stays, and is said elsewhere
		for _, old := range holds {
			if (old.Lost != "" || old.Over(made.Claimed)) && !old.Issue.Same(h.Issue) {
				err = errors.Join(err, store.Remove(old.Issue))
			}
		}
	}

	s.note(made.Session)
	return err
}

// Extended records that a hold was extended. A record that this session has seen or made, and that
// is gone by now, stays gone: the hold was released meanwhile. One that another claim has replaced
// stays as it is.
func (s *Session) Extended(h ledger.Hold) error {
	if !s.recorded[h.Issue.Folded()] {
		return s.Remember(h)
	}

	store, ok, err := s.holds()
	if !ok {
		return err
	}

	now, ok, err := store.Change(h.Issue, func(known *state.Hold) bool {
		same := isOf(*known, h)
		if same {
			*known = s.record(h, known.Beat)
		}
		return same
	})

	if ok && err == nil {
		s.note(now.Session)
	}

	return err
}

// record is what the worktree remembers of a hold that was claimed or extended just now; known is
// what it knew of it.
func (s *Session) record(h ledger.Hold, known agenthost.Beat) state.Hold {
	now := time.Now()
	made := state.Hold{
		Issue:  h.Issue,
		Branch: h.Record.Branch,
		Beat:   agenthost.Beat{Session: known.Session, Claimed: cmp.Or(known.Claimed, now)},
	}
	Extend(&made, h, cmp.Or(h.Extended(), now))

	// A hold stays with the session that claimed it, as long as that is at work.
	whose := s.env.Whose(state.Hold{Beat: known})
	in := s.env.recording()
	if whose == Left || whose == Either || made.Session.IsZero() && !in.IsZero() {
		made.Session = in // where that is nobody, the next event tells who it is
	}

	return made
}

// Extend makes the record of a hold that of the one that GitHub has from then on.
func Extend(h *state.Hold, got ledger.Hold, from time.Time) {
	h.Worker, h.Nonce, h.Comment, h.URL = got.Record.Worker, got.Record.Nonce, got.Comment, got.URL
	h.Token, h.TTL = got.Token, cmp.Or(got.Lease(), got.Record.TTL)
	h.Since, h.Until = got.Since, got.Until
	h.Renewed, h.Tried = from, time.Time{}
	h.Refused, h.Unsure = "", false
}

// note notes the worktree for a session whose host sends events. That it cannot be noted costs
// heartbeats from other folders, and is no reason to fail.
func (s *Session) note(in agenthost.Session) {
	files, err := s.env.SessionFiles()
	if err != nil || in.IsZero() || !s.env.Heartbeats(in) {
		return
	}

	if top, err := state.Top(s.env.Dir); err == nil {
		_ = files.Add(in, filepath.Clean(top))
	}
}

// Begin notes that nothing was done yet under a hold that was just claimed and remembered. A hold
// that is remembered for another reason, such as a renewal in another worktree, may have work under
// it.
func (s *Session) Begin(i claim.Issue) error {
	store, ok, err := s.holds()
	if !ok {
		return err
	}
	return store.MarkUntouched(i)
}

// Recall returns the hold that this worktree has recorded; ok is false when there is none.
func (s *Session) Recall(i claim.Issue) (h state.Hold, ok bool, err error) {
	store, ok, err := s.holds()
	if !ok {
		return h, false, err
	}

	h, ok, err = store.Load(i)
	if ok {
		s.seen(i)
		s.Told(h)
	}

	return h, ok, err
}

// Told tells the ledger of a recorded hold, unless it is known to be lost: what shows less of it is
// late.
func (s *Session) Told(h state.Hold) {
	if s.Ledger != nil && h.Nonce != "" && h.Lost == "" {
		s.Ledger.Told(h.Issue, h.Worker, h.Nonce, h.Since)
	}
}

func (s *Session) seen(i claim.Issue) {
	if s.recorded == nil {
		s.recorded = map[claim.Issue]bool{}
	}
	s.recorded[i.Folded()] = true
}

// Mine is the nonce under which this worktree has recorded a hold of the worker on the issue, if no
// process works under it now: a process that crashed has left it. It is empty where there is none.
func (s *Session) Mine(i claim.Issue, w claim.Worker) string {
	h, recorded, err := s.Recall(i)
	if err != nil || !recorded || h.Worker != w || h.Lost != "" {
		return ""
	}
	if s.Attended(i) {
		return ""
	}

	return h.Nonce
}

// Attended reports whether a process works under the hold of the issue that this worktree has
// recorded.
func (s *Session) Attended(i claim.Issue) bool {
	store, ok, err := s.holds()
	return ok && err == nil && store.Attended(i)
}

// Attend says that this process works under a hold which was remembered, until free is called or
// the process ends. It does nothing where there is no record, or no lock to be had.
func (s *Session) Attend(i claim.Issue) (free func()) {
	store, ok, err := s.holds()
	if !ok || err != nil {
		return func() {}
	}

	release, err := store.Attend(i)
	if err != nil {
		return func() {}
	}

	return func() { _ = release() }
}

// isOf reports whether the record is of the hold, and not of one that another process of its run
// has taken over.
func isOf(known state.Hold, h ledger.Hold) bool {
	return known.Worker == h.Record.Worker && (known.Nonce == "" || known.Nonce == h.Record.Nonce)
}

// ForgetHold removes the record of a hold if it is of that one; none recorded is a success.
func (s *Session) ForgetHold(h ledger.Hold) error {
	store, ok, err := s.holds()
	if !ok {
		return err
	}
	return store.RemoveIf(h.Issue, func(known state.Hold) bool { return isOf(known, h) })
}

// ClaimAgain claims the issue of a recorded hold that time may have ended. It is extended if it
// still can be, else claimed again, as the request says, unless somebody has taken the issue or a
// person has decided about it: that is a *ledger.LostError. Other errors are those of Claim.
func (s *Session) ClaimAgain(ctx context.Context, was state.Hold, req ledger.Request) (ledger.Hold, error) {
	got, err := s.Ledger.Renew(ctx, was.Issue, was.Worker, was.Token)
	var lost *ledger.LostError
	switch {
	case !errors.As(err, &lost):
		return got, err
	case !lost.End.Overdue(lost.Err):
		return got, err
	}

	_, v, err := s.Ledger.Check(ctx, was.Issue, lifecycle.Seeker{Worker: was.Worker, Earlier: req.Earlier})
	if err != nil {
		return ledger.Hold{}, err
	}

	v.Reasons = slices.DeleteFunc(v.Reasons, func(r lifecycle.Reason) bool { return r.Code == lifecycle.CodeOwn })
	if len(v.Reasons) > 0 {
		return ledger.Hold{}, &ledger.HeldError{Issue: was.Issue, Verdict: v}
	}

	// Where no record has ended it yet, its own release does: it does not count as a failed
	// attempt, and until its grace is over it would keep everybody off the issue.
	_, err = s.Ledger.Release(ctx, was.Issue, ledger.Ending{
		Worker:  was.Worker,
		Outcome: claim.OutcomeCancelled,
		Token:   was.Token,
		Reason:  claim.ReasonAgain,
	})
	var late *ledger.LabelsError
	if err != nil && !errors.As(err, &lost) && !errors.As(err, &late) {
		return ledger.Hold{}, err
	}

	return s.Ledger.Claim(ctx, was.Issue, req)
}

// Lose records that the hold of the worker was lost, and why, if this worktree has it. Its session
// is told at its next event.
func (s *Session) Lose(i claim.Issue, w claim.Worker, why string) error {
	store, ok, err := s.holds()
	if !ok {
		return err
	}

	_, _, err = store.Change(i, func(h *state.Hold) bool {
		same := h.Worker == w
		if same {
			h.Lost = why
			h.Tell = agenthost.Over(h.Issue, why)
		}
		return same
	})

	return err
}

// GiveWay takes the record of a hold away because the person has the issue now, and keeps what
// became of the hold for Past.
func (s *Session) GiveWay(i claim.Issue, person string) error {
	return s.retire(i, "the hold has ended: "+person+" has claimed the issue")
}

// Retire moves the record of a hold that its worker has ended to Past, where a repeated command
// finds it.
func (s *Session) Retire(i claim.Issue) error { return s.retire(i, "") }

func (s *Session) retire(i claim.Issue, lost string) error {
	store, ok, err := s.holds()
	if !ok {
		return err
	}

	h, ok, err := store.Load(i)
	if !ok || err != nil {
		return errors.Join(err, store.Remove(i))
	}

	h.Lost = cmp.Or(h.Lost, lost)
	return errors.Join(store.Past().Save(h), store.Remove(i))
}

// Past returns the hold of this worktree that gave way to a person's own claim of the issue, or was
// retired: that one is not lost.
func (s *Session) Past(i claim.Issue) (h state.Hold, ok bool, err error) {
	store, ok, err := s.holds()
	if !ok {
		return h, false, err
	}
	return store.Past().Load(i)
}

// Forget removes the record of a hold; none recorded is a success.
func (s *Session) Forget(i claim.Issue) error {
	store, ok, err := s.holds()
	if !ok {
		return err
	}
	return store.Remove(i)
}

// holds is where this worktree's holds are kept; ok is false outside a git repository, which is not
// an error.
func (s *Session) holds() (store state.Holds, ok bool, err error) {
	store, err = s.env.Holds()
	if errors.Is(err, state.ErrNoRepository) {
		return store, false, nil
	}
	return store, err == nil, err
}
