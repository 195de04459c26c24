package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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
	old  atomic.Bool // the client speaks a revision that has batches
}

// Read is io.Reader over the messages.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.line()
		if len(line) > 0 {
			if bad := l.judge(line); bad != nil {
				err = errors.Join(err, l.out.refuse(line, bad))
			} else {
				l.rest = append(line, '\n')
				break
			}
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

// judge returns what is wrong with a line, nil when it is a message or a batch that this client may
// send.
func (l *lines) judge(line []byte) *jsonrpc.Error {
	switch {
	case len(line) > maxMessage:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the message is longer than 1 MiB"}
	case !json.Valid(line):
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the line is not JSON"}
	case line[0] == '[' && !l.old.Load():
		return &jsonrpc.Error{
			Code:    jsonrpc.CodeInvalidRequest,
			Message: "batches are not part of this revision of the protocol: send one message a line",
		}

	case line[0] == '[':
		var all []json.RawMessage
		err := json.Unmarshal(line, &all)
		if err == nil && len(all) == 0 {
			err = errors.New("the batch is empty")
		}

		for _, one := range all {
			_, bad := decode(one)
			err = cmp.Or(err, bad)
		}

		if err != nil {
			return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
		}

		return nil
	}

	message, err := decode(line)
	if err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
	}

	// the client's first words say the revision
	if r, ok := message.(*jsonrpc.Request); ok && r.Method == "initialize" {
		var p struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		l.old.Store(json.Unmarshal(r.Params, &p) == nil && slices.Contains(batched[:], p.ProtocolVersion))
	}

	return nil
}

// decode reads one message from JSON.
func decode(text []byte) (jsonrpc.Message, error) {
	if text[0] != '{' {
		return nil, errors.New("a message is a JSON object")
	}
	m, err := jsonrpc.DecodeMessage(text)
	if r, is := m.(*jsonrpc.Request); is && r.IsCall() {
		// the library would give a number back rounded
		if id := string(idOf(text)); id[0] != '"' && id != fmt.Sprint(r.ID.Raw()) {
			return nil, fmt.Errorf("the id %s: expected a string or an integer below 2^53", id)
		}
	}

	return m, err
}

// batched are the revisions of the protocol in which a line may hold several messages.
var batched = [...]string{"2024-11-05", "2025-03-26"}

// refuse answers a line that is not a message, with its id as far as one can be read.
func (s *sender) refuse(line []byte, why *jsonrpc.Error) error {
	answer := struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", idOf(line), why}
	data, err := json.Marshal(answer)
	if err == nil {
		_, err = s.Write(append(data, '\n'))
	}

	return err
}

// idOf is the id of what should be a message, also of one that is cut off; null when there is none.
func idOf(line []byte) json.RawMessage {
	null := json.RawMessage("null")
	words := json.NewDecoder(bytes.NewReader(line))
	if open, err := words.Token(); err != nil || open != json.Delim('{') {
		return null
	}

	for words.More() {
		key, err := words.Token()
		var value json.RawMessage
		if err == nil {
			err = words.Decode(&value)
		}

		if err != nil {
			return null
		}
		if key == "id" && value[0] != '{' && value[0] != '[' {
			return value
		}
	}

	return null
}
