// Command action is the GitHub Action: one step that moves lifecycle labels on pull-request events
// and sweeps dead claims on a schedule.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/sethvargo/go-githubactions"

	"github.com/label-state/label-state/internal/action"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/setup"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, setup.OS(), os.Stdout)
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
	step := &action.Step{Inputs: in, Console: action.NewConsole(gh, out), Now: time.Now(), Word: word, Output: io.Discard, Summary: io.Discard}
	files, fileErr := open(env, step)
	defer files()
	err = errors.Join(fileErr, err)
	if err == nil {
		err = place(step, env)
	}
	if err != nil {
		return action.Refuse(step, err, action.ExitCalled)
	}
	if err := connect(ctx, step, env); err != nil {
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
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("read the event: %w", err)
		}
		payload = data
	}
	e, err := action.ParseEvent(env.Getenv("GITHUB_EVENT_NAME"), payload)
	if err != nil {
		return err
	}
	owner, name, ok := strings.Cut(env.Getenv("GITHUB_REPOSITORY"), "/")
	if !ok {
		return errors.New("GITHUB_REPOSITORY is not set: run this as a GitHub Action")
	}
	s.Event, s.Repo = e, ledger.Repo{Owner: owner, Name: name}
	return nil
}

// connect opens the session. The address and the token are the step's own; nothing else in the
// environment may redirect them.
func connect(ctx context.Context, s *action.Step, env setup.Environment) error {
	api := s.Inputs.APIURL
	if api == "" {
		api = env.Getenv("GITHUB_API_URL")
	}
	if s.Inputs.Token == "" {
		return errors.New("input token is empty; leave it out to use github.token")
	}
	session, err := setup.Open(ctx, env, setup.Options{
		Repo: s.Repo.String(), Config: s.Inputs.Config, API: api, Token: s.Inputs.Token, DryRun: s.Inputs.DryRun,
	})
	if err != nil {
		return err
	}
	s.Ledger, s.Hub = session.Ledger, session.Client
	s.Guard = session.Config.Guard
	if s.Inputs.Guard != "" {
		s.Guard = s.Inputs.Guard
	}
	s.Host = webHost(session.Endpoints.Web)
	return nil
}

func webHost(web string) string {
	u, err := url.Parse(web)
	if err != nil {
		return ""
	}
	return u.Host
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

// word returns eight random hexadecimal digits; crypto/rand never fails.
func word() string {
	var b [4]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
