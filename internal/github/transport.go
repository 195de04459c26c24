package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	maxAtOnce = 10       // requests under way; GitHub allows a hundred (docs, "Rate limits for the REST API")
	maxAnswer = 64 << 20 // bytes of one answer
)

// transport carries every request of a client: it authorizes, bounds, paces, retries and judges
// it. What it returns is a whole, valid success, or one of the package's errors.
type transport struct {
	o        Options
	hosts    []string // scheme://host that may see the token
	endpoint string   // of GraphQL
	slots    gate
	writing  gate
	limits   *limits
	posts    *pacer
	stats    *recorder
}

func newTransport(o Options) *transport {
	t := &transport{
		o: o, slots: newGate(maxAtOnce), writing: newGate(1), limits: newLimits(), posts: newPacer(), stats: newRecorder(o.Warn),
		endpoint: o.GraphQL,
	}
	for _, address := range []string{o.REST, o.GraphQL} {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			t.hosts = append(t.hosts, origin(u))
		}
	}
	return t
}

func origin(u *url.URL) string { return u.Scheme + "://" + strings.ToLower(u.Host) }

// A call is one request on its way, with all its tries.
type call struct {
	*transport
	traits
	request *http.Request
	body    []byte
	kind    string
	n       tally
	waited  time.Duration
}

// RoundTrip implements http.RoundTripper, but for one thing: every status that means failure is
// returned as an error, so that no library above has to tell failures apart.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	c, err := t.open(req)
	if err != nil {
		return nil, err
	}
	if !c.write {
		return c.run()
	}
	if t.o.DryRun {
		return nil, &DryRunError{t.stats.plan(Planned{Method: req.Method, Path: req.URL.Path, Body: string(c.body)})}
	}
	if err := c.pace(); err != nil {
		return nil, err
	}
	if err := t.writing.enter(req.Context()); err != nil {
		return nil, c.unsent(err)
	}
	defer t.writing.leave()
	return c.run()
}

// open reads the body, which every try needs again, and works out what the request is.
func (t *transport) open(req *http.Request) (*call, error) {
	c := &call{transport: t, request: req, traits: traits{method: req.Method, url: req.URL, fresh: justCreated(req.Context())}}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err = errors.Join(err, req.Body.Close()); err != nil {
			return nil, c.unsent(err)
		}
		c.body = body
	}
	address := *req.URL
	address.RawQuery = ""
	c.graphql = t.endpoint != "" && address.String() == t.endpoint
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
	default:
		c.write = !c.graphql || !readsOnly(c.body)
	}
	c.kind = kindOf(c.traits, t.o.REST)
	return c, nil
}

func (c *call) run() (*http.Response, error) {
	for {
		if err := c.hold(); err != nil {
			return nil, err
		}
		a := c.try()
		d := decide(a, c.traits, c.n, c.o.Rand(), c.o.Clock.Now())
		switch d.step {
		case stepDone:
			return a.response(c.request), nil
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
			if err := c.backOff(a, d); err != nil {
				return nil, err
			}
		}
	}
}

// obey has everybody stay away for as long as a rate limit says, also when this request gives up.
func (c *call) obey(err error) {
	var limit *RateLimitError
	if errors.As(err, &limit) {
		c.limits.set(c.resource(), c.o.Clock.Now().Add(limit.RetryAfter), limit)
	}
}

// backOff waits before a repetition, unless the caller's time is over before.
func (c *call) backOff(a answer, d decision) error {
	if a.status == http.StatusNotFound {
		c.n.fresh++
	} else {
		c.n.retries++
	}
	c.stats.retry()
	ctx := c.request.Context()
	if deadline, ok := ctx.Deadline(); ok && !c.o.Clock.Now().Add(d.wait).Before(deadline) {
		return d.err
	}
	if err := c.o.Clock.Sleep(ctx, d.wait); err != nil {
		return errors.Join(d.err, err)
	}
	return nil
}

// hold stays away for as long as GitHub has asked anyone of us to.
func (c *call) hold() error {
	for {
		now := c.o.Clock.Now()
		until, cause := c.limits.until(c.resource())
		wait := until.Sub(now)
		if wait <= 0 {
			return nil
		}
		if err := c.wait(wait, cause); err != nil {
			return err
		}
	}
}

// wait waits for a rate limit if that fits the caller's deadline and MaxWait, else gives up at
// once. It never comes back early.
func (c *call) wait(d time.Duration, cause *RateLimitError) error {
	ctx, now := c.request.Context(), c.o.Clock.Now()
	deadline, limited := ctx.Deadline()
	if c.waited+d > c.o.MaxWait || limited && !now.Add(d).Before(deadline) {
		late := *cause
		late.RetryAfter = d
		return &late
	}
	c.waited += d
	c.stats.wait()
	if err := c.o.Clock.Sleep(ctx, d); err != nil {
		return c.unsent(err)
	}
	return nil
}

// pace keeps comment posts under GitHub's limits for content.
func (c *call) pace() error {
	if c.kind != kindComment {
		return nil
	}
	for {
		now := c.o.Clock.Now()
		d := c.posts.take(now)
		if d <= 0 {
			return nil
		}
		cause := &RateLimitError{Secondary: true, At: now.Add(d), Message: "comment posts are paced"}
		if err := c.wait(d, cause); err != nil {
			return err
		}
	}
}

func (c *call) resource() string {
	if c.graphql {
		return "graphql"
	}
	return "core"
}

// try sends the request once and reads the whole answer within the time for one try.
func (c *call) try() answer {
	ctx := c.request.Context()
	if err := c.slots.enter(ctx); err != nil {
		return answer{err: c.unsent(err)}
	}
	defer c.slots.leave()
	limit := c.o.ReadTime
	if c.write {
		limit = c.o.WriteTime
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("nothing within %s", limit))
	defer cancel()
	c.stats.sent(c.kind, c.write)
	resp, err := c.o.HTTP.RoundTrip(c.prepare(ctx))
	if err != nil {
		return answer{err: c.lost(ctx, err)}
	}
	body, err := readAll(resp)
	if err != nil {
		return answer{err: c.lost(ctx, err)}
	}
	c.stats.budget(resp.Header, c.resource())
	return answer{status: resp.StatusCode, header: resp.Header, body: body}
}

// prepare makes the request of one try. The token goes to the configured hosts only.
func (c *call) prepare(ctx context.Context) *http.Request {
	r := c.request.Clone(ctx)
	r.URL, r.Host = c.url, ""
	r.Body, r.GetBody, r.ContentLength = nil, nil, 0
	if c.body != nil {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(c.body)), int64(len(c.body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(c.body)), nil }
	}
	r.Header.Del("Authorization")
	for _, host := range c.hosts {
		if origin(c.url) == host && !c.o.Token.Empty() {
			r.Header.Set("Authorization", "Bearer "+c.o.Token.reveal())
		}
	}
	r.Header.Set("User-Agent", c.o.UserAgent)
	r.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	if r.Header.Get("Accept") == "" {
		r.Header.Set("Accept", "application/vnd.github+json")
	}
	return r
}

// readAll reads and closes the body and notices when it ends too early.
func readAll(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	err = errors.Join(err, resp.Body.Close())
	switch {
	case err != nil:
		return nil, err
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("answer of more than %d bytes", maxAnswer)
	case resp.ContentLength > int64(len(body)) && resp.Request != nil && resp.Request.Method != http.MethodHead:
		return nil, io.ErrUnexpectedEOF
	}
	return body, nil
}

// lost is the error of a try without a whole answer. Only the end of the caller's time is a
// context's error; the end of one try's is not.
func (c *call) lost(try context.Context, err error) *NetworkError {
	switch caller := c.request.Context(); {
	case caller.Err() != nil:
		err = caller.Err()
	case try.Err() != nil:
		err = context.Cause(try)
	}
	return &NetworkError{Sent: true, Err: err, reason: c.o.Token.hide(printable(err.Error()))}
}

func (c *call) unsent(err error) *NetworkError {
	return &NetworkError{Err: err, reason: c.o.Token.hide(printable(err.Error()))}
}

// response is the answer as net/http shows it. Without the reset time go-github's own memory of
// rate limits, which is wrong about secondary ones, never starts.
func (a answer) response(req *http.Request) *http.Response {
	header := a.header.Clone()
	header.Del("X-RateLimit-Reset")
	return &http.Response{
		Status: fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)), StatusCode: a.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, Request: req,
		Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)),
	}
}

// String keeps the token out of prints of a client.
func (t *transport) String() string { return "transport to " + t.o.REST }

type justCreatedKey struct{}

// JustCreated marks reads of something created a moment ago: a 404 is then repeated up to two
// times, because GitHub's replicas may not have it yet.
func JustCreated(ctx context.Context) context.Context {
	return context.WithValue(ctx, justCreatedKey{}, true)
}

func justCreated(ctx context.Context) bool { return ctx.Value(justCreatedKey{}) != nil }
