package redis

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/leasetest"
)

// TestExam sits the exam on a real Redis that is killed in the middle.
func TestExam(t *testing.T) { leasetest.Exam(t, open) }

func open(t *testing.T) leasetest.Bench {
	options, server := serve(t)
	wire := &leasetest.Wire{}
	admin := connect(t, options)
	return leasetest.Bench{
		Client: func(time.Duration) lease.Store {
			c := connect(t, options)
			c.AddHook(spoiler{wire})
			return New(c)
		},
		Advance: func(d time.Duration) { age(t, admin, d) },
		Wire:    wire,
		Restart: func() { server.Kill(); server.Run() },
		TTL:     30 * time.Minute,
	}
}

// serve runs a Redis that writes every change to disk before it answers.
func serve(t *testing.T) (*goredis.Options, *leasetest.Program) {
	t.Helper()
	path := leasetest.Find(t, os.Getenv("LABEL_STATE_REQUIRE"), "redis", "redis-server")
	port := leasetest.FreePorts(t, 1)[0]
	options := &goredis.Options{Addr: leasetest.Loopback(port), Dialer: dial}
	probe := connect(t, options)
	ready := func() error { return probe.Ping(context.Background()).Err() }
	return options, leasetest.Start(t, ready, path,
		"--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", t.TempDir(), "--save", "",
		"--appendonly", "yes", "--appendfsync", "always")
}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, address)
}

func connect(t *testing.T, options *goredis.Options) *goredis.Client {
	c := goredis.NewClient(options)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// age makes every key as old as it will be after d, as Redis does it by itself.
func age(t *testing.T, c *goredis.Client, d time.Duration) {
	t.Helper()
	all := c.Scan(t.Context(), 0, "label-state:*", 1000).Iterator()
	for all.Next(t.Context()) {
		left := c.PTTL(t.Context(), all.Val()).Val()
		if left < 0 {
			continue
		}
		if err := c.PExpire(t.Context(), all.Val(), left-d).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := all.Err(); err != nil {
		t.Fatal(err)
	}
}

// spoiler puts the wire between the client's commands and its connections.
type spoiler struct{ *leasetest.Wire }

func (s spoiler) DialHook(next goredis.DialHook) goredis.DialHook { return next }

func (s spoiler) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return next
}

func (s spoiler) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error {
		answered := false
		err := s.Carry(func() error {
			if answered { // the request is late, and the caller has gone
				return next(context.WithoutCancel(ctx), goredis.NewCmd(ctx, cmd.Args()...))
			}
			return next(ctx, cmd)
		})
		answered = true
		return err
	}
}

// TestRealTime: no test of this project's clocks, but one of Redis: a lease ends by itself, and not
// before its time.
func TestRealTime(t *testing.T) {
	options, _ := serve(t)
	leasetest.RealTime(t, New(connect(t, options)), 300*time.Millisecond)
}

// TestKeys are a promise to whoever looks into the server or shares it.
func TestKeys(t *testing.T) {
	options, _ := serve(t)
	c := connect(t, options)
	s := New(c)
	a := lease.Ask{Issue: claim.Issue{Owner: "Acme", Repo: "App", Number: 7}, Worker: claim.Worker{Codename: "a b", FiringID: "x:y"}, TTL: time.Minute}
	l, err := s.Acquire(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Get(t.Context(), "label-state:{acme/app#7}").Val(); got != "1 60000 a+b:x%3Ay" {
		t.Errorf("lease = %q", got)
	}
	if got := c.Get(t.Context(), "label-state:{acme/app#7}:token").Val(); got != "1" || c.PTTL(t.Context(), "label-state:{acme/app#7}:token").Val() != -1 {
		t.Errorf("token = %q, want 1 without an end", got)
	}
	if err := s.Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	ended := c.PTTL(t.Context(), "label-state:{acme/app#7}:ended:a+b:x%3Ay").Val()
	if c.Exists(t.Context(), "label-state:{acme/app#7}").Val() != 0 || ended <= 23*time.Hour || ended > 24*time.Hour {
		t.Errorf("after the release: ended for %s", ended)
	}
	if _, err := s.Acquire(t.Context(), a); !errors.Is(err, lease.ErrLost) {
		t.Errorf("acquire after the release by the same firing: %v, want that it is over", err)
	}
	if err := c.Set(t.Context(), "label-state:{acme/app#7}", "nonsense", 0).Err(); err != nil {
		t.Fatal(err)
	}
	a.Worker.FiringID = "z"
	if l, err := s.Acquire(t.Context(), a); err == nil {
		t.Errorf("acquired over somebody else's value: %+v", l)
	}
	if l, held, err := s.Look(t.Context(), a.Issue); err == nil {
		t.Errorf("look at somebody else's value: %+v, %t, want an error", l, held)
	}
}

func TestOpen(t *testing.T) {
	for _, address := range []string{"http://:secret@host", "redis://:secret@host:port:x", "secret", "redis://:secret@h/notanumber", ""} {
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
