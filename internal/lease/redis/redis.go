// Package redis is a lease store in a Redis server, for fleets that outgrow the API budget of one
// repository.
//
// Each step is one script, which Redis runs as a whole. The lease of an issue is one key that
// expires by the server's clock; its value names the token, the ttl and the worker, and only who
// shows that token and worker can extend or delete it. The token comes from a counter that never
// expires. Keys of one issue share a hash tag, so that they also work in a Redis Cluster.
//
// What it promises, of one server that writes its log before it answers (appendonly yes,
// appendfsync always): one holder at a time, tokens that grow, with any clock on the client, also
// over a crash. What it does not: a replica that takes over may lack the last writes, and a server
// that fsyncs every second forgets up to a second; then two workers can hold one issue, or a token
// that no caller has seen can come twice. The fencing token and the pre-push hook are what protects
// the work then.
package redis

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
)

var (
	_ lease.Remote = (*Store)(nil)
	_ lease.Prober = (*Store)(nil)
	_ lease.Lister = (*Store)(nil)
)

// A Client sends one command to a Redis server and returns its answer, as redigo's connections do:
// an error that the server answers is a redis.Error. It may be used from any goroutine.
type Client interface {
	Do(ctx context.Context, command string, args ...any) (any, error)
	Close() error
}

// A Store keeps leases in Redis. It may be used from any goroutine.
type Store struct{ client Client }

var errAddress = fmt.Errorf("%w: expected redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE], rediss:// or unix://",
	lease.ErrAddress)

// dialTime bounds the wait for a connection, and answerTime the wait for an answer, beside the
// caller's own time. A server that is not there is asked twice: whoever waits has reasons of its
// own to ask again.
const (
	dialTime   = 2 * time.Second
	answerTime = lease.AnswerTime
)

// Open returns a store at one redis://, rediss:// or unix:// URL. A server with TLS must accept us,
// and we it, or the error is a *lease.DeniedError; a URL that cannot be read is lease.ErrAddress.
// It is a lease.Opener.
func Open(secure *tls.Config, address string) (lease.Remote, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, errAddress // the error of the parser shows the address, and so the password
	}
	if at.Scheme == "unix" && at.Host == "" && at.Path != "" {
		password, _ := at.User.Password()
		return dialed("unix", at.Path, nil, redis.DialUsername(at.User.Username()), redis.DialPassword(password)), nil
	}

	database, err := strconv.ParseUint(cmp.Or(strings.Trim(at.Path, "/"), "0"), 10, 16)
	if at.Scheme != "redis" && at.Scheme != "rediss" || at.Hostname() == "" || err != nil {
		return nil, errAddress
	}

	host := net.JoinHostPort(at.Hostname(), cmp.Or(at.Port(), "6379"))
	options := append(login(at.User), redis.DialDatabase(int(database)))
	if at.Scheme == "redis" {
		return dialed("tcp", host, nil, options...), nil
	}

	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if secure != nil {
		config = secure.Clone()
	}

	if err := lease.ProbeTLS(context.Background(), config, host); err != nil {
		return nil, fmt.Errorf("open redis: %w", err)
	}

	return dialed("tcp", host, config, options...), nil
}

// login is what a URL says of who connects: a name and a password, or a password alone, which
// redis-cli also reads without a colon before it.
func login(user *url.Userinfo) []redis.DialOption {
	name := user.Username()
	password, both := user.Password()
	switch {
	case name == "":
		return []redis.DialOption{redis.DialPassword(password)}
	case !both:
		return []redis.DialOption{redis.DialPassword(name)}
	}

	return []redis.DialOption{redis.DialUsername(name), redis.DialPassword(password)}
}

// dialed returns a store whose connections go to one address, by TLS where there is a configuration
// for it. No answer may be larger than a store needs.
func dialed(network, address string, secure *tls.Config, options ...redis.DialOption) *Store {
	plain := &net.Dialer{Timeout: dialTime}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		open := plain.DialContext
		if secure != nil {
			open = (&tls.Dialer{NetDialer: plain, Config: secure}).DialContext
		}

		ctx, cancel := context.WithTimeout(ctx, answerTime)
		defer cancel()

		c, err := open(ctx, network, address)
		if err != nil {
			return nil, err
		}

		return &bounded{Conn: c}, nil
	}

	options = append(options, redis.DialContextFunc(dial), redis.DialReadTimeout(answerTime),
		redis.DialWriteTimeout(answerTime))

	return New(connect(func(ctx context.Context) (redis.Conn, error) {
		return redis.DialContext(ctx, network, address, options...)
	}))
}

// connect returns a client that keeps one idle connection.
func connect(dial func(context.Context) (redis.Conn, error)) Client {
	return &pooled{redis.Pool{MaxIdle: 1, DialContext: dial}}
}

// A pooled client takes connections from a pool.
type pooled struct{ redis.Pool }

// Do sends a command, and sends it again on a new connection when the first was broken: every
// command of a store may be repeated.
func (p *pooled) Do(ctx context.Context, command string, args ...any) (any, error) {
	answer, err := p.once(ctx, command, args...)
	var answered redis.Error
	if err != nil && !errors.As(err, &answered) {
		answer, err = p.once(ctx, command, args...)
	}
	return answer, err
}

func (p *pooled) once(ctx context.Context, command string, args ...any) (any, error) {
	c, err := p.GetContext(ctx)
	if err != nil {
		return nil, err
	}
	answer, err := redis.DoContext(c, ctx, command, args...)
	return answer, errors.Join(err, c.Close())
}

// New returns a store that uses a client.
func New(client Client) *Store { return &Store{client} }

// Close closes the connections. Leases stay.
func (s *Store) Close() error { return s.client.Close() }

// The keys of an issue.
type keys struct {
	lease string // who holds it; expires
	token string // the last token given out; never expires
}

// ended is the key of a worker that released its lease, or of a process that gave up.
func (k keys) ended(process string) string {
	return k.lease + ":ended:" + strings.Replace(process, " ", ":", 1)
}

// prefix is what every key of a store begins with.
const prefix = "label-state:"

// key is what every key of the issue begins with. GitHub does not tell upper from lower case.
func key(i claim.Issue) keys {
	base := prefix + "{" + strings.ToLower(i.String()) + "}"
	return keys{base, base + ":token"}
}

// name is a worker as part of a value or a key: one word.
func name(w claim.Worker) string {
	return url.QueryEscape(w.Codename) + ":" + url.QueryEscape(w.FiringID)
}

// processOf is one process of a worker: its name, and its nonce if it has one.
func processOf(w claim.Worker, nonce string) string {
	if nonce == "" {
		return name(w)
	}
	return name(w) + " " + url.QueryEscape(nonce)
}

// Acquire implements lease.Store.
func (s *Store) Acquire(ctx context.Context, a lease.Ask) (lease.Lease, error) {
	k, process := key(a.Issue), processOf(a.Worker, a.Nonce)
	got, err := s.run(ctx, a.Issue, acquire, []string{k.lease, k.token, k.ended(name(a.Worker)), k.ended(process)},
		process, millis(a.TTL), fmt.Sprintf("%d/%d", a.Takes, a.Floor()))
	switch {
	case err != nil:
		return lease.Lease{}, fmt.Errorf("acquire %s: %w", a.Issue, err)
	case got.Token == 0:
		return lease.Lease{}, fmt.Errorf("acquire %s: %s has released it before: %w", a.Issue, a.Worker, lease.ErrLost)
	case !a.Of(got):
		return lease.Lease{}, fmt.Errorf("acquire %s: %w", a.Issue, &lease.HeldError{Lease: got})
	}

	return got, nil
}

// Renew implements lease.Store.
func (s *Store) Renew(ctx context.Context, l lease.Lease) (lease.Lease, error) {
	got, err := s.run(ctx, l.Issue, renew, []string{key(l.Issue).lease}, processOf(l.Worker, l.Nonce), millis(l.TTL),
		l.Token)
	if err == nil && got.Token == 0 {
		err = lease.ErrLost
	}

	if err != nil {
		return lease.Lease{}, fmt.Errorf("renew %s: %w", l.Issue, err)
	}

	return got, nil
}

// Release implements lease.Store. A worker that has released its lease cannot take the issue again
// under the same firing id for a day, nor can a process that gave up: a request of its own may
// still be on its way, and must find nothing to take (spec-writing.md#claim).
func (s *Store) Release(ctx context.Context, l lease.Lease) error {
	k, process := key(l.Issue), processOf(l.Worker, l.Nonce)
	ended := k.ended(name(l.Worker))
	if l.Token == 0 {
		ended = k.ended(process)
	}

	if _, err := s.run(ctx, l.Issue, release, []string{k.lease, ended}, process, millis(day), l.Token); err != nil {
		return fmt.Errorf("release %s: %w", l.Issue, err)
	}

	return nil
}

// Look implements lease.Store.
func (s *Store) Look(ctx context.Context, i claim.Issue) (l lease.Lease, held bool, err error) {
	got, err := s.run(ctx, i, look, []string{key(i).lease})
	if err != nil {
		return lease.Lease{}, false, &claim.IssueError{Doing: "look at", Issue: i, Err: err}
	}
	return got, got.Token != 0, nil
}

const day = 24 * time.Hour

// millis rounds up to what Redis counts in; nothing lasts for no time.
func millis(d time.Duration) int64 { return max(1, int64((d+time.Millisecond-1)/time.Millisecond)) }

// run runs a script and reads the lease that it answers; a Token of zero is no lease.
func (s *Store) run(ctx context.Context, i claim.Issue, x script, keys []string, args ...any) (lease.Lease, error) {
	all := []any{x.text, x.keys} // and the keys before the other arguments
	for _, k := range keys {
		all = append(all, k)
	}

	answer, err := redis.Strings(s.client.Do(ctx, "EVAL", append(all, args...)...))
	switch {
	case err != nil:
		return lease.Lease{}, named(err)
	case len(answer) == 0:
		return lease.Lease{}, nil
	case len(answer) != 2:
		return lease.Lease{}, fmt.Errorf("script answered %d values", len(answer))
	}

	// The value is what the acquire script writes: token, ttl in milliseconds, worker, and the
	// nonce if there is one.
	part := strings.Fields(answer[0])
	if len(part) < 3 || len(part) > 4 {
		return lease.Lease{}, fmt.Errorf("read %s: its value is not a lease", keys[0])
	}

	token, err1 := strconv.ParseInt(part[0], 10, 64)
	ttl, err2 := strconv.ParseInt(part[1], 10, 64)
	codename, firing, _ := strings.Cut(part[2], ":")
	codename, err3 := url.QueryUnescape(codename)
	firing, err4 := url.QueryUnescape(firing)
	nonce, err5 := url.QueryUnescape(strings.Join(part[3:], ""))
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil || token < 1 {
		return lease.Lease{}, fmt.Errorf("read %s: its value is not a lease", keys[0])
	}

	until, err := strconv.ParseInt(answer[1], 10, 64)
	return lease.Lease{
		Issue:   i,
		Worker:  claim.Worker{Codename: codename, FiringID: firing},
		Nonce:   nonce,
		TTL:     time.Duration(ttl) * time.Millisecond,
		Token:   token,
		Expires: time.UnixMilli(until).UTC(),
		Tip:     answer[0],
	}, err
}
