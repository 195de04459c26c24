package try

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
)

func (s *Story) prepare(ctx context.Context) error {
	s.act("An embedded GitHub, two agents and an operator, each with a clone and the hook")
	op := s.player("olga", olga)
	if err := op.clone(ctx); err != nil {
		return err
	}

	r, err := op.show(ctx, s.Programs.CLI, "labels", "sync", repo)
	if err != nil {
		return err
	}

	s.check(r.Code == 0, "the lifecycle labels exist")
	r, err = op.show(ctx, s.Programs.CLI, "status", "1")
	s.check(err == nil && r.Code == 0 && strings.Contains(r.Output, "free"), "issue 1 is free")
	return err
}

// race lets two agents claim one issue at the same moment.
func (s *Story) race(ctx context.Context) error {
	s.act("Two agents race for issue 1; exactly one wins")
	crew := []*player{s.player("lucius", agents), s.player("drake", agents)}
	for _, p := range crew {
		if err := p.clone(ctx); err != nil {
			return err
		}
	}

	args := func(p *player) []string {
		return []string{"claim", repo + "#1", "--codename", p.name, "--branch", "retry-uploads"}
	}
	results, errs := make([]Result, len(crew)), make([]error, len(crew))
	var racing sync.WaitGroup
	for n, p := range crew {
		racing.Go(func() { results[n], errs[n] = p.run(ctx, s.Programs.CLI, args(p)...) })
	}

	racing.Wait()
	won := 0
	for n, p := range crew {
		p.prompt(s.Programs.CLI, args(p))
		s.quote(results[n].Output)
		if errs[n] == nil && results[n].Code == 0 {
			won++
			s.winner = p
		}
	}

	s.check(won == 1, "%d of %d won", won, len(crew))
	s.shows(1, "agent:in-flight")
	if s.winner == nil {
		return fmt.Errorf("nobody won")
	}

	return nil
}

// refusal is the operator finishing an issue that an agent holds.
func (s *Story) refusal(ctx context.Context) error {
	s.act("The operator pushes a commit that closes issue 1; the hook refuses and says who holds it")
	op := s.player("olga", olga)
	op.dir = s.Dir + "/olga"
	if err := op.commit(ctx, "quick-fix", "Retry uploads three times\n\nCloses #1"); err != nil {
		return err
	}

	r, err := op.show(ctx, "git", "push", "-q", "origin", "quick-fix")
	if err != nil {
		return err
	}

	s.check(r.Code != 0, "git push failed with exit %d", r.Code)
	s.check(strings.Contains(r.Output, s.winner.name), "it names the holder, %s", s.winner.name)
	s.check(!op.remoteHas(ctx, "quick-fix"), "nothing arrived on the server")
	return nil
}

// delivery is the holder's own push.
func (s *Story) delivery(ctx context.Context) error {
	s.act("The holder's own push of the same words is allowed, without output")
	if err := s.winner.commit(ctx, "retry-uploads", "Retry uploads with back-off\n\nCloses #1"); err != nil {
		return err
	}

	r, err := s.winner.show(ctx, "git", "push", "-q", "origin", "retry-uploads")
	if err != nil {
		return err
	}

	s.check(r.Code == 0, "git push succeeded")
	s.check(!strings.Contains(r.Output, "label-state"), "the hook said nothing")
	s.check(s.winner.remoteHas(ctx, "retry-uploads"), "the branch is on the server")
	return nil
}

func (s *Story) opened(ctx context.Context) error {
	s.act("It opens a pull request; the Action moves the issue to agent:pr-open")
	var err error
	s.pull, err = s.server.OpenPull(repo, "agents",
		githubsim.Pull{Title: "Retry uploads", Body: "Closes #1", Head: "retry-uploads"})
	if err != nil {
		return err
	}

	s.note("pull request #%d: Closes #1", s.pull)
	if err := s.deliver(ctx, "pull_request", "opened"); err != nil {
		return err
	}

	s.shows(1, "agent:pr-open")
	return nil
}

// killed is an agent that dies while it holds an issue.
func (s *Story) killed(ctx context.Context) error {
	s.act("An agent claims issue 2 and is killed; five hours later the sweep releases the issue")
	p := s.player("vera", agents)
	var out bytes.Buffer
	script := `"$0" claim "$1" --codename vera --ttl 4h && exec sleep 600`
	cmd := p.command(ctx, &out, "sh", "-c", script, s.Programs.CLI, repo+"#2")
	p.prompt(s.Programs.CLI, []string{"claim", repo + "#2", "--codename", "vera", "--ttl", "4h"})
	if err := cmd.Start(); err != nil {
		return err
	}

	claimed := false
	for n := 0; n < 200 && !claimed; n++ { // ten seconds at most
		time.Sleep(50 * time.Millisecond)
		claimed = s.labels(2) == "agent:in-flight"
	}

	if err := cmd.Process.Kill(); err != nil {
		return err
	}
	_ = cmd.Wait()
	s.quote(out.String())
	s.check(claimed, "vera held the issue when it was killed (signal 9)")
	s.note("five hours pass on the embedded GitHub's clock")
	s.server.Skip(5 * time.Hour)
	if err := s.sweep(ctx); err != nil {
		return err
	}

	s.shows(2, "agent:implement")
	return nil
}

// sweep runs the Action as its schedule does.
func (s *Story) sweep(ctx context.Context) error {
	r, err := s.action(ctx, githubsim.Event{Name: "schedule", Repo: repo, Payload: []byte("{}")})
	if err != nil {
		return err
	}

	s.check(r.Code == 0, "the scheduled sweep is green")
	return nil
}

// contributed is the work of somebody who may not label, in a fork.
func (s *Story) contributed(ctx context.Context) error {
	s.act("A contributor who may not label takes issue 3 by /claim; an agent is refused, and the pull request moves the label")
	s.note("settings: contributors: {claim: labelled, pull_requests: claim}; issue 3 is a good first issue")
	s.note("rob comments on issue 3: /claim")
	if _, err := s.server.AddComment(repo, 3, "rob", "/claim"); err != nil {
		return err
	}
	if err := s.deliver(ctx, "issue_comment", "created"); err != nil {
		return err
	}

	r, err := s.winner.show(ctx, s.Programs.CLI, "claim", repo+"#3", "--codename", s.winner.name)
	if err != nil {
		return err
	}

	s.check(r.Code == 1 && strings.Contains(r.Output, "rob"), "the agent's claim is refused, and names rob")
	p := s.player("rob", rob)
	if err := p.cloneOf(ctx, fork); err != nil {
		return err
	}
	if err := p.commit(ctx, "name-the-folder", "Name the folder\n\nCloses #3"); err != nil {
		return err
	}

	r, err = p.show(ctx, "git", "push", "-q", "origin", "name-the-folder")
	if err != nil {
		return err
	}

	s.check(r.Code == 0, "git push to the fork succeeded")
	pull, err := s.server.OpenPull(repo, "rob",
		githubsim.Pull{Title: "Name the folder", Body: "Closes #3", Head: "rob:name-the-folder"})
	if err != nil {
		return err
	}

	s.note("pull request #%d from the fork: Closes #3; a run for a fork may only read, so the next sweep moves the label", pull)
	if err := s.sweep(ctx); err != nil {
		return err
	}

	s.shows(3, "good first issue do-not-pickup agent:pr-open")
	return nil
}

func (s *Story) merged(ctx context.Context) error {
	s.act("The pull request is merged; the Action marks issue 1 done")
	if err := s.server.MergePull(repo, s.pull, "olga"); err != nil {
		return err
	}

	s.note("olga merges #%d", s.pull)
	if err := s.deliver(ctx, "pull_request", "closed"); err != nil {
		return err
	}

	s.shows(1, "agent:done")
	r, err := s.player("olga", olga).show(ctx, s.Programs.CLI, "log", repo+"#1")
	s.check(err == nil && r.Code == 0, "the issue's log has every step")
	return err
}

func (s *Story) note(format string, args ...any) {
	fmt.Fprintf(s.Out, "   - %s\n", fmt.Sprintf(format, args...))
}
