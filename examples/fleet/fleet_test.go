//go:build unix

// Package fleet_test runs the fleet of this folder at a small size, and holds its judge against
// fleets that went wrong.
package fleet_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/programs"
	"github.com/label-state/label-state/internal/sample"
)

const inOrder = "every issue was done once, none by two at a time, in order\n"

// TestFleet: on a GitHub that loses answers, and, when everything is played, on one that is well.
func TestFleet(t *testing.T) {
	program := filepath.Join(t.TempDir(), "label-state")
	if err := programs.Copy("label-state", program); err != nil {
		t.Fatal(err)
	}

	faults := []string{"lose=mutation:addComment:15 status=502:GET:*:10", ""}
	for _, fault := range faults[:sample.Size(1, len(faults))] {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			agents, issues := fmt.Sprint(sample.Size(4, 6)), fmt.Sprint(sample.Size(12, 20))
			cmd := exec.CommandContext(t.Context(), "./run", agents, issues)
			cmd.Env = append(os.Environ(), "LABEL_STATE="+program, "FAULT="+fault)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}

			crashed := regexp.MustCompile(agents + " agents, " + issues +
				` issues, [1-9][0-9]* crashes: [1-9][0-9.]* requests`)
			if text := string(out); !strings.HasSuffix(text, inOrder) || !crashed.MatchString(text) {
				t.Errorf("%s", text)
			}
		})
	}
}

// TestJudge: two agents and four issues, whose order is 4, 1, 2, 3.
func TestJudge(t *testing.T) {
	t.Parallel()
	fine := []string{
		"start 4 a", "start 1 b", "done 4 a", "done 1 b", "start 2 a", "crash 2 a", "start 2 b",
		"done 2 b", "start 3 a", "done 3 a",
	}
	for _, c := range []struct {
		name          string
		order, closed []int
		journal       []string
		want          string
	}{
		{"fine", []int{4, 1, 2, 3}, []int{1, 2, 3, 4}, fine, inOrder},
		{"as concurrency allows", []int{1, 4, 3, 2}, []int{1, 2, 3, 4}, fine, inOrder},
		{"out of order", []int{3, 4, 1, 2}, []int{1, 2, 3, 4}, fine, "WRONG: #1 was begun after #3\n"},
		{"closed twice", []int{4, 1, 2, 3}, []int{1, 2, 2, 3, 4}, fine, "WRONG: #2 was closed 2 times\n"},
		{"never closed", []int{4, 1, 2, 3}, []int{1, 2, 4}, fine, "WRONG: #3 was closed 0 times\n"},
		{"not done", []int{4, 1, 2, 3}, []int{1, 2, 3, 4}, fine[:8], "WRONG: #3 was done 0 times\n"},
		{
			"done twice",
			[]int{4, 1, 2, 3},
			[]int{1, 2, 3, 4},
			append(fine[:10:10], "start 3 b", "done 3 b"),
			"WRONG: #3 was done 2 times\n",
		},
		{
			"two at a time",
			[]int{4, 1, 2, 3},
			[]int{1, 2, 3, 4},
			append([]string{"start 2 b"}, fine...),
			"WRONG: a and b work on #2\n",
		},
		{
			"refused",
			[]int{4, 1, 2, 3},
			[]int{1, 2, 3, 4},
			append(fine[:10:10], "refused 3 a"),
			"WRONG: a was refused the end of #3\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, failed := judge(t, requests(c.order, c.closed), c.journal)
			if !strings.Contains(out, c.want) || failed == (c.want == inOrder) {
				t.Errorf("failed: %v\n%s", failed, out)
			}
		})
	}
}

// requests is a log in which the issues are claimed in that order, each read before, and then
// closed.
func requests(order, closed []int) (lines []string) {
	const line = `{"time":"2026-01-01T00:00:00Z","method":%q,"path":"/repos/acme/app/issues/%d%s","status":%d,"login":"agents"}`
	for _, n := range order {
		lines = append(lines, fmt.Sprintf(line, "GET", n, "", 200), fmt.Sprintf(line, "POST", n, "/comments", 502),
			fmt.Sprintf(line, "POST", n, "/comments", 0), fmt.Sprintf(line, "POST", n, "/comments",
				201), fmt.Sprintf(line, "PATCH", n, "/comments/17", 200))
	}

	for _, n := range closed {
		lines = append(lines, fmt.Sprintf(line, "PATCH", n, "", 0), fmt.Sprintf(line, "PATCH", n, "", 200))
	}

	return lines
}

func judge(t *testing.T, requests, journal []string) (out string, failed bool) {
	t.Helper()
	args := []string{"-v", "agents=2", "-v", "issues=4", "-f", "check.awk"}
	dir := t.TempDir()
	for n, lines := range [][]string{requests, journal} {
		file := filepath.Join(dir, fmt.Sprint(n))
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}

	text, err := exec.CommandContext(t.Context(), "awk", args...).CombinedOutput()
	return string(text), err != nil
}
