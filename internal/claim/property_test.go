package claim_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/claim"
)

// readBack is what a record that was written reads as: whole seconds, UTC, no empty slice.
func readBack(r claim.Record) claim.Record {
	second := func(t time.Time) time.Time {
		if t.IsZero() {
			return time.Time{}
		}
		return t.UTC().Truncate(time.Second)
	}

	r.At, r.NotBefore = second(r.At), second(r.NotBefore)
	if r.TTL > 0 {
		r.TTL = r.TTL.Truncate(time.Second)
	}

	if len(r.Extra) == 0 {
		r.Extra = nil
	}

	return r
}

func TestEncodeRefusesOrReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkRoundTrip(t, anyRecord().Draw(t, "record")) })
}

func checkRoundTrip(t interface{ Fatalf(string, ...any) }, r claim.Record) (written bool) {
	text, err := claim.Encode(r)
	if err != nil {
		if !errors.Is(err, claim.ErrUnwritable) {
			t.Fatalf("Encode(%+v): %v, want ErrUnwritable", r, err)
		}
		return false
	}

	if strings.ContainsAny(text, "\n\r") || strings.Count(text, "-->") != 1 || !strings.HasSuffix(text, " -->") {
		t.Fatalf("Encode(%+v) = %q, want one line that ends the comment once", r, text)
	}
	back, ok, err := claim.Decode(text + "\nwork goes on -->")
	if err != nil || !ok || !reflect.DeepEqual(back, readBack(r)) {
		t.Fatalf("Decode(%q)\n got %+v, %v, %v\nwant %+v", text, back, ok, err, readBack(r))
	}

	return true
}

func TestEncodeWritesEveryOrdinaryRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := writableRecord().Draw(t, "record")
		if _, err := claim.Encode(r); err != nil && short(r) {
			t.Fatalf("Encode(%+v): %v", r, err)
		}
	})
}

// short reports a record that fits even if every byte of it is escaped.
func short(r claim.Record) bool {
	return len(r.Nonce)+len(r.Branch)+len(r.Outcome)+len(r.PR)+len(r.By)+len(r.Reason) < 1000 &&
		r.NotBefore.Year() < 9999 && r.NotBefore.Year() > 0
}

func TestReplayDoesNotDependOnTheOrderGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m logMaker
		log := m.log(t)
		want := claim.Replay(log)
		repeated := append(slices.Clone(log), log[:rapid.IntRange(0, len(log)).Draw(t, "repeated")]...)
		if got := claim.Replay(shuffled(t, repeated)); !reflect.DeepEqual(got, want) {
			t.Fatalf("shuffled with repetitions:\n got %+v\nwant %+v", got, want)
		}
	})
}

// TestReplayIgnoresOldVersions: of a comment that was edited between two pages, the newer version
// counts.
func TestReplayIgnoresOldVersions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m logMaker
		log := m.log(t)
		both := slices.Clone(log)
		for _, c := range log {
			c.Updated = c.Updated.Add(-time.Hour)
			c.Body = body().Draw(t, "older body")
			both = append(both, c)
		}

		if got, want := claim.Replay(shuffled(t, both)), claim.Replay(log); !reflect.DeepEqual(got, want) {
			t.Fatalf("with older versions:\n got %+v\nwant %+v", got, want)
		}
	})
}

func TestReplayIgnoresTalkAndUnknownRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m logMaker
		log := m.log(t)
		more := slices.Clone(log)
		for range rapid.IntRange(1, 8).Draw(t, "talk") {
			c := m.comment(t, 0)
			c.Body = rapid.SampledFrom(talk).Draw(t, "what")
			more = append(more, c)
		}

		got, want := claim.Replay(shuffled(t, more)), claim.Replay(log)
		got.Ignored, want.Ignored, got.Talk, want.Talk = nil, nil, nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("with talk in between:\n got %+v\nwant %+v", got, want)
		}
	})
}

// TestReplayOfReleasesDoesNotDependOnTheirRank: wherever a release stands, its key is dead.
func TestReplayOfReleasesDoesNotDependOnTheirRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m logMaker
		log := slices.DeleteFunc(m.log(t), func(c claim.Comment) bool {
			r, _, _ := claim.Decode(c.Body)
			// where others claim for a worker, the place of a release tells whose it is
			return r.Kind != claim.KindClaim && r.Kind != claim.KindRelease || r.Lease != ""
		})
		moved := slices.Clone(log)
		for i, c := range moved {
			if r, _, _ := claim.Decode(c.Body); r.Kind == claim.KindRelease {
				at := moment(rapid.IntRange(-30, 60).Draw(t, "moved to"))
				moved[i].ID, moved[i].Created, moved[i].Updated = 1000-c.ID, at, at
			}
		}

		got, want := claim.Replay(moved), claim.Replay(log)
		if !slices.Equal(liveKeys(got), liveKeys(want)) || got.Index() != want.Index() {
			t.Fatalf("live %v, index %d; with releases moved live %v, index %d", liveKeys(want), want.Index(),
				liveKeys(got), got.Index())
		}
	})
}

func liveKeys(s claim.State) []string {
	var out []string
	for _, c := range s.Live() {
		out = append(out, c.Record.Worker.String())
	}
	return out
}

// TestReplayOnlyEverMovesForward: appending comments never brings back to life what has ended, a
// key or the bid of one process, and never makes the fencing index smaller.
func TestReplayOnlyEverMovesForward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m logMaker
		log := m.log(t)
		before := claim.Replay(log)
		for range rapid.IntRange(1, 8).Draw(t, "appended") {
			log = append(log, m.comment(t, 30))
		}

		checkForward(t, before, claim.Replay(log))
	})
}

func checkForward(t interface{ Fatalf(string, ...any) }, before, after claim.State) {
	if after.Index() < before.Index() {
		t.Fatalf("index fell from %d to %d", before.Index(), after.Index())
	}

	for _, c := range before.Claims {
		w := c.Record.Worker
		for _, nonce := range []string{"of no bid", "n", "m", "o", "p", ""} {
			own, seen := after.Bid(w, nonce)
			resumes := seen && own.Record.Resumes != "" // a release with a token does not end it
			if before.Over(w, nonce) && !after.Over(w, nonce) && !resumes {
				t.Fatalf("the bid %q of %s was over and lives again", nonce, w)
			}
		}

		if !after.Used(w) {
			t.Fatalf("%s was used and is free again", w)
		}
	}
}

// TestReplayAgainstTheDefinition compares with spec.md#fold written down as sets.
func TestReplayAgainstTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m logMaker
		log := m.log(t)
		got := claim.Replay(log)
		index, live := definition(log)
		if got.Index() != index {
			t.Fatalf("index %d, want %d", got.Index(), index)
		}

		keys := liveKeys(got)
		slices.Sort(keys)
		if !slices.Equal(keys, live) {
			t.Fatalf("live %v, want %v", keys, live)
		}

		checkHolder(t, got)
	})
}

func checkHolder(t interface{ Fatalf(string, ...any) }, s claim.State) {
	h, ok := s.Holder()
	if ok != (len(s.Live()) > 0) {
		t.Fatalf("holder %v with %d live claims", ok, len(s.Live()))
	}

	for _, c := range s.Live() {
		better := c.Held() && !h.Held() || c.Held() == h.Held() && c.Rank.Compare(h.Rank) < 0
		if better {
			t.Fatalf("holder %s, but %s comes before it", h.Record.Worker, c.Record.Worker)
		}
	}
}

// definition is section 2 for claims, releases and answered plans, without any of the real code.
func definition(log []claim.Comment) (index int64, live []string) {
	ordered := slices.Clone(log)
	slices.SortFunc(ordered, func(a, b claim.Comment) int {
		if d := a.Created.Compare(b.Created); d != 0 {
			return d
		}
		return int(a.ID - b.ID)
	})

	type bid struct {
		resumes string
		token   int64
		ended   bool
	}
	author, signed, bids := map[string]string{}, map[string]int{}, map[string]map[string]*bid{}
	claimed, held, released, dead := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	tomb, plan := map[string]bool{}, map[string]bool{}
	each := func(visit func(i int, r claim.Record, key, who string)) {
		for i, c := range ordered {
			who := strings.ToLower(c.Author)
			if r, ok, _ := claim.Decode(c.Body); ok && c.Trusted && (c.Editor == "" || c.Editor == who) {
				visit(i, r, r.Worker.String(), who)
			}
		}
	}

	each(func(i int, r claim.Record, key, who string) {
		if r.Kind != claim.KindClaim {
			return
		}
		onBehalf := r.Lease != "" && r.By != ""
		if author[key] == "" && !onBehalf {
			author[key], bids[key] = who, map[string]*bid{}
			if claimed[key] {
				signed[key] = i
			}
		}

		claimed[key] = true
		if !onBehalf && author[key] != who {
			return
		}

		if r.Held || r.Nonce == "" {
			held[key] = true
		}

		if onBehalf {
			return
		}

		if bids[key][r.Nonce] == nil {
			bids[key][r.Nonce] = &bid{resumes: r.Resumes}
		}
		b := bids[key][r.Nonce]
		b.token = max(b.token, r.Token)
	})

	end := func(r claim.Record, key string) {
		released[key], dead[key] = true, true
		for nonce, b := range bids[key] {
			switch {
			case r.Nonce != "":
				b.ended = b.ended || nonce == r.Nonce
			case r.Token == 0 || b.resumes == "" || b.token != 0 && b.token <= r.Token:
				b.ended = true
			}

			dead[key] = dead[key] && b.ended
		}
	}

	each(func(i int, r claim.Record, key, who string) {
		switch {
		case r.Kind == claim.KindRelease && !claimed[key]:
			tomb[key] = true
		case r.Kind == claim.KindRelease && (author[key] == who || author[key] == "" || i < signed[key] || r.By != ""):
			end(r, key)
		case r.Kind == claim.KindPlan && author[key] == who && held[key] && !dead[key]:
			plan[key] = true
		case r.Kind == claim.KindApprove && r.By != "" && !dead[key]:
			plan[key] = false
		case r.Kind == claim.KindReject && r.By != "" && plan[key] && !dead[key]:
			end(claim.Record{}, key)
		}
	})

	for key := range claimed {
		if !dead[key] {
			live = append(live, key)
		}
	}

	slices.Sort(live)
	return int64(len(claimed) + len(held) + len(released) + len(tomb)), live
}

// TestLeaseEnds: who may be swept must have stopped before, and stays so.
func TestLeaseEnds(t *testing.T) {
	terms := claim.DefaultTerms()
	rapid.Check(t, func(t *rapid.T) {
		var m logMaker
		now := moment(rapid.IntRange(0, 30*3600).Draw(t, "now"))
		for _, c := range claim.Replay(m.log(t)).Claims {
			end, limited := c.Until(terms)
			switch {
			case c.Expired(terms, now) && !c.Overdue(terms, now):
				t.Fatalf("%+v expired and not overdue", c)
			case limited && c.Overdue(terms, end):
				t.Fatalf("%+v does not stand exactly at its end", c)
			case limited && c.Live() && !c.Expired(terms, end.Add(terms.Grace)):
				t.Fatalf("%+v has not expired after its grace", c)
			case !limited && (c.Expired(terms, now) || c.Overdue(terms, now)):
				t.Fatalf("%+v ends though nothing limits it", c)
			}
		}
	})
}

// TestReplayReadsEveryComment: a live claim far back in a long talk still blocks.
func TestReplayReadsEveryComment(t *testing.T) {
	log := []claim.Comment{{
		ID:      1,
		Created: moment(0),
		Updated: moment(0),
		Author:  "ann",
		Trusted: true,
		Body:    "<!-- agent-claim:codename=a firing_id=1 -->",
	}}

	for i := range 5000 {
		log = append(log, claim.Comment{
			ID:      int64(i + 2),
			Created: moment(i),
			Updated: moment(i),
			Author:  "eve",
			Body:    "bump",
		})
	}

	if h, ok := claim.Replay(log).Holder(); !ok || h.Record.Worker != (claim.Worker{Codename: "a", FiringID: "1"}) {
		t.Errorf("Holder() = %v, %v, want the first comment's", h.Record.Worker, ok)
	}
}
