package labelstate_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"

	labelstate "github.com/label-state/label-state"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/work"
)

// A desk is the embedded GitHub, on a loopback address, with one repository and two issues.
type desk struct {
	*githubsim.Server
	url  string
	stop func()
	line http.RoundTripper // in place of the network, where the time is a test's own
}

func github() desk { return serve(githubsim.Options{}) }

func serve(o githubsim.Options) desk {
	server := seeded(o)
	url, stop, err := server.Listen("127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	return desk{Server: server, url: url, stop: stop}
}

func seeded(o githubsim.Options) *githubsim.Server {
	server, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{
			{Login: "bot", Token: "tok-bot", Permissions: map[string]string{"acme/app": "write"}},
			{Login: "ada", Token: "tok-ada", Permissions: map[string]string{"acme/app": "write"}},
			{Login: "fleet[bot]", Token: "tok-fleet[bot]", Permissions: map[string]string{"acme/app": "write"}},
			{Login: "mallory", Token: "tok-mallory", Permissions: map[string]string{"acme/app": "read"}},
		},
		Repos: []githubsim.SeedRepo{{
			Name: "acme/app", Files: map[string]string{"README.md": "An app.\n"},
			Issues: []githubsim.SeedIssue{
				{
					Number: 1,
					Title:  "Retry the upload",
					Author: "ada",
					Labels: []string{labelstate.LabelImplement},
				},
				{
					Number: 2,
					Title:  "Say which file",
					Author: "ada",
					Labels: []string{labelstate.LabelImplement, "priority: high"},
				},
			},
		}},
	}, o)
	if err != nil {
		log.Fatal(err)
	}

	return server
}

// options are for a login's client. A program leaves API out, and Config as well: this one only
// takes out the wait for late reads that a real GitHub needs.
func (d desk) options(login string) labelstate.Options {
	return labelstate.Options{
		Repo:   "acme/app",
		Token:  "tok-" + login,
		API:    d.url,
		Config: "testdata/label-state.yml",
		HTTP:   d.line,
	}
}

// as opens a client with a login's token.
func (d desk) as(login string) *labelstate.Client {
	c, err := labelstate.Open(context.Background(), d.options(login))
	if err != nil {
		log.Fatal(err)
	}
	return c
}

// open is the client of a fleet.
func open() (*labelstate.Client, desk) {
	d := github()
	return d.as("bot"), d
}

func Example() {
	c, github := open()
	defer github.stop()
	ctx := context.Background()

	hold, err := c.Claim(ctx, 1, labelstate.ClaimOptions{Codename: "lucius", TTL: 30 * time.Minute})
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println("claimed", hold.Title, "as", hold.Codename)

	_, err = c.Claim(ctx, 1, labelstate.ClaimOptions{Codename: "drake"})
	fmt.Println("another worker is refused:", errors.Is(err, labelstate.ErrHeld))

	kept, stop := c.Keep(ctx, hold)
	fmt.Println("work goes on while this is nil:", kept.Err()) // the work is done under kept
	stop()

	end := labelstate.ReleaseOptions{Outcome: labelstate.OutcomeFailure, Reason: "tests do not build"}
	if err := c.Release(ctx, hold, end); err != nil {
		log.Fatal(err)
	}

	fmt.Println("the hold is over:", errors.Is(c.Owns(hold), labelstate.ErrLost))
	// Output:
	// claimed Retry the upload as lucius
	// another worker is refused: true
	// work goes on while this is nil: <nil>
	// the hold is over: true
}

func ExampleOpen() {
	github := github()
	defer github.stop()

	_, err := labelstate.Open(context.Background(), labelstate.Options{Repo: "acme/app"})
	fmt.Println(err)

	c, err := labelstate.Open(context.Background(),
		labelstate.Options{Repo: "acme/app", Token: "tok-bot", API: github.url})
	if err != nil {
		log.Fatal(err)
	}

	defer c.Close()
	fmt.Println(c.Repo())
	// Output:
	// open: empty Options.Token: set it, or begin with FromEnvironment()
	// acme/app
}

func ExampleFromEnvironment() {
	o := labelstate.FromEnvironment() // the token, and whatever else is empty
	o.Repo = "acme/app"               // not the clone's
	o.Warn = func(text string) { log.Print(text) }
	c, err := labelstate.Open(context.Background(), o)
	if err != nil {
		log.Fatal(err)
	}

	defer c.Close()
}

func ExampleClient_Claim() {
	c, github := open()
	defer github.stop()
	ctx := context.Background()

	hold, err := c.Claim(ctx, 1, labelstate.ClaimOptions{Codename: "lucius", FiringID: "run-7", TTL: time.Hour})
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(hold.Codename, hold.FiringID, hold.Until.Sub(hold.Since).Round(time.Minute))

	_, err = c.Claim(ctx, 1, labelstate.ClaimOptions{Codename: "drake"})
	var held *labelstate.Problem
	if errors.As(err, &held) {
		fmt.Println("refused:", held.Reasons[0].Code)
	}
	// Output:
	// lucius run-7 1h0m0s
	// refused: in-flight
}

func ExampleClient_Claim_person() {
	_, github := open()
	defer github.stop()
	ctx, ada := context.Background(), github.as("ada")

	hold, err := ada.Claim(ctx, 1, labelstate.ClaimOptions{Person: true})
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(hold.Person, "holds it without an end:", hold.Until.IsZero())

	again, err := ada.Claim(ctx, 1, labelstate.ClaimOptions{Person: true})
	fmt.Println("a second call returns the same hold:", again.URL == hold.URL, err)

	fmt.Println(ada.Release(ctx, hold, labelstate.ReleaseOptions{}))
	// Output:
	// ada holds it without an end: true
	// a second call returns the same hold: true <nil>
	// <nil>
}

func ExampleClient_Keep() {
	c, github := open()
	defer github.stop()
	ctx, ada := context.Background(), github.as("ada")

	hold, err := c.Claim(ctx, 1, labelstate.ClaimOptions{Codename: "lucius", TTL: 3 * time.Second})
	if err != nil {
		log.Fatal(err)
	}

	kept, stop := c.Keep(ctx, hold)
	defer stop()

	if err := ada.ForceRelease(ctx, 1, "taken over"); err != nil {
		log.Fatal(err)
	}
	<-kept.Done() // within a third of the lease
	fmt.Println(errors.Is(context.Cause(kept), labelstate.ErrLost))
	// Output:
	// true
}

func ExampleClient_Renew() {
	c, github := open()
	defer github.stop()
	ctx := context.Background()

	hold, err := c.Claim(ctx, 1, labelstate.ClaimOptions{Codename: "lucius", TTL: time.Hour})
	if err != nil {
		log.Fatal(err)
	}

	github.Skip(20 * time.Minute)
	renewed, err := c.Renew(ctx, hold)
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println("longer by", renewed.Until.Sub(hold.Until).Round(time.Minute))
	// Output:
	// longer by 20m0s
}

func ExampleClient_Owns() {
	c, github := open()
	defer github.stop()
	ctx := context.Background()

	hold, err := c.Claim(ctx, 1, labelstate.ClaimOptions{Codename: "lucius"})
	if err != nil {
		log.Fatal(err)
	}

	if err := c.Owns(hold); err != nil {
		log.Fatal(err)
	}
	fmt.Println("push") // a step that others can see

	hold.Repo = "acme/web"
	fmt.Println(errors.Is(c.Owns(hold), labelstate.ErrInvalid))
	// Output:
	// push
	// true
}

func ExampleClient_Release() {
	c, github := open()
	defer github.stop()
	ctx := context.Background()

	hold, err := c.Claim(ctx, 1, labelstate.ClaimOptions{Codename: "lucius"})
	if err != nil {
		log.Fatal(err)
	}

	end := labelstate.ReleaseOptions{Outcome: labelstate.OutcomeRateLimit, Reason: "the model has no quota left"}
	fmt.Println(c.Release(ctx, hold, end))
	fmt.Println(c.Release(ctx, hold, end))

	end.Outcome = labelstate.OutcomeSuccess
	fmt.Println(errors.Is(c.Release(ctx, hold, end), labelstate.ErrLost))
	// Output:
	// <nil>
	// <nil>
	// true
}

func ExampleClient_Next() {
	c, github := open()
	defer github.stop()
	ctx := context.Background()

	for {
		item, hold, err := c.Next(ctx, labelstate.NextOptions{Codename: "lucius"})
		if errors.Is(err, labelstate.ErrNoWork) {
			fmt.Println("no work")
			return
		}

		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.Number(), item.Priority, hold.Title)
	}
	// Output:
	// 2 high Say which file
	// 1 medium Retry the upload
	// no work
}

func ExampleClient_List() {
	c, github := open()
	defer github.stop()

	page, err := c.List(context.Background(), work.FetchOptions{Priorities: []work.Priority{work.High}})
	if err != nil {
		log.Fatal(err)
	}

	for _, item := range page.Items {
		fmt.Println(item.Issue, item.Title)
	}
	// Output:
	// acme/app#2 Say which file
}

func ExampleClient_Source() {
	c, github := open()
	defer github.stop()
	ctx := context.Background()

	source, err := c.Source(labelstate.SourceOptions{Codename: "lucius", TTL: 30 * time.Minute})
	if err != nil {
		log.Fatal(err)
	}

	got, err := work.Next(ctx, source, work.FetchOptions{}) // any work.Source is used like this
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println("claimed", got.Item.ID, got.Item.Title)

	if err := source.Complete(ctx, got.Item.ID,
		work.Result{Outcome: work.Success, Summary: "it says which"}); err != nil {
		log.Fatal(err)
	}

	s, err := c.Status(ctx, got.Item.Number())
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println("now it is", s.State)
	// Output:
	// claimed github-2 Say which file
	// now it is done
}

func ExampleClient_Status() {
	c, github := open()
	defer github.stop()
	ctx := context.Background()

	if _, err := c.Claim(ctx, 1, labelstate.ClaimOptions{Codename: "lucius"}); err != nil {
		log.Fatal(err)
	}
	s, err := c.Status(ctx, 1)
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(s.Answer, s.State, s.Holder.Codename, s.Labels)
	// Output:
	// held claimed lucius [agent:in-flight]
}

func ExampleClient_PostPlan() {
	c, github := open()
	defer github.stop()
	ctx, ada := context.Background(), github.as("ada")

	hold, err := c.Claim(ctx, 1, labelstate.ClaimOptions{Codename: "lucius"})
	if err != nil {
		log.Fatal(err)
	}

	plan, err := c.PostPlan(ctx, hold, "1. Retry three times.\n2. Then say so.\n")
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(plan.Answer)

	fmt.Println("the own plan:", errors.Is(c.Approve(ctx, 1), labelstate.ErrBarred))
	if err := ada.Approve(ctx, 1); err != nil {
		log.Fatal(err)
	}

	plan, err = c.AwaitPlan(ctx, hold)
	fmt.Println(plan.Answer, "by", plan.By, err)
	// Output:
	// waiting
	// the own plan: true
	// approved by ada <nil>
}

func ExampleClient_Reject() {
	c, github := open()
	defer github.stop()
	ctx, ada := context.Background(), github.as("ada")

	hold, err := c.Claim(ctx, 1, labelstate.ClaimOptions{Codename: "lucius"})
	if err != nil {
		log.Fatal(err)
	}

	if _, err := c.PostPlan(ctx, hold, "Rewrite it."); err != nil {
		log.Fatal(err)
	}

	if err := ada.Reject(ctx, 1, "too large, split it"); err != nil {
		log.Fatal(err)
	}
	plan, err := c.AwaitPlan(ctx, hold)
	fmt.Println(plan.Answer, "by", plan.By+":", plan.Reason)
	fmt.Println(errors.Is(err, labelstate.ErrLost))
	// Output:
	// rejected by ada: too large, split it
	// true
}

func ExampleClient_Check() {
	c, github := open()
	defer github.stop()
	ctx := context.Background()

	fmt.Println(c.Check(ctx, 1))
	if _, err := c.Claim(ctx, 1, labelstate.ClaimOptions{Codename: "lucius"}); err != nil {
		log.Fatal(err)
	}

	var held *labelstate.Problem
	if errors.As(c.Check(ctx, 1), &held) {
		fmt.Println(held.Reasons[0].Code)
	}

	err := c.Check(ctx, 99) // there is none
	fmt.Println(err != nil, errors.Is(err, labelstate.ErrHeld))
	// Output:
	// <nil>
	// in-flight
	// true false
}

func ExampleClient_Sweep() {
	c, github := open()
	defer github.stop()
	ctx := context.Background()

	if _, err := c.Claim(ctx, 1, labelstate.ClaimOptions{
		Codename: "lucius", FiringID: "run-7",
		TTL: time.Hour,
	}); err != nil {
		log.Fatal(err)
	}

	github.Skip(2 * time.Hour) // lucius has died
	report, err := c.Sweep(ctx, labelstate.SweepOptions{})
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println("released:", report.Findings[0].Ended, report.Findings[0].Is)
	// Output:
	// released: [lucius:run-7] [agent:implement]
}

func ExampleClient_StaleClaims() {
	c, github := open()
	defer github.stop()
	ctx := context.Background()

	if _, err := c.Claim(ctx, 1, labelstate.ClaimOptions{Codename: "lucius", TTL: time.Hour}); err != nil {
		log.Fatal(err)
	}
	github.Skip(2 * time.Hour) // lucius has died
	stale, err := c.StaleClaims(ctx)
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(stale[0].Number, stale[0].Codename, stale[0].Until.Sub(stale[0].Since).Truncate(time.Hour))
	// Output:
	// 1 lucius 1h0m0s
}

func ExampleClient_Pause() {
	c, github := open()
	defer github.stop()
	ctx := context.Background()

	if err := c.Pause(ctx, "release week"); err != nil {
		log.Fatal(err)
	}
	paused, err := c.PausedRepos(ctx)
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(paused[0].Repo, paused[0].By, paused[0].Reason)
	_, err = c.Claim(ctx, 1, labelstate.ClaimOptions{Codename: "lucius"})
	fmt.Println("refused:", errors.Is(err, labelstate.ErrHeld))

	if err := c.Resume(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Check(ctx, 1))
	// Output:
	// acme/app bot release week
	// refused: true
	// <nil>
}

func ExampleClient_ForceRelease() {
	c, github := open()
	defer github.stop()
	ctx, ada := context.Background(), github.as("ada")

	hold, err := c.Claim(ctx, 2, labelstate.ClaimOptions{Codename: "lucius"})
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(ada.ForceRelease(ctx, 2, "taken over"))
	_, err = c.Renew(ctx, hold)
	fmt.Println(errors.Is(err, labelstate.ErrLost))
	// Output:
	// <nil>
	// true
}
