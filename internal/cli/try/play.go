package try

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/githubsim"
)

// A Stage is what the story is played with.
type Stage struct {
	Out      io.Writer
	Programs Programs
	Environ  []string                      // of the process; only PATH and the like are handed on
	Dir      string                        // an empty folder for clones and repositories
	Paint    func(ink, text string) string // colours a part of the story
}

// Programs are what the story runs: binaries, and for the Action an image instead when one is
// named.
type Programs struct{ CLI, Hook, Action, Image string }

// The repositories of the seed, and the tokens of its users.
const (
	repo = "acme/app"
	fork = "rob/app"
)

const (
	agents  = "tok-agents"
	olga    = "tok-olga"
	rob     = "tok-rob"
	actions = "tok-actions"
)

// A Story is one playing.
type Story struct {
	Stage
	server *githubsim.Server
	url    string
	step   int
	failed []string
	seen   int // webhook events already turned into runs of the Action
	pull   int // number of the pull request that the winner opened
	winner *player
}

// Play plays every act and returns an error that lists the checks that failed.
func Play(ctx context.Context, stage Stage) error {
	start := time.Now()
	s := &Story{Stage: stage}
	seed, err := githubsim.LoadSeed(strings.NewReader(defaultSeed))
	if err == nil {
		s.server, err = githubsim.New(seed, githubsim.Options{Dir: filepath.Join(s.Dir, "github")})
	}
	if err != nil {
		return fmt.Errorf("open the stage: %w", err)
	}

	var stop func()
	if s.url, stop, err = s.server.Listen("127.0.0.1:0"); err != nil {
		return fmt.Errorf("open the stage: %w", err)
	}

	defer stop()
	for _, act := range []func(context.Context) error{
		s.prepare, s.race, s.refusal, s.delivery, s.opened, s.killed,
		s.merged, s.contributed,
	} {
		if err := act(ctx); err != nil {
			return fmt.Errorf("act %d: %w", s.step, err)
		}
	}

	fmt.Fprintln(s.Out)
	if len(s.failed) > 0 {
		return fmt.Errorf("%d checks failed: %s", len(s.failed), strings.Join(s.failed, "; "))
	}

	fmt.Fprintf(s.Out, "All of it happened, in %s: %d requests to the embedded GitHub, real git, real processes.\n",
		time.Since(start).Round(100*time.Millisecond), len(s.server.Requests()))
	fmt.Fprint(s.Out, `
What next
  go run ./cmd/label-state sim              the same GitHub to play with; it prints what to try
  go install ./cmd/label-state              install it: the CLI, the hook, the MCP server
  label-state init                          set up a repository of your own, inside its clone
  go test ./...                             run the tests
`)

	return nil
}

// act announces the next one.
func (s *Story) act(title string) {
	s.step++
	fmt.Fprintf(s.Out, "\n%s\n", s.Paint(cli.InkBold, fmt.Sprintf("%d. %s", s.step, title)))
}

// check prints one checked fact and remembers a failure.
func (s *Story) check(ok bool, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	mark := s.Paint(cli.InkGreen, "ok  ")
	if !ok {
		mark = s.Paint(cli.InkAlarm, "FAIL")
		s.failed = append(s.failed, text)
	}

	fmt.Fprintf(s.Out, "   %s %s\n", mark, text)
}

// labels returns the lifecycle labels of an issue as GitHub shows them.
func (s *Story) labels(number int) string {
	all, err := s.server.Labels(repo, number)
	if err != nil {
		return err.Error()
	}
	return strings.Join(all, " ")
}

func (s *Story) shows(number int, want string) {
	got := s.labels(number)
	s.check(got == want, "%s#%d shows %s", repo, number, got)
}

// quote prints what a process said, indented. The runner swallows lines that name a secret, and so
// do we.
func (s *Story) quote(text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		if strings.HasPrefix(line, "::add-mask::") {
			continue
		}
		fmt.Fprintf(s.Out, "     %s\n", strings.TrimRight(line, "\n"))
	}
}
