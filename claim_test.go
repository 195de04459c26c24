package labelstate_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	labelstate "github.com/label-state/label-state"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/work"
)

const hour = time.Hour

// served is the embedded GitHub for one test.
func served(t *testing.T) desk {
	t.Helper()
	d := serve(githubsim.Options{Dir: t.TempDir()})
	t.Cleanup(d.stop)
	return d
}

// bubble is the embedded GitHub in a time of the test's own (testing/synctest), which passes while
// everybody waits.
func bubble(t *testing.T, play func(t *testing.T, d desk)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		server := seeded(githubsim.Options{Dir: dir})
		play(t, desk{Server: server, url: "http://github.example", line: server.Transport()})
	})
}

// writes is how many requests were made that write.
func (d desk) writes() (n int) {
	for _, r := range d.Requests() {
		if r.Writes() {
			n++
		}
	}
	return n
}

// pull opens a pull request from a branch of its own, and returns its URL.
func (d desk) pull(t *testing.T, login, body string) string {
	t.Helper()
	dir, err := d.GitDir("acme/app")
	if err != nil {
		t.Fatal(err)
	}

	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"--git-dir", dir, "-c", "user.name=" + login, "-c", "user.email=" +
			login + "@example.com"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}

		return strings.TrimSpace(string(out))
	}

	git("update-ref", "refs/heads/work", git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "Work"))
	n, err := d.OpenPull("acme/app", login, githubsim.Pull{Title: "Work", Body: body, Head: "work"})
	if err != nil {
		t.Fatal(err)
	}

	return fmt.Sprintf("%s/acme/app/pull/%d", d.url, n)
}

// TestClaimByALoginThatDoesNotCount: a login that may not label wins nothing and writes nothing.
func TestClaimByALoginThatDoesNotCount(t *testing.T) {
	d := served(t)
	mallory := d.as("mallory")
	for _, o := range []labelstate.ClaimOptions{{Codename: "fox"}, {Person: true}} {
		h, err := mallory.Claim(t.Context(), 1, o)
		if err == nil || errors.Is(err, labelstate.ErrHeld) || errors.Is(err, labelstate.ErrInvalid) {
			t.Errorf("claim %+v: %+v, %v", o, h, err)
		}
	}

	bot := d.as("bot")
	if err := bot.Check(t.Context(), 1); err != nil {
		t.Errorf("check: %v", err)
	}

	hold, err := bot.Claim(t.Context(), 1, labelstate.ClaimOptions{Codename: "lucius"})
	if err != nil {
		t.Fatal(err)
	}

	if _, err := bot.PostPlan(t.Context(), hold, "Fix it."); err != nil {
		t.Fatal(err)
	}

	if err := mallory.Approve(t.Context(), 1); err == nil {
		t.Error("approved a plan with a login that does not count")
	}

	if s, err := bot.Status(t.Context(), 1); err != nil || s.Plan.Answer != labelstate.PlanWaiting {
		t.Errorf("status: %+v, %v", s.Plan, err)
	}
}

// TestForeignHold: a hold of another repository or host is an error wherever one is given, and
// nothing of the client's own issue changes.
func TestForeignHold(t *testing.T) {
	d := served(t)
	c := d.as("bot")
	own, err := c.Claim(t.Context(), 1, labelstate.ClaimOptions{Codename: "lucius"})
	if err != nil {
		t.Fatal(err)
	}

	repo, host, blank := own, own, own
	repo.Repo, host.Host, blank.Host, blank.Repo = "acme/web", "github.com", "", ""
	for _, h := range []labelstate.Hold{repo, host, blank} {
		_, renewed := c.Renew(t.Context(), h)
		_, posted := c.PostPlan(t.Context(), h, "Fix it.")
		_, awaited := c.AwaitPlan(t.Context(), h)
		kept, stop := c.Keep(t.Context(), h)
		stop()

		for call, err := range map[string]error{
			"Renew": renewed, "Release": c.Release(t.Context(), h, labelstate.ReleaseOptions{}), "Owns": c.Owns(h),
			"Keep": context.Cause(kept), "PostPlan": posted, "AwaitPlan": awaited,
		} {
			foreign, is := errors.AsType[*labelstate.ForeignHoldError](err)
			if !is || !errors.Is(err, labelstate.ErrInvalid) || foreign.Hold != h.Host+"/"+h.Repo {
				t.Errorf("%s with a hold of %s/%s: %v", call, h.Host, h.Repo, err)
			}
		}
	}

	if err := c.Owns(own); err != nil {
		t.Error(err)
	}
	upper := own
	upper.Repo = "ACME/App" // GitHub compares names without case
	if _, err := c.Renew(t.Context(), upper); err != nil {
		t.Error(err)
	}
}

// TestClaimOptions: what contradicts itself is refused before anybody is asked.
func TestClaimOptions(t *testing.T) {
	d := served(t)
	c := d.as("bot")
	before := len(d.Requests())

	for _, o := range []labelstate.ClaimOptions{
		{},
		{FiringID: "run-7"},
		{Person: true, Codename: "lucius"},
		{Person: true, TTL: 1},
		{Person: true, Branch: "b"},
		{Person: true, FiringID: "f"},
	} {
		if _, err := c.Claim(t.Context(), 1, o); !errors.Is(err, labelstate.ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}

	for _, o := range []labelstate.NextOptions{{}, {Codename: "lucius", Priorities: []work.Priority{9}}} {
		if _, _, err := c.Next(t.Context(), o); !errors.Is(err, labelstate.ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}

	if n := len(d.Requests()); n != before {
		t.Errorf("%d requests", n-before)
	}

	for _, o := range []labelstate.ClaimOptions{
		{Codename: "two words"},
		{Codename: "lucius", TTL: time.Second - 1}, // a record has whole seconds
	} {
		if _, err := c.Claim(t.Context(), 1, o); !errors.Is(err, labelstate.ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// TestRenewAcrossProcesses: another process goes on with a stored hold by Renew; before that it
// owns nothing.
func TestRenewAcrossProcesses(t *testing.T) {
	d := served(t)
	stored, err := d.as("bot").Claim(t.Context(), 1, labelstate.ClaimOptions{Codename: "lucius"})
	if err != nil {
		t.Fatal(err)
	}

	second := d.as("bot")
	kept, stop := second.Keep(t.Context(), stored)
	stop()

	for _, err := range []error{second.Owns(stored), context.Cause(kept)} {
		if !errors.Is(err, labelstate.ErrLost) {
			t.Errorf("before Renew: %v", err)
		}
	}

	renewed, err := second.Renew(t.Context(), stored)
	if err != nil || renewed.Token != stored.Token || second.Owns(stored) != nil {
		t.Errorf("%+v, %v, %v", renewed, err, second.Owns(stored))
	}

	stale := stored
	stale.Token++
	if err := second.Release(t.Context(), stale, labelstate.ReleaseOptions{}); !errors.Is(err, labelstate.ErrLost) {
		t.Errorf("release with another token: %v", err)
	}
}

// TestReleaseOfDeliveredWork: a hold that its own pull request has ended is released as success
// already, and as nothing else.
func TestReleaseOfDeliveredWork(t *testing.T) {
	d := served(t)
	c := d.as("bot")
	hold, err := c.Claim(t.Context(), 1, labelstate.ClaimOptions{Codename: "lucius"})
	if err != nil {
		t.Fatal(err)
	}

	url := d.pull(t, "bot", "Closes #1")
	// hands the hold over, as the Action does
	if _, err := d.as("ada").Sweep(t.Context(), labelstate.SweepOptions{}); err != nil {
		t.Fatal(err)
	}

	if s, err := c.Status(t.Context(), 1); err != nil || s.Holder != nil || s.State != labelstate.StatePROpen {
		t.Fatalf("%+v, %v", s, err)
	}

	for _, o := range []labelstate.ReleaseOptions{{PR: url}, {Outcome: labelstate.OutcomeSuccess}} {
		if err := c.Release(t.Context(), hold, o); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}

	if err := c.Release(t.Context(), hold,
		labelstate.ReleaseOptions{Outcome: labelstate.OutcomeFailure}); !errors.Is(err, labelstate.ErrLost) {
		t.Errorf("failure: %v", err)
	}
}

// TestDryRun: nothing is written, and the sweep says what it would do.
func TestDryRun(t *testing.T) {
	d := served(t)
	if _, err := d.as("bot").Claim(t.Context(), 1, labelstate.ClaimOptions{Codename: "lucius", TTL: hour}); err != nil {
		t.Fatal(err)
	}

	d.Skip(2 * hour)
	o := d.options("bot")
	o.DryRun = true
	dry, err := labelstate.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}

	before := d.writes()
	if r, err := dry.Sweep(t.Context(), labelstate.SweepOptions{}); err != nil || len(r.Findings) != 1 ||
		len(r.Findings[0].Ended) != 1 {
		t.Errorf("sweep: %+v, %v", r, err)
	}

	if _, err := dry.Claim(t.Context(), 2, labelstate.ClaimOptions{Codename: "lucius"}); err == nil {
		t.Error("a dry run has claimed")
	}

	if n := d.writes(); n != before {
		t.Errorf("%d writes", n-before)
	}
}

// TestSourceHolds: the client knows what its source has claimed, and no longer what the source has
// ended.
func TestSourceHolds(t *testing.T) {
	d := served(t)
	c := d.as("bot")
	if _, err := c.Source(labelstate.SourceOptions{}); !errors.Is(err, labelstate.ErrInvalid) {
		t.Errorf("without a codename: %v", err)
	}

	source, err := c.Source(labelstate.SourceOptions{Codename: "lucius"})
	if err != nil {
		t.Fatal(err)
	}

	got, err := work.Next(t.Context(), source, work.FetchOptions{})
	if err != nil {
		t.Fatal(err)
	}

	h := labelstate.Hold{
		Host:     c.Host(),
		Repo:     c.Repo(),
		Number:   got.Item.Number(),
		Codename: got.Agent,
		FiringID: got.Run,
		Token:    got.Token,
	}

	if err := c.Owns(h); err != nil {
		t.Errorf("claimed: %v", err)
	}

	if err := source.Complete(t.Context(), got.Item.ID, work.Result{Outcome: work.Failure}); err != nil {
		t.Fatal(err)
	}

	if err := c.Owns(h); !errors.Is(err, labelstate.ErrLost) {
		t.Errorf("ended: %v", err)
	}

	// What the client claimed without the source, the source ends as well; of another codename it
	// knows nothing.
	other, err := c.Claim(t.Context(), 1, labelstate.ClaimOptions{Codename: "lucius"})
	if err != nil {
		t.Fatal(err)
	}

	fox, err := c.Source(labelstate.SourceOptions{Codename: "fox"})
	if err != nil {
		t.Fatal(err)
	}

	var refused *work.Error
	if err := fox.Release(t.Context(), "github-1", work.ReleaseOptions{}); !errors.As(err, &refused) ||
		refused.Reason != work.InvalidState {
		t.Errorf("release of another's: %v", err)
	}

	if err := source.Release(t.Context(), "github-1", work.ReleaseOptions{}); err != nil ||
		!errors.Is(c.Owns(other), labelstate.ErrLost) {
		t.Errorf("release: %v, %v", err, c.Owns(other))
	}
}

// TestResume: another process takes a run over by name, with a larger token, and the first one has
// lost it.
func TestResume(t *testing.T) {
	d := served(t)
	first, err := d.as("bot").Claim(t.Context(), 1, labelstate.ClaimOptions{Codename: "lucius", FiringID: "run-7"})
	if err != nil {
		t.Fatal(err)
	}

	second, err := d.as("bot").Claim(t.Context(), 1, labelstate.ClaimOptions{
		Codename: "lucius",
		FiringID: "run-7",
		Resume:   true,
	})
	if err != nil || second.FiringID != "run-7" || second.Token <= first.Token {
		t.Errorf("%+v, %v, want a token over %d", second, err, first.Token)
	}
}

// TestAwaitEnded: a worker that waits for a plan's answer and never posted one learns that its hold
// is over, where it is.
func TestAwaitEnded(t *testing.T) {
	d := served(t)
	bot := d.as("bot")
	hold, err := bot.Claim(t.Context(), 1, labelstate.ClaimOptions{Codename: "lucius"})
	if err != nil {
		t.Fatal(err)
	}

	if err := d.as("ada").ForceRelease(t.Context(), 1, "enough"); err != nil {
		t.Fatal(err)
	}

	if p, err := bot.AwaitPlan(t.Context(), hold); !errors.Is(err, labelstate.ErrLost) || p.Answer != labelstate.PlanOver {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestSweepOptions: a sweep looks at what changed in the last two days, also where no label shows
// it, and takes a shorter lease than the repository's for a claim that names none.
func TestSweepOptions(t *testing.T) {
	d := served(t)
	bot, ada := d.as("bot"), d.as("ada")
	if _, err := bot.Claim(t.Context(), 1, labelstate.ClaimOptions{Codename: "lucius"}); err != nil {
		t.Fatal(err)
	}

	names, err := d.Labels("acme/app", 1)
	if err != nil {
		t.Fatal(err)
	}

	for _, name := range names {
		if err := d.RemoveLabel("acme/app", 1, "ada", name); err != nil {
			t.Fatal(err)
		}
	}

	r, err := ada.Sweep(t.Context(), labelstate.SweepOptions{})
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Issue != "acme/app#1" {
		t.Errorf("without a label: %+v, %v", r, err)
	}

	body := "<!-- agent-claim:codename=drake firing_id=run-1 nonce=00000001 state=held -->"
	if _, err := d.AddComment("acme/app", 2, "bot", body); err != nil {
		t.Fatal(err)
	}

	if _, err := ada.Sweep(t.Context(), labelstate.SweepOptions{}); err != nil { // it shows that hold
		t.Fatal(err)
	}

	d.Skip(hour)
	if r, err := ada.Sweep(t.Context(), labelstate.SweepOptions{}); err != nil || len(r.Findings) != 0 {
		t.Errorf("after an hour: %+v, %v", r, err)
	}
	if r, err := ada.Sweep(t.Context(), labelstate.SweepOptions{MaxAge: 30 * time.Minute}); err != nil ||
		len(r.Findings) != 1 || !slices.Equal(r.Findings[0].Ended, []string{"drake:run-1"}) {
		t.Errorf("after an hour, and of half an hour: %+v, %v", r, err)
	}
}

// TestSourceKeepsFailed: what has failed goes to a person where the source is to keep it.
func TestSourceKeepsFailed(t *testing.T) {
	d := served(t)
	source, err := d.as("bot").Source(labelstate.SourceOptions{Codename: "lucius", KeepFailed: true})
	if err != nil {
		t.Fatal(err)
	}

	if _, err := source.Claim(t.Context(), "github-1"); err != nil {
		t.Fatal(err)
	}

	if err := source.Complete(t.Context(), "github-1", work.Result{Outcome: work.Failure}); err != nil {
		t.Fatal(err)
	}

	if names, err := d.Labels("acme/app", 1); err != nil || !slices.Contains(names, labelstate.LabelNeedsScope) {
		t.Errorf("%q, %v", names, err)
	}
}
