package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/state"
)

// Mine reports whether a claim of the issue is the asker's own, although no flag names its run: it
// was made here (madeHere), else the asker's login wrote it for the branch that is checked out. A
// codename or a run that is named must be the claim's, and its author the login me: everybody can
// read a key in the log.
func (c *Call) Mine(ctx context.Context, i claim.Issue, own claim.Claim, me string) bool {
	mine, decided := c.madeHere(i, own, me)
	if decided {
		return mine
	}
	return c.onBranch(ctx, own)
}

// Asking is who asks about an issue from here: the worker that is named, with what is known of its
// hold, else the one whose hold this worktree or the session has.
func (c *Call) Asking(ctx context.Context, i claim.Issue) lifecycle.Seeker {
	if w, token, err := c.Holder(ctx, i); err == nil {
		return lifecycle.Seeker{Worker: w, Token: token}
	}
	return lifecycle.Seeker{Worker: c.Worker(), As: c.Claimant().Codename}
}

// Others are a verdict's reasons for the login me without those that its own hold is.
func (c *Call) Others(ctx context.Context, i claim.Issue, v lifecycle.Verdict, me string) []lifecycle.Reason {
	return slices.DeleteFunc(slices.Clone(v.Reasons), func(r lifecycle.Reason) bool {
		return r.Code == lifecycle.CodeOwn || r.Code == lifecycle.CodeInFlight && !r.Resumed &&
			c.Mine(ctx, i, *r.Claim, me)
	})
}

// madeHere reports whether the claim was made by whoever asks: this worktree has recorded it, and
// no other session and no process is at work under it; else the session that the command runs in
// made it. It is not decided where nothing here speaks for it or against it.
func (c *Call) madeHere(i claim.Issue, own claim.Claim, me string) (mine, decided bool) {
	w, made := c.Worker(), own.Record.Worker
	switch {
	case own.Person != "" || me == "" || !own.WrittenBy(me):
		return false, true
	case w == made:
		return true, true
	case !Fits(w, made):
		return false, true
	}

	recorded, found, err := c.Session.Recall(i)
	if err == nil && found && recorded.Worker == made {
		free := own.Record.Nonce != "" && c.Session.Mine(i, made) == own.Record.Nonce
		return free && c.Env.Whose(recorded) != setup.Others, true
	}

	_, around := c.Env.Session()
	mine = agenthost.Made(around, made.FiringID)
	return mine, mine
}

// onBranch reports whether the claim is for the branch that is checked out here.
func (c *Call) onBranch(ctx context.Context, own claim.Claim) bool {
	if own.Record.Branch == "" || c.Session.Tree == "" || c.Env.InSession() {
		return false
	}

	branch, err := c.Env.Git().Ask(ctx, "symbolic-ref", "--quiet", "--short", "HEAD")
	return err == nil && branch == own.Record.Branch
}

// MineAlready returns why a claim was refused, if that is a claim that whoever asks made. One that
// people have stopped is none: the error is the *ledger.LostError of a heartbeat. That the
// branch of the claim is checked out says too little here: two machines may have it, and one issue
// would have two workers. The error is the refusal; where the branch speaks for the asker, with how
// to take the hold over.
func (c *Call) MineAlready(ctx context.Context, refused error) (own lifecycle.Reason, yes bool, err error) {
	var held *ledger.HeldError
	if !errors.As(refused, &held) || held.Shared || held.Yielded != nil {
		return own, false, refused
	}

	for _, r := range held.Verdict.Reasons {
		if r.Code != lifecycle.CodeInFlight || r.Claim == nil || !r.Claim.Held() {
			continue
		}

		me, err := c.Session.Client.Viewer(ctx)
		if err != nil {
			continue
		}

		mine, decided := c.madeHere(held.Issue, *r.Claim, me)
		switch {
		case mine:
			if stop := cmp.Or(r.Claim.RefuseRevoked(), c.Rules().Stops(held.Verdict)); stop != nil {
				return own, false, &ledger.LostError{Issue: held.Issue, Worker: r.Claim.Record.Worker, Err: stop}
			}
			return r, true, refused
		case !decided && c.onBranch(ctx, *r.Claim):
			w := r.Claim.Record.Worker
			refused = Advise(refused, answer.Call("its branch is checked out here; if no other clone works on it",
				"claim", held.Issue.String(), "--codename", w.Codename, "--firing-id", w.FiringID, "--resume"))
		}
	}

	return own, false, refused
}

// Ended says what became of the hold of an issue that this worktree has recorded, and what to do
// next. It is empty while the hold stands, and where it ended as its worker would have it.
func (c *Call) Ended(f lifecycle.Facts) string {
	h, found, err := c.Session.Recall(f.Issue)
	if err != nil || !found {
		return ""
	}

	no := f.Log.RefuseHolder(h.Worker, h.Token, c.Rules().Terms, f.Now)
	if no == nil {
		return ""
	}

	lost, is := errors.AsType[*ledger.LostError](c.Session.Ledger.Lost(f, h.Worker, no))
	next := "stop work on it"
	switch {
	case !is || lost.End.Own(): // or not known yet
		return ""
	case lost.End.Overdue(no):
		c.dropOwnBackOff(lost)
		next = Words(ProblemOf(lost).Next)
	}

	return OneLine(fmt.Sprintf("%s (run %s): %s; %s", h.Worker.Codename, h.Worker.FiringID, no, next))
}

// ClaimOverdue claims the issue of a hold of the asker's own again whose lease is over.
func (c *Call) ClaimOverdue(ctx context.Context, i claim.Issue, own claim.Claim,
	req ledger.Request,
) (ledger.Hold, error) {
	was := state.Hold{Issue: i, Worker: own.Record.Worker, Token: own.Record.Token}
	return c.Session.ClaimAgain(ctx, was, req)
}

// AnswerMine says that the issue is the asker's already, and how to go on.
func (c *Call) AnswerMine(i claim.Issue, own claim.Claim) error {
	terms := c.Rules().Terms
	out := ViewOwn(i, own, terms)
	out.RenewBefore = RenewOwn(own, terms)

	w := own.Record.Worker
	return c.Answer(out, fmt.Sprintf("%s is yours already, %s: %s (run %s)\nwhen you are done: label-state release %s --pr URL\n",
		i, Lasts(out.Until), w.Codename, w.FiringID, i))
}

// onlyHold is the issue of the only hold that this worktree has recorded, of the worker that asks
// where the call or the environment names one. Holds of other sessions, and then those that are
// known to be over, count only where no other one is there; one that gave way to a person's claim
// is lost.
func (c *Call) onlyHold() (claim.Issue, error) {
	all, err := c.recordedOf(c.Worker())
	if err != nil {
		return claim.Issue{}, err
	}

	all = preferred(all, func(h state.Hold) bool { return c.Env.Whose(h) != setup.Others })
	all = preferred(all, func(h state.Hold) bool { return h.Lost == "" && !h.Over(time.Now()) })

	switch len(all) {
	case 0:
		return claim.Issue{}, c.noHold()
	case 1:
		return all[0].Issue, nil
	}

	names := make([]string, len(all))
	for n, h := range all {
		names[n] = h.Issue.String()
	}

	return claim.Issue{}, Advise(c.Usagef("this worktree has %d holds%s, of %s; name the issue%s", len(names),
		c.forAsked(), strings.Join(names, ", "), c.howToName()), answer.Call("for example", c.Verb.Name, c.naming(names[0])...))
}

// preferred are the holds that are meant where there are any, else all.
func preferred(all []state.Hold, meant func(state.Hold) bool) (some []state.Hold) {
	for _, h := range all {
		if meant(h) {
			some = append(some, h)
		}
	}

	if len(some) == 0 {
		return all
	}
	return some
}

// noHold is the answer where this worktree has recorded no hold: called wrongly, unless one gave
// way to a person's claim.
func (c *Call) noHold() error {
	if past := ofWorker(c.PastHolds(), c.Worker()); len(past) > 0 {
		return c.LostHere(past[0])
	}
	return Advise(c.Usagef("this worktree has no hold%s; name the issue%s", c.forAsked(), c.howToName()),
		answer.Call("see what you hold", "status", "--mine"))
}

// forAsked says for whom holds were looked up, where only one worker's count.
func (c *Call) forAsked() string {
	if w := c.Worker(); w.Codename != "" {
		return " for " + OneLine(w.Codename)
	}
	return ""
}

// PastHolds are those of this worktree that gave way to a person's claim.
func (c *Call) PastHolds() []state.Hold {
	store, err := c.Env.Holds()
	if err != nil {
		return nil
	}
	past, _ := store.Past().All() // what cannot be read tells nobody anything
	return slices.DeleteFunc(past, func(h state.Hold) bool { return h.Lost == "" })
}

// NamedHolds are those that this worktree has recorded, of the worker that the options name.
func (c *Call) NamedHolds() ([]state.Hold, error) {
	return c.recordedOf(claim.Worker{Codename: c.Codename, FiringID: c.FiringID})
}

// recordedOf are the holds that this worktree has recorded, of the worker that is asked for.
func (c *Call) recordedOf(asked claim.Worker) ([]state.Hold, error) {
	store, err := c.Env.Holds()
	if err != nil {
		return nil, c.Usagef("%s; name the issue%s", err, c.howToName())
	}

	all, err := store.All()
	return ofWorker(all, asked), err
}

// ofWorker are those of the holds that may be the worker's who is asked for (Fits).
func ofWorker(all []state.Hold, asked claim.Worker) []state.Hold {
	return slices.DeleteFunc(all, func(h state.Hold) bool { return !Fits(asked, h.Worker) })
}

// naming are the arguments that name the issue to the verb.
func (c *Call) naming(issue string) []string {
	if c.howToName() != "" {
		return []string{"--issue", issue}
	}
	return []string{issue}
}

// howToName is how the verb has the issue named, where that is no argument.
func (c *Call) howToName() string {
	if _, is := find(c.Verb.Params(), "issue"); is {
		return " with " + c.Option("issue")
	}
	return ""
}
