package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/durable"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/setup"
)

const errorsGolden = "testdata/errors.golden"

// A trial is one thing that goes wrong. Its lines are those of testdata/errors.golden:
//
//	## Title
//	Cause: text
//	Remedy: text
//	> what has happened before
//	$ label-state ARGUMENT...
//	| what stands on standard error
//	| exit CODE
//	= PAGE KIND
//	| the block of that kind on a page that another program's tests hold it to
//
// A "# Heading" before it says what the user was doing. Only what follows a "$" or "=" is rewritten by -update.
type trial struct {
	group, title, cause, remedy string
	before                      []string
	asked                       []question
}

type question struct {
	mark   string // "$" or "="
	line   string
	answer []string
}

func readTrials(t *testing.T, path string) []trial {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []trial
	group := ""
	for n, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		mark, text, _ := strings.Cut(line, " ")
		if mark == "#" {
			group = text
			continue
		}
		if mark == "##" {
			all = append(all, trial{group: group, title: text})
			continue
		}
		if line != "" && (len(all) == 0 || !all[len(all)-1].take(mark, text)) {
			t.Fatalf("%s:%d: %q", path, n+1, line)
		}
	}
	return all
}

func (tr *trial) take(mark, text string) bool {
	switch last := len(tr.asked) - 1; {
	case mark == "Cause:":
		tr.cause = text
	case mark == "Remedy:":
		tr.remedy = text
	case mark == ">":
		tr.before = append(tr.before, text)
	case mark == "$", mark == "=":
		tr.asked = append(tr.asked, question{mark: mark, line: text})
	case mark == "|" && last >= 0:
		tr.asked[last].answer = append(tr.asked[last].answer, text)
	default:
		return false
	}
	return true
}

func writeTrials(trials []trial) string {
	var b strings.Builder
	group := ""
	for _, tr := range trials {
		if tr.group != group {
			fmt.Fprintf(&b, "# %s\n\n", tr.group)
			group = tr.group
		}
		fmt.Fprintf(&b, "## %s\nCause: %s\nRemedy: %s\n", tr.title, tr.cause, tr.remedy)
		for _, line := range tr.before {
			b.WriteString("> " + line + "\n")
		}
		for _, q := range tr.asked {
			b.WriteString(q.mark + " " + q.line + "\n")
			for _, line := range q.answer {
				b.WriteString("| " + line + "\n")
			}
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// TestErrors drives the program into everything that can go wrong, and compares what it says with
// testdata/errors.golden. Every hint that the code can give and every type of error must be there.
func TestErrors(t *testing.T) {
	trials := readTrials(t, errorsGolden)
	seen := map[string]bool{}
	for n := range trials {
		t.Run(strings.ReplaceAll(trials[n].title, " ", "-"), func(t *testing.T) {
			play(t, &trials[n], seen)
		})
	}
	if text := writeTrials(trials); *update {
		if err := os.WriteFile(errorsGolden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want, _ := os.ReadFile(errorsGolden); string(want) != text {
		t.Errorf("%s is not what the program says: read the difference, then run with -update", errorsGolden)
	}
	checkTypes(t, seen)
	checkTexts(t, trials)
	checkHints(t, trials)
	checkPage(t, troubleshooting, pageOf(trials))
}

// play runs one trial in a home and on a GitHub of its own, and notes the types of its errors.
func play(t *testing.T, tr *trial, seen map[string]bool) {
	s := &theatre{dir: cloneOf(t, "https://github.com/acme/app.git")}
	s.home = filepath.Dir(s.dir)
	s.vars = map[string]string{"GH_TOKEN": "tok-agents", "HOME": s.home}
	s.dir, s.clone = s.home, s.dir
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)))
		w, err := newWorld(filepath.Join(s.home, ".github-server"))
		if err != nil {
			t.Fatal(err)
		}
		s.world, s.ctx = w, t.Context()
		for _, line := range tr.before {
			if err := s.prepare(line); err != nil {
				t.Fatalf("> %s: %v", line, err)
			}
		}
		for n, q := range tr.asked {
			got := s.answer(t.Context(), q, seen)
			if !slices.Equal(got, q.answer) && !*update {
				t.Errorf("$ %s\n%s\nwant\n%s", q.line, strings.Join(got, "\n"), strings.Join(q.answer, "\n"))
			}
			tr.asked[n].answer = got
		}
		if s.free != nil {
			if err := s.free(); err != nil {
				t.Error(err)
			}
		}
	})
}

// A theatre is where a trial is played.
type theatre struct {
	home, dir, clone string
	vars             map[string]string
	world            *world
	ctx              context.Context
	stopped          bool         // the user interrupts
	free             func() error // lets go of what somebody else holds, at the end
}

// prepare does what has happened before: a word for what, then its arguments.
func (s *theatre) prepare(line string) error {
	args := words(line)
	switch args[0] {
	case "label-state":
		return s.must(s.vars["GH_TOKEN"], words(strings.ReplaceAll(line, "/home/me", s.home)))
	case "as": // LOGIN label-state ARGUMENT...
		return s.must("tok-"+args[1], args[2:])
	case "env":
		s.vars[args[1]] = strings.ReplaceAll(strings.Join(args[2:], " "), "/home/me", s.home)
	case "in-clone":
		s.dir = s.clone
	case "interrupt":
		s.stopped = true
	case "later":
		d, err := time.ParseDuration(args[1])
		time.Sleep(d)
		return err
	case "file", "program":
		return s.file(args)
	case "git":
		cmd := exec.Command("git", args[1:]...)
		cmd.Dir = s.dir
		return cmd.Run()
	case "busy": // another process is at work on what this lock is for
		lock := filepath.Join(s.home, args[1])
		err := os.MkdirAll(filepath.Dir(lock), 0o700)
		if err == nil {
			s.free, err = durable.Hold(lock)
		}
		return err
	case "killed": // what made a feature's trees did not finish
		name := filepath.Join(s.home, ".local/state/label-state/features", args[1]+".json")
		data, err := os.ReadFile(name)
		return errors.Join(err, os.WriteFile(name, bytes.Replace(data, []byte("true"), []byte("false"), 1), 0o644))
	case "rename":
		return s.world.RenameRepo(args[1], args[2])
	case "fault":
		return s.fault(strings.Join(args[1:], " "))
	default:
		return s.github(args)
	}
	return nil
}

func (s *theatre) must(token string, args []string) error {
	text, code, _ := s.run(s.ctx, token, args)
	if code != exitYes {
		return fmt.Errorf("exit code %d: %s", code, text)
	}
	return nil
}

// file writes a file; \n in its text is a line break.
func (s *theatre) file(args []string) error {
	name := filepath.Join(s.dir, args[1])
	if rest, ok := strings.CutPrefix(args[1], "/home/me/"); ok {
		name = filepath.Join(s.home, rest)
	}
	mode := os.FileMode(0o644)
	if args[0] == "program" {
		mode = 0o755
	}
	text := strings.ReplaceAll(strings.Join(args[2:], " "), `\n`, "\n")
	return errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), mode))
}

// answers are what stands in the way of GitHub, or goes wrong in it.
var answers = map[string]githubsim.Fault{
	"html":    {Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>Sign in</html>"},
	"graphql": {Status: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: `{"errors":[{"message":"Something went wrong"}]}`},
}

func (s *theatre) fault(rules string) error {
	if answer, ok := answers[rules]; ok {
		f := func(r *http.Request) *githubsim.Fault {
			if rules == "graphql" && !strings.HasSuffix(r.URL.Path, "/graphql") {
				return nil
			}
			return &answer
		}
		s.world.fault.Store(&f)
		return nil
	}
	f, err := githubsim.ParseFault(rules)
	s.world.fault.Store(&f)
	return err
}

// github is what others do there: WHAT ISSUE LOGIN and more.
func (s *theatre) github(args []string) error {
	i, err := host.ParseIssue(args[1], host.Defaults{})
	if err != nil {
		return err
	}
	switch args[0] {
	case "label":
		return s.world.AddLabels(i.Slug(), i.Number, args[2], args[3])
	case "close":
		return s.world.Close(i.Slug(), i.Number, args[2])
	case "comment":
		_, err := s.world.AddComment(i.Slug(), i.Number, args[2], strings.Join(args[3:], " "))
		return err
	case "pull":
		return s.pull(i.Slug(), args[2], i.Number)
	}
	return fmt.Errorf("%q is nothing that happens", args[0])
}

// pull opens a pull request that closes the issue.
func (s *theatre) pull(repo, login string, number int) error {
	dir, err := s.world.GitDir(repo)
	if err != nil {
		return err
	}
	out, err := exec.Command("git", "--git-dir="+dir, "-c", "user.name=x", "-c", "user.email=x@example.com",
		"commit-tree", "-p", "main", "-m", "Work", "main^{tree}").Output()
	if err != nil {
		return err
	}
	if err := exec.Command("git", "--git-dir="+dir, "update-ref", "refs/heads/work", strings.TrimSpace(string(out))).Run(); err != nil {
		return err
	}
	_, err = s.world.OpenPull(repo, login, githubsim.Pull{Title: "Work", Head: "work", Body: fmt.Sprintf("Closes #%d", number)})
	return err
}

func (s *theatre) run(ctx context.Context, token string, args []string) (text string, code int, err error) {
	var told bytes.Buffer
	env := setup.OS()
	env.Getenv, env.Dir, env.Stderr, env.HTTP = s.getenv(token), s.dir, &told, s.world.Transport()
	t := terminal{in: strings.NewReader(""), out: &bytes.Buffer{}, err: &told, env: env}
	app := newApp(t)
	args, err = arrange(app.Commands, args)
	if err == nil {
		err = app.RunContext(ctx, args)
	}
	code = report(t, err)
	return told.String(), code, err
}

func (s *theatre) getenv(token string) func(string) string {
	return func(name string) string {
		if name == "GH_TOKEN" {
			return token
		}
		return s.vars[name]
	}
}

func (s *theatre) answer(ctx context.Context, q question, seen map[string]bool) []string {
	if q.mark == "$" {
		return s.ask(ctx, q.line, seen)
	}
	page, kind, _ := strings.Cut(q.line, " ")
	text, err := os.ReadFile(page)
	_, rest, found := strings.Cut(string(text), "\n```"+kind+"\n")
	block, _, _ := strings.Cut(rest, "\n```")
	if err != nil || !found {
		return []string{fmt.Sprintf("%s has no block %q: %v", page, kind, err)}
	}
	return strings.Split(block, "\n")
}

// ask runs the command line that goes wrong and returns what it says, without what differs from run to run.
func (s *theatre) ask(ctx context.Context, line string, seen map[string]bool) []string {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if s.stopped {
		cancel()
	}
	text, code, err := s.run(ctx, s.vars["GH_TOKEN"], words(strings.ReplaceAll(line, "/home/me", s.home)))
	note(err, seen)
	text = strings.ReplaceAll(text, s.home, "/home/me")
	for _, r := range []struct{ pattern, by string }{
		{`\b\d{8}-\d{6}-[0-9a-f]{8}\b`, "RUN"},
		{`\b[0-9a-f]{40}\b`, "OID"},
		{`issuecomment-\d+`, "issuecomment-ID"},
		{`127\.0\.0\.1:\d{4,5}->127`, "127"},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.by)
	}
	answer := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return append(answer, fmt.Sprintf("exit %d", code))
}

// note collects the types of an error and of all it wraps.
func note(err error, seen map[string]bool) {
	if err == nil {
		return
	}
	kind := reflect.TypeOf(err)
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	seen[strings.TrimPrefix(kind.PkgPath(), "github.com/label-state/label-state/")+"."+kind.Name()] = true
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		note(e.Unwrap(), seen)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			note(one, seen)
		}
	}
}
