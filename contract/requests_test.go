package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
)

const apiRoot = "https://api.github.com"

// simulator returns the world of testdata/seed.json, with real git repositories.
func simulator(t *testing.T) *githubsim.Server {
	t.Helper()
	file, err := os.Open("testdata/seed.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	seed, err := githubsim.LoadSeed(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := githubsim.New(seed, githubsim.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRequests makes the requests of testdata/requests.txt and holds each exchange against the descriptions. No endpoint and
// no mutation of the simulator may be missing there.
func TestRequests(t *testing.T) {
	judge := newJudge(t)
	s := simulator(t)
	if err := rearrange(s); err != nil {
		t.Fatal(err)
	}
	tape := &recorder{next: s.Transport()}
	play(t, tape)
	all := tape.take()
	byREST, documents := judge.all(all)
	reportAll(t, byREST, restExceptions)
	report(t, documents, documentExceptions)
	for _, endpoint := range endpoints(t) {
		if !slices.ContainsFunc(all, func(e exchange) bool { return e.status < 300 && serves(endpoint, e.request) }) {
			t.Errorf("%s: no row of testdata/requests.txt has it succeed", endpoint)
		}
	}
	for _, mutation := range ourSchema(t).Mutation.Fields {
		if !slices.ContainsFunc(all, func(e exchange) bool { return strings.Contains(string(e.sent), "{"+mutation.Name+"(") }) {
			t.Errorf("%s: no row of testdata/requests.txt sends it", mutation.Name)
		}
	}
}

// rearrange does what REST cannot do.
func rearrange(s *githubsim.Server) error {
	if err := s.RenameRepo("acme/old", "new"); err != nil {
		return err
	}
	if err := s.DeleteIssue("acme/app", 5, "ann"); err != nil {
		return err
	}
	_, err := s.TransferIssue("acme/app", 6, "ann", "acme/lib")
	return err
}

// A script is where a run through testdata/requests.txt stands.
type script struct {
	next  http.RoundTripper
	names map[string]string
	with  http.Header
}

func play(t *testing.T, next http.RoundTripper) {
	t.Helper()
	text, err := os.ReadFile("testdata/requests.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := &script{next: next, names: map[string]string{}, with: http.Header{}}
	for n, row := range strings.Split(string(text), "\n") {
		if row == "" || strings.HasPrefix(row, "#") {
			continue
		}
		if err := s.play(os.Expand(row, func(name string) string { return s.names[name] })); err != nil {
			t.Fatalf("testdata/requests.txt:%d: %s: %v", n+1, row, err)
		}
	}
}

func (s *script) play(row string) error {
	if header, ok := strings.CutPrefix(row, "with "); ok {
		name, value, _ := strings.Cut(header, ": ")
		s.with.Set(name, value)
		return nil
	}
	line, outcome, _ := strings.Cut(row, " -> ")
	words := append(strings.SplitN(line, " ", 4), "", "", "")
	req, err := http.NewRequest(words[1], apiRoot+words[2], strings.NewReader(words[3]))
	if err != nil {
		return err
	}
	req.Header, s.with = s.with, http.Header{}
	if words[0] != "-" {
		req.Header.Set("Authorization", "Bearer tok-"+words[0])
	}
	if words[3] != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.next.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	fields := strings.Fields(outcome)
	if got := status(resp, text); len(fields) == 0 || got != fields[0] {
		return fmt.Errorf("status %s, want %q: %s", got, outcome, text)
	}
	return s.keep(resp.Header, text, fields[1:])
}

// status is the one of HTTP, but errors for a GraphQL answer that has some.
func status(resp *http.Response, text []byte) string {
	var body struct{ Errors []any }
	if strings.HasSuffix(resp.Request.URL.Path, "/graphql") && json.Unmarshal(text, &body) == nil && len(body.Errors) > 0 {
		return "errors"
	}
	return strconv.Itoa(resp.StatusCode)
}

// keep takes values out of an answer: NAME=FIELD.
func (s *script) keep(header http.Header, text []byte, wanted []string) error {
	if len(wanted) == 0 {
		return nil
	}
	var body any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil {
		return err
	}
	for _, w := range wanted {
		name, field, _ := strings.Cut(w, "=")
		if key, ok := strings.CutPrefix(field, "@"); ok {
			s.names[name] = header.Get(key)
			continue
		}
		value := body
		for key := range strings.SplitSeq(field, ".") {
			object, _ := value.(map[string]any)
			value = object[key]
		}
		s.names[name] = fmt.Sprint(value)
	}
	return nil
}

// serves reports whether an endpoint, as the simulator's routes write it, is the one for a request.
func serves(endpoint string, r *http.Request) bool {
	method, path, _ := strings.Cut(endpoint, " ")
	_, fits := pattern(strings.Split(path, "/")).match(splitPath(r.URL.EscapedPath()))
	return fits && method == r.Method
}

// endpoints reads the routes out of the simulator's source: the keys of its maps of endpoints.
func endpoints(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../internal/githubsim/rest*.go")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if pair, ok := n.(*ast.KeyValueExpr); ok {
				found = append(found, endpointOf(pair)...)
			}
			return true
		})
	}
	if len(found) < 60 {
		t.Fatalf("found only %d endpoints", len(found))
	}
	return found
}

func endpointOf(pair *ast.KeyValueExpr) []string {
	key, ok := pair.Key.(*ast.BasicLit)
	if !ok {
		return nil
	}
	text, err := strconv.Unquote(key.Value)
	if method, path, _ := strings.Cut(text, " "); err != nil || method != strings.ToUpper(method) || !strings.HasPrefix(path, "/") {
		return nil
	}
	return []string{strings.Replace(text, "/R/", "/repos/{owner}/{repo}/", 1)}
}
