package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

const page = "../../docs/hook.md"

// paged FILE KIND: docs/hook.md shows what FILE holds, in its block of that kind, apart from what
// differs from push to push.
func paged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: paged FILE KIND")
	}
	text, err := os.ReadFile(page)
	ts.Check(err)
	_, rest, found := strings.Cut(string(text), "\n```"+args[1]+"\n")
	shown, _, _ := strings.Cut(rest, "```")
	if !found {
		ts.Fatalf("%s has no block %q", page, args[1])
	}

	real := ts.ReadFile(args[0])
	if strings.HasPrefix(args[1], "json") {
		line, _, _ := strings.Cut(real, "\n") // git adds a line of its own
		shown, real = oneLine(ts, shown), oneLine(ts, line)
	}

	if shown, real = everyPush(shown), everyPush(real); shown != real {
		ts.Fatalf("%s shows\n%s\nand it is\n%s", page, shown, real)
	}
}

func oneLine(ts *testscript.TestScript, text string) string {
	var out bytes.Buffer
	ts.Check(json.Compact(&out, []byte(text)))
	return out.String()
}

// everyPush replaces what no two pushes have in common.
func everyPush(text string) string {
	for _, r := range []struct{ pattern, by string }{
		{`http://127\.0\.0\.1:\d+`, "https://github.com"},
		{`\d{4}-\d\d-\d\dT[\d:]+Z`, "TIME"},
		{`(\d{4}-\d\d-\d\d )?\d\d:\d\d\b`, "TIME"},
		{`issuecomment-\d+`, "issuecomment-N"},
		{`\(run [^)]+\)`, "(run ID)"},
		{`"firing_id":"[^"]+"`, `"firing_id":"ID"`},
		{`\b([0-9a-f]{40}|[0-9a-f]{7})\b`, "OID"},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.by)
	}

	return text
}
