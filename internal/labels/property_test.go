package labels_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/labels"
)

// others are names a lifecycle label could be mistaken for.
var others = []string{
	"bug", "do-not-pickup", "needs:human-scope", "agent:blocked", "agent:implemented", "implement",
	"agent:", "",
}

func anyLabels(s labels.Scheme) *rapid.Generator[[]string] {
	name := rapid.Custom(func(t *rapid.T) string {
		n := rapid.SampledFrom(append(s.Lifecycle(), others...)).Draw(t, "name")
		if rapid.Bool().Draw(t, "shouted") {
			return strings.ToUpper(n)
		}
		return n
	})

	return rapid.SliceOfNDistinct(name, 0, 8, strings.ToLower)
}

// anyProjection draws what Projection allows: Set and Clear name no lifecycle label and share none.
func anyProjection() *rapid.Generator[labels.Projection] {
	return rapid.Custom(func(t *rapid.T) labels.Projection {
		further := rapid.SliceOfNDistinct(rapid.SampledFrom(others), 0, 4, strings.ToLower).Draw(t, "further")
		cut := rapid.IntRange(0, len(further)).Draw(t, "cut")
		return labels.Projection{
			Keep:  rapid.Bool().Draw(t, "keep"),
			State: rapid.SampledFrom(states).Draw(t, "state"),
			Set:   further[:cut],
			Clear: further[cut:],
		}
	})
}

// apply does what GitHub does with a change.
func apply(have []string, c labels.Change) []string {
	out := slices.Clone(have)
	for _, name := range c.Add {
		if !labels.Has(out, name) {
			out = append(out, name)
		}
	}

	return slices.DeleteFunc(out, func(h string) bool { return labels.Has(c.Remove, h) })
}

func TestChangeReachesTheProjectionAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom([]labels.Scheme{labels.Agent(), labels.Ready()}).Draw(t, "scheme")
		have, want := anyLabels(s).Draw(t, "have"), anyProjection().Draw(t, "projection")
		now := apply(have, s.Change(have, want))
		if again := s.Change(now, want); !again.Empty() {
			t.Fatalf("%q: %+v leads to %q, which still wants %+v", have, want, now, again)
		}

		shown := s.Of(now)
		switch {
		case want.Keep && !slices.Equal(shown, s.Of(have)):
			t.Fatalf("kept %v, shows %v", s.Of(have), shown)
		case !want.Keep && want.State == labels.None && len(shown) > 0,
			!want.Keep && want.State != labels.None && !slices.Equal(shown, []labels.State{want.State}):
			t.Fatalf("shows %v, want %s", shown, want.State)
		}
	})
}

func TestChangeTouchesNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := labels.Agent()
		have, want := anyLabels(s).Draw(t, "have"), anyProjection().Draw(t, "projection")
		c := s.Change(have, want)
		for _, name := range c.Remove {
			_, lifecycle := s.Parse(name)
			if !slices.Contains(have, name) || !labels.Has(want.Clear, name) && (!lifecycle || want.Keep) {
				t.Fatalf("removes %q from %q for %+v", name, have, want)
			}
		}

		for _, name := range c.Add {
			st, lifecycle := s.Parse(name)
			if labels.Has(have, name) || !labels.Has(want.Set, name) && (!lifecycle || want.Keep || st != want.State) {
				t.Fatalf("adds %q to %q for %+v", name, have, want)
			}
		}

		if !slices.Equal(slices.Compact(slices.Sorted(slices.Values(c.Remove))),
			slices.Sorted(slices.Values(c.Remove))) {
			t.Fatalf("removes a label twice: %q", c.Remove)
		}
	})
}
