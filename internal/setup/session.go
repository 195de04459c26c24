package setup

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/printable"
)

// Options say what a session is about. All may be empty: then it is about the clone's repository.
type Options struct {
	Ref    string // an issue as people write it; its repository is the session's
	Repo   string // owner/name; bare numbers are of it
	Within bool   // an issue of another repository than Repo is a wrong call
	Host   string // of Repo, when that is known, as a host.Remote has it
	Config string // path of the caller's own configuration; empty is LABEL_STATE_CONFIG, then none
	// API root, the input api-url of the Action; empty is LABEL_STATE_API_URL, then what the
	// repository's host has
	API   string
	Token string // empty looks for one

	TokenEnv string // variable with the token, as a work source names it
	Queue    Queue  // label names of a work source
	Chosen   bool   // that work source is in a file that the caller named, not the repository's

	DryRun  bool // nothing is written; the client refuses (cli.md)
	Verbose bool // every request is named on Stderr
	View    bool // nothing is decided by what is read (github.Options.View); every write is refused

	// Tolerant goes on where the configuration on the default branch has problems, without what
	// they concern: for a caller that writes nothing by it. Session.Unusable has the problems. View
	// does so, too, and says them in one line.
	Tolerant bool

	// Guess is a configuration to go by until Settle has asked for the repository's; nothing may be
	// written under it. nil has Open ask. With a guess, Repo and Host the clone is not looked at.
	Guess *config.Config

	First First // what the first query reads besides the configuration

	// Published is the path of the configuration in the repository, to be read from its default
	// branch and from nowhere else: a checkout may hold what a stranger proposes. A path other than
	// config.Path must be there.
	Published string
}

// First is what a session's first query reads besides the configuration, for the caller that asks
// the client for it next. The zero value is the issue of Options.Ref, and nothing without one.
type First struct {
	Since time.Time // not zero: the first page of the client's Scan since then
	Live  bool      // or of its Current
	Ready bool      // or of its OpenIssues that are ready for work
	Late  bool      // nothing, because the caller writes before it asks for the issue
}

// A Session is everything a command needs for one repository. Close it when it is done with.
type Session struct {
	configuration
	place
	Client    *github.Client
	Ledger    *ledger.Ledger
	Store     lease.Store  // what decides; nil when the log does
	Worker    claim.Worker // LABEL_STATE_CODENAME and LABEL_STATE_FIRING_ID
	TokenFrom string       // where the token was found

	env     Environment
	options Options
	token   credential

	recorded map[claim.Issue]bool // holds whose record this session has seen or made
}

// Open makes a session. It reads git's configuration, a token, the caller's own configuration and
// the repository's, which is the file on its default branch: GitHub is asked for that one file.
// Errors a caller may tell apart: *config.Error, answer.Usage and answer.Config were called
// or configured wrongly; *NoTokenError, *BadTokenError and the client's could not find out. With an
// error the session says at most what it would be about, by Repo and Issue, and can do nothing; it
// is nil where that is not known either.
func Open(ctx context.Context, e Environment, o Options) (*Session, error) {
	p, err := e.locate(ctx, o)
	if err != nil {
		return nil, err
	}

	s, err := e.open(ctx, o, p)
	if err != nil {
		return &Session{place: p}, err
	}

	return s, nil
}

// open makes a session about a place.
func (e Environment) open(ctx context.Context, o Options, p place) (*Session, error) {
	own, err := e.Own(o)
	if err != nil {
		return nil, err
	}

	token, err := tokenSearch{e, p.origin}.find(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.Guess != nil {
		return e.session(o, p, token, &configuration{Config: *o.Guess, Source: "a guess", own: own}, nil)
	}

	// What the repository's configuration probably is: the one that is checked out, else the
	// defaults. A wrong guess costs a request.
	probably := defaults()
	if here, there, err := p.Checkout(); there && err == nil {
		probably = &configuration{Config: here}
	}

	if whole, err := probably.under(own, p.Repo); err == nil {
		probably = whole
	}
	_ = queue(o, probably) // names that cannot be the repository's are refused once its configuration is known
	guess := probably.Config
	first, err := e.client(o, p, token, guess)
	if err != nil {
		return nil, err
	}

	switch { // the first query
	case p.Repo == (claim.Repo{}), o.First.Late:
	case o.First.Ready:
		err = first.BeginOpen(ctx, p.Repo)
	case o.First.Live, !o.First.Since.IsZero():
		err = first.BeginScan(ctx, p.Repo, o.First.Since, o.First.Live)
	case o.Ref != "":
		err = first.Begin(ctx, p.Issue)
	}

	if err != nil {
		return nil, token.blame(err)
	}
	conf, err := e.configuration(ctx, o, p, first, own)
	if err != nil {
		return nil, token.blame(err)
	}

	b := conf.Config // another one may make another client
	if !reflect.DeepEqual(guess.Labels, b.Labels) || guess.Blockers != b.Blockers ||
		guess.Lifecycle.OutsiderIssues != b.Lifecycle.OutsiderIssues || !reflect.DeepEqual(guess.Trust, b.Trust) {
		first = nil
	}

	return e.session(o, p, token, conf, first)
}

// configuration is the repository's with what is the caller's own.
func (e Environment) configuration(ctx context.Context, o Options, p place, c *github.Client,
	own config.Own,
) (*configuration, error) {
	conf := defaults()
	if p.Repo != (claim.Repo{}) {
		var err error
		conf, err = published(ctx, c, p.Repo, cmp.Or(o.Published, config.Path))
		tolerable := err != nil && conf != nil && conf.Unusable != nil && (o.Tolerant || o.View)
		if err != nil && !tolerable {
			return nil, err
		}

		if tolerable && o.View {
			e.say("note: " + conf.Unusable.Brief())
		}
	}

	// One line says that the file which is checked out is not the one that counts.
	here, there, err := p.Checkout()
	switch {
	case !there, conf.Unusable != nil: // one line is enough
	case err != nil:
		first, _, _ := strings.Cut(err.Error(), "\n")
		e.say("note: " + first + "; what counts is the default branch of " + p.Repo.String())
	default:
		if text := Differs(here, conf.Config, p.Repo); text != "" {
			e.say("note: " + text)
		}
	}

	whole, err := conf.under(own, p.Repo)
	if err != nil && conf.Unconfigured { // or there is no repository that could have a file
		_, absent := c.Repository(ctx, p.Repo)
		err = cmp.Or(absent, err)
	}

	if err != nil {
		return nil, err
	}

	return whole, queue(o, whole)
}

// Settle returns the session under the configuration that counts: s itself when the guess was
// right. The configuration has come along with the first query of s.
func (s *Session) Settle(ctx context.Context) (*Session, error) {
	o := s.options
	o.Guess = nil
	conf, err := s.env.configuration(ctx, o, s.place, s.Client, s.own)
	if err != nil {
		return nil, err
	}
	if reflect.DeepEqual(conf.Config, s.Config) {
		s.Unusable = conf.Unusable
		return s, nil
	}

	return s.env.session(o, s.place, s.token, conf, nil)
}

// session puts the parts together; client is nil when one has to be made.
func (e Environment) session(o Options, p place, t credential, conf *configuration,
	client *github.Client,
) (*Session, error) {
	if client == nil {
		var err error
		if client, err = e.client(o, p, t, conf.Config); err != nil {
			return nil, err
		}
	}

	if conf.Contributors.Open() {
		client.WelcomeContributors()
	}

	store := e.store(client, conf.Config)
	// Who asks from within a session has its name in the firing ids it makes, and a short lease
	// where the host's events renew it.
	settings := conf.Settings()
	in, _ := e.Session()
	settings.Run, settings.DryRun = in.Run(), o.DryRun
	nameless := agenthost.Nameless(e.Getenv) // a host that does not say in which session
	files, err := e.SessionFiles()
	if e.Heartbeats(in) || nameless != "" && err == nil && files.Some(nameless) {
		settings.Lease = min(conf.Sessions.TTL, conf.Claim.MaxTTL)
	}

	if e.Dir != "" && o.Published == "" { // the machine of the Action is nobody's
		settings.PausedHere = e.PausedHere
	}
	l := ledger.New(client, Clock(), Word, settings)
	switch {
	case store == nil: // the log itself decides
	case o.DryRun:
		l = l.Strict(lease.ReadOnly{Store: store}, conf.Claim.Lease)
	default:
		l = l.Strict(store, conf.Claim.Lease)
	}

	return &Session{
		configuration: *conf,
		place:         p,
		Client:        client,
		Ledger:        l,
		Store:         store,
		Worker:        e.Identity(),
		TokenFrom:     t.source,
		env:           e,
		options:       o,
		token:         t,
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
		REST:           p.REST,
		GraphQL:        p.GraphQL,
		Web:            p.Web,
		Token:          t.secret,
		HTTP:           carrier,
		Limits:         e.Limits,
		Scheme:         conf.Labels,
		Clock:          Clock(),
		DryRun:         o.DryRun || o.View,
		View:           o.View,
		Along:          cmp.Or(o.Published, config.Path),
		OutsiderIssues: conf.Lifecycle.OutsiderIssues,
		Blockers:       github.Blockers{NativeOff: !conf.Blockers.Native, TextOff: !conf.Blockers.Text},
		Trust: github.Trust{
			Logins: append([]string{}, conf.Trust.Logins...), Apps: conf.Trust.Apps,
			Minimum: github.Role(conf.Trust.Permission),
		},
		Warn:    func(text string) { e.say("warning: " + text) },
		Waiting: e.Waiting,
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
