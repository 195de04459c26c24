package gitpush

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/answer"
)

const (
	ref  = "refs/label-state/lease/7"
	next = "2222222222222222222222222222222222222222"
)

var strict = Push{
	Remote: "origin",
	Branch: "fix",
	Source: "s",
	With:   &Step{Ref: ref, Before: "b"},
}

// TestPorcelain: what git says of the references, and what it comes to.
func TestPorcelain(t *testing.T) {
	for _, c := range []struct {
		name, out, reason string
		landed, refused   bool
	}{
		{"both moved", "To url\n*\ts:refs/heads/fix\t[new branch]\n \tn:" + ref + "\t1..2\nDone\n", "", true, false},
		{"one is not told of", "To url\n \tn:" + ref + "\t1..2\nDone\n", "", false, false},
		{"the other is not told of", "To url\n*\ts:refs/heads/fix\t[new branch]\nDone\n", "", false, false},
		{
			"forced is moved, too", "To url\n+\ts:refs/heads/fix\t1...2 (forced update)\n \tn:" + ref + "\t1..2\n", "",
			true, false,
		},
		{"lease stale", "To url\n!\ts:refs/heads/fix\t[rejected] (atomic push failed)\n!\tn:" + ref +
			"\t[rejected] (stale info)\nDone\n", "stale info", false, true},
		{"both at the remote", "!\ts:refs/heads/fix\t[remote rejected] (protected branch hook declined)\n!\tn:" + ref +
			"\t[remote rejected] (atomic push failure)\n", "protected branch hook declined", false, true},
		{
			"other order", "!\tn:" + ref +
				"\t[remote rejected] (atomic push failure)\n!\ts:refs/heads/fix\t[remote rejected] (no)\n", "no",
			false, true,
		},
		{
			"two reasons", "!\tn:" + ref + "\t[remote rejected] (first)\n!\ts:refs/heads/fix\t[rejected] (second)\n",
			"second", false, true,
		},
		{
			"two reasons, the branch's first",
			"!\ts:refs/heads/fix\t[rejected] (second)\n!\tn:" + ref + "\t[remote rejected] (first)\n", "second", false, true,
		},
		{"beside it", "note\tx:y\tz\n!\ts:refs/heads/fix\t[rejected] (no)\n", "no", false, true},
		{"connection broke", "!\ts:refs/heads/fix\t[remote failure] (remote failed to report status)\n!\tn:" + ref +
			"\t[rejected] (stale info)\n", "", false, false},
		{"half and half", "!\ts:refs/heads/fix\t[remote rejected] (no)\n \tn:" + ref + "\t1..2\n", "", false, false},
		{"nothing", "", "", false, false},
		{"nonsense", "!\n!\tx\n?\ty:z\t[rejected] (no)\n", "", false, false},
	} {
		reason, refused := refusal(c.out, strict)
		if got := arrived(c.out, strict, next); got != c.landed || refused != c.refused || refused &&
			reason != c.reason {
			t.Errorf("%s: landed %t, refused %t (%q); want %t, %t (%q)", c.name, got, refused, reason, c.landed,
				c.refused, c.reason)
		}
	}
}

// TestCommand: each reference has its condition, both are one step, and a step that goes nowhere is
// refused: git would push the branch without it (guarantees.md#evidence).
func TestCommand(t *testing.T) {
	got, err := strict.command("", next)
	want := "push --porcelain --force-with-lease=refs/heads/fix: --atomic --force-with-lease=" + ref + ":b origin " +
		next + ":" + ref + " s:refs/heads/fix"
	if text := strings.Join(got, " "); err != nil || text != want {
		t.Errorf("%s, %v\nwant %s", text, err, want)
	}

	if got, err := strict.command("", "b"); !errors.Is(err, errUnchanged) {
		t.Errorf("unchanged: %q, %v, want a refusal", got, err)
	}
	alone := strict
	alone.With = nil
	if got, err := alone.command("x", ""); err != nil ||
		strings.Join(got, " ") != "push --porcelain --force-with-lease=refs/heads/fix:x origin s:refs/heads/fix" {
		t.Errorf("alone: %q, %v", got, err)
	}
}

// TestOptions: nothing that could move more, or take a condition away, gets through, and no
// beginning of it.
func TestOptions(t *testing.T) {
	for _, good := range []string{
		"", "-u", "--set-upstream -v", "-o ci.skip", "-o --force", "--push-option=a=b",
		"--signed=if-asked --no-verify -4",
	} {
		o, err := ReadOptions(strings.Fields(good))
		want := slices.DeleteFunc(strings.Fields(good),
			func(w string) bool { return w == "-u" || w == "--set-upstream" })
		if err != nil || !slices.Equal(o.git, want) || o.track != (len(want) < len(strings.Fields(good))) {
			t.Errorf("%q: %+v, %v", good, o, err)
		}
	}

	for _, bad := range []string{
		"--force", "-f", "--forc", "--force-with-lease", "--no-force-with-lease", "--force-if-includes", "--no-atomic",
		"--mirror", "--all", "--tags",
		"--delete", "-d", "--prune", "--dry-run", "-n", "--follow-tags", "--recurse-submodules=on-demand", "--repo=x",
		"--receive-pack=x", "--exec=x",
		"-uf", "+main", "main", "--", "-o", "--quiet=yes", "-v --force",
	} {
		if o, err := ReadOptions(strings.Fields(bad)); !answer.Is(err, answer.Usage) {
			t.Errorf("%q: %+v, %v, want it refused", bad, o, err)
		}
	}
}
