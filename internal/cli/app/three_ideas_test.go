package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"

	labelstate "github.com/label-state/label-state"
	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/sample"
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
// to each other: dedup-check, renew, release, the board, the hook and the Go package. In the end
// GitHub fails, and nobody may say anything else than that.
func TestThreeIdeas(t *testing.T) {
	count := map[idea]int{}
	eachSeed(t, events, 3, 1, func(s *trialWorld, seed int) {
		situation := s.bring(append([]event{{line: claimAsL1}}, situation(events, seed, 5)...))
		for _, w := range workers {
			count[s.ideas(w, situation)]++
		}
		s.fails(situation)
	})

	if count[mine] < sample.Size(5, 50) || count[lost] < sample.Size(20, 200) {
		t.Errorf("%v: too few of a kind to tell", count)
	}
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
	return claim.Worker{Codename: view.Holder.Codename, FiringID: view.Holder.Firing}
}

// fails lets GitHub fail, and asks everybody again.
func (s *trialWorld) fails(situation string) {
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
