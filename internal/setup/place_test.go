package setup_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/setup"
)

// place opens a session as cheaply as it can be and says what it is about.
func place(t *testing.T, m *machine, o setup.Options) string {
	t.Helper()
	o.Guess, o.Token = &config.Config{}, "tok"
	s, err := setup.Open(t.Context(), m.environment(), o)
	if err != nil {
		return "error: " + err.Error()
	}
	if o.Ref != "" {
		return s.Endpoints.REST + " " + s.Issue.String()
	}

	return s.Endpoints.REST + " " + s.Repo.String()
}

// TestClone: which repository the clone is of, asked of a real git.
func TestClone(t *testing.T) {
	for _, c := range []struct{ name, config, want string }{
		{"nothing", "", "https://api.github.com/ /"},
		{"origin", "remote.origin.url=https://github.com/acme/app.git", "https://api.github.com/ acme/app"},
		{"token in the URL", "remote.origin.url=https://x:tok@github.com/acme/app", "https://api.github.com/ acme/app"},
		{"only remote", "remote.up.url=git@github.com:acme/app.git", "https://api.github.com/ acme/app"},
		{
			"two remotes, no origin", "remote.a.url=git@github.com:a/a remote.b.url=git@github.com:b/b",
			"https://api.github.com/ /",
		},
		{
			"upstream first", "remote.origin.url=git@github.com:me/app remote.upstream.url=git@github.com:acme/app",
			"https://api.github.com/ acme/app",
		},
		{
			"the branch tracks another remote",
			"remote.origin.url=git@github.com:acme/app remote.bob.url=git@github.com:bob/app branch.main.remote=bob",
			"https://api.github.com/ acme/app",
		},
		{"the branch tracks origin", "remote.origin.url=git@github.com:me/app remote.upstream.url=git@github.com:acme/app branch.main.remote=origin", "https://api.github.com/ acme/app"},
		{
			"the branch tracks one of two",
			"remote.a.url=git@github.com:a/a remote.b.url=git@github.com:b/b branch.main.remote=b",
			"https://api.github.com/ /",
		},
		{"remote with dots", "remote.a.b.c.url=git@github.com:acme/app", "https://api.github.com/ acme/app"},
		{
			"insteadOf: git says where", "remote.origin.url=gh:acme/app url.https://github.com/.insteadof=gh:",
			"https://api.github.com/ acme/app",
		},
		{
			"two addresses of one remote: git says where",
			"remote.origin.url=git@github.com:acme/app remote.origin.url=git@github.com:acme/web",
			"https://api.github.com/ acme/app",
		},
		{
			"enterprise", "remote.origin.url=https://GHES.corp:8443/acme/app.git",
			"https://ghes.corp:8443/api/v3/ acme/app",
		},
		{"tenant", "remote.origin.url=acme@acme.ghe.com:acme/app.git", "https://api.acme.ghe.com/ acme/app"},
		{"another forge", "remote.origin.url=https://gitlab.com/acme/app", "https://api.github.com/ /"},
		{"local path", "remote.origin.url=../other", "https://api.github.com/ /"},
		{"ssh alias", "remote.origin.url=work:acme/app.git", "https://api.github.com/ acme/app"},
		{
			"fork asks upstream", "remote.origin.url=git@github.com:me/app label-state.repo=acme/app",
			"https://api.github.com/ acme/app",
		},
		{
			"host override", "remote.origin.url=git@mirror.corp:acme/app label-state.host=github.com",
			"https://api.github.com/ acme/app",
		},
		{
			"repository named, remote is a path", "remote.origin.url=../app label-state.repo=acme/app",
			"https://api.github.com/ acme/app",
		},
		{
			"host alone makes no repository", "remote.origin.url=../app label-state.host=ghes.corp",
			"https://api.github.com/ /",
		},
		{
			"both overrides and no remote", "label-state.repo=acme/app label-state.host=ghes.corp",
			"https://ghes.corp/api/v3/ acme/app",
		},
		{
			"both overrides on another forge",
			"remote.origin.url=https://gitlab.com/x/y label-state.repo=acme/app label-state.host=ghes.corp",
			"https://ghes.corp/api/v3/ acme/app",
		},
		{
			"last override wins", "remote.origin.url=git@github.com:me/app label-state.repo=a/a label-state.repo=b/b",
			"https://api.github.com/ b/b",
		},
		{
			"override that is none", "remote.origin.url=git@github.com:me/app label-state.repo=../..",
			"error: use git config label-state.repo: ",
		},
		{
			"host that is none", "remote.origin.url=git@github.com:me/app label-state.host=-oProxyCommand=x",
			"error: use git config label-state.host: ",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, nil)
			m.programs["ssh"] = func(c setup.Command) (string, error) {
				switch strings.Join(c.Args, " ") {
				case "-G github.com": // by a proxy, it is still github.com
					return "hostname proxy.corp\n", nil
				case "-G work":
				default:
					return "", errors.New("exit status 255")
				}
				return "host work\nuser git\nhostname ssh.github.com\nport 443\n", nil
			}

			m.git("init", "-q", "-b", "main")
			for setting := range strings.FieldsSeq(c.config) {
				key, value, _ := strings.Cut(setting, "=")
				m.git("config", "--add", key, value)
			}

			m.ran = nil
			got := place(t, m, setup.Options{})
			asked := slices.ContainsFunc(m.ran, func(c ran) bool { return slices.Contains(c.Args, "get-url") })
			if asked != strings.HasSuffix(c.name, ": git says where") {
				t.Errorf("git was asked where the remote is: %t", asked)
			}

			nowhere, known := map[string]string{
				"nothing":                        "this clone has no remote",
				"two remotes, no origin":         "this clone has several remotes, and none named upstream or origin",
				"the branch tracks one of two":   "this clone has several remotes, and none named upstream or origin",
				"another forge":                  "its host is another forge",
				"local path":                     "it is a local path",
				"host alone makes no repository": "it is a local path",
			}[c.name]
			why := m.environment().Nowhere(t.Context())
			if problem, is := errors.AsType[*answer.Problem](why); is && len(problem.Next) == 0 {
				t.Errorf("nobody says what to do: %v", why)
			}
			failed := strings.HasPrefix(c.want, "error")
			if known != (why != nil) && !failed || !strings.Contains(fmt.Sprint(why), nowhere) {
				t.Errorf("it belongs nowhere: %v, want %q", why, nowhere)
			}
			if got != c.want && !(strings.HasPrefix(c.want, "error") && strings.HasPrefix(got, c.want)) {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestRemoteOfNoClone: a remote that only the configuration for all clones has is that of none, as
// git has it.
func TestRemoteOfNoClone(t *testing.T) {
	for _, c := range []struct {
		name, remote, want string
		own                [][]string // what git does in the folder before
	}{
		{name: "outside"},
		{name: "clone without a remote", own: [][]string{{"init", "-q"}}},
		{
			name: "clone with another remote",
			own:  [][]string{{"init", "-q"}, {"remote", "add", "up", "git@github.com:me/app"}},
		},
		{
			name:   "clone with origin",
			remote: "upstream",
			own:    [][]string{{"init", "-q"}, {"remote", "add", "origin", "git@github.com:me/app"}},
			want:   "me/app",
		},
		{
			name: "clone with that remote too",
			own:  [][]string{{"init", "-q"}, {"config", "remote.origin.url", "git@github.com:me/app"}},
			want: "acme/app",
		},
		{
			name:   "clone with another address for all clones",
			remote: "third",
			own: [][]string{
				{"init", "-q"},
				{"config", "--global", "url.https://github.com/acme/.insteadof", "https://github.com/me/"},
				{"remote", "add", "origin", "https://github.com/me/web"},
			},
			want: "acme/web",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, nil)
			m.git("config", "--global", "remote."+cmp.Or(c.remote, "origin")+".url", "https://github.com/acme/app.git")
			for _, args := range c.own {
				m.git(args...)
			}

			got, err := m.environment().Home(t.Context())
			if err != nil || strings.Trim(got.Owner+"/"+got.Repo, "/") != c.want {
				t.Errorf("got %v, %v; want %q", got, err, c.want)
			}
		})
	}
}

// TestBroughtAlong: a bare repository that a clone has brought along is no clone of anything.
func TestBroughtAlong(t *testing.T) {
	m := newMachine(t, nil)
	m.git("init", "-q")
	m.git("remote", "add", "origin", "git@github.com:acme/app")
	m.git("init", "-q", "--bare", "other.git")
	m.dir = filepath.Join(m.dir, "other.git")
	m.git("remote", "add", "origin", "git@github.com:mallory/app")
	home, err := m.environment().Home(t.Context())
	nowhere := m.environment().Nowhere(t.Context())
	if _, strange := errors.AsType[*git.EmbeddedError](nowhere); home != (host.Remote{}) || err != nil || !strange {
		t.Errorf("it is of %v, %v; nowhere: %v", home, err, nowhere)
	}
}

// TestReferences: what people write, inside a clone and outside.
func TestReferences(t *testing.T) {
	for _, c := range []struct{ name, remote, variables, repo, ref, want string }{
		{"number", "git@github.com:acme/app", "", "", "7", "https://api.github.com/ acme/app#7"},
		{
			"number of another repository", "git@github.com:acme/app", "", "acme/web", "#7",
			"https://api.github.com/ acme/web#7",
		},
		{"number on enterprise", "git@ghes.corp:acme/app", "", "", "#7", "https://ghes.corp/api/v3/ acme/app#7"},
		{"bare name, clone's owner", "git@github.com:acme/app", "", "", "web#7", "https://api.github.com/ acme/web#7"},
		{"bare name, GH_ORG", "", "GH_ORG=acme", "", "web#7", "https://api.github.com/ acme/web#7"},
		{"full name outside", "", "", "", "acme/app#7", "https://api.github.com/ acme/app#7"},
		{
			"full name outside, of the host that the user names", "", "GH_HOST=ghes.corp", "", "acme/app#7",
			"https://ghes.corp/api/v3/ acme/app#7",
		},
		{
			"full name on enterprise", "git@ghes.corp:acme/app", "", "", "acme/web#7",
			"https://ghes.corp/api/v3/ acme/web#7",
		},
		{"URL", "", "", "", "https://github.com/acme/app/issues/7", "https://api.github.com/ acme/app#7"},
		{
			"URL of github.com in an enterprise clone", "git@ghes.corp:acme/app", "", "",
			"https://github.com/acme/app/issues/7", "https://api.github.com/ acme/app#7",
		},
		{
			"URL of the enterprise host", "", "GH_HOST=ghes.corp", "", "https://ghes.corp/acme/app/issues/7",
			"https://ghes.corp/api/v3/ acme/app#7",
		},
		{
			"URL of the enterprise host in capitals", "", "GH_HOST=GHES.corp", "", "https://ghes.corp/acme/app/issues/7",
			"https://ghes.corp/api/v3/ acme/app#7",
		},
		{"URL of a host nobody mentioned", "", "", "", "https://evil.example/acme/app/issues/7", "error"},
		{
			"named address", "", "LABEL_STATE_API_URL=http://127.0.0.1:4000", "", "acme/app#7",
			"http://127.0.0.1:4000/ acme/app#7",
		},
		{
			"number, named address", "http://127.0.0.1:4000/acme/app.git", "LABEL_STATE_API_URL=http://127.0.0.1:4000", "",
			"7", "http://127.0.0.1:4000/ acme/app#7",
		},
		{
			"number in a clone of elsewhere, named address", "git@github.com:acme/app",
			"LABEL_STATE_API_URL=http://127.0.0.1:4000", "", "7", "http://127.0.0.1:4000/ acme/app#7",
		},
		{
			"URL on the named address", "", "LABEL_STATE_API_URL=http://127.0.0.1:4000", "",
			"http://127.0.0.1:4000/acme/app/issues/7", "http://127.0.0.1:4000/ acme/app#7",
		},
		{
			"URL beside the named address", "", "LABEL_STATE_API_URL=http://127.0.0.1:4000", "",
			"https://github.com/acme/app/issues/7", "error",
		},
		{"number outside", "", "", "", "7", "error"},
		{"GH_HOST that is no host", "", "GH_HOST=a/b", "", "acme/app#7", "https://api.github.com/ acme/app#7"},
		{"not a repository", "", "", "../..", "7", "error"},
		{"not a number", "git@github.com:acme/app", "", "", "#07", "error"},
		{"not an address", "", "LABEL_STATE_API_URL=ftp://x", "", "acme/app#7", "error"},
		{"address with a token", "", "LABEL_STATE_API_URL=https://tok@ghes.corp", "", "acme/app#7", "error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, assignments(c.variables))
			if c.remote != "" {
				m.git("init", "-q")
				m.git("remote", "add", "origin", c.remote)
			}

			got := place(t, m, setup.Options{Repo: c.repo, Ref: c.ref})
			if got != c.want && !(c.want == "error" && strings.HasPrefix(got, "error: ")) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestTree: a worktree is one of the repository that a session is about where both have one name on
// one host, or at an address that somebody named.
func TestTree(t *testing.T) {
	const named = "LABEL_STATE_API_URL=http://127.0.0.1:4000"
	for _, c := range []struct {
		name, variables, repo string
		want                  bool
	}{
		{"the clone's own", "", "", true},
		{"by its host alone", "HOST=github.com", "", true},
		{"of another host", "GH_HOST=ghes.corp", "ghes.corp/acme/app", false},
		{"at a named address", named, "acme/app", true},
		{"another at a named address", named, "acme/web", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, assignments(c.variables))
			m.git("init", "-q")
			m.git("remote", "add", "origin", "git@github.com:acme/app")
			s, err := setup.Open(t.Context(), m.environment(), setup.Options{
				Guess: &config.Config{},
				Token: "tok",
				Repo:  c.repo,
				Host:  m.variables["HOST"],
			})
			if err != nil || (s.Tree != "") != c.want {
				t.Errorf("worktree %q, %v; want one: %t", s.Tree, err, c.want)
			}
		})
	}
}

func TestCalledWrongly(t *testing.T) {
	m := newMachine(t, map[string]string{"GH_TOKEN": "tok"})
	if _, err := setup.Open(t.Context(), m.environment(), setup.Options{Ref: "nonsense"}); !answer.Is(err, answer.Usage) {
		t.Errorf("nonsense: %v", err)
	}

	m.variables["LABEL_STATE_API_URL"] = "https://ghes.corp/api/v4"
	if _, err := setup.Open(t.Context(), m.environment(), setup.Options{}); !answer.Is(err, answer.Config) ||
		!strings.Contains(err.Error(), "use LABEL_STATE_API_URL: ") {
		t.Errorf("bad address: %v", err)
	}
	_, err := setup.Open(t.Context(), m.environment(), setup.Options{API: "ftp://x"})
	if !answer.Is(err, answer.Config) || !strings.Contains(err.Error(), "use input api-url: ") {
		t.Errorf("bad input: %v", err)
	} else if problem, _ := errors.AsType[*answer.Problem](err); errors.Unwrap(err) == nil ||
		!strings.Contains(fmt.Sprint(problem.Next), "correct input api-url") {
		t.Errorf("bad input: %+v", problem)
	}

	delete(m.variables, "LABEL_STATE_API_URL")
	for repo, want := range map[string]string{
		"Acme/App": "<nil>",
		"acme/web": "the issue is of acme/app, and the repository that is named is acme/web",
	} {
		_, err := setup.Open(t.Context(), m.environment(), setup.Options{Repo: repo, Ref: "acme/app#7", Within: true})
		if fmt.Sprint(err) != want || err != nil && !answer.Is(err, answer.Usage) {
			t.Errorf("an issue of acme/app within %s: %v", repo, err)
		}
		problem, is := errors.AsType[*answer.Problem](err)
		if is && !slices.Equal(problem.Next[0].Args, []string{"acme/app#7"}) {
			t.Errorf("next: %v", problem.Next)
		}
	}
}

// TestRemote is what the hook asks about the URL that git gives it.
func TestRemote(t *testing.T) {
	m := newMachine(t, nil)
	m.git("init", "-q")
	want := host.Remote{Host: "ghes.corp", Owner: "acme", Repo: "app"}
	if got, err := m.environment().Remote(t.Context(), "ssh://git@ghes.corp:2222/acme/app.git"); err != nil ||
		got != want {
		t.Errorf("Remote = %v, %v; want %v", got, err, want)
	}

	var elsewhere *host.NotGitHubError
	if got, err := m.environment().Remote(t.Context(), "/srv/git/app.git"); !errors.As(err, &elsewhere) {
		t.Errorf("Remote of a path = %v, %v", got, err)
	}

	for _, said := range []string{"user git\n", ""} { // ssh says nothing of the host
		m.programs["ssh"] = func(c setup.Command) (string, error) {
			if c.Dir != m.dir {
				t.Errorf("ssh runs in %q", c.Dir)
			}
			return said, nil
		}
		if got, err := m.environment().Remote(t.Context(), "ssh://git@ghes.corp:2222/acme/app.git"); err != nil ||
			got != want {
			t.Errorf("Remote where ssh says %q = %v, %v; want %v", said, got, err, want)
		}
	}

	m.git("config", "label-state.repo", "up/stream")
	want.Owner, want.Repo = "up", "stream"
	if got, err := m.environment().Remote(t.Context(), "ssh://git@ghes.corp:2222/acme/app.git"); err != nil ||
		got != want {
		t.Errorf("Remote with an override = %v, %v; want %v", got, err, want)
	}
}

// TestNothing: an environment of nothing has no programs, which is not the same as one that fails.
func TestNothing(t *testing.T) {
	e := setup.Nothing(io.Discard)
	_, err := e.Run(t.Context(), setup.Command{Name: "gh"})
	if !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "gh") {
		t.Error(err)
	}
	if got := e.Inherited(); len(got) > 0 || e.Getenv("PATH") != "" {
		t.Errorf("programs would get %v", got)
	}
	if at, err := e.Home(t.Context()); at != (host.Remote{}) || err != nil {
		t.Errorf("it is in a clone of %v, %v", at, err)
	}
}

// TestGitThatIsCutShort: no answer is not the answer that there is no clone, or the wrong host
// would be asked.
func TestGitThatIsCutShort(t *testing.T) {
	m := newMachine(t, map[string]string{"GH_TOKEN": "tok"})
	m.programs["git"] = func(setup.Command) (string, error) { return "", context.DeadlineExceeded }
	if _, err := setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app"}); !errors.Is(err,
		context.DeadlineExceeded) {
		t.Errorf("git timed out: %v", err)
	}

	m.programs["git"] = func(setup.Command) (string, error) { return "", exec.ErrNotFound }
	if got := place(t, m, setup.Options{Repo: "acme/app"}); got != "https://api.github.com/ acme/app" {
		t.Errorf("without git: %s", got)
	}

	if got, err := m.environment().Remote(t.Context(), "git@github.com:acme/app"); got.Repo != "app" || err != nil {
		t.Errorf("an address, without git: %v, %v", got, err)
	}

	if got := place(t, m, setup.Options{Ref: "3"}); !strings.Contains(got, "run it inside a clone") {
		t.Errorf("outside, without git: %s", got)
	}
	delete(m.programs, "git")
	m.git("init", "-q")
	m.programs["git"] = func(setup.Command) (string, error) { return "", exec.ErrNotFound }
	if got := place(t, m, setup.Options{Ref: "3"}); !strings.Contains(got, "git was not found") ||
		strings.Contains(got, "inside a clone") {
		t.Errorf("in a clone, without git: %s", got)
	}

	// wherever it is cut short
	delete(m.programs, "git")
	m.git("config", "remote.origin.url", "git@github.com:acme/app")
	m.git("config", "url.https://github.com/.insteadof", "gh:")
	for _, at := range []string{"rev-parse", "config", "get-url"} {
		e, asked := m.environment(), 0
		start := e.Exec
		e.Exec = func(ctx context.Context, c git.Command) ([]byte, error) {
			if slices.Contains(c.Args, at) {
				asked++
				return nil, context.DeadlineExceeded
			}
			return start(ctx, c)
		}
		if got, err := e.Home(t.Context()); !errors.Is(err, context.DeadlineExceeded) || asked != 1 {
			t.Errorf("git timed out at %s: it is of %v, %v", at, got, err)
		}
		_, err := e.Remote(t.Context(), "git@github.com:acme/app")
		if at == "config" && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the address, where git timed out: %v", err)
		}
	}

	m.write(".git/config", "[broken")
	got := place(t, m, setup.Options{Ref: "3"})
	nowhere := m.environment().Nowhere(t.Context())
	problem, is := errors.AsType[*answer.Problem](nowhere)
	if !is || git.Code(nowhere) != 128 || problem.Code != answer.Usage || !strings.Contains(got, "exit code 128") ||
		!slices.Equal(problem.Next[0].Args, []string{"-C", m.dir, "status"}) {
		t.Errorf("in a clone that git does not read: %s; %+v", got, nowhere)
	}
}
