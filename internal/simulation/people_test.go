package simulation

import (
	"context"
	"fmt"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/ledger"
)

// meddle is the day of people: on the site, and with the command line.
func (a *actor) meddle() {
	for {
		a.idle(8 * time.Minute)
		if time.Now().After(a.until) {
			return
		}

		n := 1 + a.rng.IntN(a.issues)
		deeds := []func(int) (string, error){
			a.label, a.label, a.closeOrReopen, a.talk, a.forge, a.propose, a.decide,
			a.decide,
		}
		what, err := deeds[a.rng.IntN(len(deeds))](n)
		a.note("#%d %s: %v", n, what, err)
		if a.rng.IntN(6) == 0 {
			a.operate(n)
		}
	}
}

// label puts a label on or takes it off, legal or not.
func (a *actor) label(n int) (string, error) {
	names := []string{"do-not-pickup", "agent:in-flight", "agent:implement", "agent:done", "agent:pr-open", "bug"}
	name := names[a.rng.IntN(len(names))]
	if a.rng.IntN(2) == 0 {
		return "labels it " + name, a.server.AddLabels(app, n, "olga", name)
	}
	return "takes off " + name, a.server.RemoveLabel(app, n, "olga", name)
}

func (a *actor) closeOrReopen(n int) (string, error) {
	if i, err := a.server.Issue(app, n); err != nil || i.State == "open" {
		if a.rng.IntN(3) > 0 {
			return "thinks of closing it", err
		}
		return "closes it", a.server.Close(app, n, "olga")
	}

	return "reopens it", a.server.Reopen(app, n, "olga")
}

// talk quotes a record, which makes none.
func (a *actor) talk(n int) (string, error) {
	all := a.comments(n)
	text := "Any news?"
	if len(all) > 0 {
		text = "> " + all[a.rng.IntN(len(all))].Body + "\n\nWhat does that mean?"
	}

	_, err := a.server.AddComment(app, n, "tia", text)
	return "talks", err
}

// forge copies a record, or ends a hold, without the right to.
func (a *actor) forge(n int) (string, error) {
	all := a.comments(n)
	text := fmt.Sprintf("<!-- agent-claim:codename=mallory firing_id=m-%s ts=%s nonce=00000000 ttl=86400 state=held -->", a.word(), time.Now().UTC().Format(time.RFC3339))
	if len(all) > 0 && a.rng.IntN(2) == 0 {
		text = all[a.rng.IntN(len(all))].Body
	}

	_, err := a.server.AddComment(app, n, "mallory", text)
	return "is forged", err
}

// propose opens a pull request that closes the issue.
func (a *actor) propose(n int) (string, error) {
	pull, err := a.server.OpenPull(app, "olga",
		githubsim.Pull{Title: "By hand", Body: fmt.Sprintf("Fixes #%d", n), Head: "by-hand-" + a.word()})
	return fmt.Sprintf("gets pull request #%d", pull), err
}

// decide merges or closes one of the pull requests.
func (a *actor) decide(int) (string, error) {
	var open []int
	for n := a.issues + 1; ; n++ {
		i, err := a.server.Issue(app, n)
		if err != nil {
			break
		}

		if i.State == "open" {
			open = append(open, n)
		}
	}

	if len(open) == 0 {
		return "decides nothing", nil
	}
	pull := open[a.rng.IntN(len(open))]
	if a.rng.IntN(2) == 0 {
		return fmt.Sprintf("merges #%d", pull), a.server.MergePull(app, pull, "olga")
	}

	return fmt.Sprintf("closes #%d", pull), a.server.Close(app, pull, "olga")
}

// operate takes an issue back with the command line.
func (a *actor) operate(n int) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		l, _ := a.start()
		if a.rng.IntN(2) == 0 {
			_, err := l.Revoke(context.Background(), ref(n), "olga", "stop")
			a.note("#%d revoke: %v", n, err)
			return
		}

		_, ended, err := l.Force(context.Background(), ref(n), "olga", "needed")
		a.note("#%d force: %d ended, %v", n, len(ended), err)
	}()

	<-done
}

// sweeps is a schedule.
func (a *actor) sweeps() {
	for time.Now().Before(a.until) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			l, client := a.start()
			r := l.Sweep(context.Background(), client, a.order())
			a.note("sweep: %d examined, %d findings, %d failed, %v", len(r.Examined), len(r.Findings), r.Failed, r.Stopped)
		}()

		<-done
		a.idle(30 * time.Minute)
	}
}

// order is what a scheduled sweep is told.
func (a *actor) order() ledger.Sweep {
	return ledger.Sweep{
		Repos: []claim.Repo{{Owner: "acme", Name: "app"}}, By: ledger.SweepID(time.Now(), a.word()),
		Since: time.Now().Add(-ledger.Lookback),
	}
}
