package action_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sethvargo/go-githubactions"

	"github.com/label-state/label-state/internal/action"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/ledger"
)

const app = "acme/app"

// A world is one repository on the embedded GitHub, on virtual time, with everybody who plays.
type world struct {
	*testing.T
	server *githubsim.Server
	set    ledger.Settings
	guard  string

	contributors config.Contributors

	mu    sync.Mutex
	words int
	holds map[string]ledger.Hold // by codename

	over bool // the case ends here, otherwise than it says
}

// A step is what one run of the Action left behind.
type step struct {
	code                 int
	log, summary, output string
	requests, writes     int
}

func (s step) all() string { return s.log + "\n" + s.summary + "\n" + s.output }

// short is enough of what a run said to see what went wrong.
func (s step) short() string {
	const most = 4000
	return s.log[:min(len(s.log), most)] + "\n" + s.summary[:min(len(s.summary), most)]
}

const (
	tokActions = "tok-actions"
	tokFork    = "tok-fork"
	tokPoor    = "tok-poor"
)

func people() []githubsim.SeedUser {
	role := func(login, role string) githubsim.SeedUser {
		return githubsim.SeedUser{Login: login, Token: "tok-" + login, Permissions: map[string]string{app: role}}
	}

	bot := func(token string, readOnly bool) githubsim.SeedUser {
		return githubsim.SeedUser{
			Login:       "github-actions[bot]",
			Token:       token,
			ReadOnly:    readOnly,
			Permissions: map[string]string{app: "write"},
		}
	}

	return []githubsim.SeedUser{
		role("agents", "write"), role("olga", "admin"), role("tia", "triage"), role("rob", "read"),
		{Login: "stranger", Token: "tok-stranger"},
		{Login: "newcomer", Token: "tok-newcomer"},
		{Login: "copilot-swe-agent[bot]", Token: "tok-copilot", Permissions: map[string]string{app: "write"}},
		{Login: "dependabot[bot]", Token: "tok-dependabot", Permissions: map[string]string{app: "write"}},
		bot(tokActions, false), bot(tokFork, true), bot(tokPoor, true),
	}
}

func newWorld(t *testing.T, more ...githubsim.SeedRepo) *world {
	t.Helper()
	repos := append([]githubsim.SeedRepo{{Name: app, DefaultBranch: "main"}}, more...)
	users := people()
	for _, r := range more {
		for n := range users[:2] { // agents and olga work in every repository, but in no fork
			if r.ForkOf == "" {
				users[n].Permissions[r.Name] = users[n].Permissions[app]
			}
		}
	}

	server, err := githubsim.New(githubsim.Seed{Users: users, Repos: repos}, githubsim.Options{})
	w := &world{
		T:      t,
		server: server,
		set:    ledger.DefaultSettings(),
		guard:  "fail",
		holds:  map[string]ledger.Hold{},
	}
	w.must(err)

	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) word() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.words++
	return fmt.Sprintf("%08x", w.words)
}

type clock struct{}

func (clock) Now() time.Time { return time.Now() }

func (clock) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func (w *world) client(token string) *github.Client { return w.clientThat(token, false) }

// clientThat is a client that writes, or with dry refuses to.
func (w *world) clientThat(token string, dry bool) *github.Client {
	client, err := github.New(github.Options{
		REST:    "https://api.github.com/",
		GraphQL: "https://api.github.com/graphql",
		Web:     "https://github.com",
		Token:   github.NewSecret(token),
		HTTP:    w.server.Transport(),
		Clock:   clock{},
		Rand:    func() float64 { return 0.5 },
		Scheme:  w.set.Rules.Scheme,
		DryRun:  dry,
	})
	w.must(err)

	return client
}

func (w *world) ledger(token string) (*ledger.Ledger, *github.Client) {
	return w.ledgerThat(token, false)
}

func (w *world) ledgerThat(token string, dry bool) (*ledger.Ledger, *github.Client) {
	client, set := w.clientThat(token, dry), w.set
	set.DryRun = dry
	return ledger.New(client, clock{}, w.word, set), client
}

func ref(n int) claim.Issue { return claim.Issue{Owner: "acme", Repo: "app", Number: n} }

// issue opens an issue that is up for grabs.
func (w *world) issue(title string, labels ...string) int {
	w.Helper()
	if labels == nil {
		labels = []string{"agent:implement"}
	}

	n, err := w.server.AddIssue(app, "olga", title, "", labels...)
	w.must(err)
	return n
}

func (w *world) claim(n int, login, codename, branch string) ledger.Hold {
	w.Helper()
	l, _ := w.ledger("tok-" + login)
	h, err := l.Claim(w.Context(), ref(n), ledger.Request{Worker: claim.Worker{Codename: codename}, Branch: branch})
	w.must(err)
	w.holds[codename] = h
	return h
}

func (w *world) labels(n int) string {
	w.Helper()
	got, err := w.server.Labels(app, n)
	w.must(err)
	slices.Sort(got)
	return strings.Join(got, " ")
}

// send makes a request as somebody.
func (w *world) send(login, method, path string, body any) {
	w.Helper()
	text, err := json.Marshal(body)
	w.must(err)
	req, err := http.NewRequestWithContext(w.Context(), method, "https://api.github.com"+path, bytes.NewReader(text))
	w.must(err)
	req.Header.Set("Authorization", "Bearer tok-"+login)
	resp, err := w.server.Client().Do(req)
	w.must(err)
	var answer bytes.Buffer
	_, err = answer.ReadFrom(resp.Body)
	w.must(err)
	if resp.StatusCode >= 300 || bytes.Contains(answer.Bytes(), []byte(`"errors"`)) {
		w.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, answer.Bytes())
	}
}

// last is the newest event of that name and action, whose payload holds a text.
func (w *world) last(name, what, about string) githubsim.Event {
	w.Helper()
	for e, err := range w.server.Newest() {
		w.must(err)
		if e.Name == name && e.Action == what && strings.Contains(string(e.Payload), about) {
			return e
		}
	}

	w.Fatalf("no event %s %s", name, what)
	return githubsim.Event{}
}

// A run is one run of the Action to come.
type run struct {
	token  string
	name   string
	event  []byte
	inputs map[string]string
	change func(*action.Step)
}

func (w *world) sweep(inputs ...string) step {
	w.Helper()
	r := run{
		token:  tokActions,
		name:   "schedule",
		event:  []byte("{}"),
		inputs: map[string]string{},
	}

	for _, in := range inputs {
		k, v, _ := strings.Cut(in, "=")
		r.inputs[k] = v
	}

	return w.run(w.Context(), r)
}

func (w *world) deliver(token string, e githubsim.Event) step {
	w.Helper()
	return w.run(w.Context(), run{token: token, name: e.Name, event: e.Payload})
}

// run plays the Action once.
func (w *world) run(ctx context.Context, r run) step {
	w.Helper()
	event, err := action.ParseEvent(r.name, r.event)
	w.must(err)
	in, err := action.ReadInputs(func(name string) string { return r.inputs[name] })
	w.must(err)
	var log, summary, output bytes.Buffer
	gh := githubactions.New(githubactions.WithWriter(&log), githubactions.WithGetenv(func(string) string { return "" }))
	before := len(w.server.Requests())
	s := &action.Step{
		Inputs: in,
		Event:  event,
		Place:  w.place(r.token, claim.Repo{Owner: "acme", Name: "app"}, in.DryRun),
		Host:   "github.com",
		Open: func(_ context.Context, repo claim.Repo) (action.Place, error) {
			return w.place(r.token, repo, in.DryRun), nil
		},
		Console: action.NewConsole(gh, &log),
		Summary: &summary,
		Output:  &output,
		Now:     time.Now(),
		Word:    w.word,
	}

	if g := in.Guard; g != "" {
		s.Guard = g
	}

	if r.change != nil {
		r.change(s)
	}
	out := step{code: action.Run(ctx, s)}
	out.log, out.summary, out.output = log.String(), summary.String(), output.String()

	for _, sent := range w.server.Requests()[before:] {
		out.requests++
		if sent.Writes() && sent.Status < 300 && !sent.Refused {
			out.writes++
		}
	}

	if in.DryRun && out.writes > 0 {
		w.Errorf("a dry run wrote %d times\n%s", out.writes, out.log)
	}

	return out
}

func (w *world) place(token string, repo claim.Repo, dry bool) action.Place {
	l, client := w.ledgerThat(token, dry)
	return action.Place{
		Repo:         repo,
		Ledger:       l,
		Hub:          client,
		Guard:        w.guard,
		Contributors: w.contributors,
	}
}

// said fails unless the run ended with that code and says all parts.
func (w *world) said(s step, code int, parts ...string) {
	w.Helper()
	if s.code != code {
		w.Errorf("exit %d, want %d\n%s", s.code, code, s.short())
	}

	for _, p := range parts {
		if !strings.Contains(s.all(), p) {
			w.Errorf("nothing says %q\n%s", p, s.short())
		}
	}
}

// faulty answers requests of the workflow's token as fault says, which is told the number of each,
// from 1. It counts them.
func (w *world) faulty(fault func(n int, r *http.Request) *githubsim.Fault) (asked func() int) {
	seen := 0
	w.server.Fault = func(r *http.Request) *githubsim.Fault {
		if !strings.HasSuffix(r.Header.Get("Authorization"), tokActions) {
			return nil
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		seen++

		return fault(seen, r)
	}

	return func() int { return seen }
}

// jitter makes every request of the workflow's token take its own time, drawn from a seed.
func (w *world) jitter(seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	w.faulty(func(int, *http.Request) *githubsim.Fault {
		return &githubsim.Fault{
			Delay:       time.Duration(rng.Int64N(int64(200 * time.Millisecond))),
			DelayAnswer: time.Duration(rng.Int64N(int64(200 * time.Millisecond))),
		}
	})
}

// crash ends a run when its n-th write was applied and before the answer: nothing that it asks for
// afterwards arrives. A run that ends after a read leaves what one leaves that ended after the write
// before. It reports whether the run came that far.
func (w *world) crash(n int, cut context.CancelFunc) (reached func() bool) {
	wrote := 0
	w.faulty(func(_ int, r *http.Request) *githubsim.Fault {
		switch {
		case wrote == n:
			cut()
			return &githubsim.Fault{Reset: true}
		case !writes(r):
			return nil
		}

		if wrote++; wrote < n {
			return nil
		}
		cut()

		return &githubsim.Fault{ApplyThenFail: true}
	})

	return func() bool { return wrote == n }
}

// writes reports whether a request may change something.
func writes(r *http.Request) bool {
	if strings.HasSuffix(r.URL.Path, "/graphql") {
		return strings.HasPrefix(bodyOf(r), `{"query":"mutation`)
	}
	return r.Method != http.MethodGet
}

// bodyOf is the body of a request, which is still to be read.
func bodyOf(r *http.Request) string {
	if r.Body == nil {
		return ""
	}
	body, _ := io.ReadAll(r.Body) // it is in memory
	r.Body = io.NopCloser(bytes.NewReader(body))

	return string(body)
}

// breakOne answers the n-th request of the workflow's token with 502, and the tries to repeat it. It
// counts the requests.
func (w *world) breakOne(n int) (asked func() int) {
	tries, broken := 0, ""
	return w.faulty(func(seen int, r *http.Request) *githubsim.Fault {
		request := fmt.Sprintf("%s %s %s", r.Method, r.URL, bodyOf(r))
		if seen == n {
			broken = request
		}

		if request != broken || tries == 4 { // once, and three more times
			return nil
		}
		tries++
		return &githubsim.Fault{Status: http.StatusBadGateway}
	})
}
