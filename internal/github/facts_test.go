package github

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

func issue(slug string, n int) claim.Issue { return claim.Issue{Owner: "acme", Repo: slug, Number: n} }

func wholeWorld() []claim.Issue {
	return []claim.Issue{
		issue("app", 1), issue("app", 2), issue("app", 3), issue("app", 4), issue("app", 5), issue("app", 6),
		issue("app", 7),
		issue("lib", 1), issue("tools", 1), issue("app", 99), issue("nowhere", 1),
	}
}

// TestFactsOfWorld pins what the facts of the world are.
func TestFactsOfWorld(t *testing.T) {
	server := simulated(t)
	for number, by := range map[int]string{1: "github-actions[bot]", 3: "tia"} {
		if err := server.AddLabels("acme/app", number, by, labels.Agent().Hold); err != nil {
			t.Fatal(err)
		}
	}

	if err := errors.Join(server.Close("acme/app", 1, "tia"), server.Reopen("acme/app", 1, "tia")); err != nil {
		t.Fatal(err)
	}

	told := claim.Notice{Kind: claim.NoticeIdle, Key: "ann"}
	if _, err := server.AddComment("acme/app", 2, "tia", told.Mark()); err != nil {
		t.Fatal(err)
	}

	c := connect(t, server.Transport())
	got := map[claim.Issue]lifecycle.Snapshot{}
	for _, r := range c.FactsOf(t.Context(), wholeWorld()) {
		got[r.Facts.Issue] = r
	}

	held := got[issue("app", 2)].Facts
	if holder, ok := held.Log.Holder(); !ok || holder.Author != "tia" || len(held.Log.Live()) != 1 ||
		len(held.Log.Ignored) != 2 || !held.Log.Told(told) {
		t.Errorf("app#2: log = %+v, want tia's claim and notice, and the outsider's and the broken record ignored", held.Log)
	}

	if prs := got[issue("app", 3)].Facts.PRs; len(prs) != 2 || prs[0].Number != 7 || !prs[0].DefaultBase ||
		!prs[1].Draft || prs[0].Recorded {
		t.Errorf("app#3: pull requests = %+v, want 7 and the draft 8", prs)
	}

	if app, tia := got[issue("app", 1)].Facts, got[issue("app", 3)].Facts; app.HoldAt.IsZero() || app.HoldBy != "" ||
		tia.HoldBy != "tia" || app.ReopenedAt.IsZero() || !tia.ReopenedAt.IsZero() {
		t.Errorf("kept by %q and %q, want by nobody who is a person, and by tia; reopened %s and %s, want the first alone",
			app.HoldBy, tia.HoldBy, app.ReopenedAt, tia.ReopenedAt)
	}

	recorded := got[issue("app", 4)].Facts.PRs
	if len(recorded) != 2 || recorded[0].State != lifecycle.PRMerged || recorded[1].State != lifecycle.PRMissing ||
		!recorded[1].Recorded {
		t.Errorf("app#4: pull requests = %+v, want the merged lib#2 and the missing lib#404", recorded)
	}

	if long := got[issue("app", 6)].Facts; long.Log.Records != 2 || len(long.Log.Attempts) != 1 {
		t.Errorf("app#6: log = %+v, want both records, the first page's too", long.Log)
	}

	if !got[issue("app", 7)].Facts.PullRequest || !got[issue("app", 7)].Facts.Open {
		t.Errorf("app#7: %+v, want an open pull request", got[issue("app", 7)])
	}

	if p := got[issue("tools", 1)].Facts.Pause; p == nil || p.By != "bot" || p.Reason != "release week" {
		t.Errorf("tools: pause = %+v, want the marker's", p)
	}

	for id, want := range map[pullID]lifecycle.PRState{
		issue("nowhere", 1): lifecycle.PRUnreadable, issue("lib", 404): lifecycle.PRMissing,
	} {
		if p := c.pullRequests(t.Context(), []pullID{id})[id]; p.err != nil || p.pr.State != want {
			t.Errorf("%s: %s, %v; want %s", id, p.pr.State, p.err, want)
		}
	}

	for _, i := range []claim.Issue{issue("app", 99), issue("nowhere", 1)} {
		var gone *NotFoundError
		if r := got[i]; !errors.As(r.Err, &gone) || gone.What.Name == "" {
			t.Errorf("%s: error = %v, want one that names what is not found", i, r.Err)
		}
	}
}

// TestNothingButErrors: an answer that says only that something failed is not an issue elsewhere,
// and no issue without claims.
func TestNothingButErrors(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want any
	}{
		"the server's trouble":  {`{"errors":[{"message":"something went wrong"}]}`, new(*QueryError)},
		"with a type":           {`{"errors":[{"type":"SERVICE_UNAVAILABLE","message":"something went wrong"}],"data":null}`, new(*QueryError)},
		"the schema's, by code": {`{"errors":[{"message":"Field 'name' has a field conflict","extensions":{"code":"fieldConflict"}}]}`, new(*NoGraphQLError)},
		"the schema's":          {`{"errors":[{"message":"Field 'issue' doesn't exist on type 'Repository'; something went wrong"}]}`, new(*NoGraphQLError)},
		"the token's": {
			`{"errors":[{"type":"INSUFFICIENT_SCOPES","message":"something went wrong with your token"}]}`,
			new(*PermissionError),
		},
		"nobody's": {
			`{"errors":[{"type":"NOT_FOUND","message":"something went wrong"}]}`,
			new(*NotFoundError),
		},
	} {
		client := connect(t, roundTrip(func(*http.Request) (*http.Response, error) { return reply(200, c.text), nil }))
		if _, err := client.Facts(t.Context(), issue("app", 1)); !errors.As(err, c.want) ||
			name != "the schema's, by code" && !strings.Contains(err.Error(), "something went wrong") {
			t.Errorf("%s: error = %v, want a %T with the server's words", name, err, c.want)
		}
	}
}
