package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sethvargo/go-githubactions"

	labelstate "github.com/label-state/label-state"
	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/action"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/sample"
	"github.com/label-state/label-state/internal/setup"
)

// An idea is what a front end takes a worker's hold for.
type idea string

const (
	mine    idea = "mine"
	lost    idea = "lost"    // it was the worker's, or somebody else has it
	unknown idea = "unknown" // it could not be found out
)

// workers are those that TestThreeIdeas asks about. Some have claimed in some situations.
var workers = []claim.Worker{
	{Codename: "lucius", FiringID: "l1"},
	{Codename: "lucius", FiringID: "l2"},
	{Codename: "A", FiringID: "f1"},
	{Codename: "A", FiringID: "f2"},
	{Codename: "rex", FiringID: "r1"}, // never
}

// TestThreeIdeas holds all who say whether a hold is the asker's, is lost, or could not be found out
// to each other: dedup-check, renew, release, the board, the hook, the Go package and the Action's
// guard. In the end GitHub fails, and nobody may say anything else than that.
func TestThreeIdeas(t *testing.T) {
	count := map[idea]int{}
	guarded := 0
	eachSeed(t, events, 3, 1, func(s *trialWorld, seed int) {
		situation := s.bring(append([]event{{line: claimAsL1}}, situation(events, seed, 5)...))
		pull := s.rival()
		var holders []claim.Worker
		for _, w := range workers {
			got := s.ideas(w, situation)
			count[got]++
			if got == mine {
				holders = append(holders, w)
			}
		}

		guarded += s.guardKnows(situation, pull, holders)
		s.fails(situation, pull)
	})

	if count[mine] < sample.Size(5, 50) || count[lost] < sample.Size(20, 200) || guarded < sample.Size(5, 50) {
		t.Errorf("%v, %d for the guard: too few of a kind to tell", count, guarded)
	}
}

// rival is a pull request by somebody without a hold that closes the issue.
func (s *trialWorld) rival() (number int) {
	if err := s.world.newBranch("acme/app", "refs/heads/rival"); err != nil {
		s.Fatal(err)
	}

	number, err := s.world.OpenPull("acme/app", "drake",
		githubsim.Pull{Title: "Work", Head: "rival", Body: "Closes #1"})
	if err != nil {
		s.Fatal(err)
	}

	return number
}

// guardKnows holds the guard to what the workers were told: it refuses the rival's pull request
// because of a worker exactly when the hold is that worker's own. A person who withholds the issue
// has stopped its worker; the hold keeps others out until it is released.
func (s *trialWorld) guardKnows(situation string, pull int, holders []claim.Worker) (known int) {
	code, said := s.guard(pull)
	labelled, err := s.world.Labels("acme/app", 1)
	if err != nil {
		s.Fatal(err)
	}

	withheld := slices.Contains(labelled, "do-not-pickup")
	for _, w := range workers {
		held := fmt.Sprintf("held by %s (run %s)", w.Codename, w.FiringID)
		own, named := slices.Contains(holders, w), strings.Contains(said, held)
		if own {
			known++
		}
		if own && !named || named && !own && !withheld || named && code != action.ExitNo {
			s.Errorf("%s\nthe hold is %s's own: %t; the guard, exit code %d: %s", situation, w, own, code, said)
		}
	}

	return known
}

// guard runs the Action's guard for a pull request and returns its exit code and its log.
func (s *trialWorld) guard(pull int) (code int, said string) {
	var log strings.Builder
	env := setup.OS()
	env.Getenv, env.Dir, env.Stderr, env.HTTP = s.getenv("tok-agents"), s.dir, &log, s.world.Transport()
	env.Exec = s.runGit
	session, err := setup.Open(s.Context(), env, setup.Options{Repo: "acme/app", Tolerant: true})
	if err != nil {
		return action.ExitUnknown, err.Error()
	}

	event := fmt.Appendf(nil, `{"action":"opened","number":%d,"pull_request":{"number":%[1]d,`+
		`"head":{"repo":{"full_name":"acme/app"}}},"repository":{"full_name":"acme/app"},"sender":{"login":"drake"}}`, pull)
	step := &action.Step{
		Inputs:  action.Inputs{Mode: "guard", FailOnIncomplete: true},
		Console: action.NewConsole(githubactions.New(githubactions.WithWriter(&log)), &log),
		Summary: io.Discard,
		Output:  io.Discard,
		Now:     time.Now(),
		Word:    setup.Word,
		Host:    "github.com",
	}

	if step.Event, err = action.ParseEvent("pull_request", event); err != nil {
		s.Fatal(err)
	}

	step.Place = action.Place{
		Repo:   session.Repo,
		Ledger: session.Ledger,
		Hub:    step.Judged(session.Client, session.Ledger, session.Repo),
		Guard:  "fail",
	}
	step.Open = func(context.Context, claim.Repo) (action.Place, error) { return step.Place, nil }
	code = action.Run(s.Context(), step)
	if err := session.Close(); err != nil {
		s.Fatal(err)
	}

	return code, log.String()
}

// ideas asks everybody what a worker's hold is.
func (s *trialWorld) ideas(w claim.Worker, situation string) idea {
	who := "--codename " + w.Codename + " --firing-id " + w.FiringID
	_, said := s.says("dedup-check acme/app#1 --json %s", who)
	var reply answer.Answer
	if err := json.Unmarshal([]byte(said), &reply); err != nil {
		s.Fatalf("%s\ndedup-check of %s: %v: %s", situation, w, err, said)
	}

	want := ideaOf(s.says("renew acme/app#1 --dry-run %s", who))
	fail := func(format string, args ...any) {
		s.Helper()
		s.Errorf("%s\n%s: the hold is %s for renew; %s\ndedup-check: %s", situation, w, want, fmt.Sprintf(format, args...), said)
	}

	taken := slices.ContainsFunc(reply.Reasons,
		func(r answer.Reason) bool { return r.Code == string(lifecycle.CodeInFlight) })
	if reply.Yours && want != mine || taken && want == mine {
		fail("not so for dedup-check")
	}
	if card := s.card(); want == mine && card.Holder != w.String() {
		fail("the board says that %q holds it: %q", card.Holder, card.Marks)
	}
	if shown := s.holder(); want == mine && shown != w {
		fail("status says that %q holds it", shown)
	}
	if want == mine && s.refused(w) {
		fail("the hook refuses its push")
	}
	if err := s.renews(w); ideaOfError(err) != want {
		fail("the Go package says: %v", err)
	}

	return want
}

// holder is whom status names.
func (s *trialWorld) holder() claim.Worker {
	_, text := s.says("status acme/app#1 --json")
	var view cli.StatusView
	if err := json.Unmarshal([]byte(text), &view); err != nil || view.Holder == nil {
		return claim.Worker{}
	}
	return claim.Worker{Codename: view.Holder.Codename, FiringID: view.Holder.FiringID}
}

// fails lets GitHub fail, and asks everybody again.
func (s *trialWorld) fails(situation string, pull int) {
	bad := func(*http.Request) *githubsim.Fault { return &githubsim.Fault{Status: http.StatusBadGateway} }
	s.world.fault.Store(&bad)
	const who = " --codename lucius --firing-id l1"
	for _, line := range []string{
		"dedup-check acme/app#1" + who, "status acme/app#1", "renew acme/app#1" + who, "claim acme/app#1" + who,
		"release acme/app#1 --outcome failure" + who, "next -R acme/app --codename lucius", "board -R acme/app --json",
	} {
		if code, text := s.says("%s", line); code != answer.ExitUnknown {
			s.Errorf("%s\n%s, while GitHub fails: exit code %d: %s", situation, line, code, text)
		}
	}

	if code, said := s.guard(pull); code != action.ExitUnknown {
		s.Errorf("%s\nthe guard, while GitHub fails: exit code %d: %s", situation, code, said)
	}
	if got := ideaOfError(s.renews(workers[0])); got != unknown {
		s.Errorf("%s\nRenew of the package, while GitHub fails: %s", situation, got)
	}
}

// renews renews a worker's hold with the Go package.
func (s *trialWorld) renews(w claim.Worker) error {
	c, err := labelstate.Open(s.Context(), labelstate.Options{
		Repo:  "acme/app",
		Token: "tok-agents",
		HTTP:  s.world.Transport(),
	})
	if err != nil {
		return err
	}

	_, err = c.Renew(s.Context(), labelstate.Hold{
		Host:     c.Host(),
		Repo:     c.Repo(),
		Number:   1,
		Codename: w.Codename,
		FiringID: w.FiringID,
	})

	return errors.Join(err, c.Close())
}

// ideaOf is what an exit code says.
func ideaOf(code int, _ string) idea {
	switch code {
	case answer.ExitYes:
		return mine
	case answer.ExitNo:
		return lost
	}

	return unknown
}

// ideaOfError is what an error of the Go package says.
func ideaOfError(err error) idea {
	switch {
	case err == nil:
		return mine
	case errors.Is(err, labelstate.ErrLost):
		return lost
	}

	return unknown
}
