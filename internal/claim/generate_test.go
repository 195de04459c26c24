package claim_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/claim"
)

// anyText draws valid and invalid UTF-8.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
}

func anyTime() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "absent") {
			return time.Time{}
		}
		return time.Unix(rapid.Int64Range(-1<<33, 1<<38).Draw(t, "unix"), rapid.Int64Range(0, 999999999).Draw(t, "ns"))
	})
}

func anyRecord() *rapid.Generator[claim.Record] {
	return rapid.Custom(func(t *rapid.T) claim.Record {
		return claim.Record{
			Kind: rapid.SampledFrom(append(claim.Kinds(), "", "note", "claim:codename=x", "claim -->")).Draw(t,
				"kind"),
			Worker:    claim.Worker{Codename: anyText().Draw(t, "codename"), FiringID: anyText().Draw(t, "firing id")},
			Nonce:     anyText().Draw(t, "nonce"),
			Resumes:   anyText().Draw(t, "resumes"),
			TTL:       time.Duration(rapid.Int64().Draw(t, "ttl")),
			Held:      rapid.Bool().Draw(t, "held"),
			Heartbeat: rapid.Int64().Draw(t, "hb"),
			Token:     rapid.Int64().Draw(t, "token"),
			Lease:     anyText().Draw(t, "lease"),
			Attempt:   rapid.Int().Draw(t, "attempt"),
			Branch:    anyText().Draw(t, "branch"),
			Bundle:    anyText().Draw(t, "bundle"),
			Was:       anyText().Draw(t, "was"),
			Person:    anyText().Draw(t, "person"),
			Assignee:  anyText().Draw(t, "assignee"),
			Forced:    anyText().Draw(t, "forced"),
			Outcome:   anyText().Draw(t, "outcome"),
			PR:        anyText().Draw(t, "pr"),
			By:        anyText().Draw(t, "by"),
			Reason:    anyText().Draw(t, "reason"),
			NotBefore: anyTime().Draw(t, "not before"),
			At:        anyTime().Draw(t, "at"),
			Extra:     rapid.SliceOfN(anyField(), 0, 3).Draw(t, "extra"),
		}
	})
}

func anyField() *rapid.Generator[claim.Field] {
	return rapid.Custom(func(t *rapid.T) claim.Field {
		key := rapid.OneOf(rapid.StringMatching(`[a-z_]{1,6}`),
			rapid.SampledFrom([]string{"codename", "state", "pr_url", "ttl", "", "a b", "X"}))
		return claim.Field{Key: key.Draw(t, "key"), Value: anyText().Draw(t, "value")}
	})
}

// writableRecord draws records that Encode has no reason to refuse.
func writableRecord() *rapid.Generator[claim.Record] {
	return rapid.Custom(func(t *rapid.T) claim.Record {
		r := anyRecord().Draw(t, "record")
		name := rapid.StringN(1, 30, 256)
		r.Kind = rapid.SampledFrom(claim.Kinds()).Draw(t, "kind of ours")
		r.Worker = claim.Worker{Codename: name.Draw(t, "name"), FiringID: name.Draw(t, "run")}
		r.TTL = time.Duration(rapid.Int64Range(0, 1<<30).Draw(t, "seconds")) * time.Second
		r.Heartbeat, r.Token, r.Attempt = r.Heartbeat>>33&0x7fffffff, r.Token>>33&0x7fffffff, r.Attempt>>33&0x7fffffff
		r.At = time.Date(2026, 5, 1, 0, 0, rapid.IntRange(0, 1<<30).Draw(t, "s"), 5, time.FixedZone("", 7200))
		r.Extra = nil

		return r
	})
}

// A logMaker draws logs of few workers and logins within few seconds, so that everything collides.
type logMaker struct{ nextID int64 }

func (m *logMaker) comment(t *rapid.T, from int) claim.Comment {
	m.nextID += int64(rapid.IntRange(1, 3).Draw(t, "id step"))
	second := rapid.IntRange(from, from+20).Draw(t, "created")
	author := rapid.SampledFrom([]string{"ann", "Ann", "bob"}).Draw(t, "author")
	c := claim.Comment{
		ID:      m.nextID,
		Created: moment(second),
		Updated: moment(second + rapid.IntRange(0, 5).Draw(t, "edited after")),
		Author:  author,
		Trusted: rapid.IntRange(0, 9).Draw(t, "trust") > 0,
		Body:    body().Draw(t, "body"),
	}

	if rapid.IntRange(0, 9).Draw(t, "edited") == 0 {
		c.Editor = rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "editor")
	}

	return c
}

func moment(second int) time.Time {
	return time.Date(2026, 5, 1, 0, 0, second, 0, time.UTC)
}

func body() *rapid.Generator[string] {
	key := rapid.Map(rapid.SampledFrom([]string{"a 1", "a 2", "b 1", "c 9"}), func(s string) string {
		codename, firing, _ := strings.Cut(s, " ")
		return "codename=" + codename + " firing_id=" + firing
	})

	claims := rapid.SampledFrom([]string{
		"nonce=n ttl=5", "nonce=n ttl=5 state=held hb=1", "", "nonce=n state=held ttl=none",
		"nonce=n state=held lease=refs", "nonce=n state=held lease=refs by=sweep",
		"nonce=m ttl=9", "nonce=m ttl=9 state=held token=2", "nonce=o resumes=n",
		"nonce=o resumes=n state=held token=3", "nonce=p resumes=m state=held token=4",
	})

	ends := rapid.SampledFrom([]string{
		"outcome=success", "outcome=success pr=https://x/o/r/pull/9", "outcome=failure", "outcome=stale-swept by=sweep",
		"outcome=forced by=ann", "",
		"nonce=n outcome=abandoned", "nonce=m outcome=abandoned", "nonce=o outcome=abandoned",
		"token=2 outcome=success",
	})
	unlinks := rapid.SampledFrom([]string{"by=ann pr=https://x/o/r/pull/9", "pr=https://x/o/r/pull/9", "by=ann"})
	others := rapid.SampledFrom([]string{"by=ann", "by=bob", ""})

	return rapid.Custom(func(t *rapid.T) string {
		kind := rapid.SampledFrom(append(claim.Kinds(), claim.KindClaim, claim.KindClaim, claim.KindRelease, "talk",
			"note")).Draw(t, "kind")
		fields := others
		switch kind {
		case "talk":
			return rapid.SampledFrom(talk).Draw(t, "talk")
		case claim.KindClaim:
			fields = claims
		case claim.KindRelease:
			fields = ends
		case claim.KindUnlink:
			fields = unlinks
		}

		return fmt.Sprintf("<!-- agent-%s:%s %s -->", kind, key.Draw(t, "key"), fields.Draw(t, "fields"))
	})
}

// talk is what other people and unknown software write between the records.
var talk = []string{
	"hello", "", "> <!-- agent-release:codename=a firing_id=1 by=ann -->", "<!-- agent-note:codename=a firing_id=1 -->",
	"<!-- agent-claim:codename=a -->", "<!-- agent-claim:codename=a firing_id=1",
	"```\n<!-- agent-claim:codename=b firing_id=1 -->\n```",
}

func (m *logMaker) log(t *rapid.T) []claim.Comment {
	var out []claim.Comment
	for range rapid.IntRange(0, 14).Draw(t, "length") {
		out = append(out, m.comment(t, 0))
	}
	return out
}

func shuffled(t *rapid.T, in []claim.Comment) []claim.Comment {
	out := slices.Clone(in)
	r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "shuffle")))
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
