package protocol

import "github.com/label-state/label-state/internal/claim"

// NewUndo gives a claim of a bundle back, with the labels as they were: one that certainly was
// taken whatever a snapshot shows, any other if the log shows it. It ends the claim of the process
// with the nonce, of an empty one that of the key. Labels that are late are not an error: the sweep
// puts them right. The conclusion's Records tell whether there was one.
func NewUndo(c *Config, i claim.Issue, w claim.Worker, nonce string, taken bool) Operation {
	return func(do Do) Conclusion {
		a := c.appending(i, do)
		if err := a.look(); err != nil && !taken {
			return a.fail(err)
		}

		f := a.facts // of an issue that cannot be read nothing is known but that it was taken
		own, claimed := f.Log.Find(w)
		live := claimed && own.Live()
		if bid, seen := f.Log.Bid(w, nonce); nonce != "" {
			live = live && (seen && !bid.Ended || own.Stored && own.Record.Nonce == nonce)
		}

		if !taken && !live {
			return a.end
		}
		if err := f.Log.RefuseLogin(w, f.Viewer); err != nil && !taken {
			return a.fail(c.Lost(f, w, err))
		}

		err := a.post(a.record(f, claim.Record{
			Kind:    claim.KindRelease,
			Worker:  w,
			Nonce:   nonce,
			Outcome: claim.OutcomeBundleRolledBack,
			Attempt: own.Record.Attempt,
			At:      f.Now,
		}))
		if err != nil {
			return a.fail(err)
		}

		a.end.Records = a.records
		return a.settleNow(nil)
	}
}
