package labelstate_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	labelstate "github.com/label-state/label-state"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/work"
)

var empty = regexp.MustCompile(`\n\t+"\w+": (null|""|0|false|"0001-\S+"),?`)

// TestAnswers compares what the client returns and warns of, field by field, with testdata/answers.golden:
// an issue with a past, a hold with a plan, a lease that runs out, a sweep, a pause, and what is refused.
func TestAnswers(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, d desk) {
		var said strings.Builder
		told := func(what string, v any, err error) {
			data, bad := json.MarshalIndent(v, "", "\t")
			if bad != nil {
				t.Fatal(bad)
			}
			fmt.Fprintf(&said, "%s: %s\n", what, empty.ReplaceAll(data, nil))
			if err != nil {
				p, _ := errors.AsType[*labelstate.Problem](err)
				if p == nil {
					p = &labelstate.Problem{}
				}
				fmt.Fprintf(&said, "\terror: %s %v\n", p.Code, err)
			}
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}

		o := d.options("bot")
		o.Warn = func(text string) { fmt.Fprintln(&said, "warned:", text) }
		bot, err := labelstate.Open(t.Context(), o)
		must(err)
		ctx, ada, run := t.Context(), d.as("ada"), 0
		claim := func(more labelstate.ClaimOptions) labelstate.Hold {
			time.Sleep(time.Hour) // nothing waits any more
			run++
			more.Codename, more.FiringID = "lucius", fmt.Sprint("run-", run)
			h, err := bot.Claim(ctx, 1, more)
			must(err)
			return h
		}

		_, err = d.AddComment("acme/app", 1, "mallory", "<!-- agent-claim:codename=x firing_id=y nonce=00000001 -->")
		must(err)
		must(d.Block("acme/app", 2, 1, "ada"))
		must(bot.Release(ctx, claim(labelstate.ClaimOptions{}), labelstate.ReleaseOptions{
			Outcome: labelstate.OutcomeFailure,
			Reason:  "no tests",
		}))
		must(bot.Release(ctx, claim(labelstate.ClaimOptions{}),
			labelstate.ReleaseOptions{Outcome: labelstate.OutcomeSuccess}))

		h := claim(labelstate.ClaimOptions{TTL: 2 * time.Hour, Branch: "fix-1"})
		told("claimed", h, nil)
		p, err := bot.PostPlan(ctx, h, "Retry.")
		told("planned", p, err)
		p, err = bot.PostPlan(ctx, h, "Retry again.")
		told("planned twice", p, err)
		s, err := ada.Status(ctx, 1)
		told("status", s, err)
		told("not heard", nil, d.as("mallory").Approve(ctx, 1))
		must(ada.Approve(ctx, 1))
		p, err = bot.AwaitPlan(ctx, h)
		told("approved", p, err)
		told("approved twice", nil, ada.Approve(ctx, 1))
		h, err = bot.Renew(ctx, h)
		told("renewed", h, err)

		d.pull(t, "bot", "Closes #1")
		time.Sleep(4 * time.Hour)
		s, err = ada.Status(ctx, 1)
		told("expired", s, err)
		s, err = ada.Status(ctx, 2)
		told("blocked", s, err)
		stale, err := ada.StaleClaims(ctx)
		told("stale", stale, err)
		r, err := ada.Sweep(ctx, labelstate.SweepOptions{})
		told("swept", r, err)
		told("not owned", nil, bot.Owns(h))

		_, err = d.AddIssue("acme/app", "ada", "Was shipped", "", "agent:plan-pending-approval")
		must(err)
		_, err = d.AddIssue("acme/app", "ada", "Is free", "", labelstate.LabelImplement)
		must(err)
		r, err = ada.Sweep(ctx, labelstate.SweepOptions{})
		told("swept again", r, err)

		_, next, err := bot.Next(ctx, labelstate.NextOptions{Codename: "rex", FiringID: "run-1", TTL: 3 * time.Hour})
		told("next", next, err)
		rest, err := githubsim.ParseFault("status=422:*:/labels")
		must(err)
		graph, err := githubsim.ParseFault("status=422:mutation:Labels")
		must(err)
		d.Fault = func(r *http.Request) *githubsim.Fault { return cmp.Or(graph(r), rest(r)) }
		told("labels are late", nil,
			bot.Release(ctx, next, labelstate.ReleaseOptions{Outcome: labelstate.OutcomeFailure}))
		_, err = d.AddIssue("acme/app", "ada", "Was shipped, too", "", labelstate.LabelDone)
		must(err)
		r, err = bot.Sweep(ctx, labelstate.SweepOptions{})
		told("swept without labels", r, err)
		d.Fault = nil
		s, err = ada.Status(ctx, 4)
		told("unmanaged", s, err)

		time.Sleep(time.Hour)
		h, err = bot.Claim(ctx, 5, labelstate.ClaimOptions{Codename: "rex", FiringID: "run-2"})
		must(err)
		p, err = bot.AwaitPlan(ctx, h)
		told("no plan", p, err)
		other := h
		other.FiringID = "run-3"
		p, err = bot.AwaitPlan(ctx, other)
		told("another's plan", p, err)
		_, err = bot.PostPlan(ctx, h, "Retry.")
		must(err)
		must(bot.ForceRelease(ctx, 5, "enough"))
		told("forced", nil, bot.Owns(h))
		p, err = bot.AwaitPlan(ctx, h)
		told("a plan that is over", p, err)

		d.Fault = func(*http.Request) *githubsim.Fault { return &githubsim.Fault{Status: http.StatusNotFound} }
		stale, err = ada.StaleClaims(ctx)
		told("unread", stale, err)
		told("not resumed", nil, ada.Resume(ctx))
		d.Fault = nil

		must(ada.Pause(ctx, "a release"))
		paused, err := ada.PausedRepos(ctx, "Acme/app", "acme/other")
		told("paused", paused, err)
		paused, err = ada.PausedRepos(ctx, "acme/app")
		told("paused", paused, err)
		for _, slug := range []string{"/app", "acme/", "acme"} {
			paused, err = ada.PausedRepos(ctx, slug)
			told("no repository", paused, err)
		}
		page, err := ada.List(ctx, work.FetchOptions{IncludeClaimed: true})
		told("listed", page, err)
		_, _, err = bot.Next(ctx, labelstate.NextOptions{Codename: "lucius"})
		told("nothing next", nil, err)
		_, _, err = bot.Next(ctx, labelstate.NextOptions{})
		told("refused", nil, err)
		over, end := context.WithCancel(ctx)
		end()
		_, err = bot.Claim(over, 2, labelstate.ClaimOptions{Codename: "lucius"})
		told("interrupted", nil, err)

		for _, o := range []labelstate.ClaimOptions{
			{},
			{Person: true, Codename: "lucius"},
			{Codename: "lucius", Resume: true},
			{Codename: "lucius"},
		} {
			_, err := bot.Claim(ctx, 2, o)
			told("refused", nil, err)
		}

		other = h
		other.Repo = "acme/other"
		for _, err := range []error{
			bot.Release(ctx, other, labelstate.ReleaseOptions{}),
			bot.Approve(ctx, 2),
			bot.Check(ctx, 2),
			bot.Release(ctx, labelstate.Hold{Host: h.Host, Repo: h.Repo, Number: 2, Person: "ada"},
				labelstate.ReleaseOptions{Done: true}),
			&labelstate.OptionsError{Missing: []string{"Token"}, Err: labelstate.ErrInvalid},
		} {
			told("refused", nil, err)
		}

		golden.Check(t, "testdata/answers.golden", said.String())
	})
}
