package protocol

import (
	"cmp"
	"errors"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// A Renewal extends the lease of a worker by editing its claim comment (spec-writing.md#heartbeat).
// What a store decides is extended there first. Its conclusion has the hold in Claim, with the
// store's Lease, and in Since when it was asked for. A *LostError means: stop all work at once. An
// *UnknownError leaves the old lease end standing.
type Renewal struct {
	cfg    *Config
	issue  claim.Issue
	worker claim.Worker
	token  int64
	known  claim.Claim // the hold as its holder was last told; zero where that is not known
	word   string      // for a nonce, if the claim has to be written again
	note   string      // for others, in the claim; empty keeps the one that is there

	step  renewalStep
	looks int
	facts lifecycle.Facts
	claim claim.Claim
	until time.Time // end of the lease by the log
	ends  bool
	new   claim.Record
	since time.Duration
	lease lease.Lease

	editing editing
	posting recording
	lost    error

	relabels bool // the labels are brought in line after it
	labels   relabeling
	end      Conclusion
}

type renewalStep int

const (
	renewalWaits renewalStep = iota // for its first snapshot as well
	renewalLooks
	renewalEdits
	renewalPosts
	renewalBuries
	renewalLooksAgain
	renewalRelabels
)

// NewRenewal begins. token is the fencing token that the claim returned, 0 when not known. known is
// the hold as its process was last told, the zero Claim where that is not known. word is random.
func NewRenewal(c *Config, i claim.Issue, w claim.Worker, token int64, known claim.Claim, word string) Renewal {
	return Renewal{
		cfg:    c,
		issue:  i,
		worker: w,
		token:  token,
		known:  known,
		word:   word,
	}
}

// Next implements Operation.
func (r Renewal) Next(s Seen) (Operation, Effects) {
	effects := r.next(s)
	return r, effects
}

// next goes on with what the operation waits for.
func (r *Renewal) next(s Seen) Effects {
	switch r.step {
	case renewalWaits:
		if s.Ending != nil {
			return r.unknown(s.Ending)
		}
		r.step = renewalLooks
		return r.cfg.look()
	case renewalLooks:
		return r.looked(s)
	case renewalEdits:
		return r.edited(s)
	case renewalPosts:
		return r.posted(s)
	case renewalBuries:
		return r.buried(s)
	case renewalLooksAgain:
		return r.relabel(s)
	}

	return r.relabeled(s)
}

// Relabeling is the renewal that brings the labels in line as well. With a *LabelsError the hold is
// real.
func (r Renewal) Relabeling() Renewal {
	r.relabels = true
	return r
}

// Noting is the renewal that also leaves a line for others in the claim. An empty one keeps the
// line that is there.
func (r Renewal) Noting(note string) Renewal {
	r.note = printable.Short(note, quotedLimit)
	return r
}

// unknown is the end of a renewal of which nothing could be found out.
func (r Renewal) unknown(err error) Effects { return failed(r.issue, &UnknownError{r.issue, err}) }

// looked judges the renewal by a snapshot.
func (r *Renewal) looked(s Seen) Effects {
	if s.Err != nil {
		return failed(r.issue, s.Err)
	}
	if s.Ending != nil {
		return r.unknown(s.Ending)
	}

	r.looks++
	own, claimed := s.Facts.Log.Find(r.worker)
	shown := s.Facts.Log.Dead(r.worker) || claimed && own.Held() && s.Facts.Log.RefuseToken(r.worker, r.token) == nil
	if !shown && r.looks < sightings && r.cfg.Store == "" { // an absence decides nothing at once
		r.step = renewalWaits
		return Effects{Wait: Backoff(r.looks - 1)}
	}

	f := r.cfg.Ruled(s.Facts, s.Lease)
	c, _ := f.Log.Find(r.worker)

	// a late snapshot of the log lacks what the holder has written: it is edited and not written
	// again
	if c.Stored && c.Comment == 0 && r.known.Comment != 0 {
		c.Comment, c.URL, c.Created, c.Record = r.known.Comment, r.known.URL, r.known.Created, r.known.Record
	}

	if err := r.cfg.renewable(f, r.worker, c, r.token); err != nil {
		return failed(r.issue, err)
	}

	r.facts, r.claim, r.new, r.lease = f, c, c.Record, s.Lease
	r.until, r.ends = c.Until(r.cfg.Rules.Terms)
	r.new.Heartbeat++
	r.new.Token = max(r.new.Token, r.token)
	r.new.Reason = cmp.Or(r.note, r.new.Reason)

	return r.begin()
}

// begin writes: first to the store, then into the claim comment. Only a store's hold can be without
// a comment of its worker's own.
func (r *Renewal) begin() Effects {
	var first []Write
	if r.claim.Stored {
		first = []Write{{Kind: WriteExtend, Lease: r.lease}}
	}

	if r.claim.Comment == 0 && len(first) > 0 {
		return r.post(first)
	}

	body, err := Body(r.facts, r.new)
	if err != nil {
		return r.unknown(answer.Wrong(err))
	}

	r.editing = editing{first: first, write: Write{Kind: WriteEdit, Comment: r.claim.Comment, Body: body}}
	r.editing.read, r.editing.store = r.relabels, r.relabels && r.cfg.Store != ""
	r.step = renewalEdits
	return r.edited(Seen{})
}

// edited goes on with the edit.
func (r *Renewal) edited(s Seen) Effects {
	if effects := r.editing.next(s); !r.editing.over {
		return effects
	}

	r.since = r.editing.sent.Sent
	if len(r.editing.first) > 0 {
		if err := r.refused(r.editing.sent); err != nil {
			return failed(r.issue, err)
		}
		r.lease = r.editing.sent.Lease
	}

	switch result := r.editing.result; {
	case result.Did == Gone && r.claim.Stored:
		return r.post(nil)
	case result.Did == Gone:
		return failed(r.issue, r.cfg.Lost(r.facts, r.worker, result.Err))
	case result.Did != Applied:
		return r.unknown(result.Err)
	default:
		return r.written(result.Comment)
	}
}

// refused says why the store did not extend the lease, or nil.
func (r Renewal) refused(result Result) error {
	switch {
	case result.Did == Applied:
		return nil
	case errors.Is(result.Err, lease.ErrLost):
		return r.cfg.Lost(r.facts, r.worker, result.Err)
	}

	return &UnknownError{r.issue, result.Err}
}

// post writes the claim that the log lacks.
func (r *Renewal) post(first []Write) Effects {
	record := r.new
	record.By, record.Nonce, record.Lease, record.At = "", cmp.Or(record.Nonce, r.word), r.cfg.Store, r.facts.Now
	body, err := Body(r.facts, record)
	if err != nil {
		return r.unknown(answer.Wrong(err))
	}

	r.posting = recording{
		cfg:    r.cfg,
		before: first,
		body:   body,
		record: record,
		had:    r.facts.Log,
		plain:  true,
	}
	r.step = renewalPosts

	return r.posted(Seen{})
}

// posted goes on with the claim that the log lacks.
func (r *Renewal) posted(s Seen) Effects {
	if effects := r.posting.next(s); !r.posting.over {
		return effects
	}

	if len(r.posting.before) > 0 {
		r.since = r.posting.sent.Sent
		if err := r.refused(r.posting.sent); err != nil {
			return failed(r.issue, err)
		}
		r.lease = r.posting.sent.Lease
	}
	if r.posting.err != nil {
		return r.unknown(r.posting.err)
	}

	return r.written(r.posting.comment)
}

// written concludes, unless the edit was applied after the lease had ended: it must not stand for
// another lease, so the key ends here.
func (r *Renewal) written(got claim.Comment) Effects {
	c := r.claim
	if r.ends && !c.Stored && got.Updated.After(r.until) {
		r.lost = r.cfg.Lost(r.facts, r.worker, claim.ErrOverdue)
		posting, err := r.cfg.tombstone(r.facts, r.worker, c.Record.Nonce, claim.OutcomeStaleSwept)
		if err != nil {
			return failed(r.issue, errors.Join(r.lost, err))
		}

		r.posting, r.step = posting, renewalBuries
		return r.buried(Seen{})
	}

	if got.ID != 0 && got.ID != c.Comment {
		c.Comment, c.URL, c.Created = got.ID, got.URL, got.Created
	}

	r.end = Conclusion{
		Facts: r.facts,
		Claim: c.Renewed(r.new, got.Updated),
		Lease: r.lease,
		Since: r.since,
	}

	if !r.relabels {
		return conclude(r.end)
	}
	if s := r.editing.seen; s.Read || s.Err != nil {
		return r.relabel(s)
	}

	r.step = renewalLooksAgain
	return r.cfg.look()
}

// relabel brings the labels in line by the snapshot after the renewal.
func (r *Renewal) relabel(s Seen) Effects {
	if s.Err != nil {
		r.end.Err = &LabelsError{r.issue, s.Err}
		return conclude(r.end)
	}

	r.labels = r.cfg.relabel(r.cfg.Ruled(s.Facts, s.Lease), false)
	r.step = renewalRelabels
	return r.relabeled(Seen{})
}

// relabeled concludes once the labels are in line, or late.
func (r *Renewal) relabeled(s Seen) Effects {
	if effects := r.labels.next(s); !r.labels.over {
		return effects
	}

	r.end.Repair, r.end.Err = r.labels.rep, r.labels.err
	return conclude(r.end)
}

// buried concludes after the key has ended.
func (r *Renewal) buried(s Seen) Effects {
	if effects := r.posting.next(s); !r.posting.over {
		return effects
	}
	return failed(r.issue, errors.Join(r.lost, r.posting.err))
}

// renewable asks whether this store decides the hold own of w, the log, what people may have done,
// and whether the token is the hold's. People who close the issue or take it themselves stop a
// worker at its next heartbeat.
func (c *Config) renewable(f lifecycle.Facts, w claim.Worker, own claim.Claim, token int64) error {
	if err := c.decides(own); err != nil {
		return err
	}
	margin := time.Duration(0)
	if own.Held() {
		end, _ := own.Until(c.Rules.Terms)
		margin = c.MarginOf(end.Sub(own.Updated))
	}

	if err := f.Log.RefuseRenewal(w, f.Viewer, c.Rules.Terms, f.Now, margin); err != nil {
		return c.Lost(f, w, err)
	}

	v := c.Rules.Verdict(f, lifecycle.Seeker{Worker: w})
	switch {
	case v.Answer == lifecycle.Unknown:
		return &UnknownError{f.Issue, errors.New(v.String())}
	case f.PullRequest && v.Has(lifecycle.CodeClosed):
		return c.Lost(f, w, errors.New("the pull request has ended"))
	case v.Has(lifecycle.CodeClosed):
		return c.Lost(f, w, errors.New("the issue was closed"))
	case v.Has(lifecycle.CodeHold):
		return c.Lost(f, w, errors.New("a person took it (label "+c.Rules.Scheme.Hold+")"))
	}

	if err := f.Log.RefuseToken(w, token); err != nil {
		return c.Lost(f, w, err)
	}

	return nil
}
