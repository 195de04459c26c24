// Command action is the GitHub Action: one step that follows what happens to issues and pull
// requests, and sweeps dead claims on a schedule.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/sethvargo/go-githubactions"

	"github.com/label-state/label-state/internal/action"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/redis"
	"github.com/label-state/label-state/internal/setup"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	env := setup.OS()
	env.Stores = map[string]lease.Opener{lease.Redis: redis.Open}
	code := run(ctx, env, os.Stdout)
	stop()
	os.Exit(code)
}

// run reads the step's inputs and event, opens a session and runs the step.
func run(ctx context.Context, env setup.Environment, out io.Writer) int {
	gh := githubactions.New(githubactions.WithGetenv(env.Getenv), githubactions.WithWriter(out))
	in, err := action.ReadInputs(gh.GetInput)
	if in.Token != "" {
		gh.AddMask(in.Token)
	}

	step := &action.Step{
		Inputs:  in,
		Console: action.NewConsole(gh, out),
		Now:     time.Now(),
		Word:    setup.Word,
		Output:  io.Discard,
		Summary: io.Discard,
	}
	files, fileErr := open(env, step)
	defer files()
	err = errors.Join(fileErr, err)
	if err == nil && in.Token == "" {
		err = errors.New("input token is empty; leave it out to use github.token")
	}
	if err == nil {
		err = place(step, env)
	}

	if err != nil {
		return action.Refuse(step, err, action.ExitCalled)
	}

	// No git and no gh runs. With a root folder for its own the Action does not look into the
	// workspace either, where a checkout of anybody's pull request may lie.
	env.Dir, env.Stderr = string(filepath.Separator), step.Console
	env.Run = func(context.Context, setup.Command) ([]byte, error) { return nil, exec.ErrNotFound }
	env.Exec = func(context.Context, git.Command) ([]byte, error) { return nil, exec.ErrNotFound }
	var opened []*setup.Session
	defer func() {
		for _, s := range opened {
			_ = s.Close() // what goes wrong then changes nothing
		}
	}()

	if err := connect(ctx, step, env, &opened); err != nil {
		code := action.ExitUnknown
		if setup.Misconfigured(err) {
			code = action.ExitCalled
		}
		return action.Refuse(step, err, code)
	}

	return action.Run(ctx, step)
}

// place reads the event and the repository the run is for.
func place(s *action.Step, env setup.Environment) error {
	var payload []byte
	if path := env.Getenv("GITHUB_EVENT_PATH"); path != "" {
		data, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read the event: %w", err)
		}
		payload = data
	}

	e, err := action.ParseEvent(env.Getenv("GITHUB_EVENT_NAME"), payload)
	if err != nil {
		return err
	}

	repo := env.Getenv("GITHUB_REPOSITORY")
	owner, name, _ := strings.Cut(repo, "/")
	switch {
	case repo == "":
		return errors.New("GITHUB_REPOSITORY is not set: run this as a GitHub Action")
	case owner == "" || name == "":
		return fmt.Errorf("GITHUB_REPOSITORY is %q: expected OWNER/NAME", repo)
	}

	s.Event, s.Repo = e, claim.Repo{Owner: owner, Name: name}
	return nil
}

// connect opens the session of the workflow's repository, and says how to open others. The address
// and the token are the step's own; nothing else in the environment may redirect them. Every
// session is added to opened.
func connect(ctx context.Context, s *action.Step, env setup.Environment, opened *[]*setup.Session) error {
	options := setup.Options{
		Published: cmp.Or(s.Inputs.Config, config.Path),
		API:       cmp.Or(s.Inputs.APIURL, env.Getenv("GITHUB_API_URL")),
		Token:     s.Inputs.Token,
		DryRun:    s.Inputs.DryRun,
		First:     setup.First{Since: s.SweepSince()},
		Tolerant:  s.Judges(),
	}

	open := func(ctx context.Context, r claim.Repo) (*setup.Session, error) {
		o := options
		o.Repo = r.String()
		s, err := setup.Open(ctx, env, o)
		if err == nil {
			*opened = append(*opened, s)
		}

		return s, err
	}

	session, err := open(ctx, s.Repo)
	if err != nil {
		return err
	}

	s.Place, s.Unusable, s.Host = placeOf(s, session), session.Unusable, session.Endpoints.Host()
	s.Open = func(ctx context.Context, r claim.Repo) (action.Place, error) {
		other, err := open(ctx, r)
		if err != nil {
			return action.Place{}, err
		}
		return placeOf(s, other), nil
	}

	return nil
}

// placeOf is a session's repository by its own configuration; the guard input overrides that.
func placeOf(s *action.Step, o *setup.Session) action.Place {
	return action.Place{
		Repo:         o.Repo,
		Ledger:       o.Ledger,
		Hub:          s.Judged(o.Client, o.Ledger, o.Repo),
		Guard:        cmp.Or(s.Inputs.Guard, o.Config.Guard),
		Contributors: o.Config.Contributors,
	}
}

// open opens the runner's files for outputs and the summary; without them, as on a developer's
// machine, both are dropped.
func open(env setup.Environment, s *action.Step) (func(), error) {
	var opened []io.Closer
	done := func() {
		for _, f := range opened {
			f.Close()
		}
	}

	for variable, to := range map[string]*io.Writer{"GITHUB_OUTPUT": &s.Output, "GITHUB_STEP_SUMMARY": &s.Summary} {
		path := env.Getenv(variable)
		if path == "" {
			continue
		}

		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return done, fmt.Errorf("open %s: %w", variable, err)
		}

		opened = append(opened, f)
		*to = f
	}

	return done, nil
}
