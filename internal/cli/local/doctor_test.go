package local

import (
	"bytes"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/setup"
)

// TestTokenRemedy: a refused token is replaced where it was found, and one that lacks a permission
// gets it.
func TestTokenRemedy(t *testing.T) {
	for from, want := range map[string]string{
		"GH_ENTERPRISE_TOKEN": "put a valid token into GH_ENTERPRISE_TOKEN",
		setup.FromGH:          "gh auth login",
		setup.FromGit:         "have git forget the token that it keeps (git credential reject), then: gh auth login",
	} {
		if got := tokenRemedy(from, "github.com"); got != want {
			t.Errorf("a token from %q: %q", from, got)
		}
		want = strings.Replace(want, "gh auth login", "gh auth login --hostname ghes.corp", 1)
		if got := tokenRemedy(from, "ghes.corp"); got != want {
			t.Errorf("a token from %q for another host: %q", from, got)
		}
	}

	got := failedCheck(nil, "labels", &github.PermissionError{Needs: "contents: read"}).Remedy
	if got != "give the token the permission contents: read" {
		t.Errorf("a token that lacks a permission: %q", got)
	}
}

// TestReportEnds: a report without an arrow ends with the command to go on with; one with an arrow,
// and JSON, with its last check.
func TestReportEnds(t *testing.T) {
	const next = "all is well; take an issue: label-state next --codename NAME\n"
	for _, c := range []struct {
		name string
		json bool
		all  []Diagnosis
		want bool
	}{
		{"all is well", false, []Diagnosis{ok("git", "there"), ok("labels", "all there")}, true},
		{"a warning", false, []Diagnosis{
			ok("git", "there"),
			ok("labels", "missing").or("warn", "label-state labels sync acme/app"),
		}, false},
		{"no issue is ready", false, []Diagnosis{ok("queue", "no issue is ready").or("ok", "label an issue")}, false},
		{"for programs", true, []Diagnosis{ok("git", "there")}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			term := cli.Terminal{
				In:  strings.NewReader(""),
				Out: &out,
				Err: &out,
				Env: setup.OS(),
			}
			call := &cli.Call{Terminal: term}
			call.JSON = c.json
			if err := showReport(t.Context(), call, c.all); err != nil {
				t.Fatal(err)
			}

			if got := strings.HasSuffix(out.String(), next); got != c.want {
				t.Errorf("the last line is the next command: %t, want %t\n%s", got, c.want, out.String())
			}
		})
	}
}
