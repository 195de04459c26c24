package github

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lifecycle"
)

func TestNamedBlockers(t *testing.T) {
	table, err := os.ReadFile("testdata/blockers.txt")
	if err != nil {
		t.Fatal(err)
	}

	rows := 0
	for line := range strings.Lines(string(table)) {
		text, want, found := strings.Cut(strings.TrimSpace(line), "=>")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}

		rows++
		text = strings.NewReplacer(`\n`, "\n", `\r`, "\r").Replace(strings.TrimRight(text, " "))
		got := []string{}
		for _, i := range namedBlockers(text, issue("app", 7), "https://github.com") {
			got = append(got, i.String())
		}

		if want = strings.TrimSpace(want); strings.Join(got, " ") != strings.TrimPrefix(want, "none") {
			t.Errorf("%q names %v, want %s", text, got, want)
		}
	}

	many := "Blocked by"
	for n := range maxNamed + 1 {
		many += fmt.Sprintf(" #%d,", n+100)
	}
	if got := namedBlockers(many, issue("app", 7), "https://github.com"); len(got) != 50 || got[49].Number != 149 {
		t.Errorf("of %d it names %d, and %v last", maxNamed+1, len(got), got[len(got)-1])
	}

	if rows < 30 {
		t.Errorf("read %d rows, want the whole table", rows)
	}
}

// FuzzNamedBlockers: any text is read, and names at most so many issues, each once.
func FuzzNamedBlockers(f *testing.F) {
	for _, seed := range []string{
		"", "Blocked by #3, #4", "<!--", "```\n~~~",
		"Depends on: https://github.com/a/b/issues/1 \x00",
	} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, text string) {
		got := namedBlockers(text, issue("app", 7), "https://github.com")
		for k, i := range got {
			if nameable(i) != nil || k >= maxNamed || slices.ContainsFunc(got[:k], i.Same) {
				t.Fatalf("%q names %v", text, got)
			}
		}
	})
}

// blocked is a world in which app#1 is blocked in every way there is.
func blocked(t *testing.T, body string) *githubsim.Server {
	t.Helper()
	seed := world()
	seed.Repos[0].Issues[0].Body = body
	server, err := githubsim.New(seed, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	return server
}

// TestBlockers: GitHub's own dependencies, and where an issue has none, what its text says.
func TestBlockers(t *testing.T) {
	const body = "Blocked by #2, #5, #7, #404, acme/nowhere#1 and acme/lib#1"
	open := func(slug string, n int) string { return issue(slug, n).String() + " open" }
	closed := func(slug string, n int) string { return issue(slug, n).String() + " closed" }
	for name, k := range map[string]struct {
		native  bool
		options Blockers
		read    bool
		want    []string
	}{
		"text":   {read: true, want: []string{open("app", 2), closed("app", 5), open("app", 7), open("lib", 1)}},
		"native": {native: true, read: true, want: []string{open("app", 3)}},
		"native not read": {
			native:  true,
			options: Blockers{NativeOff: true},
			read:    true,
			want:    []string{open("app", 2), closed("app", 5), open("app", 7), open("lib", 1)},
		},
		"text not read": {options: Blockers{TextOff: true}, read: true},
		"neither":       {native: true, options: Blockers{NativeOff: true, TextOff: true}},
	} {
		server := blocked(t, body)
		if k.native {
			if err := server.Block("acme/app", 1, 3, "bot"); err != nil {
				t.Fatal(err)
			}
		}

		c := connect(t, server.Transport(), func(o *Options) { o.Blockers = k.options })
		f, err := c.Facts(t.Context(), issue("app", 1))
		if got := described(f.Blockers); err != nil || f.BlockersRead != k.read || !slices.Equal(got, k.want) {
			t.Errorf("%s: blockers = %v, read %t, %v; want %v", name, got, f.BlockersRead, err, k.want)
		}
	}
}

func described(all []lifecycle.Blocker) []string {
	var out []string
	for _, b := range all {
		state := " closed"
		if b.Open {
			state = " open"
		}

		if b.URL == "" {
			state += " without address"
		}
		out = append(out, b.Issue.String()+state)
	}

	return out
}

// TestBlockersUnknown: a failure to read a blocker is not an answer.
func TestBlockersUnknown(t *testing.T) {
	c := connect(t, altered(blocked(t, "Blocked by #2").Transport(), func(body []byte) []byte {
		return []byte(strings.Replace(string(body), `"n0":{`, `"n0":null,"x":{`, 1))
	}))
	got := c.FactsOf(t.Context(), []claim.Issue{issue("app", 1), issue("app", 3)})
	if got[0].Err == nil || got[1].Err != nil {
		t.Errorf("errors = %v, %v; want only the first", got[0].Err, got[1].Err)
	}
}

// TestBlockersUnread: where reading them stops, those that were not asked for yet are not known
// either.
func TestBlockersUnread(t *testing.T) {
	all := "Blocked by #101"
	for n := range perQuery - 1 {
		all += fmt.Sprint(", #", 102+n)
	}

	seed := world()
	app := &seed.Repos[0]
	app.Issues[0].Body = all
	k := slices.IndexFunc(app.Issues, func(i githubsim.SeedIssue) bool { return i.Number == 3 })
	app.Issues[k].Body = "Blocked by #2"
	server, err := githubsim.New(seed, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	server.Fault = func(r *http.Request) *githubsim.Fault {
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "number: 101)") {
			return &githubsim.Fault{Status: http.StatusForbidden}
		}
		return nil
	}

	c := connect(t, server.Transport())
	for _, one := range c.FactsOf(t.Context(), []claim.Issue{issue("app", 1), issue("app", 3)}) {
		if one.Err == nil {
			t.Errorf("%s: blockers %v, want an error", one.Facts.Issue, described(one.Facts.Blockers))
		}
	}
}
