package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/dedup"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/sample"
	"github.com/label-state/label-state/internal/setup"
)

// An event is what happens before everybody is asked.
type event struct {
	line  string // in the words of trialWorld.prepare, or one of bringOne's own
	after string // happens right before, for without it the line would be refused; may itself be refused
	exits []int  // what a command may answer besides yes, because of what came before
}

var events = []event{
	{line: "label acme/app#1 olga agent:implement"},
	{line: "label acme/app#1 olga agent:plan-pending-approval"},
	{line: "label acme/app#1 olga agent:done"},
	{line: "label acme/app#1 olga agent:in-flight"},
	{line: "label acme/app#1 olga agent:pr-open"},
	{line: "label acme/app#1 olga do-not-pickup"},
	{line: "label acme/app#1 olga wip"},
	{line: "comment acme/app#1 agents <!-- agent-claim:codename=A firing_id=f1 -->"},
	{line: "comment acme/app#1 agents <!-- agent-claim:codename=A firing_id=f2 -->"},
	{line: "comment acme/app#1 agents <!-- agent-claim:codename=B firing_id=b1 nonce=12345678 -->"},
	{line: "comment acme/app#1 agents <!-- agent-release:codename=A firing_id=f1 outcome=already-implemented -->"},
	{line: "comment acme/app#1 agents <!-- agent-release:codename=A firing_id=f1 pr=https://github.com/acme/secret/pull/1 -->"},
	{line: "comment acme/app#1 agents <!-- agent-release:codename=A firing_id=f2 pr=https://github.com/acme/app/pull/77 -->"},
	{line: "comment acme/app#1 mallory <!-- agent-claim:codename=A firing_id=f1 -->"},
	{line: "comment acme/app#1 mallory <!-- agent-release:codename=lucius firing_id=l1 outcome=already-implemented -->"},
	{line: claimAsL1, exits: []int{answer.ExitNo, answer.ExitWrong}}, // wrong: the key was used
	{line: "label-state claim acme/app#1 --codename lucius --firing-id l2 --ttl 30m", exits: []int{answer.ExitNo}},
	{
		line: "label-state release acme/app#1 --codename lucius --firing-id l1 --outcome failure", after: claimAsL1,
		exits: []int{answer.ExitNo},
	},
	{line: "label-state release acme/app#1 --force"},
	{
		line:  "label-state bundle claim checkout acme/app#1 acme/web#1 --codename bee --firing-id b1",
		exits: []int{answer.ExitNo},
	},
	{
		line:  "label-state plan acme/app#1 --codename lucius --firing-id l1 --body-file /home/me/plan.md",
		after: claimAsL1, exits: []int{answer.ExitNo},
	},
	{line: "label-state sweep-claims -R acme/app"},
	{line: "label-state repo pause acme/app"},
	{line: "label-state repo pause acme/app --local"},
	{line: "label-state repo resume acme/app"},
	{line: "block"},
	{line: "opens drake 1"},
	{line: "opens mallory 1"},
	{line: "opens mallory 2 3 4"}, // with one more, the fourth issue: the newer one moves none
	{line: "opens mallory 1 2 3 4"},
	{line: "opens trent 1 2"},
	{line: "assign acme/app#1 olga olga"},
	{line: "assign acme/app#1 olga agents"},
	{line: "close acme/app#1 olga"},
	{line: "later 5m"},
	{line: "later 32m"},
	{line: "later 5h"},
}

const claimAsL1 = "label-state claim acme/app#1 --codename lucius --firing-id l1 --ttl 30m"

// outsiders are logins whose records do not count.
var outsiders = []string{"mallory", "trent"}

// situation is what happens before everybody is asked: an event that comes first, so that nothing
// stands against it, and some that are drawn.
func situation(all []event, seed, most int) []event {
	return append([]event{all[seed%len(all)]}, rapid.SliceOfN(rapid.SampledFrom(all), 0, most).Example(seed)...)
}

// eachSeed plays a world for each seed: so many for each event that may come first, or in an ordinary
// run one for each event of a part of four, which are counted from 0.
func eachSeed(t *testing.T, all []event, times, part int, play func(s *trialWorld, seed int)) {
	t.Helper()
	for seed := range sample.Size(len(all), times*len(all)) {
		if !sample.Plays(all[seed%len(all)].line, part, 4) {
			continue
		}

		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := answering(t)
			synctest.Test(t, func(t *testing.T) {
				s.open(t)
				play(s, seed)
				s.close()
			})
		})
	}
}

// TestOneAnswer holds everybody who says whether an issue is free to each other: dedup-check,
// status, next, next --list, the board, the hook and, last, the claim itself (spec.md#the-verdict).
// An ordinary run begins with a quarter of the events.
func TestOneAnswer(t *testing.T) {
	count := map[string]int{}
	eachSeed(t, events, 5, 0, func(s *trialWorld, seed int) {
		count[s.agree(s.bring(situation(events, seed, 6)))]++
	})

	if count["free"] < sample.Size(2, 20) || count["held"] < sample.Size(7, 75) {
		t.Errorf("%v: too few of a kind to tell", count)
	}
}

// answering is a world with a plan to post, and two outsiders who each have a fork of acme/app;
// before is what a trial begins with.
func answering(t *testing.T, before ...string) *trialWorld {
	s := stageFor(t, &trial{before: before})
	if err := os.WriteFile(filepath.Join(s.home, "plan.md"), []byte("Plan"), 0o600); err != nil {
		t.Fatal(err)
	}

	change := s.change
	s.change = func(seed *githubsim.Seed) {
		change(seed)
		seed.Repos[0].Issues = append(seed.Repos[0].Issues,
			githubsim.SeedIssue{Number: 4, Title: "Another", Author: "olga"})
		for _, login := range outsiders {
			seed.Repos = append(seed.Repos, githubsim.SeedRepo{Name: login + "/app", ForkOf: "acme/app"})
		}
	}

	return s
}

// bring lets the events happen and returns what happened. The first must succeed; each later one,
// too, unless what came before it is a reason to refuse it.
func (s *trialWorld) bring(all []event) string {
	var told []string
	for n, e := range all {
		if e.after != "" {
			told = append(told, e.after)
			s.bringOne(event{line: e.after, exits: []int{answer.ExitNo, answer.ExitWrong}})
		}

		if n == 0 {
			e.exits = nil
		}
		told = append(told, e.line)
		if err := s.bringOne(e); err != nil {
			s.Fatalf("%s\nfailed: %v", strings.Join(told, "\n"), err)
		}
	}

	return strings.Join(told, "\n")
}

func (s *trialWorld) bringOne(e event) error {
	what, rest, _ := strings.Cut(e.line, " ")
	switch what {
	case "block":
		return s.world.Block("acme/app", 1, 2, "olga")
	case "merge": // of the pull request, unless it is closed
		if pull, err := s.world.Issue("acme/app", 5); err != nil || pull.State != "open" {
			return err
		}
		return s.world.MergePull("acme/app", 5, "olga")

	case "opens":
		login, issues, _ := strings.Cut(rest, " ")
		return s.opens(login, strings.Fields(issues))

	case "label-state":
		text, code, _ := s.run(s.Context(), s.vars["GH_TOKEN"], words(strings.ReplaceAll(e.line, "/home/me", s.home)))
		if code != answer.ExitYes && !slices.Contains(e.exits, code) {
			return fmt.Errorf("exit code %d: %s", code, text)
		}
		return nil
	}

	return s.prepare(e.line)
}

// opens is a pull request by a login that closes some issues. An outsider's comes from a fork.
func (s *trialWorld) opens(login string, issues []string) error {
	s.opened++
	from, branch, head := "acme/app", fmt.Sprintf("work-%d", s.opened), ""
	if slices.Contains(outsiders, login) {
		from, head = login+"/app", login+":"
	}

	if err := s.world.newBranch(from, "refs/heads/"+branch); err != nil {
		return err
	}
	_, err := s.world.OpenPull("acme/app", login,
		githubsim.Pull{Title: "Work", Head: head + branch, Body: "Closes #" + strings.Join(issues, ", closes #")})

	return err
}

// says runs a command as somebody and returns its exit code and what it answers.
func (s *trialWorld) says(format string, args ...any) (code int, out string) {
	var told bytes.Buffer
	s.out = &told
	_, code, _ = s.run(s.Context(), "tok-agents", strings.Fields(fmt.Sprintf("label-state "+format, args...)))
	return code, told.String()
}

// agree asks everybody, and last claims.
func (s *trialWorld) agree(situation string) (word string) {
	const fresh = "--codename rex --firing-id r1"
	check, said := s.says("dedup-check acme/app#1 --json %s", fresh)
	var reply struct {
		Answer  string
		Reasons []struct{ Code lifecycle.Code }
	}

	if err := json.Unmarshal([]byte(said), &reply); err != nil {
		s.Fatalf("%s\ndedup-check: %v: %s", situation, err, said)
	}

	fail := func(format string, args ...any) {
		s.Helper()
		s.Errorf("%s\ndedup-check says %d %s\n%s", situation, check, said, fmt.Sprintf(format, args...))
	}

	if _, text := s.says("status acme/app#1 --json"); !strings.Contains(text,
		fmt.Sprintf(`"answer":%q`, reply.Answer)) {
		fail("status: %s", text)
	}

	if code, text := s.says("claim acme/app#1 --dry-run %s", fresh); code != check {
		fail("claim --dry-run: %d %s", code, text)
	}
	_, listed := s.says("next --list -R acme/app --json")
	if labelled, err := s.world.Labels("acme/app", 1); err != nil ||
		strings.Contains(listed, `"github-1"`) != (check == answer.ExitYes &&
			slices.Contains(labelled, "agent:implement")) {
		fail("labels %v (%v), next --list: %s", labelled, err, listed)
	}

	if code, text := s.says("next -R acme/app --no-claim --json"); code == answer.ExitYes &&
		strings.Contains(text, `"github-1"`) && check != answer.ExitYes {
		fail("next: %d %s", code, text)
	}

	if card := s.card(); card.Column == "available" && check != answer.ExitYes &&
		len(slices.DeleteFunc(card.Marks, harmlessMark)) == 0 {
		fail("board: it looks ready")
	}

	for _, key := range []string{"rex:r1", "A:f1", "A:f2", "lucius:l1", "lucius:l2", "bee:b1"} {
		codename, firing, _ := strings.Cut(key, ":")
		w := claim.Worker{Codename: codename, FiringID: firing}
		s.hooked(w, fail)
	}

	switch code, text := s.says("claim acme/app#1 %s", fresh); {
	case code != check:
		fail("claim: %d %s", code, text)
	}

	return reply.Answer
}

// A card is what the board says of the issue.
type boardCard struct {
	Issue  string
	Column string
	Holder string
	Marks  []string
}

func (s *trialWorld) card() (c boardCard) {
	_, text := s.says("board -R acme/app --json")
	for line := range strings.Lines(text) {
		var one boardCard
		if json.Unmarshal([]byte(line), &one) == nil && one.Issue == "acme/app#1" {
			c = one
		}
	}

	return c
}

// harmlessMark reports marks of what is free all the same.
func harmlessMark(m string) bool { return m == "drift" || strings.HasSuffix(m, " failed") }

// hooked holds the hook's verdict about a push by a worker to what dedup-check and renew tell the
// same worker.
func (s *trialWorld) hooked(w claim.Worker, fail func(string, ...any)) {
	who := "--codename " + w.Codename + " --firing-id " + w.FiringID
	check, said := s.says("dedup-check acme/app#1 --json %s", who)
	var reply answer.Answer
	if err := json.Unmarshal([]byte(said), &reply); err != nil {
		fail("dedup-check of %s: %v", w, err)
	}

	named := func(codes ...lifecycle.Code) bool {
		return slices.ContainsFunc(reply.Reasons,
			func(r answer.Reason) bool { return slices.Contains(codes, lifecycle.Code(r.Code)) })
	}

	refused := s.refused(w)
	open := !named(lifecycle.CodeClosed)
	if held := named(lifecycle.CodeInFlight); open && held && !refused {
		fail("the hook lets %s push: %s", w, said)
	}

	if refused && (check == answer.ExitYes || !named(lifecycle.CodeInFlight, lifecycle.CodePROpen)) {
		fail("the hook refuses %s: %s", w, said)
	}
	renew, _ := s.says("renew acme/app#1 --dry-run %s", who)
	if renew == answer.ExitYes && (refused || named(lifecycle.CodeInFlight)) {
		fail("renew says that %s holds it, and the hook %t: %s", w, refused, said)
	}
}

// refused reports whether the hook would stop a push by the worker that finishes the issue: what
// the second stage asks of its session and of package dedup.
func (s *trialWorld) refused(w claim.Worker) bool {
	env := setup.OS()
	env.Getenv, env.Dir, env.Stderr, env.HTTP = s.getenv("tok-agents"), s.dir, &bytes.Buffer{}, s.world.Transport()
	env.Exec = s.runGit
	session, err := setup.Open(s.Context(), env, setup.Options{Repo: "acme/app"})
	if err != nil {
		s.Fatal(err)
	}

	issue := claim.Issue{Owner: "acme", Repo: "app", Number: 1}
	got := session.Client.FactsOf(s.Context(), []claim.Issue{issue})[0]
	if got.Err != nil {
		s.Fatal(got.Err)
	}

	got.Facts.Log = got.Facts.Log.ByToken()
	r := dedup.Check(session.Config.Rules(), dedup.Pusher{Worker: w, Repo: "acme/app", Branches: []string{"topic"}},
		[]dedup.Snapshot{{Named: dedup.Named{Issue: issue}, Facts: got.Facts}})
	return len(r.Refusals) > 0
}

// TestOneAnswerOfPullRequests holds dedup-check, status, claim and the work sources to each other
// about a pull request (spec.md#held-pull-requests). An ordinary run begins with half of the
// events.
func TestOneAnswerOfPullRequests(t *testing.T) {
	var about []event
	for _, e := range events {
		what := strings.Fields(e.line)
		// which are of issues alone
		if strings.Contains(e.line, "acme/app#1") && what[1] != "bundle" && what[1] != "plan" {
			e.line, e.after = strings.ReplaceAll(e.line, "acme/app#1", "acme/app#5"), strings.ReplaceAll(e.after,
				"acme/app#1", "acme/app#5")
			about = append(about, e)
		}
	}

	about = append(about, event{line: "merge"})
	count := map[string]int{}
	eachSeed(t, about, 5, 0, func(s *trialWorld, seed int) {
		if err := s.opens("drake", []string{"1"}); err != nil {
			s.Fatal(err)
		}
		count[s.agreeOnPull(s.bring(situation(about, seed, 4)))]++
	})

	if count["free"] < sample.Size(1, 15) || count["held"] < sample.Size(2, 25) {
		t.Errorf("%v: too few of a kind to tell", count)
	}
}

func (s *trialWorld) agreeOnPull(situation string) string {
	const fresh = "--codename rex --firing-id r1"
	check, said := s.says("dedup-check acme/app#5 --json %s", fresh)
	var reply struct{ Answer string }
	if err := json.Unmarshal([]byte(said), &reply); err != nil {
		s.Fatalf("%s\ndedup-check: %v: %s", situation, err, said)
	}

	for _, never := range []string{"next --list -R acme/app --json", "next -R acme/app --no-claim --json"} {
		if _, text := s.says("%s", never); strings.Contains(text, `"github-5"`) ||
			strings.Contains(text, "acme/app#5") {
			s.Errorf("%s\n%s offers a pull request: %s", situation, never, text)
		}
	}

	if _, text := s.says("status acme/app#5 --json"); !strings.Contains(text,
		fmt.Sprintf(`"answer":%q`, reply.Answer)) {
		s.Errorf("%s\ndedup-check says %s, status: %s", situation, said, text)
	}

	for _, claim := range []string{"claim acme/app#5 --dry-run ", "claim acme/app#5 "} {
		if code, text := s.says("%s", claim+fresh); code != check {
			s.Errorf("%s\ndedup-check says %d %s, %s: %d %s", situation, check, said, claim, code, text)
		}
	}

	return reply.Answer
}
