package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/label-state/label-state/internal/cli/feature"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/leasetest"
	"github.com/label-state/label-state/internal/sample"
)

// TestLeases plays the same scripts with every lease store (in an ordinary run, a sample of them):
// references on the embedded GitHub, and a real Redis with TLS and certificates of its own, each
// named by the configuration on the default branch. $WRITER is the value of $LOGIN, the variable
// that says who may write the store, $READER of one who may not.
func TestLeases(t *testing.T) {
	t.Parallel()
	for kind, serve := range map[string]func(*testing.T) *store{lease.Refs: serveRefs, lease.Redis: serveRedis} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			if kind == lease.Redis {
				leasetest.Find(t, os.Getenv("LABEL_STATE_REQUIRE"), kind, "redis-server")
			}

			cmds := vocabulary()
			cmds["expire"], cmds["tokens"], cmds["larger"], cmds["login"], cmds["gone"], cmds["won"] = expire, tokens, larger, login, gone, won
			testscript.Run(t, testscript.Params{
				Files:     leaseScripts(t, kind),
				Cmds:      cmds,
				Setup:     arranged("testdata/lease", func(e *testscript.Env) error { return serve(t).setUp(e, kind) }),
				Condition: func(name string) (bool, error) { return name == kind, nil },
			})
		})
	}
}

// leaseScripts are the scripts that are played with a kind of store: all with references, which
// need nothing installed; with Redis a quarter of them in an ordinary run.
func leaseScripts(t *testing.T, kind string) []string {
	t.Helper()
	return scriptsIn(t, "testdata/lease", func(name string) bool { return kind == lease.Refs || sample.Plays(name, 0, 4) })
}

// A store is one that a script uses.
type store struct {
	config                string // what the repository's configuration says besides its kind
	login, writer, reader string
	secure                map[string]string            // variables besides
	expire                func(context.Context) error  // ends every lease as if its time were over
	stop                  func(*testscript.TestScript) // nobody can reach it any more
}

func (s *store) setUp(e *testscript.Env, kind string) error {
	file := fmt.Sprintf("version: 1\nclaim: {lease: %s}\n%s", kind, s.config)
	w, err := newWorldWith(filepath.Join(e.WorkDir, ".github-server"), func(seed *githubsim.Seed) {
		seed.Repos[0].Files = map[string]string{config.Path: file}
	})
	if err != nil {
		return err
	}
	if err := w.settle(e); err != nil {
		return err
	}

	for name, value := range map[string]string{
		"LABEL_STATE_CONFIG": "", "KIND": kind, "LOGIN": s.login, "WRITER": s.writer, "READER": s.reader,
		s.login: s.writer,
		"OTHER": strings.Replace(e.Getenv("REMOTE"), "acme/app", "acme/web", 1),
	} {
		e.Setenv(name, value)
	}

	for name, value := range s.secure {
		e.Setenv(name, value)
	}
	e.Values["store"] = s

	return nil
}

// expire lets every lease run out by the store's clock, and so much time pass on GitHub.
func expire(ts *testscript.TestScript, neg bool, args []string) {
	later(ts, neg, args)
	s, ok := ts.Value("store").(*store)
	if !ok {
		ts.Fatalf("no store")
	}
	ts.Check(s.expire(context.Background()))
}

func serveRefs(*testing.T) *store {
	return &store{
		login:  "LABEL_STATE_TOKEN",
		writer: "tok-agents",
		reader: "tok-tia",
		expire: func(context.Context) error { return nil },
		stop:   func(ts *testscript.TestScript) { fault(ts, false, []string{"status=502:POST:/git/"}) },
	}
}

func serveRedis(t *testing.T) *store {
	path := leasetest.Find(t, os.Getenv("LABEL_STATE_REQUIRE"), lease.Redis, "redis-server")
	port := leasetest.FreePorts(t, 1)[0]
	at := leasetest.Loopback(port)
	authority := leasetest.NewAuthority(t)
	own, worker := authority.Pair("redis", time.Now().Add(time.Hour)), authority.Pair("worker",
		time.Now().Add(time.Hour))
	admin := func(ctx context.Context) (redis.Conn, error) {
		return redis.DialContext(ctx, "tcp", at, redis.DialPassword("secret"), redis.DialUseTLS(true),
			redis.DialTLSConfig(authority.Config(worker)))
	}

	ready := func() error {
		c, err := admin(context.Background())
		if err == nil {
			err = c.Close()
		}
		return err
	}

	server := leasetest.Start(t, ready, path,
		"--bind", "127.0.0.1", "--port", "0", "--tls-port", strconv.Itoa(port), "--dir", t.TempDir(), "--save", "",
		"--requirepass", "secret",
		"--tls-cert-file", own.Cert, "--tls-key-file", own.Key, "--tls-ca-cert-file", authority.File)

	return &store{
		config: "lease: {redis: {url_env: LABEL_STATE_REDIS_URL}}\n",
		login:  "LABEL_STATE_REDIS_URL",
		writer: "rediss://:secret@" + at,
		reader: "rediss://" + at,
		secure: map[string]string{
			lease.CAVariable: authority.File, lease.CertVariable: worker.Cert,
			lease.KeyVariable: worker.Key,
		},
		expire: func(ctx context.Context) error { return expireKeys(ctx, admin) },
		stop:   func(*testscript.TestScript) { server.Kill() },
	}
}

// expireKeys ends every lease; the counters of tokens have no end.
func expireKeys(ctx context.Context, dial func(context.Context) (redis.Conn, error)) error {
	c, err := dial(ctx)
	if err != nil {
		return err
	}

	defer c.Close()
	keys, err := redis.Strings(c.Do("KEYS", "label-state:*}"))
	if err != nil {
		return err
	}

	for _, key := range keys {
		if _, err := c.Do("PEXPIRE", key, 0); err != nil {
			return err
		}
	}

	return nil
}

// tokenOf is the fencing token in the JSON of a claim or of status.
func tokenOf(ts *testscript.TestScript, file string) float64 {
	var got struct {
		Token  float64
		Holder struct{ Token float64 }
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &got))
	return max(got.Token, got.Holder.Token)
}

// tokens FILE FILE wants the same token in both, and sets $TOKEN to it.
func tokens(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: tokens FILE FILE")
	}
	a, b := tokenOf(ts, args[0]), tokenOf(ts, args[1])
	if a != b || a == 0 {
		ts.Fatalf("token %v in %s and %v in %s", a, args[0], b, args[1])
	}

	ts.Setenv("TOKEN", fmt.Sprint(int64(a)))
}

// larger FILE FILE wants a larger token in the second.
func larger(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: larger FILE FILE")
	}
	if a, b := tokenOf(ts, args[0]), tokenOf(ts, args[1]); b <= a {
		ts.Fatalf("token %v in %s and %v in %s, want a larger one", a, args[0], b, args[1])
	}
}

// won FILE FILE wants one of two answers to "bundle claim" to be all of it and the other none. It
// sets $WINNER to who has it, $BUNDLE to its name and $LOST to the name of the other.
func won(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: won FILE FILE")
	}
	winners := 0
	for _, file := range args {
		var b feature.BundleView
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &b))
		switch {
		case b.Answer == "won" && b.Whole:
			winners++
			ts.Setenv("WINNER", b.Codename)
			ts.Setenv("BUNDLE", b.Bundle)
		case b.Answer == "held" && !b.Whole:
			ts.Setenv("LOST", b.Bundle)
		default:
			ts.Fatalf("%s: neither all nor nothing: %+v", file, b)
		}
	}

	if winners != 1 {
		ts.Fatalf("%d have won", winners)
	}
}

// gone takes the store away.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	s, ok := ts.Value("store").(*store)
	if neg || len(args) != 0 || !ok {
		ts.Fatalf("usage: gone")
	}
	s.stop(ts)
}

// login VALUE sets the variable by which the store knows who asks.
func login(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: login VALUE")
	}
	ts.Setenv(ts.Getenv("LOGIN"), args[0])
}
