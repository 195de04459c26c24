package claim

import "slices"

// A bundle is several issues that one worker takes together or not at all. Its claims are taken one
// after the other, and only when it has them all it renews each: that first renewal is what makes
// them more than a beginning. So a worker that dies in between leaves nothing that anybody has to
// understand: its claims expire early, do not count as attempts, and the labels go back.

// Provisional reports whether the claim was made for a bundle of which it is not yet known that
// its worker has all of it.
func (c Claim) Provisional() bool { return c.Record.Bundle != "" && c.Record.Heartbeat == 0 }

// brief reports whether the claim lives no longer than Terms.Bundle. A lease store gives a
// provisional claim the full ttl: not every kind can lengthen a lease.
func (c Claim) brief() bool { return c.Provisional() && c.Record.Lease == "" }

// Undone reports whether the claim was made for a bundle and released before any work: the issue
// is as if nobody had ever claimed it.
func (c Claim) Undone() bool {
	return c.End != nil && (c.Provisional() || c.End.Outcome == OutcomeBundleRolledBack)
}

// Lasting is the state without the claims that are Undone and without those of people: what
// lifecycle labels are drawn from. A person's hold has a label of its own, and the issue is where
// it was when the person lets go. Used and Dead still know them, for their keys are dead.
func (s State) Lasting() State {
	undone := map[Worker]bool{}
	for _, c := range s.Claims {
		if c.Undone() || c.Person != "" {
			undone[c.Record.Worker] = true
		}
	}

	for _, e := range s.Log {
		if e.Record.Kind != KindRelease || e.Record.Outcome != OutcomeBundleRolledBack {
			continue
		}
		if _, claimed := s.Find(e.Record.Worker); !claimed {
			undone[e.Record.Worker] = true // its claim never showed up
		}
	}

	if len(undone) == 0 {
		return s
	}
	out := s
	out.Claims = slices.DeleteFunc(slices.Clone(s.Claims), func(c Claim) bool { return undone[c.Record.Worker] })
	out.Log = slices.DeleteFunc(slices.Clone(s.Log), func(e Entry) bool {
		r := e.Record
		if !undone[r.Worker] || r.Kind != KindReset {
			return undone[r.Worker]
		}
		of, _ := s.Find(r.Worker)
		return of.Person != "" && !r.Restart // it ends that person's wait, and no more
	})
	out.Records, out.Last = len(out.Log), Entry{}.Created

	for _, e := range out.Log {
		out.Last = Latest(out.Last, e.Created)
	}

	return out
}
