package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

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
	resp, err := c.o.HTTP.RoundTrip(c.prepare(ctx))
	if err != nil {
		return answer{err: c.lost(ctx, err)}
	}
	body, err := readAll(resp)
	if err != nil {
		return answer{err: c.lost(ctx, err)}
	}
	c.budgets.see(resp.Header, c.resource())
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
	slow := false
	switch caller := c.request.Context(); {
	case caller.Err() != nil:
		err = caller.Err()
	case try.Err() != nil:
		err, slow = context.Cause(try), true
	}
	return &NetworkError{Sent: true, Err: err, slow: slow, reason: c.o.Token.hide(oneLine(err.Error()))}
}

func (c *call) unsent(err error) *NetworkError {
	return &NetworkError{Err: err, reason: c.o.Token.hide(oneLine(err.Error()))}
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
