package host_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
	"github.com/label-state/label-state/internal/host"
)

func remoteCases(t testing.TB) map[string]string {
	t.Helper()
	content, err := os.ReadFile("testdata/remotes.txt")
	if err != nil {
		t.Fatal(err)
	}

	cases := map[string]string{}
	for i, line := range strings.Split(string(content), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		want, url, ok := strings.Cut(line, " | ")
		if _, twice := cases[url]; !ok || twice {
			t.Fatalf("remotes.txt:%d: want WANTED | URL, once", i+1)
		}

		cases[url] = want
	}

	return cases
}

func TestParseRemote(t *testing.T) {
	for url, want := range remoteCases(t) {
		got := "-"
		r, err := host.ParseRemote(url)
		if err == nil {
			got = r.Host + " " + r.Owner + "/" + r.Repo
		}

		if got != want {
			t.Errorf("%q is %s, want %s", url, got, want)
		}
		var not *host.NotGitHubError
		if err != nil && (!errors.As(err, &not) || r != host.Remote{}) {
			t.Errorf("%q: %v of type %T beside %+v", url, err, err, r)
		}

		silent(t, url, err)
	}
}

// silent checks that an error says nothing of what may stand before an @.
func silent(t testing.TB, url string, err error) {
	t.Helper()
	if err != nil && strings.Contains(url, "secret") && strings.Contains(err.Error(), "secret") {
		t.Errorf("%q: error %q shows the token", url, err)
	}
}

func TestSSHHost(t *testing.T) {
	for url, want := range map[string]string{
		"git@github.com:acme/app.git":          "github.com",
		"work:acme/app":                        "work",
		"[git@work:2222]:acme/app":             "work",
		"Work:acme/app":                        "Work",
		"ssh://git@work:2222/acme/app":         "work",
		"git+ssh://git@ssh.github.com:443/a/b": "ssh.github.com",
		"https://github.com/acme/app":          "",
		"git://github.com/acme/app":            "",
		"/srv/git/app":                         "",
		"-oProxyCommand=x:acme/app":            "",
		"ssh://-oProxyCommand=x/acme/app":      "",
	} {
		if got, ok := host.SSHHost(url); ok != (want != "") || ok && got != want {
			t.Errorf("SSHHost(%q) = %q, %v, want %q", url, got, ok, want)
		}
	}
}

func TestRemoteOn(t *testing.T) {
	alias, err := host.ParseRemote("work:acme/app.git")
	if err != nil {
		t.Fatal(err)
	}

	for name, want := range map[string]string{
		"github.com": "github.com", "SSH.GitHub.com": "github.com",
		"ghe.example": "ghe.example",
	} {
		if r, err := alias.On(name); err != nil || r != (host.Remote{Host: want, Owner: "acme", Repo: "app"}) {
			t.Errorf("on %q: %+v, %v", name, r, err)
		}
	}

	for _, name := range []string{"gitlab.com", "", "-x", "a b"} {
		if r, err := alias.On(name); err == nil {
			t.Errorf("on %q: %+v, want an error", name, r)
		}
	}
}

// TestRemoteForms writes one repository in every form that git takes.
func TestRemoteForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := host.Remote{
			Host:  rapid.SampledFrom([]string{"github.com", "octo.ghe.com", "ghe.example"}).Draw(t, "host"),
			Owner: rapid.StringMatching(`[a-zA-Z0-9](-?[a-zA-Z0-9]){0,18}`).Draw(t, "owner"),
			Repo:  rapid.StringMatching(`[a-zA-Z0-9._-]{0,60}[a-zA-Z0-9]`).Filter(ordinary).Draw(t, "repo"),
		}
		user := rapid.SampledFrom([]string{"", "git@", "x-access-token:secret@", "a@b:c@"}).Draw(t, "user")
		name := rapid.SampledFrom([]string{want.Host, strings.ToUpper(want.Host)}).Draw(t, "case")
		path := want.Owner + "/" + want.Repo + rapid.SampledFrom([]string{"", ".git", "/", ".git/"}).Draw(t, "end")
		url := rapid.SampledFrom([]string{
			"https://" + user + name + "/" + path, "https://" + user + name + ":443/" + path, "http://" + user + name +
				"/" + path,
			"ssh://" + user + name + "/" + path, "ssh://" + user + name + ":2222/" + path, "git+ssh://" + user + name +
				"/" + path,
			"git://" + name + "/" + path, "git@" + name + ":" + path, name + ":" + path, "[git@" + name +
				":22]:" + path,
		}).Draw(t, "url")

		if got, err := host.ParseRemote(url); err != nil || got != want {
			t.Fatalf("%q is %+v, %v, want %+v", url, got, err, want)
		}
	})
}

func ordinary(repo string) bool {
	return !strings.HasSuffix(repo, ".git") && !strings.HasSuffix(repo, ".wiki")
}

func FuzzParseRemote(f *testing.F) {
	for url := range remoteCases(f) {
		f.Add(url)
	}

	f.Fuzz(func(t *testing.T, url string) {
		for _, url := range []string{url, "https://ann:secret@" + url, "secret@" + url} {
			r, err := host.ParseRemote(url)
			silent(t, url, err)
			if err == nil && (!closing.ValidRepo(claim.Repo{Owner: r.Owner, Name: r.Repo}) ||
				strings.ToLower(r.Host) != r.Host) {
				t.Errorf("%q is %+v", url, r)
			}

			if err == nil {
				scheme := "https://"
				if strings.HasSuffix(r.Host, ":443") {
					scheme = "http://"
				}

				again, err := host.ParseRemote(scheme + r.Host + "/" + r.Owner + "/" + r.Repo + ".git")
				if err != nil || again != r {
					t.Errorf("%q is %+v, then %+v, %v", url, r, again, err)
				}
			}

			if name, ok := host.SSHHost(url); ok &&
				(name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, " @/\n")) {
				t.Errorf("SSHHost(%q) = %q", url, name)
			}
		}
	})
}
