package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/redis"
	"github.com/label-state/label-state/internal/sample"
	"github.com/label-state/label-state/internal/setup"
)

// A script runs label-state more than a thousand times, and a process takes longer to start than to
// answer. In an ordinary run "exits" therefore calls the program in this process, with the script's
// environment, folder and streams. Scripts that change the PATH that programs are looked for on,
// calls that name a file, and all scripts with LABEL_STATE_TEST=all, start a process each time;
// "exec label-state" always does.

// fileOption is an option whose file is looked for in the folder of the process.
var fileOption = regexp.MustCompile(`^--(body-file|config|file|folder|log|plot|schedule|seed|url-file)(=|$)`)

var ofProcesses = regexp.MustCompile(`(?m)^env PATH=`)

// lostInput is the line of a script whose "exits" stands behind a "stdin", which testscript keeps
// for "exec"; or empty.
func lostInput(script string) string {
	waiting := false
	for line := range strings.Lines(script) {
		words := slices.DeleteFunc(strings.Fields(line),
			func(word string) bool { return word == "!" || strings.HasPrefix(word, "[") })
		switch first := strings.Join(words[:min(1, len(words))], ""); {
		case first == "stdin" || first == "exec":
			waiting = first == "stdin"
		case first == "exits" && waiting:
			return strings.TrimSpace(line)
		}
	}

	return ""
}

// ownWords are words of git's own. An Exec hands on the exit code alone, so a script or a trial
// that looks for them asks git itself.
var ownWords = regexp.MustCompile("not a git repository|detected dubious ownership")

// settings are the variables that lines of a script set.
var settings = regexp.MustCompile(`(?m)^(?:env|readenv) ([A-Za-z_][A-Za-z0-9_]*)`)

// arranged is a script's set-up that decides, too, how the script runs label-state.
func arranged(folder string, setUp func(*testscript.Env) error) func(*testscript.Env) error {
	return func(e *testscript.Env) error { return errors.Join(setUp(e), arrange(e, folder)) }
}

func arrange(e *testscript.Env, folder string) error {
	name := strings.TrimPrefix(filepath.Base(e.WorkDir), "script-")
	text, err := os.ReadFile(filepath.Join(folder, name+".txtar"))
	if err != nil {
		return err
	}
	if line := lostInput(string(text)); line != "" {
		return fmt.Errorf("%s: %q: write exits CODE <FILE ARGUMENT...", name, line)
	}

	var names []string
	for _, one := range e.Vars {
		variable, _, _ := strings.Cut(one, "=")
		names = append(names, variable)
	}

	for _, found := range settings.FindAllStringSubmatch(string(text), -1) {
		names = append(names, found[1])
	}
	slices.Sort(names)
	e.Values["variables"] = slices.Compact(names)
	if !ownWords.Match(text) {
		e.Values["git"] = new(gitAnswers)
	}

	e.Values["apart"] = sample.All() || ofProcesses.Match(text)
	return nil
}

// asProcess starts label-state with a file as its standard input, or none, and returns its exit
// code.
func asProcess(ts *testscript.TestScript, input string, args []string) int {
	program := []string{"label-state"}
	if input != "" {
		_ = ts.ReadFile(input)                                               // which fails where there is none
		program = []string{"sh", "-c", `exec label-state "$@" <"$0"`, input} // an Exec has no input of its own
	}

	err := ts.Exec(program[0], append(program[1:], args...)...)
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		return exit.ExitCode()
	}

	ts.Check(err)
	return answer.ExitYes
}

// asCall is asProcess without a process.
func asCall(ts *testscript.TestScript, input string, args []string) int {
	var text string
	if input != "" {
		text = ts.ReadFile(input)
	}

	getenv, what := ts.Getenv, ts.Getenv(ignored)
	if what != "" {
		args = ignoring(args, what)
		getenv = func(name string) string { return map[bool]string{false: ts.Getenv(name)}[name == what] }
	}

	var environ []string
	names, _ := ts.Value("variables").([]string)
	for _, name := range names {
		if value := getenv(name); value != "" {
			environ = append(environ, name+"="+value)
		}
	}

	env := setup.Environment{
		Getenv:    getenv,
		Environ:   environ,
		Dir:       ts.MkAbs("."),
		Stderr:    ts.Stderr(),
		HTTP:      http.DefaultTransport,
		Stores:    map[string]lease.Opener{lease.Redis: redis.Open},
		Processes: processTable{getenv},
		Run: func(ctx context.Context, c setup.Command) ([]byte, error) {
			cmd := exec.CommandContext(ctx, c.Name, c.Args...)
			cmd.Dir, cmd.Env = c.Dir, append(slices.Clip(environ), c.Env...)
			return cmd.Output()
		},
	}

	if self, err := exec.LookPath("label-state"); err == nil {
		env.Executable = self
	}

	if git, ok := ts.Value("git").(*gitAnswers); ok {
		git.environ, env.Exec = environ, git.answer
	}

	build := setup.Build{Version: cmp.Or(ts.Getenv("BUILT_AS"), "dev"), Commit: ts.Getenv("BUILT_FROM")}
	var out strings.Builder
	run := func() int {
		return Run(context.Background(), append([]string{"label-state"}, args...), build, strings.NewReader(text),
			io.MultiWriter(ts.Stdout(), &out), ts.Stderr(), env)
	}
	if what == "" {
		code := run()
		wantNo(ts, args, code, out.String())
		return code
	}

	ended := make(chan int, 1)
	go func() { ended <- run() }()
	select {
	case code := <-ended:
		return code
	case <-time.After(30 * time.Second):
		ts.Fatalf("%q %s", args, doesNotEnd)
	}
	return 0
}
