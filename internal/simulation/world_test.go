package simulation

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lease/gitref"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/sample"
)

const app = "acme/app"

// A world is one repository with everybody who works on it, and what is known to have happened.
type world struct {
	*timeline
	shape
	server *githubsim.Server
	until  time.Time // when people and workers go home
	quiet  bool      // nothing goes wrong any more

	setBack time.Duration // by how much GitHub's clock is behind; guarded by mu

	mu       sync.Mutex
	history  bytes.Buffer
	breaches []string
	holds    map[process]holding // who believes to hold what
	fenced   map[process]bool    // whose hold another process of its run has taken over
	tokens   map[int]int64       // the largest fencing token that anybody was given, by issue
	appear   map[int64]time.Time // when a comment becomes visible, by id
	newest   int64               // id of the newest comment that anybody knows
	tries    map[word]int        // posts sent
	heard    map[word]int        // … whose 201 arrived
	spoken   map[word]time.Time  // … and when the last did
	unheard  map[word]int        // … that may have been applied and nobody knows
	buried   map[process]bool    // whose claim was turned into its end
	given    map[process]bool    // whose lease was given back by decision
	wins     int
	lasted   time.Duration // virtual time
	resumed  int           // holds that a process took over from another one of its run
	visits   int           // looks at an issue that a person held
}

// A process is one that claims for a worker; others may claim with the same key.
type process struct {
	worker claim.Worker
	nonce  string
}

func (p process) String() string { return p.worker.String() + "/" + p.nonce }

// processOf is the process that has a hold.
func processOf(h ledger.Hold) process { return process{h.Record.Worker, h.Record.Nonce} }

// A holding is a worker's belief.
type holding struct {
	issue claim.Issue
	owns  func() bool
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	sh := shapeOf(seed)
	w := &world{
		timeline: newTimeline(),
		shape:    sh,
		until:    time.Now().Add(sh.hours),
		holds:    map[process]holding{},
		fenced:   map[process]bool{},
		tokens:   map[int]int64{},
		appear:   map[int64]time.Time{},
		tries:    map[word]int{},
		heard:    map[word]int{},
		spoken:   map[word]time.Time{},
		unheard:  map[word]int{},
		buried:   map[process]bool{},
		given:    map[process]bool{},
	}
	options := githubsim.Options{}
	if sh.strict {
		options.Dir = t.TempDir()
	}

	server, err := githubsim.New(sh.seed(), options)
	if err != nil {
		t.Fatal(err)
	}

	server.Fault = faultOf
	w.server = server
	return w
}

// seed is what the server holds at first: everybody with a token of the same name, and the issues.
func (s shape) seed() githubsim.Seed {
	out := githubsim.Seed{Repos: []githubsim.SeedRepo{{Name: app, DefaultBranch: "main"}}}
	add := func(login, role string) {
		out.Users = append(out.Users, githubsim.SeedUser{
			Login: login, Token: login,
			Permissions: map[string]string{app: role},
		})
	}

	for n := range s.workers {
		if s.login(n) == worker(n) {
			add(worker(n), "write")
		}
	}

	add("agents", "write")
	add("olga", "admin")
	add("tia", "triage")
	add("mallory", "read")
	add(reader, "read")
	add(cloudAgent, "write")
	add("github-actions[bot]", "write")

	for n := range s.issues {
		out.Repos[0].Issues = append(out.Repos[0].Issues, githubsim.SeedIssue{
			Number: n + 1,
			Title:  fmt.Sprint("Issue ", n+1),
			Author: "olga",
			Labels: []string{"agent:implement"},
		})
	}

	return out
}

func worker(n int) string { return "worker-" + strconv.Itoa(n) }

// login is whose token worker n has: its own, or that of the whole fleet.
func (s shape) login(n int) string {
	if s.shared || s.twins && n < 2 {
		return "agents"
	}
	return worker(n)
}

func ref(n int) claim.Issue { return claim.Issue{Owner: "acme", Repo: "app", Number: n} }

// An actor is somebody who does things in a world, one after the other.
type actor struct {
	*world
	twin      bool // it claims with keys that another actor has, too
	name      string
	token     string
	rng       *rand.Rand
	clock     clock
	processes int
}

// actor returns somebody with a source of randomness of their own.
func (w *world) actor(name, token string) *actor {
	id := uint64(0)
	for _, b := range []byte(name) {
		id = id*131 + uint64(b)
	}

	a := &actor{
		world: w,
		name:  name,
		token: token,
		rng:   sample.Chance(w.number, id),
	}
	a.clock = clock{timeline: w.timeline}
	if w.trouble.skew > 0 {
		a.clock.skew = time.Duration(a.rng.Int64N(int64(2*w.trouble.skew))) - w.trouble.skew
	}

	return a
}

// weather is what goes wrong now.
func (w *world) weather() weather {
	if w.quiet {
		return weather{}
	}
	return w.trouble
}

func (a *actor) word() string { return fmt.Sprintf("%08x", a.rng.Uint32()) }

// start makes a new process: a client that knows nothing, and a ledger on it.
func (a *actor) start() (*ledger.Ledger, *github.Client) {
	a.processes++
	client, err := github.New(github.Options{
		REST:    "https://api.github.com/",
		GraphQL: "https://api.github.com/graphql",
		Token:   github.NewSecret(a.token),
		HTTP:    &wire{actor: a, process: a.processes, next: a.server.Transport()},
		Clock:   a.clock,
		Rand:    a.rng.Float64,
		Scheme:  a.settings.Rules.Scheme,
	})
	if err != nil {
		panic(err) // the options are constants
	}
	l := ledger.New(client, a.clock, a.word, a.settings)
	if a.strict {
		client.ShowLeases()
		l = l.Strict(gitref.New(client, gitref.Options{Sleep: a.clock.Sleep}), "refs")
	}

	return l, client
}

// note adds a line to the history.
func (a *actor) note(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Fprintf(&a.history, "%s %s/%d ", time.Now().UTC().Format("15:04:05.000000000"), a.name, a.processes)
	fmt.Fprintf(&a.history, format, args...)
	a.history.WriteByte('\n')
}

// breach notes that an invariant does not hold. The lock is held.
func (w *world) breach(format string, args ...any) {
	text := time.Now().UTC().Format("15:04:05.000 ") + fmt.Sprintf(format, args...)
	w.breaches = append(w.breaches, text)
	w.history.WriteString("BREACH " + text + "\n")
}

// born gives the comments that a request has made the moments at which they become visible.
func (w *world) born(r *http.Request, body string) {
	late := w.weather().late
	n, _, ok := w.commented(r, body)
	if !ok || late == 0 {
		return
	}

	all, err := w.server.Comments(app, n)
	if err != nil {
		return
	}

	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range all {
		if c.ID <= w.newest {
			continue
		}
		w.newest = c.ID
		if rng := rand.New(rand.NewPCG(w.number, uint64(c.ID))); rng.Float64() < 0.5 {
			w.appear[c.ID] = time.Now().Add(hide(rng, late))
		}
	}
}

// hidden lists the comments that a read of how it was so long ago does not see yet, though younger
// ones may be visible.
func (w *world) hidden(ago time.Duration) (ids []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, at := range w.appear {
		if at.After(time.Now().Add(-ago)) {
			ids = append(ids, id)
		} else if at.Before(time.Now().Add(-time.Hour)) {
			delete(w.appear, id)
		}
	}

	return ids
}
