package labelstate_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	labelstate "github.com/label-state/label-state"
	"github.com/label-state/label-state/internal/githubsim"
)

// github is an embedded GitHub with one repository and two issues.
func github() *githubsim.Server {
	server, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{{Login: "bot", Token: "tok", Permissions: map[string]string{"acme/app": "write"}}},
		Repos: []githubsim.SeedRepo{{Name: "acme/app", Issues: []githubsim.SeedIssue{
			{Number: 1, Title: "Retry the upload", Author: "bot", Labels: []string{labelstate.LabelImplement}},
			{Number: 2, Title: "Say which file", Author: "bot", Labels: []string{labelstate.LabelImplement}},
		}}},
	}, githubsim.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return server
}

// open is how a test talks to it; a program leaves all but Repo out. The configuration
// only takes out the wait for slow readers that a real GitHub needs.
func open(server *githubsim.Server) *labelstate.Client {
	c, err := labelstate.Open(context.Background(), labelstate.Options{
		Repo: "acme/app", Token: "tok", API: "https://api.github.com", HTTP: server.Transport(), Config: "testdata/label-state.yml",
	})
	if err != nil {
		log.Fatal(err)
	}
	return c
}

func Example() {
	ctx, c := context.Background(), open(github())
	hold, err := c.Claim(ctx, 1, labelstate.ClaimOptions{Codename: "lucius", FiringID: "run-7", TTL: 30 * time.Minute})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("claimed", hold.Title, "as", hold.Codename)

	_, err = c.Claim(ctx, 1, labelstate.ClaimOptions{Codename: "drake"})
	fmt.Println("somebody else:", errors.Is(err, labelstate.ErrHeld))

	if hold, err = c.Renew(ctx, hold); err != nil {
		log.Fatal(err)
	}
	fmt.Println("still ours:", c.Owns(hold))

	if err := c.Release(ctx, hold, labelstate.ReleaseOptions{Outcome: "failure", Reason: "tests do not build"}); err != nil {
		log.Fatal(err)
	}
	_, err = c.Renew(ctx, hold)
	fmt.Println("released, so renewing is lost:", errors.Is(err, labelstate.ErrLost))
	// Output:
	// claimed Retry the upload as lucius
	// somebody else: true
	// still ours: true
	// released, so renewing is lost: true
}

func ExampleClient_Check() {
	ctx, c := context.Background(), open(github())
	fmt.Println(c.Check(ctx, 1))
	if _, err := c.Claim(ctx, 1, labelstate.ClaimOptions{Codename: "lucius"}); err != nil {
		log.Fatal(err)
	}
	var held *labelstate.HeldError
	if errors.As(c.Check(ctx, 1), &held) {
		fmt.Println(held.Reasons[0].Code)
	}
	err := c.Check(ctx, 99)
	fmt.Println(err != nil, errors.Is(err, labelstate.ErrHeld))
	// Output:
	// <nil>
	// in-flight
	// true false
}

func ExampleClient_Sweep() {
	server := github()
	ctx, c := context.Background(), open(server)
	if _, err := c.Claim(ctx, 1, labelstate.ClaimOptions{Codename: "lucius", FiringID: "run-7", TTL: time.Hour}); err != nil {
		log.Fatal(err)
	}
	server.Skip(2 * time.Hour) // lucius is dead
	stale, err := c.StaleClaims(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("stale:", stale[0].Number, stale[0].Codename)
	report, err := c.Sweep(ctx, labelstate.SweepOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("given back:", report.Changed[0].Ended, report.Changed[0].Is)
	// Output:
	// stale: 1 lucius
	// given back: [lucius:run-7] [agent:implement]
}

func ExampleClient_Pause() {
	ctx, c := context.Background(), open(github())
	if err := c.Pause(ctx, "release week"); err != nil {
		log.Fatal(err)
	}
	paused, err := c.PausedRepos(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(paused[0].Repo, paused[0].By, paused[0].Reason)
	_, err = c.Claim(ctx, 1, labelstate.ClaimOptions{Codename: "lucius"})
	fmt.Println("may not be taken:", errors.Is(err, labelstate.ErrHeld))
	if err := c.Resume(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Check(ctx, 1))
	// Output:
	// acme/app bot release week
	// may not be taken: true
	// <nil>
}

func ExampleClient_ForceRelease() {
	ctx, c := context.Background(), open(github())
	hold, err := c.Claim(ctx, 2, labelstate.ClaimOptions{Codename: "lucius"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.ForceRelease(ctx, 2, "taken over"))
	_, err = c.Renew(ctx, hold)
	fmt.Println(errors.Is(err, labelstate.ErrLost))
	// Output:
	// <nil>
	// true
}
