package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/redis"
	"github.com/label-state/label-state/internal/sample"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/testmain"
)

// TestMain has the tests cost little, and the processes that are label-state: package testmain says
// how. Most of these tests wait for processes.
func TestMain(m *testing.M) {
	testscript.Main(testmain.Tests{Play: func() int { return testMain(m) }, AtOnce: 8},
		map[string]func(){"label-state": asProgram})
}

func testMain(m *testing.M) int {
	if flag.NArg() > 0 { // a command in this process has started its own program anew; what it wants is not a test
		fmt.Fprintf(os.Stderr, "%q would play the tests anew; in the script write stdin FILE and exec label-state\n",
			flag.Args())
		return 2
	}

	dir, err := os.MkdirTemp("", "programs")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}

	defer os.RemoveAll(dir)
	compiled.dir = dir
	return m.Run()
}

// asProgram is label-state as main makes it.
func asProgram() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(testmain.Garbage)
	}
	ctx, stop := UntilSignal(context.Background())
	env := setup.OS()
	env.Stores = map[string]lease.Opener{lease.Redis: redis.Open}
	env.Processes = processTable{os.Getenv}
	what := os.Getenv(ignored)
	os.Unsetenv(what)
	args := append(os.Args[:1:1], ignoring(os.Args[1:], what)...)
	build := setup.Build{
		Version: cmp.Or(os.Getenv("BUILT_AS"), "dev"),
		Commit:  os.Getenv("BUILT_FROM"),
		Changed: os.Getenv("BUILT_CHANGED") != "",
	}
	code := Run(ctx, args, build, os.Stdin, os.Stdout, os.Stderr, env)
	stop()
	os.Exit(code)
}

// TestScripts plays the program as a program, against a GitHub of each script's own. Scripts start
// in an empty folder with LABEL_STATE_API_URL and the token of agents; claims do not settle.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Files:              scriptFiles(t),
		Setup:              arranged("testdata/script", setUp),
		UpdateScripts:      golden.Updating(),
		RequireUniqueNames: true,
		Cmds:               vocabulary(),
	})
}

// scriptFiles are the scripts that are played: all, or where few are wanted a third.
func scriptFiles(t *testing.T) []string {
	t.Helper()
	return scriptsIn(t, scripts, func(name string) bool { return !sample.Few() || sample.Plays(name, 0, 3) })
}

// scriptsIn are the scripts of a folder that play, by their names.
func scriptsIn(t *testing.T, folder string, plays func(name string) bool) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(all) == 0 {
		t.Fatalf("%d scripts, %v", len(all), err)
	}

	return slices.DeleteFunc(all, func(file string) bool { return !plays(filepath.Base(file)) })
}

// vocabulary is the commands of scripts besides testscript's own.
func vocabulary() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"exits":     exits,
		"trouble":   trouble,
		"json":      jsonHas,
		"keys":      jsonKeys,
		"plain":     plain,
		"labels":    issueLabels,
		"assignees": assignees,
		"assign":    assign,
		"says":      recordSays,
		"comments":  comments,
		"comment":   comment,
		"label":     label,
		"close":     closeIssue,
		"block":     block,
		"slack":     slackCommand,
		"pull":      pull,
		"spam":      spam,
		"branch":    branch,
		"merge":     merge,
		"checked":   checked,
		"body":      body,
		"later":     later,
		"fault":     fault,
		"wrote":     wrote,
		"await":     await,
		"awaits":    awaitComments,
		"readenv":   readenv,
		"passes":    passes,
		"removed":   removed,
		"changed":   changed,
		"publish":   publish,
	}
}

// exits CODE [<FILE] ARGUMENT... runs label-state, with a file as its standard input, and wants
// that exit code. With --json, an answer that is not yes must have what every such answer has.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE [<FILE] ARGUMENT...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	args, input := args[1:], ""
	if len(args) > 0 && strings.HasPrefix(args[0], "<") {
		input, args = args[0][1:], args[1:]
	}

	if want == answer.ExitWrong && ts.Getenv(ignored) != "" { // a flag that is only refused does nothing yet
		what := ts.Getenv(ignored)
		ts.Setenv(ignored, "")
		defer ts.Setenv(ignored, what)
	}

	run := asCall
	if apart, _ := ts.Value("apart").(bool); apart || slices.ContainsFunc(args, fileOption.MatchString) {
		run = asProcess
	}

	if code := run(ts, input, args); code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// wantNo wants the last object of a command's output to have the keys of an answer that is not yes
// (docs/cli.md, JSON), with a code of the list that ends with that exit code. It looks at commands
// that have --json, other than as the value of --reason.
func wantNo(ts *testscript.TestScript, args []string, exit int, out string) {
	own, _, _ := strings.Cut(strings.ReplaceAll(strings.Join(args, " "), "--reason --json", "")+" ", " -- ")
	if exit == answer.ExitYes || !strings.Contains(own, " --json ") {
		return
	}
	all := objectsOf(ts, out)
	if len(all) == 0 {
		ts.Fatalf("no JSON of an answer that is not yes")
	}

	last := all[len(all)-1]
	for _, key := range []string{"answer", "code", "error", "next"} {
		if last[key] == nil {
			ts.Fatalf("an answer that is not yes lacks %q: %v", key, last)
		}
	}

	code, _ := last["code"].(string)
	if got := answer.Code(code).Meaning(); got.Exit != exit || got.Text == code {
		ts.Fatalf("the code %q is that of exit code %d, not %d", code, got.Exit, exit)
	}
}

// trouble PATTERN [HINT] wants stderr to be one line that matches the pattern, and a line with a
// hint.
func trouble(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: trouble PATTERN [HINT]")
	}

	lines := strings.Split(strings.TrimSuffix(ts.ReadFile("stderr"), "\n"), "\n")
	if strings.HasPrefix(lines[0], "label-state: waiting for ") { // said of whatever takes long on this machine
		lines = lines[1:]
	}
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "label-state: ") || len(lines[1]) < len("hint: ?") ||
		!strings.HasPrefix(lines[1], "hint: ") {
		ts.Fatalf("want a line of trouble and one with a hint, got %q", lines)
	}

	for i, pattern := range args {
		if !regexp.MustCompile(pattern).MatchString(lines[i]) {
			ts.Fatalf("%q does not match %q", lines[i], pattern)
		}
	}
}

// objects are the JSON objects of stdout, which holds one a line and nothing else.
func objects(ts *testscript.TestScript) []map[string]any { return objectsOf(ts, ts.ReadFile("stdout")) }

func objectsOf(ts *testscript.TestScript, out string) (all []map[string]any) {
	for line := range strings.Lines(out) {
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			ts.Fatalf("stdout is not JSON: %v", err)
		}
		all = append(all, one)
	}

	return all
}

// jsonHas PATH=VALUE... wants stdout to be one object with those values, or with -N the object at
// line N. A path is keys and indexes with dots between; a value is JSON, or else a string.
func jsonHas(ts *testscript.TestScript, neg bool, args []string) {
	all, n := objects(ts), 1
	if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		var err error
		n, err = strconv.Atoi(args[0][1:])
		ts.Check(err)
		args = args[1:]
	} else if len(all) != 1 {
		ts.Fatalf("%d objects, want 1", len(all))
	}

	if neg || n < 1 || n > len(all) {
		ts.Fatalf("usage: json [-N] PATH=VALUE...; there are %d objects", len(all))
	}

	for _, arg := range args {
		path, text, _ := strings.Cut(arg, "=")
		var want any
		if json.Unmarshal([]byte(text), &want) != nil {
			want = text
		}

		if got := at(all[n-1], path); !reflect.DeepEqual(got, want) {
			ts.Fatalf("%s is %v, want %v", path, got, want)
		}
	}
}

// at follows a path; what is not there is nil.
func at(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch here := v.(type) {
		case map[string]any:
			v = here[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(here) {
				return nil
			}
			v = here[i]
		default:
			return nil
		}
	}

	return v
}

// jsonKeys KEY... wants every object of stdout to have exactly those keys.
func jsonKeys(ts *testscript.TestScript, neg bool, args []string) {
	slices.Sort(args)
	for _, one := range objects(ts) {
		if got := slices.Sorted(maps.Keys(one)); neg || !slices.Equal(got, args) {
			ts.Fatalf("keys %v, want %v", got, args)
		}
	}
}

// plain FILE writes stdout there with everything that changes from run to run replaced.
func plain(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: plain FILE")
	}
	text := strings.NewReplacer(worldOf(ts).url, "http://SIM", ts.Getenv("WORK"), "WORK").Replace(ts.ReadFile("stdout"))
	for _, r := range []struct{ pattern, with string }{
		{`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \([^)]*\)`, "TIME (DISTANCE)"},
		{`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(Z| UTC)`, "TIME"},
		{`for another [^.;]+`, "for another DISTANCE"},
		{`, (now|[0-9a-z ]+ ago), does`, ", DISTANCE, does"},
		{`last heartbeat (now|[0-9a-z ]+ ago)`, "last heartbeat DISTANCE"},
		{`\b\d{8}-\d{6}-[0-9a-f]{8}\b`, "RUN"},
		{`issuecomment-\d+`, "issuecomment-ID"},
		{`git version .*`, "git version VERSION"},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.with)
	}

	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// issue reads owner/repo#7.
func issue(ts *testscript.TestScript, neg bool, args []string, least int) claim.Issue {
	if neg || len(args) < least {
		ts.Fatalf("want an issue and at least %d arguments, got %q", least-1, args)
	}
	i, err := host.ParseIssue(args[0], host.Defaults{})
	ts.Check(err)
	return i
}

// issueLabels ISSUE NAME... wants the issue to have exactly those labels.
func issueLabels(ts *testscript.TestScript, neg bool, args []string) {
	i := issue(ts, neg, args, 1)
	got, err := worldOf(ts).Labels(i.Slug(), i.Number)
	ts.Check(err)
	want := slices.Sorted(slices.Values(args[1:]))
	if slices.Sort(got); !slices.Equal(got, want) {
		ts.Fatalf("%s has the labels %q, want %q", i, got, want)
	}
}

// assignees ISSUE LOGIN... wants exactly those assigned.
func assignees(ts *testscript.TestScript, neg bool, args []string) {
	i := issue(ts, neg, args, 1)
	got, err := worldOf(ts).Issue(i.Slug(), i.Number)
	ts.Check(err)
	if !slices.Equal(slices.Sorted(slices.Values(got.Assignees)), slices.Sorted(slices.Values(args[1:]))) {
		ts.Fatalf("%s is assigned to %q, want %q", i, got.Assignees, args[1:])
	}
}

// assign ISSUE LOGIN ASSIGNEE assigns somebody; "! assign" takes them off.
func assign(ts *testscript.TestScript, neg bool, args []string) {
	i := issue(ts, false, args, 3)
	if neg {
		ts.Check(worldOf(ts).Unassign(i.Slug(), i.Number, args[1], args[2]))
		return
	}
	ts.Check(worldOf(ts).Assign(i.Slug(), i.Number, args[1], args[2]))
}

// recordSays: says ISSUE PATTERN wants a comment there that matches; "! says" wants none.
func recordSays(ts *testscript.TestScript, neg bool, args []string) {
	i := issue(ts, false, args, 2)
	all, err := worldOf(ts).Comments(i.Slug(), i.Number)
	ts.Check(err)
	pattern, err := regexp.Compile(args[1])
	ts.Check(err)
	if found := slices.ContainsFunc(all,
		func(c githubsim.Comment) bool { return pattern.MatchString(c.Body) }); found == neg {
		ts.Fatalf("a comment of %s matches %s: %v: %v", i, args[1], found, all)
	}
}

// comments ISSUE N wants that many comments there.
func comments(ts *testscript.TestScript, neg bool, args []string) {
	i := issue(ts, neg, args, 2)
	all, err := worldOf(ts).Comments(i.Slug(), i.Number)
	ts.Check(err)
	if fmt.Sprint(len(all)) != args[1] {
		ts.Fatalf("%s has %d comments, want %s: %v", i, len(all), args[1], all)
	}
}

// comment ISSUE LOGIN FILE posts the file; http://SIM in it is the script's GitHub. "! comment ISSUE
// LOGIN" deletes the oldest comment there.
func comment(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		i := issue(ts, false, args, 2)
		all, err := worldOf(ts).Comments(i.Slug(), i.Number)
		ts.Check(err)
		ts.Check(worldOf(ts).DeleteComment(i.Slug(), all[0].ID, args[1]))
		return
	}

	i := issue(ts, false, args, 3)
	text := strings.ReplaceAll(ts.ReadFile(args[2]), "http://SIM", worldOf(ts).url)
	_, err := worldOf(ts).AddComment(i.Slug(), i.Number, args[1], text)
	ts.Check(err)
}

// label ISSUE LOGIN NAME puts a label on; "! label" takes it off.
func label(ts *testscript.TestScript, neg bool, args []string) {
	i := issue(ts, false, args, 3)
	if neg {
		ts.Check(worldOf(ts).RemoveLabel(i.Slug(), i.Number, args[1], args[2]))
		return
	}
	ts.Check(worldOf(ts).AddLabels(i.Slug(), i.Number, args[1], args[2]))
}

// commitOn makes an empty commit on main and returns its object id.
func commitOn(ts *testscript.TestScript, dir string) string {
	ts.Check(ts.Exec("git", "--git-dir="+dir, "-c", "user.name=x", "-c", "user.email=x@example.com",
		"commit-tree", "-p", "main", "-m", "Work", "main^{tree}"))
	return strings.TrimSpace(ts.ReadFile("stdout"))
}

// closeIssue ISSUE LOGIN closes it.
func closeIssue(ts *testscript.TestScript, neg bool, args []string) {
	i := issue(ts, neg, args, 2)
	ts.Check(worldOf(ts).Close(i.Slug(), i.Number, args[1]))
}

// block ISSUE OTHER makes the issue wait for another of its repository.
func block(ts *testscript.TestScript, neg bool, args []string) {
	i := issue(ts, neg, args, 2)
	other := issue(ts, neg, args[1:], 1)
	ts.Check(worldOf(ts).Block(i.Slug(), i.Number, other.Number, "olga"))
}

// spam ISSUE LOGIN TEXT posts a comment that GitHub takes for spam: it counts it and shows it to
// nobody.
func spam(ts *testscript.TestScript, neg bool, args []string) {
	i := issue(ts, neg, args, 3)
	ts.Check(worldOf(ts).happen("spam", i, args[1], args[2:]))
}

// pull ISSUE LOGIN BRANCH [FILE] opens a pull request that closes the issue, or with that text, from
// a new branch, or from OWNER:BRANCH of a fork.
func pull(ts *testscript.TestScript, neg bool, args []string) {
	i := issue(ts, neg, args, 3)
	dir, err := worldOf(ts).GitDir(i.Slug())
	ts.Check(err)
	if !strings.Contains(args[2], ":") {
		ts.Check(ts.Exec("git", "--git-dir="+dir, "update-ref", "refs/heads/"+args[2], commitOn(ts, dir)))
	}

	body := fmt.Sprintf("Closes #%d", i.Number)
	if len(args) > 3 {
		body = ts.ReadFile(args[3])
	}

	_, err = worldOf(ts).OpenPull(i.Slug(), args[1], githubsim.Pull{Title: "Work", Head: args[2], Body: body})
	ts.Check(err)
}

// later DURATION lets so much time pass on GitHub.
func later(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: later DURATION")
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	worldOf(ts).Skip(d)
}

// fault RULES has GitHub misbehave from now on; "fault html" answers everything with a web page,
// "fault off" ends it.
func fault(ts *testscript.TestScript, neg bool, args []string) {
	w := worldOf(ts)
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fault RULES")
	}

	switch args[0] {
	case "off":
		w.fault.Store(nil)
		return

	case "html":
		page := func(*http.Request) *githubsim.Fault {
			return &githubsim.Fault{
				Status: 200, Header: http.Header{"Content-Type": {"text/html"}},
				Body: "<html>Sign in</html>",
			}
		}
		w.fault.Store(&page)
		return
	}

	f, err := githubsim.ParseFault(args[0])
	ts.Check(err)
	w.fault.Store(&f)
}

// wrote N wants so many requests to have asked for a change since wrote was last used, or "any"
// number.
func wrote(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: wrote N")
	}
	w := worldOf(ts)
	all := w.Requests()
	var text bytes.Buffer
	n := 0
	for _, r := range all[w.seen:] {
		if r.Writes() && !strings.Contains(r.Path, ".git/") { // git writes what a script publishes
			n++
			fmt.Fprintf(&text, "\n%s %s %s %d", r.Method, r.Path, r.GraphQL, r.Status)
		}
	}

	w.seen = len(all)
	if args[0] != "any" && fmt.Sprint(n) != args[0] {
		ts.Fatalf("%d requests wrote, want %s:%s", n, args[0], &text)
	}
}

// await FILE waits until a program in the background has written the file.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	poll(ts, args[0], func() bool {
		_, err := os.Stat(ts.MkAbs(args[0]))
		return err == nil
	})
}

// awaitComments ISSUE N waits until a program in the background has written so many comments.
func awaitComments(ts *testscript.TestScript, neg bool, args []string) {
	i := issue(ts, neg, args, 2)
	poll(ts, args[1]+" comments", func() bool {
		all, err := worldOf(ts).Comments(i.Slug(), i.Number)
		ts.Check(err)
		return fmt.Sprint(len(all)) == args[1]
	})
}

// poll waits for something that a process in the background will do, half a minute at most.
func poll(ts *testscript.TestScript, what string, done func() bool) {
	for range 1500 {
		if done() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}

	ts.Fatalf("%s: waited in vain", what)
}

// readenv NAME FILE sets a variable to the text of the file.
func readenv(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: readenv NAME FILE")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

// publish FILE [OWNER/NAME] makes it the configuration of acme/app, or of another repository: on
// its default branch.
func publish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: publish FILE [OWNER/NAME]")
	}
	repo := "acme/app"
	if len(args) == 2 {
		repo = args[1]
	}

	ts.Check(worldOf(ts).CommitFile(repo, config.Path, ts.ReadFile(args[0])))
}
