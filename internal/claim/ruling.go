package claim

import (
	"slices"
	"time"
)

// A Ruling is what a strict lease store says about an issue: who holds it, whatever the log says
// (PROTOCOL section 8). The zero Ruling says nobody does.
type Ruling struct {
	Worker Worker
	Token  int64
	TTL    time.Duration
	Until  time.Time // by the store's clock; zero when it does not tell
}

// Ruled is the state as the store decides it; the log is only its mirror. The worker it names
// holds the issue, also when its record is missing or ended; every other live claim is overruled.
func (s State) Ruled(r Ruling) State {
	out := s
	out.Claims = slices.Clone(s.Claims)
	found := false
	for i := range out.Claims {
		c := &out.Claims[i]
		c.ruled(r)
		found = found || c.Record.Worker == r.Worker
	}
	if !found && !r.Worker.IsZero() {
		c := Claim{Record: Record{Kind: KindClaim, Worker: r.Worker}}
		c.ruled(r)
		out.Claims = append(out.Claims, c)
	}
	return out
}

func (c *Claim) ruled(r Ruling) {
	if c.Record.Worker != r.Worker {
		c.Overruled = c.End == nil
		return
	}
	c.End, c.Overruled, c.Stored, c.until = nil, false, true, r.Until
	c.Record.Held, c.Record.Token, c.Record.TTL = true, r.Token, r.TTL
}

// Overruled returns the claims that the log shows as live and the store has given away or let
// run out: their ends are still to be recorded.
func (s State) Overruled() []Claim {
	return slices.DeleteFunc(slices.Clone(s.Claims), func(c Claim) bool { return !c.Overruled })
}
