package app

import (
	"fmt"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
)

// A deed is a record in the log of a scenario, so long before now.
type deed struct {
	ago, renewed time.Duration
	author       string
	record       claim.Record
}

func took(ago time.Duration, codename, run, branch string) deed {
	return deed{ago: ago, author: "agents", record: claim.Record{
		Kind:   claim.KindClaim,
		Worker: claim.Worker{Codename: codename, FiringID: run},
		Nonce:  "n" + run,
		TTL:    4 * time.Hour,
		Held:   true,
		Branch: branch,
	}}
}

// alive is the claim with a heartbeat so long ago.
func (d deed) alive(ago time.Duration) deed {
	d.renewed, d.record.Heartbeat = ago, 1
	return d
}

func ended(ago time.Duration, codename, run, outcome, reason string) deed {
	return deed{ago: ago, author: "agents", record: claim.Record{
		Kind:    claim.KindRelease,
		Worker:  claim.Worker{Codename: codename, FiringID: run},
		Outcome: outcome,
		Reason:  reason,
	}}
}

func asked(ago time.Duration, kind claim.Kind, codename, run string) deed {
	return deed{
		ago: ago, author: "agents",
		record: claim.Record{Kind: kind, Worker: claim.Worker{Codename: codename, FiringID: run}},
	}
}

// scenario is a repository on a busy day: something in every column of the board, and of everything
// that goes wrong, one.
func scenario(now time.Time) (githubsim.Seed, error) {
	repo := githubsim.SeedRepo{
		Name:          "acme/app",
		DefaultBranch: "main",
		Issues: []githubsim.SeedIssue{
			{
				Number: 1,
				Title:  "Retry the upload on 503",
				Body: "The upload fails for good when the server answers 503.\n" +
					"history, oldest first\n\x1b[2JTry again three times.",
				Labels: []string{"agent:in-flight"},
			},
			{Number: 2, Title: "Say which file was too large", Labels: []string{"agent:in-flight"}},
			{
				Number: 3, Title: "Show the progress of an upload that is resumed after the network was gone",
				Labels: []string{"agent:in-flight"},
			},
			{Number: 4, Title: "Document the \x1b[31mretry\x1b[0m policy", Labels: []string{"agent:implement"}},
			{Number: 5, Title: "Größenangaben in der Übersicht 漢字", Labels: []string{"agent:implement"}},
			{Number: 6, Title: "Split the settings page", Labels: []string{"agent:plan-pending-approval"}},
			{Number: 7, Title: "Upload in the background", Labels: []string{"agent:pr-open"}},
			{Number: 8, Title: "Rename the bucket everywhere", Labels: []string{"agent:implement", "do-not-pickup"}},
			{Number: 9, Title: "Make everything faster", Labels: []string{"needs:human-scope"}},
			{
				Number:      10,
				Title:       "Remove the old uploader",
				Labels:      []string{"agent:done"},
				State:       "closed",
				StateReason: "completed",
			},
			{Number: 11, Title: "Tell how long an upload will take", Labels: []string{"agent:implement"}},
			{
				Number:      12,
				Title:       "Keep the order of files",
				Labels:      []string{"agent:done"},
				State:       "closed",
				StateReason: "completed",
			},
		},
		Pulls: []githubsim.SeedPull{{SeedIssue: githubsim.SeedIssue{
			Number: 20,
			Title:  "Upload in the background",
			Body:   "Closes #7",
			Author: "agents",
		}, Head: "background", Base: "main"}},
	}
	failed := []string{"tests do not build", "no idea what is meant", "context ran out"}
	logs := map[int][]deed{
		1: {
			ended(26*time.Hour, "drake", "d0", "failure", "tests do not build"), took(27*time.Hour, "drake", "d0", ""),
			took(50*time.Minute, "lucius", "l1", "retry-uploads").alive(20 * time.Minute),
			took(50*time.Minute, "drake", "d1", ""),
			ended(49*time.Minute, "drake", "d1", "race-yielded-to=lucius:l1", ""),
		},
		2:  {took(3*time.Hour, "vera", "v1", "file-too-large")},
		3:  {took(5*time.Hour, "drake", "d3", "resume-progress")},
		6:  {took(90*time.Minute, "lucius", "l6", "settings"), asked(80*time.Minute, claim.KindPlan, "lucius", "l6")},
		7:  {took(6*time.Hour, "vera", "v7", "background"), ended(5*time.Hour, "vera", "v7", "success", "")},
		9:  {},
		10: {took(30*time.Hour, "lucius", "l10", ""), ended(28*time.Hour, "lucius", "l10", "success", "")},
		11: {took(200*time.Minute, "drake", "d11", ""), ended(190*time.Minute, "drake", "d11", "max-turns", "")},
		12: {took(44*time.Hour, "vera", "v12", ""), ended(43*time.Hour, "vera", "v12", "success", "")},
	}

	for n, reason := range failed {
		run, ago := fmt.Sprintf("e%d", n), time.Duration(20-5*n)*time.Hour
		logs[9] = append(logs[9], took(ago, "drake", run, ""), ended(ago-time.Hour, "drake", run, "failure", reason))
	}

	for i := range repo.Issues {
		one := &repo.Issues[i]
		one.Author = "olga"
		if err := write(one, now, logs[one.Number]); err != nil {
			return githubsim.Seed{}, err
		}
	}

	roles := map[string]string{"acme/app": "write"}
	return githubsim.Seed{
		Users: []githubsim.SeedUser{
			{Login: "agents", Token: "tok-agents", Permissions: roles},
			{Login: "olga", Token: "tok-olga", Permissions: map[string]string{"acme/app": "admin"}},
			{Login: "mallory", Token: "tok-mallory", Permissions: map[string]string{"acme/app": "read"}},
		},
		Repos: []githubsim.SeedRepo{repo},
	}, nil
}

// write puts the deeds into the issue's comments, and a moment of its birth.
func write(i *githubsim.SeedIssue, now time.Time, deeds []deed) error {
	born := now.Add(-80 * time.Hour)
	i.CreatedAt = &born
	if i.State == "closed" {
		shut := now.Add(-27 * time.Hour)
		i.ClosedAt = &shut
	}

	for _, d := range deeds {
		body, err := claim.Body(d.record, "(a record of label-state)")
		if err != nil {
			return err
		}

		at := now.Add(-d.ago)
		c := githubsim.SeedComment{Author: d.author, Body: body, CreatedAt: &at}
		if d.renewed > 0 {
			edited := now.Add(-d.renewed)
			c.UpdatedAt = &edited
		}

		i.Comments = append(i.Comments, c)
	}

	return nil
}

// month makes the scenario's repository one in which a fleet has worked for a month.
func month(s *githubsim.Seed) {
	now := time.Now()
	workers := []string{"lucius", "vera", "drake", "lucius", "vera", "mona"}
	outcomes := []string{
		"success", "success", "success", "failure", "success", "stale-swept", "success", "success",
		"max-turns", "success", "forced", "success", "success",
	}
	repo := &s.Repos[0]
	repo.Issues, repo.Pulls = nil, nil

	for n := range 96 {
		ago := time.Duration(29*24-n*7-n*n%5) * time.Hour
		long := time.Duration(20+n*37%200) * time.Minute
		who, run := workers[(n*7+n/5)%len(workers)], fmt.Sprintf("m%d", n)
		deeds := []deed{took(ago, who, run, ""), ended(ago-long, who, run, outcomes[n*5%len(outcomes)], "")}
		if n%4 == 0 {
			deeds = append(deeds, took(ago, "mona", "y"+run, ""),
				ended(ago, "mona", "y"+run, "race-yielded-to="+who+":"+run, ""))
			deeds[2].record.Held = false
		}

		i := githubsim.SeedIssue{Number: 100 + n, Title: "Work", Author: "olga", Labels: []string{"agent:implement"}}
		if write(&i, now, deeds) == nil {
			repo.Issues = append(repo.Issues, i)
		}
	}
}
