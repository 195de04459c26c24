package setup_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/state"
)

// inClone is a session about #7 in a clone of acme/app, with the holds of its worktree, and a hold.
func inClone(t *testing.T) (*machine, *setup.Session, state.Holds, ledger.Hold) {
	t.Helper()
	m := newMachine(t, map[string]string{"GH_TOKEN": "tok"})
	m.variables["LABEL_STATE_HOME"] = m.home
	m.git("init", "-q")
	m.git("remote", "add", "origin", "git@github.com:acme/app.git")
	s := m.open(t)
	store, err := m.environment().Holds()
	if err != nil {
		t.Fatal(err)
	}
	return m, s, store, ledger.Hold{
		Issue:   s.Issue,
		Comment: 1,
		Record:  claim.Record{Worker: claim.Worker{Codename: "c", FiringID: "f"}, Nonce: "n", TTL: time.Hour},
	}
}

// open is one more session there.
func (m *machine) open(t *testing.T) *setup.Session {
	t.Helper()
	s, err := setup.Open(t.Context(), m.environment(), setup.Options{Ref: "7"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func succeeds(t *testing.T, errs ...error) {
	t.Helper()
	for n, err := range errs {
		if err != nil {
			t.Fatalf("step %d: %v", n, err)
		}
	}
}

// TestWhatAHoldReplaces: a new hold takes the place of those that are over, an extension of none.
func TestWhatAHoldReplaces(t *testing.T) {
	_, s, store, h := inClone(t)
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d) }
	for n, old := range []state.Hold{
		{TTL: time.Hour, Beat: agenthost.Beat{Renewed: ago(0), Lost: "by force"}},
		{TTL: time.Hour, Beat: agenthost.Beat{Renewed: ago(2 * time.Hour)}},
		{TTL: 4 * time.Hour, Beat: agenthost.Beat{Renewed: ago(2 * time.Hour)}},
		{TTL: claim.NoExpiry, Beat: agenthost.Beat{Renewed: ago(2 * time.Hour)}},
		{TTL: time.Hour}, // an older version did not say
	} {
		old.Issue = claim.Issue{Owner: "acme", Repo: "app", Number: n + 1}
		old.Worker, old.Comment = h.Record.Worker, 1
		succeeds(t, store.Save(old), store.Past().Save(old))
	}

	there := func(store state.Holds) (numbers []int) {
		all, err := store.All()
		succeeds(t, err)
		for _, one := range all {
			numbers = append(numbers, one.Issue.Number)
		}
		return numbers
	}

	succeeds(t, store.Save(state.Hold{Issue: s.Issue, Comment: 1, Worker: h.Record.Worker}), s.Remember(h))
	succeeds(t, store.Past().Save(state.Hold{Issue: s.Issue, Comment: 1, Worker: h.Record.Worker}))
	first, _, err := s.Recall(s.Issue)
	if got := there(store); !slices.Equal(got, []int{1, 2, 3, 4, 5, 7}) {
		t.Errorf("after an extension: %v", got)
	}

	h.Record.Worker.FiringID = "later"
	succeeds(t, err, s.Remember(h))
	if got := there(store); !slices.Equal(got, []int{3, 4, 5, 7}) {
		t.Errorf("after a claim: %v", got)
	}
	if got := there(store.Past()); !slices.Equal(got, []int{3, 4, 5}) {
		t.Errorf("past: %v", got)
	}
	if later, _, err := s.Recall(s.Issue); err != nil || !later.Claimed.After(first.Claimed) {
		t.Errorf("claimed at %s, and before at %s, %v", later.Claimed, first.Claimed, err)
	}
}

// TestMine: a hold is taken up again by the worker that has it, where nobody works under it.
func TestMine(t *testing.T) {
	_, s, store, h := inClone(t)
	mine := func(name, want string) {
		t.Helper()
		if got := s.Mine(s.Issue, h.Record.Worker); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}

	mine("nothing recorded", "")
	s.Attend(s.Issue)() // nothing to work under
	succeeds(t, s.Remember(h), s.Begin(s.Issue))
	mine("recorded", "n")
	if !store.Untouched(s.Issue) {
		t.Error("something was done under a hold that has begun")
	}

	free := s.Attend(s.Issue)
	mine("attended", "")
	free()
	mine("free again", "n")
	if got := s.Mine(s.Issue, claim.Worker{Codename: "other"}); got != "" {
		t.Errorf("of another worker: %q", got)
	}

	succeeds(t, s.Lose(s.Issue, claim.Worker{Codename: "other"}, "a person has it"))
	mine("another's was lost", "n")
	succeeds(t, s.Lose(s.Issue, h.Record.Worker, "a person has it"))
	mine("lost", "")
	if got, _, err := store.Load(s.Issue); err != nil || got.Beat.Lost != "a person has it" ||
		!strings.Contains(got.Beat.Tell, "acme/app#7") || !strings.Contains(got.Beat.Tell, "a person has it") {
		t.Errorf("lost: %+v, %v", got.Beat, err)
	}
}

// TestGiveWay: what a person's claim has ended is answered for nobody, and told who asks.
func TestGiveWay(t *testing.T) {
	m, s, _, h := inClone(t)
	succeeds(t, s.Remember(h), s.GiveWay(s.Issue, "olga"))
	past, was, err := s.Past(s.Issue)
	if !was || err != nil || past.Beat.Lost != "the hold has ended: olga has claimed the issue" {
		t.Errorf("past: %+v, %t, %v", past.Beat, was, err)
	}
	if _, ok, err := s.Recall(s.Issue); ok || err != nil {
		t.Errorf("it is still recorded: %v", err)
	}

	succeeds(t, s.Remember(h), s.Lose(s.Issue, h.Record.Worker, "by force"), s.GiveWay(s.Issue, "olga"))
	if past, _, err = s.Past(s.Issue); err != nil || past.Beat.Lost != "by force" {
		t.Errorf("lost before: %+v, %v", past.Beat, err)
	}

	succeeds(t, s.GiveWay(s.Issue, "olga")) // none is recorded
	succeeds(t, s.Remember(h), s.Retire(s.Issue))
	_, there, err := s.Recall(s.Issue)
	if past, was, unread := s.Past(s.Issue); there || !was || past.Lost != "" || errors.Join(err, unread) != nil {
		t.Errorf("retired: %+v, %t; still recorded: %t; %v, %v", past.Beat, was, there, err, unread)
	}
	m.write(".git/label-state/holds/acme@app@7.json", "{")
	if err := s.GiveWay(s.Issue, "olga"); err == nil {
		t.Error("a damaged record is not told")
	}
}

// TestDamagedGitDirectory: what cannot be found out is no success.
func TestDamagedGitDirectory(t *testing.T) {
	m, s, _, h := inClone(t)
	other := m.open(t)
	succeeds(t, s.Remember(h), os.RemoveAll(filepath.Join(m.dir, ".git")))
	m.write(".git", "nonsense")
	for name, do := range map[string]func() error{
		"remember":            func() error { return s.Remember(h) },
		"extended":            func() error { return s.Extended(h) },
		"extended by another": func() error { return other.Extended(h) },
		"begin":               func() error { return s.Begin(s.Issue) },
		"recall":              func() error { _, _, err := s.Recall(s.Issue); return err },
		"forget":              func() error { return s.Forget(s.Issue) },
		"forget hold":         func() error { return s.ForgetHold(h) },
		"lose":                func() error { return s.Lose(s.Issue, h.Record.Worker, "x") },
		"give way":            func() error { return s.GiveWay(s.Issue, "olga") },
		"retire":              func() error { return s.Retire(s.Issue) },
		"past":                func() error { _, _, err := s.Past(s.Issue); return err },
	} {
		if do() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	s.Attend(s.Issue)()
	e := m.environment()
	e.Outside = t.TempDir()
	if _, err := e.Holds(); err == nil {
		t.Error("a damaged git directory is taken for none")
	}
}

// TestSessionOfAHold: a hold is of the session that claimed it, as long as that is at work, and the
// session is known to have it.
func TestSessionOfAHold(t *testing.T) {
	m, s, store, h := inClone(t)
	files, err := m.environment().SessionFiles()
	first := agenthost.Session{Host: agenthost.ClaudeCode, ID: "first"}
	succeeds(t, err, files.Add(first, ""))
	of := func(name, want string) {
		t.Helper()
		got, _, err := store.Load(s.Issue)
		if err != nil || got.Session.String() != want {
			t.Errorf("%s: %s, %v, want %s", name, got.Session, err, want)
		}
	}

	m.variables["CLAUDE_CODE_SESSION_ID"] = "first"
	succeeds(t, s.Remember(h))
	of("claimed", "claude-code:first")
	top, err := state.Top(m.dir)
	succeeds(t, err)
	if known, _, err := files.Load(first); err != nil || !slices.Equal(known.Worktrees, []string{top}) {
		t.Errorf("the session has holds in %v, %v", known.Worktrees, err)
	}
	if !m.environment().Heartbeats(first) || m.environment().Heartbeats(agenthost.Session{}) {
		t.Error("the session that sends events is not the one that is known")
	}

	m.variables["CLAUDE_CODE_SESSION_ID"] = "second"
	later := m.open(t)
	_, _, err = later.Recall(s.Issue)
	succeeds(t, err, later.Extended(h))
	of("extended by another", "claude-code:first")
	if _, _, err := store.Change(s.Issue, func(h *state.Hold) bool {
		h.Beat.Ended = time.Now()
		return true
	}); err != nil {
		t.Fatal(err)
	}

	fenced := h
	fenced.Record.Nonce = "earlier"
	succeeds(t, later.Extended(fenced))
	of("extended under another record", "claude-code:first")
	succeeds(t, later.Extended(h))
	of("extended after its end", "claude-code:second")
	second := agenthost.Session{Host: agenthost.ClaudeCode, ID: "second"}
	if _, known, err := files.Load(second); known || err != nil || m.environment().Heartbeats(second) {
		t.Errorf("a session is known that has sent no event: %v", err)
	}
	succeeds(t, files.Add(second, ""), later.Extended(h))
	if known, _, err := files.Load(second); err != nil || !slices.Equal(known.Worktrees, []string{top}) {
		t.Errorf("the later session has holds in %v, %v", known.Worktrees, err)
	}

	// a server works for the session whose process is above it, whatever its environment names
	first.ID = "above"
	succeeds(t, files.Change(first, func(s *state.Session) { s.Process = numbered(10) }))
	e := m.environment()
	e.Server, e.Processes = true, ancestors{5, 10}
	for named, want := range map[string]string{"gemini:g1": "claude-code:above", "": "claude-code:above"} {
		m.variables["LABEL_STATE_SESSION"], m.variables["CLAUDE_CODE_SESSION_ID"] = named, ""
		server, err := setup.Open(t.Context(), e, setup.Options{Ref: "7"})
		succeeds(t, err, s.Forget(s.Issue), server.Remember(h))
		of("claimed by a server, "+named, want)
	}
	e.Processes = ancestors{5}
	m.variables["LABEL_STATE_SESSION"] = "gemini:g1"
	server, err := setup.Open(t.Context(), e, setup.Options{Ref: "7"})
	succeeds(t, err, s.Forget(s.Issue), server.Remember(h))
	of("claimed by a server that is below none", ":")

	// a host that does not say which of its sessions asks leaves that open
	m.variables = map[string]string{"GH_TOKEN": "tok", "LABEL_STATE_HOME": m.home, "GEMINI_SESSION_ID": "g1"}
	succeeds(t, s.Forget(s.Issue), m.open(t).Remember(h))
	of("claimed in gemini", "gemini:g1")
	m.variables = map[string]string{"GH_TOKEN": "tok", "LABEL_STATE_HOME": m.home, "GEMINI_CLI": "1"}
	succeeds(t, m.open(t).Remember(h))
	of("extended in some session of gemini", ":")
}

// TestFetched: the configuration of the default branch as it was last fetched; what is checked out
// counts only where nothing was.
func TestFetched(t *testing.T) {
	for name, c := range map[string]struct {
		refs    string // of the remote: names of branches, all but the first with another file than that
		fetched string // the file there; a link with a leading @
		want    string // guard, or a part of the error
		none    bool   // there is no file that counts
	}{
		"never fetched":       {"", "", "off", false},
		"no clone":            {"", "", "off", false},
		"no remote any more":  {"main", "guard: warn", "off", false},
		"HEAD first":          {"HEAD main", "guard: warn", "warn", false},
		"main":                {"main master", "guard: warn", "warn", false},
		"master":              {"master dev", "guard: warn", "warn", false},
		"another branch":      {"dev", "guard: warn", "off", false},
		"nothing there":       {"main", "", "fail", true},
		"broken there":        {"main", "guard: maybe", "origin/main:.github/label-state.yml:1: guard", false},
		"a folder":            {"main", "/", "origin/main:.github/label-state.yml: cannot be read", true},
		"a link":              {"main", "@there.yml", "warn", false},
		"a link to nothing":   {"main", "@nowhere", "origin/main:.github/label-state.yml: cannot be read", true},
		"a link to elsewhere": {"main", "@/etc/passwd", "origin/main:.github/label-state.yml: cannot be read", true},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, nil)
			if name != "no clone" {
				m.git("init", "-q")
			}
			if !strings.HasPrefix(name, "no ") {
				m.git("remote", "add", "origin", "git@github.com:acme/app.git")
			}
			m.write(".github/there.yml", "guard: warn")
			path := ".github/label-state.yml"
			if to, link := strings.CutPrefix(c.fetched, "@"); link {
				succeeds(t, os.Symlink(to, filepath.Join(m.dir, path)))
			} else if c.fetched == "/" {
				m.write(path+"/x", "")
			} else if c.fetched != "" {
				m.write(path, c.fetched)
			}

			for n, ref := range strings.Fields(c.refs) {
				if n == 1 {
					m.write(path, "guard: off")
				}
				if n < 2 {
					m.git("add", ".")
					m.git("-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x")
				}
				m.git("update-ref", "refs/remotes/origin/"+ref, "HEAD")
			}

			if name == "main" { // as git leaves it after it has packed what it knew
				m.git("pack-refs", "--all")
				succeeds(t, os.RemoveAll(filepath.Join(m.dir, ".git/refs/remotes")))
			}

			succeeds(t, os.RemoveAll(filepath.Join(m.dir, path)))
			m.write(path, "guard: off")
			m.ran = nil
			conf, text, err := m.environment().Fetched(t.Context())
			got := conf.Guard
			if err != nil {
				got = err.Error()
			}
			if c.none && conf.Guard != "fail" {
				t.Errorf("%s counts beside %v", conf.Guard, err)
			}
			if !strings.HasPrefix(got, c.want) || (text == nil) != c.none {
				t.Errorf("%s with %q, want %s", got, text, c.want)
			}
			if c.refs == "" && len(m.ran) > 0 {
				t.Errorf("git was asked about a clone that has fetched nothing: %v", m.ran)
			}

			for _, at := range []string{"config", "ls-tree", "cat-file"} { // where git is cut short
				over, end := context.WithCancel(t.Context())
				e, asked := m.environment(), false
				start := e.Exec
				e.Exec = func(ctx context.Context, g git.Command) ([]byte, error) {
					if slices.Contains(g.Args, at) {
						asked = true
						end()
					}
					return start(ctx, g)
				}
				conf, _, err := e.Fetched(over)
				if asked && (!errors.Is(err, context.Canceled) || conf.Guard != "fail") {
					t.Errorf("git that is cut short at %s: %s, %v", at, conf.Guard, err)
				}
				end()
			}
		})
	}
}
