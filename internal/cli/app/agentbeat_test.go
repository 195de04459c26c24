package app

import (
	"bytes"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
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
