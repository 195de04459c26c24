package main

import (
	"context"
	"crypto/tls"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lease"
)

// A said store answers what it is told to.
type said struct {
	lease  lease.Lease
	err    error
	closed int
}

func (s *said) Acquire(context.Context, lease.Ask) (lease.Lease, error) { return s.lease, s.err }

func (s *said) Renew(context.Context, lease.Lease) (lease.Lease, error) { return s.lease, s.err }

func (s *said) Release(context.Context, lease.Lease) error { return s.err }

func (s *said) Look(_ context.Context, i claim.Issue) (lease.Lease, bool, error) {
	l := s.lease
	l.Issue = i
	return l, !l.Worker.IsZero(), s.err
}

func (s *said) Close() error {
	s.closed++
	return nil
}

const byRedis = "claim: {lease: redis}\nlease: {redis: {url_env: LABEL_STATE_REDIS_URL}}\n"

// TestGuardAsksTheLeaseStore: the log shows lucius, whose pull request it is; what counts is the
// store.
func TestGuardAsksTheLeaseStore(t *testing.T) {
	lucius := lease.Lease{Worker: claim.Worker{Codename: "lucius", FiringID: "l1"}, Token: 1, TTL: 4 * time.Hour}
	drake := lease.Lease{Worker: claim.Worker{Codename: "drake", FiringID: "d1"}, Token: 2, TTL: 4 * time.Hour}
	for name, c := range map[string]struct {
		store said
		code  int
		says  string
	}{
		"its holder": {said{lease: lucius}, 0, "1 examined"},
		"a zombie":   {said{lease: drake}, 1, "held by drake (run d1)"},
		"nobody":     {said{}, 0, "1 examined"},
		"unknown": {
			said{err: errors.New("connection refused")},
			3,
			"could not find out whether acme/app#2 may close acme/app#1: lease store redis: connection refused",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := guarded(t)
			r.stores = map[string]lease.Opener{lease.Redis: func(_ *tls.Config, at string) (lease.Remote, error) {
				if at != "redis://lease.example" {
					t.Errorf("opened %q", at)
				}
				return &c.store, nil
			}}
			r.run(c.code, c.says)
			if c.store.closed != 1 {
				t.Errorf("closed %d times", c.store.closed)
			}
		})
	}
}

// TestLeaseStoreIsNotThere: a run that cannot open the store says which variable is missing, and
// changes nothing.
func TestLeaseStoreIsNotThere(t *testing.T) {
	r := guarded(t)
	r.stores = map[string]lease.Opener{lease.Redis: func(*tls.Config, string) (lease.Remote, error) {
		return nil,
			errors.New("not asked for")
	}}
	r.env["LABEL_STATE_REDIS_URL"] = ""
	r.run(3, "LABEL_STATE_REDIS_URL: it is not set")
	r.labels("acme/app", "agent:in-flight")
	r.stores = nil
	r.run(3, "built without that lease store: redis")
	r.labels("acme/app", "agent:in-flight")
}

// TestForkReadsTheMirror: a run for a fork's pull request gets no secrets. It goes by the fencing
// tokens in the log, and asks no store.
func TestForkReadsTheMirror(t *testing.T) {
	r := guarded(t)
	r.env["LABEL_STATE_REDIS_URL"] = ""
	event := strings.Replace(r.read("event.json"), `"head": {"repo": {"full_name": "acme/app"}}`,
		`"head": {"repo": {"full_name": "eve/app"}}`, 1)
	r.file("event.json", event)
	r.run(0, "1 examined")
	next := "<!-- agent-claim:codename=drake firing_id=d1 nonce=87654321 ttl=14400 state=held hb=0 token=2 lease=redis -->"
	if _, err := r.server.AddComment("acme/app", 1, "github-actions[bot]", next); err != nil {
		t.Fatal(err)
	}

	r.run(1, "held by drake (run d1)")
}

// guarded is a run for the pull request of lucius, whose claim of the issue is in the log.
func guarded(t *testing.T) *runner {
	t.Helper()
	r := newRunner(t, repository("acme/app", byRedis, "agent:in-flight"))
	body := "<!-- agent-claim:codename=lucius firing_id=l1 nonce=12345678 ttl=14400 state=held hb=0 token=1 lease=redis branch=mine -->"
	if _, err := r.server.AddComment("acme/app", 1, "agents", body); err != nil {
		t.Fatal(err)
	}

	number, err := r.server.OpenPull("acme/app", "agents",
		githubsim.Pull{Title: "Work", Head: "mine", Body: "Closes #1"})
	if err != nil {
		t.Fatal(err)
	}

	r.env["GITHUB_EVENT_NAME"], r.env["LABEL_STATE_REDIS_URL"], r.env["INPUT_MODE"] = "pull_request", "redis://lease.example", "guard"
	r.file("event.json", `{"action": "opened", "sender": {"login": "agents", "type": "User"}, "repository": {"full_name": "acme/app"}, "pull_request": {"number": `+strconv.Itoa(number)+
		`, "head": {"repo": {"full_name": "acme/app"}}, "base": {"repo": {"full_name": "acme/app"}}}}`)
	return r
}
