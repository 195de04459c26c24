package board_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

var now = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// An event is a record so long before now.
type event struct {
	ago time.Duration
	claim.Record
}

func holds(ago time.Duration, codename string) event {
	return event{ago, claim.Record{
		Kind:   claim.KindClaim,
		Worker: claim.Worker{Codename: codename, FiringID: "r1"},
		Nonce:  "n",
		TTL:    4 * time.Hour,
		Held:   true,
		Branch: "work",
	}}
}

func (e event) as(change func(*claim.Record)) event {
	change(&e.Record)
	return e
}

func says(ago time.Duration, kind claim.Kind, codename, outcome string) event {
	return event{ago, claim.Record{
		Kind: kind, Worker: claim.Worker{Codename: codename, FiringID: "r1"},
		Outcome: outcome,
	}}
}

// issue is a snapshot of acme/app#number, open unless label is agent:done.
func issue(t *testing.T, number int, title, label string, log ...event) lifecycle.Facts {
	t.Helper()
	var comments []claim.Comment
	for n, e := range log {
		body, err := claim.Encode(e.Record)
		if err != nil {
			t.Fatal(err)
		}

		at := now.Add(-e.ago)
		comments = append(comments, claim.Comment{
			ID:      int64(n + 1),
			Created: at,
			Updated: at,
			Author:  cmp.Or(e.Person, "agents"),
			Trusted: true,
			Body:    body,
		})
	}

	f := lifecycle.Facts{
		Issue:        claim.Issue{Owner: "acme", Repo: "app", Number: number},
		Title:        title,
		URL:          "https://github.com/acme/app/issues/1",
		Open:         label != "agent:done",
		Labels:       []string{label},
		Log:          claim.Replay(comments),
		BlockersRead: true,
		Now:          now,
		Viewer:       "olga",
	}

	if !f.Open {
		f.StateReason = "completed"
	}

	return f
}

// busy is a board with something in every lane.
func busy(t *testing.T) []lifecycle.Facts {
	t.Helper()
	scope := issue(t, 9, "Make everything faster", "agent:implement")
	scope.Labels = append(scope.Labels, "needs:human-scope")
	pull := issue(t, 7, "Upload in the background", "agent:pr-open")
	pull.PRs = []lifecycle.PR{{
		Repo:        "acme/app",
		Number:      20,
		URL:         "https://github.com/acme/app/pull/20",
		State:       lifecycle.PROpened,
		DefaultBase: true,
		Base:        "main",
	}}
	blocked := issue(t, 5, "Größenangaben in der Übersicht 漢字", "agent:implement")
	blocked.Labels = append(blocked.Labels, "agent:blocked")
	blocked.Blockers = []lifecycle.Blocker{{Issue: claim.Issue{Owner: "acme", Repo: "app", Number: 1}, Open: true}}

	return []lifecycle.Facts{
		issue(t, 10, "Remove the old uploader", "agent:done"), scope, pull, blocked,
		issue(t, 1, "Retry the upload on 503", "agent:in-flight", holds(50*time.Minute, "lucius")),
		issue(t, 2, "Say which file was too large", "agent:in-flight", holds(3*time.Hour, "vera")),
		issue(t, 3, "Show the progress of an upload that is resumed after the network was gone", "agent:in-flight",
			holds(5*time.Hour, "drake")),
		issue(t, 4, "Document the \x1b[31mretry\x1b[0m policy\u202e", "agent:implement"),
		issue(t, 6, "Split the settings page", "agent:plan-pending-approval", holds(2*time.Hour, "lucius"),
			says(80*time.Minute, claim.KindPlan, "lucius", "")),
		issue(t, 11, "Never expires", "agent:in-flight",
			holds(30*time.Hour, "operator").as(func(r *claim.Record) { r.TTL = claim.NoExpiry })),
	}
}
