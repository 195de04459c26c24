package labelstate_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	labelstate "github.com/label-state/label-state"
)

// kept claims issue 1 with a short lease and keeps it.
func kept(t *testing.T, d desk, change func(*labelstate.Options),
	ttl time.Duration,
) (*labelstate.Client, labelstate.Hold, context.Context, func()) {
	t.Helper()
	o := d.options("bot")
	if change != nil {
		change(&o)
	}

	c, err := labelstate.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}

	hold, err := c.Claim(t.Context(), 1, labelstate.ClaimOptions{Codename: "lucius", TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}

	ctx, stop := c.Keep(t.Context(), hold)
	t.Cleanup(stop)
	return c, hold, ctx, stop
}

// TestKeepRenews: the hold outlives its first lease while it is kept, and ends by its last one when
// it is not.
func TestKeepRenews(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, d desk) {
		c, hold, ctx, stop := kept(t, d, nil, 3*time.Second)
		select {
		case <-ctx.Done():
			t.Fatal(context.Cause(ctx))
		case <-time.After(5 * time.Second):
		}

		if err := c.Owns(hold); err != nil {
			t.Error(err)
		}
		s, err := c.Status(t.Context(), 1)
		if err != nil || s.Holder == nil || !s.Holder.Until.After(hold.Until) {
			t.Errorf("%+v, %v", s.Holder, err)
		}

		stop()
		if err := c.Owns(hold); err != nil || ctx.Err() == nil || errors.Is(context.Cause(ctx), labelstate.ErrLost) {
			t.Errorf("after stop: %v, %v", err, context.Cause(ctx))
		}

		if err := c.Release(t.Context(), hold, labelstate.ReleaseOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// cable is a network that can be cut.
type cable struct {
	http.RoundTripper
	cut atomic.Bool
}

func (c *cable) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.cut.Load() {
		return nil, errors.New("the cable is cut")
	}
	return c.RoundTripper.RoundTrip(r)
}

// TestKeepWithoutAnswers: the work ends before the lease does, although nobody said that the hold
// is lost, and a warning says why.
func TestKeepWithoutAnswers(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, d desk) {
		line := &cable{RoundTripper: d.line}
		warned := make(chan string, 100)
		began := time.Now()
		c, hold, ctx, _ := kept(t, d, func(o *labelstate.Options) {
			o.HTTP, o.Warn = line, func(text string) { warned <- text }
		}, 3*time.Second)
		line.cut.Store(true)
		<-ctx.Done()
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("the context was done after %s", took)
		}

		if !errors.Is(context.Cause(ctx), labelstate.ErrLost) || !errors.Is(c.Owns(hold), labelstate.ErrLost) {
			t.Errorf("%v, %v", context.Cause(ctx), c.Owns(hold))
		}

		if len(warned) == 0 {
			t.Error("no warning")
		}
	})
}

// TestKeepOfDeliveredWork: when the own pull request ends the hold, the heartbeats end and the work
// may be finished.
func TestKeepOfDeliveredWork(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, d desk) {
		c, hold, ctx, _ := kept(t, d, nil, hour) // which goes on when the heartbeats have ended
		d.pull(t, "bot", "Closes #1")
		if _, err := d.as("ada").Sweep(t.Context(), labelstate.SweepOptions{}); err != nil {
			t.Fatal(err)
		}

		time.Sleep(hour / 2)
		if ctx.Err() != nil || !errors.Is(c.Owns(hold), labelstate.ErrLost) {
			t.Errorf("%v, %v", context.Cause(ctx), c.Owns(hold))
		}

		if err := c.Release(t.Context(), hold,
			labelstate.ReleaseOptions{Outcome: labelstate.OutcomeSuccess}); err != nil {
			t.Error(err)
		}
	})
}

// TestKeepUntilTheCallerIsDone: the caller's own end is its own cause, and the hold stays.
func TestKeepUntilTheCallerIsDone(t *testing.T) {
	t.Parallel()
	d := served(t)
	c := d.as("bot")
	hold, err := c.Claim(t.Context(), 1, labelstate.ClaimOptions{Codename: "lucius"})
	if err != nil {
		t.Fatal(err)
	}

	outer, cancel := context.WithCancelCause(t.Context())
	ctx, stop := c.Keep(outer, hold)
	defer stop()
	enough := errors.New("enough")
	cancel(enough)
	<-ctx.Done()
	if !errors.Is(context.Cause(ctx), enough) || c.Owns(hold) != nil {
		t.Errorf("%v, %v", context.Cause(ctx), c.Owns(hold))
	}
}

// TestReleaseAfterATakeover: a person takes the issue over between the last heartbeat and the end
// of the work. The work was never told to stop, so the release says that the hold is lost, and to
// whom.
func TestReleaseAfterATakeover(t *testing.T) {
	t.Parallel()
	d := served(t)
	c, hold, ctx, stop := kept(t, d, nil, hour)
	if err := d.as("ada").ForceRelease(t.Context(), 1, "taken over"); err != nil {
		t.Fatal(err)
	}

	if _, err := d.as("ada").Claim(t.Context(), 1, labelstate.ClaimOptions{Person: true}); err != nil {
		t.Fatal(err)
	}

	if ctx.Err() != nil {
		t.Fatal(context.Cause(ctx))
	}
	stop()

	err := c.Release(t.Context(), hold, labelstate.ReleaseOptions{Outcome: labelstate.OutcomeSuccess})

	if !errors.Is(err, labelstate.ErrLost) || !strings.Contains(err.Error(), "the outcome success was not recorded") ||
		!strings.Contains(err.Error(), "ada holds it") {
		t.Errorf("release: %v", err)
	}
}
