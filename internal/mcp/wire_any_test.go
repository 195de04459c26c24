package mcp_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestAnyLine: whatever a client sends in a line, the next ping has its answer, and what was not a
// call of a tool has run nothing.
func TestAnyLine(t *testing.T) {
	var s stand
	o := s.options()
	w := dial(t, o, latest)
	id := 1000
	rapid.Check(t, func(rt *rapid.T) {
		line := rapid.OneOf(anything(), messages()).Draw(rt, "line")
		id++
		both := strings.NewReplacer("\n", " ", "\r", " ").Replace(line) +
			fmt.Sprintf("\n"+`{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", id)
		go io.WriteString(w.in, both) // it is read while answers are
		want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, id)
		for n := 0; w.hear() != want; n++ {
			if n > 3 {
				rt.Fatalf("no answer to the ping behind %q", line)
			}
		}

		if s.words != nil {
			rt.Fatalf("%q ran %q", line, s.words)
		}
	})
}

func anything() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 200), func(b []byte) string { return string(b) })
}

// messages are nearly messages: right words with wrong values, and the other way round.
func messages() *rapid.Generator[string] {
	value := rapid.SampledFrom([]string{
		`null`, `true`, `0`, `-1`, `7`, `1e400`, `1.5`, `"2.0"`, `"x"`, `""`, `{}`, `[]`, `[1,2]`, `{"name":"claim"}`,
		`{"requestId":7}`, `{"requestId":{}}`,
		`{"uri":"label-state://a"}`, `{"cursor":"x"}`, `{"name":7,"arguments":[]}`, `{"protocolVersion":1}`,
		`{"code":1,"message":"x"}`,
		`"ping"`, `"initialize"`, `"tools/list"`, `"tools/call"`, `"resources/read"`, `"resources/list"`,
		`"notifications/cancelled"`, `"notifications/initialized"`,
		`"notifications/progress"`, `"logging/setLevel"`, `"completion/complete"`, `"prompts/get"`, `"server/discover"`,
		`"rpc.x"`,
	})
	key := rapid.SampledFrom([]string{"jsonrpc", "id", "method", "params", "result", "error", "_meta", "ID", "x"})

	return rapid.Custom(func(t *rapid.T) string {
		fields := []string{`"jsonrpc":"2.0"`}
		for range rapid.IntRange(0, 4).Draw(t, "fields") {
			fields = append(fields, fmt.Sprintf("%q:%s", key.Draw(t, "key"), value.Draw(t, "value")))
		}
		return "{" + strings.Join(fields, ",") + "}"
	})
}
