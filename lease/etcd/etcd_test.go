package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	labelstate "github.com/label-state/label-state"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/lease/etcd"
)

// TestStore: a repository with claim.lease: etcd needs the store; its members are asked, and by no login that is not for them.
func TestStore(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	asked := make(chan struct{}, 1000)
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
	settings := fmt.Sprintf("version: 1\nclaim: {lease: etcd}\nlease: {etcd: {endpoints: ['http://%s'], auth_env: LABEL_STATE_ETCD}}\n", listener.Addr())
	server, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{{Login: "bot", Token: "tok", Permissions: map[string]string{"acme/app": "write"}}},
		Repos: []githubsim.SeedRepo{{
			Name:   "acme/app",
			Issues: []githubsim.SeedIssue{{Number: 1, Title: "Work", Author: "bot", Labels: []string{labelstate.LabelImplement}}},
			Files:  map[string]string{".github/label-state.yml": settings},
		}},
	}, githubsim.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("LABEL_STATE_ETCD", "user:password@127.0.0.1")
	claim := func(stores ...labelstate.Store) error {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		c, err := labelstate.Open(ctx, labelstate.Options{
			Repo: "acme/app", Token: "tok", API: "https://api.github.com", HTTP: server.Transport(), Stores: stores,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, err = c.Claim(ctx, 1, labelstate.ClaimOptions{Codename: "lucius"})
		return err
	}
	if err := claim(); !errors.Is(err, labelstate.ErrInvalid) || !strings.Contains(err.Error(), "lease/etcd") {
		t.Errorf("without the store: %v", err)
	}
	for login, want := range map[string]string{"": "want USER:PASSWORD@HOST,HOST", "user:password@etcd.example": "it is not for"} {
		if err := claim(etcd.Store(login, nil)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "password@") {
			t.Errorf("with the login %q: %v", login, err)
		}
	}
	if n := len(asked); n > 0 {
		t.Errorf("the members were asked %d times with a login that is not for them", n)
	}
	if err := claim(etcd.Store("user:password@127.0.0.1", nil)); err == nil || errors.Is(err, labelstate.ErrInvalid) || errors.Is(err, labelstate.ErrHeld) {
		t.Errorf("with a member that hangs up: %v", err)
	}
	if len(asked) == 0 {
		t.Error("the member was not asked")
	}
}
