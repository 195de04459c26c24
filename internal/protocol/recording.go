package protocol

import (
	"errors"
	"slices"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// A recording gets one record into the log, or one notice. It posts at most four times, and looks
// for the record before it posts again, because an answer that was lost says nothing about the post
// (spec-writing.md#claim). A refusal after such an answer leaves it open whether the record is
// there.
type recording struct {
	cfg     *Config
	before  []Write       // what takes effect before the record does
	labels  labels.Change // what is changed in one request with the post, where that is possible
	body    string        // of the comment
	record  claim.Record  // that it holds; of KindClaim without a nonce any claim of the worker will do
	notice  *claim.Notice
	had     claim.State // the log without it
	plain   bool        // no snapshot is asked for along with the post
	sure    bool        // it is posted even where nobody knows whether it counts
	here    bool        // this host's pause is asked for along with a snapshot
	granted bool        // no lease is asked for: its owner knows it

	step  recordingStep
	tries int
	lost  error  // of the last try of which nobody knows what became
	sent  Result // of the first write

	over      bool
	err       error         // why it is not certain that the record is there
	relabeled bool          // the labels were changed along
	comment   claim.Comment // only URL is set of one that was found in the log
	seen      Seen          // with a snapshot that shows the log with the record, if Read is set
}

type recordingStep int

const (
	recordingBegins recordingStep = iota
	recordingPosts
	recordingWaits
	recordingLooks
)

// next goes on until over is set.
func (r *recording) next(s Seen) Effects {
	switch r.step {
	case recordingBegins:
		r.step = recordingPosts
		return r.write(r.before)

	case recordingWaits:
		if s.Ending != nil && !r.sure {
			return r.end(errors.Join(r.lost, s.Ending), s)
		}
		r.step = recordingLooks
		return Effects{Read: true, Ask: r.ask()}
	case recordingLooks:
		return r.looked(s)
	}

	return r.posted(s)
}

// write is the effect that posts the record, after other writes.
func (r recording) write(before []Write) Effects {
	e := Effects{Writes: append(slices.Clone(before), Write{Kind: WritePost, Body: r.body, Uncertain: r.sure})}
	if !r.labels.Empty() {
		e.Writes = append(e.Writes, Write{Kind: WriteRelabel, Labels: r.labels})
	}

	if !r.plain {
		e.Read, e.Ask = true, r.ask()
	}

	return e
}

// ask is what is asked for with a snapshot.
func (r recording) ask() Ask {
	return Ask{Lease: r.cfg.Store != "" && !r.granted, Here: r.here}
}

// posted takes in what became of the writes.
func (r *recording) posted(s Seen) Effects {
	last, at := s.last(), 0
	if r.tries == 0 {
		at = len(r.before)
		r.sent = s.first()
	}

	if len(s.Results) <= at { // the post was not sent
		return r.end(last.Err, s)
	}

	r.relabeled = len(s.Results) > at+1 && last.Did == Applied
	switch last = s.Results[at]; last.Did {
	case Applied:
		r.comment = last.Comment
		return r.end(nil, s)
	case Refused:
		if r.lost == nil {
			return r.end(last.Err, s)
		}
		return r.end(stillOpen(errors.Join(r.lost, last.Err)), s)
	}

	r.lost = last.Err
	return r.again(s)
}

// looked takes in the snapshot that was made before the next post.
func (r *recording) looked(s Seen) Effects {
	if s.Err != nil {
		r.lost = s.Err
		return r.again(s)
	}

	log := s.Facts.Log
	if !r.granted {
		log = r.cfg.Ruled(s.Facts, s.Lease).Log
	}

	if url, there := r.landed(log); there {
		r.comment = claim.Comment{URL: url}
		return r.end(nil, s)
	}
	if s.Ending != nil && !r.sure {
		return r.end(errors.Join(r.lost, s.Ending), s)
	}

	r.step = recordingPosts
	return r.write(nil)
}

// again waits before the next try, if there is one.
func (r *recording) again(s Seen) Effects {
	r.tries++
	if s.Ending != nil && !r.sure {
		return r.end(errors.Join(r.lost, s.Ending), s)
	}
	if r.tries == posts {
		return r.end(r.lost, s)
	}

	r.step = recordingWaits
	return Effects{Wait: Backoff(r.tries)}
}

func (r *recording) end(err error, s Seen) Effects {
	r.over, r.err, r.seen = true, err, s
	return Effects{}
}

// landed finds the record in a log.
func (r recording) landed(s claim.State) (url string, ok bool) {
	if r.notice != nil {
		return "", s.Told(*r.notice)
	}
	return landedAs(r.record, r.had, s)
}

// landedAs finds the record r in a log that did not have it before.
func landedAs(r claim.Record, before, s claim.State) (url string, ok bool) {
	c, claimed := s.Find(r.Worker)
	switch r.Kind {
	case claim.KindClaim:
		if r.By != "" || r.Nonce == "" { // written on the worker's behalf
			return c.URL, len(c.Ranks) > 0
		}
		own, posted := s.Bid(r.Worker, r.Nonce)
		return own.URL, posted

	case claim.KindRelease:
		had, _ := before.Find(r.Worker)
		switch {
		case r.Nonce != "":
			return "", s.Over(r.Worker, r.Nonce)
		// of the process that had it; another one may have taken it over
		case r.Token != 0 && len(had.Bids) > 0 && c.End == nil:
			return "", s.Over(r.Worker, had.Record.Nonce)
		case claimed && c.End != nil:
			return c.End.URL, true
		case claimed: // and a store may have let it go: that is not in the log
			return "", false
		}

		return "", s.Dead(r.Worker)

	case claim.KindPlan:
		if !c.Plan.Pending() {
			return "", false
		}
		return c.Plan.URL, true
	case claim.KindRevoke:
		return "", claimed && c.Revoked != nil
	case claim.KindApprove, claim.KindReject:
		return "", c.Plan != nil && !c.Plan.Pending()
	case claim.KindUnlink:
		return "", c.End != nil && c.End.Unlinked
	case claim.KindReset:
		if r.Restart {
			return "", s.Restart.Compare(before.Restart) > 0
		}
		return "", !slices.ContainsFunc(s.Attempts, func(a claim.Attempt) bool { return a.Worker == r.Worker })
	}

	return "", false
}

// ended is what a record that ends a hold does before it is posted, in the order in which a crash
// does least harm. The login that the claim has assigned is taken off first: whoever dies in
// between leaves a hold without an assignee, not an assignee without a hold. That GitHub refuses it
// is no reason to keep the hold. Then a lease store releases its lease: the log only follows.
func (c *Config) ended(f lifecycle.Facts, r claim.Record) []Write {
	if r.Kind != claim.KindRelease && r.Kind != claim.KindReject {
		return nil
	}

	var out []Write
	if login := unassigns(f, r); login != "" {
		out = append(out, Write{Kind: WriteUnassign, Login: login, Optional: true})
	}

	if c.Store != "" {
		out = append(out, Write{Kind: WriteEnd, Record: r})
	}

	return out
}

// unassigns is the login that goes with the end r of a claim: the one that the claim has assigned,
// unless the claim goes on by another process of its key, or another live claim has assigned the
// same login. Empty is none.
func unassigns(f lifecycle.Facts, r claim.Record) string {
	c, _ := f.Log.Find(r.Worker)
	if c.Record.Assignee == "" || !c.Held() || c.End != nil {
		return ""
	}

	goesOn := r.Nonce != "" && slices.ContainsFunc(c.Standing(), func(b claim.Bid) bool { return b.Nonce != r.Nonce })
	shared := slices.ContainsFunc(f.Log.Live(), func(o claim.Claim) bool {
		return o.Record.Worker != r.Worker && claim.SameLogin(o.Record.Assignee, c.Record.Assignee)
	})

	if goesOn || shared {
		return ""
	}

	return c.Record.Assignee
}

// record begins to write r about the issue that f shows. The error is an answer.Usage.
func (c *Config) record(f lifecycle.Facts, r claim.Record) (recording, error) {
	text := sentence(f, r)
	if c.Rules.Unproven(f, r) {
		text += " No pull request was named, so the issue is ready again; `--pr` names one, and `--done` closes the issue."
	}

	body, err := claim.Body(r, text+printable.Footer)
	if err != nil {
		return recording{}, answer.Wrong(err)
	}

	return recording{
		cfg:    c,
		before: c.ended(f, r),
		body:   body,
		record: r,
		had:    f.Log,
	}, nil
}

// tombstone begins to end an own claim that will not become a hold, and no other process's claim of
// the key: a claim left behind would block everyone until it expires (spec-writing.md#claim). The
// claim was written, so its end is, too, also when it has become unknown whether our records count,
// and when the caller has given up.
func (c *Config) tombstone(f lifecycle.Facts, w claim.Worker, nonce, outcome string) (recording, error) {
	r, err := c.record(f, claim.Record{
		Kind:    claim.KindRelease,
		Worker:  w,
		Nonce:   nonce,
		Outcome: outcome,
		At:      f.Now,
	})
	r.sure, r.plain = true, true

	return r, err
}

// An editing replaces the body of an own comment. What was answered ambiguously is repeated,
// without looking.
type editing struct {
	first []Write // what is done before
	write Write
	read  bool // asks for a snapshot along
	store bool // and for the lease

	sends bool // else it begins, or has waited
	tries int

	over   bool
	result Result // of the last try, or of the first write that was not applied
	sent   Result // of the first write
	seen   Seen
}

// next goes on until over is set.
func (e *editing) next(s Seen) Effects {
	if !e.sends {
		writes := append(slices.Clone(e.first), e.write)
		if e.tries > 0 {
			writes = writes[len(e.first):]
		}

		e.sends, e.over = true, s.Ending != nil
		return Effects{Writes: writes, Read: e.read, Ask: Ask{Lease: e.store}}
	}

	e.sends = false
	stopped := e.tries == 0 && len(s.Results) <= len(e.first)
	if e.tries == 0 {
		e.sent = s.first()
	}

	e.result, e.seen = s.last(), s
	e.tries++
	e.over = stopped || e.result.Did != Unknown || e.tries == posts || s.Ending != nil
	return Effects{Wait: Backoff(e.tries)}
}
