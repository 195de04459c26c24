package contract

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// An exchange is one request with its answer, both whole.
type exchange struct {
	request *http.Request
	sent    []byte
	status  int
	header  http.Header
	got     []byte
}

func (e exchange) String() string {
	return fmt.Sprintf("%s %s -> %d", e.request.Method, e.request.URL.RequestURI(), e.status)
}

// A recorder is a transport that remembers what went through it.
type recorder struct {
	next http.RoundTripper

	mu  sync.Mutex // guards all
	all []exchange
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	var sent []byte
	if req.Body != nil {
		var err error
		if sent, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		if err := req.Body.Close(); err != nil {
			return nil, err
		}
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(sent))
	}
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if err := resp.Body.Close(); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(got))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, exchange{req, sent, resp.StatusCode, resp.Header.Clone(), got})
	return resp, nil
}

// take returns what was recorded since it was last called.
func (r *recorder) take() []exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all
	r.all = nil
	return all
}
