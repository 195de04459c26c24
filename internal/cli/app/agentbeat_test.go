package app

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/cli/local"
)

// TestAgentEventsSideBySide: hosts run hooks side by side. An event that has read the record before another one renews does not renew once more.
func TestAgentEventsSideBySide(t *testing.T) {
	f := newSessionFleet(t, 0)
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		s := f.desks[0].session()
		s.event(ctx, agenthost.SessionStart, "")
		if !s.take(ctx) {
			t.Fatal("the claim failed")
		}
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
		late.In, late.Out, late.Err = bytes.NewReader(s.message(agenthost.AfterTool, agenthost.Runs)), &bytes.Buffer{}, &bytes.Buffer{}
		local.AnswerEvent(ctx, late, string(s.host), false, nil)
		if n := renewals() - before; between != 1 || n != 1 {
			t.Errorf("%d events between, %d renewals, want 1", between, n)
		}
	})
}
