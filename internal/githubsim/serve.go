package githubsim

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// A reply is one answer on its way to either door.
type reply struct {
	status int
	header http.Header
	body   []byte
	cut    int  // so many bytes of the body arrive, then the connection is reset; negative means all
	reset  bool // nothing arrives
}

// maxRequest is how large a request's body may be.
const maxRequest = 64 << 20

// exchange takes one request through the faults to its answer. Its error is the client's: it went
// away, or its body could not be read.
func (s *Server) exchange(r *http.Request) (reply, error) {
	arrived := s.now()
	body, err := readBody(r)
	if err != nil {
		return reply{}, err
	}

	r = withBody(r.Context(), r, body)
	fault := s.fault(r, body)
	leave, refused := s.enter(r, body)
	defer leave()
	if refused != nil {
		fault = Fault{
			Delay:       fault.Delay,
			DelayAnswer: fault.DelayAnswer,
			Status:      refused.Status,
			Header:      refused.Header,
			Body:        refused.Body,
		}
	}

	answer, err := reply{}, pause(r.Context(), fault.Delay)
	if err == nil {
		answer = s.perform(r, body, fault)
	}

	if logged := s.note(r, body, arrived, answer); logged != nil {
		return reply{}, logged
	}

	if err == nil {
		err = pause(r.Context(), fault.DelayAnswer)
	}

	return answer, err
}

// fault asks what shall go wrong with the request.
func (s *Server) fault(r *http.Request, body []byte) Fault {
	if s.Fault == nil {
		return Fault{}
	}
	f := s.Fault(withBody(r.Context(), r, body))
	if f == nil {
		return Fault{}
	}

	return *f
}

// perform applies the request, or does not, as the fault says.
func (s *Server) perform(r *http.Request, body []byte, fault Fault) reply {
	_, _, git := gitPath(r.URL.Path)
	late := fault.ApplyLate > 0 || fault.ApplyHeld
	switch {
	case fault.Reset:
		return reply{reset: true}
	case late && !git:
		s.postpone(withBody(context.WithoutCancel(r.Context()), r, body), fault)
		return fault.reply()

	case fault.ApplyThenFail || late:
		s.apply(r, fault)
		return fault.reply()
	case fault.Status != 0 && fault.QueryTimeout == 0:
		return fault.reply()
	}

	answer := s.apply(r, fault)
	answer.cut = -1
	if fault.Truncate > 0 && fault.Truncate < len(answer.body) {
		answer.cut = fault.Truncate
	}

	return answer
}

// reply is the answer that the fault makes up.
func (f Fault) reply() reply {
	if f.Status == 0 {
		return reply{reset: true}
	}
	header := f.Header.Clone()
	if header == nil {
		header = http.Header{}
	}

	if header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/json; charset=utf-8")
	}
	body := f.Body
	if body == "" {
		body = `{"message":"` + http.StatusText(f.Status) + `"}`
	}

	return reply{
		status: f.Status,
		header: header,
		body:   []byte(body),
		cut:    -1,
	}
}

// apply serves the request for good.
func (s *Server) apply(r *http.Request, fault Fault) reply {
	rec := &recorder{header: http.Header{}}
	if _, _, ok := gitPath(r.URL.Path); ok {
		s.serveGit(rec, r)
		return rec.reply()
	}

	defer s.lock()()
	s.serveAPI(rec, r, fault)
	return rec.reply()
}

// A lateRequest waits to be applied.
type lateRequest struct {
	request *http.Request
	due     time.Time // zero: when released
}

func (s *Server) postpone(r *http.Request, fault Fault) {
	defer s.lock()()
	late := lateRequest{request: r}
	if !fault.ApplyHeld {
		late.due = s.now().Add(fault.ApplyLate)
	}
	s.late = append(s.late, late)
}

// applyDue applies the requests that are due by now, in the order of their times.
func (s *Server) applyDue(now time.Time) {
	if len(s.late) == 0 {
		return
	}
	s.applyLate(func(l lateRequest) bool { return !l.due.IsZero() && !l.due.After(now) })
}

// ReleaseLate applies every request that ApplyHeld or ApplyLate kept back and that is not applied
// yet.
func (s *Server) ReleaseLate() {
	defer s.lock()()
	s.applyLate(func(lateRequest) bool { return true })
}

func (s *Server) applyLate(due func(lateRequest) bool) {
	var ready, waiting []lateRequest
	for _, l := range s.late {
		if due(l) {
			ready = append(ready, l)
		} else {
			waiting = append(waiting, l)
		}
	}

	s.late = waiting
	slices.SortStableFunc(ready, func(a, b lateRequest) int { return a.due.Compare(b.due) })
	for _, l := range ready {
		at := l.due
		if now := s.now(); at.IsZero() || at.After(now) {
			at = now
		}
		s.begin(at)
		s.serveAPI(&recorder{header: http.Header{}}, l.request, Fault{})
	}
}

// A recorder keeps an answer in memory.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}

func (r *recorder) reply() reply {
	r.WriteHeader(http.StatusOK)
	return reply{
		status: r.status,
		header: r.header,
		body:   r.body.Bytes(),
		cut:    -1,
	}
}

func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer r.Body.Close()
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest+1))
	if len(body) > maxRequest {
		err = fmt.Errorf("read request: more than %d bytes", maxRequest)
	}

	return body, err
}

// withBody is a copy of the request that can be read from the start.
func withBody(ctx context.Context, r *http.Request, body []byte) *http.Request {
	out := r.Clone(ctx)
	out.Body, out.ContentLength, out.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	return out
}

// apiPath takes off the prefix that an Enterprise server has.
func apiPath(path string) string {
	switch {
	case path == "/api/graphql":
		return "/graphql"
	case strings.HasPrefix(path, "/api/v3/"):
		return strings.TrimPrefix(path, "/api/v3")
	default:
		return path
	}
}
