package setup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/state"
)

// TestConfigurationLookup: the default branch's file counts, wherever the caller stands; a file of
// their own sets what is their own.
func TestConfigurationLookup(t *testing.T) {
	const remote = "https://github.com/acme/app"
	const there = "acme/app:.github/label-state.yml"
	for _, c := range []struct {
		name        string
		clone       bool   // of acme/app
		tree        string // the worktree's file
		published   string // on the default branch
		option, env string // paths
		ask         setup.Options
		want        string // on_reopen and source; or an error
		requests    int
		note        string // on standard error; a part
	}{
		{"none anywhere", true, "", "", "", "", setup.Options{}, "none from defaults", 1, ""},
		{
			"on the default branch", false, "", "on_reopen: requeue", "", "",
			setup.Options{Repo: "acme/app"},
			"requeue from " + there, 1, "",
		},
		{
			"the same in the worktree", true, "on_reopen: requeue", "on_reopen: requeue", "", "",
			setup.Options{},
			"requeue from " + there, 1, "",
		},
		{
			"another in the worktree", true, "on_reopen: none\ntrust: {logins: [mallory]}",
			"on_reopen: requeue", "", "",
			setup.Options{},
			"requeue from " + there, 1, "differs from the default branch of acme/app, which is what counts: trust.logins, on_reopen",
		},
		{
			"another in the worktree, and the repository is named with its host", true, "on_reopen: none",
			"on_reopen: requeue", "", "",
			setup.Options{Repo: "acme/app", Host: "github.com"},
			"requeue from " + there, 1, "which is what counts: on_reopen",
		},
		{
			"only in the worktree", true, "on_reopen: requeue", "", "", "",
			setup.Options{},
			"none from defaults", 1,
			"which is what counts: on_reopen",
		},
		{
			"worktree of another repository", true, "on_reopen: requeue", "", "", "",
			setup.Options{Repo: "acme/web"},
			"none from defaults", 1, "",
		},
		{
			"worktree of a namesake elsewhere", true, "on_reopen: requeue", "", "", "",
			setup.Options{Repo: "acme/app", Host: "ghes.corp", Token: "tok"},
			"none from defaults", 1, "",
		},
		{"only on the default branch", true, "", "on_reopen: requeue", "", "", setup.Options{}, "requeue from " +
			there, 1, ""},
		{"no repository at all", false, "", "", "", "", setup.Options{}, "none from defaults", 0, ""},
		{"and one's own", false, "", "", "ours.yml", "", setup.Options{}, "requeue from defaults and ours.yml", 0, ""},
		{"option first", true, "", "on_reopen: none", "mine.yml", "theirs.yml", setup.Options{}, "none from " + there +
			" and mine.yml", 1, ""},
		{"variable second", true, "", "on_reopen: none", "", "mine.yml", setup.Options{}, "none from " + there +
			" and mine.yml", 1, ""},
		{"beside none", true, "", "", "", "mine.yml", setup.Options{}, "none from defaults and mine.yml", 1, ""},
		{
			"one's own says something else", true, "", "on_reopen: requeue", "theirs.yml", "",
			setup.Options{},
			`error: theirs.yml:1: on_reopen: is "none", and on the default branch of acme/app it is "requeue"; allowed: what the default branch says, because it must be the same for everybody`, 1, "",
		},
		{
			"named and missing", true, "", "", "nowhere.yml", "",
			setup.Options{},
			"error: nowhere.yml: cannot be read: no such file or directory", 0, "",
		},
		{
			"broken in the worktree", true, "on_reopen: maybe", "", "", "",
			setup.Options{},
			"none from defaults", 1,
			`note: .github/label-state.yml:1: on_reopen: is "maybe"; allowed: none, requeue; what counts is the default branch of acme/app`,
		},
		{
			"broken on the default branch", false, "", "on_reopen: maybe", "", "",
			setup.Options{Repo: "acme/app"},
			`error: acme/app:.github/label-state.yml:1: on_reopen: is "maybe"; allowed: none, requeue`, 1, "",
		},
		{
			"not to be read", false, "", "forbidden", "", "",
			setup.Options{Repo: "acme/app"},
			"error: read .github/label-state.yml of acme/app: not permitted (HTTP 403: Resource not accessible by integration)", 1, "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, map[string]string{"GH_TOKEN": "tok", "LABEL_STATE_CONFIG": c.env})
			if c.clone {
				m.git("init", "-q")
				m.git("remote", "add", "origin", remote)
			}

			if c.tree != "" {
				m.write(config.Path, c.tree)
			}

			if c.published != "" {
				m.files["api.github.com acme/app"] = c.published
			}
			m.write("mine.yml", "hook: {timeout: 9s}")
			m.write("theirs.yml", "on_reopen: none")
			m.write("ours.yml", "on_reopen: requeue")
			c.ask.Config = c.option
			if got := lookup(t, m, c.ask); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}

			if len(m.sent) != c.requests {
				t.Errorf("sent %v, want %d requests", m.sent, c.requests)
			}

			if said := m.stderr.String(); (said == "") != (c.note == "") || !strings.Contains(said, c.note) ||
				strings.Count(said, "\n") > 1 {
				t.Errorf("said %q, want one line with %q", said, c.note)
			}
		})
	}
}

// TestCheckout: a file in the worktree, and one with the name that nobody reads. What is behind a link
// is not read: a commit may have brought it, and named any file of this machine.
func TestCheckout(t *testing.T) {
	m := newMachine(t, nil)
	if c, there, err := setup.Checkout(m.dir); c.OnReopen != "none" || there || err != nil {
		t.Errorf("nothing: %s, %t, %v", c.OnReopen, there, err)
	}
	m.write(config.Unread, "on_reopen: requeue")
	if c, there, err := setup.Checkout(m.dir); c.OnReopen != "none" || !there || err == nil ||
		!strings.Contains(err.Error(), config.Unread) {
		t.Errorf("under another name: %s, %t, %v", c.OnReopen, there, err)
	}
	m.write(config.Path, "on_reopen: requeue")
	if c, there, err := setup.Checkout(m.dir); c.OnReopen != "requeue" || !there || err != nil {
		t.Errorf("under both: %s, %t, %v", c.OnReopen, there, err)
	}

	path := filepath.Join(m.dir, config.Path)
	succeeds(t, os.Rename(path, path+".x"), os.Symlink(filepath.Base(path)+".x", path))
	c, _, err := setup.Checkout(m.dir)
	if problem, _ := errors.AsType[*config.Error](err); c.OnReopen != "none" || problem == nil || !problem.Unreadable ||
		problem.File != config.Path {
		t.Errorf("by a link: %s, %v", c.OnReopen, err)
	}
}

// TestBrokenConfigurationIsTolerated: who writes nothing by it goes on with what can be used of it.
func TestBrokenConfigurationIsTolerated(t *testing.T) {
	m := newMachine(t, map[string]string{"GH_TOKEN": "tok"})
	m.files["api.github.com acme/app"] = "guard: maybe\non_reopen: requeue"
	m.write("mine.yml", "hook: {timeout: 9s}")
	m.git("init", "-q")
	m.git("remote", "add", "origin", "https://github.com/acme/app")
	m.write(config.Path, "guard: off") // one line is enough, and says more than that this differs
	for _, o := range []setup.Options{{View: true}, {Tolerant: true}, {Tolerant: true, Config: "mine.yml"}} {
		m.stderr.Reset()
		o.Repo = "acme/app"
		s, err := setup.Open(t.Context(), m.environment(), o)
		if err != nil || s.Unusable == nil || s.Config.OnReopen != "requeue" || (strings.Count(m.stderr.String(), "note: ") == 1) != o.View || !o.View && m.stderr.Len() > 0 {
			t.Errorf("%+v: %v, said %q", o, err, &m.stderr)
			continue
		}
		write := s.Client.AddLabel(t.Context(), claim.Issue{Owner: "acme", Repo: "app", Number: 7}, "agent:implement")
		if refused := strings.Contains(fmt.Sprint(write), "dry run"); refused != o.View {
			t.Errorf("%+v: wrote: %v", o, write)
		}
	}
}

// TestUnreadableConfigurationIsNotTolerated: nothing of it can be used.
func TestUnreadableConfigurationIsNotTolerated(t *testing.T) {
	m := newMachine(t, map[string]string{"GH_TOKEN": "tok"})
	m.files["api.github.com acme/app"] = "forbidden"
	s, err := setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app", Tolerant: true})
	if err == nil || s == nil || s.Repo.String() != "acme/app" {
		t.Errorf("Open: %v, %v", s, err)
	}
}

// TestOwnSettings: what concerns the caller alone is theirs to say.
func TestOwnSettings(t *testing.T) {
	m := newMachine(t, map[string]string{"GH_TOKEN": "tok"})
	m.files["api.github.com acme/app"] = "{claim: {ttl: 1h}, sweep: {repos: [acme/app]}, hook: {timeout: 2s}, agents: {lucius: {}}}"
	m.write("mine.yml", "{claim: {ttl: 60m}, sweep: {repos: [acme/web]}, hook: {timeout: 9s}, agents: {ann: {work_source: {repo: acme/web}}}}")
	s, err := setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app", Config: "mine.yml"})
	if err != nil {
		t.Fatal(err)
	}

	c := s.Config
	if c.Claim.TTL != time.Hour || !slices.Equal(c.Sweep, []string{"acme/web"}) || c.Hook.Timeout != 9*time.Second ||
		c.Hook.OnUnknown != "allow" || len(c.Agents) != 1 || c.Agents["ann"].Repo != "acme/web" {
		t.Errorf("%+v", c)
	}
}

// TestSettle: a guess that was right costs nothing more; one that was not is replaced.
func TestSettle(t *testing.T) {
	m := newMachine(t, map[string]string{"GH_TOKEN": "tok"})
	m.files["api.github.com acme/app"] = "trust: {logins: [ann]}"
	for text, right := range map[string]bool{"trust: {logins: [ann]}": true, "trust: {logins: [mallory]}": false} {
		guess, err := config.Parse("guess", []byte(text))
		if err != nil {
			t.Fatal(err)
		}

		s, err := setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app", Guess: &guess})
		if err != nil || len(m.sent) > 0 {
			t.Fatalf("Open: %v, sent %v", err, m.sent)
		}

		m.ran = nil
		if _, err := setup.Open(t.Context(), m.environment(), setup.Options{
			Repo: "acme/app", Host: "github.com",
			Guess: &guess,
		}); err != nil || len(m.ran) > 0 {
			t.Errorf("who says repository and host asks git: %v, %v", m.ran, err)
		}

		settled, err := s.Settle(t.Context())
		if err != nil || (settled == s) != right || !slices.Equal(settled.Config.Trust.Logins, []string{"ann"}) ||
			settled.TokenFrom != "GH_TOKEN" {
			t.Errorf("%s: %v, %v", text, settled, err)
		}

		m.sent = nil
	}

	none := config.Default()
	none.Trust.Permission = "king"
	if s, err := setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app", Guess: &none}); err == nil {
		t.Errorf("a guess that no client can go by: %v", s)
	}

	m.files["api.github.com acme/app"] = "trust: {logins: [ann]}\nguard: maybe"
	guess, err := config.Parse("guess", []byte("trust: {logins: [ann]}"))
	succeeds(t, err)
	s, err := setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app", Guess: &guess, Tolerant: true})
	succeeds(t, err)
	if settled, err := s.Settle(t.Context()); err != nil || settled != s || s.Unusable == nil {
		t.Errorf("what is wrong with the repository's is not known: %v, %v", s.Unusable, err)
	}

	m.files["api.github.com acme/app"] = "forbidden"
	s, err = setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app", Guess: &guess})
	succeeds(t, err)
	if settled, err := s.Settle(t.Context()); err == nil || settled != nil {
		t.Errorf("a configuration that may not be read: %v, %v", settled, err)
	}
}

func lookup(t *testing.T, m *machine, o setup.Options) string {
	t.Helper()
	s, err := setup.Open(t.Context(), m.environment(), o)
	if err != nil {
		return "error: " + err.Error()
	}
	if s.Unconfigured != strings.HasPrefix(s.Source, "defaults") {
		t.Errorf("from %s, and the repository is without one: %v", s.Source, s.Unconfigured)
	}
	return s.Config.OnReopen + " from " + s.Source
}

// TestBrokenConfigurationNeedsNoToken: called wrongly is said before could not find out.
func TestBrokenConfigurationNeedsNoToken(t *testing.T) {
	m := newMachine(t, nil)
	m.write("c.yml", "colour: red")
	_, err := setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app", Config: "c.yml"})
	var bad *config.Error
	if !errors.As(err, &bad) {
		t.Errorf("Open: %v", err)
	}
}

func TestConfigurationFromASubdirectory(t *testing.T) {
	m := newMachine(t, map[string]string{"GH_TOKEN": "tok"})
	m.git("init", "-q")
	m.git("remote", "add", "origin", "git@github.com:acme/app.git")
	m.write(config.Path, "guard: warn")
	m.write("deep/er/x", "")
	m.dir = filepath.Join(m.dir, "deep", "er")
	if _, err := setup.Open(t.Context(), m.environment(), setup.Options{}); err != nil ||
		!strings.Contains(m.stderr.String(), "counts: guard") {
		t.Errorf("Open: %v, said %s", err, &m.stderr)
	}

	for _, c := range m.ran {
		if slices.Contains(c.Args, "get-url") {
			t.Errorf("git is asked what its configuration says: %v", c)
		}
	}
}

// TestPublishedConfiguration: neither a checkout nor a variable decides what the default branch
// says.
func TestPublishedConfiguration(t *testing.T) {
	m := newMachine(t, map[string]string{"LABEL_STATE_CONFIG": "mine.yml"})
	m.git("init", "-q")
	m.git("remote", "add", "origin", "git@github.com:acme/app.git")
	m.write(config.Path, "guard: off")
	m.write("mine.yml", "guard: off")
	m.files["api.github.com acme/app"] = "guard: warn"
	open := func(path string) (*setup.Session, error) {
		return setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app", Token: "tok", Published: path})
	}

	if s, err := open(config.Path); err != nil || s.Config.Guard != "warn" {
		t.Errorf("Open: %v, %v", s, err)
	}

	if _, err := open("other.yml"); !setup.Misconfigured(err) || !strings.Contains(err.Error(), "acme/app:other.yml") {
		t.Errorf("a file that is named and absent: %v", err)
	}
	delete(m.files, "api.github.com acme/app")
	if s, err := open(config.Path); err != nil || s.Source != "defaults" {
		t.Errorf("no file: %v, %v", s, err)
	}
}

func TestSession(t *testing.T) {
	m := newMachine(t, map[string]string{
		"GH_TOKEN": "tok", "LABEL_STATE_CODENAME": "lucius",
		"LABEL_STATE_FIRING_ID": "f1",
	})
	m.files["api.github.com acme/app"] = "preset: ready\nclaim: {ttl: 1h}\n"
	s, err := setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app", Ref: "#7", DryRun: true})
	if err != nil {
		t.Fatal(err)
	}

	if s.Worker != (claim.Worker{Codename: "lucius", FiringID: "f1"}) || s.Issue.String() != "acme/app#7" ||
		s.Repo.String() != "acme/app" || s.Defaults.Owner != "acme" || s.Defaults.Repo != "app" {
		t.Errorf("session of %v for %v, %v", s.Worker, s.Issue, s.Repo)
	}

	if r := s.Ledger.Rules(); r.Scheme.Available != "ready" || r.Terms.TTL != time.Hour {
		t.Errorf("the ledger has other rules: %+v", r)
	}
	if err := s.Client.AddLabel(t.Context(), s.Issue, "ready"); err == nil ||
		!strings.Contains(err.Error(), "dry run: ") {
		t.Errorf("a dry run wrote: %v", err)
	}

	if a, b := setup.Word(), setup.Word(); a == b || len(a) != 8 {
		t.Errorf("words %s, %s", a, b)
	}
}

// TestAddressesOfTheHost: what a session says of pull requests has the addresses of its own host.
func TestAddressesOfTheHost(t *testing.T) {
	m := newMachine(t, map[string]string{"GH_ENTERPRISE_TOKEN": "tok", "GH_HOST": "ghes.corp"})
	s, err := setup.Open(t.Context(), m.environment(), setup.Options{Ref: "https://ghes.corp/acme/app/issues/7"})
	succeeds(t, err)
	if _, err := s.Client.PullAt(t.Context(), "50th", s.Issue); err == nil ||
		!strings.Contains(err.Error(), "https://ghes.corp/acme/app/pull/50") {
		t.Errorf("what is no address: %v", err)
	}
}

func TestHoldsOfTheWorkTree(t *testing.T) {
	m, s, _, _ := inClone(t)
	h := ledger.Hold{
		Issue:   s.Issue,
		Comment: 9,
		URL:     "https://x",
		Token:   3,
		Until:   time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC),
		Record:  claim.Record{Worker: claim.Worker{Codename: "c", FiringID: "f"}, TTL: time.Hour, Branch: "b"},
	}

	want := state.Hold{
		Issue:   s.Issue,
		Worker:  h.Record.Worker,
		Comment: 9,
		URL:     "https://x",
		Token:   3,
		TTL:     time.Hour,
		Branch:  "b",
		Until:   h.Until,
	}

	if err := s.Remember(h); err != nil {
		t.Fatal(err)
	}
	got, ok, err := s.Recall(s.Issue)
	if b := got.Beat; b.Claimed.IsZero() || !b.Renewed.Equal(b.Claimed) || !b.Session.IsZero() {
		t.Errorf("times of the record: %+v", b)
	}

	if got.Beat = want.Beat; err != nil || !ok || got != want {
		t.Errorf("Recall = %+v, %v, %v; want %+v", got, ok, err, want)
	}

	if err := s.Forget(s.Issue); err != nil {
		t.Error(err)
	}

	if _, ok, err := s.Recall(s.Issue); ok || err != nil {
		t.Errorf("Recall after Forget = %v, %v", ok, err)
	}

	// An extension of what is recorded here changes the record; one that was removed meanwhile
	// stays gone.
	other := m.open(t)
	if err := errors.Join(other.Extended(h), s.Forget(s.Issue), other.Extended(h)); err != nil {
		t.Error(err)
	}

	if _, ok, err := s.Recall(s.Issue); ok || err != nil {
		t.Errorf("Recall after a late extension = %v, %v", ok, err)
	}

	// the record of another process of its run is not that hold's
	h.Record.Nonce = "later"
	fenced := h
	fenced.Record.Nonce = "earlier"
	if err := errors.Join(s.Remember(h), s.ForgetHold(fenced)); err != nil {
		t.Error(err)
	}
	if _, ok, err := s.Recall(s.Issue); !ok || err != nil {
		t.Errorf("Recall after another process has ended = %v, %v", ok, err)
	}
	store, err := m.environment().Holds()
	succeeds(t, err)
	for _, got.Nonce = range []string{h.Record.Nonce, ""} { // an older version recorded none
		other := h
		other.Record.Worker.FiringID = "other"
		succeeds(t, store.Save(got), s.ForgetHold(other))
		if _, ok, err := s.Recall(s.Issue); !ok || err != nil {
			t.Errorf("Recall after the end of another's, with nonce %q = %v, %v", got.Nonce, ok, err)
		}
		succeeds(t, s.ForgetHold(h))
		if _, ok, err := s.Recall(s.Issue); ok || err != nil {
			t.Errorf("Recall after its own end, with nonce %q = %v, %v", got.Nonce, ok, err)
		}
	}

	doubtful := state.Hold{Beat: agenthost.Beat{
		Refused: "x",
		Unsure:  true,
		Tried:   time.Now(),
		Claimed: time.Unix(1, 0),
	}}
	setup.Extend(&doubtful, h, h.Until)
	want.Nonce, want.Issue, want.Branch = h.Record.Nonce, claim.Issue{}, ""
	want.Beat = agenthost.Beat{Claimed: time.Unix(1, 0), Renewed: h.Until}
	if doubtful != want {
		t.Errorf("extended: %+v, want %+v", doubtful, want)
	}

	succeeds(t, os.RemoveAll(filepath.Join(m.dir, ".git/label-state/holds")))
	m.write(".git/label-state/holds", "no folder")
	if err := s.Remember(h); err == nil {
		t.Error("a hold that could not be recorded is no error")
	}
	succeeds(t, os.Remove(filepath.Join(m.dir, ".git/label-state/holds")))

	m.write(".git/label-state/holds/acme@app@7.json", "{")
	if _, _, err := s.Recall(s.Issue); !answer.Is(err, answer.Machine) {
		t.Errorf("Recall of a damaged file: %v", err)
	}
}

func TestNoWorkTreeToRememberIn(t *testing.T) {
	m := newMachine(t, map[string]string{"GH_TOKEN": "tok"})
	s, err := setup.Open(t.Context(), m.environment(), setup.Options{Ref: "acme/app#7"})
	if err != nil {
		t.Fatal(err)
	}

	if err := s.Remember(ledger.Hold{Issue: s.Issue}); err != nil {
		t.Errorf("Remember: %v", err)
	}

	if _, ok, err := s.Recall(s.Issue); ok || err != nil {
		t.Errorf("Recall = %v, %v", ok, err)
	}

	if err := s.Forget(s.Issue); err != nil {
		t.Errorf("Forget: %v", err)
	}

	// but by a server that remembers it as long as it runs
	e := m.environment()
	e.Outside = t.TempDir()
	server, err := setup.Open(t.Context(), e, setup.Options{Ref: "acme/app#7"})
	succeeds(t, err, server.Remember(ledger.Hold{
		Issue:   s.Issue,
		Comment: 1,
		Record:  claim.Record{Worker: claim.Worker{Codename: "c", FiringID: "f"}},
	}))
	if h, ok, err := server.Recall(s.Issue); !ok || err != nil || h.Worker.Codename != "c" {
		t.Errorf("a server recalls %+v, %t, %v", h, ok, err)
	}
	m.git("init", "-q")
	if _, ok, err := server.Recall(s.Issue); ok || err != nil {
		t.Errorf("in a clone it is the clone's: %t, %v", ok, err)
	}
}

func TestVariables(t *testing.T) {
	m := newMachine(t, nil)
	e := m.environment()
	for value, want := range map[string]bool{
		"1": true, "true": true, "": false, "0": false, "yes": false,
		"TRUE": false, " 1": false,
	} {
		if m.variables = map[string]string{"LABEL_STATE_SKIP_DEDUP_CHECK": value}; e.SkipDedup() != want {
			t.Errorf("SkipDedup with %q = %v", value, !want)
		}
	}

	m.variables = map[string]string{"LABEL_STATE_SWEEP_REPOS": " acme/app,, acme/web ,ACME/app"}
	if got := strings.Join(e.SweepRepos(), "|"); got != "acme/app|acme/web" {
		t.Errorf("SweepRepos = %s", got)
	}

	m.variables = map[string]string{"LABEL_STATE_HOOK_FORMAT": "json", "LABEL_STATE_ISSUE": "#7"}
	if !e.HookJSON() || e.Issue() != "#7" {
		t.Errorf("HookJSON is off, or the issue is %s", e.Issue())
	}

	if e.IsTerminal(io.Discard) || e.Color(&bytes.Buffer{}) {
		t.Error("a buffer is a terminal")
	}

	e.Watched = func(io.Writer) bool { return true }
	for variables, want := range map[string]bool{"": true, "NO_COLOR=1": false, "TERM=dumb": false, "TERM=xterm": true} {
		if m.variables = assignments(variables); e.Color(io.Discard) != want {
			t.Errorf("Color with %q = %t", variables, !want)
		}
	}

	e.Watched = nil
	if null, err := os.Open(os.DevNull); err != nil || e.IsTerminal(null) || e.Width(null) != 0 ||
		e.Width(io.Discard) != 0 {
		t.Errorf("%s is a terminal, or %v", os.DevNull, err)
	}
}

func TestStateDir(t *testing.T) {
	for _, c := range []struct{ variables, want string }{
		{"LABEL_STATE_HOME=/a XDG_STATE_HOME=/x HOME=/h", "/a"},
		{"XDG_STATE_HOME=/x HOME=/h", "/x/label-state"},
		{"XDG_STATE_HOME=relative HOME=/h", "/h/.local/state/label-state"},
		{"HOME=/h", "/h/.local/state/label-state"},
		{"LABEL_STATE_HOME=relative HOME=/h", ""},
		{"HOME=relative", ""},
		{"HOME=relative USERPROFILE=/u", "/u/.local/state/label-state"},
		{"", ""},
	} {
		m := newMachine(t, assignments(c.variables))
		got, err := m.environment().StateDir()
		_, pauses := m.environment().LocalPauses()
		_, sessions := m.environment().SessionFiles()
		_, paused := m.environment().PausedHere(claim.Repo{Owner: "acme", Name: "app"})
		for _, err := range []error{err, pauses, sessions, paused} {
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("%s: %s, %v; want %s", c.variables, got, err, c.want)
			}
		}
	}

	m := newMachine(t, map[string]string{})
	m.variables["LABEL_STATE_HOME"] = filepath.Join(m.dir, "state")
	app := claim.Repo{Owner: "acme", Name: "app"}
	if p, err := m.environment().PausedHere(app); p != nil || err != nil {
		t.Errorf("paused: %+v, %v", p, err)
	}
	f, err := m.environment().LocalPauses()
	want := lifecycle.Pause{Since: time.Unix(1, 0).UTC(), By: "olga", Reason: "release", Here: true}
	succeeds(t, f.Set(state.Pause{Repo: "acme/app", Since: want.Since, By: want.By, Reason: want.Reason}))
	if p, err := m.environment().PausedHere(app); err != nil || p == nil || *p != want {
		t.Errorf("paused: %+v, %v", p, err)
	}
	succeeds(t, os.WriteFile(f.Path(), []byte("{"), 0o600))
	if p, err := m.environment().PausedHere(app); err == nil {
		t.Errorf("a list that cannot be read says %+v", p)
	}
	if err != nil || f.Path() != filepath.Join(m.dir, "state", "paused.json") {
		t.Errorf("LocalPauses = %s, %v", f.Path(), err)
	}
}

// TestPausedHere: a pause of this machine counts for a session on it, and not in the Action, whose
// machine is nobody's.
func TestPausedHere(t *testing.T) {
	sim, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{{Login: "olga", Token: "tok", Permissions: map[string]string{"acme/app": "admin"}}},
		Repos: []githubsim.SeedRepo{{
			Name:   "acme/app",
			Files:  map[string]string{config.Path: "version: 1\n"},
			Issues: []githubsim.SeedIssue{{Number: 7, Title: "Seven", Author: "olga"}},
		}},
	}, githubsim.Options{})
	succeeds(t, err)
	m := newMachine(t, map[string]string{})
	m.variables["LABEL_STATE_HOME"] = filepath.Join(m.dir, "state")
	e := m.environment()
	e.HTTP = sim.Transport()
	f, err := e.LocalPauses()
	succeeds(t, err, f.Set(state.Pause{Repo: "acme/app", Since: time.Now(), By: "olga"}))

	for published, want := range map[string]bool{"": true, config.Path: false} {
		s, err := setup.Open(t.Context(), e, setup.Options{
			Repo:      "acme/app",
			Ref:       "7",
			Token:     "tok",
			Published: published,
		})
		succeeds(t, err)
		_, v, err := s.Ledger.Check(t.Context(), s.Issue, lifecycle.Seeker{})
		if err != nil || v.Has(lifecycle.CodePaused) != want {
			t.Errorf("published %q: %+v, %v; want it paused: %t", published, v, err, want)
		}
	}
}

// TestFind: a program on PATH, or where people and their tools put it.
func TestFind(t *testing.T) {
	m := newMachine(t, map[string]string{})
	m.variables["HOME"] = m.dir
	for _, path := range []string{"go/bin/one-of-ours", ".local/bin/one-of-ours", ".local/bin/another-of-ours"} {
		m.write(path, "#!/bin/sh\n")
		succeeds(t, os.Chmod(filepath.Join(m.dir, path), 0o755))
	}

	for name, want := range map[string]string{
		"one-of-ours":          "go/bin/one-of-ours",
		"another-of-ours":      ".local/bin/another-of-ours",
		"none-of-ours":         "",
		"x/one-of-ours":        "",
		"../bin/none-of-ours":  "",
		m.dir + "/go/bin/none": "",
	} {
		if want != "" {
			want = filepath.Join(m.dir, want)
		}
		if got, err := m.environment().Find(name); got != want && want != "" || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}

	m.variables["HOME"] = "relative"
	if got, err := m.environment().Find("one-of-ours"); err == nil {
		t.Errorf("below a relative home: %s", got)
	}
	e := m.environment()
	if !slices.Equal(e.Inherited(), os.Environ()) {
		t.Error("programs get another environment than this one")
	}
	m.variables["GIT_DIR"] = "/x"
	if got := m.environment().Git().Env; !slices.Equal(got, []string{"GIT_DIR=/x"}) {
		t.Errorf("git gets %v beside what the program has", got)
	}
	e.Environ = []string{"A=b"}
	if got := e.Git().Env; !slices.Equal(e.Inherited(), e.Environ) || !slices.Equal(got, e.Environ) {
		t.Errorf("programs get %v, and git %v", e.Inherited(), got)
	}
}

// TestProcesses runs real ones: their output, their failure, and their end in time.
func TestProcesses(t *testing.T) {
	e := setup.OS()
	if here, err := os.Getwd(); e.Dir != here || err != nil {
		t.Errorf("it works in %s, and this is %s, %v", e.Dir, here, err)
	}
	path, err := os.Executable()
	if strings.Contains(path, "/go-build") { // it is removed when the tests end
		path = ""
	}
	if err != nil || e.Executable != path || e.Stderr != os.Stderr || e.HTTP == nil || e.Limits == nil ||
		e.Processes == nil || !slices.Equal(e.Environ, os.Environ()) {
		t.Errorf("it has not all of this program: %+v, %v", e, err)
	}

	null, err := os.Open(os.DevNull)
	succeeds(t, err)
	defer null.Close()
	if e.IsTerminal(null) || e.IsTerminal(io.Discard) {
		t.Errorf("%s is a terminal", os.DevNull)
	}
	if terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0); err == nil {
		defer terminal.Close()
		if !e.IsTerminal(terminal) {
			t.Error("a terminal is none")
		}
	}
	out, err := e.Run(t.Context(), setup.Command{
		Name: "git",
		Args: []string{"hash-object", "--stdin"},
		Dir:  t.TempDir(),
	})

	if err != nil || string(out) != "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n" { // of nothing
		t.Errorf("git hash-object = %q, %v", out, err)
	}

	out, err = e.Run(t.Context(), setup.Command{
		Name: "git",
		Args: []string{"config", "a.b"},
		Dir:  t.TempDir(),
		Env:  []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c"},
	})

	if err != nil || string(out) != "c\n" {
		t.Errorf("git config = %q, %v", out, err)
	}

	if _, err := e.Run(t.Context(),
		setup.Command{Name: "git", Args: []string{"no-such-command"}, Dir: t.TempDir()}); err == nil {
		t.Error("git failed and nobody said so")
	}

	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := e.Run(t.Context(), setup.Command{
		Name: "git",
		Args: []string{"rev-parse", "--git-path", "x"},
		Dir:  folder,
	}); err == nil {
		t.Errorf("it ran in another folder: %s", out)
	}

	// a program that is ended does not wait for those that it has started
	start := time.Now()
	short, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	_, err = e.Run(short, setup.Command{Name: "sh", Args: []string{"-c", "sleep 5 & wait"}, Dir: folder})
	if took := time.Since(start); took > 4*time.Second || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cut short after %s: %v", took, err)
	}

	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Run(over, setup.Command{Name: "git", Args: []string{"version"}, Dir: t.TempDir()}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// TestNoWorkingDirectory: who works in a folder that is gone is in no clone.
func TestNoWorkingDirectory(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	succeeds(t, os.Mkdir(gone, 0o700))
	t.Chdir(gone)
	succeeds(t, os.Remove(gone))
	if _, err := os.Getwd(); err == nil {
		t.Skip("this system still tells the name of a folder that is gone")
	}
	if got := setup.OS().Dir; got != string(filepath.Separator) {
		t.Errorf("it works in %q", got)
	}
}

func TestClockHonoursTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := setup.Clock()
		start := clock.Now()
		if err := clock.Sleep(t.Context(), time.Hour); err != nil || clock.Now().Sub(start) != time.Hour {
			t.Errorf("slept %s, %v", clock.Now().Sub(start), err)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, d := range []time.Duration{time.Hour, 0} {
			if err := clock.Sleep(ctx, d); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Sleep(%s) over the deadline: %v", d, err)
			}
		}
	})
}
