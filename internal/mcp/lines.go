package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/label-state/label-state/internal/printable"
)

// maxMessage is the longest message that is read, in bytes: many times what GitHub takes as a
// comment.
const maxMessage = 1 << 20

// lines hands on the messages of a client, one a line (MCP, "Transports", stdio). What is not a
// message is answered with an error and left out, as JSON-RPC 2.0 says: by itself the library would
// end the server, and with it every call under way.
type lines struct {
	in   *bufio.Reader
	out  *sender
	rest []byte      // of the line that is being handed on
	said string      // the revision that the client has asked for first
	old  atomic.Bool // that has batches

	mu    sync.Mutex
	asked map[string]bool // the ids of calls that have no answer yet, as the client has written them
}

// answered notes that a call has its answer, or gets none.
func (l *lines) answered(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.asked, id)
}

// ask notes the calls of a line, or refuses it for one with the id of a call that has no answer
// yet: the library would leave it without an answer, or end the server.
func (l *lines) ask(ids map[string]bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range ids {
		if l.asked[id] {
			return errors.New("a request with this id has no answer yet: each needs an id of its own")
		}
	}

	maps.Copy(l.asked, ids)
	return nil
}

// Read is io.Reader over the messages.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.line()
		if len(line) > 0 {
			message, bad := l.judge(line)
			if bad == nil {
				l.rest = append(message, '\n')
				break
			}
			err = errors.Join(err, l.out.refuse(line, bad))
		}

		if errors.Is(err, io.EOF) {
			err = io.EOF // alone: callers compare
		}

		if err != nil {
			return 0, err
		}
	}

	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// line returns the next line without its end and the space around it. Of one that is too long it is
// the beginning, one byte more than is allowed.
func (l *lines) line() ([]byte, error) {
	var line []byte
	for {
		part, err := l.in.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxMessage+2-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), err
		}
	}
}

// judge returns a message or a batch that this client may send, with its ids as the library gets
// them (ids.go), or what is wrong with the line.
func (l *lines) judge(line []byte) ([]byte, *jsonrpc.Error) {
	invalid := func(why string) ([]byte, *jsonrpc.Error) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: why}
	}

	switch {
	case len(line) > maxMessage:
		return invalid("the message is longer than 1 MiB")
	case !json.Valid(line):
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the line is not JSON"}
	case line[0] == '[' && !l.old.Load():
		return invalid("batches are not part of this revision of the protocol: send one message a line")
	case line[0] == '[':
		text, ids, err := judgeBatch(line)
		if err == nil {
			err = l.ask(ids)
		}
		if err != nil {
			return invalid(err.Error())
		}
		return text, nil
	}

	text, message, err := decode(line)
	r, ok := message.(*jsonrpc.Request)
	if err == nil && ok && r.IsCall() {
		err = l.ask(map[string]bool{idText(r.ID): true})
	}
	if err != nil {
		return invalid(err.Error())
	}

	if ok && r.Method == "initialize" && l.said == "" {
		var p struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		if json.Unmarshal(r.Params, &p) == nil {
			l.said = p.ProtocolVersion
			l.old.Store(slices.Contains(batched[:], l.said))
		}
	}

	return text, nil
}

// judgeBatch is judge for a batch. Its notifications come after it, each in a line of its own: the
// library waits for an answer to all of a batch.
func judgeBatch(line []byte) (text []byte, ids map[string]bool, err error) {
	var all, calls []json.RawMessage
	var notices []byte
	err = json.Unmarshal(line, &all)
	if err == nil && len(all) == 0 {
		err = errors.New("the batch is empty")
	}

	ids = map[string]bool{}
	for _, one := range all {
		own, m, bad := decode(one)
		r, is := m.(*jsonrpc.Request)
		switch {
		case is && !r.IsCall():
			notices = append(append(notices, '\n'), own...)
			continue
		case is && ids[idText(r.ID)]:
			bad = errors.New("two requests of the batch have the same id")
		case is:
			ids[idText(r.ID)] = true
		}
		calls, err = append(calls, own), cmp.Or(err, bad)
	}

	if len(calls) > 0 {
		text, _ = json.Marshal(calls) // of messages that were read from JSON
	}
	return append(text, notices...), ids, err
}

// decode reads one message from JSON, and returns its text with the id as the library gets it.
func decode(text []byte) ([]byte, jsonrpc.Message, error) {
	if text[0] != '{' {
		return nil, nil, errors.New("a message is a JSON object")
	}

	text, err := quoteID(text)
	if err != nil {
		return nil, nil, err
	}

	m, err := jsonrpc.DecodeMessage(text)
	return text, m, readable(err, "method")
}

// readable is an error as a client reads it: of a value of a wrong type it says which type is
// expected, and nothing of how that is read here. whole names what has no name of its own.
func readable(err error, whole string) error {
	wrong, is := errors.AsType[*json.UnmarshalTypeError](err)
	if !is {
		return err
	}

	want := map[reflect.Kind]string{
		reflect.String: "a string", reflect.Slice: "an array", reflect.Bool: "true or false",
	}[wrong.Type.Kind()]
	return fmt.Errorf("%s: expected %s", printable.Clip(cmp.Or(wrong.Field, whole), 80), cmp.Or(want, "an object"))
}

// batched are the revisions of the protocol in which a line may hold several messages.
var batched = [...]string{"2024-11-05", "2025-03-26"}

// refuse answers a line that is not a message, with its id as far as one can be read.
func (s *sender) refuse(line []byte, why *jsonrpc.Error) error {
	id := json.RawMessage("null")
	if at := find(line, "id"); at.found() && isID(at.in(line)) {
		id = at.in(line)
	}

	answer := struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", id, why}
	data, err := json.Marshal(answer)
	if err == nil {
		_, err = s.Write(append(data, '\n'))
	}

	return err
}
