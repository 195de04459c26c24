package redis

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
)

// TestDenied: who may not write is told so by every step that writes, and nothing is taken.
func TestDenied(t *testing.T) {
	for name, c := range map[string]struct {
		user, password string
		limit          []any // a command to a server that may do everything
	}{
		"no password":    {limit: []any{"CONFIG", "SET", "requirepass", "secret"}},
		"wrong password": {user: "default", password: "wrong", limit: []any{"CONFIG", "SET", "requirepass", "secret"}},
		"reader": {user: "reader", password: "secret", limit: []any{
			"ACL", "SETUSER", "reader", "on", ">secret", "~label-state:*", "+@read", "+eval", "+evalsha", "+time",
		}},
		"replica": {limit: []any{"REPLICAOF", "127.0.0.1", "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			dial, _ := serve(t)
			must(t, client(t, dial), c.limit[0].(string), c.limit[1:]...)
			s := New(client(t, dial, redis.DialUsername(c.user), redis.DialPassword(c.password)))
			a := lease.Ask{
				Issue:  claim.Issue{Owner: "acme", Repo: "app", Number: 7},
				Worker: claim.Worker{Codename: "ann", FiringID: "1"}, TTL: time.Minute,
			}
			_, acquired := s.Acquire(t.Context(), a)
			for step, err := range map[string]error{"acquire": acquired, "probe": s.Probe(t.Context(), a.Issue)} {
				var denied *lease.DeniedError
				if !errors.As(err, &denied) || denied.Remedy == "" || denied.Err == nil {
					t.Errorf("%s: %v, want that it is denied, with a remedy", step, err)
				}
			}
		})
	}
}

// TestNamed: by its code an answer is that the login may not write, or is not.
func TestNamed(t *testing.T) {
	for text, want := range map[string]string{
		"NOAUTH Authentication required.": "into the URL", "WRONGPASS no": "into the URL", "NOPERM no": "into the URL",
		"ERR The user executing the script can't run this command": "into the URL",
		"READONLY no": "name the primary", "ERR no": "", "LOADING NOAUTH": "",
	} {
		var denied *lease.DeniedError
		remedy := ""
		if errors.As(named(redis.Error(text)), &denied) {
			remedy = denied.Remedy
		}
		if (remedy == "") != (want == "") || !strings.Contains(remedy, want) {
			t.Errorf("%s: %q, want %q", text, remedy, want)
		}
	}
}

// TestLiteral: what Redis would take for a pattern in the name of a repository stands for itself.
func TestLiteral(t *testing.T) {
	dial, _ := serve(t)
	c := client(t, dial)
	for _, key := range []string{`a*b`, `a[xy]b`, `a?b`, `a\b`} {
		must(t, c, "SET", key, 1)
		if got, err := redis.Strings(must(t, c, "KEYS", literal(key)), nil); err != nil ||
			fmt.Sprint(got) != fmt.Sprint([]string{key}) {
			t.Errorf("%s: found %q", key, got)
		}
	}
}
