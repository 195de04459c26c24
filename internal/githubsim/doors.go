package githubsim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Client returns an HTTP client that talks to the server in the caller's goroutine, whatever host
// it asks for.
func (s *Server) Client() *http.Client { return &http.Client{Transport: s.Transport()} }

// Transport serves requests in the caller's goroutine, whatever host they are for. It opens no
// socket.
func (s *Server) Transport() http.RoundTripper { return transport{s} }

type transport struct{ server *Server }

// RoundTrip implements http.RoundTripper. A reset is an error that wraps syscall.ECONNRESET.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, errors.Join(err, closeBody(r))
	}
	answer, err := t.server.exchange(r)
	if err != nil {
		return nil, err
	}
	if answer.reset {
		return nil, errReset()
	}

	return answer.response(r), nil
}

func closeBody(r *http.Request) error {
	if r.Body == nil {
		return nil
	}
	return r.Body.Close()
}

func (a reply) response(r *http.Request) *http.Response {
	resp := &http.Response{
		Status:        fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)),
		StatusCode:    a.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        a.header,
		ContentLength: int64(len(a.body)),
		Body:          io.NopCloser(bytes.NewReader(a.body)),
		Request:       r,
	}

	switch {
	case r.Method == http.MethodHead || a.status == http.StatusNoContent || a.status == http.StatusNotModified:
		resp.Body, resp.ContentLength = http.NoBody, 0
	case a.cut >= 0:
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(a.body[:a.cut]), brokenReader{}))
	}

	return resp
}

// A brokenReader is the end of a connection that broke.
type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// ServeHTTP implements http.Handler. A reset hangs up where the connection can be taken over, and
// is 502 elsewhere.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := s.exchange(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if answer.reset || answer.cut >= 0 {
		hangUp(w, answer)
		return
	}

	for name, values := range answer.header {
		w.Header()[name] = values
	}

	if answer.status != http.StatusNoContent && answer.status != http.StatusNotModified {
		w.Header().Set("Content-Length", strconv.Itoa(len(answer.body)))
	}
	w.WriteHeader(answer.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(answer.body) // the client may have gone; nobody is left to tell
	}
}

// hangUp sends the part of the answer that arrives, then drops the connection.
func hangUp(w http.ResponseWriter, a reply) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}

	defer conn.Close()
	if a.reset {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // a reset instead of an orderly end, where the system can
		}
		return
	}

	var head bytes.Buffer
	fmt.Fprintf(&head, "HTTP/1.1 %d %s\r\n", a.status, http.StatusText(a.status))
	a.header.Set("Content-Length", strconv.Itoa(len(a.body)))
	_ = a.header.Write(&head) // a buffer takes everything
	head.WriteString("\r\n")
	_, _ = conn.Write(append(head.Bytes(), a.body[:a.cut]...)) // the connection is to break anyway
}

// Listen serves on addr, such as 127.0.0.1:0, and returns the base URL: the API's root, with
// GraphQL at /graphql and git at /OWNER/REPO.git. From then on the addresses in answers start with
// it. stop ends all connections.
func (s *Server) Listen(addr string) (baseURL string, stop func(), err error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return "", nil, fmt.Errorf("listen on %s: %w", addr, err)
	}

	base := "http://" + listener.Addr().String()
	s.mu.Lock()
	s.setBase(base, base)
	s.mu.Unlock()
	server := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // it ends when stop is called
	}()

	return base, func() {
		_ = server.Close() // nothing to be done about a listener that does not close
		<-done
	}, nil
}
