package contract

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lease/gitref"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/prchain"
	"github.com/label-state/label-state/internal/protocol"
)

// A deed is one use of a client's method.
type deed struct {
	method string
	do     func(context.Context, *github.Client) error
}

// written is what became of the last of some writes about an issue, with a snapshot after them.
func written(ctx context.Context, c *github.Client, i claim.Issue, writes ...protocol.Write) protocol.Result {
	got := c.Write(ctx, []ledger.Batch{{Issue: i, Writes: writes, Read: true}})[0].Results
	return got[len(got)-1]
}

// deeds use every method that sends something, on the world of testdata/seed.json after busy.
func deeds(comment int64) []deed {
	app, lib := claim.Repo{Owner: "acme", Name: "app"}, claim.Repo{Owner: "acme", Name: "lib"}
	one, issue := claim.Issue{Owner: "acme", Repo: "app", Number: 1}, claim.Issue{Owner: "acme", Repo: "app", Number: 2}
	definition := labels.Definition{Name: "area/new", Color: "0e8a16", Description: "Nobody has it yet"}
	return []deed{
		{"Viewer", func(ctx context.Context, c *github.Client) error { return second(c.Viewer(ctx)) }},
		{"TokenScopes", func(ctx context.Context, c *github.Client) error { _, _, err := c.TokenScopes(ctx); return err }},
		{"Repository", func(ctx context.Context, c *github.Client) error { return second(c.Repository(ctx, app)) }},
		{"Repository", func(ctx context.Context, c *github.Client) error {
			return second(c.Repository(ctx, claim.Repo{Owner: "rob", Name: "app"}))
		}},
		{"File", func(ctx context.Context, c *github.Client) error {
			return second(c.File(ctx, app, ".github/label-state.yml"))
		}},
		{"CheckParent", func(ctx context.Context, c *github.Client) error { return c.CheckParent(ctx, one) }},
		{"Pull", func(ctx context.Context, c *github.Client) error { return second(c.Pull(ctx, app, 4)) }},
		{"PullToMerge", func(ctx context.Context, c *github.Client) error {
			_, _, err := c.PullToMerge(ctx, app, 4, github.FileAt{Commit: "HEAD", Path: ".github/label-state.yml"})
			return err
		}},
		{"Changes", func(ctx context.Context, c *github.Client) error {
			return second(c.Changes(ctx, claim.Issue{Owner: "acme", Repo: "app", Number: 4}, ".github/label-state.yml"))
		}},
		{"Labels", func(ctx context.Context, c *github.Client) error { return second(c.Labels(ctx, app)) }},
		{"CreateLabel", func(ctx context.Context, c *github.Client) error { return c.CreateLabel(ctx, app, definition) }},
		{"CreateLabel", func(ctx context.Context, c *github.Client) error { return c.CreateLabel(ctx, app, definition) }},
		{"UpdateLabel", func(ctx context.Context, c *github.Client) error {
			return c.UpdateLabel(ctx, app, definition.Name, labels.Definition{Name: "area/newer", Color: "ededed"})
		}},
		{"DeleteLabel", func(ctx context.Context, c *github.Client) error {
			return second(c.DeleteLabel(ctx, app, "area/newer"))
		}},
		{"DeleteLabel", func(ctx context.Context, c *github.Client) error {
			return second(c.DeleteLabel(ctx, app, "area/newer"))
		}},
		{"AddLabel", func(ctx context.Context, c *github.Client) error { return c.AddLabel(ctx, one, "agent:implement") }},
		{"RemoveLabel", func(ctx context.Context, c *github.Client) error { return c.RemoveLabel(ctx, one, "agent:implement") }},
		{"RemoveLabel", func(ctx context.Context, c *github.Client) error { return c.RemoveLabel(ctx, one, "agent:implement") }},
		{"Assign", func(ctx context.Context, c *github.Client) error { return c.Assign(ctx, one, "ann") }},
		{"Unassign", func(ctx context.Context, c *github.Client) error { return c.Unassign(ctx, one, "ann") }},
		{"Heard", func(ctx context.Context, c *github.Client) error { return c.Heard(ctx, app) }},
		{"HoldersOf", func(ctx context.Context, c *github.Client) error {
			return c.HoldersOf(ctx, []claim.Issue{one, issue})[0].Err
		}},
		{"HoldersOfHeads", func(ctx context.Context, c *github.Client) error {
			return second(c.HoldersOfHeads(ctx, app, app, []string{"fix", "none"}))
		}},
		{"LastMove", func(ctx context.Context, c *github.Client) error {
			return second(c.LastMove(ctx, one, protocol.LabelMoved{Label: "bug", On: true}))
		}},
		{"PullAt", func(ctx context.Context, c *github.Client) error {
			return second(c.PullAt(ctx, "https://github.com/acme/app/pull/4", one))
		}},
		{"Write", func(ctx context.Context, c *github.Client) error {
			return written(ctx, c, issue, protocol.Write{
				Kind:   protocol.WriteRelabel,
				Labels: labels.Change{Add: []string{"bug"}, Remove: []string{"ready"}},
			}).Err
		}},
		{"Write", func(ctx context.Context, c *github.Client) error {
			return written(ctx, c, issue, protocol.Write{Kind: protocol.WritePost, Body: "mirrored"}, protocol.Write{
				Kind:   protocol.WriteRelabel,
				Labels: labels.Change{Add: []string{"ready"}, Remove: []string{"bug"}},
			}).Err
		}},
		{"Write", func(ctx context.Context, c *github.Client) error {
			posted := written(ctx, c, issue, protocol.Write{Kind: protocol.WritePost, Body: "asked"})
			if posted.Err != nil {
				return posted.Err
			}
			return written(ctx, c, issue, protocol.Write{
				Kind:    protocol.WriteEdit,
				Comment: posted.Comment.ID,
				Node:    posted.Comment.Node,
				Body:    "confirmed",
			}).Err
		}},
		{"Reply", func(ctx context.Context, c *github.Client) error {
			return c.Reply(ctx, issue, protocol.Ask{Counts: true}).Err
		}},
		{"InProgress", func(ctx context.Context, c *github.Client) error { return second(c.InProgress(ctx, app)) }},
		{"PersonsHolds", func(ctx context.Context, c *github.Client) error { return second(c.PersonsHolds(ctx, app)) }},
		{"Joined", func(ctx context.Context, c *github.Client) error { return second(c.Joined(ctx, "ann")) }},
		{"NewestPulls", func(ctx context.Context, c *github.Client) error { return second(c.NewestPulls(ctx, app)) }},
		{"Minimize", func(ctx context.Context, c *github.Client) error {
			posted := written(ctx, c, issue, protocol.Write{Kind: protocol.WritePost, Body: "over"})
			if posted.Err != nil {
				return posted.Err
			}
			return second(c.Minimize(ctx, []claim.Comment{posted.Comment}))
		}},
		{"Excess", func(ctx context.Context, c *github.Client) error {
			p, err := c.Pull(ctx, app, 4)
			if err != nil {
				return err
			}
			return second(c.Excess(ctx, p, []claim.Issue{one, issue, {Owner: "acme", Repo: "app", Number: 3}, {Owner: "acme", Repo: "app", Number: 5}}))
		}},
		{"Begin", func(ctx context.Context, c *github.Client) error { return c.Begin(ctx, one) }},
		{"BeginOpen", func(ctx context.Context, c *github.Client) error { return c.BeginOpen(ctx, app) }},
		{"BeginScan", func(ctx context.Context, c *github.Client) error { return c.BeginScan(ctx, app, time.Time{}, false) }},
		{"BeginScan", func(ctx context.Context, c *github.Client) error { return c.BeginScan(ctx, app, time.Time{}, true) }},
		{"Sweepable", func(ctx context.Context, c *github.Client) error { return second(c.Sweepable(ctx, app)) }},
		{"Comment", func(ctx context.Context, c *github.Client) error { return second(c.Comment(ctx, one, "Hello\nworld")) }},
		{"EditComment", func(ctx context.Context, c *github.Client) error {
			return second(c.EditComment(ctx, one, comment, "Bye"))
		}},
		{"Remarks", func(ctx context.Context, c *github.Client) error {
			_, _, err := c.Remarks(ctx, app, time.Now().Add(-time.Hour), 1)
			return err
		}},
		{"Spoken", func(ctx context.Context, c *github.Client) error {
			return second(c.Spoken(ctx, app, []int{1, 2}, "<!-- label-state:guard -->"))
		}},
		{"React", func(ctx context.Context, c *github.Client) error { return c.React(ctx, app, comment, "eyes") }},
		{"Facts", func(ctx context.Context, c *github.Client) error { return second(c.Facts(ctx, one)) }},
		{"FactsOf", factsOf},
		{"Current", func(ctx context.Context, c *github.Client) error { return scan(c.Current(ctx, app, time.Time{})) }},
		{"Scan", func(ctx context.Context, c *github.Client) error { return scan(c.Scan(ctx, app, time.Time{})) }},
		{"Scan", func(ctx context.Context, c *github.Client) error {
			return scan(c.Scan(ctx, app, time.Now().Add(-time.Hour)))
		}},
		{"SetPause", func(ctx context.Context, c *github.Client) error {
			return c.SetPause(ctx, app, lifecycle.Pause{Since: time.Now(), By: "ann", Reason: "a release"})
		}},
		{"SetPause", func(ctx context.Context, c *github.Client) error {
			return c.SetPause(ctx, app, lifecycle.Pause{Since: time.Now(), By: "ann", Reason: "another"})
		}},
		{"Pause", func(ctx context.Context, c *github.Client) error { return second(c.Pause(ctx, app)) }},
		{"Pauses", func(ctx context.Context, c *github.Client) error {
			return second(c.Pauses(ctx, []claim.Repo{app, lib}))
		}},
		{"ClearPause", func(ctx context.Context, c *github.Client) error { return second(c.ClearPause(ctx, app)) }},
		{"MayLabel", func(ctx context.Context, c *github.Client) error { return second(c.MayLabel(ctx, app, "tia")) }},
		{"LastMove", func(ctx context.Context, c *github.Client) error {
			return second(c.LastMove(ctx, issue, protocol.LabelMoved{Label: "agent:in-flight"}))
		}},
		{"Blocking", func(ctx context.Context, c *github.Client) error { return second(c.Blocking(ctx, issue)) }},
		{"Comments", func(ctx context.Context, c *github.Client) error {
			return second(c.Comments(ctx, issue, time.Now().Add(-time.Hour)))
		}},
		{"Said", func(ctx context.Context, c *github.Client) error { return second(c.Said(ctx, issue, "any news?")) }},
		{"Reactions", func(ctx context.Context, c *github.Client) error {
			return second(c.Reactions(ctx, app, comment, "ann"))
		}},
		{"Votes", func(ctx context.Context, c *github.Client) error { return second(c.Votes(ctx, issue, comment)) }},
		{"DeleteComment", func(ctx context.Context, c *github.Client) error { return c.DeleteComment(ctx, issue, comment) }},
		{"OpenIssues", func(ctx context.Context, c *github.Client) error {
			return second(c.OpenIssues(ctx, app, "agent:implement"))
		}},
		{"Issue", func(ctx context.Context, c *github.Client) error { return second(c.Issue(ctx, issue)) }},
		{"DefaultBranch", func(ctx context.Context, c *github.Client) error { return second(c.DefaultBranch(ctx, "acme/app")) }},
		{"Unopenable", func(ctx context.Context, c *github.Client) error {
			return second(c.Unopenable(ctx, "acme/app", "fix", "main"))
		}},
		{"PullsFrom", func(ctx context.Context, c *github.Client) error {
			return second(c.PullsFrom(ctx, "acme/app", "fix"))
		}},
		{"OpenPull", openPull},
		{"ReadPull", checks},
		{"EditPullBody", func(ctx context.Context, c *github.Client) error {
			return c.EditPullBody(ctx, claim.Issue{Owner: "acme", Repo: "app", Number: 4}, "Closes #1\n\nMore")
		}},
		{"Checks", checks},
		{"GetRef", chain},
		{"CreateCommit", chain},
		{"RefNames", func(ctx context.Context, c *github.Client) error {
			return second(c.RefNames(ctx, issue, "refs/label-state/lease/"))
		}},
		{"SwapRefs", swapRefs},
		{"CanSwapRefs", func(ctx context.Context, c *github.Client) error { return c.CanSwapRefs(ctx) }},
		{"CloseCompleted", func(ctx context.Context, c *github.Client) error { return c.CloseCompleted(ctx, issue) }},
		{"Do", func(ctx context.Context, c *github.Client) error {
			return second(c.Do(ctx, http.MethodGet, "meta", nil, nil))
		}},
		{"Query", func(ctx context.Context, c *github.Client) error {
			return c.Query(ctx, "{viewer{login}}", nil, &struct{}{})
		}},
	}
}

// chain is one step of a lease by references: look, make a commit, swap.
func chain(ctx context.Context, c *github.Client) error {
	const ref = "refs/label-state/lease/2"
	at := claim.Issue{Owner: "acme", Repo: "app", Number: 2}
	tip, err := c.GetRef(ctx, at, ref)
	if err != nil {
		return err
	}
	made, err := c.CreateCommit(ctx, at, tip.OID, "label-state: claim")
	if err != nil {
		return err
	}
	return c.SwapRefs(ctx, at, gitref.Swap{Name: ref, Before: tip.OID, After: made.OID, RepoID: tip.RepoID})
}

// swapRefs makes two references in one step.
func swapRefs(ctx context.Context, c *github.Client) error {
	app := claim.Issue{Owner: "acme", Repo: "app"}
	main, err := c.GetRef(ctx, app, "refs/heads/main")
	if err != nil {
		return err
	}
	return c.SwapRefs(ctx, app,
		gitref.Swap{Name: "refs/label-state/lease/3", After: main.OID, RepoID: main.RepoID},
		gitref.Swap{Name: "refs/label-state/lease/4", After: main.OID, RepoID: main.RepoID})
}

// openPull opens a pull request from a branch of its own.
func openPull(ctx context.Context, c *github.Client) error {
	app := claim.Issue{Owner: "acme", Repo: "app"}
	main, err := c.GetRef(ctx, app, "refs/heads/main")
	if err != nil {
		return err
	}
	made, err := c.CreateCommit(ctx, app, main.OID, "Part of a feature")
	if err != nil {
		return err
	}
	if err := c.SwapRefs(ctx, app, gitref.Swap{Name: "refs/heads/part", After: made.OID, RepoID: main.RepoID}); err != nil {
		return err
	}
	return second(c.OpenPull(ctx, "acme/app", prchain.Proposal{Title: "Part", Body: "One of two", Branch: "part", Base: "main"}))
}

// checks reads a pull request and what judges its newest commit.
func checks(ctx context.Context, c *github.Client) error {
	p, err := c.ReadPull(ctx, claim.Issue{Owner: "acme", Repo: "app", Number: 4})
	if err != nil {
		return err
	}
	return second(c.Checks(ctx, "acme/app", p.SHA))
}

func second[T any](_ T, err error) error { return err }

func factsOf(ctx context.Context, c *github.Client) error {
	for _, r := range c.FactsOf(ctx, []claim.Issue{
		{Owner: "acme", Repo: "app", Number: 1},
		{Owner: "acme", Repo: "app", Number: 2},
		{Owner: "acme", Repo: "app", Number: 3},
		{Owner: "acme", Repo: "lib", Number: 1},
	}) {
		if r.Err != nil {
			return r.Err
		}
	}
	return nil
}

func scan(all func(func(lifecycle.Facts, error) bool)) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// busy makes issue 2 one that takes all kinds of requests to read: held long ago, much discussed, released with a pull
// request elsewhere, waiting for issue 1. It returns a comment of ann's.
func busy(s *githubsim.Server) (int64, error) {
	start := time.Now().Add(-2 * time.Hour).UTC().Format(time.RFC3339)
	texts := []string{"<!-- agent-claim:codename=drake firing_id=f-1 ts=" + start + " nonce=n1 ttl=1800 state=held -->"}
	for range 120 {
		texts = append(texts, "any news?")
	}
	texts = append(texts, "<!-- agent-release:codename=drake firing_id=f-1 outcome=success pr=https://github.com/acme/lib/pull/2 ts="+start+" -->")
	var comment int64
	for _, text := range texts {
		var err error
		if comment, err = s.AddComment("acme/app", 2, "ann", text); err != nil {
			return 0, err
		}
	}
	if err := s.AddLabels("acme/app", 2, "ann", "agent:in-flight"); err != nil {
		return 0, err
	}
	return comment, s.Block("acme/app", 2, 1, "ann")
}

// TestClient has the client do everything it can, as people with every kind of role, and holds all
// that it sent and was answered against GitHub's descriptions. What ann does has to succeed.
func TestClient(t *testing.T) {
	judge := newJudge(t)
	var all []exchange
	for _, who := range []string{"ann", "wes", "tia", "rob", "ci", "fork"} {
		all = append(all, record(t, who)...)
	}
	byREST, documents := judge.all(all)
	report(t, byREST, restExceptions)
	reportAll(t, documents, documentExceptions)
}

// record returns everything one client sends.
func record(t *testing.T, who string) []exchange {
	t.Helper()
	s := simulator(t)
	comment, err := busy(s)
	if err != nil {
		t.Fatal(err)
	}
	tape := &recorder{next: s.Transport()}
	c, err := github.New(github.Options{
		REST: apiRoot, GraphQL: apiRoot + "/graphql", Token: github.NewSecret("tok-" + who), HTTP: tape, Clock: still{},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range deeds(comment) {
		if err := d.do(t.Context(), c); who == "ann" && err != nil {
			t.Errorf("%s: %v", d.method, err)
		}
	}
	return tape.take()
}

// still is a clock that takes no time to wait.
type still struct{}

func (still) Now() time.Time { return time.Now() }

func (still) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// TestDeeds: a method that sends something cannot be forgotten.
func TestDeeds(t *testing.T) {
	silent := []string{"String", "Along", "ShowLeases", "ShownRef", "Guessed", "Lacks", "WelcomeContributors"}
	for m := range reflect.TypeFor[*github.Client]().Methods() {
		if !slices.Contains(silent, m.Name) && !slices.ContainsFunc(deeds(0), func(d deed) bool { return d.method == m.Name }) {
			t.Error(fmt.Errorf("deeds do not use %s", m.Name))
		}
	}
}
