package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/dedup"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
)

// events are what a situation is made of, in the words of theatre.prepare. One that makes no sense after the others, such as a
// claim of what is held, is left out.
var events = []string{
	"label acme/app#1 olga agent:implement",
	"label acme/app#1 olga agent:plan-pending-approval",
	"label acme/app#1 olga agent:done",
	"label acme/app#1 olga agent:in-flight",
	"label acme/app#1 olga agent:pr-open",
	"label acme/app#1 olga do-not-pickup",
	"label acme/app#1 olga wip",
	"comment acme/app#1 agents <!-- agent-claim:codename=A firing_id=f1 -->",
	"comment acme/app#1 agents <!-- agent-claim:codename=A firing_id=f2 -->",
	"comment acme/app#1 agents <!-- agent-claim:codename=B firing_id=b1 nonce=12345678 -->",
	"comment acme/app#1 agents <!-- agent-release:codename=A firing_id=f1 outcome=already-implemented -->",
	"comment acme/app#1 agents <!-- agent-release:codename=A firing_id=f1 pr=https://github.com/acme/secret/pull/1 -->",
	"comment acme/app#1 agents <!-- agent-release:codename=A firing_id=f2 pr=https://github.com/acme/app/pull/77 -->",
	"label-state claim acme/app#1 --codename lucius --firing-id l1 --ttl 30m",
	"label-state claim acme/app#1 --codename lucius --firing-id l2 --ttl 30m",
	"label-state release acme/app#1 --codename lucius --firing-id l1 --outcome failure",
	"label-state release acme/app#1 --force",
	"label-state bundle claim checkout acme/app#1 acme/web#1 --codename bee --firing-id b1",
	"label-state plan post acme/app#1 --codename lucius --firing-id l1 --text Plan",
	"label-state sweep-claims -R acme/app",
	"label-state repo pause acme/app",
	"label-state repo pause acme/app --local",
	"label-state repo resume acme/app",
	"block",
	"pull acme/app#1 drake",
	"assign acme/app#1 olga olga",
	"assign acme/app#1 olga agents",
	"close acme/app#1 olga",
	"later 5m",
	"later 32m",
	"later 5h",
}

// TestOneAnswer holds everybody who says whether an issue may be taken to each other: dedup-check, status, work list, next, the
// board, the hook and, last, the claim itself (spec.md#the-verdict).
func TestOneAnswer(t *testing.T) {
	situations := rapid.SliceOfN(rapid.SampledFrom(events), 0, 7)
	count := map[string]int{}
	for seed := range 40 {
		situation := situations.Example(seed)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := stageFor(t, &trial{})
			s.runGit = new(gitAnswers).answer // a command asks three questions that have one answer here
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)))
				s.open(t)
				for _, line := range situation {
					s.perhaps(line)
				}
				count[s.agree(strings.Join(situation, "\n"))]++
				s.close()
			})
		})
	}
	if count["free"] < 4 || count["held"] < 15 {
		t.Errorf("%v: too few of a kind to tell", count)
	}
}

// perhaps lets something happen, if it can.
func (s *theatre) perhaps(line string) {
	if line == "block" {
		_ = s.world.Block("acme/app", 1, 2, "olga")
		return
	}
	_ = s.prepare(line)
}

// says runs a command as somebody and returns its exit code and what it answers.
func (s *theatre) says(format string, args ...any) (code int, out string) {
	var told bytes.Buffer
	s.out = &told
	_, code, _ = s.run(s.Context(), "tok-agents", strings.Fields(fmt.Sprintf("label-state "+format, args...)))
	return code, told.String()
}

// agree asks everybody, and last claims.
func (s *theatre) agree(situation string) (answer string) {
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
	if _, text := s.says("status acme/app#1 --json"); !strings.Contains(text, fmt.Sprintf(`"answer":%q`, reply.Answer)) {
		fail("status: %s", text)
	}
	if code, text := s.says("claim acme/app#1 --dry-run %s", fresh); code != check {
		fail("claim --dry-run: %d %s", code, text)
	}
	_, listed := s.says("work list -R acme/app --json")
	if labelled, err := s.world.Labels("acme/app", 1); err != nil || strings.Contains(listed, `"github-1"`) != (check == cli.ExitYes && slices.Contains(labelled, "agent:implement")) {
		fail("labels %v (%v), work list: %s", labelled, err, listed)
	}
	if code, text := s.says("next -R acme/app --no-claim --json"); code == cli.ExitYes && strings.Contains(text, `"github-1"`) && check != cli.ExitYes {
		fail("next: %d %s", code, text)
	}
	if card := s.card(); card.State == "available" && check != cli.ExitYes && len(slices.DeleteFunc(card.Marks, harmlessMark)) == 0 {
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
	Issue string
	State string
	Marks []string
}

func (s *theatre) card() (c boardCard) {
	_, text := s.says("board -R acme/app --json")
	for line := range strings.Lines(text) {
		var one boardCard
		if json.Unmarshal([]byte(line), &one) == nil && one.Issue == "acme/app#1" {
			c = one
		}
	}
	return c
}

// harmlessMark reports marks of what may be taken all the same.
func harmlessMark(m string) bool { return m == "drift" || strings.HasSuffix(m, " failed") }

// hooked holds the hook's verdict about a push by a worker to what dedup-check and renew tell the same worker.
func (s *theatre) hooked(w claim.Worker, fail func(string, ...any)) {
	who := "--codename " + w.Codename + " --firing-id " + w.FiringID
	check, said := s.says("dedup-check acme/app#1 --json %s", who)
	var reply cli.Reply
	if err := json.Unmarshal([]byte(said), &reply); err != nil {
		fail("dedup-check of %s: %v", w, err)
	}
	named := func(codes ...lifecycle.Code) bool {
		return slices.ContainsFunc(reply.Reasons, func(r cli.Reason) bool { return slices.Contains(codes, lifecycle.Code(r.Code)) })
	}
	refused := s.refused(w)
	open := !named(lifecycle.CodeClosed)
	if held := named(lifecycle.CodeInFlight); open && held && !refused {
		fail("the hook lets %s push: %s", w, said)
	}
	if refused && (check == cli.ExitYes || !named(lifecycle.CodeInFlight, lifecycle.CodePROpen)) {
		fail("the hook refuses %s: %s", w, said)
	}
	renew, _ := s.says("renew acme/app#1 --dry-run %s", who)
	if renew == cli.ExitYes && (refused || named(lifecycle.CodeInFlight)) {
		fail("renew says that %s holds it, and the hook %t: %s", w, refused, said)
	}
}

// refused reports whether the hook would stop a push by the worker that finishes the issue: what the second stage asks of its
// session and of package dedup.
func (s *theatre) refused(w claim.Worker) bool {
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
		[]dedup.Reading{{Named: dedup.Named{Issue: issue}, Facts: got.Facts}})
	return len(r.Refusals) > 0
}

// TestOneAnswerOfPullRequests holds dedup-check, status, claim and the work sources to each other about a pull request
// (spec.md#held-pull-requests).
func TestOneAnswerOfPullRequests(t *testing.T) {
	var about []string
	for _, e := range events {
		if e != "block" && !strings.HasPrefix(e, "pull ") {
			about = append(about, strings.ReplaceAll(e, "acme/app#1", "acme/app#4"))
		}
	}
	about = append(about, "merge acme/app#4 olga")
	situations := rapid.SliceOfN(rapid.SampledFrom(about), 0, 5)
	count := map[string]int{}
	for seed := range 20 {
		situation := situations.Example(seed)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := stageFor(t, &trial{})
			s.runGit = new(gitAnswers).answer // a command asks three questions that have one answer here
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)))
				s.open(t)
				s.perhaps("pull acme/app#1 drake")
				for _, line := range situation {
					s.perhaps(line)
				}
				count[s.agreeOnPull(strings.Join(situation, "\n"))]++
				s.close()
			})
		})
	}
	if count["free"] < 3 || count["held"] < 5 {
		t.Errorf("%v: too few of a kind to tell", count)
	}
}

func (s *theatre) agreeOnPull(situation string) string {
	const fresh = "--codename rex --firing-id r1"
	check, said := s.says("dedup-check acme/app#4 --json %s", fresh)
	var reply struct{ Answer string }
	if err := json.Unmarshal([]byte(said), &reply); err != nil {
		s.Fatalf("%s\ndedup-check: %v: %s", situation, err, said)
	}
	for _, never := range []string{"work list -R acme/app --json", "next -R acme/app --no-claim --json"} {
		if _, text := s.says("%s", never); strings.Contains(text, `"github-4"`) || strings.Contains(text, "acme/app#4") {
			s.Errorf("%s\n%s offers a pull request: %s", situation, never, text)
		}
	}
	if _, text := s.says("status acme/app#4 --json"); !strings.Contains(text, fmt.Sprintf(`"answer":%q`, reply.Answer)) {
		s.Errorf("%s\ndedup-check says %s, status: %s", situation, said, text)
	}
	for _, claim := range []string{"claim acme/app#4 --dry-run ", "claim acme/app#4 "} {
		if code, text := s.says("%s", claim+fresh); code != check {
			s.Errorf("%s\ndedup-check says %d %s, %s: %d %s", situation, check, said, claim, code, text)
		}
	}
	return reply.Answer
}
