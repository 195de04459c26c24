package protocol

import (
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// NewUndo gives a claim of a bundle back, with the labels as they were: one that certainly was
// taken whatever a snapshot shows, any other if the log shows it. It ends the claim of the process
// with the nonce, of an empty one that of the key. Labels that are late are not an error: the sweep
// puts them right. The conclusion's Records tell whether there was one.
func NewUndo(c *Config, i claim.Issue, w claim.Worker, nonce string, taken bool) Append {
	a := newAppend(c, i, undoing{worker: w, nonce: nonce, taken: taken})
	a.blind = taken
	return a
}

// undoing is the rule of a claim of a bundle that is given back.
type undoing struct {
	worker claim.Worker
	nonce  string
	taken  bool
}

func (r undoing) next(c *Config, t turn) (rule, move) {
	f := t.facts
	switch {
	case t.wrote != nil:
		return nil, move{err: t.wrote}
	case len(t.records) > 0:
		return nil, move{relabel: true, late: true, with: Conclusion{Records: t.records}}
	case t.err != nil: // of an issue that cannot be read nothing is known but that it was taken
		f = lifecycle.Facts{Issue: f.Issue}
	}

	own, claimed := f.Log.Find(r.worker)
	live := claimed && own.Live()
	if bid, seen := f.Log.Bid(r.worker, r.nonce); r.nonce != "" && len(own.Bids) > 0 {
		live = live && (seen && !bid.Ended || own.Stored && own.Record.Nonce == r.nonce)
	}

	if !r.taken && !live {
		return nil, move{}
	}
	if err := f.Log.RefuseLogin(r.worker, f.Viewer); err != nil && !r.taken {
		return nil, move{err: c.Lost(f, r.worker, err)}
	}

	record := claim.Record{
		Kind:    claim.KindRelease,
		Worker:  r.worker,
		Nonce:   r.nonce,
		Outcome: claim.OutcomeBundleRolledBack,
		Attempt: own.Record.Attempt,
		At:      f.Now,
	}

	return r, move{record: &record, facts: &f}
}
