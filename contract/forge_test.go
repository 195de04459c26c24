package contract

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
)

// A forge is a GitHub under examination.
type forge struct {
	api     string // root, without a slash at the end
	graphQL string
	token   string
	repo    string // owner/repo, which the token may write
	next    http.RoundTripper
	hidden  string              // owner/repo that the token may not see
	pass    func(time.Duration) // lets time pass there
	retries int                 // how often a read may be repeated until it shows a write
	sim     *githubsim.Server   // nil for any other
}

// simulated is the simulator behind one of its doors.
func simulated(t *testing.T) *forge {
	t.Helper()
	s := simulator(t)
	return &forge{
		api: apiRoot, graphQL: apiRoot + "/graphql", token: "tok-wes", repo: "acme/app", next: s.Transport(),
		hidden: "acme/secret", pass: s.Skip, sim: s,
	}
}

// listening is the simulator as a server on loopback.
func listening(t *testing.T) *forge {
	t.Helper()
	f := simulated(t)
	base, stop, err := f.sim.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	f.api, f.graphQL, f.next = base, base+"/graphql", http.DefaultTransport
	return f
}

// elsewhere is the forge that the environment names; nil if it names none.
func elsewhere(t *testing.T) *forge {
	t.Helper()
	api := strings.TrimSuffix(os.Getenv("LABEL_STATE_CONTRACT_URL"), "/")
	if api == "" {
		return nil
	}
	f := &forge{
		api: api, graphQL: strings.TrimSuffix(api, "/v3") + "/graphql", token: os.Getenv("LABEL_STATE_CONTRACT_TOKEN"),
		repo: os.Getenv("LABEL_STATE_CONTRACT_REPO"), next: http.DefaultTransport, pass: time.Sleep, retries: 20,
	}
	owner, name, _ := strings.Cut(f.repo, "/")
	if f.token == "" || owner == "" || name == "" {
		t.Fatal("LABEL_STATE_CONTRACT_URL needs LABEL_STATE_CONTRACT_TOKEN and LABEL_STATE_CONTRACT_REPO, owner/repo, beside it")
	}
	f.hidden = owner + "/nobody-has-a-repository-of-this-name"
	return f
}

// A reply is an answer, whole.
type reply struct {
	line   string // the request
	status int
	header http.Header
	text   []byte
}

// send makes a request, with body as JSON unless nil. A path that starts with ~ is below the repository. Header lines
// are as on the wire.
func (f *forge) send(t *testing.T, line string, body any, header ...string) reply {
	t.Helper()
	method, where, _ := strings.Cut(line, " ")
	if below, ok := strings.CutPrefix(where, "~"); ok {
		where = "/repos/" + f.repo + below
	}
	return f.request(t, method, f.api+where, body, header...)
}

func (f *forge) request(t *testing.T, method, url string, body any, header ...string) reply {
	t.Helper()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	usual := []string{"Authorization: Bearer " + f.token, "Accept: application/vnd.github+json", "Content-Type: application/json"}
	for _, line := range append(usual, header...) {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	resp, err := f.next.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{method + " " + url, resp.StatusCode, resp.Header, got}
}

// eventually repeats a read until it shows what it should: elsewhere, reads may lag behind writes.
func (f *forge) eventually(t *testing.T, line string, shows func(reply) bool) reply {
	t.Helper()
	for try := 0; ; try++ {
		r := f.send(t, line, nil)
		if shows(r) {
			return r
		}
		if try >= f.retries {
			t.Fatalf("%s -> %d does not show it: %s", r.line, r.status, r.text)
		}
		f.pass(time.Second)
	}
}

// is fails the test unless the answer has that status and its text contains all the words.
func (r reply) is(t *testing.T, status int, words ...string) reply {
	t.Helper()
	if r.status != status {
		t.Fatalf("%s -> %d, want %d: %s", r.line, r.status, status, r.text)
	}
	for _, w := range words {
		if !strings.Contains(string(r.text), w) {
			t.Fatalf("%s -> %d without %q: %s", r.line, r.status, w, r.text)
		}
	}
	return r
}

// at is the value at a path of fields, with dots between; numbers are json.Number.
func (r reply) at(fields string) any {
	var value any
	decoder := json.NewDecoder(strings.NewReader(string(r.text)))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return nil
	}
	for key := range strings.SplitSeq(fields, ".") {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	return value
}

// the is at as text.
func (r reply) the(fields string) string { return fmt.Sprint(r.at(fields)) }

// each is one field of every item of a list, with spaces between.
func (r reply) each(field string) string {
	var list []map[string]any
	decoder := json.NewDecoder(strings.NewReader(string(r.text)))
	decoder.UseNumber()
	if decoder.Decode(&list) != nil {
		return "no list"
	}
	var all []string
	for _, item := range list {
		all = append(all, fmt.Sprint(item[field]))
	}
	return strings.Join(all, " ")
}

// issue opens an issue for one test, which closes it at its end.
func (f *forge) issue(t *testing.T) (number string) {
	t.Helper()
	number = f.send(t, "POST ~/issues", map[string]any{"title": "Contract: " + t.Name()}).is(t, 201).the("number")
	if f.sim == nil {
		t.Cleanup(func() { f.tidy("PATCH", "/issues/"+number, `{"state":"closed"}`) })
	}
	return number
}

// tidy makes a request whose answer nobody needs: the test is over.
func (f *forge) tidy(method, where, body string) {
	req, err := http.NewRequest(method, f.api+"/repos/"+f.repo+where, strings.NewReader(body))
	if err != nil {
		return
	}
	req.Header.Set("Authorization", "Bearer "+f.token)
	if resp, err := f.next.RoundTrip(req); err == nil {
		resp.Body.Close()
	}
}

// name is a word that no other run has used.
func (f *forge) name(t *testing.T) string {
	return fmt.Sprintf("contract-%s-%d", path.Base(t.Name()), time.Now().UnixNano())
}

// query sends a GraphQL document with variables.
func (f *forge) query(t *testing.T, document string, variables map[string]any) reply {
	t.Helper()
	return f.request(t, http.MethodPost, f.graphQL, map[string]any{"query": document, "variables": variables})
}
