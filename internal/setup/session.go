package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/holdfile"
	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/printable"
)

// Options say what a session is about. All may be empty: then it is about the clone's repository.
type Options struct {
	Ref    string // an issue as people write it; its repository is the session's
	Repo   string // owner/name; bare numbers are of it
	Host   string // of Repo, when that is known, as a host.Remote has it
	Config string // path of the configuration; empty is LABEL_STATE_CONFIG, then the repository's
	API    string // API root, the input api-url of the Action; empty is LABEL_STATE_API_URL, then what the repository's host has
	Token  string // empty looks for one

	TokenEnv string // variable with the token, as a work source names it
	Queue    Queue  // label names of a work source

	DryRun  bool // nothing is written; the client refuses (PRODUCT ruling 21)
	Verbose bool // every request is named on Stderr
	Near    bool // never ask GitHub for the configuration: the work tree's, or the defaults

	// Published is the path of the configuration in the repository, to be read from its default
	// branch and from nowhere else: a checkout may hold what a stranger proposes. A path other than
	// config.Path must be there.
	Published string
}

// A Session is everything a command needs for one repository. Close it when it is done with.
type Session struct {
	Config config.Config
	Source string // of the configuration: a path, owner/repo:path, or "defaults"
	Client *github.Client
	Ledger *ledger.Ledger
	Store  lease.Store // what decides; nil when the log does
	// Agree asks, once, whether the repository's default branch names the lease store that the
	// configuration names; another one is a *config.Error. Every claim asks it before it writes.
	Agree     func(context.Context) error
	Endpoints host.Endpoints
	Defaults  host.Defaults // to read further references with
	Repo      ledger.Repo   // zero when neither the options nor the clone name one
	Issue     claim.Issue   // zero without Options.Ref
	Worker    claim.Worker  // LABEL_STATE_CODENAME and LABEL_STATE_FIRING_ID
	TokenFrom string        // where the token was found

	env Environment
}

// Open makes a session. It reads git's configuration, the repository's configuration and a token;
// GitHub is asked for one file at most, when the configuration is not on this machine. Errors a
// caller may tell apart: *config.Error, *host.ReferenceError and *SettingError were called or
// configured wrongly; *NoTokenError, *BadTokenError and the client's could not find out.
func Open(ctx context.Context, e Environment, o Options) (*Session, error) {
	p, err := e.locate(ctx, o)
	if err != nil {
		return nil, err
	}
	conf, err := e.local(o, p)
	if err != nil {
		return nil, err
	}
	token, err := e.credential(ctx, o, p.origin)
	if err != nil {
		return nil, err
	}
	if conf == nil {
		if conf, err = e.far(ctx, o, p, token); err != nil {
			return nil, err
		}
	}
	if err := e.queue(o, conf); err != nil {
		return nil, err
	}
	return e.session(o, p, token, conf)
}

func (e Environment) credential(ctx context.Context, o Options, at origin) (credential, error) {
	switch {
	case o.Token != "":
		return credential{github.NewSecret(o.Token), "given"}, nil
	case o.TokenEnv != "":
		return e.tokenFrom(o.TokenEnv, o, at)
	}
	return e.token(ctx, at)
}

// far is the configuration of a repository that has none here.
func (e Environment) far(ctx context.Context, o Options, p place, t credential) (*configuration, error) {
	if o.Near || p.repo == (ledger.Repo{}) {
		return defaults(), nil
	}
	c, err := e.client(o, p, t, config.Default())
	if err != nil {
		return nil, err
	}
	return published(ctx, c, p.repo, cmp.Or(o.Published, config.Path))
}

// session puts the parts together.
func (e Environment) session(o Options, p place, t credential, conf *configuration) (*Session, error) {
	client, err := e.client(o, p, t, conf.Config)
	if err != nil {
		return nil, err
	}
	store := e.store(client, conf.Config)
	l := decided(ledger.New(client, Clock(), word, conf.Settings()), store, conf.Claim.Lease, o.DryRun)
	agree := func(context.Context) error { return nil }
	if conf.here && p.repo != (ledger.Repo{}) {
		agree = agrees(client, p.repo, conf)
	}
	return &Session{
		Config: conf.Config, Source: conf.source, Client: client, Ledger: l.Agreeing(agree), Store: store, Agree: agree,
		Endpoints: p.Endpoints, Defaults: p.defaults, Repo: p.repo, Issue: p.issue,
		Worker: e.Identity(), TokenFrom: t.source, env: e,
	}, nil
}

// client makes the client that a configuration asks for.
func (e Environment) client(o Options, p place, t credential, conf config.Config) (*github.Client, error) {
	carrier := e.HTTP
	if carrier == nil {
		carrier = http.DefaultTransport
	}
	if o.Verbose {
		carrier = talker{carrier, e.say}
	}
	return github.New(github.Options{
		REST: p.REST, GraphQL: p.GraphQL, Web: p.Web, Token: t.secret, HTTP: carrier,
		Scheme: conf.Labels, Clock: Clock(), DryRun: o.DryRun,
		StageLocks: conf.Compat == "stage-locks",
		Blockers:   github.Blockers{NativeOff: !conf.Blockers.Native, TextOff: !conf.Blockers.Text},
		Trust:      github.Trust{Logins: append([]string{}, conf.Trust.Logins...), Apps: conf.Trust.Apps, Minimum: github.Role(conf.Trust.Permission)},
		Warn:       func(text string) { e.say("warning: " + text) },
	})
}

// say writes one line to Stderr, whatever the text holds.
func (e Environment) say(text string) {
	fmt.Fprintf(e.Stderr, "label-state: %s\n", printable.Line(text))
}

// A talker names every request: method, host, path and answer, never the query or a header.
type talker struct {
	next http.RoundTripper
	say  func(string)
}

// RoundTrip sends the request.
func (t talker) RoundTrip(r *http.Request) (*http.Response, error) {
	start := time.Now()
	resp, err := t.next.RoundTrip(r)
	answer := "no answer"
	if err == nil {
		answer = resp.Status
	}
	t.say(fmt.Sprintf("%s %s%s: %s, %d ms", r.Method, r.URL.Host, r.URL.Path, answer, time.Since(start).Milliseconds()))
	return resp, err
}

// Close closes the connections to the lease store, if there are any. Holds stay.
func (s *Session) Close() error {
	if c, ok := s.Store.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Viewer returns the login that the token belongs to.
func (s *Session) Viewer(ctx context.Context) (string, error) { return s.Client.Viewer(ctx) }

// Word returns a random word, new at every call, for names of runs.
func (s *Session) Word() string { return word() }

// Remember records a hold for the work tree, so that later commands and the hook know whose it
// is. Outside a git repository there is nothing to record it for.
func (s *Session) Remember(h ledger.Hold) error {
	store, ok, err := s.holds()
	if !ok {
		return err
	}
	return store.Save(holdfile.Hold{
		Issue: h.Issue, Worker: h.Record.Worker, Comment: h.Comment, URL: h.URL, Token: h.Token,
		TTL: h.Record.TTL, Branch: h.Record.Branch, Until: h.Until,
	})
}

// Recall returns the hold that this work tree has recorded; ok is false when there is none.
func (s *Session) Recall(i claim.Issue) (h holdfile.Hold, ok bool, err error) {
	store, ok, err := s.holds()
	if !ok {
		return h, false, err
	}
	return store.Load(i)
}

// Forget removes the record of a hold; none recorded is a success.
func (s *Session) Forget(i claim.Issue) error {
	store, ok, err := s.holds()
	if !ok {
		return err
	}
	return store.Remove(i)
}

// holds is where this work tree's holds are kept; ok is false outside a git repository, which is no error.
func (s *Session) holds() (store holdfile.Store, ok bool, err error) {
	store, err = s.env.Holds()
	if errors.Is(err, holdfile.ErrNoRepository) {
		return store, false, nil
	}
	return store, err == nil, err
}
