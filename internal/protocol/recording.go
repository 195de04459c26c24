package protocol

import (
	"cmp"
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
	plain   bool        // no snapshot is asked for along with the post, and labels stay
	sure    bool        // it is posted even where nobody knows whether it counts
	here    bool        // this host's pause is asked for along with a snapshot
	granted bool        // no lease is asked for: its owner knows it

	sent      Result        // of the first write
	relabeled bool          // the labels were changed along
	comment   claim.Comment // of one found in the log only the URL and time of a plan are set
}

// write writes the record. The error is why it is not certain that it is there. What was seen last
// has a snapshot that shows the log with the record, if Read is set.
func (r *recording) write(do Do) (s Seen, err error) {
	before := r.before
	var lost error // of the last try of which nobody knows what became
	givenUp := func() bool { return s.Ending != nil && !r.sure }
	for tries := 0; ; {
		s = do(r.post(before))
		if tries == 0 {
			r.sent = s.first()
		}
		if len(s.Results) <= len(before) { // the post was not sent
			return s, s.last().Err
		}

		post := s.Results[len(before)]
		switch {
		case post.Did == Applied:
			r.relabeled = len(s.Results) > len(before)+1 && s.last().Did == Applied
			r.comment = post.Comment
			return s, nil
		case post.Did == Refused && lost == nil:
			return s, post.Err
		case post.Did == Refused:
			return s, stillOpen(errors.Join(lost, post.Err))
		}

		before, lost = nil, post.Err
		for looked := false; !looked; looked = s.Err == nil {
			if tries++; tries == posts && !givenUp() {
				return s, lost
			}
			if !givenUp() {
				s = do(Effects{Wait: Backoff(tries)})
			}
			if givenUp() {
				return s, errors.Join(lost, s.Ending)
			}

			s = do(Effects{Read: true, Ask: r.ask()})
			if lost = cmp.Or(s.Err, lost); s.Err == nil && r.landed(s) {
				return s, nil
			}
		}

		if givenUp() {
			return s, errors.Join(lost, s.Ending)
		}
	}
}

// post is the effect that posts the record, after other writes.
func (r recording) post(before []Write) Effects {
	e := Effects{Writes: append(slices.Clone(before), Write{Kind: WritePost, Body: r.body, Uncertain: r.sure})}
	if !r.plain {
		e.Read, e.Ask = true, r.ask()
		if !r.labels.Empty() {
			e.Writes = append(e.Writes, Write{Kind: WriteRelabel, Labels: r.labels})
		}
	}

	return e
}

// ask is what is asked for with a snapshot.
func (r recording) ask() Ask {
	return Ask{Lease: r.cfg.Store != "" && !r.granted, Here: r.here}
}

// landed reports whether a snapshot shows the record.
func (r *recording) landed(s Seen) bool {
	log := s.Facts.Log
	if !r.granted {
		log = r.cfg.Ruled(s.Facts, s.Lease).Log
	}
	if r.notice != nil {
		return log.Told(*r.notice)
	}
	if c, _ := log.Find(r.record.Worker); c.Plan.Pending() {
		r.comment.URL, r.comment.Created = c.Plan.URL, c.Plan.At
	}
	return landedAs(r.record, r.had, log)
}

// landedAs reports whether the record r is in a log that did not have it before.
func landedAs(r claim.Record, before, s claim.State) bool {
	c, claimed := s.Find(r.Worker)
	switch r.Kind {
	case claim.KindClaim:
		if r.By != "" || r.Nonce == "" { // written on the worker's behalf
			return len(c.Ranks) > 0
		}
		_, posted := s.Bid(r.Worker, r.Nonce)
		return posted

	case claim.KindRelease:
		had, _ := before.Find(r.Worker)
		switch {
		case r.Nonce != "":
			return s.Over(r.Worker, r.Nonce)
		// of the process that had it; another one may have taken it over
		case r.Token != 0 && len(had.Bids) > 0 && c.End == nil:
			return s.Over(r.Worker, had.Record.Nonce)
		case claimed: // a store may have let it go: that is not in the log
			return c.End != nil
		}

		return s.Dead(r.Worker)

	case claim.KindPlan:
		return c.Plan.Pending()
	case claim.KindRevoke:
		return c.Revoked != nil
	case claim.KindApprove, claim.KindReject:
		return c.Plan != nil && !c.Plan.Pending()
	case claim.KindUnlink:
		return c.End != nil && c.End.Unlinked
	case claim.KindReset:
		if r.Restart {
			return s.Restart.Compare(before.Restart) > 0
		}
		return s.Reset.Compare(before.Reset) > 0 && (c.Reset || !claimed)
	}

	return false
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

// An editing replaces the body of an own comment.
type editing struct {
	first []Write // what is done before
	write Write
	ask   Ask  // with the snapshot
	read  bool // asks for a snapshot along
}

// carry carries it out. What was answered ambiguously is repeated, without looking. It returns what
// was seen of the last try, or of the first write that was not applied; and what came of the first
// write.
func (e editing) carry(do Do) (s Seen, sent Result) {
	writes := append(slices.Clone(e.first), e.write)
	for tries := 1; ; tries++ {
		s = do(Effects{Writes: writes, Read: e.read, Ask: e.ask})
		if tries == 1 {
			sent = s.first()
		}

		stopped := len(s.Results) < len(writes)
		if stopped || s.last().Did != Unknown || tries == posts || s.Ending != nil {
			return s, sent
		}
		if do(Effects{Wait: Backoff(tries)}).Ending != nil {
			return s, sent
		}
		writes = []Write{e.write}
	}
}
