package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// The id of a call comes back as the client has written it, but the library knows numbers only as
// integers. So the library gets each id as a string that holds its JSON, 1.0 as "1.0" and "a" as
// "\"a\"", and what it writes is changed back.

// quoteID returns a message of the client with its id, or the id of the call that it cancels, as
// the library gets it. The answer to a call of ours stays.
func quoteID(message []byte) ([]byte, error) {
	var method string
	if json.Unmarshal(find(message, "method").in(message), &method) != nil {
		return message, nil
	}

	if id := find(message, "id"); id.found() {
		text := id.in(message)
		if !isID(text) {
			return nil, fmt.Errorf("the id %.80s: expected a string or a number", text)
		}
		return id.replace(message, quote(text)), nil
	}

	if params := find(message, "params"); method == "notifications/cancelled" && params.found() {
		text := params.in(message)
		if id := find(text, "requestId"); id.found() && isID(id.in(text)) {
			return params.replace(message, id.replace(text, quote(id.in(text)))), nil
		}
	}

	return message, nil
}

// isID reports whether a JSON value may be an id.
func isID(value []byte) bool {
	return value[0] == '"' || value[0] == '-' || '0' <= value[0] && value[0] <= '9'
}

// quote is a JSON value as a string that holds it.
func quote(value []byte) []byte {
	text, _ := json.Marshal(string(value)) // a string always has its JSON
	return text
}

// idText is an id that the library has got, as the client has written it.
func idText(id jsonrpc.ID) string { return fmt.Sprint(id.Raw()) }

// unquoteIDs returns a line of the library with the ids of its answers as the client has written
// them, and tells each.
func unquoteIDs(line []byte, answered func(id string)) []byte {
	var batch []json.RawMessage
	if line[0] == '[' && json.Unmarshal(line, &batch) == nil {
		for n, one := range batch {
			batch[n] = unquoteIDs(one, answered)
		}
		text, _ := json.Marshal(batch) // of messages that were read from JSON
		return append(text, '\n')
	}

	var text string
	id := find(line, "id")
	if find(line, "method").found() || json.Unmarshal(id.in(line), &text) != nil {
		return line
	}
	answered(text)

	return id.replace(line, []byte(text))
}

// A span is where a value is in the text of an object; the zero value is nowhere.
type span struct{ from, to int }

// find returns where the value of a member is, the last of that name, also in an object that is cut
// off after it.
func find(object []byte, name string) (s span) {
	words := json.NewDecoder(bytes.NewReader(object))
	if open, err := words.Token(); err != nil || open != json.Delim('{') {
		return span{}
	}

	for words.More() {
		key, err := words.Token()
		var value json.RawMessage
		if err == nil {
			err = words.Decode(&value)
		}

		if err != nil {
			break
		}
		if end := int(words.InputOffset()); key == name {
			s = span{end - len(value), end}
		}
	}

	return s
}

func (s span) found() bool { return s.to > 0 }

// in is the value in its object; empty when there is none.
func (s span) in(object []byte) []byte { return object[s.from:s.to] }

// replace returns the object with another value there.
func (s span) replace(object, value []byte) []byte {
	return slices.Concat(object[:s.from], value, object[s.to:])
}
