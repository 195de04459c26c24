package host_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
	"github.com/label-state/label-state/internal/host"
)

var (
	nowhere = host.Defaults{}
	clone   = host.Defaults{Owner: "acme", Repo: "app"}
	org     = host.Defaults{Org: "octo"}
	both    = host.Defaults{Owner: "acme", Repo: "app", Org: "octo"}
	server  = host.Defaults{Owner: "acme", Repo: "app", Hosts: []string{"ghe.example", "127.0.0.1:38211"}}
)

func TestParseIssue(t *testing.T) {
	for _, c := range []struct {
		in   host.Defaults
		ref  string
		want string
	}{
		{nowhere, "acme/app#7", "acme/app#7"},
		{clone, "Octo/zoo#7", "Octo/zoo#7"},
		{clone, "acme/.github#7", "acme/.github#7"},
		{nowhere, "acme/app#9007199254740991", "acme/app#9007199254740991"},
		{clone, "zoo#7", "acme/zoo#7"},
		{org, "zoo#7", "octo/zoo#7"},
		{both, "zoo#7", "octo/zoo#7"},
		{clone, "#7", "acme/app#7"},
		{both, "#7", "acme/app#7"},
		{clone, "7", "acme/app#7"},
		{clone, "github-7", "acme/app#7"},
		{both, "github-7", "acme/app#7"},
		{clone, "9007199254740991", "acme/app#9007199254740991"},
		{nowhere, "https://github.com/acme/app/issues/7", "acme/app#7"},
		{nowhere, "http://www.GitHub.com/acme/app/issues/7/", "acme/app#7"},
		{nowhere, "https://github.com/acme/app/pull/7", "acme/app#7"},
		{nowhere, "https://github.com/acme/app/pull/7/files", "acme/app#7"},
		{nowhere, "https://github.com/acme/app/issues/7#issuecomment-991", "acme/app#7"},
		{nowhere, "https://github.com/acme/app/issues/7?a=b/c", "acme/app#7"},
		{nowhere, "https://ann:secret@github.com/acme/app/issues/7", "acme/app#7"},
		{server, "https://ghe.example/acme/app/issues/7", "acme/app#7"},
		{server, "http://127.0.0.1:38211/acme/app/issues/7", "acme/app#7"},
	} {
		got, err := host.ParseIssue(c.ref, c.in)
		if err != nil || got.String() != c.want {
			t.Errorf("%q is %s, %v, want %s", c.ref, got, err, c.want)
		}
	}
}

func TestParseIssueRefuses(t *testing.T) {
	const forms = "owner/repo#7, repo#7, #7, 7, github-7 or the URL of an issue"
	for _, c := range []struct {
		in          host.Defaults
		ref, reason string
	}{
		{clone, "github-007", forms},
		{clone, "github-github-7", forms},
		{clone, "folder-7", forms},
		{clone, "acme/app#github-7", forms},
		{clone, "", forms},
		{clone, "#", forms},
		{clone, "0", forms},
		{clone, "#0", forms},
		{clone, "#007", forms},
		{clone, "-7", forms},
		{clone, "+7", forms},
		{clone, " 7", forms},
		{clone, "7 ", forms},
		{clone, "7\n", forms},
		{clone, "# 7", forms},
		{clone, "##7", forms},
		{clone, "7.0", forms},
		{clone, "0x7", forms},
		{clone, "1e3", forms},
		{clone, "٧", forms},
		{clone, "9007199254740992", forms},
		{clone, "99999999999999999999999", forms},
		{clone, "seven", forms},
		{clone, "GH-7", forms},
		{clone, "zoo#0", forms},
		{clone, "zoo#", forms},
		{clone, "zoo#7#8", forms},
		{clone, "zoo #7", forms},
		{clone, "acme/zoo", forms},
		{clone, "acme/zoo/7", forms},
		{clone, "/zoo#7", forms},
		{clone, "acme/#7", forms},
		{clone, "/#7", forms},
		{clone, "a/b/c#7", forms},
		{clone, "../zoo#7", forms},
		{clone, "acme/..#7", forms},
		{clone, "..#7", forms},
		{clone, "-acme/zoo#7", forms},
		{clone, "acme/zöo#7", forms},
		{clone, "acme/zoo\x00#7", forms},
		{clone, "github.com/acme/app/issues/7", forms},
		{clone, "git@github.com:acme/app#7", forms},
		{clone, "https://github.com/acme/app", forms},
		{clone, "https://github.com/acme/app/issues", forms},
		{clone, "https://github.com/acme/app/issues/", forms},
		{clone, "https://github.com/acme/app/issues/0", forms},
		{clone, "https://github.com/acme/app/issues/7x", forms},
		{clone, "https://github.com/acme/app/pulls/7", forms},
		{clone, "https://github.com/acme/app/discussions/7", forms},
		{clone, "https://github.com/acme/app.git#7", forms},
		{clone, "https://github.com//app/issues/7", forms},
		{clone, "https://github.com/acme/../issues/7", forms},
		{clone, "ssh://git@github.com/acme/app/issues/7", forms},
		{clone, "https://ann:secret@github.com/acme/app", forms},
		{clone, "https://secret/acme/app", forms},
		{clone, "secret@github.com/acme/app", forms},
		{clone, "https://gitlab.com/acme/app/issues/7", "not on github.com"},
		{clone, "https://secret/acme/app/issues/7", "not on github.com"},
		{clone, "https://github.com.evil.example/acme/app/issues/7", "not on github.com"},
		{server, "https://github.com/acme/app/issues/7", "not on ghe.example or 127.0.0.1:38211"},
		{server, "https://ghe.example:8443/acme/app/issues/7", "not on ghe.example or 127.0.0.1:38211"},
		{nowhere, "7", "no repository"},
		{nowhere, "#7", "no repository"},
		{org, "#7", "no repository"},
		{nowhere, "zoo#7", "no owner"},
		{host.Defaults{Org: "-x"}, "zoo#7", forms},
		{host.Defaults{Owner: "..", Repo: "app"}, "#7", forms},
	} {
		got, err := host.ParseIssue(c.ref, c.in)
		if !answer.Is(err, answer.Usage) || got != (claim.Issue{}) {
			t.Errorf("%q is %s, %v, want an error", c.ref, got, err)
		} else if !strings.HasPrefix(err.Error(), "read issue ") || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%q: error %q does not say %q", c.ref, err, c.reason)
		}

		silent(t, c.ref, err)
	}
}

func TestReferenceErrorIsShortAndPlain(t *testing.T) {
	_, err := host.ParseIssue("\x1b[31m::error::"+strings.Repeat("x", 1<<20), clone)
	if err == nil || len(err.Error()) > 200 || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("error = %.300q", err)
	}

	_, err = host.ParseIssue("\x1b[31m"+strings.Repeat("x", 1<<20), clone)
	if err == nil || len(err.Error()) > 200 || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("error = %.300q", err)
	}

	_, err = host.ParseIssue("app-7", clone)
	if want := `read issue "app-7": expected owner/repo#7, repo#7, #7, 7, github-7 or the URL of an issue`; err == nil ||
		err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}

func TestParseRepo(t *testing.T) {
	for _, c := range []struct {
		in        host.Defaults
		ref, want string
	}{
		{nowhere, "acme/app", "acme/app"},
		{clone, "zoo", "acme/zoo"},
		{both, "zoo", "octo/zoo"},
		{nowhere, "https://github.com/acme/app", "acme/app"},
		{nowhere, "https://ann:secret@github.com/acme/app.git", "acme/app"},
		{nowhere, "git@github.com:acme/app.git", "acme/app"},
		{nowhere, "github.com/acme/app", "acme/app"},
		{server, "ghe.example/acme/app", "acme/app"},
		{server, "git@ghe.example:acme/app", "acme/app"},
		{nowhere, "zoo", ""},
		{clone, "", ""},
		{clone, "/", ""},
		{clone, "acme/", ""},
		{clone, "/app", ""},
		{clone, "a/b/c/d", ""},
		{clone, "acme/app#7", ""},
		{clone, "acme app", ""},
		{clone, "-x", "acme/-x"},
		{clone, "..", ""},
		{clone, "https://gitlab.com/acme/app", ""},
		{clone, "https://secret@ghe.example/acme/app", ""},
		{server, "https://github.com/acme/app", ""},
		{clone, "ghe.example/acme/app", ""},
	} {
		owner, repo, err := host.ParseRepo(c.ref, c.in)
		switch {
		case c.want != "" && (err != nil || owner+"/"+repo != c.want):
			t.Errorf("%q is %s/%s, %v, want %s", c.ref, owner, repo, err, c.want)
		case c.want == "" && (!answer.Is(err, answer.Usage) || !strings.HasPrefix(err.Error(), "read repository ") || owner+repo != ""):
			t.Errorf("%q is %s/%s, %v, want an error", c.ref, owner, repo, err)
		}

		silent(t, c.ref, err)
	}
}

func FuzzParseIssue(f *testing.F) {
	for _, ref := range []string{
		"acme/app#7", "app#7", "#7", "7", "https://github.com/acme/app/issues/7",
		"https://github.com/acme/app/pull/7/files#x", "a/b#c",
	} {
		f.Add(ref)
	}

	f.Fuzz(func(t *testing.T, ref string) {
		for _, text := range []string{ref, "https://ann:secret@" + ref, "https://secret@github.com/" + ref} {
			issue, err := host.ParseIssue(text, both)
			silent(t, text, err)
			if err != nil {
				continue
			}

			if !closing.ValidRepo(issue.In()) || issue.Number < 1 {
				t.Errorf("%q is %+v", text, issue)
			}

			if again, err := host.ParseIssue(fmt.Sprint(issue), nowhere); err != nil || again != issue {
				t.Errorf("%q is %s, then %s, %v", text, issue, again, err)
			}
		}
	})
}
