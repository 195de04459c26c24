package setup_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/setup"
)

// TestTokenPrecedence: which of several tokens is taken.
func TestTokenPrecedence(t *testing.T) {
	for _, c := range []struct {
		name, host, api, variables, want string
	}{
		{"first of two", "github.com", "", "GH_TOKEN GITHUB_TOKEN", "GH_TOKEN"},
		{"second", "github.com", "", "GITHUB_TOKEN", "GITHUB_TOKEN"},
		{"tenant", "acme.ghe.com", "", "GITHUB_TOKEN GH_ENTERPRISE_TOKEN", "GITHUB_TOKEN"},
		{
			"enterprise", "ghes.corp", "", "GH_HOST=ghes.corp GH_TOKEN GITHUB_ENTERPRISE_TOKEN GH_ENTERPRISE_TOKEN",
			"GH_ENTERPRISE_TOKEN",
		},
		{"enterprise that nobody named", "ghes.corp", "", "GH_TOKEN GITHUB_ENTERPRISE_TOKEN GH_ENTERPRISE_TOKEN", ""},
		{
			"enterprise second", "ghes.corp", "", "GH_HOST=ghes.corp GH_TOKEN GITHUB_ENTERPRISE_TOKEN",
			"GITHUB_ENTERPRISE_TOKEN",
		},
		{"a tenant's name within another", "acme.ghe.com.evil.example", "", "GH_TOKEN GH_ENTERPRISE_TOKEN", ""},
		{"enterprise of another host", "ghes.corp", "", "GH_HOST=other.corp GH_ENTERPRISE_TOKEN", ""},
		{"enterprise of this host", "ghes.corp", "", "GH_HOST=GHES.corp GH_ENTERPRISE_TOKEN", "GH_ENTERPRISE_TOKEN"},
		{"cloud says nothing of enterprise", "ghes.corp", "", "GH_HOST=github.com GH_ENTERPRISE_TOKEN", ""},
		{"wrong kind for the cloud", "github.com", "", "GH_ENTERPRISE_TOKEN GITHUB_ENTERPRISE_TOKEN", ""},
		{"wrong kind for enterprise", "ghes.corp", "", "GH_TOKEN GITHUB_TOKEN", ""},
		{"own token without an address", "github.com", "", "LABEL_STATE_TOKEN", ""},
		{"own token of the address", "", "https://api.github.com", "GH_TOKEN LABEL_STATE_TOKEN", "LABEL_STATE_TOKEN"},
		{
			"named enterprise", "", "https://ghes.corp/api/v3", "GH_TOKEN GITHUB_TOKEN GH_ENTERPRISE_TOKEN",
			"GH_ENTERPRISE_TOKEN",
		},
		{
			"GH_HOST names another than the address", "", "https://ghes.corp/api/v3",
			"GH_HOST=other.corp GH_ENTERPRISE_TOKEN", "",
		},
		{
			"GH_HOST names the cloud beside the address", "", "https://ghes.corp/api/v3",
			"GH_HOST=github.com GH_ENTERPRISE_TOKEN", "GH_ENTERPRISE_TOKEN",
		},
		{"simulator", "", "http://127.0.0.1:4000", "GITHUB_TOKEN LABEL_STATE_TOKEN", "LABEL_STATE_TOKEN"},
		{"simulator, real tokens", "", "http://127.0.0.1:4000", "GH_TOKEN GITHUB_TOKEN GH_ENTERPRISE_TOKEN", ""},
		{"simulator by name", "", "http://localhost:4000", "GITHUB_TOKEN", ""},
		{"simulator on IPv6", "", "http://[::1]:4000", "GITHUB_TOKEN", ""},
		{"simulator with TLS", "", "https://127.0.0.1:4000", "GH_TOKEN GH_ENTERPRISE_TOKEN", ""},
		{
			"nobody named this machine", "127.0.0.1:4000", "",
			"GH_TOKEN GITHUB_TOKEN GH_ENTERPRISE_TOKEN LABEL_STATE_TOKEN", "",
		},
		{"in the clear", "", "http://ghes.corp", "GH_TOKEN GH_ENTERPRISE_TOKEN", ""},
		{
			"in the clear, on purpose", "", "http://ghes.corp", "GH_ENTERPRISE_TOKEN LABEL_STATE_TOKEN",
			"LABEL_STATE_TOKEN",
		},
		{"nearly this machine", "", "http://localhost.evil.example", "GH_TOKEN GITHUB_TOKEN", ""},
		{"empty is not set", "github.com", "", "GH_TOKEN= GITHUB_TOKEN", "GITHUB_TOKEN"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, assignments(c.variables))
			m.variables["LABEL_STATE_API_URL"] = c.api
			s, err := setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app", Host: c.host})
			if c.want == "" {
				var none *setup.NoTokenError
				if !errors.As(err, &none) || len(m.sent) > 0 ||
					none.Unaddressed != (c.api == "" && m.variables["LABEL_STATE_TOKEN"] != "") {
					t.Errorf("Open: %v; sent %v; want a *NoTokenError", err, m.sent)
				}
				return
			}

			if err != nil {
				t.Fatal(err)
			}

			if s.TokenFrom != c.want || len(m.sent) != 1 || m.sent[0].token != "tok-"+c.want {
				t.Errorf("took %s, sent %v; want %s", s.TokenFrom, m.sent, c.want)
			}
		})
	}
}

// assignments reads "A B=c": A is set to tok-A.
func assignments(text string) map[string]string {
	out := map[string]string{}
	for word := range strings.FieldsSeq(text) {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			value = "tok-" + name
		}
		out[name] = value
	}

	return out
}

// TestTokenNeverGoesElsewhere tries every set of variables against every kind of host and looks
// at what was sent.
func TestTokenNeverGoesElsewhere(t *testing.T) {
	cloud := []string{"tok-GH_TOKEN", "tok-GITHUB_TOKEN"}
	enterprise := []string{"tok-GH_ENTERPRISE_TOKEN", "tok-GITHUB_ENTERPRISE_TOKEN"}
	own := "tok-LABEL_STATE_TOKEN"
	places := []struct {
		host, api, server string
		may               []string
	}{
		{"github.com", "", "api.github.com", cloud},
		{"ours.corp", "", "ours.corp", enterprise}, // GH_HOST names it
		{"acme.ghe.com", "", "api.acme.ghe.com", cloud},
		{"ghes.corp", "", "ghes.corp", nil},
		{"github.com.evil.example", "", "github.com.evil.example", nil},
		{"127.0.0.1:4000", "", "127.0.0.1:4000", nil},
		{"", "https://api.github.com", "api.github.com", append(cloud, own)},
		{"", "https://ghes.corp/api/v3", "ghes.corp", append(enterprise, own)},
		{"", "http://ghes.corp/api/v3", "ghes.corp", []string{own}},
		{"", "http://127.0.0.1:4000", "127.0.0.1:4000", []string{own}},
	}
	names := []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "LABEL_STATE_TOKEN"}
	for _, p := range places {
		for set := range 1 << len(names) {
			variables := map[string]string{"LABEL_STATE_API_URL": p.api}
			if p.host == "ours.corp" {
				variables["GH_HOST"] = p.host
			}

			expected := false
			for n, name := range names {
				if set&(1<<n) != 0 {
					variables[name] = "tok-" + name
					expected = expected || slices.Contains(p.may, "tok-"+name)
				}
			}

			m := newMachine(t, variables)
			m.programs["git"] = func(setup.Command) (string, error) { return "", exec.ErrNotFound }
			_, err := setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app", Host: p.host})
			if (err == nil) != expected {
				t.Errorf("%s%s with %v: %v", p.host, p.api, variables, err)
			}

			for _, r := range m.sent {
				if r.host != p.server || !slices.Contains(p.may, r.token) {
					t.Errorf("%s%s with %v: sent %v", p.host, p.api, variables, r)
				}
			}
		}
	}
}

func TestTokenStores(t *testing.T) {
	prints := func(text string) func(setup.Command) (string, error) {
		return func(setup.Command) (string, error) { return text, nil }
	}
	fails := func(setup.Command) (string, error) { return "tok-half", errors.New("exit status 1") }
	for _, c := range []struct {
		name    string
		gh, git func(setup.Command) (string, error)
		want    string
	}{
		{"gh first", prints("tok-gh\n"), prints("password=tok-git\n"), "gh auth token"},
		{"gh not logged in", fails, prints("protocol=https\nusername=x\npassword=tok-git\n"), "git credential"},
		{"gh says nothing", prints("\n"), prints("password=tok-git\n"), "git credential"},
		{"gh prints a sentence", prints("no oauth token\n"), prints("password=tok-git\r\n"), "git credential"},
		{"empty password", fails, prints("username=\npassword=\n"), ""},
		{"neither", fails, fails, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, nil)
			m.programs["gh"], m.programs["git credential"] = c.gh, c.git
			s, err := setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app", Host: "ghes.corp:8443"})
			var none *setup.NoTokenError
			if c.want == "" {
				if !errors.As(err, &none) || none.Host != "ghes.corp:8443" ||
					!strings.Contains(none.Remedy(), "gh auth login --hostname ghes.corp:8443") {
					t.Errorf("Open: %v", err)
				}
				return
			}

			if err != nil || s.TokenFrom != c.want {
				t.Errorf("Open = %v, %v; want a token from %s", s, err, c.want)
			}
			m.asked(t, "ghes.corp:8443")
		})
	}
}

// TestNoTokenHost: the hint logs in to the host that lacks a token.
func TestNoTokenHost(t *testing.T) {
	for host, want := range map[string]string{
		"github.com": "set one of them, or run: gh auth login",
		"ghes.corp":  "set one of them, or run: gh auth login --hostname ghes.corp",
	} {
		m := newMachine(t, map[string]string{"GH_HOST": host})
		_, err := setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app", Host: host})
		var none *setup.NoTokenError
		if !errors.As(err, &none) || none.Remedy() != want {
			t.Errorf("%s: %v, want %s", host, err, want)
		}
	}
}

// asked checks that gh and git were asked about that host and could not ask anybody themselves.
func (m *machine) asked(t *testing.T, host string) {
	t.Helper()
	for _, c := range m.ran {
		if c.Name == "gh" && (!slices.Equal(c.Args, []string{"auth", "token", "--hostname=" + host}) ||
			!slices.Contains(c.Env, "GH_PROMPT_DISABLED=1") || c.Dir != m.dir) {
			t.Errorf("ran %s", c)
		}

		if !slices.Contains(c.Args, "credential") {
			continue
		}

		if c.stdin != "protocol=https\nhost="+host+"\npath=acme/app.git\n\n" {
			t.Errorf("git credential was told %q", c.stdin)
		}

		for _, quiet := range []string{"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS="} {
			if !slices.Contains(c.Env, quiet) {
				t.Errorf("git credential may prompt: %v", c.Env)
			}
		}
	}
}

// TestStoresAreNotAskedForNamedAddresses: a token of the key ring never goes to a simulator.
func TestStoresAreNotAskedForNamedAddresses(t *testing.T) {
	for _, api := range []string{
		"http://127.0.0.1:4000", "http://localhost:4000", "https://localhost:4000",
		"http://[::1]:4000", "http://ghes.corp", "https://[2001:db8::1]/api/v3",
	} {
		m := newMachine(t, map[string]string{"LABEL_STATE_API_URL": api})
		for _, name := range []string{"gh", "git credential"} {
			m.programs[name] = func(setup.Command) (string, error) { return "password=tok-real", nil }
		}

		_, err := setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app"})
		var none *setup.NoTokenError
		if !errors.As(err, &none) {
			t.Errorf("%s: %v", api, err)
		}

		for _, c := range m.ran {
			if c.Name == "gh" || slices.Contains(c.Args, "credential") {
				t.Errorf("%s: asked %s", api, c)
			}
		}
	}
}

// TestNoToken: what is missing, and what to do about it.
func TestNoToken(t *testing.T) {
	both := []string{"GH_TOKEN", "GITHUB_TOKEN"}
	for _, c := range []struct {
		err          setup.NoTokenError
		text, remedy string
	}{
		{setup.NoTokenError{Host: "github.com", Variables: both}, "none in GH_TOKEN, GITHUB_TOKEN", "set one of them"},
		{
			setup.NoTokenError{Host: "127.0.0.1:80"},
			"no token is sent there unless LABEL_STATE_API_URL names it",
			"export LABEL_STATE_API_URL=http://127.0.0.1:80",
		},
		{
			setup.NoTokenError{Host: "github.com", Variables: both, Unaddressed: true},
			"none in GH_TOKEN, GITHUB_TOKEN; LABEL_STATE_TOKEN is only for the address that LABEL_STATE_API_URL names",
			"export LABEL_STATE_API_URL as well; or set one of them",
		},
		{
			setup.NoTokenError{Host: "127.0.0.1:80", Variables: both[:1]},
			"none in GH_TOKEN",
			"export GH_TOKEN=TOKEN",
		},
		{setup.NoTokenError{Host: "ghes.corp"}, "neither gh nor git has one", "if it is your GitHub: export GH_HOST=ghes.corp"},
		{
			setup.NoTokenError{Host: "ghes.corp", Variables: both, Withheld: both},
			"GH_TOKEN and GITHUB_TOKEN is not sent there", "if it is your GitHub: export GH_HOST=ghes.corp",
		},
	} {
		if !strings.HasPrefix(c.err.Error(), "find token for "+c.err.Host+": "+c.text) ||
			!strings.HasPrefix(c.err.Remedy(), c.remedy) {
			t.Errorf("%v; %s", &c.err, c.err.Remedy())
		}
	}
}

func TestTokenThatCannotBeOne(t *testing.T) {
	for _, text := range []string{"two words", "line\nbreak", "caf\u00e9", "tok\x00"} {
		m := newMachine(t, map[string]string{"GH_TOKEN": text, "GITHUB_TOKEN": "tok"})
		_, err := setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app"})
		if !answer.Is(err, answer.BadToken) || !strings.Contains(err.Error(), "GH_TOKEN") || strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
		if problem, _ := errors.AsType[*answer.Problem](err); len(problem.Next) != 2 {
			t.Errorf("%q: what to do about it: %v", text, problem.Next)
		}
	}

	m := newMachine(t, map[string]string{"GH_TOKEN": " tok\n"})
	if s, err := setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app"}); err != nil || s.TokenFrom != "GH_TOKEN" {
		t.Errorf("with blanks around it: %v", err)
	}
}

func TestTokenIsNeverShown(t *testing.T) {
	m := newMachine(t, map[string]string{"GH_TOKEN": "tok-very-secret"})
	m.files["api.github.com acme/app"] = "forbidden"
	_, err := setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app", Verbose: true})
	if err == nil {
		t.Fatal("a configuration that may not be read was taken for none")
	}

	m.files["api.github.com acme/app"] = ""
	s, err2 := setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app", Verbose: true})
	if err2 != nil {
		t.Fatal(err2)
	}

	shown := fmt.Sprintf("%s %v %+v %#v", m.stderr.String(), err, s, *s)
	if strings.Contains(shown, "very-secret") {
		t.Errorf("the token is in %s", shown)
	}

	if !strings.Contains(m.stderr.String(), "GET api.github.com/repos/acme/app/contents/.github/label-state.yml: 403") {
		t.Errorf("--verbose said %q", &m.stderr)
	}
}

func TestGivenToken(t *testing.T) {
	m := newMachine(t, map[string]string{"GH_TOKEN": "tok-other"})
	s, err := setup.Open(t.Context(), m.environment(),
		setup.Options{Repo: "acme/app", Token: "tok-input", API: "https://ghes.corp/api/v3"})
	if err != nil || s.TokenFrom != "given" || len(m.sent) != 1 ||
		m.sent[0] != (request{"ghes.corp", "/api/v3/repos/acme/app/contents/.github/label-state.yml", "tok-input"}) {
		t.Errorf("Open: %v, sent %v", err, m.sent)
	}
}

// TestWithheldToken: a token that is there and may not go is named, with what would let it.
func TestWithheldToken(t *testing.T) {
	m := newMachine(t, assignments("GH_ENTERPRISE_TOKEN"))
	m.git("init", "-q")
	m.git("remote", "add", "origin", "https://evil.example/acme/app.git")
	_, err := setup.Open(t.Context(), m.environment(), setup.Options{})
	var none *setup.NoTokenError
	if !errors.As(err, &none) || !strings.Contains(err.Error(),
		"GH_ENTERPRISE_TOKEN is not sent there unless GH_HOST names that host") ||
		!strings.Contains(none.Remedy(), "export GH_HOST=evil.example") {
		t.Errorf("Open: %v", err)
	}

	if len(m.sent) > 0 {
		t.Errorf("sent %v", m.sent)
	}

	plain := newMachine(t, assignments("LABEL_STATE_API_URL=http://ghes.corp/api/v3 GH_ENTERPRISE_TOKEN"))
	if _, err := setup.Open(t.Context(), plain.environment(), setup.Options{Repo: "acme/app"}); err == nil || strings.Contains(err.Error(), "GH_HOST") {
		t.Errorf("GH_HOST would not help without TLS: %v", err)
	}

	for _, c := range m.ran { // gh answers with a variable for any host
		if c.Name == "gh" && !slices.Contains(c.Env, "GH_ENTERPRISE_TOKEN=") {
			t.Errorf("gh may answer with the token: %v", c.Env)
		}
	}
}

// TestHelperKnowsNoVariables: a credential helper that answers with a variable for whatever host it
// is asked about, as gh does, answers with none that may not go there.
func TestHelperKnowsNoVariables(t *testing.T) {
	for password, want := range map[string]string{"$GH_ENTERPRISE_TOKEN": "", "tok-stored": "git credential"} {
		m := newMachine(t, map[string]string{"GH_ENTERPRISE_TOKEN": "tok-variable"})
		helper := "[credential]\n\thelper = \"!echo username=x; echo password=" + password + " #\"\n"
		if err := os.WriteFile(filepath.Join(m.home, ".gitconfig"), []byte(helper), 0o600); err != nil {
			t.Fatal(err)
		}

		e := m.environment()
		e.Exec = nil
		e.Environ = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + m.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" +
				m.ceiling, "GH_ENTERPRISE_TOKEN=tok-variable",
		}
		from := ""
		s, err := setup.Open(t.Context(), e, setup.Options{Repo: "acme/app", Host: "ghes.corp"})
		if err == nil {
			from = s.TokenFrom
		}

		if from != want || want == "" && len(m.sent) > 0 {
			t.Errorf("helper with %s: token from %q, %v; sent %v", password, from, err, m.sent)
		}
	}
}
