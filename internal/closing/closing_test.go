package closing_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
)

var home = claim.Repo{Owner: "acme", Name: "app"}

const host = "github.com"

// coherent checks what holds for every answer of either surface.
func coherent(t testing.TB, text string, closed []claim.Issue) {
	if len(closed) > closing.Limit {
		t.Errorf("%d issues, want at most %d", len(closed), closing.Limit)
	}

	if len(closed) > 0 && !closing.Perhaps(text) {
		t.Errorf("%q closes %s, and Perhaps says no", text, closed[0])
	}
	seen := map[claim.Issue]bool{}
	for _, i := range closed {
		switch {
		case seen[i.Folded()]:
			t.Errorf("%s comes twice", i)
		case !closing.ValidRepo(i.In()) || i.Number < 1:
			t.Errorf("%+v is no issue", i)
		}

		seen[i.Folded()] = true
	}
}

func TestPerhaps(t *testing.T) {
	for text, want := range map[string]bool{
		"Closes #7":                            true,
		"See #6.\n\nfixes: GH-7":               true,
		"resolved other/place#7":               true,
		"Closes HTTPS://git.example/a/b":       true, // whose host it is, the caller will know
		"Fixed http://":                        true,
		"":                                     false,
		"#7 and https://github.com/a/b/pull/7": false,
		"Closes":                               false,
		"closes the gap of #7":                 false,
		"Fixes: 1234567 (\"add it\")":          false,
		"closes #0, fixes#7, encloses #7":      false,
	} {
		if got := closing.Perhaps(text); got != want {
			t.Errorf("Perhaps(%q) = %v", text, got)
		}
	}
}

func TestWithoutHomeOrHost(t *testing.T) {
	const text = "closes #1, closes GH-2, closes acme/zoo#3, closes https://github.com/acme/zoo/issues/4"
	if got := wanted(closing.InCommit(text, claim.Repo{}, host)); got != "acme/zoo#3 acme/zoo#4" {
		t.Errorf("without home: %s", got)
	}

	if got := wanted(closing.InCommit(text, home, "")); got != "acme/app#1 acme/app#2 acme/zoo#3" {
		t.Errorf("without host: %s", got)
	}

	if got := wanted(closing.InCommit("closes https:///acme/zoo/issues/4", home, "")); got != "-" {
		t.Errorf("an empty host is a host: %s", got)
	}
}

func TestLimit(t *testing.T) {
	var text strings.Builder
	for n := 1; n <= closing.Limit+5; n++ {
		fmt.Fprintf(&text, "closes #%d and again fixes #%d\n", n, n)
	}

	refs := closing.InCommit(text.String(), home, host)
	if len(refs) != closing.Limit {
		t.Fatalf("%d issues, want %d", len(refs), closing.Limit)
	}

	if last := refs[len(refs)-1]; last.Number != closing.Limit {
		t.Errorf("last = %s, want number %d", last, closing.Limit)
	}
}

// TestCloses: one issue is found however it is spelled and whatever stands before, but not in code.
func TestCloses(t *testing.T) {
	issue := claim.Issue{Owner: "other", Repo: "lib", Number: 7}
	for text, want := range map[string]bool{
		"Closes Other/LIB#7":   true,
		"Closes other/lib#8":   false,
		"`Closes other/lib#7`": false,
	} {
		if got := closing.Closes(text, home, host, issue); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestMentionIsFound writes a mention in every form the rules allow, between any text that cannot
// touch it, and expects it in both surfaces.
func TestMentionIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Int64Range(1, 1<<53-1).Draw(t, "number")
		owner := rapid.StringMatching(`[a-z0-9](-?[a-zA-Z0-9]){0,18}`).Draw(t, "owner")
		name := rapid.StringMatching(`[a-z0-9][A-Za-z0-9._-]{0,40}`).Draw(t, "repo")
		slug := owner + "/" + name
		form, want := drawTarget(t, slug, number)
		mention := rapid.SampledFrom([]string{
			"close", "Closes", "CLOSED", "fix", "fixes", "Fixed", "resolve",
			"resolveS", "resolved",
		}).Draw(t, "keyword") +
			rapid.SampledFrom([]string{" ", "\t", "  ", ":", ": ", ":\t "}).Draw(t, "gap") + form
		before := rapid.StringMatching(`[a-z .,-]{0,30}[ .,-]`).Draw(t, "before")
		after := rapid.StringMatching(`([ .,)\n][a-z .,\n]{0,30})?`).Draw(t, "after")
		for _, refs := range [][]claim.Issue{
			closing.InCommit(before+mention+after, home, host),
			closing.InDescription("x"+before+mention+after, home, host),
		} {
			if len(refs) != 1 || refs[0].String() != want {
				t.Fatalf("%q closes %v, want %s", before+mention+after, refs, want)
			}
		}
	})
}

func drawTarget(t *rapid.T, slug string, number int64) (form, want string) {
	own := fmt.Sprintf("acme/app#%d", number)
	full := fmt.Sprintf("%s#%d", slug, number)
	switch rapid.IntRange(0, 4).Draw(t, "form") {
	case 0:
		return fmt.Sprintf("#%d", number), own
	case 1:
		return fmt.Sprintf("GH-%d", number), own
	case 2:
		return full, full
	case 3:
		return fmt.Sprintf("https://github.com/%s/issues/%d", slug, number), full
	default:
		return fmt.Sprintf("http://GitHub.com/%s/pull/%d", slug, number), full
	}
}

// TestCodeClosesNothing puts any mentions into any kind of code, in any nest of quotes and lists.
func TestCodeClosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{
			"```\ncloses #1\n\n  fixes #2\n```", "~~~~ fixes #1\n```\ncloses #2\n~~~\n~~~~~",
			"    closes #1\n\n    fixes #2",
			"`closes #1`", "a ``closes\nfixes #1`` b", "<!-- closes #1 -->", "<!--\ncloses #1\n\nfixes #2\n-->",
			"b <!-- fixes #1\nfixes #2 -->",
		}).Draw(t, "code")

		for range rapid.IntRange(0, 6).Draw(t, "depth") {
			first, next := "> ", "> "
			if rapid.Bool().Draw(t, "list") {
				first, next = "1) ", "   "
			}
			text = first + strings.ReplaceAll(text, "\n", "\n"+next)
		}

		if refs := closing.InDescription(text, home, host); len(refs) != 0 {
			t.Fatalf("%q closes %v, want nothing", text, refs)
		}

		if refs := closing.InDescription(text+"\n\ncloses #3", home, host); len(refs) != 1 ||
			refs[0].Number != 3 {
			t.Fatalf("%q, then closes #3: %v", text, refs)
		}
	})
}

func TestNames(t *testing.T) {
	long := strings.Repeat("a", 100)
	for owner, want := range map[string]bool{
		"a": true, "acme": true, "ACME-1": true, "a-b-c": true, "0": true, "ann_acme": true, "a-b_acme": true,
		long[:39]: true,
		"":        false, "-": false, "-a": false, "a-": false, "a--b": false, "_a": false, "a_": false, "a_b_c": false,
		"a_b-c": false,
		"a-_b":  false, "a.b": false, "a b": false, "a/b": false, "ä": false, "a\x00": false, "dependabot[bot]": false,
		long[:40]: false,
	} {
		if got := closing.ValidRepo(claim.Repo{Owner: owner, Name: "a"}); got != want {
			t.Errorf("the owner %q: %v", owner, got)
		}
	}

	for repo, want := range map[string]bool{
		"a": true, ".github": true, "a.b": true, "-": true, "_": true, "...": true, "a--b": true, long: true,
		"": false, ".": false, "..": false, "a/b": false, "a b": false, "ä": false, "a\n": false, long + "a": false,
	} {
		if got := closing.ValidRepo(claim.Repo{Owner: "a", Name: repo}); got != want {
			t.Errorf("the name %q: %v", repo, got)
		}
	}
}

func TestParseNumber(t *testing.T) {
	for digits, want := range map[string]int64{
		"1": 1, "42": 42, "9007199254740991": 1<<53 - 1,
		"": 0, "0": 0, "01": 0, "-1": 0, "+1": 0, " 1": 0, "1 ": 0, "1_0": 0, "0x1": 0, "1e3": 0, "9007199254740992": 0,
		"99999999999999999999": 0,
	} {
		if got, ok := closing.ParseNumber(digits); ok != (want != 0) || ok && int64(got) != want {
			t.Errorf("ParseNumber(%q) = %d, %v", digits, got, ok)
		}
	}
}
