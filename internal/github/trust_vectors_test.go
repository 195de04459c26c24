package github

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
)

// TestTrustVectors: whose records count, by the configuration, the association and the role alone.
func TestTrustVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/trust.txt")
	if err != nil {
		t.Fatal(err)
	}

	trust, ran := Trust{}, 0
	for n, line := range strings.Split(string(text), "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0] == "#":
		case f[0] == "@trust":
			trust = trustOf(f[1:])
		case len(f) == 5 && f[3] == "->":
			ran++
			c := connect(t, http.DefaultTransport, func(o *Options) { o.Trust = trust })
			a := account{
				repo: claim.Repo{Owner: "acme", Name: "app"}, login: f[0],
				association: strings.ReplaceAll(f[1], "-", ""),
			}
			if f[2] == "untold" {
				c.lack(key(featureRoles, a.repo.String()))
			} else {
				c.noteRole(a.repo, a.login, Role(f[2]))
			}

			if counts, known := c.counts(a); known != (f[4] != "unknown") || counts != (f[4] == "counts") {
				t.Errorf("line %d: %s: counts %t, known %t", n+1, line, counts, known)
			}
		default:
			t.Fatalf("line %d: %q: want LOGIN ASSOCIATION ROLE -> counts|no|unknown", n+1, line)
		}
	}

	if ran < 30 {
		t.Errorf("ran %d cases, want all of them", ran)
	}
}

// trustOf is the default configuration with some settings of it changed.
func trustOf(settings []string) Trust {
	set := config.Default().Trust
	trust := Trust{Logins: set.Logins, Apps: set.Apps, Minimum: Role(set.Permission)}
	for _, s := range settings {
		switch name, value, _ := strings.Cut(s, "="); name {
		case "logins":
			trust.Logins = strings.Split(value, ",")
		case "apps":
			trust.Apps = strings.Split(value, ",")
		case "permission":
			trust.Minimum = Role(value)
		}
	}

	return trust
}
