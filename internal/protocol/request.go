package protocol

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// A Snapshot is what one read of an issue returned, and when. The zero value is none.
type Snapshot struct {
	Facts lifecycle.Facts
	Taken time.Time // by Ledger.Now, before the request that read it
}

// A Request is what a worker asks for.
type Request struct {
	Worker claim.Worker  // an empty firing id is made up
	TTL    time.Duration // 0 is the repository's default, or the stage's; claim.NoExpiry never expires
	Branch string        // where the work will be pushed, if known
	Bundle string        // the bundle it is one of; see Bundle.Claim
	Person string        // login of the person who asks; empty for an agent's run
	By     string        // the same login again when an app claims for the person
	// take over the hold of another process with the same key, which is fenced off by a larger
	// token
	Resume bool
	// nonce of the hold that this machine has recorded under the key: it is resumed if that process
	// has it still
	Mine string
	// of the process that asks: it goes on with what an earlier run of it left unconfirmed; empty
	// is made up
	Nonce  string
	Judged Snapshot // by which the caller chose the issue; step 0 goes by it while it is fresh
	// Earlier tells the workers whose expired holds were the caller's own: the back-off that they
	// caused does not count against it. Nil knows none.
	Earlier func(claim.Worker) bool

	// in spite of an assignee and of a stranger's pull request, and for a person of a label that
	// says that another person holds it
	Force  bool
	Reason string // of the force, for people: the note of a claim that no record else explains
}

// Seeker is who asks, for a verdict before the claim.
func (r Request) Seeker() lifecycle.Seeker {
	return lifecycle.Seeker{Worker: r.Worker, Person: r.Person != "", Earlier: r.Earlier}
}

// check returns the request as it is carried out. The error is an answer.Usage.
func (r Request) check(c *Config) (Request, error) {
	if err := r.Worker.Validate(); err != nil {
		return Request{}, answer.Wrong(err)
	}
	longest := c.Rules.Terms.Max
	if r.TTL == claim.NoExpiry && r.Person != "" {
		r.TTL = cmp.Or(c.Rules.PersonTTL, r.TTL)
	}

	if r.TTL == 0 {
		r.TTL = min(c.Lease, longest)
	}

	if r.TTL < 0 && r.TTL != claim.NoExpiry || r.TTL > longest && r.Person == "" {
		return Request{}, answer.Wrongf("ttl %s: expected at most %s", printable.Exact(r.TTL), printable.Exact(longest))
	}
	if least := c.Shortest(); r.TTL > 0 && r.TTL < least {
		return Request{}, answer.Wrongf("ttl %s: expected at least %s", r.TTL, printable.Exact(least))
	}

	if r.Branch != "" {
		branch, err := claim.ParseBranch(r.Branch)
		if err != nil {
			return Request{}, answer.Wrong(err)
		}
		r.Branch = branch
	}

	return r, nil
}

// stopping keeps the reasons of a verdict, free or held, that stop this claim, and names those that
// are passed over by force.
func (a Claim) stopping(f lifecycle.Facts, v lifecycle.Verdict) (stops lifecycle.Verdict, forced string) {
	if _, begun := a.earlierRun(f); begun {
		v.Reasons = slices.DeleteFunc(slices.Clone(v.Reasons),
			func(r lifecycle.Reason) bool { return r.Code == lifecycle.CodeOwn })
	}

	if a.record.Resumes != "" { // what keeps others from taking the issue does not end a hold
		v.Reasons = slices.DeleteFunc(slices.Clone(v.Reasons), func(r lifecycle.Reason) bool {
			return r.Code != lifecycle.CodeClosed && r.Code != lifecycle.CodeHold
		})
	}

	var over []string
	if a.req.Force {
		v.Reasons = slices.DeleteFunc(slices.Clone(v.Reasons), func(r lifecycle.Reason) bool {
			force := r.Code.Meaning().Force
			passed := force == lifecycle.ForcePasses || force == lifecycle.ForcePerson && a.record.Person != "" ||
				r.ByStranger()
			if passed {
				over = append(over, string(r.Code))
			}

			return passed
		})
	}

	if len(v.Reasons) == 0 {
		v.Answer = lifecycle.Free
	}

	return v, strings.Join(over, ",")
}

// earlierRun is the claim that an earlier run of the same process posted and did not confirm.
func (a Claim) earlierRun(f lifecycle.Facts) (claim.Bid, bool) {
	w, nonce := a.record.Worker, a.record.Nonce
	own, known := f.Log.Bid(w, nonce)
	if !known || own.Held() || f.Log.Over(w, nonce) {
		return claim.Bid{}, false
	}

	c, _ := f.Log.Find(w)
	return own, c.WrittenBy(f.Viewer) || c.As(nonce).IsOf(f.Viewer)
}

// takesOver makes the claim one that takes over the hold of another process with the same key, if
// the caller wants that and the key has a hold (spec-writing.md#resuming). The new claim is a
// process's own, with a nonce of its own, and says all that the old one says. The error is a
// *LostError where the hold has ended, and a *HeldError where it is not one that can be taken over.
func (a *Claim) takesOver(f lifecycle.Facts) (bool, error) {
	own, known := f.Log.Find(a.record.Worker)
	mine := own.Live() && a.req.Mine != "" && a.req.Mine == own.Record.Nonce
	if !known || !a.req.Resume && !mine {
		return false, nil
	}
	if asked, may := a.resumable(f, own); own.Live() && !may && (own.Held() || !asked.IsZero()) {
		return false, a.heldIn(f)
	}

	err := f.Log.RefuseRenewal(a.record.Worker, f.Viewer, a.cfg.Rules.Terms, f.Now, 0)
	if err == nil && f.Log.Over(a.record.Worker, a.record.Nonce) { // for the log alone: a store has it still
		err = claim.ErrEnded
	}

	if err != nil {
		return false, a.cfg.Lost(f, a.record.Worker, err)
	}

	if a.cfg.Store != "" && own.Record.Lease == "" && !own.Stored { // a store hands over only what it has
		held := a.heldIn(f)
		held.Before = true
		return false, held
	}

	r := own.Record
	r.Nonce, r.Resumes, r.Held, r.Token, r.By, r.Lease = a.record.Nonce, own.Record.Nonce, false, 0, a.record.By, ""
	if a.record.TTL != 0 {
		r.TTL = a.record.TTL
	}

	if a.record.Branch != "" {
		r.Branch = a.record.Branch
	}
	a.record, a.takes = r, own.Record.Token
	if !own.Stored {
		a.limit, a.limited = own.Until(a.cfg.Rules.Terms)
	}

	return true, nil
}

// heldIn is the answer no by what a snapshot says of the issue.
func (a Claim) heldIn(f lifecycle.Facts) *HeldError {
	return a.held(f, a.cfg.Rules.Verdict(f, lifecycle.Seeker{Worker: a.record.Worker}))
}

// resumable reports whether the live claim is a hold that another process may take over: one of a
// process, which is not part of an unfinished bundle, and that no other process is claiming now:
// asked is until when one may be.
func (a Claim) resumable(f lifecycle.Facts, own claim.Claim) (asked time.Time, may bool) {
	terms := a.cfg.Rules.Terms
	for _, b := range own.Standing() {
		if b.Nonce == a.record.Nonce {
			continue
		}
		if until := b.Updated.Add(terms.Pending + terms.Grace); !b.Held() && f.Now.Before(until) {
			asked = claim.Latest(asked, until)
		}
	}

	return asked, asked.IsZero() && own.Held() && own.Record.Nonce != "" && !own.Provisional()
}

// fill names in the record what the snapshot that admits the claim says, so that later changes of
// the configuration, or of the stage, do not move the hold.
func (a *Claim) fill() {
	rules, f := a.cfg.Rules, a.facts
	a.record.Attempt = 1 + confirmed(f.Log)
	if stages := rules.Scheme.Stages; len(stages) > 0 && !f.PullRequest {
		stage := stages[rules.Stage(f)]
		a.record.Stage = stage.Name
		if a.record.TTL == 0 {
			a.record.TTL = stage.TTL
		}
	}

	if a.record.TTL == 0 {
		a.record.TTL = rules.Terms.TTL
	}

	if a.record.Bundle != "" {
		a.record.Was = a.before(f)
	}
}

// before words what an issue shows that is about to be claimed for a bundle. A lifecycle label that
// is wrong is not put back but put right.
func (a Claim) before(f lifecycle.Facts) string {
	projection, _ := a.cfg.Rules.Label(f)
	st := projection.State
	if shown := a.cfg.Rules.Scheme.Of(f.Labels); projection.Keep && len(shown) > 0 {
		st = shown[0]
	} else if projection.Keep {
		st = labels.None
	}

	return a.cfg.Rules.Scheme.Was(st, f.Labels, a.record.Bundle)
}

// toAssign is the login that the claim is going to assign, empty for none. The record says so
// before it is done.
func (a Claim) toAssign() string {
	f := a.facts
	wanted := a.cfg.Assign == AssignAll || a.cfg.Assign == AssignPeople && a.record.Person != ""
	if !wanted || claim.HasLogin(f.Assignees, f.Viewer) || f.Viewer == "" || claim.IsApp(f.Viewer) {
		return ""
	}

	return f.Viewer
}

// held is the answer no: somebody has the issue, perhaps another process of the asking run.
func (a Claim) held(f lifecycle.Facts, v lifecycle.Verdict) *HeldError {
	held := &HeldError{Issue: a.issue, Verdict: v, Shared: v.Has(lifecycle.CodeOwn)}
	if own, is := held.Own(); is {
		held.Asked, _ = a.resumable(f, own)
	}
	return held
}
