package labelstate_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/label-state/label-state"
	"github.com/label-state/label-state/work"
)

// A cord carries requests until it is cut.
type cord struct {
	http.RoundTripper
	cut bool
}

func (c *cord) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.cut {
		return nil, errors.New("the cable is out")
	}
	return c.RoundTripper.RoundTrip(r)
}

// TestOutage: what could not be done or found out is an error of every method, which says what it
// was and is no answer.
func TestOutage(t *testing.T) {
	bubble(t, func(t *testing.T, d desk) {
		line := &cord{RoundTripper: d.line}
		o := d.options("bot")
		o.HTTP = line
		c, err := labelstate.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		held, err := c.Claim(t.Context(), 1, labelstate.ClaimOptions{Codename: "lucius"})
		if err != nil {
			t.Fatal(err)
		}

		line.cut = true
		for name, do := range map[string]func(ctx context.Context) error{
			"claim": func(ctx context.Context) error {
				_, err := c.Claim(ctx, 2, labelstate.ClaimOptions{Codename: "x"})
				return err
			},
			"renew":   func(ctx context.Context) error { _, err := c.Renew(ctx, held); return err },
			"check":   func(ctx context.Context) error { return c.Check(ctx, 1) },
			"status":  func(ctx context.Context) error { _, err := c.Status(ctx, 1); return err },
			"force":   func(ctx context.Context) error { return c.ForceRelease(ctx, 1, "gone") },
			"plan":    func(ctx context.Context) error { _, err := c.PostPlan(ctx, held, "split it"); return err },
			"await":   func(ctx context.Context) error { _, err := c.AwaitPlan(ctx, held); return err },
			"approve": func(ctx context.Context) error { return c.Approve(ctx, 1) },
			"reject":  func(ctx context.Context) error { return c.Reject(ctx, 1, "no") },
			"list":    func(ctx context.Context) error { _, err := c.List(ctx, work.FetchOptions{}); return err },
			"next": func(ctx context.Context) error {
				_, _, err := c.Next(ctx, labelstate.NextOptions{Codename: "x"})
				return err
			},
			"stale":   func(ctx context.Context) error { _, err := c.StaleClaims(ctx); return err },
			"sweep":   func(ctx context.Context) error { _, err := c.Sweep(ctx, labelstate.SweepOptions{}); return err },
			"pause":   func(ctx context.Context) error { return c.Pause(ctx, "disk full") },
			"resume":  func(ctx context.Context) error { return c.Resume(ctx) },
			"paused":  func(ctx context.Context) error { _, err := c.PausedRepos(ctx, "acme/app"); return err },
			"release": func(ctx context.Context) error { return c.Release(ctx, held, labelstate.ReleaseOptions{}) },
		} {
			err := do(t.Context())
			if err == nil || errors.Is(err, labelstate.ErrHeld) || errors.Is(err, labelstate.ErrLost) ||
				!strings.Contains(err.Error(), "the cable is out") ||
				name != "paused" && !strings.Contains(err.Error(), "acme/app") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
