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

	relabels bool // the labels are brought in line after it

	facts lifecycle.Facts
	claim claim.Claim
	new   claim.Record
	since time.Duration
	lease lease.Lease
	after Seen // a snapshot that came with the edit
}

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

// Run is the Operation.
func (r Renewal) Run(do Do) Conclusion {
	if err := r.admitted(do); err != nil {
		return failed(r.issue, err)
	}

	got, err := r.write(do)
	if err != nil {
		return failed(r.issue, err)
	}

	c := r.claim
	if until, ends := c.Until(r.cfg.Rules.Terms); ends && !c.Stored && got.Updated.After(until) {
		return failed(r.issue, r.bury(do))
	}

	if got.ID != 0 && got.ID != c.Comment {
		c.Comment, c.URL, c.Created = got.ID, got.URL, got.Created
	}

	end := Conclusion{
		Facts: r.facts,
		Claim: c.Renewed(r.new, got.Updated),
		Lease: r.lease,
		Since: r.since,
	}

	if r.relabels {
		end.Repair, end.Err = r.relabel(do)
	}

	return end
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

// unknown is the error of a renewal of which something could not be found out.
func (r Renewal) unknown(err error) error { return &UnknownError{r.issue, err} }

// admitted looks, and says why the lease is not to be extended.
func (r *Renewal) admitted(do Do) error {
	var s Seen
	for looks := 1; ; looks++ {
		if s = do(r.cfg.look()); s.Err != nil {
			return s.Err
		}
		if s.Ending != nil {
			return r.unknown(s.Ending)
		}

		log := s.Facts.Log
		own, claimed := log.Find(r.worker)
		shown := log.Dead(r.worker) || claimed && own.Held() && log.RefuseToken(r.worker, r.token) == nil
		if shown || looks == sightings || r.cfg.Store != "" { // an absence decides nothing at once
			break
		}
		if s = do(Effects{Wait: Backoff(looks - 1)}); s.Ending != nil {
			return r.unknown(s.Ending)
		}
	}

	f := r.cfg.Ruled(s.Facts, s.Lease)
	c, _ := f.Log.Find(r.worker)

	// a late snapshot of the log lacks what the holder has written: it is edited and not written
	// again
	if c.Stored && c.Comment == 0 && r.known.Comment != 0 {
		c.Comment, c.URL, c.Created, c.Record = r.known.Comment, r.known.URL, r.known.Created, r.known.Record
	}

	r.facts, r.claim, r.new, r.lease = f, c, c.Record, s.Lease
	r.new.Heartbeat++
	r.new.Token = max(r.new.Token, r.token)
	r.new.Reason = cmp.Or(r.note, r.new.Reason)

	return r.cfg.renewable(f, r.worker, c, r.token)
}

// write writes: first to the store, then into the claim comment. Only a store's hold can be without
// a comment of its worker's own.
func (r *Renewal) write(do Do) (claim.Comment, error) {
	var first []Write
	if r.claim.Stored {
		first = []Write{{Kind: WriteExtend, Lease: r.lease}}
	}

	if r.claim.Comment == 0 {
		return r.post(do, first)
	}

	body, err := Body(r.facts, r.new)
	if err != nil {
		return claim.Comment{}, r.unknown(answer.Wrong(err))
	}

	e := editing{first: first, write: Write{Kind: WriteEdit, Comment: r.claim.Comment, Body: body}, read: r.relabels}
	e.ask.Lease = r.relabels && r.cfg.Store != ""
	s, sent := e.carry(do)
	r.after = s
	if err := r.extended(first, sent); err != nil {
		return claim.Comment{}, err
	}

	result := s.last()
	switch {
	case result.Did == Gone && r.claim.Stored:
		return r.post(do, nil)
	case result.Did == Gone:
		return claim.Comment{}, r.cfg.Lost(r.facts, r.worker, result.Err)
	case result.Did != Applied:
		return claim.Comment{}, r.unknown(result.Err)
	}

	return result.Comment, nil
}

// extended takes in the first result, from which on the lease counts. The error is why the store,
// if it was asked first, did not extend it.
func (r *Renewal) extended(first []Write, sent Result) error {
	r.since = sent.Sent
	switch {
	case len(first) == 0:
	case sent.Did == Applied:
		r.lease = sent.Lease
	case errors.Is(sent.Err, lease.ErrLost):
		return r.cfg.Lost(r.facts, r.worker, sent.Err)
	default:
		return r.unknown(sent.Err)
	}

	return nil
}

// post writes the claim that the log lacks.
func (r *Renewal) post(do Do, first []Write) (claim.Comment, error) {
	record := r.new
	record.By, record.Nonce, record.Lease, record.At = "", cmp.Or(record.Nonce, r.word), r.cfg.Store, r.facts.Now
	body, err := Body(r.facts, record)
	if err != nil {
		return claim.Comment{}, r.unknown(answer.Wrong(err))
	}

	posting := recording{
		cfg:    r.cfg,
		before: first,
		body:   body,
		record: record,
		had:    r.facts.Log,
		plain:  true,
	}
	_, unsure := posting.write(do)
	if len(first) > 0 {
		err = r.extended(first, posting.sent)
	}
	if err == nil && unsure != nil {
		err = r.unknown(unsure)
	}

	return posting.comment, err
}

// bury ends the key, because the edit was applied after the lease had ended: it must not stand for
// another lease.
func (r Renewal) bury(do Do) error {
	lost := r.cfg.Lost(r.facts, r.worker, claim.ErrOverdue)
	posting, err := r.cfg.tombstone(r.facts, r.worker, r.claim.Record.Nonce, claim.OutcomeStaleSwept)
	if err == nil {
		_, err = posting.write(do)
	}

	return errors.Join(lost, err)
}

// relabel brings the labels in line by the snapshot after the renewal.
func (r Renewal) relabel(do Do) (Repair, error) {
	s := r.after
	if !s.Read && s.Err == nil {
		s = do(r.cfg.look())
	}
	if s.Err != nil {
		return Repair{}, &LabelsError{r.issue, s.Err}
	}

	labels := r.cfg.relabel(r.cfg.Ruled(s.Facts, s.Lease), false)
	labels.run(do)
	return labels.rep, labels.err
}

// renewable asks whether this store decides the hold own of w, the log, what people may have done,
// and whether the token is the hold's.
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

	v := c.Rules.Verdict(f, lifecycle.Seeker{})
	if v.Answer == lifecycle.Unknown {
		return &UnknownError{f.Issue, errors.New(v.String())}
	}
	if err := c.Rules.Stops(v); err != nil {
		return c.Lost(f, w, err)
	}

	if err := f.Log.RefuseToken(w, token); err != nil {
		return c.Lost(f, w, err)
	}

	return nil
}
