package githubsim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/gitref"
)

// A fact is one paragraph of testdata/recorded.txt.
type fact struct {
	line    int
	title   string
	before  []step
	asked   string
	with    string
	answer  string
	clients []string
}

// A step is what happens before a fact's request: given or sim.
type step struct{ kind, text string }

// never begins the request of a fact that the embedded GitHub does not show.
const never = "never "

// TestRecorded: the embedded GitHub answers as GitHub did, and the client takes what GitHub
// answered for what it is.
func TestRecorded(t *testing.T) {
	facts := readFacts(t)
	if len(facts) < 28 {
		t.Fatalf("read %d facts, want the whole table", len(facts))
	}

	for _, f := range facts {
		t.Run(fmt.Sprintf("line %d %s", f.line, f.title), func(t *testing.T) {
			if !strings.HasPrefix(f.asked, never) {
				synctest.Test(t, f.holdServer)
			}
			for _, client := range f.clients {
				synctest.Test(t, func(t *testing.T) { f.holdClient(t, client) })
			}
		})
	}
}

func readFacts(t *testing.T) (facts []fact) {
	t.Helper()
	text, err := os.ReadFile("testdata/recorded.txt")
	must(t, err)

	for n, line := range strings.Split(string(text), "\n") {
		kind, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		if kind == "" || kind == "#" {
			continue
		}
		if kind == "fact" {
			part := strings.Split(rest, " | ")
			if len(part) != 3 {
				t.Fatalf("line %d: want what | when | where", n+1)
			}
			facts = append(facts, fact{line: n + 1, title: part[0]})
			continue
		}

		f := &facts[len(facts)-1]
		switch kind {
		case "given", "sim":
			f.before = append(f.before, step{kind, rest})
		case "asked":
			f.asked = rest
		case "with":
			f.with = rest
		case "answer":
			f.answer = rest
		case "client":
			f.clients = append(f.clients, rest)
		default:
			t.Fatalf("line %d: %q", n+1, kind)
		}
	}

	return facts
}

// A stage is an embedded GitHub with what a fact has kept of its answers.
type stage struct {
	*githubsim.Server
	t     *testing.T
	names map[string]string
	fault func(*http.Request) *githubsim.Fault
}

func newStage(t *testing.T) *stage {
	t.Helper()
	off := false
	may := map[string]string{"acme/app": "write", "acme/off": "write", "acme/old": "write", "acme/shelf": "write"}
	issue := githubsim.SeedIssue{Number: 1, Title: "One", Author: "wes"}
	s, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{
			{Login: "wes", Token: "tok-wes", Permissions: may},
			{Login: "tia", Token: "tok-tia", Permissions: map[string]string{"acme/app": "triage"}},
			{
				Login:            "ci[bot]",
				Token:            "tok-ci[bot]",
				Permissions:      map[string]string{"acme/app": "write"},
				TokenPermissions: map[string]string{"pull_requests": "write"},
			},
		},
		Repos: []githubsim.SeedRepo{
			{
				Name:          "acme/app",
				DefaultBranch: "main",
				Files: map[string]string{
					".github/label-state.yml":  "version: 1\n",
					".github/workflows/ci.yml": "on: push\n",
				},
				Labels: []githubsim.SeedLabel{{Name: "bug", Color: "ff0000"}, {Name: "docs", Color: "00ff00"}},
				Issues: []githubsim.SeedIssue{issue},
				Pulls: []githubsim.SeedPull{{SeedIssue: githubsim.SeedIssue{
					Number: 4, Title: "Queued",
					Author: "wes",
				}, Head: "queued", Base: "main"}},
			},
			{Name: "acme/off", HasIssues: &off, Issues: []githubsim.SeedIssue{issue}},
			{Name: "acme/old"},
			{Name: "acme/shelf", Archived: true, Issues: []githubsim.SeedIssue{issue}},
		},
	}, githubsim.Options{Dir: t.TempDir()})
	must(t, err)

	st := &stage{Server: s, t: t, names: map[string]string{
		"empty": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
		"zero":  strings.Repeat("0", 40),
		"long":  strings.Repeat("x", 65537),
	}}

	s.Fault = func(r *http.Request) *githubsim.Fault {
		if st.fault == nil {
			return nil
		}
		return st.fault(r)
	}

	return st
}

// expand puts in what was kept.
func (s *stage) expand(text string) string {
	return os.Expand(text, func(name string) string { return s.names[name] })
}

// tell does what a line of sim says.
func (s *stage) tell(line string) {
	s.t.Helper()
	word := append(strings.Fields(line), "", "", "")
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		must(s.t, err)
		return n
	}

	var err error
	switch word[0] {
	case "fault":
		s.fault, err = githubsim.ParseFault(word[1])
	case "rename":
		err = s.RenameRepo(word[1], word[2])
	case "pass":
		time.Sleep(time.Duration(number(word[1])) * time.Second)
	case "limit":
		s.SetRateLimit(word[1], word[2], number(word[3]))
	case "enqueue":
		_, err = s.Enqueue("acme/app", number(word[1]), "wes")
	default:
		err = fmt.Errorf("unknown: %q", line)
	}

	must(s.t, err)
}

var keeping = regexp.MustCompile(` (\w+)=(@?[\w.-]+)$`)

// give makes a request that succeeds, and keeps what the line names of its answer.
func (s *stage) give(line string) {
	s.t.Helper()
	kept := map[string]string{}
	for m := keeping.FindStringSubmatch(line); m != nil; m = keeping.FindStringSubmatch(line) {
		kept[m[1]] = m[2]
		line = strings.TrimSuffix(line, m[0])
	}

	status, header, body := s.request(line, "")
	if status >= 300 {
		s.t.Fatalf("%s: %d %s", line, status, body)
	}

	var fields map[string]any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	must(s.t, decoder.Decode(&fields))

	for name, field := range kept {
		if key, isHeader := strings.CutPrefix(field, "@"); isHeader {
			s.names[name] = header.Get(key)
		} else {
			s.names[name] = fmt.Sprint(fields[field])
		}
	}
}

// request sends what a line says: WHO METHOD PATH [JSON].
func (s *stage) request(line, with string) (status int, header http.Header, body []byte) {
	s.t.Helper()
	part := append(strings.SplitN(s.expand(line), " ", 4), "", "")
	method, address, sent := part[1], part[2], part[3]
	switch method {
	case "event":
		return http.StatusOK, nil, s.event(address)
	case "query", "mutation":
		document, err := json.Marshal(map[string]string{"query": method + " " + strings.TrimSpace(address+" "+sent)})
		must(s.t, err)
		method, address, sent = http.MethodPost, "/graphql", string(document)
	}

	address = strings.Replace(address, "~", "/repos/acme/app", 1)
	req, err := http.NewRequest(method, "https://api.github.com"+address, strings.NewReader(sent))
	must(s.t, err)
	req.Header.Set("Authorization", "Bearer tok-"+part[0])
	if name, value, is := strings.Cut(s.expand(with), ": "); is {
		req.Header.Set(name, value)
	}

	resp, err := s.Transport().RoundTrip(req)
	must(s.t, err)
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	must(s.t, err)

	return resp.StatusCode, resp.Header, body
}

// event is the last webhook of a kind.
func (s *stage) event(kind string) []byte {
	s.t.Helper()
	all, err := s.Events()
	must(s.t, err)
	n := slices.IndexFunc(all, func(e githubsim.Event) bool { return e.Name == kind })
	if n < 0 {
		s.t.Fatalf("no event %s", kind)
	}

	return all[n].Payload
}

// A recording is the answer of a fact.
type recording struct {
	status int
	header http.Header
	body   string
}

var anotherHeader = regexp.MustCompile(`; ([A-Z][\w-]+: )`)

func (s *stage) recording(f fact) recording {
	s.t.Helper()
	code, rest, _ := strings.Cut(s.expand(f.answer), " ")
	status, err := strconv.Atoi(code)
	must(s.t, err)
	a := recording{status: status, header: http.Header{}}
	if at := strings.IndexAny(rest, "{["); at >= 0 {
		a.body, rest = rest[at:], strings.TrimSpace(rest[:at])
	}

	for one := range strings.SplitSeq(anotherHeader.ReplaceAllString(rest, "\n$1"), "\n") {
		if name, value, is := strings.Cut(one, ": "); is {
			a.header.Set(name, moment(value))
		}
	}

	return a
}

// moment turns +N into the time that the header shows for it.
func moment(value string) string {
	seconds, err := strconv.Atoi(strings.TrimPrefix(value, "+"))
	if err != nil || !strings.HasPrefix(value, "+") {
		return value
	}
	return strconv.FormatInt(time.Now().Add(time.Duration(seconds)*time.Second).Unix(), 10)
}

// holdServer holds the embedded GitHub against the recording.
func (f fact) holdServer(t *testing.T) {
	s := newStage(t)
	for _, b := range f.before {
		if b.kind == "given" {
			s.give(b.text)
		} else {
			s.tell(b.text)
		}
	}

	want := s.recording(f)
	status, header, body := s.request(f.asked, f.with)
	if status != want.status {
		t.Errorf("status %d, want %d: %s", status, want.status, body)
	}

	for name := range want.header {
		if !like(header.Get(name), want.header.Get(name)) {
			t.Errorf("%s: %s, want %s", name, header.Get(name), want.header.Get(name))
		}
	}

	if want.body == "" {
		return
	}

	var got, wanted any
	must(t, json.Unmarshal(body, &got))
	must(t, json.Unmarshal([]byte(want.body), &wanted))
	now, _ := http.ParseTime(header.Get("Date"))
	if where := differs(got, wanted, now, ""); where != "" {
		t.Errorf("%s\nin %s", where, body)
	}
}

// differs says where got is not as wanted; empty when it is. An object may have more than was
// wanted, a list may not.
func differs(got, wanted any, now time.Time, at string) string {
	switch want := wanted.(type) {
	case map[string]any:
		have, is := got.(map[string]any)
		if !is {
			return fmt.Sprintf("%s is %v, want an object", at, got)
		}

		for key, value := range want {
			if where := differs(have[key], value, now, at+"."+key); where != "" {
				return where
			}
		}

		return ""

	case []any:
		have, is := got.([]any)
		if !is || len(have) != len(want) {
			return fmt.Sprintf("%s is %v, want a list of %d", at, got, len(want))
		}

		for n := range want {
			if where := differs(have[n], want[n], now, fmt.Sprintf("%s[%d]", at, n)); where != "" {
				return where
			}
		}

		return ""

	case string:
		text, is := got.(string)
		if want == "now" {
			then, err := time.Parse(time.RFC3339, text)
			if is = err == nil && now.Sub(then).Abs() <= time.Second; is {
				return ""
			}
		}

		if is && like(text, want) {
			return ""
		}

	default:
		if got == wanted {
			return ""
		}
	}

	return fmt.Sprintf("%s is %v, want %v", at, got, wanted)
}

// like reports whether a text is as wanted: * is anything, and !TEXT anything else.
func like(text, want string) bool {
	if other, is := strings.CutPrefix(want, "!"); is {
		return text != "" && text != other
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(want), `\*`, ".*")
	return regexp.MustCompile("^" + pattern + "$").MatchString(text)
}

// holdClient gives the recorded answer to the client. What it is the answer to has to be there, and
// nothing has to go wrong by itself.
func (f fact) holdClient(t *testing.T, line string) {
	call, outcome, found := strings.Cut(line, " -> ")
	if !found {
		t.Fatalf("client %s: no outcome", line)
	}

	word, who, times := strings.Fields(call), "wes", 1
	if word[0] == "tia" || word[0] == "ci[bot]" {
		who, word = word[0], word[1:]
	}

	if n := slices.Index(word, "times"); n > 0 {
		var err error
		times, err = strconv.Atoi(word[n+1])
		must(t, err)
		word = word[:n]
	}

	if last := len(word) - 1; word[last] == "always" {
		times, word = 1000, word[:last]
	}

	s := newStage(t)
	for _, b := range f.before {
		if b.kind == "given" {
			s.give(b.text)
		}
	}

	tape := &tape{
		next:   s.Transport(),
		like:   s.expand(f.asked),
		times:  times,
		answer: s.recording(f),
	}

	c, err := github.New(github.Options{
		REST:    "https://api.github.com/",
		GraphQL: "https://api.github.com/graphql",
		Token:   github.NewSecret("tok-" + who),
		HTTP:    tape,
		Rand:    func() float64 { return 0 },
	})
	must(t, err)

	start := time.Now()
	err = act(t.Context(), c, word)
	seen := outcomeOf(err, time.Since(start), tape.sent)
	if tape.given == 0 {
		t.Errorf("%s: nothing like %q was sent: %q", call, f.asked, tape.sent)
	}

	for n, one := range strings.Split(outcome, "; ") {
		what, want, _ := strings.Cut(one, " ")
		if n == 0 {
			what, want = "type", one
		}

		got, known := seen[what]
		part := what == "hint" || what == "says"
		if !known || got != want && !(part && want != "" && strings.Contains(got, want)) {
			t.Errorf("%s: %s is %q, want %q (%v)", call, what, got, want, err)
		}
	}
}

// outcomeOf is what came of a call, by the words of the table.
func outcomeOf(err error, waited time.Duration, sent []string) map[string]string {
	at := cli.ProblemOf(cli.At("claim", "acme/app#1", err))
	return map[string]string{
		"type":  typeOf(err),
		"waits": waited.String(),
		"sends": strings.Join(sent, " "),
		"exit":  strconv.Itoa(cli.ExitCode(at)),
		"hint":  cli.Words(at.Next),
		"says":  fmt.Sprint(err),
	}
}

// typeOf is the name of the client's own error in a chain.
func typeOf(err error) string {
	if err == nil {
		return "ok"
	}

	for name, is := range map[string]bool{
		"RateLimitError":  is[*github.RateLimitError](err),
		"PermissionError": is[*github.PermissionError](err),
		"NotFoundError":   is[*github.NotFoundError](err),
		"MovedError":      is[*github.MovedError](err),
		"QueryError":      is[*github.QueryError](err),
		"AnswerError":     is[*github.AnswerError](err),
		"StatusError":     is[*github.StatusError](err),
	} {
		if is {
			return name
		}
	}

	return fmt.Sprintf("%T", err)
}

func is[E error](err error) bool {
	_, yes := errors.AsType[E](err)
	return yes
}

// act makes one call of the client's.
func act(ctx context.Context, c *github.Client, word []string) error {
	object := append(word, "acme/app")[1]
	slug, number, _ := strings.Cut(object, "#")
	owner, name, _ := strings.Cut(slug, "/")
	app, one := claim.Repo{Owner: "acme", Name: "app"}, claim.Issue{Owner: "acme", Repo: "app", Number: 1}

	switch word[0] {
	case "query":
		return c.Query(ctx, "query {viewer{login}}", nil, &struct{}{})
	case "mutation":
		err := c.Query(ctx, `mutation {addComment(input:{subjectId:"I_none",body:"b"}){clientMutationId}}`, nil,
			&struct{}{})
		if is[*github.NotFoundError](err) { // what the embedded GitHub says, after what was recorded
			return nil
		}
		return err

	case "createLabel":
		return c.CreateLabel(ctx, claim.Repo{Owner: owner, Name: name},
			labels.Definition{Name: "new", Color: "aabbcc"})

	case "labels":
		_, err := c.Labels(ctx, app)
		return err

	case "commit":
		_, err := c.CreateCommit(ctx, one, "", "a lease")
		return err

	case "acquire":
		ask := lease.Ask{Issue: one, Worker: claim.Worker{Codename: "wes", FiringID: "1"}, TTL: time.Hour}
		_, err := gitref.New(c, gitref.Options{}).Acquire(ctx, ask)
		return err

	case "refNames":
		_, err := c.RefNames(ctx, one, object)
		return err

	case "file":
		_, err := c.File(ctx, app, object)
		return err

	case "comment":
		_, err := c.Comment(ctx, one, "hello")
		return err

	case "comments":
		n, err := strconv.Atoi(number)
		if err == nil {
			_, err = c.Comments(ctx, claim.Issue{Owner: owner, Repo: name, Number: n}, time.Time{})
		}
		return err
	}

	return fmt.Errorf("unknown call %q", word)
}

// A tape answers the first requests like the recorded one as it was recorded, and passes all others
// on.
type tape struct {
	next   http.RoundTripper
	like   string // WHO METHOD PATH …
	times  int
	answer recording

	mu    sync.Mutex
	given int
	sent  []string
}

// RoundTrip implements http.RoundTripper.
func (p *tape) RoundTrip(r *http.Request) (*http.Response, error) {
	kind, err := kindOf(r)
	if err != nil {
		return nil, err
	}

	p.mu.Lock()
	p.sent = append(p.sent, kind)
	recorded := p.given < p.times && p.fits(kind)
	if recorded {
		p.given++
	}

	p.mu.Unlock()
	if !recorded {
		return p.next.RoundTrip(r)
	}

	header := http.Header{
		"Content-Type": {"application/json; charset=utf-8"},
		"Date":         {time.Now().UTC().Format(http.TimeFormat)},
	}
	for name := range p.answer.header {
		header.Set(name, strings.ReplaceAll(p.answer.header.Get(name), "*", "7"))
	}

	text := strings.ReplaceAll(p.answer.body, "*", "7")
	return &http.Response{
		StatusCode:    p.answer.status,
		Header:        header,
		Request:       r,
		ContentLength: int64(len(text)),
		Body:          io.NopCloser(strings.NewReader(text)),
	}, nil
}

// kindOf names a request: query, mutation, or its method and the last part of its path.
func kindOf(r *http.Request) (string, error) {
	if !strings.HasSuffix(r.URL.Path, "/graphql") {
		return r.Method + " " + path.Base(r.URL.Path), nil
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var sent struct{ Query string }
	if err == nil {
		err = json.Unmarshal(body, &sent)
	}

	if strings.HasPrefix(sent.Query, "mutation") {
		return "mutation", err
	}

	return "query", err
}

// fits reports whether a request is like the recorded one: the same method on the same kind of
// thing. What is said of an issue is said of its comments, and what is said of all of GraphQL of a
// mutation.
func (p *tape) fits(kind string) bool {
	word := append(strings.Fields(p.like), "", "")
	if word[1] == "query" || word[1] == "mutation" {
		return kind == word[1] || kind == "mutation"
	}

	address, _, _ := strings.Cut(strings.Replace(word[2], "~", "app", 1), "?")
	return kind == word[1]+" "+path.Base(address) || kind == word[1]+" comments" &&
		strings.HasSuffix(address, "/issues/1")
}
