package app

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/cli/feature"
	"github.com/label-state/label-state/internal/cli/hold"
	"github.com/label-state/label-state/internal/cli/local"
	"github.com/label-state/label-state/internal/cli/operate"
	"github.com/label-state/label-state/internal/cli/queue"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/stats"
	"github.com/label-state/label-state/work"
)

const manual = "../../../docs/cli.md"

// TestManual holds docs/cli.md against the program: its sections are commands, and it has the keys
// of every JSON object and every exit code. What commands and options do is in their help.
func TestManual(t *testing.T) {
	data, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}

	checkHeadings(t, string(data))
	checkKeys(t, string(data))
	checkExitCodes(t, string(data))
}

// TestExamples: what the examples of docs/cli.md and of testdata/examples.txt print is what the
// program prints. With -update it is rewritten.
func TestExamples(t *testing.T) {
	for _, name := range []string{manual, "testdata/examples.txt"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}

		golden.Check(t, name, withExamples(t, string(data)))
	}
}

// leaves are the verbs that do something, by their names.
func leaves() map[string]cli.Verb {
	all := map[string]cli.Verb{}
	for _, v := range Verbs() {
		if v.Does() {
			all[v.Name] = v
		}
	}
	return all
}

// checkHeadings wants the sections on commands to be about commands that exist.
func checkHeadings(t *testing.T, text string) {
	t.Helper()
	known := leaves()
	for _, m := range regexp.MustCompile(`(?m)^## ([a-z][a-z, -]*)$`).FindAllStringSubmatch(text, -1) {
		for path := range strings.SplitSeq(m[1], ", ") {
			if _, is := known[path]; !is {
				t.Errorf("a section on %q, which is no command", path)
			}
		}
	}
}

// views are the JSON objects of the page.
func views() map[string]any {
	return map[string]any{
		"answer": answer.Answer{}, "reason": answer.Reason{}, "command": answer.Command{}, "pushView": hold.PushView{},
		"statusView": cli.StatusView{},
		"claimView":  answer.Holder{}, "entryView": cli.EntryView{}, "sweepView": operate.SweepView{},
		"strandView": answer.Stranded{}, "blockerView": answer.Blocker{}, "findingView": answer.Finding{},
		"pauseView": cli.PauseView{}, "labelView": cli.LabelView{}, "diagnosis": local.Diagnosis{},
		"hookView":    local.HookView{},
		"versionView": local.VersionView{}, "cycleView": cli.CycleView{}, "itemView": queue.ItemView{},
		"bundleView": feature.BundleView{}, "partView": feature.PartView{}, "featureView": feature.FeatureView{},
		"treeView": feature.TreeView{}, "item": work.Item{},
		"agentView": local.AgentView{}, "agentFileView": local.AgentFileView{}, "initView": local.EndView{},
		"cardView": operate.CardView{}, "statsView": operate.StatsView{}, "stayView": stats.Stay{},
		"periodView": operate.PeriodView{}, "mergeView": stats.Merge{}, "dayView": stats.Day{},
		"workerFigures": stats.Worker{},
		"chainView":     feature.ChainView{}, "chainPart": feature.ChainPart{},
	}
}

// checkKeys wants the table behind each mark to have the keys of that object, in their order.
func checkKeys(t *testing.T, text string) {
	t.Helper()
	tables := map[string]string{}
	for _, m := range regexp.MustCompile(`<!-- json (\w+) -->\n((?:\|.*\n)+)`).FindAllStringSubmatch(text, -1) {
		tables[m[1]] = m[2]
	}

	for name, view := range views() {
		var want, got []string
		for _, field := range reflect.VisibleFields(reflect.TypeOf(view)) {
			key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if key != "-" && !field.Anonymous {
				want = append(want, key)
			}
		}

		for row := range strings.Lines(tables[name]) {
			for _, m := range regexp.MustCompile("`([a-z0-9_]+)`").FindAllStringSubmatch(strings.SplitN(row, "|",
				3)[1], -1) {
				got = append(got, m[1])
			}
		}

		if !slices.Equal(got, want) {
			t.Errorf("%s: the page has the keys %q, want %q", name, got, want)
		}
		delete(tables, name)
	}

	for name := range tables {
		t.Errorf("keys of %s, which is no object", name)
	}
}

func checkExitCodes(t *testing.T, text string) {
	t.Helper()
	var got []int
	for _, m := range regexp.MustCompile("(?m)^\\| `([0-9]+)` \\|").FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, n)
	}

	if want := []int{
		answer.ExitYes, answer.ExitNo, answer.ExitWrong, answer.ExitUnknown,
		answer.ExitNoWork,
	}; !slices.Equal(got, want) {
		t.Errorf("the page has the exit codes %v, want %v", got, want)
	}
}

// withExamples runs every example, in the order of the page, on one GitHub whose day begins on a
// Monday in May, and rewrites what they print.
func withExamples(t *testing.T, text string) (out string) {
	t.Helper()
	dir := cloneOf(t, "https://github.com/acme/app.git")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)))
		w, err := newWorld("")
		if err != nil {
			t.Fatal(err)
		}

		out = regexp.MustCompile("(?s)```console[^\n]*\n.*?```").ReplaceAllStringFunc(text, func(block string) string {
			head, body, _ := strings.Cut(block, "\n")
			token, from := "tok-agents", dir
			if who := strings.TrimPrefix(head, "```console "); who != head {
				token, from = "tok-"+who, filepath.Dir(dir) // somebody else, outside the clone
			}

			var b strings.Builder
			b.WriteString(head + "\n")
			for line := range strings.Lines(body) {
				if strings.HasPrefix(line, "$ ") {
					b.WriteString(line + example(t, w, from, token, words(line[2:])))
				}
			}

			return b.String() + "```"
		})
	})

	return out
}

// cloneOf makes a clone with nothing in it, a program of the hook on PATH that answers when it is
// tried, and nothing of this user's.
func cloneOf(t *testing.T, url string) string {
	t.Helper()
	home := t.TempDir()
	dir, bin := filepath.Join(home, "app"), filepath.Join(home, "bin")
	t.Setenv("HOME", home)
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, ".gitconfig"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(home)) // git's words for no clone tell where the file system ends
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	answers := []byte("#!/bin/sh\necho '{\"checked\":true}'\n")
	if err := errors.Join(os.Mkdir(bin, 0o755),
		os.WriteFile(cli.Binary(bin, "label-state-pre-push"), answers, 0o755)); err != nil {
		t.Fatal(err)
	}

	if out, err := exec.Command("git", "init", "-q", "--template=", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	settings, err := os.OpenFile(filepath.Join(dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}

	_, err = fmt.Fprintf(settings,
		"[remote \"origin\"]\n\turl = %s\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n", url)
	if err = errors.Join(err, settings.Close()); err != nil {
		t.Fatal(err)
	}

	return dir
}

// example runs one command line of the page and returns what a person would see.
func example(t *testing.T, w *world, dir, token string, args []string) string {
	t.Helper()
	home := os.Getenv("HOME")
	if args[0] == "sleep" {
		d, err := time.ParseDuration(args[1])
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(d)
		return ""
	}

	vars := map[string]string{"GH_TOKEN": token, "HOME": home}
	var out bytes.Buffer
	env := setup.OS()
	env.Getenv, env.Dir, env.Stderr, env.HTTP = func(name string) string { return vars[name] }, dir, &out, w.Transport()
	code := cli.Run(t.Context(), args, cli.Terminal{
		Verbs: Verbs(),
		In:    strings.NewReader(""),
		Out:   &out,
		Err:   &out,
		Env:   env,
	})
	text := strings.ReplaceAll(out.String(), home, "/home/me")
	text = regexp.MustCompile(`git version .*`).ReplaceAllString(text, "git version 2.47.0")
	if code != answer.ExitYes {
		text += fmt.Sprintf("(exit code %d)\n", code)
	}

	return text
}

// words splits a command line at spaces; single quotes keep them.
func words(line string) (all []string) {
	for n, part := range strings.Split(strings.TrimSpace(line), "'") {
		if n%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}

	return all
}
