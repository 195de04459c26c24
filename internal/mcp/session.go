package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdio is how a client talks to a server that it has started.
type stdio struct {
	in  io.Reader
	out io.Writer
	end <-chan struct{} // closed when the server is to end
}

// Connect begins the only session there is.
func (s stdio) Connect(ctx context.Context) (sdk.Connection, error) {
	out := &sender{out: s.out, end: s.end}
	in := &lines{
		in:    bufio.NewReaderSize(s.in, 64<<10),
		out:   out,
		asked: map[string]bool{},
	}
	c, err := (&sdk.IOTransport{Reader: io.NopCloser(in), Writer: restored{out, in}}).Connect(ctx)
	return &session{
		Connection: c,
		in:         in,
		running:    map[jsonrpc.ID]bool{},
		quick:      map[jsonrpc.ID]bool{},
		answered:   make(chan struct{}, 1),
	}, err
}

// A session leaves calls that the client has cancelled without an answer (MCP, "Cancellation"). In
// a batch they have one, because the others of the batch wait for it.
type session struct {
	sdk.Connection
	in *lines

	mu      sync.Mutex
	running map[jsonrpc.ID]bool // the calls under way; true when cancelled
	quick   map[jsonrpc.ID]bool // those of them that ask nobody, until their answer is written
	ended   bool                // the input

	answered chan struct{} // one of the quick ones is
}

// asksNobody are the calls that are answered at once, whatever becomes of the client.
func asksNobody(method string) bool {
	return method == "initialize" || strings.HasSuffix(method, "/list")
}

// Read is the next message of the client. A call is noted, and that one was cancelled.
func (s *session) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := s.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		s.awaitQuick(ctx)
		s.mu.Lock()
		s.ended = true
		s.mu.Unlock()
	}

	r, ok := m.(*jsonrpc.Request)
	if err != nil || !ok {
		return m, err
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if r.IsCall() {
		s.running[r.ID] = false
		if asksNobody(r.Method) {
			s.quick[r.ID] = true
		}
		return m, nil
	}

	var p struct {
		RequestID any `json:"requestId"`
	}

	if r.Method != "notifications/cancelled" || json.Unmarshal(r.Params, &p) != nil {
		return m, nil
	}
	id, err := jsonrpc.MakeID(p.RequestID)
	if _, under := s.running[id]; under && err == nil {
		s.running[id] = true
	}

	return m, nil
}

// Close answers, at the end of the input, the calls that were cancelled by it: to somebody who
// pipes a few lines in, a server that says nothing looks dead. Of a batch they are also those
// that the client has cancelled.
func (s *session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, cancelled := range s.running {
		if !s.ended || cancelled && !s.in.old.Load() {
			continue
		}
		_ = s.Connection.Write(context.Background(), &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{
			Code:    jsonrpc.CodeInternalError,
			Message: "the input ended before the answer; keep it open until then, and ask status what the call has done",
		}}) // perhaps nobody reads any more
	}

	return s.Connection.Close()
}

// awaitQuick waits until the quick calls have their answers: the end of the input would cancel them.
func (s *session) awaitQuick(ctx context.Context) {
	for {
		s.mu.Lock()
		left := len(s.quick)
		s.mu.Unlock()
		if left == 0 {
			return
		}

		select {
		case <-s.answered:
		case <-ctx.Done():
			return
		}
	}
}

// written notes that a call has its answer, or gets none.
func (s *session) written(id jsonrpc.ID) {
	s.mu.Lock()
	delete(s.quick, id)
	s.mu.Unlock()
	select {
	case s.answered <- struct{}{}:
	default:
	}
}

// Write sends a message, unless it is the answer to what was cancelled. An error without a code is
// the library's word for a call at the wrong time; without one it would be 0, which JSON-RPC does
// not know.
func (s *session) Write(ctx context.Context, m jsonrpc.Message) error {
	r, ok := m.(*jsonrpc.Response)
	if ok {
		defer s.written(r.ID)
		s.mu.Lock()
		cancelled := s.running[r.ID]
		delete(s.running, r.ID)
		s.mu.Unlock()
		if cancelled && !s.in.old.Load() {
			s.in.answered(idText(r.ID))
			return nil
		}
	}

	if ok && r.Error != nil {
		coded, is := errors.AsType[*jsonrpc.Error](r.Error)
		said := readable(r.Error, "params")
		switch {
		case !is:
			r.Error = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: said.Error()}
		case said != r.Error:
			r.Error = &jsonrpc.Error{Code: coded.Code, Message: said.Error()}
		}
	}

	return s.Connection.Write(ctx, m)
}
