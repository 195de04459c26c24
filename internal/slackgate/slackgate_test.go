package slackgate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/slackgate"
)

// A workspace answers as Slack does (api.slack.com/methods, chat.postMessage and reactions.get).
type workspace struct {
	*httptest.Server
	posted    []map[string]string
	reactions string // JSON
	answer    func(w http.ResponseWriter) bool
}

func newWorkspace(t *testing.T) *workspace {
	w := &workspace{reactions: "[]"}
	w.Server = httptest.NewTLSServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.Close)
	return w
}

func (w *workspace) serve(out http.ResponseWriter, r *http.Request) {
	out.Header().Set("Content-Type", "application/json")
	_ = r.ParseForm()
	form := map[string]string{}
	for k, v := range r.Form {
		form[k] = v[0]
	}

	token := form["token"] + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case w.answer != nil && w.answer(out):
	case !strings.Contains(token, "xoxb-good"):
		fmt.Fprint(out, `{"ok":false,"error":"invalid_auth"}`)
	case r.URL.Path == "/chat.postMessage" && form["channel"] == "C1":
		w.posted = append(w.posted, form)
		fmt.Fprint(out, `{"ok":true,"channel":"C1","ts":"1700000000.000100"}`)

	case r.URL.Path == "/reactions.get" && form["channel"] == "C1" && form["timestamp"] == "1700000000.000100" &&
		form["full"] == "true":
		fmt.Fprintf(out, `{"ok":true,"type":"message","channel":"C1","message":{"ts":"1700000000.000100","reactions":%s}}`, w.reactions)
	case r.URL.Path == "/reactions.get":
		fmt.Fprint(out, `{"ok":false,"error":"message_not_found"}`)
	default:
		fmt.Fprint(out, `{"ok":false,"error":"channel_not_found"}`)
	}
}

func (w *workspace) gate(token, channel string) *slackgate.Gate {
	return slackgate.New(slackgate.Options{
		Token:     token,
		Channel:   channel,
		Approvers: []string{"U1", "U2"},
		API:       w.URL + "/",
		HTTP:      w.Client(),
	})
}

// TestPost: a plan is plain text in every block, cut where Slack would refuse it.
func TestPost(t *testing.T) {
	w := newWorkspace(t)
	m, err := w.gate("xoxb-good", "C1").Post(t.Context(), slackgate.Plan{
		Issue:  "acme/app#7",
		Title:  "<!channel> fix\x1b[31m",
		URL:    "https://github.com/acme/app/issues/7",
		Worker: "lucius:r1",
		Text:   "<@U1> *do* it " + strings.Repeat("x", 4000),
	})

	if err != nil || m.String() != "C1/1700000000.000100" || len(w.posted) != 1 {
		t.Fatalf("post: %v, %v, %d", m, err, len(w.posted))
	}

	if again, ok := slackgate.ParseMessage(m.String()); !ok || again != m {
		t.Errorf("%s is read as %v", m, again)
	}
	var blocks []struct{ Text struct{ Type, Text string } }
	if err := json.Unmarshal([]byte(w.posted[0]["blocks"]), &blocks); err != nil || len(blocks) != 3 {
		t.Fatalf("blocks: %v in %s", err, w.posted[0]["blocks"])
	}

	for _, b := range blocks {
		if b.Text.Type != "plain_text" || len(b.Text.Text) > 3000 || strings.ContainsRune(b.Text.Text, '\x1b') {
			t.Errorf("block %+v", b)
		}
	}

	if text := w.posted[0]["text"]; strings.Contains(text, "<!channel>") || !strings.Contains(text, "acme/app#7") {
		t.Errorf("fallback %q", text)
	}

	if !strings.HasPrefix(blocks[1].Text.Text, "<@U1> *do* it xxx") ||
		!strings.Contains(blocks[1].Text.Text, "the whole plan is on the issue") {
		t.Errorf("plan %.60q", blocks[1].Text.Text)
	}
}

// TestPostWhole: a plan that fits is not said to be cut.
func TestPostWhole(t *testing.T) {
	for length, cut := range map[int]bool{2800: false, 2801: true} {
		w := newWorkspace(t)
		if _, err := w.gate("xoxb-good", "C1").Post(t.Context(), slackgate.Plan{Text: strings.Repeat("x", length)}); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(w.posted[0]["blocks"], "the whole plan is on the issue"); said != cut {
			t.Errorf("%d bytes: said to be cut is %t", length, said)
		}
	}
}

func TestAnswer(t *testing.T) {
	w := newWorkspace(t)
	m, _ := slackgate.ParseMessage("C1/1700000000.000100")
	for reactions, want := range map[string]string{
		`[]`: "none",
		`[{"name":"+1","users":["U9"]},{"name":"heart","users":["U1"]}]`:         "none",
		`[{"name":"+1","users":["U9","U2"]}]`:                                    "U2 true",
		`[{"name":"+1::skin-tone-3","users":["U1"]}]`:                            "U1 true",
		`[{"name":"+1","users":["U1"]},{"name":"-1","users":["U2"]}]`:            "U2 false",
		`[{"name":"+1","users":["U1"]},{"name":"-1","users":["U9"]}]`:            "U1 true",
		`[{"name":"+10","users":["U1"]},{"name":"thumbsup_all","users":["U1"]}]`: "none",
	} {
		w.reactions = reactions
		got, err := w.gate("xoxb-good", "C1").Answer(t.Context(), m)
		text := "none"
		if got != nil {
			text = fmt.Sprint(got.User, " ", got.Approves)
		}

		if err != nil || text != want {
			t.Errorf("%s: %s, %v; want %s", reactions, text, err, want)
		}
	}
}

// TestTrouble: an error says what and why, and shows no token; busy tells how long.
func TestTrouble(t *testing.T) {
	w := newWorkspace(t)
	m, _ := slackgate.ParseMessage("C1/1.1")
	plan := slackgate.Plan{Issue: "acme/app#7"}
	_, auth := w.gate("xoxb-secret", "C1").Post(t.Context(), plan)
	_, channel := w.gate("xoxb-good", "C2").Post(t.Context(), plan)
	_, gone := w.gate("xoxb-good", "C1").Answer(t.Context(), m)
	w.answer = func(out http.ResponseWriter) bool { out.WriteHeader(http.StatusBadGateway); return true }
	_, down := w.gate("xoxb-good", "C1").Answer(t.Context(), m)
	w.answer = func(out http.ResponseWriter) bool {
		out.Header().Set("Retry-After", "7")
		out.WriteHeader(http.StatusTooManyRequests)
		return true
	}

	_, busy := w.gate("xoxb-good", "C1").Answer(t.Context(), m)
	w.answer = func(out http.ResponseWriter) bool {
		fmt.Fprint(out, `{"ok":true,"channel":"<!>","ts":"x"}`)
		return true
	}

	_, odd := w.gate("xoxb-good", "C1").Post(t.Context(), plan)
	w.answer = func(out http.ResponseWriter) bool { fmt.Fprint(out, "<html>"); return true }
	_, proxy := w.gate("xoxb-good", "C1").Post(t.Context(), plan)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	_, cancelled := w.gate("xoxb-good", "C1").Post(stopped, plan)
	w.Close()
	_, away := w.gate("xoxb-secret", "C1").Post(t.Context(), plan)
	for want, err := range map[string]error{
		"post the plan: Slack says invalid_auth": auth, "post the plan: Slack says channel_not_found": channel,
		"read reactions: Slack says message_not_found": gone, "read reactions: Slack answers with HTTP 502": down,
		"read reactions: Slack asks to wait 7s": busy, "post the plan to Slack: the answer names no message": odd,
		"post the plan: Slack was not reached": away, "post the plan: the answer is not Slack's": proxy,
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}

	if !errors.Is(cancelled, context.Canceled) {
		t.Errorf("cancelled: %v", cancelled)
	}

	var b *slackgate.BusyError
	if !errors.As(busy, &b) || b.After != 7*time.Second {
		t.Errorf("busy: %v", busy)
	}
}

func TestParseMessage(t *testing.T) {
	for _, text := range []string{"", "C1", "C1/", "C1/12", "c1/1.1", "C1/1.1 x", "C1/1.1/2", "../1.1"} {
		if m, ok := slackgate.ParseMessage(text); ok {
			t.Errorf("%q is %v", text, m)
		}
	}
}
