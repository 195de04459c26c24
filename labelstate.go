// Package labelstate claims GitHub issues, so that no two workers do the same one.
//
// A worker is a coding agent, a script or a person. It claims an issue with [Client.Claim], or the
// next one of the queue with [Client.Next]. Of any number of workers that try, exactly one wins.
// The winner holds a lease. It renews the lease while it works ([Client.Keep]) and ends it with an
// outcome ([Client.Release]). When a worker dies, its lease expires and the issue is ready again.
//
// There is no server. The comments of the issue are the log that decides, and labels mirror the
// log. The same log serves the command line, the pre-push hook and the Action: see
// https://github.com/label-state/label-state.
//
//	c, err := labelstate.Open(ctx, labelstate.Options{Repo: "acme/app", Token: token})
//	…
//	hold, err := c.Claim(ctx, 42, labelstate.ClaimOptions{Codename: "lucius", TTL: 30 * time.Minute})
//	if errors.Is(err, labelstate.ErrHeld) {
//		return // another worker has it
//	}
//	…
//	kept, stop := c.Keep(ctx, hold)
//	pr, err := work(kept) // kept is done as soon as the hold is lost
//	stop()
//	…
//	err = c.Release(ctx, hold, labelstate.ReleaseOptions{PR: pr})
//
// # Three answers
//
// A question about a hold has three answers. A nil error is yes. No is one of [ErrHeld], [ErrLost],
// [ErrNoWork], [ErrNoPlan], [ErrPlanWaits] and [ErrBarred]. An invalid call or configuration is
// [ErrInvalid]. Every other error means that the answer could not be found out: a program must
// treat it neither as yes nor as no.
//
// # Time
//
// All times that the package returns are GitHub's. In addition, the local clock judges when the
// client's own hold ends, and does so earlier than GitHub's. A worker therefore stops before
// another one can begin.
//
// # Environment
//
// A client depends on its [Options] alone. Without [FromEnvironment] the package reads no
// environment variable and no file that Options do not name, and does not run git. The exception is
// http.DefaultTransport, which honors proxy settings.
//
// The pre-push hook identifies the pusher by the variables LABEL_STATE_CODENAME and
// LABEL_STATE_FIRING_ID. A program that runs git push under a hold sets them to [Hold.Codename] and
// [Hold.FiringID].
//
// # Lease stores
//
// A repository can name a lease store that decides instead of the log. The store on GitHub itself
// (refs) needs no import. For Redis, import lease/redis and list its Store in [Options]. A program
// that does not import it is not linked with a client of Redis.
package labelstate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/setup"
)

// The labels of the default preset. A repository's configuration may rename every one of them.
const (
	LabelImplement    = "agent:implement"             // ready: the queue
	LabelInFlight     = "agent:in-flight"             // a worker holds it
	LabelPlanPending  = "agent:plan-pending-approval" // a plan waits for its answer
	LabelPROpen       = "agent:pr-open"               // a pull request for it is open
	LabelDone         = "agent:done"                  // closed and shipped
	LabelDoNotPickup  = "do-not-pickup"               // a person's hold
	LabelNeedsScope   = "needs:human-scope"           // too vague, or failed too often
	LabelBlocked      = "agent:blocked"               // it has open blockers
	LabelAuthored     = "agent:authored"              // on pull requests
	LabelLargeFeature = "agent:large-feature"         // part of a feature in several repositories
	LabelPaused       = "agent:paused"                // its existence pauses the repository
	LabelBundlePrefix = "agent:bundle:"               // before the name of a bundle
)

// Options say which repository a client works on, and as whom. Repo and Token are required, unless
// [FromEnvironment] made the Options.
type Options struct {
	Repo   string            // owner/name
	Token  string            // of a login that may label issues in the repository
	API    string            // root of the REST API; empty is https://api.github.com
	Config string            // path of the caller's own configuration file; empty is none
	Stores []Store           // the lease stores that the program is linked with, besides refs
	HTTP   http.RoundTripper // nil is http.DefaultTransport
	// receives warnings that change no answer, one line each, from any goroutine; nil drops them
	Warn   func(text string)
	DryRun bool // every request that writes is refused with an error, and Sweep reports what it would do

	environment bool
}

// FromEnvironment returns Options with which [Open] fills every empty field as the command line
// does. The repository comes from the clone in the working directory. The token comes from GH_TOKEN
// and similar variables, from gh or from git's credential helpers. The rest comes from the
// variables of docs/cli.md. FromEnvironment itself reads nothing.
//
//	c, err := labelstate.Open(ctx, labelstate.FromEnvironment())
func FromEnvironment() Options { return Options{environment: true} }

// A Store is a client of a lease store that is a server of its own. Package lease/redis has one;
// [Open] refuses any other.
type Store interface {
	Kind() string // what claim.lease in a configuration calls it
}

// A Client claims issues in one repository. Goroutines may share it. Close it after use. The zero
// value is not valid; use [Open].
type Client struct {
	s      *setup.Session
	warn   func(string)
	dryRun bool

	mu    sync.Mutex
	holds map[holdKey]ledger.Hold // that this client has claimed or renewed
}

// Open returns a client for one repository. It asks GitHub for the repository's configuration,
// which is the file .github/label-state.yml on the default branch. An *[OptionsError] says which
// required option is empty; an invalid configuration is [ErrInvalid].
func Open(ctx context.Context, o Options) (*Client, error) {
	if missing := o.missing(); len(missing) > 0 {
		return nil, &OptionsError{Missing: missing}
	}
	c := &Client{warn: o.Warn, dryRun: o.DryRun, holds: map[holdKey]ledger.Hold{}}
	if c.warn == nil {
		c.warn = func(string) {}
	}

	env, err := o.surroundings(c)
	if err != nil {
		return nil, err
	}

	c.s, err = setup.Open(ctx, env, setup.Options{
		Repo:   o.Repo,
		Token:  o.Token,
		API:    o.API,
		Config: o.Config,
		DryRun: o.DryRun,
	})
	var none *setup.NoTokenError
	switch {
	case errors.As(err, &none):
		return nil, &OptionsError{Missing: []string{"Token"}, Err: err}
	case err != nil && setup.Misconfigured(err):
		return nil, fmt.Errorf("open %s: %w: %w", o.Repo, ErrInvalid, err)
	case err != nil:
		return nil, fmt.Errorf("open %s: %w", o.Repo, err)
	case c.s.Repo == claim.Repo{}:
		return nil, &OptionsError{Missing: []string{"Repo"}}
	}

	return c, nil
}

// missing are the required options that are empty.
func (o Options) missing() (names []string) {
	if o.environment {
		return nil
	}

	if o.Repo == "" {
		names = append(names, "Repo")
	}

	if o.Token == "" {
		names = append(names, "Token")
	}

	return names
}

// surroundings are what setup may look at.
func (o Options) surroundings(c *Client) (setup.Environment, error) {
	env := setup.Nothing(warnings{c})
	if o.environment {
		env = setup.OS()
		env.Stderr = warnings{c}
	}

	env.Stores, env.Services = map[string]lease.Opener{}, map[string]lease.Service{}
	for _, store := range o.Stores {
		service, ours := store.(lease.Service)
		switch {
		case !ours:
			return env, fmt.Errorf("open %s: %w: a store of type %T: use the one of lease/redis", o.Repo,
				ErrInvalid, store)
		case o.environment && service.URL == "" && service.TLS == nil:
			env.Stores[service.Name] = service.Open
		default:
			env.Services[service.Name] = service
		}
	}

	env.HTTP = http.DefaultTransport
	if o.HTTP != nil {
		env.HTTP = o.HTTP
	}

	return env, nil
}

// warnings is where setup writes them, each with one call.
type warnings struct{ c *Client }

// Write hands a line that the session would print to the caller's Warn.
func (w warnings) Write(p []byte) (int, error) {
	w.c.warn(strings.TrimPrefix(strings.TrimSpace(string(p)), "label-state: "))
	return len(p), nil
}

// Close closes the connections to the lease store, if there are any. Holds stay.
func (c *Client) Close() error { return c.s.Close() }

// Repo returns owner/name.
func (c *Client) Repo() string { return c.s.Repo.String() }

// Host returns the GitHub that the repository is on, such as github.com.
func (c *Client) Host() string { return c.s.Endpoints.Host() }

func (c *Client) issue(number int) claim.Issue {
	return c.s.Repo.Issue(number)
}
