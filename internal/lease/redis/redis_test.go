package redis

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/leasetest"
)

// TestExam sits the exam on a real Redis that is killed in the middle.
func TestExam(t *testing.T) { leasetest.Exam(t, open) }

func open(t *testing.T) leasetest.Bench {
	dial, server := serve(t)
	wire := &leasetest.Wire{}
	admin := client(t, dial)
	return leasetest.Bench{
		Client:  func(time.Duration) lease.Store { return New(spoiler{client(t, dial), wire}) },
		Advance: func(d time.Duration) { age(t, admin, d) },
		Wire:    wire,
		Restart: func() { server.Kill(); server.Run() },
		TTL:     30 * time.Minute,
	}
}

// A dialer makes a connection with a login of the server's.
type dialer func(ctx context.Context, login ...redis.DialOption) (redis.Conn, error)

// serve starts a server that writes everything down before it answers.
func serve(t *testing.T) (dialer, *leasetest.Program) {
	t.Helper()
	path := leasetest.Find(t, os.Getenv("LABEL_STATE_REQUIRE"), "redis", "redis-server")
	port := leasetest.FreePorts(t, 1)[0]
	dial := func(ctx context.Context, login ...redis.DialOption) (redis.Conn, error) {
		return redis.DialContext(ctx, "tcp", leasetest.Loopback(port), login...)
	}

	probe := client(t, dial)
	ready := func() error {
		_, err := probe.Do(context.Background(), "PING")
		return err
	}

	return dial, leasetest.Start(t, ready, path,
		"--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", t.TempDir(), "--save", "",
		"--appendonly", "yes", "--appendfsync", "always")
}

// client connects as one more process would.
func client(t *testing.T, dial dialer, login ...redis.DialOption) Client {
	c := connect(func(ctx context.Context) (redis.Conn, error) { return dial(ctx, login...) })
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// must sends a command that succeeds.
func must(t *testing.T, c Client, command string, args ...any) any {
	t.Helper()
	answer, err := c.Do(context.WithoutCancel(t.Context()), command, args...)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return answer
}

// age lets every lease and every record of an end be that much older.
func age(t *testing.T, c Client, d time.Duration) {
	t.Helper()
	all, err := redis.Strings(must(t, c, "KEYS", "label-state:*"), nil)
	if err != nil {
		t.Fatal(err)
	}

	for _, key := range all {
		left, err := redis.Int64(must(t, c, "PTTL", key), nil)
		if err != nil {
			t.Fatal(err)
		}

		if left >= 0 {
			must(t, c, "PEXPIRE", key, left-d.Milliseconds())
		}
	}
}

// A spoiler puts the wire between a client and the server.
type spoiler struct {
	Client
	wire *leasetest.Wire
}

// Do implements Client.
func (s spoiler) Do(ctx context.Context, command string, args ...any) (answer any, err error) {
	answered := false
	err = s.wire.Carry(func() error {
		if answered { // the request is late, and the caller has gone
			_, err := s.Client.Do(context.WithoutCancel(ctx), command, args...)
			return err
		}

		var err error
		answer, err = s.Client.Do(ctx, command, args...)
		return err
	})
	answered = true

	return answer, err
}

// TestRealTime: no test of this project's clocks, but one of Redis: a lease ends by itself, and not
// before its time.
func TestRealTime(t *testing.T) {
	dial, _ := serve(t)
	leasetest.RealTime(t, New(client(t, dial)), 300*time.Millisecond)
}

// TestKeys are a promise to whoever looks into the server or shares it.
func TestKeys(t *testing.T) {
	dial, _ := serve(t)
	c := client(t, dial)
	s := New(c)
	a := lease.Ask{
		Issue:  claim.Issue{Owner: "Acme", Repo: "App", Number: 7},
		Worker: claim.Worker{Codename: "a b", FiringID: "x:y"}, Nonce: "n", TTL: time.Minute,
	}
	l, err := s.Acquire(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}

	if got := text(t, c, "label-state:{acme/app#7}"); got != "1 60000 a+b:x%3Ay n" {
		t.Errorf("lease = %q", got)
	}

	if got := text(t, c, "label-state:{acme/app#7}:token"); got != "1" ||
		must(t, c, "PTTL", "label-state:{acme/app#7}:token") != int64(-1) {
		t.Errorf("token = %q, want 1 without an end", got)
	}

	if err := s.Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	left, err := redis.Int64(must(t, c, "PTTL", "label-state:{acme/app#7}:ended:a+b:x%3Ay"), nil)
	if err != nil {
		t.Fatal(err)
	}

	ended := time.Duration(left) * time.Millisecond
	if must(t, c, "EXISTS", "label-state:{acme/app#7}") != int64(0) || ended <= 23*time.Hour || ended > 24*time.Hour {
		t.Errorf("after the release: ended for %s", ended)
	}

	if _, err := s.Acquire(t.Context(), a); !errors.Is(err, lease.ErrLost) {
		t.Errorf("acquire after the release by the same firing: %v, want that it is over", err)
	}

	a.Worker.FiringID, a.Nonce = "y", "n" // a process that gives up what it has not
	err = s.Release(t.Context(), a.Bare())
	if _, late := s.Acquire(t.Context(), a); err != nil || !errors.Is(late, lease.ErrLost) {
		t.Errorf("acquire by a process that gave up: %v, %v, want that it is over", err, late)
	}
	a.Nonce, a.TTL = "m", time.Minute+time.Nanosecond
	if l, err := s.Acquire(t.Context(), a); err != nil || l.TTL != time.Minute+time.Millisecond {
		t.Errorf("acquire by another process of its worker: %+v, %v, want no less time than it asked for", l, err)
	}
	must(t, c, "SET", "label-state:{acme/app#7}", "nonsense")
	a.Worker.FiringID = "z"
	if l, err := s.Acquire(t.Context(), a); err == nil {
		t.Errorf("acquired over somebody else's value: %+v", l)
	}

	if l, held, err := s.Look(t.Context(), a.Issue); err == nil {
		t.Errorf("look at somebody else's value: %+v, %t, want an error", l, held)
	}
}

// saying is a server that answers every script so.
type saying []any

func (s saying) Do(context.Context, string, ...any) (any, error) { return []any(s), nil }

func (s saying) Close() error { return nil }

// TestValues: what a key holds is a lease as a whole, or none that anybody knows of.
func TestValues(t *testing.T) {
	issue := claim.Issue{Owner: "acme", Repo: "app", Number: 7}
	want := lease.Lease{
		Issue:   issue,
		Worker:  claim.Worker{Codename: "a b", FiringID: "x:y"},
		Nonce:   "n",
		TTL:     time.Minute,
		Token:   2,
		Expires: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC),
		Tip:     "2 60000 a+b:x%3Ay n",
	}
	until := strconv.FormatInt(want.Expires.UnixMilli(), 10)
	if got, held, err := New(saying{want.Tip, until}).Look(t.Context(), issue); got != want || !held || err != nil {
		t.Errorf("look: %+v, %t, %v, want %+v", got, held, err, want)
	}

	for _, answer := range []saying{
		{want.Tip},
		{want.Tip, "soon"},
		{"2 60000", until},
		{"2 60000 a:b n more", until},
		{"x 60000 a:b", until},
		{"0 60000 a:b", until},
		{"2 x a:b", until},
		{"2 60000 a%zz:b", until},
	} {
		if got, held, err := New(answer).Look(t.Context(), issue); err == nil || held ||
			!strings.HasPrefix(err.Error(), "look at acme/app#7: ") {
			t.Errorf("%q: %+v, %t, %v", answer, got, held, err)
		}
	}
}

func text(t *testing.T, c Client, key string) string {
	t.Helper()
	value, err := redis.String(must(t, c, "GET", key), nil)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestOpen(t *testing.T) {
	for _, address := range []string{
		"http://:secret@host", "redis://:secret@host:port:x", "secret",
		"redis://:secret@h/notanumber", "redis://:secret@h/65536", "",
		"unix://:secret@", "unix://:secret@h/run/redis.sock", "redis://:secret@", "redis://:secret@:6379",
	} {
		if _, err := Open(nil, address); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("open %q: %v, want an error without the password", address, err)
		}
	}

	s, err := Open(nil, "rediss://user:secret@redis.example:6380/3")
	if err != nil {
		t.Fatal(err)
	}

	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
