package labels_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/labels"
)

// A line is one case of a vector file, or a setting for the cases below it.
type line struct {
	n    int
	text string
}

func lines(t *testing.T, file string) []line {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	var out []line
	for i, s := range strings.Split(string(text), "\n") {
		if s != "" && s[0] != '#' {
			out = append(out, line{i + 1, s})
		}
	}

	return out
}

var states = []labels.State{
	labels.None, labels.Available, labels.Claimed, labels.PlanPending, labels.PROpen,
	labels.Done,
}

func state(t *testing.T, name string) labels.State {
	t.Helper()
	i := slices.IndexFunc(states, func(s labels.State) bool { return s.String() == name })
	if i < 0 {
		t.Fatalf("no state %q", name)
	}
	return states[i]
}

func TestMoveVectors(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range lines(t, "testdata/moves.txt") {
		f := strings.Fields(l.text)
		if len(f) != 3 || seen[f[0]+" "+f[1]] {
			t.Fatalf("line %d: %q: want FROM TO VERDICT, each pair once", l.n, l.text)
		}

		seen[f[0]+" "+f[1]] = true
		if got := verdict(labels.Agent(), state(t, f[0]), state(t, f[1])); got != f[2] {
			t.Errorf("line %d: %s to %s is %s, want %s", l.n, f[0], f[1], got, f[2])
		}
	}

	if len(seen) != len(states)*len(states) {
		t.Errorf("%d pairs, want all %d", len(seen), len(states)*len(states))
	}
}

func verdict(s labels.Scheme, from, to labels.State) string {
	escalates := slices.ContainsFunc(labels.Moves(),
		func(m labels.Move) bool { return m.Escalates && m.From == from && m.To == to })
	switch err := s.Check(from, to); {
	case err == nil && from == to:
		return "stay"
	case err == nil:
		return "legal"
	case escalates:
		return "escalates"
	}

	return "refused"
}

func TestChangeVectors(t *testing.T) {
	scheme, ran := labels.Scheme{}, 0
	for _, l := range lines(t, "testdata/change.txt") {
		switch l.text {
		case "@scheme agent":
			scheme = labels.Agent()
		case "@scheme ready":
			scheme = labels.Ready()
		default:
			checkChange(t, scheme, l)
			ran++
		}
	}

	if ran < 55 {
		t.Errorf("ran %d cases, want all of them", ran)
	}
}

func checkChange(t *testing.T, scheme labels.Scheme, l line) {
	t.Helper()
	f := strings.Split(l.text, " | ")
	if len(f) != 4 {
		t.Fatalf("line %d: %q: want HAVE | PICTURE | ADD | REMOVE", l.n, l.text)
	}

	have, want := list(f[0]), projection(t, f[1])
	got := scheme.Change(have, want)
	if !slices.Equal(got.Add, list(f[2])) || !slices.Equal(got.Remove, list(f[3])) {
		t.Errorf("line %d: add %q remove %q, want add %s remove %s", l.n, got.Add, got.Remove, f[2], f[3])
	}

	if got.Empty() != (f[2] == "-" && f[3] == "-") {
		t.Errorf("line %d: Empty() = %v", l.n, got.Empty())
	}
}

func list(s string) []string {
	if s == "-" {
		return nil
	}
	return strings.Split(s, ", ")
}

func projection(t *testing.T, s string) labels.Projection {
	t.Helper()
	parts := strings.Split(s, ", ")
	var p labels.Projection
	if parts[0] == "keep" {
		p.Keep = true
	} else {
		p.State = state(t, parts[0])
	}

	for _, x := range parts[1:] {
		if name, ok := strings.CutPrefix(x, "+"); ok {
			p.Set = append(p.Set, name)
		} else {
			p.Clear = append(p.Clear, strings.TrimPrefix(x, "-"))
		}
	}

	return p
}

func TestIllegalMoveSaysWhatWouldBeLegal(t *testing.T) {
	for _, c := range []struct {
		from, to labels.State
		want     string
	}{
		{labels.None, labels.Done, `no legal move from "(none)" to "agent:done"; from there: agent:implement`},
		{
			labels.Available, labels.None,
			`no legal move from "agent:implement" to "(none)"; from there: agent:in-flight, needs:human-scope, agent:pr-open`,
		},
		{labels.Done, labels.Claimed, `no legal move from "agent:done" to "agent:in-flight"; from there: agent:implement`},
	} {
		err := labels.Agent().Check(c.from, c.to)
		if err == nil || err.Error() != c.want {
			t.Errorf("Check(%s, %s) = %v, want %s", c.from, c.to, err, c.want)
		}
	}
}

// TestNames holds the names, colours and meanings that existing fleets rely on.
func TestNames(t *testing.T) {
	want := []string{
		"agent:implement 0e8a16", "agent:in-flight e11d21", "agent:plan-pending-approval d4c5f9",
		"agent:pr-open fbca04",
		"agent:done 0e8a16", "do-not-pickup 5319e7", "needs:human-scope e99695", "agent:blocked bfd4f2",
		"agent:authored c2e0c6", "agent:large-feature ff6b00",
	}
	var got []string
	for _, d := range labels.Agent().Definitions() {
		got = append(got, d.Name+" "+d.Color)
		if d.Description == "" || len(d.Description) > 100 {
			t.Errorf("description of %s has %d bytes, want 1 to 100", d.Name, len(d.Description))
		}
	}

	if !slices.Equal(got, want) {
		t.Errorf("definitions\n got %q\nwant %q", got, want)
	}

	if s := labels.Agent(); s.BundlePrefix != "agent:bundle:" || s.Paused != "agent:paused" {
		t.Errorf("bundle prefix %q, pause marker %q", s.BundlePrefix, s.Paused)
	}
}

func TestSchemeNamesItsStates(t *testing.T) {
	for _, s := range []labels.Scheme{labels.Agent(), labels.Ready()} {
		if got := s.Of(s.Lifecycle()); !slices.Equal(got, states[1:]) {
			t.Errorf("Of(Lifecycle()) = %v, want %v", got, states[1:])
		}

		for _, st := range states[1:] {
			if got, ok := s.Parse(strings.ToUpper(s.Name(st))); !ok || got != st {
				t.Errorf("Parse(Name(%s)) = %s, %v", st, got, ok)
			}
		}

		for _, name := range []string{"", "bug", s.Hold, s.NeedsScope, s.Blocked, s.Paused} {
			if got, ok := s.Parse(name); ok {
				t.Errorf("Parse(%q) = %s, want none", name, got)
			}
		}
	}

	if got := fmt.Sprint(states); got != "[none available claimed plan-pending pr-open done]" {
		t.Errorf("states print as %s", got)
	}
}
