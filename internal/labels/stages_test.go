package labels_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/labels"
)

func staged() labels.Scheme {
	return labels.Agent().Pipeline([]labels.Stage{
		{Name: "ready", Label: "stage:ready"},
		{Name: "work", Label: "stage:work"},
		{Name: "review", Label: "stage:review"},
		{Name: "done", Label: "done"},
	})
}

func TestPipeline(t *testing.T) {
	s := staged()
	if got := s.Queues(); !slices.Equal(got, []string{"stage:ready", "stage:work", "stage:review"}) ||
		s.Done != "done" {
		t.Errorf("queues %v, done %s", got, s.Done)
	}

	if one := labels.Agent().Pipeline([]labels.Stage{{Name: "done", Label: "done"}}); one.Done != "agent:done" ||
		len(one.Stages) > 0 {
		t.Errorf("one stage is no pipeline: %+v", one)
	}

	two := labels.Agent().Pipeline(s.Stages[2:])
	if !slices.Equal(two.Queues(), []string{"stage:review"}) || two.At(0).Available != "stage:review" {
		t.Errorf("two stages are a pipeline: %+v", two)
	}

	for name, want := range map[string]int{"ready": 0, "done": 3, "gone": -1} {
		if n := s.Stage(name); n != want {
			t.Errorf("the stage %s is %d, want %d", name, n, want)
		}
	}

	for stage, want := range map[int]string{-1: "stage:ready", 0: "stage:ready", 2: "stage:review", 3: "stage:ready"} {
		if got := s.At(stage).Available; got != want {
			t.Errorf("the queue of stage %d is %s, want %s", stage, got, want)
		}
	}

	for _, c := range []struct {
		have  []string
		stage int
		state labels.State
		add   []string
		gone  []string
	}{
		{[]string{"stage:ready"}, 0, labels.Claimed, []string{"agent:in-flight"}, nil},
		{
			[]string{"Stage:Ready", "agent:in-flight"},
			1, labels.Available,
			[]string{"stage:work"},
			[]string{"Stage:Ready", "agent:in-flight"},
		},
		{
			[]string{"stage:ready", "stage:work", "bug"},
			1, labels.PlanPending,
			[]string{"agent:plan-pending-approval"},
			[]string{"stage:ready"},
		},
		{
			[]string{"stage:review", "agent:in-flight"},
			3, labels.Done,
			[]string{"done"},
			[]string{"stage:review", "agent:in-flight"},
		},
		{[]string{"stage:review"}, 2, labels.None, nil, []string{"stage:review"}},
		{[]string{"done"}, 3, labels.Claimed, []string{"agent:in-flight"}, []string{"done"}},
	} {
		got := s.Change(c.have, labels.Projection{State: c.state, Stage: c.stage})
		if !slices.Equal(got.Add, c.add) || !slices.Equal(got.Remove, c.gone) {
			t.Errorf("%v to %s in stage %d: %+v", c.have, c.state, c.stage, got)
		}
	}

	if got := s.Of([]string{"stage:ready", "stage:work"}); !slices.Equal(got, []labels.State{labels.Available}) {
		t.Errorf("states %v, want one for two queues", got)
	}

	if differs, found := (labels.Definition{Name: "a", Color: "111111"}).Among([]labels.Definition{
		{Name: "A", Color: "222222"},
	}); differs != "colour 222222, ours is 111111" || !found {
		t.Errorf("the first label has another colour: %q, %t", differs, found)
	}

	if n := s.StageOf([]string{"stage:ready", "STAGE:work"}); n != 1 {
		t.Errorf("stage of two labels: %d, want the furthest", n)
	}
}

// TestGateShowsOnce: the plan label is the state's own while a plan is pending.
func TestGateShowsOnce(t *testing.T) {
	s := staged()
	for state, want := range map[labels.State][]string{
		labels.PlanPending: {"stage:work", s.PlanPending},
		labels.Claimed:     {"stage:work", s.Claimed, s.PlanPending},
	} {
		if got := s.Shows(labels.Projection{State: state, Stage: 1, Gate: true}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
}

// TestPipelineSettles: whatever labels an issue has, one change leads to the projection, and a
// second is empty.
func TestPipelineSettles(t *testing.T) {
	s := staged()
	rapid.Check(t, func(t *rapid.T) {
		all := append(s.Lifecycle(), "bug")
		have := rapid.SliceOfDistinct(rapid.SampledFrom(all), func(l string) string { return l }).Draw(t, "have")
		p := labels.Projection{State: rapid.SampledFrom([]labels.State{
			labels.None, labels.Available, labels.Claimed,
			labels.PlanPending, labels.Done,
		}).Draw(t, "state"), Stage: rapid.IntRange(0, 3).Draw(t, "stage")}
		change := s.Change(have, p)
		after := slices.DeleteFunc(append(slices.Clone(have), change.Add...),
			func(l string) bool { return labels.Has(change.Remove, l) })
		if again := s.Change(after, p); !again.Empty() {
			t.Fatalf("%v became %v, which wants %+v", have, after, again)
		}

		shown, want := s.Shown(after), s.Shows(p)
		slices.Sort(shown)
		slices.Sort(want)
		if !slices.Equal(shown, want) || labels.Has(have, "bug") != labels.Has(after, "bug") {
			t.Fatalf("%v became %v, want %v", have, after, want)
		}
	})
}
