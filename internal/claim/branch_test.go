package claim_test

import (
	"testing"

	"github.com/label-state/label-state/internal/claim"
)

// TestParseBranch: a full reference is its branch, and what git takes no branch of is refused. A
// test of package gitpush holds the rules against git.
func TestParseBranch(t *testing.T) {
	for text, want := range map[string]string{
		"fix": "fix", "agent/issue-7": "agent/issue-7", "refs/heads/q": "q", "refs/heads/refs/heads/q": "refs/heads/q",
		"heads/q": "heads/q", "refs/tags/v1": "", "refs/remotes/origin/x": "",
		"": "", "refs/heads/": "", "-x": "", "refs/heads/-x": "", "a b": "", "a..b": "", "@{-1}": "", "@": "@",
		"HEAD": "", "me:fix": "", "a.lock": "", "a/.b": "", "a//b": "", "/a": "", "a/": "", "a.": "",
		"a\tb": "", "a\x7f": "", `a\b`: "", "a~1": "", "a^": "", "a?": "", "a*": "", "a[": "",
	} {
		if got, err := claim.ParseBranch(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}
