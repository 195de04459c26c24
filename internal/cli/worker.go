package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/hookfile"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/state"
	"github.com/urfave/cli/v2"
)

// IdentityFlags say which worker asks.
func IdentityFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "codename", Usage: "`NAME` of the kind of worker (default: LABEL_STATE_CODENAME)"},
		&cli.StringFlag{
			Name:  "firing-id",
			Usage: "`ID` of this run, used once for an issue (default: LABEL_STATE_FIRING_ID, else made up)",
		},
	}
}

// ResumeFlag is for commands that claim.
func ResumeFlag() cli.Flag {
	return &cli.BoolFlag{
		Name:  "resume",
		Usage: "take over the hold of another process of this run; that process is fenced off",
	}
}

// Asks is what a command asks for that claims the issue for the worker: by --resume, or when a
// process that has crashed has left its record in this worktree, the hold of another process of the
// run. With --resume alone the run is the recorded one.
func (c *Call) Asks(i claim.Issue, w claim.Worker) (ledger.Request, error) {
	req := ledger.Request{
		Worker:  w,
		TTL:     c.TTL(),
		Branch:  c.Flags.String("branch"),
		Resume:  c.Flags.Bool("resume"),
		Earlier: c.earlier(i),
	}

	if req.Resume && w.FiringID == "" {
		recorded, found, err := c.Session.Recall(i)
		switch {
		case err != nil:
			return req, err
		case !found || recorded.Worker.Codename != w.Codename:
			return req, Usagef(CommandPath(c.Flags), "--resume: which run? Name it with --firing-id")
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
	if err != nil || !found || w.FiringID != "" || recorded.Beat.Lost != "" {
		return state.Hold{}, false
	}
	if whose := c.Terminal.Env.Whose(recorded); whose != setup.Left && whose != setup.Either {
		return state.Hold{}, false
	}

	named := c.Flags.IsSet("codename") || c.Flags.IsSet("agent")
	over := recorded.TTL >= 0 && time.Now().After(recorded.Beat.Renewed.Add(recorded.TTL))
	return recorded, !over && (!named || w.Codename == recorded.Worker.Codename)
}

// earlier tells the workers whose holds of the issue were those of who asks: of the sessions around
// the command, and of the hold that this worktree has recorded, unless another session is at work
// on it.
func (c *Call) earlier(i claim.Issue) func(claim.Worker) bool {
	_, around := c.Terminal.Env.Session()
	recorded, found, err := c.Session.Recall(i)
	known := err == nil && found && c.Terminal.Env.Whose(recorded) != setup.Others
	return func(w claim.Worker) bool {
		for _, s := range around {
			if s.Made(w.FiringID) {
				return true
			}
		}
		return known && w == recorded.Worker
	}
}

// HolderFlags say who holds an issue, and prove that it is the hold that stands.
func HolderFlags() []cli.Flag { return append(IdentityFlags(), TokenFlag()) }

// TokenFlag is for commands that act under a hold.
func TokenFlag() cli.Flag {
	return &cli.Int64Flag{
		Name:  "token",
		Usage: "fencing token `N` that claim printed (default: what this worktree recorded)",
	}
}

// IssueForms is a paragraph of every command about an issue (cli.md#naming-an-issue).
const IssueForms = "\n\nISSUE is owner/repo#7, the issue's URL, or inside a clone #7 or 7.\n\n"

// Worker is who the command line or the environment says is asking.
func (c *Call) Worker() claim.Worker {
	w := c.Session.Worker
	if n := cmp.Or(c.Flags.String("codename"), c.Flags.String("agent")); n != "" {
		if n != w.Codename {
			w = claim.Worker{}
		}
		w.Codename = n
	}

	if f := c.Flags.String("firing-id"); f != "" {
		w.FiringID = f
	}

	return w
}

// Claimant is who claims: whom the command line or the environment names, else the session of an
// agent host that the command runs in. The host is its codename then, and the ledger makes the
// firing id from the session.
func (c *Call) Claimant() claim.Worker {
	w := c.Worker()
	if w.Codename == "" {
		w.Codename = c.Terminal.Env.HostName()
	}
	return w
}

// refuseNobody refuses a session that cannot be one: to go on without it would take the issue for
// the person whose token it is.
func (t Terminal) refuseNobody(cc *cli.Context) error {
	if err := t.Env.CheckSession(); err != nil {
		return At(CommandPath(cc), "", err)
	}
	return nil
}

// OneSession refuses to guess when the sessions of several hosts are around the command.
func (c *Call) OneSession() error {
	one, all := c.Terminal.Env.Session()
	if !one.IsZero() || len(all) == 0 {
		return nil
	}

	var names []string
	for _, s := range all {
		names = append(names, string(s.Host))
	}

	again := append(c.Flags.Args().Slice(), "--codename", names[len(names)-1])
	use := Usagef(CommandPath(c.Flags), "this command runs inside sessions of %s; say which one claims with --codename",
		strings.Join(names, " and "))
	return Advise(use, answer.Call("", CommandPath(c.Flags), again...))
}

// RequireWorker refuses a command that needs to know who works.
func (c *Call) RequireWorker() error {
	if c.Claimant().Codename == "" {
		if err := c.OneSession(); err != nil {
			return err
		}
		return Usagef(CommandPath(c.Flags), "who works? Give --codename, or set LABEL_STATE_CODENAME")
	}

	return nil
}

// ErrNoHold says that nothing here tells which worker is meant: neither the call nor this worktree.
var ErrNoHold = errors.New("no hold is recorded here")

// Holder is who holds the issue from here: named by flags or environment, else recorded by
// claim in this worktree. The fencing token is 0 when nobody told it. A recorded hold of another
// session is a no.
func (c *Call) Holder(i claim.Issue) (claim.Worker, int64, error) { return c.holder(i, false) }

// Releaser is Holder for who ends the hold: what a session left behind may be ended, and what a
// session is at work on is not ended by anybody else.
func (c *Call) Releaser(i claim.Issue) (claim.Worker, int64, error) { return c.holder(i, true) }

func (c *Call) holder(i claim.Issue, ends bool) (claim.Worker, int64, error) {
	w, told := c.Worker(), c.Flags.Int64("token")
	if c.Flags.IsSet("token") && told < 1 {
		return w, 0, Usagef(CommandPath(c.Flags), "--token %d: want the number that claim printed", told)
	}

	recorded, found, err := c.Session.Recall(i)
	if err != nil && (w.Codename == "" || w.FiringID == "") {
		return w, 0, err
	}

	switch {
	case found && (w.Codename == "" || w.Codename == recorded.Worker.Codename) &&
		(w.FiringID == "" || w.FiringID == recorded.Worker.FiringID):
		if w != recorded.Worker { // else the key itself says who it is
			if err := c.refuseOthers(recorded, ends); err != nil {
				return claim.Worker{}, 0, err
			}
		}
		return recorded.Worker, cmp.Or(told, recorded.Token), nil
	case w.Codename != "" && w.FiringID != "":
		return w, told, nil
	}

	// A session around this command may have made a live claim in another worktree.
	if _, all := c.Terminal.Env.Session(); len(all) > 0 && c.Session.Ledger != nil && w.FiringID == "" {
		f, _, err := c.Session.Ledger.Check(c.Flags.Context, i, lifecycle.Seeker{})
		if err != nil {
			return claim.Worker{}, 0, err
		}

		for _, s := range all {
			for _, own := range f.Log.Live() {
				made := own.Record.Worker
				if s.Made(made.FiringID) && (w.Codename == "" || w.Codename == made.Codename) {
					return made, cmp.Or(told, own.Record.Token), nil
				}
			}
		}
	}

	return w, 0, &answer.Problem{
		Code:  answer.Usage,
		Why:   fmt.Sprintf("this worktree has no hold on %s; name the worker with --codename and --firing-id", i),
		Next:  []answer.Command{answer.Call("", CommandPath(c.Flags), "--help")},
		Cause: ErrNoHold,
	}
}

// refuseOthers refuses to act under the hold of another session in this worktree. Who is in no
// session is the person whose worktree it is: such a one may do all but end what a session is at
// work on.
func (c *Call) refuseOthers(h state.Hold, ends bool) error {
	whose, inside := c.Terminal.Env.Whose(h), c.Terminal.Env.InSession()
	until := ""
	if h.TTL >= 0 && !h.Beat.Renewed.IsZero() {
		until = " until " + h.Beat.Renewed.Add(h.TTL).UTC().Format("15:04 UTC")
	}

	switch {
	case whose == setup.Others && inside:
		own := "../NAME"
		if top, err := state.Top(c.Terminal.Env.Dir); err == nil {
			own = "../" + filepath.Base(top) + "-2"
		}

		return Declined(fmt.Sprintf("another session, of %s, is at work on %s in this worktree%s", h.Beat.Host,
			h.Issue, until),
			answer.Shell("use a worktree of your own", "git", "worktree", "add", own),
			answer.Call("or take other work", "next"))

	case whose == setup.Others && ends:
		return Declined(fmt.Sprintf("a session of %s is at work on %s in this worktree%s", h.Beat.Host, h.Issue, until),
			answer.Call("end its hold in your name, on the record", "release", h.Issue.String(), "--force"))
	}

	return nil
}

// CheckHolds is nil when w holds the issue, this login wrote the claim, and token is the hold's, or
// 0; else a *ledger.LostError, or what kept it from finding out.
func (c *Call) CheckHolds(ctx context.Context, i claim.Issue, w claim.Worker, token int64) error {
	f, err := c.Session.Ledger.Look(ctx, i)
	if err != nil {
		return err
	}

	return c.Session.Ledger.Holds(f, w, token)
}

// Between two tries --wait rests for RetryFirst, then twice as long each time up to RetryMost.
const (
	RetryFirst = time.Second
	RetryMost  = 15 * time.Second
)

// runTTL is the lease of a hold that is renewed all the time.
const runTTL = 30 * time.Minute

// TTL is what was asked for; 0 is the repository's default.
func (c *Call) TTL() time.Duration {
	if d := c.Flags.Duration("ttl"); d > 0 {
		return d
	}
	if c.Flags.Bool("run") || CommandPath(c.Flags) == "run" {
		return runTTL
	}

	return 0
}

// RecordClaim remembers a hold for this worktree. The error is the claim's, unless only labels are
// late.
func (c *Call) RecordClaim(h ledger.Hold, err error) error {
	if err = c.WarnLate(err); err != nil {
		return err
	}

	if h.Unassigned != nil {
		Warnf(c.Terminal.Err, "claimed, but the login could not be assigned: %s", h.Unassigned)
	}
	c.warnDisplaced()
	err = c.Session.Remember(h)
	if err == nil {
		err = c.Session.Begin(h.Issue)
	}

	if err != nil {
		Warnf(c.Terminal.Err, "claimed, but this worktree's record could not be written, so the hook will not know you: %s", err)
	}

	return nil
}

// ForgetEnded removes this worktree's record of a hold of this process that is over, and not that
// of a process that has taken it over. Where that fails it is said.
func (c *Call) ForgetEnded(h ledger.Hold) {
	if err := c.Session.ForgetHold(h); err != nil {
		Warnf(c.Terminal.Err, "this worktree's record of the hold could not be removed: %s", err)
	}
}

// warnDisplaced says that pushes from here are not checked any more: the next thing that a worker
// does is work that ends in one.
func (c *Call) warnDisplaced() {
	env := c.Terminal.Env
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
		Warnf(c.Terminal.Err, "pushes from here are not checked: lefthook has put label-state's hook out of use, as %s; label-state init", moved)
	}
}

// ForgetHold removes this worktree's record of a hold that is over. Where that fails it is said,
// and the hold is over all the same.
func (c *Call) ForgetHold(i claim.Issue) {
	if err := c.Session.Forget(i); err != nil {
		Warnf(c.Terminal.Err, "this worktree's record of the hold could not be removed: %s", err)
	}
}
