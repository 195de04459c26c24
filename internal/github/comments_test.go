package github

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/protocol"
)

// TestListComments: every page, in order; since leaves out what is older.
func TestListComments(t *testing.T) {
	c := connect(t, simulated(t).Transport())
	all, err := c.Comments(t.Context(), issue("app", 6), time.Time{})
	if err != nil || len(all) != 252 || all[0].Author != "bot" || all[1].Body != "any news?" {
		t.Fatalf("%d comments, %v", len(all), err)
	}

	late, err := c.Comments(t.Context(), issue("app", 6), day("11:00:00").In(time.FixedZone("", 2*60*60)))
	if err != nil || len(late) != 1 || late[0].ID != all[251].ID {
		t.Errorf("since: %v, %v", late, err)
	}

	const app = `"performed_via_github_app":`
	owned := spoiled(simulated(t).Transport(), `"author_association":"MEMBER"`, `"author_association":"OWNER"`)
	byApp := connect(t, spoiled(owned, app+"null", app+"{}"))
	for person, c := range map[bool]*Client{true: c, false: byApp} {
		if said, whole, err := c.Remarks(t.Context(), repoOf("app"), *day("12:00:00"), 1); err != nil || !whole ||
			len(said) != 1 || said[0].Number != 6 || said[0].Outside || said[0].Person != person {
			t.Errorf("remarks since that moment: %+v, %t, %v; want one, by a person %t", said, whole, err, person)
		}
	}

	left := connect(t, spoiled(simulated(t).Transport(), `"user":{`, `"user":null,"x":{`))
	said, _, err := left.Remarks(t.Context(), repoOf("app"), *day("12:00:00"), 1)
	if err != nil || len(said) != 1 || said[0].Author != Ghost || said[0].Person {
		t.Errorf("of a deleted account: %+v, %v; want a ghost's", said, err)
	}

	var gone *NotFoundError
	if _, err := c.Comments(t.Context(), issue("app", 99), time.Time{}); !errors.As(err, &gone) {
		t.Errorf("error = %v, want not found", err)
	}
}

// TestDeleteComment: gone is success, not permitted is not.
func TestDeleteComment(t *testing.T) {
	server := simulated(t)
	c := connect(t, server.Transport())
	id, err := server.AddComment("acme/app", 1, "mal", "spam")
	if err != nil {
		t.Fatal(err)
	}

	var denied *PermissionError
	rob := connect(t, server.Transport(), as("tok-rob"))
	if err := rob.DeleteComment(t.Context(), issue("app", 1), id); !errors.As(err, &denied) || !denied.Write {
		t.Errorf("error = %v, want not permitted", err)
	}

	for range 2 {
		if err := c.DeleteComment(t.Context(), issue("app", 1), id); err != nil {
			t.Error(err)
		}
	}

	if left, err := server.Comments("acme/app", 1); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}

	if err := c.DeleteComment(t.Context(), claim.Issue{Owner: "a b", Repo: "c"}, id); err == nil {
		t.Error("a name that is none was accepted")
	}
}

// TestReactions: only those of the login that is asked for.
func TestReactions(t *testing.T) {
	server := simulated(t)
	c := connect(t, server.Transport())
	id, err := server.AddComment("acme/app", 1, "mal", "/claim")
	if err != nil {
		t.Fatal(err)
	}

	for _, r := range []string{"+1", "confused"} {
		if err := c.React(t.Context(), repoOf("app"), id, r); err != nil {
			t.Fatal(err)
		}
	}

	if got, err := c.Reactions(t.Context(), repoOf("app"), id, "BOT"); err != nil ||
		!slices.Equal(got, []string{"+1", "confused"}) {
		t.Errorf("reactions = %q, %v", got, err)
	}

	if got, err := c.Reactions(t.Context(), repoOf("app"), id, "mal"); err != nil || got != nil {
		t.Errorf("reactions of mal = %q, %v", got, err)
	}

	mixed := roundTrip(func(*http.Request) (*http.Response, error) {
		return reply(200, `[{"content":"-1","user":{"login":"b","type":"Bot"},"created_at":"2026-05-01T10:00:01Z"},`+
			`{"content":"+1","user":{"login":"a","type":"User"},"created_at":"2026-05-01T10:00:00Z"}]`), nil
	})
	if got, err := connect(t, mixed).Votes(t.Context(), issue("app", 1), id); err != nil || len(got) != 2 ||
		got[0].Login != "a" || !got[0].Person || got[1].Person {
		t.Errorf("votes = %+v, %v; want the person's first, the oldest", got, err)
	}
}

func TestMayLabel(t *testing.T) {
	c := connect(t, simulated(t).Transport())
	for login, want := range map[string]bool{
		"bot": true, "tia": true, "rob": false, "mal": false,
		"nobody-at-all": false,
	} {
		if got, err := c.MayLabel(t.Context(), repoOf("app"), login); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", login, got, err, want)
		}
	}
}

// TestLastRemoval: the latest one counts.
func TestLastRemoval(t *testing.T) {
	server := simulated(t)
	step := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}

	step(server.RemoveLabel("acme/app", 2, "bot", "agent:in-flight"))
	step(server.AddLabels("acme/app", 2, "bot", "agent:in-flight", "wip"))
	step(server.RemoveLabel("acme/app", 2, "tia", "agent:in-flight"))
	step(server.RemoveLabel("acme/app", 2, "bot", "wip"))
	step(server.AddLabels("acme/app", 3, "bot", "agent:in-flight"))
	step(server.RemoveLabel("acme/app", 3, "github-actions[bot]", "agent:in-flight"))
	c := connect(t, server.Transport())
	for _, want := range []struct {
		number int
		by     string
		person bool
	}{{1, "", false}, {2, "tia", true}, {3, "github-actions[bot]", false}} {
		got, err := c.LastMove(t.Context(), issue("app", want.number), protocol.LabelMoved{Label: "Agent:In-Flight"})
		if err != nil || got.By != want.by || got.Person != want.person || got.At.IsZero() != (want.by == "") {
			t.Errorf("#%d: %+v, %v", want.number, got, err)
		}
	}

	var gone *NotFoundError
	if _, err := c.LastMove(t.Context(), issue("app", 99), protocol.LabelMoved{Label: "x"}); !errors.As(err, &gone) {
		t.Errorf("error = %v, want not found", err)
	}

	_, err := connect(t, spoiled(server.Transport(), `"moves":{`, `"x":{`)).LastMove(t.Context(), issue("app", 2), protocol.LabelMoved{Label: "x"})
	if bad, is := errors.AsType[*AnswerError](err); !is {
		t.Errorf("without its list: %v, %v", bad, err)
	}
}

func TestBlocking(t *testing.T) {
	server := simulated(t)
	for _, number := range []int{3, 1} {
		if err := server.Block("acme/app", number, 2, "bot"); err != nil {
			t.Fatal(err)
		}
	}

	var asleep []claim.Issue
	for _, body := range []string{"Blocked by #2", "Blocked by #2 and #3", "Blocked by #3"} {
		n, err := server.AddIssue("acme/app", "bot", "It waits", body, "agent:blocked")
		if err != nil {
			t.Fatal(err)
		}
		asleep = append(asleep, issue("app", n))
	}
	if err := server.Block("acme/app", asleep[1].Number, 2, "bot"); err != nil { // which its text says, too
		t.Fatal(err)
	}

	native := []claim.Issue{issue("app", 1), issue("app", 3), asleep[1]}
	for name, k := range map[string]struct {
		options Blockers
		want    []claim.Issue
	}{
		"both":            {Blockers{}, append(slices.Clone(native), asleep[0])},
		"text not read":   {Blockers{TextOff: true}, native},
		"native not read": {Blockers{NativeOff: true}, asleep[:2]},
		"neither":         {Blockers{NativeOff: true, TextOff: true}, nil},
	} {
		c := connect(t, server.Transport(), func(o *Options) { o.Blockers = k.options })
		got, err := c.Blocking(t.Context(), issue("app", 2))
		slices.SortFunc(got, claim.Issue.Compare)
		slices.SortFunc(k.want, claim.Issue.Compare)
		if err != nil || !slices.Equal(got, k.want) {
			t.Errorf("%s: blocking = %v, %v; want %v", name, got, err, k.want)
		}
	}
}

// TestDenied: a token without the permission is told from somebody without the right.
func TestDenied(t *testing.T) {
	seed := world()
	seed.Users = append(seed.Users, githubsim.SeedUser{Login: "github-actions[bot]", Token: "tok-fork", ReadOnly: true})
	server, err := githubsim.New(seed, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	for token, want := range map[string]bool{"tok-fork": true, "tok-rob": false} {
		c := connect(t, server.Transport(), as(token))
		c.noteLabel(repoOf("app"), "bug", label{exists: true})
		var denied *PermissionError
		if err := c.AddLabel(t.Context(), issue("app", 3), "bug"); !errors.As(err, &denied) || denied.Denied() != want {
			t.Errorf("%s: %v", token, err)
		}
	}
}
