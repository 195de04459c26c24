package githubsim_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
)

// TestListen: the same server through a socket, with its own addresses in the answers, and the
// request log as JSON lines.
func TestListen(t *testing.T) {
	var log bytes.Buffer
	s := serverWith(t, githubsim.Options{RequestLog: &log})
	base, stop, err := s.Listen("127.0.0.1:0")
	must(t, err)
	defer stop()
	resp, err := http.Get(base + "/repos/acme/app/issues/1")
	must(t, err)
	defer resp.Body.Close()
	var issue map[string]any
	must(t, json.NewDecoder(resp.Body).Decode(&issue))
	if resp.StatusCode != 200 || issue["url"] != base+"/repos/acme/app/issues/1" || issue["html_url"] != base+
		"/acme/app/issues/1" {
		t.Errorf("%d %v %v", resp.StatusCode, issue["url"], issue["html_url"])
	}

	if resp.Header.Get("Date") == "" || resp.Header.Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("header: %v", resp.Header)
	}
	var line map[string]any
	must(t, json.Unmarshal(log.Bytes(), &line))
	if line["method"] != "GET" || line["path"] != "/repos/acme/app/issues/1" || line["status"] != 200.0 ||
		line["login"] != "" || line["time"] == nil {
		t.Errorf("log line: %s", log.String())
	}
}

// TestSocketFaults: resets and cut bodies as a real client sees them.
func TestSocketFaults(t *testing.T) {
	s := newServer(t)
	base, stop, err := s.Listen("127.0.0.1:0")
	must(t, err)
	defer stop()
	post := func() (int, string, error) {
		req, err := http.NewRequest("POST", base+comments, strings.NewReader(`{"body":"mine"}`))
		must(t, err)
		req.Header.Set("Authorization", "Bearer tok-wes")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, "", err
		}

		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text), err
	}

	s.Fault = once(githubsim.Fault{ApplyThenFail: true})
	if status, _, err := post(); err == nil || bodies(t, s) != "mine" {
		t.Errorf("lost answer: %d %v, comments %q", status, err, bodies(t, s))
	}

	s.Fault = once(githubsim.Fault{Truncate: 7})
	if status, text, err := post(); status != 201 || len(text) != 7 || err == nil {
		t.Errorf("cut body: %d %q %v", status, text, err)
	}
}

// TestHead: the headers of GET without its body.
func TestHead(t *testing.T) {
	s := newServer(t)
	got := send(t, s, "tok-wes", "HEAD /repos/acme/app", "")
	if got.status != 200 || got.text != "" || got.header.Get("ETag") == "" {
		t.Errorf("%d %q %v", got.status, got.text, got.header)
	}
}
