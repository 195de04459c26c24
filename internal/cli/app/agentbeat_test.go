package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/cli/local"
	"github.com/label-state/label-state/internal/state"
)

// TestAgentEventsSideBySide: hosts run hooks side by side. An event that has read the record before
// another one renews does not renew once more.
func TestAgentEventsSideBySide(t *testing.T) {
	f := newSessionFleet(t, 0)
	synctest.Test(t, func(t *testing.T) {
		ctx, s := t.Context(), f.holder(t)

		renewals := func() int64 {
			c, _ := s.log(s.issue).Find(s.worker)
			return c.Record.Heartbeat
		}

		time.Sleep(11 * time.Minute)
		before := renewals()
		late, between := s.shell, 0
		getenv := late.Env.Getenv
		late.Env.Getenv = func(name string) string {
			if between == 0 && name == "LABEL_STATE_HOME" { // the holds were read, what this user remembers is next
				between++
				s.event(ctx, agenthost.AfterTool, agenthost.Runs)
			}
			return getenv(name)
		}

		late.In, late.Out, late.Err = bytes.NewReader(s.message(agenthost.AfterTool,
			agenthost.Runs)), &bytes.Buffer{}, &bytes.Buffer{}
		local.AnswerEvent(ctx, late, string(s.host), local.Answered, nil)
		if n := renewals() - before; between != 1 || n != 1 {
			t.Errorf("%d events between, %d renewals, want 1", between, n)
		}
	})
}

// TestHeartbeatBesideRelease: a hold that is released while a heartbeat of it waits for GitHub
// leaves no record, and so no fence. One that is claimed again by then keeps the record of the
// later claim.
func TestHeartbeatBesideRelease(t *testing.T) {
	for name, again := range map[string][]string{
		"released":                        nil,
		"claimed again":                   {"claim"},
		"claimed again under another key": {"claim", "--codename", "rex", "--firing-id", "r1"},
	} {
		for method, part := range map[string]string{"POST": "graphql", "PATCH": "comments"} {
			t.Run(name+" before "+method, func(t *testing.T) {
				f := newSessionFleet(t, 0)
				synctest.Test(t, func(t *testing.T) { f.besideHeartbeat(t, method, part, again) })
			})
		}
	}
}

// holder is a session that has begun and holds an issue.
func (f *sessionFleet) holder(t *testing.T) *liveSession {
	t.Helper()
	s := f.desks[0].session()
	s.event(t.Context(), agenthost.SessionStart, "")
	if !s.take(t.Context()) {
		t.Fatal("the claim failed")
	}

	return s
}

// besideHeartbeat has a session release its hold, and claim by the words of again, right before the
// first request of a heartbeat that is of the method and has the part in its path.
func (f *sessionFleet) besideHeartbeat(t *testing.T, method, part string, again []string) {
	ctx, s := t.Context(), f.holder(t)
	time.Sleep(11 * time.Minute)
	var failed error
	var left []state.Hold
	records := func() []state.Hold {
		holds, err := state.OpenHolds(filepath.Join(s.dir, ".git")).All()
		if err != nil {
			t.Fatal(err)
		}
		return holds
	}
	f.at("1", method, part, func() {
		_, failed = s.command(ctx, s.shell, "release", fmt.Sprint(s.issue), "--outcome", "cancelled")
		if again != nil && failed == nil {
			_, failed = s.command(ctx, s.shell, append(again, fmt.Sprint(s.issue))...)
		}
		left = records()
	})
	s.event(ctx, agenthost.AfterTool, agenthost.Runs)
	if failed != nil {
		t.Fatal(failed)
	}

	if holds := records(); !reflect.DeepEqual(holds, left) || (len(left) > 0) != (again != nil) {
		t.Errorf("records %+v, want those of the commands: %+v", holds, left)
	}

	if denied := s.event(ctx, agenthost.BeforeTool, agenthost.Edits); denied != "" {
		t.Errorf("the edit is denied: %s", denied)
	}
}

// TestClaimedAgainAndCutOff: what claims an expired hold again behind a session is cut off before it
// records the new hold. The next event finds that the session made it, and the work goes on.
func TestClaimedAgainAndCutOff(t *testing.T) {
	f := newSessionFleet(t, 0)
	synctest.Test(t, func(t *testing.T) {
		ctx, s := t.Context(), f.holder(t)
		store := state.OpenHolds(filepath.Join(s.dir, ".git"))
		record := func() state.Hold {
			holds, err := store.All()
			if err != nil || len(holds) != 1 {
				t.Fatalf("records %+v, %v", holds, err)
			}
			return holds[0]
		}

		was := record()
		time.Sleep(2 * fleetLease)
		if _, err := s.command(ctx, s.shell, "claim", fmt.Sprint(s.issue), "--ttl", "50m"); err != nil {
			t.Fatal(err)
		}

		again := record()
		if again.Worker == was.Worker {
			t.Fatalf("claimed again under the key %s", was.Worker)
		}
		if err := store.Save(was); err != nil {
			t.Fatal(err)
		}

		time.Sleep(time.Minute)
		s.event(ctx, agenthost.AfterTool, agenthost.Runs)
		if denied := s.event(ctx, agenthost.BeforeTool, agenthost.Edits); denied != "" {
			t.Errorf("the edit is denied: %s", denied)
		}

		now := record()
		if now.Worker != again.Worker || now.Nonce != again.Nonce || now.Token != again.Token ||
			now.Lost != "" || now.TTL != again.TTL || !now.Until.Equal(again.Until) {
			t.Errorf("record %+v, want that of the hold that was claimed again: %+v", now, again)
		}
	})
}

// TestReleasedWhileClaimedAgain: the record of an expired hold goes while the hold is claimed again
// behind the session. What was claimed has no owner then, and is released.
func TestReleasedWhileClaimedAgain(t *testing.T) {
	f := newSessionFleet(t, 0)
	synctest.Test(t, func(t *testing.T) {
		ctx, s := t.Context(), f.holder(t)
		store := state.OpenHolds(filepath.Join(s.dir, ".git"))
		holds, err := store.All()
		if err != nil || len(holds) != 1 {
			t.Fatalf("records %+v, %v", holds, err)
		}

		time.Sleep(2 * fleetLease)
		gone := false
		f.at("1", "POST", "/comments", func() { gone = store.Remove(holds[0].Issue) == nil })
		s.event(ctx, agenthost.AfterTool, agenthost.Runs)
		s.running.Wait()

		if live := s.log(s.issue).Live(); !gone || len(live) > 0 {
			t.Errorf("%d live claims, want none; the record is gone: %t", len(live), gone)
		}
	})
}

// TestPushAfterHandover: a hold that ended because its work is there keeps its record at a push, by
// which the hook knows whose the pull request is.
func TestPushAfterHandover(t *testing.T) {
	f := newSessionFleet(t, 0)
	synctest.Test(t, func(t *testing.T) {
		ctx, s := t.Context(), f.holder(t)
		elsewhere := f.desk("elsewhere", t.TempDir(), "").terminal("tok-agents", nil)
		if _, err := s.command(ctx, elsewhere, "release", fmt.Sprint("acme/app#", s.issue), "--done",
			"--codename", s.worker.Codename, "--firing-id", s.worker.FiringID); err != nil {
			t.Fatal(err)
		}

		denied := s.event(ctx, agenthost.BeforeTool, agenthost.Publishes)
		holds, err := state.OpenHolds(filepath.Join(s.dir, ".git")).All()
		if denied != "" || err != nil || len(holds) != 1 || holds[0].Lost != "" {
			t.Errorf("denied %q, records %+v, %v", denied, holds, err)
		}
	})
}

// TestBeatIsBusy: while another event of the worktree is at its heartbeat, none renews or claims
// again beside it. A push is looked at all the same.
func TestBeatIsBusy(t *testing.T) {
	f := newSessionFleet(t, 0)
	synctest.Test(t, func(t *testing.T) {
		ctx, s := t.Context(), f.holder(t)
		unlock, err := state.Lock(filepath.Join(s.dir, ".git", "label-state", "beat.lock"))
		if err != nil {
			t.Fatal(err)
		}

		time.Sleep(11 * time.Minute)
		s.event(ctx, agenthost.AfterTool, agenthost.Runs)
		for fault, want := range map[string]string{"status=403:POST:/graphql": "could not find out whether", "": ""} {
			if err := f.misbehave(fault); err != nil {
				t.Fatal(err)
			}
			denied := s.event(ctx, agenthost.BeforeTool, agenthost.Publishes)
			if (denied == "") != (want == "") || !strings.Contains(denied, want) {
				t.Errorf("fault %q: the push is denied: %q, want %q", fault, denied, want)
			}
		}
		if err := f.misbehave(""); err != nil {
			t.Fatal(err)
		}
		if c, _ := s.log(s.issue).Find(s.worker); c.Record.Heartbeat != 0 {
			t.Errorf("%d heartbeats, want none", c.Record.Heartbeat)
		}

		time.Sleep(2 * fleetLease)
		s.behind(ctx, local.Expired)
		if s.key() != s.worker {
			t.Errorf("claimed again under %s", s.key())
		}

		if err := errors.Join(unlock(), f.misbehave("html")); err != nil {
			t.Fatal(err)
		}
		if said := s.behind(ctx, local.Expired); !strings.Contains(said, "could not find out whether acme/app#") {
			t.Errorf("without an answer of GitHub's: %q", said)
		}
		if err := f.misbehave(""); err != nil {
			t.Fatal(err)
		}
		s.behind(ctx, local.Expired)
		if s.key() == s.worker {
			t.Error("it is not claimed again")
		}
	})
}

// behind does a part of the session's events that a process of its own does.
func (s *liveSession) behind(ctx context.Context, part local.Part) (said string) {
	var out bytes.Buffer
	t := s.shell
	t.In, t.Out, t.Err = bytes.NewReader(s.message(agenthost.AfterTool, agenthost.Runs)), &out, &out
	local.AnswerEvent(ctx, t, string(s.host), part, nil)
	return out.String()
}

// TestTakenWhileClaimedAgain: somebody takes an issue whose lease has expired while what runs
// behind the session claims it again. The session is told, and stopped.
func TestTakenWhileClaimedAgain(t *testing.T) {
	f := newSessionFleet(t, 0)
	synctest.Test(t, func(t *testing.T) {
		ctx, s := t.Context(), f.holder(t)
		time.Sleep(2 * fleetLease)
		drake := f.desk("drake", t.TempDir(), "").terminal("tok-drake", nil)
		var taken error
		f.at("2", "POST", "graphql", func() {
			_, taken = s.command(ctx, drake, "claim", fmt.Sprint("acme/app#", s.issue))
		})
		s.behind(ctx, local.Expired)
		if taken != nil {
			t.Fatal(taken)
		}

		denied := s.event(ctx, agenthost.BeforeTool, agenthost.Edits)
		if !strings.Contains(denied, "its lease expired, and ") || !strings.Contains(denied, "drake") {
			t.Errorf("denied %q, want that its lease expired, and who has it", denied)
		}
	})
}

// TestEndWithoutProcesses: where this machine no longer tells of processes, the end of a session is
// the end of its host.
func TestEndWithoutProcesses(t *testing.T) {
	f := newSessionFleet(t, 0)
	synctest.Test(t, func(t *testing.T) {
		s := f.holder(t)
		s.shell.Env.Processes = nil
		if said := s.behind(t.Context(), local.Ended); said != "" || len(s.log(s.issue).Live()) > 0 {
			t.Errorf("%q, and %d live claims, want none", said, len(s.log(s.issue).Live()))
		}
	})
}

// TestEventGoesOn: whatever an event meets that has nothing to do with the hold, work goes on, and
// one line says what it was.
func TestEventGoesOn(t *testing.T) {
	failed := errors.New("no such luck")
	for name, c := range map[string]struct {
		kind   agenthost.Kind
		after  time.Duration // since the claim
		in     io.Reader     // instead of the event
		home   bool          // this user has none
		fault  string        // of GitHub
		detach func() error
		want   string
	}{
		"the input ends": {
			kind: agenthost.AfterTool,
			in:   iotest.ErrReader(failed),
			want: "read the event: no such luck",
		},
		"too much": {kind: agenthost.AfterTool, in: endless{}, want: "read the event: it is larger than 64 MiB"},
		"no home":  {kind: agenthost.AfterTool, home: true, want: "find state folder: "},
		"GitHub refuses the heartbeat": {
			kind:  agenthost.AfterTool,
			after: 11 * time.Minute,
			fault: "status=403:PATCH",
			want:  "could not find out whether acme/app#",
		},
		"GitHub shows the loss alone": {
			kind:   agenthost.AfterTool,
			after:  2 * fleetLease,
			fault:  "status=403:POST:/graphql:%2",
			want:   "claim again what has expired: no such luck",
			detach: func() error { return failed },
		},
		"the end is not done": {
			kind:   agenthost.SessionEnd,
			detach: func() error { return failed },
			want:   "release at the end of the session: no such luck",
		},
		"it is not claimed again": {
			kind:   agenthost.AfterTool,
			after:  2 * fleetLease,
			detach: func() error { return failed },
			want:   "claim again what has expired: no such luck",
		},
		"a fault of ours": {
			kind:   agenthost.SessionEnd,
			detach: func() error { panic("no such\nluck") },
			want:   "internal error: no such luck",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newSessionFleet(t, 0)
			synctest.Test(t, func(t *testing.T) {
				ctx, s := t.Context(), f.holder(t)
				time.Sleep(c.after)
				var out, said bytes.Buffer
				term := s.shell
				term.In, term.Out, term.Err = c.in, &out, &said
				if c.in == nil {
					term.In = bytes.NewReader(s.message(c.kind, agenthost.Runs))
				}
				if err := f.misbehave(c.fault); err != nil {
					t.Fatal(err)
				}
				if c.home {
					term.Env.Getenv = func(string) string { return "" }
				}

				local.AnswerEvent(ctx, term, string(s.host), local.Answered,
					func(string, local.Part, []byte) error { return c.detach() })
				if line := "label-state: work goes on, but: " + c.want; !strings.HasPrefix(said.String(), line) ||
					strings.Count(said.String(), "\n") != 1 || out.Len() > 0 {
					t.Errorf("%q and %q, want nothing and %q", &out, &said, line)
				}
			})
		})
	}
}

// endless is an input without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
