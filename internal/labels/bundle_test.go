package labels_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/labels"
)

func TestBundleLabel(t *testing.T) {
	for _, c := range []struct{ slug, label, trouble string }{
		{"checkout-v2", "agent:bundle:checkout-v2", ""},
		{"7", "agent:bundle:7", ""},
		{strings.Repeat("x", 37), "agent:bundle:" + strings.Repeat("x", 37), ""},
		{strings.Repeat("x", 38), "", "38 characters, expected at most 37, the label agent:bundle:NAME at most 50"},
		{"az09", "agent:bundle:az09", ""},
		{strings.Repeat("x", 63), "", "63 characters, expected at most 37"},
		{strings.Repeat("x", 64), "", "64 characters, expected at most 37"},
		{"", "", "expected"},
		{"-x", "", "expected"},
		{"a,b", "", "expected"},
		{"a b", "", "expected"},
		{"Ab", "", "expected"},
		{"é", "", "expected"},
		{"a\x1b[31m", "", "expected"},
	} {
		got, err := labels.Agent().Bundle(c.slug)
		if got != c.label || (err == nil) != (c.trouble == "") || err != nil &&
			!strings.Contains(err.Error(), c.trouble) {
			t.Errorf("%q: %q, %v, want %q, %q", c.slug, got, err, c.label, c.trouble)
		}
	}

	s := labels.Agent()
	s.BundlePrefix = strings.Repeat("é", 40)
	if _, err := s.Bundle("x234567890"); err != nil {
		t.Errorf("50 characters of more bytes: %v", err)
	}
}

func TestBundleOf(t *testing.T) {
	for name, want := range map[string]string{
		"agent:bundle:checkout": "checkout", "Agent:Bundle:Checkout": "checkout", "agent:bundle:": "",
		"agent:bundle": "", "bug": "",
		"agent:bundle:a b": "", "": "",
	} {
		if got, ok := labels.Agent().BundleOf(name); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %t, want %q", name, got, ok, want)
		}
	}
}

// TestWas: what Was words, Before reads, and the change back from any labels gives what was there.
func TestWas(t *testing.T) {
	s := labels.Agent()
	rapid.Check(t, func(t *rapid.T) {
		st := rapid.SampledFrom(states).Draw(t, "state")
		was := []string{"bug"}
		if rapid.Bool().Draw(t, "bundled") {
			was = append(was, "agent:bundle:x")
		}

		p, ok := s.Before(s.Was(st, was, "x"), "x")
		if !ok || p.State != st {
			t.Fatalf("%s of %q came back as %v, %t", st, was, p, ok)
		}

		have := append(was, s.Claimed, "agent:bundle:x")
		c := s.Change(have, p)
		if labels.Has(c.Remove, "agent:bundle:x") == labels.Has(was, "agent:bundle:x") {
			t.Fatalf("removes %q, before it was %q", c.Remove, was)
		}
	})

	for _, was := range []string{"", "held", "available+", "+bundle", "available+bundle+bundle"} {
		if p, ok := s.Before(was, "x"); ok {
			t.Errorf("%q was read as %v", was, p)
		}
	}
}

func TestBegin(t *testing.T) {
	for length, want := range map[int]string{80: strings.Repeat("x", 80), 81: strings.Repeat("x", 80) + "…"} {
		if got := labels.Begin(strings.Repeat("x", length)); got != want {
			t.Errorf("%d octets: %q", length, got)
		}
	}
	if got, want := labels.Begin(strings.Repeat("x", 79)+"éx"), strings.Repeat("x", 79)+"…"; got != want {
		t.Errorf("cut within a character: %q", got)
	}
}
