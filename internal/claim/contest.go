package claim

import "slices"

// A Place says where a snapshot puts the bid of a process among all others (spec-writing.md#claim).
type Place int

// The places of a bid, the worst first.
const (
	PlaceUnseen  Place = iota // the snapshot does not show it
	PlaceOver                 // a record has ended it, or its key
	PlaceShared               // another process of the same key has the claim
	PlaceBeaten               // a claim of another key is before it
	PlaceWaiting              // one that is not confirmed yet is before it, and may still leave
	PlaceFirst
)

// String returns unseen, over, shared, beaten, waiting or first.
func (p Place) String() string {
	return [...]string{"unseen", "over", "shared", "beaten", "waiting", "first"}[p]
}

// A Contest is what a snapshot decides about one bid.
type Contest struct {
	Place Place
	Rival Claim // whom it is shared with, beaten by or waiting for, as that process made it
	Last  Rank  // of the rival's comments: by none that shows does it stand behind this
}

// Contest places the bid of w with that nonce: by R1 while the snapshot shows it as not confirmed,
// by R2 after that. bound is the rank by which the process counts, that of the one comment it goes
// by; zero is the bid's own (spec-writing.md#claim).
func (s State) Contest(w Worker, nonce string, bound Rank) Contest {
	if s.Over(w, nonce) {
		return Contest{Place: PlaceOver}
	}
	c, _ := s.Find(w)
	seen := c.bid(nonce)
	if seen == nil {
		return Contest{}
	}

	own := *seen
	if bound != (Rank{}) {
		own.Rank = bound
	}

	best := Contest{Place: PlaceFirst}
	for _, r := range s.rivals(w, nonce) {
		if place := own.against(r.bid, r.claim.Record.Worker == w); place < best.Place {
			best = Contest{Place: place, Rival: r.claim, Last: r.bid.last()}
		}
	}

	return best
}

// against is the place that one rival leaves to the bid; sibling says that the two have one key.
func (b Bid) against(rival Bid, sibling bool) Place {
	lost := PlaceBeaten
	if sibling {
		lost = PlaceShared
	}

	earlier := rival.Rank.Compare(b.Rank) < 0

	switch {
	case sibling && b.succeeds(rival):
		return PlaceFirst
	case !b.Held() && (earlier || rival.Held()):
		return lost
	case sibling && rival.replaces(b):
		return lost
	case earlier && rival.Held():
		return lost
	case earlier:
		return PlaceWaiting
	}

	return PlaceFirst
}

// last is the largest rank of the bid's comments.
func (b Bid) last() Rank {
	if len(b.Ranks) == 0 {
		return b.Rank
	}
	return slices.MaxFunc(b.Ranks, Rank.Compare)
}

// A rival is a live bid with the claim as its process made it.
type rival struct {
	claim Claim
	bid   Bid
}

// rivals are the live bids but that of w with the nonce, in rank order. What was written on behalf
// of another worker is one, too.
func (s State) rivals(w Worker, nonce string) []rival {
	var out []rival
	for _, c := range s.Live() {
		other := c.Record.Worker != w
		for _, b := range c.Standing() {
			if other || b.Nonce != nonce {
				out = append(out, rival{c.As(b.Nonce), b})
			}
		}

		if mirrored := len(c.behalf.Ranks) > 0 || len(c.Bids) == 0; mirrored && other {
			out = append(out, rival{c, Bid{Nonce: c.Record.Nonce, Record: c.Record, Rank: c.Rank}})
		}
	}

	slices.SortFunc(out, func(a, b rival) int { return a.bid.Rank.Compare(b.bid.Rank) })
	return out
}

// Unstored returns the first live bid that the log decided and no lease store, but for that of w
// with the nonce: a process that has won at the store leaves the issue to it.
func (s State) Unstored(w Worker, nonce string) (Contest, bool) {
	for _, r := range s.rivals(w, nonce) {
		if r.bid.Record.Lease != "" {
			continue
		}
		place := PlaceBeaten
		if r.claim.Record.Worker == w {
			place = PlaceShared
		}

		return Contest{Place: place, Rival: r.claim, Last: r.bid.last()}, true
	}

	return Contest{}, false
}
