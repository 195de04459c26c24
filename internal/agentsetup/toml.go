package agentsetup

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/label-state/label-state/internal/agenthost"
)

// withTable returns a TOML text with the MCP server registered as a table after everything else,
// which stays as it is. An entry of that name that is there already stays as it is, too.
func withTable(text []byte, s agenthost.Server) ([]byte, error) {
	servers, err := tableAt(text, s.Key)
	if err != nil || servers[agenthost.ServerName] != nil {
		return text, err
	}

	out := string(text)
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}

	if out != "" {
		out += "\n"
	}
	out += "[" + s.Key + "." + agenthost.ServerName + "]\n" + s.Table
	if _, err := tableAt([]byte(out), s.Key); err != nil {
		return nil, fmt.Errorf("%s is an inline table, to which nothing can be added; write [%s.NAME] tables instead",
			s.Key, s.Key)
	}

	return []byte(out), nil
}

// withoutTable returns the text without our table, and whether it was there. An entry that somebody
// has changed, or written in another form, stays.
func withoutTable(text []byte, s agenthost.Server) ([]byte, bool, error) {
	servers, err := tableAt(text, s.Key)
	if err != nil {
		return nil, false, err
	}

	ours, err := parseTOML([]byte(s.Table))
	if err != nil {
		return nil, false, err
	}

	from, to, ok := tableSpan(text, []string{s.Key, agenthost.ServerName})
	if !ok || !reflect.DeepEqual(servers[agenthost.ServerName], any(ours)) {
		return text, false, nil
	}

	if bytes.HasSuffix(text[:from], []byte("\n\n")) {
		from-- // the line that withTable leaves free
	}

	return slices.Concat(text[:from], text[to:]), true, nil
}

// tableAt is the table of that key at the top; nil where there is none.
func tableAt(text []byte, key string) (map[string]any, error) {
	doc, err := parseTOML(text)
	if err != nil || doc[key] == nil {
		return nil, err
	}

	table, ok := doc[key].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s is not a table", key)
	}

	return table, nil
}

func parseTOML(text []byte) (doc map[string]any, err error) {
	err = toml.Unmarshal(text, &doc)
	var at *toml.DecodeError
	if errors.As(err, &at) {
		line, column := at.Position()
		return nil, fmt.Errorf("it is not valid TOML: line %d, column %d: %w", line, column, err)
	}
	if err != nil {
		return nil, fmt.Errorf("it is not valid TOML: %w", err)
	}

	return doc, nil
}

// tableSpan is where the table with that header begins, and where its last line ends. Free lines
// and comments behind it belong to what follows.
func tableSpan(text []byte, header []string) (from, to int, ok bool) {
	var p unstable.Parser
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.ArrayTable {
			continue
		}

		var keys []string
		line := 0
		for it := e.Key(); it.Next(); {
			if len(keys) == 0 {
				line = bytes.LastIndexByte(text[:it.Node().Raw.Offset], '\n') + 1
			}
			keys = append(keys, string(it.Node().Data))
		}

		switch {
		case ok:
			return from, from + lastLine(text[from:line]), true
		case slices.Equal(keys, header):
			from, ok = line, true
		}
	}

	return from, from + lastLine(text[from:]), ok
}

// lastLine is where the last line that is neither free nor a comment ends.
func lastLine(text []byte) (end int) {
	at := 0
	for line := range bytes.Lines(text) {
		at += len(line)
		if body := bytes.TrimSpace(line); len(body) > 0 && body[0] != '#' {
			end = at
		}
	}

	return end
}
