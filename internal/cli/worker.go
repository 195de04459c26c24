package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/hookfile"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/state"
)

// Asks is what a command asks for that claims the issue for the worker: by --resume, or when a
// process that has crashed has left its record in this worktree, the hold of another process of the
// run. With --resume alone the run is the recorded one.
func (c *Call) Asks(i claim.Issue, w claim.Worker, p Claiming) (ledger.Request, error) {
	req := ledger.Request{
		Worker:  w,
		TTL:     p.TTL,
		Branch:  p.Branch,
		Resume:  p.Resume,
		Earlier: c.Earlier(i, w),
	}

	if req.Resume && w.FiringID == "" {
		recorded, found, err := c.Session.Recall(i)
		switch {
		case err != nil:
			return req, err
		case !found || recorded.Worker.Codename != w.Codename:
			return req, c.Usagef("%s: which run? Name it with %s", c.Option("resume"), c.Option("firing-id"))
		}

		req.Worker = recorded.Worker
	}

	recorded, left := c.left(i, w)
	if left && !req.Resume {
		req.Worker, req.Resume = recorded.Worker, true
	}

	if req.Worker.FiringID != "" {
		req.Mine = c.Session.Mine(i, req.Worker)
	}

	return req, nil
}

// left is the hold that a session which has ended has left in this worktree: whoever works here
// next takes it over at once, with a larger fencing token. A session whose commands do not tell it
// from the one before does so too. It is none where a run is named.
func (c *Call) left(i claim.Issue, w claim.Worker) (state.Hold, bool) {
	recorded, found, err := c.Session.Recall(i)
	if err != nil || !found || w.FiringID != "" || recorded.Lost != "" {
		return state.Hold{}, false
	}
	if whose := c.Env.Whose(recorded); whose != setup.Left && whose != setup.Either {
		return state.Hold{}, false
	}

	named := c.Codename != "" || c.Agent != ""
	return recorded, !recorded.Over(time.Now()) && (!named || w.Codename == recorded.Worker.Codename)
}

// Earlier tells the workers whose holds of the issue were those of the worker who asks: of the
// sessions around the command, and of the hold of its codename that this worktree has recorded,
// unless another session is at work on it.
func (c *Call) Earlier(i claim.Issue, asks claim.Worker) func(claim.Worker) bool {
	_, around := c.Env.Session()
	recorded, found, err := c.Session.Recall(i)
	known := err == nil && found && recorded.Worker.Codename == asks.Codename &&
		c.Env.Whose(recorded) != setup.Others
	return func(w claim.Worker) bool {
		return agenthost.Made(around, w.FiringID) || known && w == recorded.Worker
	}
}

// Worker is who the command line or the environment says is asking.
func (c *Call) Worker() claim.Worker {
	w := c.Session.Worker
	if n := cmp.Or(c.Codename, c.Agent); n != "" {
		if w.Codename != "" && n != w.Codename { // the run is another's
			w = claim.Worker{}
		}
		w.Codename = n
	}

	if c.FiringID != "" {
		w.FiringID = c.FiringID
	}

	return w
}

// Claimant is who claims: whom the command line or the environment names, else the session of an
// agent host that the command runs in. The host is its codename then, and the ledger makes the
// firing id from the session.
func (c *Call) Claimant() claim.Worker {
	w := c.Worker()
	if w.Codename == "" {
		w.Codename = c.Env.HostName()
	}
	return w
}

// OneSession refuses to guess when the sessions of several hosts are around the command.
func (c *Call) OneSession() error {
	one, all := c.Env.Session()
	if !one.IsZero() || len(all) == 0 {
		return nil
	}

	var names []string
	for _, s := range all {
		names = append(names, string(s.Host))
	}

	use := c.Usagef("this command runs inside sessions of %s; say which one claims with --codename",
		strings.Join(names, " and "))
	return Advise(use, answer.Call("", answer.Again, "--codename", names[len(names)-1]))
}

// RequireWorker refuses a command that needs to know who works.
func (c *Call) RequireWorker() error {
	if c.Claimant().Codename == "" {
		if err := c.OneSession(); err != nil {
			return err
		}
		return c.Usagef("who works? Give --codename, or set LABEL_STATE_CODENAME")
	}

	return nil
}

// ErrNoHold says that nothing here tells which worker is meant: neither the call nor this worktree.
var ErrNoHold = errors.New("no hold is recorded here")

// Holder is who holds the issue from here: named by flags or environment, else recorded by
// claim in this worktree. The fencing token is 0 when nobody told it. A recorded hold of another
// session is a no.
func (c *Call) Holder(ctx context.Context, i claim.Issue) (claim.Worker, int64, error) {
	return c.holder(ctx, i, false)
}

// Releaser is Holder for a caller that ends the hold: what a session left behind may be ended, and
// what a session is at work on is not ended by anybody else.
func (c *Call) Releaser(ctx context.Context, i claim.Issue) (claim.Worker, int64, error) {
	return c.holder(ctx, i, true)
}

// Fits reports whether a worker may be the one that is asked for, whose parts may be empty.
func Fits(asked, w claim.Worker) bool {
	return (asked.Codename == "" || asked.Codename == w.Codename) &&
		(asked.FiringID == "" || asked.FiringID == w.FiringID)
}

func (c *Call) holder(ctx context.Context, i claim.Issue, ends bool) (claim.Worker, int64, error) {
	w := c.Worker()
	recorded, found, err := c.Session.Recall(i)
	if err != nil && (w.Codename == "" || w.FiringID == "") {
		return w, 0, err
	}

	switch {
	case found && Fits(w, recorded.Worker) && recorded.Lost != "" && !recorded.Session.IsZero() && !c.Env.InSession():
		return w, 0, c.LostHere(recorded) // it stands there only until its session has been told
	case found && Fits(w, recorded.Worker):
		if w != recorded.Worker { // else the key itself says who it is
			if err := c.refuseOthers(recorded, ends); err != nil {
				return claim.Worker{}, 0, err
			}
		}
		return recorded.Worker, cmp.Or(c.Token, recorded.Token), nil
	case w.Codename != "" && w.FiringID != "":
		return w, c.Token, nil
	}

	// A session around this command may have made a live claim in another worktree.
	if _, all := c.Env.Session(); len(all) > 0 && w.FiringID == "" {
		f, _, err := c.Session.Ledger.Check(ctx, i, lifecycle.Seeker{})
		if err != nil {
			return claim.Worker{}, 0, err
		}

		for _, own := range f.Log.Live() {
			made := own.Record.Worker
			if agenthost.Made(all, made.FiringID) && Fits(w, made) {
				return made, cmp.Or(c.Token, own.Record.Token), nil
			}
		}
	}

	past, gave, err := c.Session.Past(i)
	if err == nil && gave && past.Lost != "" && Fits(w, past.Worker) {
		return w, 0, c.LostHere(past)
	}

	if own := recorded.Worker.Codename; found && w.Codename != "" && w.Codename != own {
		next := answer.Call("to act as "+own, c.Verb.Name, append(c.naming(i.String()), "--codename", own)...)
		if c.Env.Server { // an agent's: nothing invites it to act as another worker
			next = answer.Call("see who holds it", "status", i.String())
		}

		return w, 0, &answer.Problem{
			Code:  answer.Held,
			Why:   fmt.Sprintf("the hold of this worktree on %s is not %s's but %s's", i, w.Codename, own),
			Next:  []answer.Command{next},
			Cause: ErrNoHold,
		}
	}

	missing := c.Option("codename")
	switch {
	case w.Codename != "":
		missing = c.Option("firing-id")
	case w.FiringID == "":
		missing += " and " + c.Option("firing-id")
	}

	return w, 0, &answer.Problem{
		Code:  answer.Usage,
		Why:   fmt.Sprintf("this worktree has no hold on %s; name the worker with %s", i, missing),
		Next:  []answer.Command{answer.Call("see who holds it", "status", i.String())},
		Cause: ErrNoHold,
	}
}

// WhoHolds adds to an error of Holder, where nothing here tells which worker is meant, who holds the
// issue: another worker than the one that is named is a no. Where that cannot be read the error
// stays as it is.
func (c *Call) WhoHolds(ctx context.Context, i claim.Issue, err error) error {
	if !errors.Is(err, ErrNoHold) || ProblemOf(err).Code != answer.Usage {
		return err
	}
	f, unread := c.Session.Ledger.Look(ctx, i)
	if unread != nil {
		return err
	}
	holder, held := f.Log.Holder()
	if !held {
		return err
	}

	asked, w := c.Worker(), holder.Record.Worker
	see := answer.Call("see who holds it", "status", i.String())
	if asked != (claim.Worker{}) && (holder.Person != "" || !Fits(asked, w)) {
		name := OneLine(cmp.Or(asked.Codename, "run "+asked.FiringID))
		return &answer.Problem{
			Code:  answer.Held,
			Why:   fmt.Sprintf("%s does not hold it: held by %s", name, holder.Holder()),
			Next:  []answer.Command{see},
			Cause: ErrNoHold,
		}
	}

	next := []answer.Command{see}
	if holder.Person == "" && holder.WrittenBy(f.Viewer) && !c.Env.InSession() && !c.Env.Server {
		args := []string{"--firing-id", w.FiringID} // nothing invites an agent to act as another worker
		if asked.Codename == "" {
			args = append([]string{"--codename", w.Codename}, args...)
		}
		next = append(next, answer.Call("if that run is yours", answer.Again, args...))
	}

	return &answer.Problem{
		Code:  answer.Usage,
		Why:   ProblemOf(err).Why + "; held by " + holder.Holder(),
		Next:  next,
		Cause: ErrNoHold,
	}
}

// LostHere is the answer about a hold of this worktree that somebody has ended, whether or not the
// call names its issue.
func (c *Call) LostHere(h state.Hold) error {
	c.Subject.Issue = h.Issue.String()
	return &answer.Problem{
		Code:  answer.Lost,
		Why:   fmt.Sprintf("%s (run %s): %s", h.Worker.Codename, h.Worker.FiringID, h.Lost),
		Next:  []answer.Command{answer.Call("stop work on it; see who holds it now", "status", h.Issue.String())},
		Cause: ErrNoHold,
	}
}

// refuseOthers refuses to act under the hold of another session in this worktree. Who is in no
// session is the person whose worktree it is: such a one may do all but end what a session, or the
// command of a run, is at work on.
func (c *Call) refuseOthers(h state.Hold, ends bool) error {
	whose, inside := c.Env.Whose(h), c.Env.InSession()
	until := ""
	if h.TTL >= 0 && !h.Renewed.IsZero() {
		until = " until " + h.Renewed.Add(h.TTL).UTC().Format("15:04 UTC")
	}

	switch {
	case whose == setup.Others && inside:
		own := "../NAME"
		if top, err := state.Top(c.Env.Dir); err == nil {
			own = "../" + filepath.Base(top) + "-2"
		}

		return Declined(fmt.Sprintf("another session, of %s, is at work on %s in this worktree%s", h.Session.Host,
			h.Issue, until),
			answer.Shell("use a worktree of your own", "git", "worktree", "add", own),
			answer.Call("or take other work", "next"))

	case whose == setup.Others && ends:
		return Declined(fmt.Sprintf("a session of %s is at work on %s in this worktree%s", h.Session.Host, h.Issue,
			until),
			answer.Call("end its hold in your name, on the record", "release", h.Issue.String(), "--force"))

	case ends && c.Session.Attended(h.Issue):
		return Declined(fmt.Sprintf("a command is at work on %s in this worktree, under run", h.Issue),
			answer.Call("stop it, which releases the issue; or end its hold in your name, on the record", "release",
				h.Issue.String(), "--force"))
	}

	return nil
}

// Between two tries --wait rests for RetryFirst, then twice as long each time up to RetryMost.
const (
	RetryFirst = time.Second
	RetryMost  = 15 * time.Second
)

// runTTL is the lease of a hold that is renewed all the time.
const runTTL = 30 * time.Minute

// RunTTL is the lease of a hold under which a program runs: as asked for, else half an hour, or
// what the repository allows at most.
func (c *Call) RunTTL(asked time.Duration) time.Duration {
	return cmp.Or(asked, min(runTTL, c.Session.Config.Claim.MaxTTL))
}

// RecordClaim remembers a hold for this worktree. The error is the claim's, unless only labels are
// late.
func (c *Call) RecordClaim(h ledger.Hold, err error) error {
	if err = c.WarnLate(err); err != nil {
		return err
	}

	if h.Unassigned != nil {
		c.Warnf("claimed, but the login could not be assigned: %s", h.Unassigned)
	}
	c.warnDisplaced()
	err = c.Session.Remember(h)
	if err == nil {
		err = c.Session.Begin(h.Issue)
	}

	if err != nil {
		w := h.Record.Worker
		c.Warnf("claimed, but this worktree's record could not be written, so the hook will not know you, and other commands "+
			"need --codename %s --firing-id %s: %s", w.Codename, w.FiringID, err)
	}

	return nil
}

// NoteLost is the error of an operation under a hold. Where GitHub has said that the hold is lost,
// the worktree's record says so from then on: a command that names no issue means another one.
func (c *Call) NoteLost(i claim.Issue, w claim.Worker, err error) error {
	lost, is := errors.AsType[*ledger.LostError](err)
	if !is {
		return err
	}

	c.dropOwnBackOff(lost)
	if lost.End != lifecycle.HoldLost || c.DryRun {
		return err
	}

	c.recordLost(i, w, OneLine(lost.Error()))

	return err
}

// dropOwnBackOff leaves out of what keeps a worker off the back-off after its own hold, which does
// not.
func (c *Call) dropOwnBackOff(lost *ledger.LostError) {
	if c.Earlier(lost.Issue, lost.Worker)(lost.Worker) {
		lost.Bars = slices.DeleteFunc(lost.Bars, func(r lifecycle.Reason) bool { return r.Code == lifecycle.CodeBackingOff })
	}
}

// recordLost remembers for this worktree that a hold was lost, and why. Where that fails it is
// said.
func (c *Call) recordLost(i claim.Issue, w claim.Worker, why string) {
	if err := c.Session.Lose(i, w, why); err != nil {
		c.Warnf("this worktree's record of the hold could not be changed: %s", err)
	}
}

// RecordRenewal remembers for this worktree that a hold was extended. Where that fails it is said.
func (c *Call) RecordRenewal(h ledger.Hold) {
	if err := c.Session.Extended(h); err != nil {
		c.Warnf("renewed, but this worktree's record could not be written: %s", err)
	}
}

// forgetEnded removes this worktree's record of a hold of this process that is over, and not that
// of a process that has taken it over.
func (c *Call) forgetEnded(h ledger.Hold) { c.warnKept(c.Session.ForgetHold(h)) }

// warnKept says that the record of a hold could not be removed; the hold is over all the same.
func (c *Call) warnKept(err error) {
	if err != nil {
		c.Warnf("this worktree's record of the hold could not be removed: %s", err)
	}
}

// warnDisplaced says that pushes from here are no longer checked: the next thing that a worker does
// is work that ends in one.
func (c *Call) warnDisplaced() {
	env := c.Env
	top, err := state.Top(env.Dir)
	if err != nil {
		return // a bare repository, or none
	}

	place, err := git.Find(env.Dir, env.Getenv("GIT_DIR"))
	if err != nil {
		return
	}

	common, err := git.Common(place.Dir)
	if err != nil {
		return
	}

	if moved := hookfile.Displaced(common, top); moved != "" {
		c.Warnf("pushes from here are not checked: lefthook has disabled label-state's hook, as "+
			"%s; label-state init", moved)
	}
}

// ForgetHold removes this worktree's record of a hold that is over. Where that fails it is said,
// and the hold is over all the same.
func (c *Call) ForgetHold(i claim.Issue) { c.unrecord(i, c.Session.Forget) }

// RetireHold is ForgetHold for a hold that its worker may end once more (Former).
func (c *Call) RetireHold(i claim.Issue) { c.unrecord(i, c.Session.Retire) }

func (c *Call) unrecord(i claim.Issue, remove func(claim.Issue) error) {
	if !c.DryRun {
		c.warnKept(remove(i))
	}
}

// Former tells the holds of an issue that the worker who asks had from here: in a session around
// the command, or in this worktree, which has kept its record (RetireHold). It is nil where nothing
// here says that there were any.
func (c *Call) Former(i claim.Issue) (func(claim.Claim) bool, error) {
	_, around := c.Env.Session()
	past, kept, err := c.Session.Past(i)
	kept = kept && past.Lost == ""
	if err != nil || !kept && len(around) == 0 {
		return nil, err
	}

	asked := c.Worker()
	return func(own claim.Claim) bool {
		w := own.Record.Worker
		return Fits(asked, w) && (kept && w == past.Worker || agenthost.Made(around, w.FiringID))
	}, nil
}
