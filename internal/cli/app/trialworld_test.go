package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/redis"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/state"
)

// A trialWorld is where a trial is played.
type trialWorld struct {
	*testing.T
	home, dir, clone string
	vars             map[string]string
	change           func(*githubsim.Seed) // how GitHub differs from testdata/seed.json
	programs         string                // folder of those besides label-state
	world            *world
	typed            string    // what a person at a terminal types
	out              io.Writer // who reads the answers
	runGit           git.Exec  // nil starts a process
	interrupt        func(cancel func())
	meanwhile        sync.WaitGroup
	opened           int            // pull requests that opens has made
	letGo            []func() error // of what others have their hands on until the end
}

// stageFor makes the home and the clone of a trial, and what has to be there before time stands
// still.
func stageFor(t *testing.T, tr *trial) *trialWorld {
	s := &trialWorld{T: t, clone: cloneOf(t, "https://github.com/acme/app.git"), change: func(*githubsim.Seed) {}}
	s.home = filepath.Dir(s.clone)
	s.dir = s.home
	s.vars = map[string]string{"GH_TOKEN": "tok-agents", "HOME": s.home}
	if !golden.Updating() && !slices.ContainsFunc(tr.asked,
		func(q question) bool { return ownWords.MatchString(strings.Join(q.answer, "\n")) }) {
		s.runGit = new(gitAnswers).answer
	}

	s.interrupt, s.out = func(func()) {}, io.Discard
	for _, line := range tr.before {
		switch what, rest, _ := strings.Cut(line, " "); what {
		case "slack":
			s.vars["LABEL_STATE_SLACK_API_URL"] = slackSays(t, rest)
		case "configuration": // on the default branch
			s.change = func(seed *githubsim.Seed) {
				seed.Repos[0].Files = map[string]string{config.Path: "version: 1\n" +
					strings.ReplaceAll(rest, `\n`, "\n")}
			}

		case "limited": // PERMISSION=LEVEL...: the token tok-limited has these permissions alone
			s.change = func(seed *githubsim.Seed) {
				may := map[string]string{}
				for _, one := range strings.Fields(rest) {
					name, level, _ := strings.Cut(one, "=")
					may[name] = level
				}

				seed.Users = append(seed.Users,
					githubsim.SeedUser{Login: "agents", Token: "tok-limited", TokenPermissions: may})
			}

		case "locked": // acme/app#2
			s.change = func(seed *githubsim.Seed) { seed.Repos[0].Issues[1].Locked = true }

		case "archived", "without-issues":
			s.change = func(seed *githubsim.Seed) {
				seed.Repos[1].Archived, seed.Repos[1].HasIssues = what == "archived", new(what == "archived")
			}
		}
	}

	return s
}

// open makes the GitHub, whose day begins on a Monday in May.
func (s *trialWorld) open(t *testing.T) {
	time.Sleep(time.Until(time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)))
	w, err := newWorldWith(filepath.Join(s.home, ".github-server"), s.change)
	if err != nil {
		t.Fatal(err)
	}
	s.T, s.world = t, w
}

func (s *trialWorld) close() {
	s.meanwhile.Wait()
	for _, end := range s.letGo {
		if err := end(); err != nil {
			s.Error(err)
		}
	}
}

// prepare does what has happened before: a word for what, then its arguments.
func (s *trialWorld) prepare(line string) error {
	args := words(strings.ReplaceAll(line, "/home/me", s.home))
	switch args[0] {
	case "slack", "configuration", "archived", "without-issues", "locked", "limited": // stageFor
	case "label-state":
		return s.must(s.vars["GH_TOKEN"], args)
	case "as": // LOGIN label-state ARGUMENT...
		return s.must("tok-"+args[1], args[2:])
	case "env":
		s.vars[args[1]] = strings.Join(args[2:], " ")
	case "inherits": // NAME VALUE, which git has as well
		s.Setenv(args[1], args[2])
	case "without": // PROGRAM that a clone finds on PATH otherwise
		return os.Remove(cli.Binary(filepath.Join(s.home, "bin"), args[1]))
	case "in-clone":
		s.dir = s.clone
	case "in-folder": // below where we are
		s.dir = filepath.Join(s.dir, args[1])
	case "types":
		s.typed = strings.Join(args[1:], " ") + "\n"
	case "deaf": // whoever read the answers has gone
		return s.deafen()
	case "interrupt":
		s.interruptAt(args[1:])
	case "later":
		d, err := time.ParseDuration(args[1])
		time.Sleep(d)
		return err
	case "in": // DURATION and what happens then
		return s.then(args[1], strings.TrimPrefix(line, "in "+args[1]+" "))
	case "during": // N METHOD PART and what happens as such a request comes in
		at := strings.Join(args[:4], " ")
		s.world.at(args[1], args[2], args[3], func() { s.happens(strings.TrimPrefix(line, at+" ")) })
	case "file", "program", "link":
		return s.file(args)
	case "git":
		s.git(args[1:]...)
	case "busy":
		return s.hold(args[1])
	case "killed":
		return s.killed(args[1])
	case "guarded":
		return s.guarded()
	default:
		return s.github(args)
	}

	return nil
}

func (s *trialWorld) must(token string, args []string) error {
	text, code, _ := s.run(s.Context(), token, args)
	if code != answer.ExitYes {
		return fmt.Errorf("exit code %d: %s", code, text)
	}
	return nil
}

// then lets something happen while a command waits.
func (s *trialWorld) then(after, line string) error {
	d, err := time.ParseDuration(after)
	s.meanwhile.Go(func() {
		time.Sleep(d)
		s.happens(line)
	})
	return err
}

func (s *trialWorld) deafen() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	s.out, s.letGo = w, append(s.letGo, w.Close)
	return r.Close()
}

func (s *trialWorld) happens(line string) {
	if err := s.prepare(line); err != nil {
		s.Errorf("> %s: %v", line, err)
	}
}

// file writes a file; \n in its text is a line break. A link leads to where the text says.
func (s *trialWorld) file(args []string) error {
	name := args[1]
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.dir, name)
	}

	text := strings.ReplaceAll(strings.Join(args[2:], " "), `\n`, "\n")
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}

	switch args[0] {
	case "link":
		return os.Symlink(text, name)
	case "program":
		return os.WriteFile(name, []byte(text), 0o755)
	}

	return os.WriteFile(name, []byte(text), 0o644)
}

func (s *trialWorld) run(ctx context.Context, token string, args []string) (text string, code int, err error) {
	var told bytes.Buffer
	env := setup.OS()
	env.Getenv, env.Dir, env.Stderr, env.HTTP = s.getenv(token), s.dir, &told, s.world.Transport()
	env.Exec = s.runGit
	env.Waiting = func(string, time.Time) {} // how long something takes is not part of these answers
	env.Stores = map[string]lease.Opener{lease.Redis: redis.Open}
	env.Watched = func(w io.Writer) bool { return s.typed != "" && w != &told }
	t := cli.Terminal{
		Typed: args,
		Verbs: Verbs(),
		In: struct {
			io.Reader
			io.Writer
		}{strings.NewReader(s.typed), io.Discard},
		Out: s.out,
		Err: &told,
		Env: env,
	}
	err = cli.Execute(ctx, args, t)
	code = cli.Report(t, err)

	return told.String(), code, err
}

func (s *trialWorld) getenv(token string) func(string) string {
	return func(name string) string {
		if name == "GH_TOKEN" {
			return token
		}
		return s.vars[name]
	}
}

// ask runs the command line that goes wrong and returns what it says, without what differs from run
// to run.
func (s *trialWorld) ask(line string, seen map[string]bool) []string {
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	s.interrupt(cancel)
	args := words(strings.ReplaceAll(line, "/home/me", s.home))
	var text string
	var code int
	if args[0] == "label-state" {
		var err error
		text, code, err = s.run(ctx, s.vars["GH_TOKEN"], args)
		note(err, seen)
	} else {
		text, code = s.program(args)
	}

	text = strings.ReplaceAll(text, s.home, "/home/me")
	for _, r := range []struct{ pattern, by string }{
		{`\b\d{8}-\d{6}-[0-9a-f]{8}\b`, "RUN"},
		{`\b[0-9a-f]{40}\b`, "OID"},
		{`(?m)^::add-mask::.*\n`, ""}, // the runner keeps it
		{`\bclosed by [0-9a-f]{7}\b`, "closed by 3f2c91a"},
		{`issuecomment-\d+`, "issuecomment-ID"},
		{`127\.0\.0\.1:\d{4,5}->127`, "127"},
		{`http://127\.0\.0\.1:\d{5}`, "https://github.com"},
		{`127\.0\.0\.1:\d{5}`, "github.com"},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.by)
	}

	answer := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return append(answer, fmt.Sprintf("exit %d", code))
}

// interruptAt has the user stop the next command: before it begins, or as it sends its n-th request
// of a METHOD whose path has PART in it.
func (s *trialWorld) interruptAt(args []string) {
	if len(args) == 0 {
		s.interrupt = func(cancel func()) { cancel() }
		return
	}
	s.interrupt = func(cancel func()) { s.world.at(args[0], args[1], args[2], cancel) }
}

// killed is a feature whose trees were not made to the end.
func (s *trialWorld) killed(feature string) error {
	name := filepath.Join(s.home, ".local/state/label-state/features", feature+".json")
	data, err := os.ReadFile(name)
	return errors.Join(err, os.WriteFile(name, bytes.Replace(data, []byte("true"), []byte("false"), 1), 0o644))
}

// hold has another process at work on what a lock is for.
func (s *trialWorld) hold(lock string) error {
	lock = filepath.Join(s.home, lock)
	err := os.MkdirAll(filepath.Dir(lock), 0o700)
	if err != nil {
		return err
	}

	free, err := state.Lock(lock)
	s.letGo = append(s.letGo, free)
	return err
}
