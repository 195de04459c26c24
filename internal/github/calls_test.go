package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lease/gitref"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/prchain"
	"github.com/label-state/label-state/internal/protocol"
)

func empties() *regexp.Regexp {
	return regexp.MustCompile(`"\w+":(null|""|0|false|\{\}|"0001-[^"]+"),?`)
}

// became says what became of writes.
func became(results []protocol.Result) (did []string) {
	for _, r := range results {
		did = append(did, fmt.Sprint(r.Did, " ", r.Err))
	}
	return did
}

// facts are what an error says besides its text.
func facts(err error) (out string) {
	if denied, is := errors.AsType[*PermissionError](err); is {
		out += fmt.Sprintf(" {write %t, push %t, needs %s, %q}", denied.Write, denied.Push, denied.Needs, denied.Codes)
	}
	if none, is := errors.AsType[*NotFoundError](err); is {
		out += fmt.Sprintf(" {%s, %d, write %t}", none.What, none.Status, none.Write)
	}
	if problem, is := errors.AsType[*answer.Problem](err); is {
		out += fmt.Sprintf(" {%s, %v}", problem.Code, problem.Next)
	}
	return out
}

// busy is simulated with what people, checks and a stranger have done besides.
func busy(t *testing.T) *githubsim.Server {
	s := simulated(t)
	var closes []string
	for n := range 4 {
		closes = append(closes, fmt.Sprint("closes #", n+1))
	}

	_, opened := s.OpenPull("acme/app", "mal", githubsim.Pull{
		Title: "All of it", Body: strings.Join(closes, ", "), Head: "all", Commits: []string{"First\n\nCloses #5"},
	})
	_, waits := s.AddIssue("acme/app", "bot", "It waits", "Blocked by #2 and #99\nDepends on acme/lib#1",
		"agent:blocked")
	if err := errors.Join(
		opened,
		waits,
		s.Block("acme/app", 3, 2, "bot"),
		s.Assign("acme/app", 2, "bot", "tia"),
		s.AddLabels("acme/app", 1, "tia", "do-not-pickup"),
		s.AddLabels("acme/app", 7, "bot", "agent:authored"),
		s.RemoveLabel("acme/app", 1, "tia", "bug"),
		s.SetCheck("acme/app", 7, "bot", "test", "completed", "failure"),
		s.SetStatus("acme/app", 7, "bot", "lint", "pending"),
	); err != nil {
		t.Fatal(err)
	}

	return s
}

// TestCalls compares with testdata/calls.golden what each question and each write comes to, for how many requests, what
// it costs again when the client has learned something, and what it says when
// GitHub refuses its first request, its second and so on, or answers with nothing: that is no success. Of a refusal
// it says what a program learns besides the text.
func TestCalls(t *testing.T) {
	app, lib := repoOf("app"), repoOf("lib")
	held, pull := issue("app", 2), issue("app", 7)
	const comment, strangers = 2200000002, 9
	since := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	all := func(seq iter.Seq2[lifecycle.Facts, error]) (out []lifecycle.Facts, last error) {
		for f, err := range seq {
			if out = append(out, f); err != nil {
				last = err
			}
		}
		return out, last
	}

	var said strings.Builder
	var mu sync.Mutex // some requests go side by side
	for _, call := range []struct {
		name string
		do   func(ctx context.Context, c *Client) (any, error)
	}{
		{"Facts", func(ctx context.Context, c *Client) (any, error) { return c.Facts(ctx, held) }},
		{"Facts with pulls", func(ctx context.Context, c *Client) (any, error) {
			return c.Facts(ctx, issue("app", 4))
		}},
		{"Facts of what waits", func(ctx context.Context, c *Client) (any, error) {
			return c.Facts(ctx, issue("app", 10))
		}},
		{"Facts of many comments", func(ctx context.Context, c *Client) (any, error) {
			return c.Facts(ctx, issue("app", 6))
		}},
		{"Scan", func(ctx context.Context, c *Client) (any, error) { return all(c.Scan(ctx, lib, since)) }},
		{"Current", func(ctx context.Context, c *Client) (any, error) { return all(c.Current(ctx, app, since)) }},
		{"Spoken", func(ctx context.Context, c *Client) (any, error) {
			return c.Spoken(ctx, app, []int{2, 4, 99}, "agent-claim")
		}},
		{"HoldersOf", func(ctx context.Context, c *Client) (any, error) {
			got := c.HoldersOf(ctx, []claim.Issue{issue("app", 4), issue("lib", 1)})
			return []any{got[0].Facts.Doubts, got[0].Guess != nil, got[0].Facts, got[1].Facts},
				errors.Join(got[0].Err, got[1].Err)
		}},
		{"Facts for a view", func(ctx context.Context, c *Client) (any, error) {
			c.o.View = true
			f, err := c.Facts(ctx, issue("app", 4))
			return []any{c.Guessed(), len(f.Log.Claims), f.Excessive}, err
		}},
		{"Excess", func(ctx context.Context, c *Client) (any, error) {
			p, err := c.Pull(ctx, app, strangers)
			if err != nil {
				return nil, err
			}
			return c.Excess(ctx, p, []claim.Issue{issue("app", 1), held, issue("app", 3), issue("app", 4)})
		}},
		{"BeginScan", func(ctx context.Context, c *Client) (any, error) {
			begun := c.BeginScan(ctx, app, since, false)
			_, err := all(c.Scan(ctx, app, since))
			return nil, errors.Join(begun, err)
		}},
		{"BeginScan of what goes on", func(ctx context.Context, c *Client) (any, error) {
			begun := c.BeginScan(ctx, app, since, true)
			_, err := all(c.Current(ctx, app, since))
			return nil, errors.Join(begun, err)
		}},
		{"BeginOpen", func(ctx context.Context, c *Client) (any, error) {
			begun := c.BeginOpen(ctx, app)
			got, err := c.OpenIssues(ctx, app, "agent:implement")
			return got, errors.Join(begun, err)
		}},
		{"Begin what has no name", func(ctx context.Context, c *Client) (any, error) {
			none := claim.Repo{Owner: "a b", Name: "c"}
			begun := errors.Join(
				c.Begin(ctx, none.Issue(1)), c.BeginScan(ctx, none, since, true), c.BeginOpen(ctx, none),
			)
			got := c.FactsOf(ctx, []claim.Issue{none.Issue(1)})
			_, last := all(c.Scan(ctx, none, since))
			_, moved := c.LastMove(ctx, none.Issue(1), protocol.LabelMoved{Label: "x"})
			_, edited := c.EditComment(ctx, none.Issue(1), comment, "text")
			erased := c.DeleteComment(ctx, none.Issue(1), comment)
			return begun, errors.Join(got[0].Err, last, moved, edited, erased)
		}},
		{"Pauses of none", func(ctx context.Context, c *Client) (any, error) {
			got, err := c.Pauses(ctx, nil)
			return got != nil, err
		}},
		{"SetPause with too long a reason", func(ctx context.Context, c *Client) (any, error) {
			return nil, c.SetPause(ctx, app, lifecycle.Pause{By: "ann", Reason: strings.Repeat("x", 100)})
		}},
		{"Pauses", func(ctx context.Context, c *Client) (any, error) {
			got, err := c.Pauses(ctx, []claim.Repo{app, repoOf("tools")})
			return got[repoOf("tools")], err
		}},
		{"OpenIssues", func(ctx context.Context, c *Client) (any, error) {
			return c.OpenIssues(ctx, app, "agent:pr-open")
		}},
		{"Issue", func(ctx context.Context, c *Client) (any, error) { return c.Issue(ctx, held) }},
		{"Comments", func(ctx context.Context, c *Client) (any, error) { return c.Comments(ctx, held, since) }},
		{"Said", func(ctx context.Context, c *Client) (any, error) { return c.Said(ctx, held, "claimed") }},
		{"Blocking", func(ctx context.Context, c *Client) (any, error) { return c.Blocking(ctx, held) }},
		{"Votes", func(ctx context.Context, c *Client) (any, error) { return c.Votes(ctx, held, 1) }},
		{"Remarks", func(ctx context.Context, c *Client) (any, error) {
			out, whole, err := c.Remarks(ctx, lib, since, 1)
			return fmt.Sprint(out, whole), err
		}},
		{"PersonsHolds", func(ctx context.Context, c *Client) (any, error) { return c.PersonsHolds(ctx, app) }},
		{"InProgress", func(ctx context.Context, c *Client) (any, error) { return c.InProgress(ctx, app) }},
		{"Joined", func(ctx context.Context, c *Client) (any, error) { return c.Joined(ctx, "tia") }},
		{"NewestPulls", func(ctx context.Context, c *Client) (any, error) { return c.NewestPulls(ctx, app) }},
		{"HoldersOfHeads", func(ctx context.Context, c *Client) (any, error) {
			return c.HoldersOfHeads(ctx, app, app, []string{"fix"})
		}},
		{"CheckParent", func(ctx context.Context, c *Client) (any, error) {
			return nil, c.CheckParent(ctx, issue("app", 5))
		}},
		{"CheckParent of others", func(ctx context.Context, c *Client) (any, error) {
			var out []string
			for _, n := range []int{1, 7, 99} {
				err := c.CheckParent(ctx, issue("app", n))
				out = append(out, fmt.Sprint(err)+facts(err))
			}
			return out, nil
		}},
		{"Close", func(ctx context.Context, c *Client) (any, error) { return nil, c.CloseCompleted(ctx, held) }},
		{"Assign", func(ctx context.Context, c *Client) (any, error) { return nil, c.Assign(ctx, held, "tia") }},
		{"Unassign", func(ctx context.Context, c *Client) (any, error) { return nil, c.Unassign(ctx, held, "tia") }},
		{"AddLabel", func(ctx context.Context, c *Client) (any, error) {
			return nil, c.AddLabel(ctx, held, "agent:done")
		}},
		{"RemoveLabel", func(ctx context.Context, c *Client) (any, error) {
			return nil, c.RemoveLabel(ctx, held, "bug")
		}},
		{"LastRemoval", func(ctx context.Context, c *Client) (any, error) {
			return c.LastMove(ctx, held, protocol.LabelMoved{Label: "bug"})
		}},
		{"LastAddition", func(ctx context.Context, c *Client) (any, error) {
			return c.LastMove(ctx, held, protocol.LabelMoved{Label: "agent:in-flight", On: true})
		}},
		{"Comment", func(ctx context.Context, c *Client) (any, error) { return c.Comment(ctx, held, "text") }},
		{"EditComment", func(ctx context.Context, c *Client) (any, error) {
			return c.EditComment(ctx, held, comment, "text")
		}},
		{"DeleteComment", func(ctx context.Context, c *Client) (any, error) {
			return nil, c.DeleteComment(ctx, held, comment)
		}},
		{"Minimize", func(ctx context.Context, c *Client) (any, error) {
			f, err := c.Facts(ctx, issue("app", 6))
			if err != nil {
				return nil, err
			}
			return c.Minimize(ctx, []claim.Comment{f.Log.Log[0].Comment, f.Log.Log[1].Comment})
		}},
		{"React to a comment", func(ctx context.Context, c *Client) (any, error) {
			return nil, c.React(ctx, app, comment, "+1")
		}},
		{"React", func(ctx context.Context, c *Client) (any, error) { return nil, c.React(ctx, app, 1, "+1") }},
		{"Reactions", func(ctx context.Context, c *Client) (any, error) { return c.Reactions(ctx, app, 1, "bot") }},
		{"Changes", func(ctx context.Context, c *Client) (any, error) { return c.Changes(ctx, pull, "README.md") }},
		{"Checks", func(ctx context.Context, c *Client) (any, error) {
			return c.Checks(ctx, "acme/app", strings.Repeat("0", 40))
		}},
		{"Pause", func(ctx context.Context, c *Client) (any, error) { return c.Pause(ctx, repoOf("tools")) }},
		{"SetPause", func(ctx context.Context, c *Client) (any, error) {
			return nil, c.SetPause(ctx, app, pauseNow())
		}},
		{"SetPause again", func(ctx context.Context, c *Client) (any, error) {
			return nil, c.SetPause(ctx, repoOf("tools"), pauseNow())
		}},
		{"ClearPause", func(ctx context.Context, c *Client) (any, error) {
			return nil, second(c.ClearPause(ctx, repoOf("tools")))
		}},
		{"Pull", func(ctx context.Context, c *Client) (any, error) { return c.Pull(ctx, app, 7) }},
		{"PullAt", func(ctx context.Context, c *Client) (any, error) {
			return c.PullAt(ctx, "https://github.com/acme/app/pull/7", issue("app", 3))
		}},
		{"PullAt others", func(ctx context.Context, c *Client) (any, error) {
			var out []string
			for _, address := range []string{
				"7", "#9", "https://github.com/acme/lib/pull/2", "3", "99", "https://github.com/acme/none/pull/1",
				"https://github.com/acme/app/issues/3", "https://elsewhere.example/acme/app/pull/7", "x",
			} {
				got, err := c.PullAt(ctx, address, issue("app", 3))
				text := fmt.Sprintf("%s: %s#%d bare %t, %v", address, got.Repo, got.Number, got.Bare, err)
				out = append(out, text+facts(err))
			}
			return out, nil
		}},
		{"PullToMerge", func(ctx context.Context, c *Client) (any, error) {
			p, m, err := c.PullToMerge(ctx, app, 7, FileAt{})
			return []any{p, m}, err
		}},
		{"PullsFrom", func(ctx context.Context, c *Client) (any, error) {
			return c.PullsFrom(ctx, "acme/app", "fix")
		}},
		{"Unopenable", func(ctx context.Context, c *Client) (any, error) {
			return c.Unopenable(ctx, "acme/app", "fix", "main")
		}},
		{"OpenPull", func(ctx context.Context, c *Client) (any, error) {
			return c.OpenPull(ctx, "acme/app", prchain.Proposal{Title: "t", Body: "b", Branch: "fix", Base: "main"})
		}},
		{"ReadPull", func(ctx context.Context, c *Client) (any, error) { return c.ReadPull(ctx, pull) }},
		{"EditPullBody", func(ctx context.Context, c *Client) (any, error) {
			return nil, c.EditPullBody(ctx, pull, "b")
		}},
		{"GetRef", func(ctx context.Context, c *Client) (any, error) {
			return c.GetRef(ctx, held, "refs/heads/main")
		}},
		{"RefNames", func(ctx context.Context, c *Client) (any, error) {
			return c.RefNames(ctx, held, "refs/heads/")
		}},
		{"CanSwapRefs", func(ctx context.Context, c *Client) (any, error) { return nil, c.CanSwapRefs(ctx) }},
		{"Labels", func(ctx context.Context, c *Client) (any, error) { return c.Labels(ctx, app) }},
		{"CreateLabel", func(ctx context.Context, c *Client) (any, error) {
			return nil, c.CreateLabel(ctx, app, labels.Definition{Name: "new", Color: "000000"})
		}},
		{"UpdateLabel", func(ctx context.Context, c *Client) (any, error) {
			return nil, c.UpdateLabel(ctx, app, "bug", labels.Definition{Name: "gub", Color: "000000"})
		}},
		{"DeleteLabel", func(ctx context.Context, c *Client) (any, error) {
			return nil, second(c.DeleteLabel(ctx, app, "bug"))
		}},
		{"Repository", func(ctx context.Context, c *Client) (any, error) { return c.Repository(ctx, app) }},
		{"DefaultBranch", func(ctx context.Context, c *Client) (any, error) {
			return c.DefaultBranch(ctx, "acme/lib")
		}},
		{"Sweepable", func(ctx context.Context, c *Client) (any, error) {
			return c.Sweepable(ctx, app)
		}},
		{"File", func(ctx context.Context, c *Client) (any, error) { return c.File(ctx, app, "README.md") }},
		{"Heard", func(ctx context.Context, c *Client) (any, error) { return nil, c.Heard(ctx, app) }},
		{"MayLabel", func(ctx context.Context, c *Client) (any, error) { return c.MayLabel(ctx, app, "tia") }},
		{"Viewer", func(ctx context.Context, c *Client) (any, error) { return c.Viewer(ctx) }},
		{"TokenScopes", func(ctx context.Context, c *Client) (any, error) {
			scopes, told, err := c.TokenScopes(ctx)
			return []any{scopes, told}, err
		}},
		{"Write", func(ctx context.Context, c *Client) (any, error) {
			out := c.Write(ctx, []ledger.Batch{{Issue: held, Read: true, Writes: []protocol.Write{
				{Kind: protocol.WriteUnassign, Login: "tia"},
				{Kind: protocol.WriteRelabel, Labels: labels.Change{Add: []string{"agent:done"}, Remove: []string{"bug"}}},
			}}})
			return became(out[0].Results), nil
		}},
		{"Write comments", func(ctx context.Context, c *Client) (any, error) {
			out := c.Write(ctx, []ledger.Batch{
				{Issue: held, Writes: []protocol.Write{
					{Kind: protocol.WritePost, Body: "text", Optional: true},
					{Kind: protocol.WriteEdit, Comment: comment, Body: "text"},
					{Kind: protocol.WriteErase, Comment: comment},
				}},
				{Issue: issue("app", 1), Read: true, Writes: []protocol.Write{
					{Kind: protocol.WriteAssign, Login: "tia"},
					{Kind: protocol.WriteClose},
				}},
			})
			return slices.Concat(became(out[0].Results), became(out[1].Results)), nil
		}},
		{"Write an edit", func(ctx context.Context, c *Client) (any, error) {
			out := c.Write(ctx, []ledger.Batch{{Issue: held, Read: true, Writes: []protocol.Write{
				{Kind: protocol.WriteEdit, Comment: comment, Body: "text"},
			}}})
			return became(out[0].Results), nil
		}},
		{"Write after a read", func(ctx context.Context, c *Client) (any, error) {
			c.ShowLeases()
			first := issue("app", 1)
			read := c.FactsOf(ctx, []claim.Issue{first, held, issue("app", 3)})
			out := c.Write(ctx, []ledger.Batch{
				{Issue: first, Read: true, Writes: []protocol.Write{
					{Kind: protocol.WritePost, Body: "<!-- agent-claim:codename=c firing_id=f nonce=n ttl=1800 -->"},
					{Kind: protocol.WriteRelabel, Labels: labels.Change{
						Add: []string{"agent:done"}, Remove: []string{"agent:implement"},
					}},
				}},
				{Issue: issue("app", 3), Read: true, Writes: []protocol.Write{
					{Kind: protocol.WriteRelabel, Labels: labels.Change{Remove: []string{"agent:pr-open"}}},
				}},
				{Issue: held, Read: true, Writes: []protocol.Write{
					{Kind: protocol.WriteRelabel, Labels: labels.Change{Add: []string{"agent:done"}}},
				}},
			})
			var after []any
			for _, one := range out {
				if one.After != nil {
					after = append(after, one.After.Issue.Number, one.After.Labels, len(one.After.Log.Claims))
				}
			}
			_, shown := c.ShownRef(first, gitref.RefName(first))
			_, known := c.ShownRef(held, gitref.RefName(held))
			return []any{became(out[0].Results), became(out[1].Results), became(out[2].Results), after, shown, known},
				errors.Join(read[0].Err, read[1].Err, read[2].Err)
		}},
		{"Leases of a scan", func(ctx context.Context, c *Client) (any, error) {
			c.ShowLeases()
			_, err := all(c.Scan(ctx, app, since))
			tip, known := c.ShownRef(held, gitref.RefName(held))
			_, free := c.ShownRef(issue("app", 3), gitref.RefName(issue("app", 3)))
			return []any{tip, known, free}, err
		}},
		{"HoldersOfHeads of many", func(ctx context.Context, c *Client) (any, error) {
			branches := []string{"fix", "draft", "all"}
			for n := range 9 {
				branches = append(branches, fmt.Sprint("none-", n))
			}
			got, err := c.HoldersOfHeads(ctx, app, app, branches)
			var out []string
			for _, h := range got {
				out = append(out, fmt.Sprint(h.Branch, " ", h.Pull, " ", h.Elsewhere, " ", h.Err))
			}
			return out, err
		}},
		{"Reply", func(ctx context.Context, c *Client) (any, error) {
			var out []protocol.Replies
			var errs []error
			for _, ask := range []protocol.Ask{
				{Pull: "https://github.com/acme/app/pull/7"},
				{Moved: &protocol.LabelMoved{Label: "do-not-pickup", On: true}},
				{Moved: &protocol.LabelMoved{Label: "bug"}},
				{Votes: comment},
				{May: "tia"},
				{Counts: true, Load: true},
			} {
				one := c.Reply(ctx, issue("app", 1), ask)
				errs = append(errs, one.Err)
				one.Err = nil
				out = append(out, one)
			}
			return out, errors.Join(errs...)
		}},
		{"ReadPull of no repository", func(ctx context.Context, c *Client) (any, error) {
			return c.ReadPull(ctx, claim.Issue{Owner: "a b", Repo: "c", Number: 1})
		}},
	} {
		clean := ""
		answers := []func() *http.Response{
			func() *http.Response { return reply(http.StatusUnprocessableEntity, `{"message":"no"}`) },
			func() *http.Response { return reply(http.StatusOK, `{}`) },
			func() *http.Response {
				return reply(http.StatusForbidden, `{"message":"Resource not accessible by integration"}`,
					"X-Accepted-GitHub-Permissions: issues=write")
			},
			func() *http.Response { return reply(http.StatusNotFound, `{"message":"none"}`) },
		}
		last := "" // what the trial before was about
		for trial, sent := 0, 1; trial <= len(answers)*sent; trial++ {
			refused, answer := (trial+len(answers)-1)/len(answers), answers[(trial+len(answers)-1)%len(answers)]()
			if answer.StatusCode == http.StatusNotFound && strings.HasSuffix(last, "/graphql") {
				continue // as it is of 422
			}

			synctest.Test(t, func(t *testing.T) {
				server, n, what := busy(t), 0, ""
				c := connect(t, roundTrip(func(r *http.Request) (*http.Response, error) {
					mu.Lock()
					n++
					this := n
					mu.Unlock()
					if this == refused {
						what = r.Method + " " + r.URL.Path
						return answer, nil
					}
					return server.Transport().RoundTrip(r)
				}))
				got, err := call.do(t.Context(), c)
				data, bad := json.Marshal(got)
				if bad != nil {
					t.Fatal(bad)
				}

				text := string(empties().ReplaceAll(data, nil))
				switch {
				case refused == 0:
					clean, sent = text, n
					fmt.Fprintf(&said, "\n%s, by %d requests: %.3000s\n", call.name, n, text)
					_, failed := call.do(t.Context(), c)
					fmt.Fprintf(&said, "again, by %d requests: %v\n", n-sent, failed)
				case err == nil && text == clean:
					text = "the same"
				}

				if last = what; refused > 0 {
					fmt.Fprintf(&said, "%d to %s: ", answer.StatusCode, what)
				}

				if err != nil {
					fmt.Fprintln(&said, err.Error()+facts(err))
				} else if refused > 0 {
					fmt.Fprintf(&said, "%.200s\n", text)
				}
			})
		}
	}

	golden.Check(t, "testdata/calls.golden", said.String())
}
