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
	mood      string   // what keeps it from answering
	asked     int      // how often, in that mood
}

func (w *workspace) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out.Header().Set("Content-Type", "application/json")
	_ = r.ParseForm() // else the end of a caller who waits is not noticed
	w.asked++

	switch {
	case w.mood == "silent":
		<-r.Context().Done()
	case w.mood == "busy":
		out.Header().Set("Retry-After", "60")
		out.WriteHeader(http.StatusTooManyRequests)
	case w.mood == "down":
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
// hold the text; "slack down", "slack busy" and "slack silent" have it fail from now on, ask to come
// back later or not answer, and "slack asked N" wants so many requests since.
func slackCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: slack on|react USER NAME|posted N [TEXT]|down|busy|silent|asked N")
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
	case "down", "busy", "silent":
		w.mood, w.asked = args[0], 0
	case "asked":
		if fmt.Sprint(w.asked) != args[1] {
			ts.Fatalf("asked %d times, want %s", w.asked, args[1])
		}
	default:
		ts.Fatalf("no such thing: %s", args[0])
	}
}
