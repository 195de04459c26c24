package redis_test

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"testing"

	labelstate "github.com/label-state/label-state"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/lease/redis"
)

// TestStore: a repository with claim.lease: redis needs the store, and it is asked at the address
// given, whatever the variable says.
func TestStore(t *testing.T) {
	server, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{{Login: "bot", Token: "tok", Permissions: map[string]string{"acme/app": "write"}}},
		Repos: []githubsim.SeedRepo{{Name: "acme/app", Issues: []githubsim.SeedIssue{{
			Number: 1,
			Title:  "Work",
			Author: "bot",
			Labels: []string{labelstate.LabelImplement},
		}}, Files: map[string]string{
			".github/label-state.yml": "version: 1\nclaim: {lease: redis}\nlease: {redis: {url_env: LABEL_STATE_REDIS_URL}}\n",
		}}},
	}, githubsim.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { listener.Close() })
	asked := make(chan struct{}, 100)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			asked <- struct{}{}
			conn.Close()
		}
	}()

	t.Setenv("LABEL_STATE_REDIS_URL", "redis://127.0.0.1:1")
	claim := func(stores ...labelstate.Store) error {
		c, err := labelstate.Open(t.Context(), labelstate.Options{
			Repo:   "acme/app",
			Token:  "tok",
			API:    "https://api.github.com",
			HTTP:   server.Transport(),
			Stores: stores,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, err = c.Claim(t.Context(), 1, labelstate.ClaimOptions{Codename: "lucius"})

		return err
	}

	if err := claim(); !errors.Is(err, labelstate.ErrInvalid) || !strings.Contains(err.Error(), "lease/redis") {
		t.Errorf("without the store: %v", err)
	}

	if err := claim(redis.Store("redis://"+listener.Addr().String(), nil)); err == nil ||
		errors.Is(err, labelstate.ErrInvalid) || errors.Is(err, labelstate.ErrHeld) {
		t.Errorf("with a store that hangs up: %v", err)
	}

	if len(asked) == 0 {
		t.Error("the address was not asked")
	}

	if err := claim(redis.Store("", nil)); err == nil || !strings.Contains(err.Error(), "redis") {
		t.Errorf("without an address: %v", err)
	}

	// the login of this machine's is for the address that was given with it
	t.Setenv("LABEL_STATE_REDIS_URL", "redis://"+listener.Addr().String())
	o := labelstate.FromEnvironment()
	o.Repo, o.Token, o.API, o.HTTP = "acme/app", "tok", "https://api.github.com", server.Transport()
	o.Stores = []labelstate.Store{redis.Store("", &tls.Config{})}
	c, err := labelstate.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()

	for len(asked) > 0 {
		<-asked
	}
	if _, err := c.Claim(t.Context(), 1, labelstate.ClaimOptions{Codename: "lucius"}); err == nil || len(asked) > 0 {
		t.Errorf("a login without its address: %v, asked the variable's %d times", err, len(asked))
	}
}

// TestStoresOfOthers: a store that is not this module's is refused.
func TestStoresOfOthers(t *testing.T) {
	_, err := labelstate.Open(t.Context(),
		labelstate.Options{Repo: "acme/app", Token: "tok", Stores: []labelstate.Store{strange{}}})
	if !errors.Is(err, labelstate.ErrInvalid) {
		t.Error(err)
	}
}

type strange struct{}

func (strange) Kind() string { return "redis" }
