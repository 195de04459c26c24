package try

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/githubsim"
)

// deliver runs the Action on the newest delivery of an event with that action.
func (s *Story) deliver(ctx context.Context, event, action string) error {
	events, _ := s.server.Events()
	for _, e := range slices.Backward(events) {
		if e.Name == event && e.Action == action {
			r, err := s.action(ctx, e)
			s.check(err == nil && r.Code == 0, "the Action's run on %s %s is green", event, action)
			return err
		}
	}

	return fmt.Errorf("no %s event %q was delivered", event, action)
}

// action runs the Action as the runner does: event file, variables, output and summary files.
func (s *Story) action(ctx context.Context, e githubsim.Event) (Result, error) {
	p := s.player("action", actions)
	s.seen++
	dir := filepath.Join(s.Dir, fmt.Sprintf("run-%d", s.seen))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Result{}, err
	}

	env, err := runnerEnv(dir, s.url, actions, e)
	if err != nil {
		return Result{}, err
	}
	p.env = append(p.env, env...)

	if s.Programs.Image == "" {
		return p.show(ctx, s.Programs.Action)
	}

	// From its image, as the runner runs a Docker action: the variables' names on the command line,
	// their values in the environment, the run's folder mounted where it is.
	args := []string{"run", "--rm", "--network", "host", "--volume", dir + ":" + dir, "--workdir", dir}
	for _, kv := range p.env {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "GITHUB_") || strings.HasPrefix(name, "INPUT_") {
			args = append(args, "--env", name)
		}
	}

	p.prompt("docker", []string{"run", p.Programs.Image})
	r, err := p.run(ctx, "docker", append(args, p.Programs.Image)...)
	p.quote(r.Output)
	return r, err
}
