package setup_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/state"
)

// TestSettingsOfTheClient: what the configuration says of whose records count, of blockers and of strangers' pull
// requests decides what a session reads.
func TestSettingsOfTheClient(t *testing.T) {
	record := func(author string) githubsim.SeedComment {
		return githubsim.SeedComment{
			Author: author,
			Body:   "<!-- agent-claim:codename=" + author + " firing_id=1 nonce=" + author + " ttl=3600 state=held -->",
		}
	}
	blocked := func(by ...int) func(lifecycle.Facts) bool {
		return func(f lifecycle.Facts) bool {
			return slices.EqualFunc(f.Blockers, by, func(b lifecycle.Blocker, n int) bool { return b.Issue.Number == n })
		}
	}

	for setting, shows := range map[string]func(lifecycle.Facts) bool{
		"":                                       blocked(2),
		"blockers: {native: false}":              blocked(3),
		"blockers: {native: false, text: false}": blocked(),
		"trust: {permission: triage}":            func(f lifecycle.Facts) bool { return len(f.Log.Claims) == 1 },
		"trust: {permission: write}":             func(f lifecycle.Facts) bool { return len(f.Log.Claims) == 0 },
		"trust: {logins: [mal]}":                 func(f lifecycle.Facts) bool { return len(f.Log.Claims) == 2 },
		"trust: {apps: [ci]}":                    func(f lifecycle.Facts) bool { return len(f.Log.Claims) == 2 },
		"lifecycle: {outsider_issues: 2}":        func(f lifecycle.Facts) bool { return len(f.PRs) == 1 && len(f.Excessive) == 0 },
		"lifecycle: {outsider_issues: 1}":        func(f lifecycle.Facts) bool { return len(f.PRs) == 0 && len(f.Excessive) == 1 },
	} {
		sim, err := githubsim.New(githubsim.Seed{
			Users: []githubsim.SeedUser{
				{Login: "olga", Token: "tok", Permissions: map[string]string{"acme/app": "admin"}},
				{Login: "tia", Permissions: map[string]string{"acme/app": "triage"}, Token: "t"},
				{Login: "mal", Token: "m"},
				{Login: "ci[bot]", Token: "c"},
			},
			Repos: []githubsim.SeedRepo{{
				Name:  "acme/app",
				Files: map[string]string{".github/label-state.yml": "version: 1\n" + setting + "\n"},
				Issues: []githubsim.SeedIssue{
					{
						Number:   1,
						Title:    "One",
						Author:   "olga",
						Body:     "Blocked by #3",
						Labels:   []string{"agent:implement"},
						Comments: []githubsim.SeedComment{record("tia"), record("mal"), record("ci[bot]")},
					},
					{Number: 2, Title: "Two", Author: "olga"},
					{Number: 3, Title: "Three", Author: "olga"},
				},
				Pulls: []githubsim.SeedPull{{
					SeedIssue: githubsim.SeedIssue{Number: 4, Title: "Four", Author: "mal", Body: "Closes #1, closes #2"},
					Head:      "work",
					Base:      "main",
				}},
			}},
		}, githubsim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := sim.Block("acme/app", 1, 2, "olga"); err != nil {
			t.Fatal(err)
		}

		e := newMachine(t, map[string]string{"GH_TOKEN": "tok"}).environment()
		e.HTTP = sim.Transport()
		s, err := setup.Open(t.Context(), e, setup.Options{Repo: "acme/app"})
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.Client.Facts(t.Context(), claim.Issue{Owner: "acme", Repo: "app", Number: 1})
		if err != nil || !shows(f) {
			t.Errorf("%q: %v, %d claims, blockers %v, pull requests %v, excessive %v", setting, err, len(f.Log.Claims),
				f.Blockers, f.PRs, f.Excessive)
		}
	}
}

const (
	endless = -1
	late    = -2
)

// atGitHub is an environment of nothing but a GitHub with acme/app, its configuration and #7, which
// is ready. It refuses the token after as many requests as left says; it does not where that is
// endless, and late is that it does not, and shows what was an hour ago.
func atGitHub(t *testing.T, conf string) (e setup.Environment, left *atomic.Int64) {
	t.Helper()
	repo := githubsim.SeedRepo{
		Name:   "acme/app",
		Labels: []githubsim.SeedLabel{{Name: "blocked"}},
		Issues: []githubsim.SeedIssue{
			{Number: 7, Title: "Seven", Author: "olga", Labels: []string{"agent:implement", "ready"}},
		},
	}
	if conf != "" {
		repo.Files = map[string]string{config.Path: conf}
	}
	sim, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{
			{Login: "olga", Token: "tok", Permissions: map[string]string{"acme/app": "admin"}},
			{Login: "mal", Token: "m"},
		},
		Repos: []githubsim.SeedRepo{repo},
	}, githubsim.Options{Dir: t.TempDir()})
	succeeds(t, err)

	left = &atomic.Int64{}
	left.Store(endless)
	sim.Fault = func(*http.Request) *githubsim.Fault {
		switch n := left.Load(); {
		case n == late:
			return &githubsim.Fault{StaleFor: time.Hour}
		case n == endless, n > 0 && left.Add(-1) >= 0:
			return nil
		}
		return &githubsim.Fault{Status: http.StatusUnauthorized, Body: `{"message": "Bad credentials"}`}
	}

	e = setup.Nothing(io.Discard)
	e.HTTP = sim.Transport()
	return e, left
}

// at opens a session there.
func at(t *testing.T, e setup.Environment, o setup.Options) *setup.Session {
	t.Helper()
	o.Repo, o.Token = "acme/app", cmp.Or(o.Token, "tok")
	s, err := setup.Open(t.Context(), e, o)
	succeeds(t, err)
	return s
}

// TestClaimAgain: a hold that time has ended is claimed again under a new run, and its own end is no
// failed attempt; what somebody else has ended or taken stays so.
func TestClaimAgain(t *testing.T) {
	const again = "claimed again; before: cancelled, " + claim.ReasonAgain
	sweep := func(ctx context.Context, s *setup.Session) error {
		_, err := s.Ledger.Reconcile(ctx, s.Issue, "x")
		return err
	}

	for name, c := range map[string]struct {
		after time.Duration
		do    func(context.Context, *setup.Session) error
		want  string
	}{
		"it stands":            {30 * time.Minute, nil, "extended"},
		"it is over":           {61 * time.Minute, nil, again},
		"its grace is over":    {2 * time.Hour, nil, again},
		"a sweep has ended it": {2 * time.Hour, sweep, "claimed again; before: stale-swept, "},
		"another has it": {2 * time.Hour, func(ctx context.Context, s *setup.Session) error {
			err := sweep(ctx, s)
			time.Sleep(time.Hour)
			_, claimed := s.Ledger.Claim(ctx, s.Issue, ledger.Request{Worker: claim.Worker{Codename: "other"}})
			return errors.Join(err, claimed)
		}, "*protocol.LostError"},
		"blocked by a label": {61 * time.Minute, func(ctx context.Context, s *setup.Session) error {
			return s.Client.AddLabel(ctx, s.Issue, "blocked")
		}, "*protocol.HeldError"},
		"ended by force": {time.Minute, func(ctx context.Context, s *setup.Session) error {
			_, _, err := s.Ledger.Force(ctx, s.Issue, "olga", "mine")
			return err
		}, "*protocol.LostError"},
		"a person has set it aside": {61 * time.Minute, func(ctx context.Context, s *setup.Session) error {
			return s.Client.AddLabel(ctx, s.Issue, s.Config.Labels.Hold)
		}, "*protocol.LostError"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, _ := atGitHub(t, "version: 1")
				s, claimAgain := overdue(t, e, c.after)
				if c.do != nil {
					succeeds(t, c.do(t.Context(), s))
				}

				h, err := claimAgain()
				f, unread := s.Client.Facts(t.Context(), s.Issue)
				succeeds(t, unread)
				got, first := "extended", f.Log.Claims[0]
				if err != nil {
					got = fmt.Sprintf("%T", err)
				} else if h.Record.Worker != first.Record.Worker {
					got = "claimed again; before: " + first.End.Outcome + ", " + first.End.Reason
				}
				if held, is := errors.AsType[*ledger.HeldError](err); got != c.want || is && held.Issue != s.Issue {
					t.Errorf("%s, want %s: %v", got, c.want, err)
				}
			})
		})
	}

	// whichever answer is the last one, it is told
	for answers, end := int64(0), false; !end; answers++ {
		synctest.Test(t, func(t *testing.T) {
			e, left := atGitHub(t, "version: 1")
			_, claimAgain := overdue(t, e, 61*time.Minute)
			left.Store(answers)
			h, err := claimAgain()
			_, refused := errors.AsType[*github.AuthError](err)
			if end = err == nil; refused == end || end && h.Token == 0 || answers < 4 && end {
				t.Errorf("after %d answers: %v, %v", answers, h.Record.Worker, err)
			}
		})
	}
}

// TestTold: what shows less of a hold than this worktree has recorded is late, and answers nothing,
// unless the hold is known to be lost.
func TestTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, left := atGitHub(t, "version: 1")
		m := newMachine(t, map[string]string{"LABEL_STATE_HOME": t.TempDir()})
		m.git("init", "-q")
		e := m.environment()
		e.HTTP = sim.HTTP
		s := at(t, e, setup.Options{Ref: "7"})
		h, err := s.Ledger.Claim(t.Context(), s.Issue, ledger.Request{Worker: claim.Worker{Codename: "c"}})
		succeeds(t, err, s.Remember(h))

		left.Store(late)
		for _, lost := range []string{"", "by force"} {
			succeeds(t, s.Lose(s.Issue, h.Record.Worker, lost))
			later := at(t, e, setup.Options{Ref: "7"})
			_, _, err := later.Recall(s.Issue)
			succeeds(t, err)
			_, v, err := later.Ledger.Check(t.Context(), s.Issue, lifecycle.Seeker{})
			_, unknown := errors.AsType[*ledger.UnknownError](err)
			if unknown != (lost == "") || !unknown && len(v.Reasons) > 0 {
				t.Errorf("lost %q: %+v, %v", lost, v, err)
			}
		}
	})
}

// overdue claims #7 for an hour, that long ago.
func overdue(t *testing.T, e setup.Environment, ago time.Duration) (*setup.Session, func() (ledger.Hold, error)) {
	s := at(t, e, setup.Options{Ref: "7"})
	c := claim.Worker{Codename: "c"}
	h, err := s.Ledger.Claim(t.Context(), s.Issue, ledger.Request{Worker: c, TTL: time.Hour})
	succeeds(t, err)
	time.Sleep(ago)
	was := state.Hold{Issue: s.Issue, Worker: h.Record.Worker, Token: h.Token}
	return s, func() (ledger.Hold, error) {
		return s.ClaimAgain(t.Context(), was, ledger.Request{
			Worker:  c,
			Earlier: func(w claim.Worker) bool { return w == was.Worker },
		})
	}
}

// A carrier is a function that sends requests.
type carrier func(*http.Request) (*http.Response, error)

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

// TestFirst: the first query reads what the caller asks for next, under the labels that are checked
// out; whoever says that it writes before has nothing read.
func TestFirst(t *testing.T) {
	app, since := claim.Repo{Owner: "acme", Name: "app"}, time.Now().Add(-time.Hour)
	facts := func(s *setup.Session) error {
		_, err := s.Client.Facts(t.Context(), app.Issue(7))
		return err
	}
	all := func(of func(context.Context, claim.Repo, time.Time) iter.Seq2[lifecycle.Facts, error]) (err error) {
		for _, one := range of(t.Context(), app, since) {
			err = errors.Join(err, one)
		}
		return err
	}

	for name, c := range map[string]struct {
		options setup.Options
		read    func(*setup.Session) error
		later   int // requests of the read
	}{
		"an issue":      {setup.Options{Ref: "7"}, facts, 0},
		"it is written": {setup.Options{Ref: "7", First: setup.First{Late: true}}, facts, 1},
		"nothing":       {setup.Options{}, facts, 1},
		"what is ready": {setup.Options{First: setup.First{Ready: true}}, func(s *setup.Session) error {
			_, err := s.Client.OpenIssues(t.Context(), app, "ready")
			return err
		}, 0},
		"what has changed": {setup.Options{First: setup.First{Since: since}}, func(s *setup.Session) error {
			return all(s.Client.Scan)
		}, 1},
		"what goes on": {setup.Options{First: setup.First{Since: since, Live: true}}, func(s *setup.Session) error {
			return all(s.Client.Current)
		}, 1},
		"an issue with the reference of its lease": {setup.Options{Ref: "7"}, func(s *setup.Session) error {
			_, _, err := s.Store.Look(t.Context(), app.Issue(7))
			return errors.Join(facts(s), facts(s), err)
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			file := "preset: ready"
			if strings.Contains(name, "reference") {
				file += "\nclaim: {lease: refs}"
			}
			sim, _ := atGitHub(t, file)
			m := newMachine(t, nil)
			m.git("init", "-q")
			m.git("remote", "add", "origin", "git@github.com:acme/app.git")
			m.write(config.Path, file)
			sent := 0
			e := m.environment()
			e.HTTP = carrier(func(r *http.Request) (*http.Response, error) {
				sent++
				return sim.HTTP.RoundTrip(r)
			})
			s := at(t, e, c.options)
			if s.Source != "acme/app:"+config.Path || sent != 1 || m.stderr.Len() > 0 {
				t.Errorf("%d requests for what is %s; said %q", sent, s.Source, &m.stderr)
			}
			if err := c.read(s); err != nil || sent != 1+c.later {
				t.Errorf("%d requests in all, %v", sent, err)
			}
		})
	}

	e, left := atGitHub(t, "")
	left.Store(1)
	s := at(t, e, setup.Options{Ref: "7"})
	if err := facts(s); s.Source != "defaults" || err != nil {
		t.Errorf("a repository without a file: %s, and no more than one request: %v", s.Source, err)
	}
	left.Store(endless)
	other := setup.Options{Ref: "acme/app#7", Token: "tok", Published: "other.yml"}
	if _, err := setup.Open(t.Context(), e, other); !setup.Misconfigured(err) {
		t.Errorf("a file that is named and absent: %v", err)
	}
	mine := filepath.Join(t.TempDir(), "mine.yml")
	succeeds(t, os.WriteFile(mine, []byte("claim: {lease: refs}"), 0o600))
	_, err := setup.Open(t.Context(), e, setup.Options{Repo: "acme/none", Token: "tok", Config: mine})
	if _, absent := errors.AsType[*github.NotFoundError](err); !absent {
		t.Errorf("no repository, and a file that disagrees with its defaults: %v", err)
	}

	for _, ref := range []string{"", "7"} {
		left.Store(0)
		_, err := setup.Open(t.Context(), e, setup.Options{Repo: "acme/app", Ref: ref, Token: "tok"})
		if refused, is := errors.AsType[*github.AuthError](err); !is || refused.From != "given" {
			t.Errorf("where the token was found that GitHub refuses: %v", err)
		}
	}
}

// TestLeaseOfASession: who works in a session whose host sends events has its name in the run, and a
// short lease, which the events renew.
func TestLeaseOfASession(t *testing.T) {
	for name, c := range map[string]struct {
		variables string
		options   setup.Options
		want      time.Duration
		run       string // what it begins with
	}{
		"of no session":                     {"", setup.Options{}, 2 * time.Hour, "20000101"},
		"whose host sends events":           {"CODEX_SESSION_ID=known", setup.Options{}, 20 * time.Minute, "known-"},
		"whose host sends none":             {"CODEX_SESSION_ID=other", setup.Options{}, 2 * time.Hour, "other-"},
		"of a host that does not say which": {"GEMINI_CLI=1", setup.Options{}, 20 * time.Minute, "20000101"},
		"of another that does not":          {"OPENCODE=1", setup.Options{}, 2 * time.Hour, "20000101"},
		"in a dry run":                      {"", setup.Options{DryRun: true}, 0, ""},
		"with references":                   {"LEASE=refs", setup.Options{}, 2 * time.Hour, "20000101"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				variables := assignments(c.variables)
				kind := cmp.Or(variables["LEASE"], "comments")
				e, _ := atGitHub(t, "{sessions: {ttl: 20m}, claim: {ttl: 2h, lease: "+kind+"}}")
				variables["LABEL_STATE_HOME"] = t.TempDir()
				e.Getenv = func(name string) string { return variables[name] }
				files, err := e.SessionFiles()
				succeeds(t, err, files.Add(agenthost.Session{Host: agenthost.Codex, ID: "known"}, ""),
					files.Add(agenthost.Session{Host: agenthost.Gemini, ID: "known"}, ""))

				c.options.Ref = "7"
				s := at(t, e, c.options)
				h, err := s.Ledger.Claim(t.Context(), s.Issue, ledger.Request{Worker: claim.Worker{Codename: "c"}})
				_, unsent := errors.AsType[*ledger.Unsent](err)
				if unsent != c.options.DryRun || !unsent && (err != nil || h.Lease() != c.want) ||
					!strings.HasPrefix(h.Record.Worker.FiringID, c.run) {
					t.Errorf("%s by %s, %v; want %s by %s", h.Lease(), h.Record.Worker, err, c.want, c.run)
				}
				succeeds(t, s.Close())
			})
		})
	}
}

// TestWhatASessionSays: of waits and warnings of its client, of requests without an answer, and to
// whom contributors may turn.
func TestWhatASessionSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		var waits []string
		e, _ := atGitHub(t, "contributors: {claim: all}")
		start, sim, slow := time.Now(), e.HTTP, true
		e.Stderr, e.Limits = &said, &github.Limits{}
		e.Waiting = func(_ string, until time.Time) { waits = append(waits, until.Sub(start).String()) }
		e.HTTP = carrier(func(r *http.Request) (*http.Response, error) {
			resp, err := sim.RoundTrip(r)
			if err == nil && slow {
				resp.StatusCode = http.StatusTooManyRequests
				resp.Header.Set("Retry-After", "60")
			}
			if err == nil {
				resp.Header.Set("X-RateLimit-Remaining", "99")
			}
			return resp, err
		})

		soon, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := setup.Open(soon, e, setup.Options{Repo: "acme/app", Ref: "7", Token: "m"}); err == nil {
			t.Error("it did not wait")
		}
		slow = false
		s := at(t, e, setup.Options{Ref: "7", Token: "m"})
		if waited := time.Since(start); waited != time.Minute || len(waits) == 0 || waits[0] != "1m0s" ||
			!strings.HasPrefix(said.String(), "label-state: warning: 99 of 5000 ") {
			t.Errorf("the next one waited %s; told %q, said %q", waited, waits, &said)
		}
		outsider, is := errors.AsType[*github.OutsiderError](s.Client.Heard(t.Context(), s.Repo))
		if !is || !outsider.Welcome {
			t.Errorf("a contributor is turned away: %+v", outsider)
		}

		e.HTTP = carrier(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") })
		_, err := setup.Open(t.Context(), e, setup.Options{Repo: "acme/app", Verbose: true, Token: "tok"})
		if err == nil || !strings.Contains(err.Error(), "no route") ||
			!strings.Contains(said.String(), "yml: no answer, 0 ms") {
			t.Errorf("without an answer: %v; said %q", err, &said)
		}
	})
}
