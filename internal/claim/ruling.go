package claim

import (
	"slices"
	"time"
)

// A Ruling is what a strict lease store says about an issue: who holds it, whatever the log says
// (stores.md#lease-stores). The zero Ruling says nobody does.
type Ruling struct {
	Worker Worker
	Nonce  string // of its process that has the lease; empty when the store does not tell
	Token  int64
	TTL    time.Duration
	Until  time.Time // by the store's clock; zero when it does not tell
}

// Ruled is the state as the store decides it; the log is only its mirror. The worker it names holds
// the issue, also when its record is missing or ended; every other live claim that a store had
// decided is overruled. A claim that the log decided stands by the rules of the log: it is from
// before the store was chosen, or of somebody who has not heard of it.
func (s State) Ruled(r Ruling) State {
	out := s
	out.Claims = slices.Clone(s.Claims)
	if _, shown := s.Find(r.Worker); !shown && !r.Worker.IsZero() {
		out.Claims = append(out.Claims, Claim{Record: Record{Kind: KindClaim, Worker: r.Worker, Nonce: r.Nonce}})
	}

	for i := range out.Claims {
		c := &out.Claims[i]
		if c.Record.Worker != r.Worker {
			c.Overruled = c.End == nil && c.Record.Lease != ""
			continue
		}

		if bids := c.Bids; c.bid(r.Nonce) != nil {
			*c = c.As(r.Nonce)
			c.Bids = bids
		} else if r.Nonce != "" { // what is there is of another process, or was written on behalf of this one
			c.Record.Nonce, c.Comment = r.Nonce, 0
		}

		c.End, c.Overruled, c.Stored, c.until = nil, false, true, r.Until
		c.Record.Held, c.Record.Token, c.Record.TTL = true, r.Token, r.TTL
	}

	return out
}

// ByToken is the state as far as the log alone can tell what a lease store decided: of the live
// claims that a store confirmed the one with the largest fencing token stands and overrules the
// others. It is for readers that cannot ask the store. They are late by as much as the mirror is.
func (s State) ByToken() State {
	largest := int64(0)
	for _, c := range s.Live() {
		if c.Record.Lease != "" {
			largest = max(largest, c.Record.Token)
		}
	}

	out := s
	out.Claims = slices.Clone(s.Claims)
	for i := range out.Claims {
		c := &out.Claims[i]
		c.Overruled = c.Overruled || c.End == nil && c.Record.Lease != "" && c.Record.Token < largest
	}

	return out
}

// Overruled returns the claims that the log shows as live and the store has given away or let
// run out: their ends are still to be recorded.
func (s State) Overruled() []Claim {
	return slices.DeleteFunc(slices.Clone(s.Claims), func(c Claim) bool { return !c.Overruled })
}
