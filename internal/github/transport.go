package github

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/label-state/label-state/internal/clock"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/protocol"
)

const (
	maxAtOnce = 10       // requests under way; GitHub allows a hundred (docs, "Rate limits for the REST API")
	maxAnswer = 16 << 20 // bytes of one answer; twelve of the longest comments and pull requests are half of it

	smallAnswer = 1 << 20 // bytes of an answer that is read at once
	largeAtOnce = 2       // longer answers that are read side by side

	writeTime = 20 * time.Second // one try of a write
)

// transport carries every request of a client: it authorizes, bounds, paces, retries and judges
// it. What it returns is a whole, valid success, or one of the package's errors.
type transport struct {
	o        Options
	hosts    []string // scheme://host that may see the token
	endpoint string   // of GraphQL
	slots    *semaphore.Weighted
	most     int                // octets of one answer
	large    chan *bytes.Buffer // for large answers
	writing  *semaphore.Weighted
	limits   *limits
	warned   atomic.Bool
	writes   atomic.Int64 // that were sent
}

func newTransport(o Options) *transport {
	t := &transport{
		o:        o,
		slots:    semaphore.NewWeighted(maxAtOnce),
		most:     maxAnswer,
		large:    make(chan *bytes.Buffer, largeAtOnce),
		writing:  semaphore.NewWeighted(1),
		limits:   o.Limits.of(o.REST, o.Token),
		endpoint: o.GraphQL,
	}

	for range largeAtOnce {
		t.large <- new(bytes.Buffer)
	}

	for _, address := range []string{o.REST, o.GraphQL} {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			t.hosts = append(t.hosts, origin(u))
		}
	}

	return t
}

// origin is the scheme and the host with its port, as one text for one server.
func origin(u *url.URL) string {
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if usual := map[string]string{"http": ":80", "https": ":443"}[scheme]; usual != "" {
		host = strings.TrimSuffix(host, usual)
	}
	return scheme + "://" + host
}

// A call is one request on its way, with all its tries.
type call struct {
	*transport
	traits
	request *http.Request
	body    []byte
	comment bool // it posts a comment
	n       tally
	waited  time.Duration
	vigil   *clock.Vigil
}

// RoundTrip implements http.RoundTripper, but for one thing: every status that means failure is
// returned as an error, so that no library above has to tell failures apart.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	c, err := t.open(req)
	if err != nil {
		return nil, err
	}
	if c.write && t.o.DryRun {
		return nil, protocol.NotWritten(&ledger.Unsent{})
	}

	c.vigil = clock.Watch(t.o.Waiting)
	defer c.vigil.End()
	if !c.write {
		return c.run()
	}

	t.writes.Add(1)
	for c.comment {
		now := c.o.Clock.Now()
		d := c.limits.posts.take(now)
		if d <= 0 {
			break
		}
		if err := c.wait(d, &RateLimitError{
			Secondary: true, At: now.Add(d),
			Message: "comment posts are paced",
		}); err != nil {
			return nil, err
		}
	}

	if err := t.writing.Acquire(req.Context(), 1); err != nil {
		return nil, c.unsent(err)
	}
	defer t.writing.Release(1)

	return c.run()
}

// open reads the body, which every try needs again, and works out what the request is.
func (t *transport) open(req *http.Request) (*call, error) {
	ctx := req.Context()
	c := &call{transport: t, request: req, traits: traits{
		method: req.Method,
		url:    req.URL,
		fresh:  ctx.Value(justCreated) != nil,
		same:   ctx.Value(repeatable) != nil,
		less:   ctx.Value(replaced) != nil,
	}, comment: ctx.Value(commenting) != nil}

	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err = errors.Join(err, req.Body.Close()); err != nil {
			return nil, c.unsent(err)
		}
		c.body = body
	}

	address := *req.URL
	address.RawQuery = ""
	c.graphql = address.String() == t.endpoint

	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
	default:
		c.write = ctx.Value(reading) == nil
	}

	return c, nil
}

func (c *call) run() (*http.Response, error) {
	for {
		for { // stays away for as long as GitHub has asked anyone of us to
			wait, cause := c.limits.open(c.resource(), c.o.Clock.Now())
			if wait <= 0 {
				break
			}
			if err := c.wait(wait, cause); err != nil {
				return nil, err
			}
		}

		a := c.try()
		d := decide(a, c.traits, c.n, c.o.Rand(), c.o.Clock.Now())
		switch d.step {
		case stepDone:
			// Without the reset time go-github's own memory of rate limits, which is wrong about
			// secondary ones, never starts.
			header := a.header.Clone()
			header.Del("X-RateLimit-Reset")
			return &http.Response{
				Status:        fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)),
				StatusCode:    a.status,
				Proto:         "HTTP/1.1",
				ProtoMajor:    1,
				ProtoMinor:    1,
				Header:        header,
				Request:       c.request,
				Body:          io.NopCloser(bytes.NewReader(a.body)),
				ContentLength: int64(len(a.body)),
			}, nil

		case stepFail:
			c.obey(d.err)
			return nil, d.err

		case stepFollow:
			c.n.hops++
			c.url = d.to

		case stepLimit:
			c.n.limits++
			c.obey(d.err)

		case stepRetry:
			c.n.retries++
			fits, err := c.sleep(d.wait, "another try, after: "+d.err.Error())
			if !fits {
				return nil, d.err
			}
			if err != nil {
				return nil, errors.Join(d.err, err)
			}
		}
	}
}

// obey has everybody stay away for as long as a rate limit says, also when this request gives up.
func (c *call) obey(err error) {
	if limit, is := errors.AsType[*RateLimitError](err); is {
		resource, until := c.resource(), c.o.Clock.Now().Add(limit.RetryAfter)
		if limit.Secondary {
			resource = everything
		}

		c.limits.close(resource, until, limit)
	}
}

// sleep waits before the next try if that fits the caller's deadline. It never comes back early.
func (c *call) sleep(d time.Duration, why string) (fits bool, err error) {
	ctx, until := c.request.Context(), c.o.Clock.Now().Add(d)
	if deadline, limited := ctx.Deadline(); limited && !until.Before(deadline) {
		return false, nil
	}

	c.vigil.For(why, until)
	return true, c.o.Clock.Sleep(ctx, d)
}

// wait waits for a rate limit if that fits the caller's deadline and MaxWait, else gives up at
// once.
func (c *call) wait(d time.Duration, cause *RateLimitError) error {
	late := *cause
	late.RetryAfter = d
	if c.waited += d; c.waited > c.o.MaxWait {
		return &late
	}

	said := cmp.Or(strings.TrimRight(cause.Message, ". "), "it has asked for fewer requests")
	fits, err := c.sleep(d, "GitHub's rate limit: "+said)
	switch {
	case !fits:
		return &late
	case err != nil:
		return c.unsent(err)
	}

	return nil
}

func (c *call) resource() string {
	if c.graphql {
		return "graphql"
	}
	return "core"
}

// A hint is what a caller knows about a request and the request does not say.
type hint int

const (
	justCreated hint = iota // a 404 or 422 is repeated: GitHub's replicas may not have it yet
	commenting              // it posts a comment, which GitHub limits more than anything else
	repeatable              // a write that may be sent twice, which its method does not say
	replaced                // not repeated if it is too much: what comes next is to ask for less
	reading                 // it changes nothing, which its method does not say
)

func hinted(ctx context.Context, h hint) context.Context { return context.WithValue(ctx, h, true) }

// try sends the request once and reads the whole answer within the time for one try. The token goes
// to the configured hosts only.
func (c *call) try() response {
	ctx := c.request.Context()
	if err := c.slots.Acquire(ctx, 1); err != nil {
		return response{err: c.unsent(err)}
	}

	defer c.slots.Release(1)
	limit := c.o.ReadTime
	if c.write {
		limit = writeTime
	}

	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("nothing within %s", limit))
	defer cancel()
	until, _ := ctx.Deadline()
	c.vigil.For("an answer of "+c.url.Host, until)
	r := c.request.Clone(ctx)
	r.URL, r.Host = c.url, ""
	r.Body, r.GetBody, r.ContentLength = nil, nil, 0
	if c.body != nil {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(c.body)), int64(len(c.body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(c.body)), nil }
	}

	r.Header.Del("Authorization")
	if slices.Contains(c.hosts, origin(c.url)) && !c.o.Token.empty() {
		r.Header.Set("Authorization", "Bearer "+c.o.Token.reveal())
	}

	r.Header.Set("User-Agent", "label-state")
	r.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	r.Header.Set("Accept", cmp.Or(r.Header.Get("Accept"), "application/vnd.github+json"))
	resp, err := c.o.HTTP.RoundTrip(r)
	if err != nil {
		return response{err: c.lost(ctx, err)}
	}

	body, err := c.read(ctx, resp.Body)
	err = errors.Join(err, resp.Body.Close())
	switch {
	case err != nil:
	case resp.ContentLength > int64(len(body)):
		err = io.ErrUnexpectedEOF // it ends too early
	}

	if err != nil {
		return response{err: c.lost(ctx, err)}
	}

	a := c.o.Token.hideIn(response{status: resp.StatusCode, header: resp.Header, body: body})
	c.warnLowBudget(a.header)
	return a
}

// errLarge is an answer that is longer than what is read of one.
var errLarge = fmt.Errorf("an answer of more than %d bytes", maxAnswer)

// read reads an answer whole. Those that are large take turns at a few buffers, so that they do not
// fill the memory together.
func (c *call) read(ctx context.Context, from io.Reader) ([]byte, error) {
	small := min(smallAnswer, c.most)
	body, err := io.ReadAll(io.LimitReader(from, int64(small)))
	if err != nil || len(body) < small {
		return body, err
	}

	var whole *bytes.Buffer
	select {
	case whole = <-c.large:
	case <-ctx.Done():
		return nil, ctx.Err()
	}

	defer func() { c.large <- whole }()
	whole.Reset()
	whole.Grow(c.most + 1 + bytes.MinRead) // it never grows again
	whole.Write(body)
	if _, err = whole.ReadFrom(io.LimitReader(from, int64(c.most+1-small))); err != nil {
		return nil, err
	}
	if whole.Len() > c.most {
		return nil, errLarge
	}

	return bytes.Clone(whole.Bytes()), nil
}

// lost is the error of a try without a whole answer. Only the end of the caller's time is a
// context's error; the end of one try's is not.
func (c *call) lost(try context.Context, err error) *NetworkError {
	slow := false
	switch caller := c.request.Context(); {
	case caller.Err() != nil:
		err = caller.Err()
	case try.Err() != nil:
		err, slow = context.Cause(try), true
	}

	large := errors.Is(err, errLarge)
	err = c.o.Token.hideCause(err)
	return &NetworkError{
		Sent:   true,
		caused: caused{err},
		slow:   slow,
		large:  large,
		reason: oneLine(withoutSource(err)),
	}
}

// withoutSource is an error's text without our local port, which differs each time and tells
// nothing.
func withoutSource(err error) string {
	op, is := errors.AsType[*net.OpError](err)
	if !is || op.Source == nil {
		return err.Error()
	}
	return strings.ReplaceAll(err.Error(), op.Source.String()+"->", "")
}

func (c *call) unsent(err error) *NetworkError {
	err = c.o.Token.hideCause(err)
	return &NetworkError{caused: caused{err}, reason: oneLine(err.Error())}
}

// readsOnly reports whether a GraphQL document cannot change anything. A document that begins with a
// query runs that query where no operation is named, or nothing (GraphQL specification, 6.1).
func readsOnly(document string) bool {
	document = strings.TrimLeft(document, " \t\r\n,\ufeff")
	return strings.HasPrefix(document, "{") || strings.HasPrefix(document, "query")
}
