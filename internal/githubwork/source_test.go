package githubwork_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/githubwork"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/work"
)

type clock struct{}

func (clock) Now() time.Time { return time.Now() }

func (clock) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

var words atomic.Int64

func word() string { return fmt.Sprintf("%08x", words.Add(1)) }

// A world is a GitHub and the agents on it.
type world struct {
	*githubsim.Server
	t testing.TB
}

func newWorld(t testing.TB, issues []githubsim.SeedIssue, pulls ...githubsim.SeedPull) world {
	t.Helper()
	s, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{
			{Login: "bot", Token: "tok", Permissions: map[string]string{"acme/app": "write"}},
			{Login: "other", Token: "tok-other", Permissions: map[string]string{"acme/app": "write"}},
		},
		Repos: []githubsim.SeedRepo{{
			Name:          "acme/app",
			DefaultBranch: "main",
			Issues:        issues,
			Pulls:         pulls,
		}},
	}, githubsim.Options{RateLimit: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}

	return world{s, t}
}

// parts are one process's own client and ledger.
func (w world) parts() (*github.Client, *ledger.Ledger) { return w.partsOf("tok") }

func (w world) partsOf(token string) (*github.Client, *ledger.Ledger) {
	w.t.Helper()
	c, err := github.New(github.Options{
		REST:    "https://api.github.com/",
		GraphQL: "https://api.github.com/graphql",
		Token:   github.NewSecret(token),
		HTTP:    w.Transport(),
		Clock:   clock{},
	})
	if err != nil {
		w.t.Fatal(err)
	}

	return c, ledger.New(c, clock{}, word, ledger.DefaultSettings())
}

var repo = claim.Repo{Owner: "acme", Name: "app"}

func (w world) source(o githubwork.Options) *githubwork.Source {
	w.t.Helper()
	c, l := w.parts()
	o.Repo = repo
	return githubwork.New(c, l, o)
}

func agent(name string) githubwork.Options {
	return githubwork.Options{Worker: claim.Worker{Codename: name}, TTL: 30 * time.Minute}
}

func at(minute int) *time.Time {
	t := time.Date(1999, 1, 1, 0, minute, 0, 0, time.UTC)
	return &t
}

func ids(items []work.Item) string {
	var out []string
	for _, i := range items {
		out = append(out, i.ID)
	}
	return strings.Join(out, " ")
}

func (w world) shows(number int, state string, labels ...string) {
	w.t.Helper()
	i, err := w.Issue("acme/app", number)
	if err != nil {
		w.t.Fatal(err)
	}

	got, err := w.Labels("acme/app", number)
	slices.Sort(got)
	if err != nil || i.State != state || !slices.Equal(got, labels) {
		w.t.Errorf("#%d is %s with %v (%v), want %s with %v", number, i.State, got, err, state, labels)
	}
}

func (w world) bodies(number int) []string {
	w.t.Helper()
	all, err := w.Comments("acme/app", number)
	if err != nil {
		w.t.Fatal(err)
	}

	var out []string
	for _, c := range all {
		out = append(out, c.Body)
	}

	return out
}

func refused(err error, r work.Reason) bool {
	var e *work.Error
	return errors.As(err, &e) && e.Reason == r
}

const queued = "agent:implement"

func queue() ([]githubsim.SeedIssue, githubsim.SeedPull) {
	issues := []githubsim.SeedIssue{
		{
			Number:    1,
			Title:     "Old and low",
			Author:    "bot",
			Labels:    []string{queued, "p3"},
			CreatedAt: at(1),
		},
		{
			Number:    2,
			Title:     "Young and high",
			Body:      "Say which.",
			Author:    "bot",
			Labels:    []string{queued, "P1", "area:io"},
			CreatedAt: at(9),
		},
		{
			Number:    3,
			Title:     "High",
			Author:    "bot",
			Labels:    []string{queued, "prio: high"},
			CreatedAt: at(5),
		},
		{
			Number:    4,
			Title:     "Excluded",
			Author:    "bot",
			Labels:    []string{queued, "WIP", "p0"},
			CreatedAt: at(2),
		},
		{
			Number: 5, Title: "A person's", Author: "bot", Labels: []string{queued, "do-not-pickup", "p0"},
			CreatedAt: at(2),
		},
		{Number: 6, Title: "Not queued", Author: "bot", Labels: []string{"p0"}, CreatedAt: at(2)},
		{Number: 7, Title: "Closed", Author: "bot", Labels: []string{queued, "p0"}, State: "closed", CreatedAt: at(2)},
		{
			Number: 8, Title: "Waits", Author: "bot", Body: "Blocked by #1", Labels: []string{queued, "p0"},
			CreatedAt: at(2),
		},
	}

	return issues, githubsim.SeedPull{
		SeedIssue: githubsim.SeedIssue{
			Number: 9, Title: "A pull request", Author: "bot",
			Labels: []string{queued, "p0"}, CreatedAt: at(2),
		}, Head: "x", Base: "main",
	}
}

func mustClaim(t *testing.T, s *githubwork.Source, id string) string {
	t.Helper()
	if _, err := s.Claim(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	return id
}

func TestFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issues, pull := queue()
		w := newWorld(t, issues, pull)
		o := agent("lucius")
		_, l := w.parts()
		o.Take = func(ctx context.Context, i claim.Issue, req ledger.Request) (ledger.Hold, error) {
			req.Branch = "disk"
			return l.Claim(ctx, i, req)
		}
		s := w.source(o)
		cases := map[string]struct {
			o    work.FetchOptions
			want string
		}{
			"all":      {work.FetchOptions{}, "github-3 github-2 github-1"},
			"limit":    {work.FetchOptions{Limit: 2}, "github-3 github-2"},
			"label":    {work.FetchOptions{Labels: []string{"AREA:io", queued}}, "github-2"},
			"priority": {work.FetchOptions{Priorities: []work.Priority{work.Low, work.Critical}}, "github-1"},
		}

		for _, wrong := range []work.FetchOptions{{Limit: -1}, {Cursor: "nonsense"}} {
			if page, err := s.Fetch(t.Context(), wrong); err == nil {
				t.Errorf("%+v: %s", wrong, ids(page.Items))
			}
		}

		if got, err := s.Get(t.Context(), "github-7"); err != nil || got.Title != "Closed" || got.Metadata.State != "closed" {
			t.Errorf("a closed one: %+v, %v", got, err)
		}
		if got, err := s.Get(t.Context(), "7"); err == nil {
			t.Errorf("without its source: %+v", got)
		}

		o.Exclude = []string{"area:io"}
		picky := w.source(o)
		if page, err := picky.Fetch(t.Context(), work.FetchOptions{}); err != nil || ids(page.Items) != "github-3 github-1" {
			t.Errorf("with labels that this agent leaves: %s, %v", ids(page.Items), err)
		}
		if _, err := picky.Claim(t.Context(), "github-2"); !refused(err, work.InvalidState) {
			t.Errorf("claim of what this agent leaves: %v", err)
		}

		for name, c := range cases {
			page, err := s.Fetch(t.Context(), c.o)
			if got := ids(page.Items); err != nil || got != c.want {
				t.Errorf("%s: %s (%v), want %s", name, got, err, c.want)
			}
		}

		if err := s.Complete(t.Context(), mustClaim(t, s, "github-1"), work.Result{
			Outcome: work.Failure,
			Summary: "no disk",
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour) // nothing waits any more

		got, err := s.Claim(t.Context(), "github-3")
		if err != nil || !got.Item.Claimed {
			t.Fatal(got, err)
		}
		if got, err := s.Get(t.Context(), "github-3"); err != nil || !got.Claimed {
			t.Errorf("a claimed one: %+v, %v", got, err)
		}
		page, err := s.Fetch(t.Context(), work.FetchOptions{})
		with, err2 := s.Fetch(t.Context(), work.FetchOptions{IncludeClaimed: true})
		data, bad := json.MarshalIndent([]any{with.Items, s.NoWork()}, "", "\t")
		if golden.Check(t, "testdata/fetch.json", string(data)+"\n"); bad != nil {
			t.Error(bad)
		}

		if ids(page.Items) != "github-2 github-1" || ids(with.Items) != "github-3 github-2 github-1" ||
			!with.Items[0].Claimed || with.Items[1].Claimed || errors.Join(err, err2) != nil {
			t.Errorf("with a claim: %s, and with claimed ones %s: %v %v", ids(page.Items), ids(with.Items), err, err2)
		}

		// What was found is forgotten after a while, but for its attempts; what is gone is passed over no more.
		time.Sleep(time.Minute)
		if got, err = s.Claim(t.Context(), "github-1"); err != nil || len(got.Item.Tried) != 1 {
			t.Errorf("claim of what was tried: %+v, %v", got.Item.Tried, err)
		}
		if err := w.Close("acme/app", 2, "bot"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Fetch(t.Context(), work.FetchOptions{}); err != nil || s.NoWork().Queue != 3 {
			t.Errorf("of three issues %d were passed over, %v", s.NoWork().Queue, err)
		}
	})
}

// inQueue are so many issues with the label of the queue, the oldest first.
func inQueue(count int) []githubsim.SeedIssue {
	var issues []githubsim.SeedIssue
	for n := range count {
		issues = append(issues, githubsim.SeedIssue{
			Number:    n + 1,
			Title:     "Work",
			Author:    "bot",
			Labels:    []string{queued},
			CreatedAt: at(n),
		})
	}
	return issues
}

// TestManyPages: a limit above GitHub's page size is met, and cursors go on where they should
// though the queue changes.
func TestManyPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, inQueue(250))
		s := w.source(agent("lucius"))
		first, err := s.Fetch(t.Context(), work.FetchOptions{Limit: 120})
		if err != nil || len(first.Items) != 120 {
			t.Fatalf("%d items, %v", len(first.Items), err)
		}

		other := work.FetchOptions{Labels: []string{"p0"}, Cursor: first.Next}
		if page, err := s.Fetch(t.Context(), other); err == nil {
			t.Errorf("the place of one search in another: %s", ids(page.Items))
		}

		for _, n := range []int{1, 60, 120} {
			if err := w.Close("acme/app", n, "bot"); err != nil {
				t.Fatal(err)
			}
		}

		for name, s := range map[string]*githubwork.Source{"the same": s, "the next run": w.source(agent("lucius"))} {
			rest, err := s.Fetch(t.Context(), work.FetchOptions{Limit: 500, Cursor: first.Next})
			if err != nil || len(rest.Items) != 130 || rest.Items[0].ID != "github-121" || rest.Next != "" {
				t.Errorf("%s: %d items, %q, %v", name, len(rest.Items), rest.Next, err)
			}
		}
	})
}

func TestClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issues, pull := queue()
		w := newWorld(t, issues, pull)
		o := agent("ann")
		o.Worker.FiringID = "r1"
		won := 0
		o.Won = func(ledger.Hold) { won++ }
		ann, bob := w.source(o), w.source(agent("bob"))
		c, err := ann.Claim(t.Context(), "github-1")
		if err != nil || c.Agent != "ann" || c.Run == "" || c.Token == 0 || c.Until.IsZero() ||
			c.Item.Title != "Old and low" || won != 1 {
			t.Fatalf("claim: %+v %v, told %d times", c, err, won)
		}

		w.shows(1, "open", "agent:in-flight", "p3")
		if err := w.AddLabels("acme/app", 1, "bot", queued); err != nil { // it is in two lists now
			t.Fatal(err)
		}

		page, err := ann.Fetch(t.Context(), work.FetchOptions{IncludeClaimed: true})
		passed := slices.IndexFunc(ann.NoWork().Passed, func(p work.PassedOver) bool { return p.Reason == "own" })
		if err != nil || strings.Count(ids(page.Items), "github-1") != 1 || passed < 0 {
			t.Errorf("what is ours: %s, %+v, %v", ids(page.Items), ann.NoWork().Passed, err)
		}
		if page, err := ann.Fetch(t.Context(), work.FetchOptions{}); err != nil ||
			strings.Contains(ids(page.Items), "github-1") {
			t.Errorf("with a label of the queue all the same: %s, %v", ids(page.Items), err)
		}

		for id, want := range map[string]work.Reason{
			"github-1": work.AlreadyClaimed, "github-4": work.InvalidState, "github-5": work.AlreadyClaimed,
			"github-6": work.InvalidState,
			"github-7": work.InvalidState, "github-8": work.InvalidState, "github-9": work.NotFound,
			"github-99":  work.NotFound,
			"github-007": work.NotFound, "github-9007199254740991": work.NotFound,
		} {
			if _, err := bob.Claim(t.Context(), id); !refused(err, want) {
				t.Errorf("claim %s: %v, want %s", id, err, want)
			}
		}
	})
}

// TestClaimOfLateLabel: an issue that only its label calls claimed may be taken.
func TestClaimOfLateLabel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []githubsim.SeedIssue{{
			Number: 1, Title: "x", Author: "bot",
			Labels: []string{"agent:in-flight"},
		}})
		if c, err := w.source(agent("ann")).Claim(t.Context(), "github-1"); err != nil || c.Agent != "ann" {
			t.Errorf("%+v, %v", c, err)
		}
	})
}

// TestClaimOfFetched: what was found free a moment ago is claimed without another look at it; what
// happened to it since still counts, and after a while it is read anew.
func TestClaimOfFetched(t *testing.T) {
	for name, c := range map[string]struct {
		wait   time.Duration
		closed bool
		sent   int // the labels are made on the way
		want   work.Reason
	}{
		"at once":       {0, false, 6, ""},
		"a while later": {time.Minute, false, 8, ""},
		"closed since":  {0, true, 0, work.InvalidState},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, []githubsim.SeedIssue{{Number: 1, Title: "x", Author: "bot", Labels: []string{queued}}})
			s := w.source(agent("ann"))
			page, err := s.Fetch(t.Context(), work.FetchOptions{})
			if err != nil || ids(page.Items) != "github-1" {
				t.Fatal(page, err)
			}

			if c.closed {
				if err := w.Close("acme/app", 1, "bot"); err != nil {
					t.Fatal(err)
				}
			}

			time.Sleep(c.wait)
			asked := len(w.Requests())
			got, err := s.Claim(t.Context(), "github-1")
			switch sent := len(w.Requests()) - asked; {
			case c.want != "" && !refused(err, c.want):
				t.Errorf("%s: %v, want %s", name, err, c.want)
			case c.want == "" && (err != nil || got.Item.Title != "x" || sent != c.sent):
				t.Errorf("%s: %+v, %v after %d requests, want %d", name, got, err, sent, c.sent)
			}

			if c.closed {
				w.shows(1, "closed", queued)
				return
			}

			if err := s.Release(t.Context(), "github-1", work.ReleaseOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := w.RemoveLabel("acme/app", 1, "bot", queued); err != nil {
				t.Fatal(err)
			}

			if _, err := s.Claim(t.Context(), "github-1"); !refused(err, work.InvalidState) {
				t.Errorf("%s: claimed once more by what was found before: %v", name, err)
			}
		})
	}
}

func TestClaimFailures(t *testing.T) {
	for want, fault := range map[work.Reason]githubsim.Fault{
		work.PermissionDenied: {Status: 403, Body: `{"message":"Resource not accessible by integration"}`},
		work.RateLimited: {
			Status: 403,
			Header: http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"4102444800"}},
			Body:   `{"message":"API rate limit exceeded"}`,
		},
		work.SourceError: {Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, []githubsim.SeedIssue{{Number: 1, Title: "x", Author: "bot", Labels: []string{queued}}})
			w.Fault = func(*http.Request) *githubsim.Fault { return &fault }
			_, err := w.source(agent("ann")).Claim(t.Context(), "github-1")
			_, err2 := w.source(agent("ann")).Fetch(t.Context(), work.FetchOptions{})
			_, err3 := w.source(agent("ann")).Get(t.Context(), "github-1")
			if !refused(err, want) || !refused(err2, want) || !refused(err3, want) {
				t.Errorf("claim: %v; fetch: %v; get: %v; want %s", err, err2, err3, want)
			}
		})
	}
}

// TestTake: what the caller's own way to claim refuses is refused for that reason.
func TestTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []githubsim.SeedIssue{{Number: 1, Title: "x", Author: "bot", Labels: []string{queued}}})
		for cause, want := range map[error]work.Reason{
			work.Refused("github-1", work.RateLimited, "later"): work.RateLimited,
			&ledger.HeldError{Yielded: &claim.Claim{}}:          work.AlreadyClaimed,
		} {
			o := agent("ann")
			o.Take = func(context.Context, claim.Issue, ledger.Request) (ledger.Hold, error) { return ledger.Hold{}, cause }
			if _, err := w.source(o).Claim(t.Context(), "github-1"); !refused(err, want) {
				t.Errorf("claim: %v, want %s", err, want)
			}
		}
	})
}

// TestUnread: what could not be read is warned of where there is other work, and is an error where
// there is none.
func TestUnread(t *testing.T) {
	for n, want := range map[int]string{50: "", 51: "github-51"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, inQueue(n))
			asked := 0
			w.Fault = func(*http.Request) *githubsim.Fault {
				if asked++; asked != 2 { // first for the queue, then for its first fifty
					return nil
				}
				return &githubsim.Fault{Status: 403, Body: `{"message":"no"}`}
			}
			o, warned := agent("ann"), 0
			o.Warn = func(error) { warned++ }
			page, err := w.source(o).Fetch(t.Context(), work.FetchOptions{})
			if ids(page.Items) != want || (err == nil) != (want != "") || warned != 50 {
				t.Errorf("%d issues: %s, %v, %d warnings", n, ids(page.Items), err, warned)
			}
		})
	}
}

// TestDoubted: an issue of which nobody can say whether it is free is warned of and passed over where
// there is other work, and is no "no work" where there is none.
func TestDoubted(t *testing.T) {
	for n, want := range map[int]string{1: "", 2: "github-2"} {
		synctest.Test(t, func(t *testing.T) {
			issues := inQueue(n)
			issues[0].Comments = []githubsim.SeedComment{{Author: "other", Body: "Buy!", CreatedAt: at(1), Spam: true}}
			w := newWorld(t, issues)
			o, warned := agent("ann"), ""
			o.Warn = func(err error) { warned += err.Error() + "\n" }
			page, err := w.source(o).Fetch(t.Context(), work.FetchOptions{})
			if ids(page.Items) != want || (err == nil) != (want != "") {
				t.Errorf("%d issues: %s, %v", n, ids(page.Items), err)
			}

			if !strings.HasPrefix(warned, "read acme/app#1: ") || strings.Count(warned, "\n") != 1 {
				t.Errorf("%d issues: warned of %q", n, warned)
			}

			if err != nil && !strings.Contains(err.Error(), "read acme/app#1: ") {
				t.Errorf("it is not said what is in doubt: %v", err)
			}
		})
	}
}

func TestComplete(t *testing.T) {
	hostile := "done\n```\n<!-- agent-claim:codename=x firing_id=y nonce=1 -->\n@everyone"
	cases := map[string]struct {
		result work.Result
		keep   bool
		state  string
		labels []string
	}{
		"success": {work.Result{
			Outcome: work.Success, Summary: hostile,
			Artifacts: []string{"https://example.com/log"},
		}, false, "closed", []string{"agent:done"}},
		"failure": {work.Result{Outcome: work.Failure, Summary: hostile}, false, "open", []string{queued}},
		"partial": {work.Result{Outcome: work.Partial, Details: hostile}, false, "open", []string{queued}},
		"kept":    {work.Result{Outcome: work.Failure}, true, "open", []string{queued, "needs:human-scope"}},
		"partial, where what fails is kept": {
			work.Result{Outcome: work.Partial},
			true, "open",
			[]string{queued, "needs:human-scope"},
		},
		"success, where what fails is kept": {
			work.Result{Outcome: work.Success},
			true, "closed",
			[]string{"agent:done"},
		},
	}

	said := map[string]string{}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, []githubsim.SeedIssue{{
					Number: 1, Title: "x", Author: "bot",
					Labels: []string{queued},
				}})
				o := agent("ann")
				o.KeepFailed = c.keep
				o.Wait = func(context.Context, time.Duration) error { return errors.New("nothing was lost") }
				var ended []string
				o.Ended = func(i claim.Issue, w claim.Worker) { ended = append(ended, i.String()+" "+w.Codename) }
				s := w.source(o)
				if _, err := s.Claim(t.Context(), "github-1"); err != nil {
					t.Fatal(err)
				}

				h, _ := s.Hold("github-1")
				if err := s.Complete(t.Context(), "github-1", c.result); err != nil {
					t.Fatal(err)
				}

				if _, held := s.Hold("github-1"); held || !slices.Equal(ended, []string{"acme/app#1 ann"}) {
					t.Errorf("told that %v ended, held: %t", ended, held)
				}

				w.shows(1, c.state, c.labels...)
				made := regexp.MustCompile(`\b0000[0-9a-f]{4}\b`) // words that tell runs and records apart
				said[name] = made.ReplaceAllString(strings.Join(w.bodies(1), "\n--\n"), "WORD")
				if n := len(w.bodies(1)); n != 3 {
					t.Errorf("%d comments, want claim, result and release: %q", n, w.bodies(1))
				}

				o.Recall = func(claim.Issue) (ledger.Hold, bool) { return h, true }
				again := w.source(o)
				if err := again.Complete(t.Context(), "github-1", c.result); err != nil || len(w.bodies(1)) != 3 {
					t.Errorf("again: %v, %d comments", err, len(w.bodies(1)))
				}

				other := work.Result{Outcome: work.Partial}
				if c.result.Outcome == work.Partial {
					other.Outcome = work.Failure
				}

				err := again.Complete(t.Context(), "github-1", other)
				if !refused(err, work.InvalidState) || !errors.Is(err, claim.ErrEnded) {
					t.Errorf("with another outcome: %v", err)
				}
				err = again.Release(t.Context(), "github-1", work.ReleaseOptions{Comment: true})
				if !refused(err, work.InvalidState) || len(w.bodies(1)) != 3 {
					t.Errorf("release of what is complete: %v, %d comments", err, len(w.bodies(1)))
				}
			})
		})
	}

	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(said)) {
		fmt.Fprintf(&all, "== %s\n%s\n", name, said[name])
	}
	golden.Check(t, "testdata/complete.golden", all.String())
}

// TestCompleteInterrupted: a completion that breaks at any request leaves nothing for others to
// take twice, and repeating it finishes with one comment, also where that breaks at one request.
func TestCompleteInterrupted(t *testing.T) {
	for n := range 4 * 12 {
		fail, once, keep := n%12, n/12, n/12%2 > 0
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, []githubsim.SeedIssue{{Number: 1, Title: "x", Author: "bot", Labels: []string{queued}}})
			o := agent("ann")
			o.KeepFailed = keep
			late := false
			o.Warn = func(error) { late = true }
			o.Wait = func(context.Context, time.Duration) error {
				t.Error("it waits for what was refused")
				return nil
			}
			s := w.source(o)
			result := work.Result{Outcome: work.Success}
			if keep {
				result.Outcome = work.Failure
			}
			if _, err := s.Claim(t.Context(), "github-1"); err != nil {
				t.Fatal(err)
			}

			var seen atomic.Int64 // requests are sent side by side
			var refuse atomic.Bool
			refuse.Store(true)
			w.Fault = func(*http.Request) *githubsim.Fault {
				if seen.Add(1) > int64(fail) && refuse.Load() {
					return &githubsim.Fault{Status: 403, Body: `{"message":"no"}`}
				}
				return nil
			}

			err := s.Complete(t.Context(), "github-1", result)
			refuse.Store(false)
			if page, err := w.source(agent("bob")).Fetch(t.Context(), work.FetchOptions{}); err != nil ||
				len(page.Items) > 0 {
				t.Errorf("half done after %d requests, and free: %v %v", fail, page.Items, err)
			}

			seen.Store(0)
			w.Fault = func(*http.Request) *githubsim.Fault {
				if seen.Add(1) == int64(once) {
					return &githubsim.Fault{Status: 403, Body: `{"message":"no"}`}
				}
				return nil
			}

			for range 2 {
				if err != nil {
					err = s.Complete(t.Context(), "github-1", result)
				}
			}

			if err != nil || len(w.bodies(1)) != 3 {
				t.Errorf("after %d requests: %v, %d comments", fail, err, len(w.bodies(1)))
			}
			switch {
			case late: // the issue is done, its labels are the next sweep's
			case keep:
				w.shows(1, "open", queued, "needs:human-scope")
			default:
				w.shows(1, "closed", "agent:done")
			}
		})
	}
}

func TestRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []githubsim.SeedIssue{
			{Number: 1, Title: "x", Author: "bot", Labels: []string{queued}},
			{Number: 2, Title: "y", Author: "bot", Labels: []string{queued}},
		})
		ann, bob := w.source(agent("ann")), w.source(agent("bob"))
		for _, id := range []string{"github-1", "github-2"} {
			if _, err := ann.Claim(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}

		for err, want := range map[error]string{
			bob.Release(t.Context(), "github-1", work.ReleaseOptions{}): "acme/app#1 is not claimed from here",
			bob.Release(t.Context(), "1", work.ReleaseOptions{}):        `no such item "1": expected github-NUMBER`,
			bob.Complete(t.Context(), "github-1", work.Result{}):        `outcome: "": expected success, failure, partial`,
		} {
			if err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
		}

		if err := w.Close("acme/app", 2, "bot"); err != nil {
			t.Fatal(err)
		}

		if err := ann.Release(t.Context(), "github-2", work.ReleaseOptions{}); !refused(err, work.InvalidState) {
			t.Errorf("release of a closed one: %v", err)
		}

		if err := ann.Release(t.Context(), "github-1",
			work.ReleaseOptions{Reason: "too big", Comment: true}); err != nil {
			t.Error(err)
		}

		w.shows(1, "open", queued)
		if all := w.bodies(1); len(all) != 3 || !strings.Contains(all[2], "reason=too%20big") {
			t.Errorf("comments: %q", all)
		}

		if _, err := bob.Claim(t.Context(), "github-1"); err != nil {
			t.Errorf("claim of what was released: %v", err)
		}

		h, _ := bob.Hold("github-1")
		_, l := w.partsOf("tok-other")
		_, err := l.Release(t.Context(), h.Issue,
			ledger.Ending{Worker: h.Record.Worker, Outcome: claim.OutcomeCancelled, By: "other"})
		n, late := len(w.bodies(1)), bob.Release(t.Context(), "github-1", work.ReleaseOptions{Comment: true})
		if err != nil || !refused(late, work.InvalidState) || len(w.bodies(1)) != n {
			t.Errorf("release of what somebody else has ended: %v, %v, %q", err, late, w.bodies(1)[n:])
		}
	})
}
