package labelstate_test

import (
	"errors"
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	labelstate "github.com/label-state/label-state"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

// constants are the values of the constants of a string type.
func constants(t *testing.T, of string) (values []string) {
	t.Helper()
	_, files := sources(t, token.NewFileSet(), ".")
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, is := n.(*ast.ValueSpec)
			if !is || len(spec.Values) == 0 {
				return true
			}
			if name, is := spec.Type.(*ast.Ident); !is || name.Name != of {
				return true
			}

			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}

			values = append(values, value)
			return true
		})
	}

	slices.Sort(values)
	return values
}

// same compares values with those that the program has.
func same(t *testing.T, of string, want []string) {
	t.Helper()
	slices.Sort(want)
	if got := constants(t, of); !slices.Equal(got, want) {
		t.Errorf("the constants of %s are %q, want %q", of, got, want)
	}
}

// TestReasonCodes: they are those that docs/cli.md lists, in the table of reasons and of what was
// passed over.
func TestReasonCodes(t *testing.T) {
	var want []string
	for line := range strings.SplitSeq(readPage(t, "docs/cli.md"), "\n") {
		row := regexp.MustCompile("^\\| `(code|passed_over)` \\|(.*)\\|$").FindStringSubmatch(line)
		if row == nil {
			continue
		}

		for _, m := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(row[2], -1) {
			if !slices.Contains([]string{"next", "status", "reason", "text", "items"}, m[1]) {
				want = append(want, m[1])
			}
		}
	}

	if len(want) < 15 {
		t.Fatalf("docs/cli.md lists %q", want)
	}
	same(t, "ReasonCode", want)

	for _, m := range lifecycle.Meanings() {
		if note := m.Where == lifecycle.AmongNotes; note == slices.Contains(want, string(m.Code)) {
			t.Errorf("reason %s: docs/cli.md lists %q", m.Code, want)
		}
	}
}

// TestOutcomes: they are those of the records, and a worker may give the first of them.
func TestOutcomes(t *testing.T) {
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^\tOutcome\w+ += "([a-z-]+)"`).FindAllStringSubmatch(readPage(t,
		"internal/claim/outcome.go"), -1) {
		if m[1] != claim.OutcomeRaceYielded { // it never stands alone
			all = append(all, m[1])
		}
	}

	same(t, "Outcome", all)
	_, first, _ := strings.Cut(readPage(t, "codes.go"), "const (\n")
	first, _, _ = strings.Cut(first, "\n)")
	for _, outcome := range all {
		if given := strings.Contains(first, `"`+outcome+`"`); given != slices.Contains(claim.WorkerOutcomes(),
			outcome) {
			t.Errorf("outcome %s is in the group for workers: %t", outcome, given)
		}
	}
}

// TestStates: states, answers and answers to plans are those of the program.
func TestStates(t *testing.T) {
	states := []string{string(labelstate.StateUnmanaged)}
	for s := labels.None; s <= labels.Done; s++ {
		states = append(states, s.String())
	}

	same(t, "State", states)
	same(t, "Answer", []string{lifecycle.Free.String(), lifecycle.Held.String(), lifecycle.Unknown.String()})
	same(t, "PlanAnswer", []string{
		string(claim.PlanWaiting), string(claim.PlanApproved), string(claim.PlanRejected),
		string(claim.PlanOver),
	})
}

// most is how many packages, besides Go's own, a program is linked with that imports this one.
const most = 37

// TestLinked: the package brings what it needs and no more; the client of Redis comes with
// lease/redis.
func TestLinked(t *testing.T) {
	for _, of := range []struct {
		pkg         string
		most        int
		with, never []string
	}{
		{".", most, nil, []string{
			"github.com/gomodule/redigo", "google.golang.org/", "github.com/go-git/", "github.com/urfave/",
			"charm.land/",
			"github.com/modelcontextprotocol/", "github.com/slack-go/", "github.com/vektah/gqlparser/",
			"github.com/label-state/label-state/internal/githubsim",
			"github.com/label-state/label-state/internal/lease/redis",
			"github.com/label-state/label-state/internal/board",
		}},
		{"./lease/redis", most + 3, []string{"github.com/gomodule/redigo/"}, []string{"google.golang.org/"}},
	} {
		out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}",
			of.pkg).Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}

		linked := strings.Fields(string(out))
		if len(linked) > of.most || len(linked) < 10 {
			t.Errorf("%s is linked with %d packages, want at most %d: %q", of.pkg, len(linked), of.most, linked)
		}

		has := func(prefix string) bool {
			return slices.ContainsFunc(linked, func(p string) bool { return strings.HasPrefix(p, prefix) })
		}

		for _, prefix := range of.never {
			if has(prefix) {
				t.Errorf("%s is linked with %s", of.pkg, prefix)
			}
		}

		for _, prefix := range of.with {
			if !has(prefix) {
				t.Errorf("%s is not linked with %s", of.pkg, prefix)
			}
		}
	}
}

// otherStore is a store of somebody else.
type otherStore struct{}

func (otherStore) Kind() string { return "other" }

// TestOtherStore: the error names the package of each lease store that is a server of its own, and
// each is there.
func TestOtherStore(t *testing.T) {
	_, err := labelstate.Open(t.Context(),
		labelstate.Options{Repo: "acme/app", Token: "t", Stores: []labelstate.Store{otherStore{}}})
	if !errors.Is(err, labelstate.ErrInvalid) {
		t.Fatalf("Open with a strange store = %v", err)
	}

	entries, err2 := os.ReadDir("lease")
	if err2 != nil {
		t.Fatal(err2)
	}

	for _, e := range entries {
		if !strings.Contains(err.Error(), "lease/"+e.Name()) {
			t.Errorf("%v, without lease/%s", err, e.Name())
		}
	}

	if len(entries) != 1 {
		t.Errorf("lease/ has %d packages, want redis alone", len(entries))
	}
}
