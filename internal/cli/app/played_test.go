package app

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/sample"
)

// ignored is the variable that has the program of a script behave as if one thing were wired to nothing: a flag of a
// verb ("claim --ttl"), a variable ("GH_ORG") or a setting in a file of the script ("claim.ttl:").
const ignored = "IGNORED"

const scripts = "testdata/script/"

// doesNotEnd is said of a program that waits for what it was not told; that shows nothing.
const doesNotEnd = "does not end"

// everyVerbs are flags that one place reads for all verbs.
var everyVerbs = []string{"config", "timeout", "verbose", "no-color"}

// TestEverythingIsPlayed: testdata/played.txt has a row for each flag of each verb, for each variable that docs/cli.md
// lists, and for each setting that a script plays. A row names a script and the line that fails where the program
// ignores it. An ordinary run believes most rows; with -update, those that are wrong or missing are looked for.
func TestEverythingIsPlayed(t *testing.T) {
	const table = "testdata/played.txt"
	head, rows, left := "", sync.Map{}, map[string]bool{}
	for row := range strings.Lines(fileText(table)) {
		if strings.HasPrefix(row, "#") {
			head += row
			continue
		}
		what, shown, _ := strings.Cut(strings.TrimSuffix(row, "\n"), " | ")
		rows.Store(what, shown)
		left[what] = true
	}

	t.Run("all", func(t *testing.T) {
		for _, what := range ignorable() {
			delete(left, what)
			t.Run(what, func(t *testing.T) {
				t.Parallel()
				row, _ := rows.Load(what)
				shown, _ := row.(string)
				switch {
				case holds(what, shown):
				case golden.Updating():
					rows.Delete(what)
					for _, script := range using(what) {
						if at := failsAt(script, what); at != "" {
							rows.Store(what, script+" | "+at)
							t.Logf("%s | %s | %s", what, script, at)
							return
						}
					}
					t.Errorf("no script fails where %s is ignored; one of these should: %s", what, using(what))
				default:
					t.Errorf("%q is not shown by %q: write a script that plays it, then run this test with -update",
						what, shown)
				}
			})
		}
	})

	for what := range left {
		t.Errorf("%s: there is no %s", table, what)
		rows.Delete(what)
	}

	if golden.Updating() {
		var list []string
		rows.Range(func(what, shown any) bool {
			list = append(list, fmt.Sprintf("%s | %s\n", what, shown))
			return true
		})
		golden.Check(t, table, head+strings.Join(slices.Sorted(slices.Values(list)), ""))
	}
}

// holds reports whether a row is right: the line is there, and of those that are drawn it fails.
// Rows of other files than scripts are kept by hand.
func holds(what, row string) bool {
	script, line, _ := strings.Cut(row, " | ")
	if strings.Contains(script, "/") {
		return strings.Contains(fileText("../../../"+script), line)
	}
	if line == "" || !strings.Contains(fileText(scripts+script), line) {
		return false
	}
	if !sample.Plays(what, 0, 100) {
		return true
	}

	at := failsAt(script, what)
	return at == line || at != "" && length(script) >= forOthers // where it fails first is a matter of time
}

// ignorable is everything that has a row.
func ignorable() (all []string) {
	for _, v := range Verbs() {
		for _, p := range v.Params() {
			if p.Arg == "" && !slices.Contains(everyVerbs, p.Name) {
				all = append(all, v.Name+" --"+p.Name)
			}
		}
	}
	for _, flag := range everyVerbs {
		all = append(all, " --"+flag)
	}

	_, section, _ := strings.Cut(fileText("../../../docs/cli.md"), "\n## Environment\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for row := range strings.Lines(section) {
		if cells := strings.Split(row, "|"); len(cells) > 2 {
			for _, found := range regexp.MustCompile("`([A-Z_]+)`").FindAllStringSubmatch(cells[1], -1) {
				all = append(all, found[1])
			}
		}
	}

	for row := range strings.Lines(fileText("../../config/testdata/played.txt")) {
		if f := strings.Fields(row); strings.HasPrefix(f[1], "internal/cli/app/"+scripts) {
			all = append(all, f[0]+":")
		}
	}

	return all
}

// using are the scripts that may play something, those first that end soon.
func using(what string) (names []string) {
	isFlag := strings.Contains(what, " --")
	setting := what[strings.LastIndex(what, ".")+1:]
	calls := regexp.MustCompile(`\b(?:exits \d|label-state)(?: <\S+)? (.*)`)
	paths, _ := filepath.Glob(scripts + "*.txtar") // the pattern is right
	for _, path := range paths {
		text := fileText(path)
		sets := strings.Contains(text, ".yml --") && strings.Contains(text, setting)
		uses := !isFlag && (sets || strings.Contains(text, what+"="))
		for _, call := range calls.FindAllStringSubmatch(text, -1) {
			words := strings.Fields(call[1])
			uses = uses || isFlag && len(ignoring(words, what)) < len(words)
		}
		if uses {
			names = append(names, filepath.Base(path))
		}
	}

	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(length(a), length(b)) })
	return names
}

// forOthers is the length of scripts that wait for others.
const forOthers = 1 << 20

// length is about how long a script takes.
func length(script string) int {
	text := fileText(scripts + script)
	return len(text) + forOthers*strings.Count(text, "&\n")
}

func fileText(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}

// ignoring is a command line without the flag that is ignored.
func ignoring(args []string, what string) (kept []string) {
	verb, flag, _ := strings.Cut(what, " --")
	v, at := verbOf(args)
	if flag == "" || v.Name == "" || v.Name != verb && verb != "" {
		return args
	}

	kept = append(kept, args[:at]...)
	for rest := args[at:]; len(rest) > 0; rest = rest[1:] {
		if rest[0] == "--" {
			return append(kept, rest...)
		}

		name, _, joined := strings.Cut(strings.TrimLeft(rest[0], "-"), "=")
		n := slices.IndexFunc(v.Params(), func(p cli.Param) bool {
			return p.Arg == "" && p.Name == flag && strings.HasPrefix(rest[0], "-") && slices.Contains(p.Names(), name)
		})
		switch {
		case n < 0:
			kept = append(kept, rest[0])
		case !joined && v.Params()[n].TakesValue() && len(rest) > 1:
			rest = rest[1:]
		}
	}

	return kept
}

// verbOf is the verb that a command line begins with, and where its parameters begin.
func verbOf(args []string) (found cli.Verb, at int) {
	for _, v := range Verbs() {
		n := len(v.Words())
		if n > at && len(args) >= n && v.Does() && (slices.Equal(args[:n], v.Words()) || n == 1 && args[0] == v.Alias) {
			found, at = v, n
		}
	}
	return found, at
}

// ignoreSetting takes the setting that is ignored out of the configurations in a script's folder.
func ignoreSetting(dir, what string) error {
	key, isSetting := strings.CutSuffix(what, ":")
	paths, err := filepath.Glob(filepath.Join(dir, "*.yml"))
	if err != nil || !isSetting {
		return err
	}

	for _, path := range paths {
		var doc yaml.Node
		if yaml.Unmarshal([]byte(fileText(path)), &doc) != nil || !without(&doc, strings.Split("."+key, ".")) {
			continue
		}
		text, err := yaml.Marshal(&doc)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
	}

	return nil
}

// without takes what a path leads to out of a document, and reports whether it was there. A path begins with an empty
// name, for the document itself. What is of the defaults is also of each agent.
func without(at *yaml.Node, path []string) (found bool) {
	if path[0] == "" {
		return len(at.Content) == 1 && without(at.Content[0], path[1:])
	}

	for n := 0; n+1 < len(at.Content); n += 2 {
		name, value := at.Content[n].Value, at.Content[n+1]
		switch {
		case path[0] == "defaults" && name == "agents":
			for i := 1; i < len(value.Content); i += 2 {
				found = without(value.Content[i], path[1:]) || found
			}
		case path[0] != name:
		case len(path) == 1:
			at.Content = slices.Delete(at.Content, n, n+2)
			return true
		default:
			found = without(value, path[1:]) || found
		}
	}

	return found
}

// failsAt is the line at which a script fails whose program ignores something; empty if it passes.
func failsAt(script, what string) string {
	run, set, end := new(quietRun), arranged(scripts, setUp), time.Now().Add(time.Minute)
	testscript.RunT(run, testscript.Params{
		Files:    []string{scripts + script},
		Deadline: end,
		Setup: func(e *testscript.Env) error {
			e.Setenv(ignored, what)
			return errors.Join(set(e), ignoreSetting(e.WorkDir, what))
		},
		Cmds: vocabulary(),
	})

	n := 0
	_, after, _ := strings.Cut(run.log.String(), "FAIL: "+scripts+script+":")
	waited := strings.Contains(after, doesNotEnd) || time.Until(end) < 10*time.Second
	if _, err := fmt.Sscanf(after, "%d:", &n); err != nil || waited {
		return ""
	}
	return strings.TrimSpace(strings.Split(fileText(scripts+script), "\n")[n-1])
}

// A quietRun is a script of which is wanted only what it logs.
type quietRun struct{ log strings.Builder }

func (*quietRun) Skip(...any)       { runtime.Goexit() }
func (*quietRun) Parallel()         {}
func (*quietRun) Verbose() bool     { return false }
func (*quietRun) FailNow()          { runtime.Goexit() }
func (q *quietRun) Log(args ...any) { fmt.Fprintln(&q.log, args...) }

func (q *quietRun) Fatal(args ...any) {
	q.Log(args...)
	q.FailNow()
}

func (q *quietRun) Run(_ string, play func(testscript.T)) {
	var ended sync.WaitGroup
	ended.Go(func() { play(q) })
	ended.Wait()
}
