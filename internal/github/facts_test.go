package github

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

func issue(slug string, n int) claim.Issue { return claim.Issue{Owner: "acme", Repo: slug, Number: n} }

func wholeWorld() []claim.Issue {
	return []claim.Issue{
		issue("app", 1), issue("app", 2), issue("app", 3), issue("app", 4), issue("app", 5), issue("app", 6), issue("app", 7),
		issue("lib", 1), issue("tools", 1), issue("app", 99), issue("nowhere", 1),
	}
}

// TestBothWaysAgree reads the same issues by GraphQL and by REST and wants equal facts, but for the comments' global ids: REST is read
// without them, because it does not tell either which comments are minimized already.
func TestBothWaysAgree(t *testing.T) {
	server := simulated(t)
	query := connect(t, server.Transport()).FactsOf(t.Context(), wholeWorld())
	rest := connect(t, server.Transport(), byREST).FactsOf(t.Context(), wholeWorld())
	for k, i := range wholeWorld() {
		if (query[k].Err == nil) != (rest[k].Err == nil) {
			t.Errorf("%s: GraphQL says %v, REST says %v", i, query[k].Err, rest[k].Err)
			continue
		}
		a, b := query[k].Facts, rest[k].Facts
		if d := a.Now.Sub(b.Now).Abs(); d > 10*time.Second {
			t.Errorf("%s: read at %s and %s", i, a.Now, b.Now)
		}
		a.Now, b.Now = time.Time{}, time.Time{}
		for n := range a.Log.Log {
			a.Log.Log[n].Node = ""
		}
		for n := range a.Log.Ignored {
			a.Log.Ignored[n].Comment.Node = ""
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s differs\nGraphQL %s\nREST    %s", i, show(a), show(b))
		}
	}
}

func show(f lifecycle.Facts) string {
	text, err := json.Marshal(f)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// TestFactsOfWorld pins what the facts of the world are, whichever way they are read.
func TestFactsOfWorld(t *testing.T) {
	c := connect(t, simulated(t).Transport())
	got := map[claim.Issue]Snapshot{}
	for _, r := range c.FactsOf(t.Context(), wholeWorld()) {
		got[r.Facts.Issue] = r
	}
	held := got[issue("app", 2)].Facts
	if holder, ok := held.Log.Holder(); !ok || holder.Author != "tia" || len(held.Log.Live()) != 1 || len(held.Log.Ignored) != 2 {
		t.Errorf("app#2: log = %+v, want tia's claim, and the outsider's and the broken record ignored", held.Log)
	}
	if prs := got[issue("app", 3)].Facts.PRs; len(prs) != 2 || prs[0].Number != 7 || !prs[0].DefaultBase || !prs[1].Draft || prs[0].Recorded {
		t.Errorf("app#3: pull requests = %+v, want 7 and the draft 8", prs)
	}
	recorded := got[issue("app", 4)].Facts.PRs
	if len(recorded) != 2 || recorded[0].State != lifecycle.PRMerged || recorded[1].State != lifecycle.PRMissing || !recorded[1].Recorded {
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
	for _, i := range []claim.Issue{issue("app", 99), issue("nowhere", 1)} {
		var gone *NotFoundError
		if r := got[i]; !errors.As(r.Err, &gone) || gone.What.Name == "" {
			t.Errorf("%s: error = %v, want one that names what is not found", i, r.Err)
		}
	}
}

// TestNothingButErrors: an answer that says only that something failed is no issue elsewhere.
func TestNothingButErrors(t *testing.T) {
	for name, text := range map[string]string{
		"the server's trouble": `{"errors":[{"message":"something went wrong"}]}`,
		"with a type":          `{"errors":[{"type":"SERVICE_UNAVAILABLE","message":"something went wrong"}],"data":null}`,
		"the schema's":         `{"errors":[{"message":"Field 'issue' doesn't exist on type 'Repository'; something went wrong"}]}`,
	} {
		c := connect(t, roundTrip(func(*http.Request) (*http.Response, error) { return reply(200, text), nil }))
		_, err := c.Facts(t.Context(), issue("app", 1))
		var answer *AnswerError
		if !errors.As(err, &answer) {
			t.Errorf("%s: error = %v, want an unusable answer", name, err)
		}
	}
}
