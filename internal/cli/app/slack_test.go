package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// A workspace is as much of Slack as a plan needs.
type workspace struct {
	mu        sync.Mutex
	posted    []string
	reactions []string // JSON objects
	down      bool
}

func (w *workspace) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out.Header().Set("Content-Type", "application/json")

	switch {
	case w.down:
		fmt.Fprint(out, `{"ok":false,"error":"fatal_error"}`)
	case r.URL.Path == "/chat.postMessage":
		w.posted = append(w.posted, r.FormValue("channel")+" "+r.FormValue("blocks"))
		fmt.Fprintf(out, `{"ok":true,"channel":"C1","ts":"%d.5"}`, len(w.posted))

	case r.URL.Path == "/reactions.get" && r.FormValue("timestamp") == fmt.Sprintf("%d.5", len(w.posted)):
		fmt.Fprintf(out, `{"ok":true,"type":"message","channel":"C1","message":{"reactions":[%s]}}`,
			strings.Join(w.reactions, ","))
	default:
		fmt.Fprint(out, `{"ok":false,"error":"message_not_found"}`)
	}
}

// slackCommand on begins a workspace and names it in the environment; "slack react U1 +1" has a
// user react to the newest message; "slack posted N TEXT" wants so many messages, and the newest to
// hold the text; "slack down" has it fail from now on.
func slackCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: slack on|react USER NAME|posted N [TEXT]|down")
	}
	all := worldOf(ts)
	if args[0] == "on" {
		all.slack = &workspace{}
		s := httptest.NewServer(all.slack)
		ts.Defer(s.Close)
		ts.Setenv("LABEL_STATE_SLACK_API_URL", s.URL)
		return
	}

	w := all.slack
	w.mu.Lock()
	defer w.mu.Unlock()

	switch args[0] {
	case "react":
		w.reactions = append(w.reactions, fmt.Sprintf(`{"name":%q,"users":[%q]}`, args[2], args[1]))
	case "posted":
		if fmt.Sprint(len(w.posted)) != args[1] ||
			!strings.Contains(w.posted[len(w.posted)-1], strings.Join(args[2:], " ")) {
			ts.Fatalf("%d messages, want %s: %q", len(w.posted), args[1:], w.posted)
		}
	case "down":
		w.down = true
	default:
		ts.Fatalf("no such thing: %s", args[0])
	}
}
