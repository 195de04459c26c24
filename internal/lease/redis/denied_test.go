package redis

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
)

// TestDenied: who may not write is told so by every step that writes, and nothing is taken.
func TestDenied(t *testing.T) {
	for name, c := range map[string]struct {
		user, password string
		limit          func(context.Context, *goredis.Client) error // of a server that may do everything
	}{
		"no password": {limit: func(ctx context.Context, admin *goredis.Client) error {
			return admin.ConfigSet(ctx, "requirepass", "secret").Err()
		}},
		"wrong password": {user: "default", password: "wrong", limit: func(ctx context.Context, admin *goredis.Client) error {
			return admin.ConfigSet(ctx, "requirepass", "secret").Err()
		}},
		"reader": {user: "reader", password: "secret", limit: func(ctx context.Context, admin *goredis.Client) error {
			return admin.Do(ctx, "ACL", "SETUSER", "reader", "on", ">secret", "~label-state:*", "+@read", "+eval", "+evalsha", "+time").Err()
		}},
		"replica": {limit: func(ctx context.Context, admin *goredis.Client) error {
			return admin.Do(ctx, "REPLICAOF", "127.0.0.1", "1").Err()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			options, _ := serve(t)
			if err := c.limit(t.Context(), connect(t, options)); err != nil {
				t.Fatal(err)
			}
			login := *options
			login.Username, login.Password = c.user, c.password
			s := New(connect(t, &login))
			a := lease.Ask{Issue: claim.Issue{Owner: "acme", Repo: "app", Number: 7}, Worker: claim.Worker{Codename: "ann", FiringID: "1"}, TTL: time.Minute}
			_, acquired := s.Acquire(t.Context(), a)
			for step, err := range map[string]error{"acquire": acquired, "probe": s.Probe(t.Context(), a.Issue)} {
				var denied *lease.DeniedError
				if !errors.As(err, &denied) || denied.Remedy == "" {
					t.Errorf("%s: %v, want that it is denied, with a remedy", step, err)
				}
			}
		})
	}
}

// TestLiteral: what Redis would take for a pattern in the name of a repository stands for itself.
func TestLiteral(t *testing.T) {
	options, _ := serve(t)
	c := connect(t, options)
	for _, key := range []string{`a*b`, `a[xy]b`, `a?b`, `a\b`} {
		if err := c.Set(t.Context(), key, 1, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if got := c.Keys(t.Context(), literal(key)).Val(); fmt.Sprint(got) != fmt.Sprint([]string{key}) {
			t.Errorf("%s: found %q", key, got)
		}
	}
}
