package setup_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/setup"
)

const redisFile = "claim: {lease: redis}\nlease: {redis: {url_env: MY_REDIS}}\n"

// A nobody is a store in which nobody has anything.
type nobody struct{}

func (nobody) Acquire(context.Context, lease.Ask) (lease.Lease, error) { return lease.Lease{}, nil }
func (nobody) Renew(context.Context, lease.Lease) (lease.Lease, error) { return lease.Lease{}, nil }
func (nobody) Release(context.Context, lease.Lease) error              { return nil }
func (nobody) Look(context.Context, claim.Issue) (lease.Lease, bool, error) {
	return lease.Lease{}, false, nil
}
func (nobody) Close() error { return errClosed }

// errClosed is that a store has been closed.
var errClosed = errors.New("closed")

// TestStoreIsOpened: the store is opened at the URL in the variable that the configuration names.
// Secrets are not in the repository.
func TestStoreIsOpened(t *testing.T) {
	for name, c := range map[string]struct {
		value string // of the variable
		want  string // the URL, or a part of the error
	}{
		"set":          {"redis://:secret@r.example", "redis://:secret@r.example"},
		"unset":        {"", "use MY_REDIS: it is not set"},
		"of a service": {"redis://r.example", "redis://service.example with its own"},
		"no URL of a store": {
			"http://:secret@r.example",
			"use MY_REDIS: " + lease.ErrAddress.Error(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, map[string]string{"GH_TOKEN": "tok", "MY_REDIS": c.value})
			m.files["api.github.com acme/app"] = redisFile
			got := ""
			env := m.environment()
			env.Stores = map[string]lease.Opener{lease.Redis: func(_ *tls.Config, url string) (lease.Remote, error) {
				if !strings.HasPrefix(url, "redis://") {
					return nil, lease.ErrAddress
				}

				got = url
				return nobody{}, nil
			}}
			if name == "of a service" {
				env.Services = map[string]lease.Service{lease.Redis: {
					URL: "redis://service.example",
					TLS: &tls.Config{ServerName: "its own"},
					Open: func(secure *tls.Config, url string) (lease.Remote, error) {
						got = url + " with " + secure.ServerName
						return nobody{}, nil
					},
				}}
			}
			s, err := setup.Open(t.Context(), env, setup.Options{Repo: "acme/app"})
			if err != nil || got != "" {
				t.Fatalf("open: %v, and the store: %q", err, got)
			}

			_, _, err = s.Store.Look(t.Context(), claim.Issue{Owner: "acme", Repo: "app", Number: 7})
			if err != nil {
				got = err.Error()
				if !setup.Misconfigured(err) || strings.Contains(got, "secret") {
					t.Errorf("error %v, want a wrong setting, and no secret", err)
				}
			}

			if !strings.HasPrefix(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}

			opened := err == nil
			if err := s.Close(); errors.Is(err, errClosed) != opened {
				t.Errorf("closed: %v; it was opened: %t", err, opened)
			}
		})
	}
}

// TestStoreIsNotLinked: nothing decides in place of a store that the program does not have.
func TestStoreIsNotLinked(t *testing.T) {
	m := newMachine(t, map[string]string{"GH_TOKEN": "tok", "MY_REDIS": "redis://r.example"})
	m.files["api.github.com acme/app"] = redisFile
	dry, err := setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app", DryRun: true})
	if err != nil || !dry.Ledger.IsStrict() {
		t.Errorf("in a dry run the log decides, or %v", err)
	}
	s, err := setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app"})
	if err != nil {
		t.Fatal(err)
	}

	if _, _, err := s.Store.Look(t.Context(), claim.Issue{Owner: "acme", Repo: "app", Number: 7}); !errors.Is(err,
		lease.ErrNotLinked) {
		t.Errorf("look: %v, want that it is not linked", err)
	}

	if !s.Ledger.IsStrict() {
		t.Error("the log decides")
	}
}

// TestStoreIsTheRepositorys: no file of the caller's names another store than the default branch,
// and what cannot be read is unknown.
func TestStoreIsTheRepositorys(t *testing.T) {
	for name, c := range map[string]struct{ own, there, want string }{
		"nothing is said": {"hook: {timeout: 2s}", "on_reopen: requeue", "comments"},
		"only there":      {"hook: {timeout: 2s}", "claim: {lease: refs}", "refs"},
		"both references": {"claim: {lease: refs}", "claim: {lease: refs}", "refs"},
		"only the caller": {
			"claim: {lease: refs}", "",
			`mine.yml:1: claim.lease: is "refs", and on the default branch of acme/app it is "comments"`,
		},
		"the caller goes back": {
			"claim: {lease: comments}", "claim: {lease: refs}",
			`mine.yml:1: claim.lease: is "comments", and on the default branch of acme/app it is "refs"`,
		},
		"another server": {
			redisFile, strings.Replace(redisFile, "MY_", "OUR_", 1),
			`mine.yml:2: lease.redis.url_env: is "MY_REDIS", and on the default branch of acme/app it is "OUR_REDIS"`,
		},
		"there it is broken": {"hook: {timeout: 2s}", "guard: maybe", "acme/app:.github/label-state.yml:1: guard"},
		"may not be read": {
			"hook: {timeout: 2s}", "forbidden",
			"read .github/label-state.yml of acme/app: not permitted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, map[string]string{"GH_TOKEN": "tok"})
			m.write("mine.yml", c.own)
			if c.there != "" {
				m.files["api.github.com acme/app"] = c.there
			}

			s, err := setup.Open(t.Context(), m.environment(), setup.Options{Repo: "acme/app", Config: "mine.yml"})
			got := fmt.Sprint(err)
			if err == nil {
				got = s.Config.Claim.Lease
			}

			if !strings.HasPrefix(got, c.want) || len(m.sent) > 2 { // the file, and where there is none the repository
				t.Errorf("got  %s\nwant %s; sent %v", got, c.want, m.sent)
			}
		})
	}
}
