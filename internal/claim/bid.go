package claim

import (
	"slices"
	"time"
)

// A Bid is what one process wrote to claim an issue: the claim comments of one key with one nonce.
// Each process of a run has its own, and at most one of them has the claim (spec.md#bids).
type Bid struct {
	Nonce   string // empty of an original writer's, which is confirmed from the start
	Record  Record // of its first comment; Held, Heartbeat and Token are the largest of all its comments
	Rank    Rank   // of its first comment
	Ranks   []Rank // of all its comments
	Comment int64  // its first
	URL     string
	Person  string    // login of the person whose hold it is; empty for an agent's run
	Updated time.Time // newest of its comments: its last heartbeat
	Ended   bool      // a release that names its nonce has ended it
}

// Held reports whether the bid is confirmed.
func (b Bid) Held() bool { return b.Record.Held || b.Nonce == "" }

// add takes in one more comment of the bid.
func (b *Bid) add(e Entry) {
	if len(b.Ranks) == 0 {
		*b = Bid{
			Nonce:   e.Record.Nonce,
			Record:  e.Record,
			Rank:    e.Rank(),
			Comment: e.ID,
			URL:     e.URL,
			Person:  personOf(e),
		}
	}

	b.Ranks = append(b.Ranks, e.Rank())
	b.Record.confirm(e.Record)
	b.Updated = Latest(b.Updated, e.Updated)
}

// confirm takes in what a further comment says about the hold.
func (r *Record) confirm(o Record) {
	r.Held = r.Held || o.Held
	r.Heartbeat = max(r.Heartbeat, o.Heartbeat)
	r.Token = max(r.Token, o.Token)
}

// replaces reports whether the bid has taken over from o. A confirmed bid that resumes the claim
// takes over from every bid before it, but not from one that resumes the same: of two such bids the
// first has the claim.
func (b Bid) replaces(o Bid) bool {
	return b.Held() && b.succeeds(o)
}

// succeeds reports whether the bid will take over from o once it is confirmed.
func (b Bid) succeeds(o Bid) bool {
	return b.Record.Resumes != "" && o.Rank.Compare(b.Rank) < 0 && o.Record.Resumes != b.Record.Resumes
}

// bid returns the claim's bid with that nonce, nil when it has none.
func (c *Claim) bid(nonce string) *Bid {
	if i := slices.IndexFunc(c.Bids, func(b Bid) bool { return b.Nonce == nonce }); i >= 0 {
		return &c.Bids[i]
	}
	return nil
}

// Standing returns the bids that no release has ended, in rank order.
func (c Claim) Standing() []Bid {
	return slices.DeleteFunc(slices.Clone(c.Bids), func(b Bid) bool { return b.Ended })
}

// As returns the claim as its process with that nonce made it: the place and the fields of its own
// bid.
func (c Claim) As(nonce string) Claim {
	if b := c.bid(nonce); b != nil {
		c.Bids = []Bid{*b}
		c.settle()
	}
	return c
}

// Renewed returns the claim after the process that has it has edited its comment into r at that
// moment.
func (c Claim) Renewed(r Record, at time.Time) Claim {
	c.Bids = slices.Clone(c.Bids)
	if b := c.bid(r.Nonce); b != nil {
		b.Record, b.Updated = r, at
	}
	c.Record, c.Updated = r, at
	return c
}

// settle makes the claim say what its bids say. Its place is that of the first confirmed bid that
// stands, else of the first; its fields are those of the bid that has it: the first confirmed one
// that none has taken over from. If all have ended, it is as if none had. What was written on
// behalf of the worker counts for the claim, whichever bid has it.
func (c *Claim) settle() {
	stand := c.Standing()
	if len(stand) == 0 {
		stand = c.Bids
	}

	behalf := c.behalf
	c.Record, c.Rank, c.Created = behalf.Record, behalf.Rank, behalf.Rank.Created
	c.URL, c.Updated = behalf.URL, behalf.Updated
	c.Legacy = c.behalfLegacy
	if len(stand) == 0 {
		return
	}

	first := stand[max(0, slices.IndexFunc(stand, Bid.Held))]
	has := first
	for _, b := range stand {
		taken := slices.ContainsFunc(stand, func(o Bid) bool { return o.replaces(b) })
		if b.Held() && !taken {
			has = b
			break
		}
	}

	c.Record, c.Comment, c.URL, c.Person, c.Created = has.Record, has.Comment, has.URL, has.Person, has.Rank.Created
	c.Legacy = c.Legacy || has.Nonce == ""
	c.Record.Assignee = c.assignee
	if len(behalf.Ranks) == 0 {
		c.Rank = first.Rank
	} else {
		c.Record.confirm(behalf.Record)
		if first.Rank.Compare(c.Rank) < 0 {
			c.Rank = first.Rank
		}

		if has.Rank == first.Rank {
			c.Created = c.Rank.Created
		}
	}

	for _, b := range stand {
		c.Record.Heartbeat = max(c.Record.Heartbeat, b.Record.Heartbeat)
		c.Updated = Latest(c.Updated, b.Updated)
	}
}
