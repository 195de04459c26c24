package githubsim_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
)

const seedText = `{
 "users": [
  {"login": "ann", "token": "tok-ann", "permissions": {"acme/app": "admin", "acme/secret": "admin"}, "scopes": ["repo", "read:org"]},
  {"login": "wes", "token": "tok-wes", "permissions": {"acme/app": "write"}},
  {"login": "tia", "token": "tok-tia", "permissions": {"acme/app": "triage"}},
  {"login": "mae", "token": "tok-mae", "permissions": {"acme/app": "maintain"}},
  {"login": "rob", "token": "tok-rob"},
  {"login": "github-actions[bot]", "token": "tok-ci", "permissions": {"acme/app": "write"}},
  {"login": "github-actions[bot]", "token": "tok-fork", "read_only": true}
 ],
 "repos": [
  {"name": "acme/app", "labels": [{"name": "bug", "color": "ff0000"}, {"name": "ready", "color": "00ff00", "description": "go"}],
   "issues": [
    {"number": 1, "title": "Retry the upload", "body": "It fails", "author": "rob", "labels": ["bug"],
     "comments": [{"author": "rob", "body": "me too", "created_at": "2026-05-01T19:42:33Z"},
                  {"author": "wes", "body": "edited", "created_at": "2026-05-01T19:43:00Z", "updated_at": "2026-05-02T00:00:00Z", "editor": "ann"}]},
    {"number": 2, "title": "Other", "author": "ann", "labels": ["bug", "ready"]},
    {"number": 3, "title": "Closed one", "author": "ann", "state": "closed", "state_reason": "not_planned"}],
   "pulls": [{"number": 4, "title": "Fix it", "body": "Closes #1", "head": "fix", "base": "main", "author": "wes"}]},
  {"name": "acme/other"},
  {"name": "acme/secret", "private": true}
 ]}`

func newServer(t *testing.T) *githubsim.Server {
	t.Helper()
	return serverWith(t, githubsim.Options{})
}

func serverWith(t *testing.T, options githubsim.Options) *githubsim.Server {
	t.Helper()
	seed, err := githubsim.LoadSeed(strings.NewReader(seedText))
	if err != nil {
		t.Fatal(err)
	}

	s, err := githubsim.New(seed, options)
	if err != nil {
		t.Fatal(err)
	}

	return s
}

// A result is an answer that was read to its end.
type result struct {
	status int
	header http.Header
	text   string
}

// json decodes the body into a generic value.
func (r result) json(t *testing.T) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(r.text), &o); err != nil {
		t.Fatalf("body %q: %v", r.text, err)
	}
	return o
}

func (r result) list(t *testing.T) []map[string]any {
	t.Helper()
	var o []map[string]any
	if err := json.Unmarshal([]byte(r.text), &o); err != nil {
		t.Fatalf("body %q: %v", r.text, err)
	}
	return o
}

// field reads a.b.c out of an object.
func field(o map[string]any, path string) any {
	var at any = o
	for name := range strings.SplitSeq(path, ".") {
		m, _ := at.(map[string]any)
		at = m[name]
	}
	return at
}

// send makes one request with a token; line is METHOD PATH.
func send(t *testing.T, s *githubsim.Server, token, line, body string, header ...string) result {
	t.Helper()
	r, err := try(s, token, line, body, header...)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return r
}

func try(s *githubsim.Server, token, line, body string, header ...string) (result, error) {
	method, path, _ := strings.Cut(line, " ")
	req, err := http.NewRequest(method, "https://api.github.com"+path, strings.NewReader(body))
	if err != nil {
		return result{}, err
	}

	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}

	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := s.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		return result{}, err
	}

	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return result{resp.StatusCode, resp.Header, string(text)}, err
}

// TestRequests asks what testdata/requests.txt says.
func TestRequests(t *testing.T) {
	text, err := os.ReadFile("testdata/requests.txt")
	must(t, err)
	var s *githubsim.Server
	var each bool
	var words *strings.Replacer
	for row := range strings.Lines(string(text)) {
		row = strings.TrimRight(row, "\n")
		if title, begins := strings.CutPrefix(row, "== "); begins {
			s, each = newServer(t), strings.HasPrefix(title, "each")
			words = strings.NewReplacer("$51", strings.Repeat("x", 51), "$65537", strings.Repeat("x", 65537))
			if title == "references" {
				s = withGit(t)
				words = objectWords(t, s)
			}
			continue
		}

		c := strings.SplitN(row+" |", " |", 6)
		if len(c) < 5 || row[0] == '#' {
			continue
		}
		if each {
			s = newServer(t)
		}

		for i, cell := range c {
			c[i] = words.Replace(strings.TrimSpace(cell))
		}
		got := send(t, s, c[0], c[1], c[2])
		if strconv.Itoa(got.status) != c[3] || !strings.Contains(got.text, c[4]) {
			t.Errorf("%s\ngot %d %s", row, got.status, got.text)
		}
	}
}
