package simulation

import (
	"context"
	"io"
	"time"

	"github.com/sethvargo/go-githubactions"

	"github.com/label-state/label-state/internal/action"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
)

// workflow hears of what happened, a minute late; some deliveries never come and some come twice.
func (a *actor) workflow() {
	heard := 0
	for time.Now().Before(a.until) {
		a.idle(time.Minute)
		events, err := a.server.EventsSince(heard)
		if err != nil {
			a.note("events: %v", err)
			return
		}

		heard += len(events)
		for _, e := range events {
			for range a.deliveries(e) {
				a.step(e.Name, e.Payload)
			}
		}
	}
}

// deliveries is how often an event arrives. What the workflow's own token does starts no workflow.
func (a *actor) deliveries(e githubsim.Event) int {
	if e.Name != "issues" && e.Name != "pull_request" && !(a.guests && commanded(e)) {
		return 0
	}

	switch n := a.rng.IntN(20); n {
	case 0, 1:
		return 2 * n
	}

	return 1
}

// scheduled is the Action on a schedule.
func (a *actor) scheduled() {
	for time.Now().Before(a.until) {
		a.step("schedule", []byte("{}"))
		a.idle(30 * time.Minute)
	}
}

// step is one run of the Action: one process.
func (a *actor) step(name string, payload []byte) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		event, err := action.ParseEvent(name, payload)
		if err != nil {
			a.note("event %s: %v", name, err)
			return
		}

		inputs, err := action.ReadInputs(func(string) string { return "" })
		if err != nil {
			a.note("inputs: %v", err)
			return
		}

		a.note("step on %s: %d", name, action.Run(context.Background(), a.runs(event, inputs)))
	}()

	<-done
}

func (a *actor) runs(event action.Event, inputs action.Inputs) *action.Step {
	l, client := a.start()
	place := action.Place{
		Repo:   claim.Repo{Owner: "acme", Name: "app"},
		Ledger: l,
		Hub:    client,
		Guard:  "warn",

		Contributors: a.contributors(),
	}
	gh := githubactions.New(githubactions.WithWriter(io.Discard),
		githubactions.WithGetenv(func(string) string { return "" }))

	return &action.Step{
		Place:   place,
		Inputs:  inputs,
		Event:   event,
		Host:    "github.com",
		Console: action.NewConsole(gh, io.Discard),
		Open:    func(context.Context, claim.Repo) (action.Place, error) { return place, nil },
		Summary: io.Discard,
		Output:  io.Discard,
		Now:     time.Now(),
		Word:    a.word,
	}
}
