package lifecycle_test

import (
	"slices"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestApprovers: with names only those answer a plan; without, everybody but who wants to approve
// the own one. A reaction counts of people, and of those names.
func TestApprovers(t *testing.T) {
	plan := claim.Claim{Author: "bot"}
	for _, c := range []struct {
		names  lifecycle.Approvers
		answer claim.Kind
		login  string
		person bool
		may    bool
		votes  bool
	}{
		{nil, claim.KindApprove, "ann", true, true, true},
		{nil, claim.KindApprove, "ann", false, true, false},
		{nil, claim.KindApprove, "Bot", true, false, false},
		{nil, claim.KindReject, "bot", true, true, true},
		{lifecycle.Approvers{"ann", "bot"}, claim.KindApprove, "Ann", true, true, true},
		{lifecycle.Approvers{"ann", "bot"}, claim.KindApprove, "bot", false, true, true},
		{lifecycle.Approvers{"ann"}, claim.KindReject, "bob", true, false, false},
	} {
		may, votes := c.names.Bars(plan, c.answer, c.login) == "", c.names.Votes(plan, c.answer, c.login, c.person)
		if may != c.may || votes != c.votes {
			t.Errorf("%+v: may answer: %t, votes: %t", c, may, votes)
		}
	}
}

// TestHeldNow: a hold is a person's own from its confirmation until it expires.
func TestHeldNow(t *testing.T) {
	for claim, want := range map[[2]string]bool{
		{"9:59"}: false, {"9:59", "state=held"}: true, {"9:00", "state=held ttl=30m"}: false,
	} {
		f := logged(t, nil, "1 "+claim[0]+" ann claim ann:1 nonce=n person=ann "+claim[1])
		if mine, held := lifecycle.DefaultRules().HeldNow(f, "Ann"); held != want || mine.Person != "ann" {
			t.Errorf("%q: %t, of %q", claim, held, mine.Person)
		}
	}
}

// TestUnassigns: a sweep takes off whose assignment has become idle, once people were told.
func TestUnassigns(t *testing.T) {
	told := `1 9:00 bot "<!-- label-state:idle ann@2026-05-01T08:00:00Z -->"`
	for name, c := range map[string]struct {
		want   []string
		change func(*lifecycle.Facts, *lifecycle.Rules)
	}{
		"idle, and told":      {[]string{"ann"}, func(*lifecycle.Facts, *lifecycle.Rules) {}},
		"not told":            {nil, func(f *lifecycle.Facts, _ *lifecycle.Rules) { f.Log = claim.State{} }},
		"not idle yet":        {nil, func(f *lifecycle.Facts, r *lifecycle.Rules) { r.AssigneeTTL = 3 * time.Hour }},
		"nobody wants it":     {nil, func(_ *lifecycle.Facts, r *lifecycle.Rules) { r.Unassign = false }},
		"something is unread": {nil, func(f *lifecycle.Facts, _ *lifecycle.Rules) { f.Missing = []string{"its blockers"} }},
		"closed":              {nil, func(f *lifecycle.Facts, _ *lifecycle.Rules) { f.Open = false }},
		"a pull request's":    {nil, func(f *lifecycle.Facts, _ *lifecycle.Rules) { f.PullRequest = true }},
	} {
		f, r := logged(t, nil, told), lifecycle.DefaultRules()
		r.Unassign, r.AssigneeTTL = true, time.Hour
		f.Assignees = []string{"ann"}
		f.Assigned("Ann", time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC))
		if c.change(&f, &r); !slices.Equal(r.Unassigns(f), c.want) {
			t.Errorf("%s: %q", name, r.Unassigns(f))
		}
	}
}

// TestLabelled: of the labels whose age tells something the last time counts, and of the queue's
// the first; in any case, and always in UTC.
func TestLabelled(t *testing.T) {
	s := labels.Agent()
	early := time.Date(2026, 5, 1, 8, 0, 0, 0, time.FixedZone("", 3600))
	late := early.Add(time.Hour)
	var f lifecycle.Facts
	for _, at := range []time.Time{late, early, late} {
		for _, name := range []string{"AGENT:implement", s.Claimed, s.Blocked, s.Hold, "bug"} {
			f.Labelled(s, name, at, "ann")
		}
	}

	want := lifecycle.Facts{
		ReadyAt:   early.UTC(),
		ClaimedAt: late.UTC(),
		BlockedAt: late.UTC(),
		HoldAt:    late.UTC(),
		HoldBy:    "ann",
	}
	if f.ReadyAt != want.ReadyAt || f.ClaimedAt != want.ClaimedAt || f.BlockedAt != want.BlockedAt ||
		f.HoldAt != want.HoldAt || f.HoldBy != want.HoldBy {
		t.Errorf("%+v", f)
	}
}
