// Package labelstate keeps two workers from doing the same GitHub issue.
//
// A worker claims an issue and of any number of workers exactly one wins; it renews its lease while it
// works and releases the issue when it is done. When it dies, its lease runs out and the issue comes back.
// There is no server: the issue's own comments are the log that decides, labels are a picture of it.
//
//	c, err := labelstate.Open(ctx, labelstate.Options{Repo: "acme/app"})
//	hold, err := c.Claim(ctx, 42, labelstate.ClaimOptions{Codename: "lucius", TTL: 30 * time.Minute})
//	if errors.Is(err, labelstate.ErrHeld) { … } // somebody else has it
//
// There are three answers, never two: yes is no error; no is ErrHeld or ErrLost; everything else could
// not be found out, and nothing may be done on its strength.
package labelstate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease/services"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
)

// The labels of the default preset. A repository's configuration may change every one of them.
const (
	LabelImplement    = "agent:implement"             // eligible for autonomous pickup
	LabelInFlight     = "agent:in-flight"             // a worker holds it
	LabelPlanPending  = "agent:plan-pending-approval" // plan posted, waiting for go or no-go
	LabelPROpen       = "agent:pr-open"               // a pull request exists for it
	LabelDone         = "agent:done"                  // closed and shipped
	LabelDoNotPickup  = "do-not-pickup"               // a person's hold
	LabelNeedsScope   = "needs:human-scope"           // too vague, or failed too often
	LabelBlocked      = "agent:blocked"               // has open blockers
	LabelAuthored     = "agent:authored"              // on pull requests
	LabelLargeFeature = "agent:large-feature"
	LabelPaused       = "agent:paused" // its existence pauses the repository
	LabelBundlePrefix = "agent:bundle:"
)

// The answer no.
var (
	// ErrHeld is wrapped when an issue may not be taken; the error is a *HeldError.
	ErrHeld = errors.New("held")
	// ErrLost is wrapped when a hold is over: whoever acted under it must stop.
	ErrLost = errors.New("lost")
)

// A HeldError says why an issue may not be taken.
type HeldError struct {
	Reasons []Reason
	err     error
}

func (e *HeldError) Error() string { return e.err.Error() }

// Unwrap returns ErrHeld.
func (e *HeldError) Unwrap() error { return ErrHeld }

// A Reason is one cause. Code is one of those in docs/cli.md; Text and URL are for people.
type Reason struct{ Code, Text, URL string }

// Options say which repository, and as whom. What is empty is taken from the environment as the
// command line does it.
type Options struct {
	Repo   string            // owner/name; required outside a clone
	Token  string            // of a login that may label the repository
	API    string            // root of the REST API
	Config string            // path of the configuration; empty is the repository's own
	HTTP   http.RoundTripper // nil is http.DefaultTransport
	DryRun bool              // nothing is written
}

// A Client works on one repository. It may be used from any goroutine. Close it when it is done with,
// if the repository's configuration names a lease store that has connections.
type Client struct{ s *setup.Session }

// Close closes the connections to the lease store, if there are any. Holds stay.
func (c *Client) Close() error { return c.s.Close() }

// Open reads the configuration of the repository and makes a client.
func Open(ctx context.Context, o Options) (*Client, error) {
	env := setup.OS()
	env.Stores = services.Openers()
	if o.HTTP != nil {
		env.HTTP = o.HTTP
	}
	s, err := setup.Open(ctx, env, setup.Options{Repo: o.Repo, Token: o.Token, API: o.API, Config: o.Config, DryRun: o.DryRun})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", o.Repo, err)
	}
	if s.Repo == (ledger.Repo{}) {
		return nil, errors.New("open: no repository is named, and this is no clone of one")
	}
	return &Client{s}, nil
}

// Repo returns owner/name.
func (c *Client) Repo() string { return c.s.Repo.String() }

func (c *Client) issue(number int) claim.Issue {
	return claim.Issue{Owner: c.s.Repo.Owner, Repo: c.s.Repo.Name, Number: number}
}

// ClaimOptions say who claims, and for how long.
type ClaimOptions struct {
	Codename string        // the kind of worker; required
	FiringID string        // this run, used once for an issue; empty makes one up
	TTL      time.Duration // length of the lease; 0 is the repository's default
	Branch   string        // where the work will be pushed, if known
}

// A Hold is a worker's right to an issue. Times are GitHub's.
type Hold struct {
	Repo               string
	Number             int
	Title              string // other people's text
	Codename, FiringID string
	Token              int64 // fencing token: who shows a smaller one for the same issue is stale
	Since, Until       time.Time
	URL                string // of the claim comment
	own                ledger.Hold
}

func holdOf(h ledger.Hold) Hold {
	return Hold{
		Repo: h.Issue.Slug(), Number: h.Issue.Number, Title: h.Title, Codename: h.Record.Worker.Codename, FiringID: h.Record.Worker.FiringID,
		Token: h.Token, Since: h.Since, Until: h.Until, URL: h.URL, own: h,
	}
}

func (h Hold) worker() claim.Worker {
	return claim.Worker{Codename: h.Codename, FiringID: h.FiringID}
}

// Claim takes an issue. Of any number of callers at most one gets it; the others get ErrHeld. A login that
// may not label the repository gets neither: others would not count its claim.
func (c *Client) Claim(ctx context.Context, number int, o ClaimOptions) (Hold, error) {
	h, err := c.s.Ledger.Claim(ctx, c.issue(number), ledger.Request{
		Worker: claim.Worker{Codename: o.Codename, FiringID: o.FiringID}, TTL: o.TTL, Branch: o.Branch,
	})
	if err = answer(err); err != nil {
		return Hold{}, c.failed("claim", number, err)
	}
	return holdOf(h), nil
}

// Renew extends the lease; call it at a third of the ttl. ErrLost means: stop all work at once. With
// any other error the lease stands as it stood, and renewing may be tried again until Owns is false.
func (c *Client) Renew(ctx context.Context, h Hold) (Hold, error) {
	renewed, err := c.s.Ledger.Renew(ctx, c.issue(h.Number), h.worker(), h.Token)
	if err = answer(err); err != nil {
		return h, c.failed("renew", h.Number, err)
	}
	return holdOf(renewed), nil
}

// Owns reports, without asking anybody, whether the lease of a hold that this process has claimed or
// renewed still stands. Ask it before every step that others can see.
func (c *Client) Owns(h Hold) bool { return c.s.Ledger.Owns(h.own) }

// ReleaseOptions say how a hold ends. Outcome is one of those in docs/cli.md; empty is success with a
// pull request, else cancelled.
type ReleaseOptions struct{ Outcome, PR, Reason string }

// Release ends a hold. Asked again with the same outcome it is a success.
func (c *Client) Release(ctx context.Context, h Hold, o ReleaseOptions) error {
	_, err := c.s.Ledger.Release(ctx, c.issue(h.Number), ledger.Ending{
		Worker: h.worker(), Outcome: o.Outcome, PR: o.PR, Reason: o.Reason, Token: h.Token,
	})
	return c.failed("release", h.Number, answer(err))
}

// Check answers whether an issue may be taken: nil is yes, a *HeldError no.
func (c *Client) Check(ctx context.Context, number int) error {
	i := c.issue(number)
	_, v, err := c.s.Ledger.Check(ctx, i, lifecycle.Seeker{})
	if err == nil && v.Answer != lifecycle.Free {
		err = &ledger.HeldError{Issue: i, Verdict: v}
	}
	return c.failed("check", number, answer(err))
}

// ForceRelease ends whatever hold stands, in the name of the token's login. Nobody holding is a
// success. Until its next heartbeat or push the former holder may still act.
func (c *Client) ForceRelease(ctx context.Context, number int, reason string) error {
	by, err := c.s.Viewer(ctx)
	if err == nil {
		_, _, err = c.s.Ledger.Force(ctx, c.issue(number), by, reason)
	}
	return c.failed("force", number, answer(err))
}

// failed says what was being done, to what.
func (c *Client) failed(doing string, number int, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", doing, c.issue(number), err)
}

// answer turns the ledger's errors into this package's. Late labels are no error: the record counts,
// and the next sweep repairs the picture.
func answer(err error) error {
	var (
		held *ledger.HeldError
		lost *ledger.LostError
		late *ledger.LabelsError
	)
	switch {
	case errors.As(err, &held):
		out := &HeldError{err: held}
		for _, r := range held.Verdict.Reasons {
			out.Reasons = append(out.Reasons, Reason{string(r.Code), r.Text, r.URL})
		}
		return out
	case errors.As(err, &lost):
		return fmt.Errorf("%w: %w", ErrLost, lost)
	case errors.As(err, &late):
		return nil
	}
	return err
}
