package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/cli/local"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/process"
	"github.com/label-state/label-state/internal/sample"
	"github.com/label-state/label-state/internal/state"
)

// A day of the fleet: leases of sessions, how far apart the events of a live session are at most,
// and how often the sweep runs.
const (
	fleetDay   = 4 * time.Hour
	fleetLease = 30 * time.Minute
	fleetSweep = 7 * time.Minute
	fleetGrace = time.Minute
)

// TestSessionFleet plays days of live sessions seed by seed: sessions of five hosts that beat by
// their events and nothing else, go to lunch, are killed, come back and share a worktree, among
// people who claim, force, label by hand and go on holiday. The code of events and commands is the
// program's; time is virtual. What must hold:
//
//   - a live session, with an event at least every ten minutes, never loses its hold, unless a person decided so;
//   - the issue of a dead one is ready within its lease and the grace, and the next sweep says so;
//   - a session that comes back too late goes on: its issue is claimed again within a minute, unless somebody else has it, a person
//     has decided, or it may not be claimed. It is denied only if GitHub shows one of the first two;
//   - whoever holds nothing is never denied;
//   - a person's hold stands until a person ends it.
//
// Half of the seeds have trouble: a session's machine is offline during every third event, never
// twice in a row, and events are at most five minutes apart.
func TestSessionFleet(t *testing.T) {
	wins, lunches, again, kills, forced, denials := 0, 0, 0, 0, 0, 0
	days, played := sample.Size[uint64](1, 12), uint64(0)
	for seed := range days {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			played++
			f := newSessionFleet(t, seed)
			synctest.Test(t, func(t *testing.T) { f.play(t.Context()) })
			if len(f.breaches) > 0 {
				t.Errorf("%d breaches, the first: %s\nreplay: LABEL_STATE_TEST=all go test ./internal/cli/app -run 'TestSessionFleet/%d$'\n%s", len(f.breaches), f.breaches[0], seed, f.story.String())
			}

			wins, lunches, again = wins+f.wins, lunches+f.lunches, again+f.again
			kills, forced, denials = kills+f.kills, forced+f.forced, denials+f.denials
		})
	}

	t.Logf("%d holds, %d lunches, %d claimed again, %d killed, %d ended by people, %d edits denied", wins, lunches,
		again, kills, forced, denials)
	if played < days { // one was asked for
		return
	}
	if wins < sample.Size(10, 100) || lunches == 0 || again < sample.Size(0, 5) || kills == 0 || forced == 0 ||
		denials == 0 {
		t.Error("the days do not exercise holding")
	}
}

// A sessionFleet is one day of everybody in acme/app.
type sessionFleet struct {
	gone sync.Map // ids of sessions whose host's process has ended
	*world
	t       *testing.T
	seed    uint64
	trouble bool
	until   time.Time
	desks   []*fleetDesk
	git     gitAnswers // nobody changes a clone's configuration during a day
	running sync.WaitGroup

	mu       sync.Mutex
	story    strings.Builder
	breaches []string
	decided  map[int]time.Time // when a person last ended holds of an issue or kept agents off it
	persons  map[int]string    // who holds an issue as a person, until a person ends it
	wins     int
	lunches  int
	again    int // holds that were claimed again
	kills    int
	forced   int
	denials  int
}

// A fleetDesk is a machine with a worktree, at which one session follows another.
type fleetDesk struct {
	*sessionFleet
	name string
	dir  string
	home string
	host agenthost.Host
	rng  *rand.Rand
	made int // sessions

	offline bool // its machine reaches nobody now
}

const fleetIssues = 8

func newSessionFleet(t *testing.T, seed uint64) *sessionFleet {
	t.Helper()
	w, err := newWorldWith(t.TempDir(), func(s *githubsim.Seed) {
		for n := len(s.Repos[0].Issues) + 1; n <= fleetIssues; n++ {
			s.Repos[0].Issues = append(s.Repos[0].Issues, githubsim.SeedIssue{
				Number: n,
				Title:  fmt.Sprint("Issue ", n),
				Author: "olga",
				Labels: []string{"agent:implement"},
			})
		}
	})
	if err != nil {
		t.Fatal(err)
	}

	f := &sessionFleet{
		world:   w,
		t:       t,
		seed:    seed,
		trouble: seed%2 == 1,
		decided: map[int]time.Time{},
		persons: map[int]string{},
	}
	clone := cloneOf(t, "https://github.com/acme/app.git")
	if err := errors.Join(os.Mkdir(filepath.Join(clone, ".git", "logs"), 0o755),
		os.WriteFile(filepath.Join(clone, ".git", "logs", "HEAD"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}

	for n, host := range []agenthost.Host{
		agenthost.ClaudeCode, agenthost.Codex, agenthost.Copilot, agenthost.OpenCode,
		agenthost.Gemini,
	} {
		dir := filepath.Join(t.TempDir(), "app")
		if err := os.CopyFS(dir, os.DirFS(clone)); err != nil {
			t.Fatal(err)
		}
		f.desks = append(f.desks, f.desk(fmt.Sprint("desk-", n), dir, host))
	}

	return f
}

func (f *sessionFleet) desk(name, dir string, host agenthost.Host) *fleetDesk {
	id := uint64(0)
	for _, b := range []byte(name) {
		id = id*131 + uint64(b)
	}

	return &fleetDesk{
		sessionFleet: f,
		name:         name,
		dir:          dir,
		home:         f.t.TempDir(),
		host:         host,
		rng:          sample.Chance(f.seed, id),
	}
}

// play lets everybody in and waits until all have gone home and everything is at rest.
func (f *sessionFleet) play(ctx context.Context) {
	f.until = time.Now().Add(fleetDay)
	guest := f.desk("guest", f.desks[0].dir, agenthost.ClaudeCode)
	guest.home = f.desks[0].home // another session in the same worktree, of the same user
	olga, drake := f.desk("olga", f.t.TempDir(), ""), f.desk("drake", f.t.TempDir(), "")

	for _, d := range f.desks {
		f.running.Go(func() { d.day(ctx) })
	}
	f.running.Go(func() { guest.visit(ctx) })
	f.running.Go(func() { olga.decides(ctx) })
	f.running.Go(func() { drake.takesLeave(ctx) })
	f.running.Go(func() { f.sweeps(ctx) })
	f.running.Wait()

	for n, who := range f.persons {
		if log := f.log(n); !slices.ContainsFunc(log.Live(), func(c claim.Claim) bool { return c.Person == who }) {
			f.breach("%s is on holiday and does not hold #%d any more", who, n)
		}
	}
}

func (f *sessionFleet) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fmt.Fprintf(&f.story, "%s "+format+"\n", append([]any{time.Now().UTC().Format(time.TimeOnly)}, args...)...)
}

func (f *sessionFleet) breach(format string, args ...any) {
	f.note("BREACH "+format, args...)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.breaches = append(f.breaches, time.Now().UTC().Format("15:04:05 ")+fmt.Sprintf(format, args...))
}

func (f *sessionFleet) count(n *int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*n++
}

// log is what the issue's comments say, as GitHub has them.
func (f *sessionFleet) log(n int) claim.State {
	all, err := f.Comments("acme/app", n)
	if err != nil {
		f.t.Errorf("read the comments of #%d: %v", n, err)
	}

	in := make([]claim.Comment, len(all))
	for k, c := range all {
		in[k] = claim.Comment{
			ID:      c.ID,
			Created: c.CreatedAt,
			Updated: c.UpdatedAt,
			Author:  c.Author,
			Editor:  c.Editor,
			Body:    c.Body,
			Trusted: true,
		}
	}

	return claim.Replay(in)
}

// ended is when a person ended holds of the issue, or kept agents off it, after that moment.
func (f *sessionFleet) ended(n int, since time.Time) (at time.Time, yes bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at = f.decided[n]
	return at, !at.Before(since) && !at.IsZero()
}

// pause waits for up to d.
func (d *fleetDesk) pause(most time.Duration) {
	time.Sleep(time.Second + time.Duration(d.rng.Int64N(int64(most))))
}

// away is the network of a desk: slow, and not there while the desk is offline.
func (d *fleetDesk) RoundTrip(r *http.Request) (*http.Response, error) {
	d.mu.Lock()
	way, offline := time.Duration(d.rng.Int64N(int64(300*time.Millisecond))), d.offline
	d.mu.Unlock()

	select {
	case <-time.After(way):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}

	if offline {
		return nil, errors.New("no route to host")
	}

	return d.Transport().RoundTrip(r)
}

// terminal is a shell of the desk, in a session or outside of one.
func (d *fleetDesk) terminal(token string, vars map[string]string) cli.Terminal {
	all := map[string]string{"GH_TOKEN": token, "HOME": d.home}
	for name, value := range vars {
		all[name] = value
	}

	t := quiet(d.t, d.dir, d, all)
	t.Env.Exec = d.git.answer
	return t
}

// A liveSession is one session of a host.
type liveSession struct {
	*fleetDesk
	id     string
	shell  cli.Terminal
	issue  int // 0 while it holds nothing
	worker claim.Worker
	since  time.Time // the claim
	worked bool      // a tool call since then may have changed something
}

// Above is the process of the session's host.
func (s *liveSession) Above() iter.Seq[process.Process] {
	return func(yield func(process.Process) bool) {
		yield(process.Process{ID: process.ID{PID: 1, Start: s.id, Place: "test"}, Name: string(s.host)})
	}
}

// Gone reports whether the process of a session's host has ended.
func (s *liveSession) Gone(p process.ID) bool {
	_, gone := s.gone.Load(p.Start)
	return gone
}

func (d *fleetDesk) session() *liveSession {
	d.made++
	s := &liveSession{fleetDesk: d, id: fmt.Sprintf("%s-%d", d.name, d.made)}
	vars := map[agenthost.Host]map[string]string{
		agenthost.ClaudeCode: {"CLAUDE_CODE_SESSION_ID": s.id}, agenthost.Codex: {"CODEX_SESSION_ID": s.id},
		agenthost.Copilot:  {"COPILOT_AGENT_SESSION_ID": s.id},
		agenthost.OpenCode: {"LABEL_STATE_SESSION": "opencode:" + s.id}, agenthost.Gemini: {"GEMINI_CLI": "1"},
	}
	s.shell = d.terminal("tok-agents", vars[d.host])
	s.shell.Env.Processes = s

	return s
}

// event sends one event of the host and returns why a tool call is denied.
func (s *liveSession) event(ctx context.Context, kind agenthost.Kind, call agenthost.Call) (denied string) {
	t := s.shell
	t.In, t.Out, t.Err = bytes.NewReader(s.message(kind, call)), &bytes.Buffer{}, &bytes.Buffer{}
	answer := local.AnswerEvent(ctx, t, string(s.host), local.Answered,
		func(host string, part local.Part, event []byte) error {
			s.running.Go(func() { // a process of its own, behind the session
				time.Sleep(time.Second)
				late := t
				late.In, late.Out, late.Err = bytes.NewReader(event), &bytes.Buffer{}, &bytes.Buffer{}
				local.AnswerEvent(ctx, late, host, part, nil)
			})

			return nil
		})

	return answer.Deny
}

// message is an event in the host's own words.
func (s *liveSession) message(kind agenthost.Kind, call agenthost.Call) []byte {
	names := map[agenthost.Kind]string{
		agenthost.SessionStart: "SessionStart", agenthost.BeforeTool: "PreToolUse", agenthost.AfterTool: "PostToolUse",
		agenthost.Turn:       "UserPromptSubmit",
		agenthost.SessionEnd: "SessionEnd",
	}
	m := map[string]any{"session_id": s.id, "cwd": s.dir, "hook_event_name": names[kind], "source": "startup"}
	tool, input := "Bash", map[string]any{"command": "make test"}
	switch call {
	case agenthost.Reads:
		input["command"] = "label-state claim 1 --json"
	case agenthost.Publishes:
		input["command"] = "git push"
	case agenthost.Edits:
		tool, input = "Write", map[string]any{"file_path": filepath.Join(s.dir, "new.txt")}
	}

	switch s.host {
	case agenthost.Codex:
		m["turn_id"], m["model"], m["permission_mode"] = "1", "m", "default"
	case agenthost.Gemini:
		m["hook_event_name"] = map[agenthost.Kind]string{
			agenthost.SessionStart: "SessionStart", agenthost.BeforeTool: "BeforeTool",
			agenthost.AfterTool: "AfterTool", agenthost.Turn: "BeforeAgent",
			agenthost.SessionEnd: "SessionEnd",
		}[kind]

	case agenthost.Copilot:
		m = map[string]any{
			"sessionId": s.id, "timestamp": 1, "cwd": s.dir, "hook_event_name": names[kind],
			"source": "new",
		}
	}

	if kind == agenthost.BeforeTool || kind == agenthost.AfterTool {
		m["tool_name"], m["tool_input"] = tool, input
	}
	data, err := json.Marshal(m)
	if err != nil {
		panic(err) // strings alone
	}

	return data
}

// command runs a command line in the session's shell.
func (d *fleetDesk) command(ctx context.Context, t cli.Terminal, args ...string) (out []byte, err error) {
	var b bytes.Buffer
	t.Out = &b
	err = cli.Execute(ctx, append([]string{"label-state"}, args...), t)
	d.note("%s: label-state %s: %v", d.name, strings.Join(args, " "), err)
	return b.Bytes(), err
}

// day is one session after the other.
func (d *fleetDesk) day(ctx context.Context) {
	for time.Now().Before(d.until) {
		s := d.session()
		s.event(ctx, agenthost.SessionStart, "")
		for range 1 + d.rng.IntN(3) {
			if !s.take(ctx) {
				d.pause(10 * time.Minute)
				continue
			}
			if alive := s.work(ctx); !alive {
				break
			}
		}

		d.reach(true)
		d.pause(20 * time.Minute)
	}
}

func (d *fleetDesk) reach(yes bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.offline = !yes
}

// take claims an issue, as an agent does in its shell.
func (s *liveSession) take(ctx context.Context) bool {
	n := 1 + s.rng.IntN(fleetIssues)
	s.event(ctx, agenthost.BeforeTool, agenthost.Reads)
	out, err := s.command(ctx, s.shell, "claim", fmt.Sprint(n), "--json")
	s.event(ctx, agenthost.AfterTool, agenthost.Reads)
	var h answer.Answer
	if err != nil || json.Unmarshal(out, &h) != nil {
		return false
	}

	s.count(&s.sessionFleet.wins)
	s.issue, s.worker = n, claim.Worker{Codename: h.Codename, FiringID: h.FiringID}
	s.since = h.Since
	s.worked = false
	c, ok := s.log(n).Find(s.worker)
	if !ok || c.Lease(claim.DefaultTerms()) != fleetLease {
		s.breach("%s holds #%d with a lease of %s", s.id, n, c.Lease(claim.DefaultTerms()))
	}

	return true
}

// work is the session's events until it ends its hold, and reports whether the session lives on.
func (s *liveSession) work(ctx context.Context) (alive bool) {
	most := 10 * time.Minute
	if s.trouble {
		most = 5 * time.Minute
	}

	missed := false
	for range 1 + s.rng.IntN(30) {
		if time.Now().After(s.until) {
			break
		}
		gap := time.Second + time.Duration(s.rng.Int64N(int64(most-time.Second)))
		if s.rng.IntN(4) == 0 {
			gap = most
		}

		switch s.rng.IntN(40) {
		case 0:
			if !s.lunch(ctx) {
				return true
			}
			missed = false
			continue

		case 1:
			s.die()
			return false
		}

		begun := time.Now()
		missed = s.trouble && !missed && s.rng.IntN(3) == 0
		s.reach(!missed)
		if over, known := s.beat(ctx); over {
			return s.giveUp(ctx, known)
		}

		time.Sleep(max(0, gap-time.Since(begun)))
	}

	s.reach(true)
	return s.end(ctx)
}

// beat is one event of a working session. Over is that the hold is no more, known that the session
// was told so.
func (s *liveSession) beat(ctx context.Context) (over, known bool) {
	kinds := []agenthost.Kind{agenthost.BeforeTool, agenthost.BeforeTool, agenthost.AfterTool, agenthost.Turn}
	kind := kinds[s.rng.IntN(len(kinds))]
	call := agenthost.Runs
	if s.rng.IntN(2) == 0 {
		call = agenthost.Edits
	}

	denied := s.event(ctx, kind, call)
	s.worked = s.worked || kind != agenthost.Turn && denied == ""
	c, _ := s.log(s.issue).Find(s.worker)
	at, decided := s.ended(s.issue, s.since)
	switch {
	case decided && denied != "":
		s.count(&s.sessionFleet.denials)
		return true, true

	case decided && kind == agenthost.BeforeTool && c.End != nil && time.Since(at) > fleetLease:
		s.breach("%s edits under a hold of #%d that was ended at %s", s.id, s.issue, at.UTC().Format(time.TimeOnly))
		return true, false
	case decided:
		return false, false
	case denied != "":
		s.breach("%s is alive, and is denied: %s", s.id, denied)
		return true, true

	case c.End != nil || c.Overdue(claim.DefaultTerms(), time.Now()):
		s.breach("%s is alive, and lost #%d: %+v", s.id, s.issue, c.End)
		return true, false
	}

	return false, false
}

// giveUp is a session that is told that its hold is over: it stops, and perhaps takes another
// issue.
func (s *liveSession) giveUp(context.Context, bool) (alive bool) {
	s.note("%s: gives up #%d", s.id, s.issue)
	s.issue = 0
	return s.rng.IntN(2) == 0
}

// key is the worker under which the session's worktree has recorded its hold: another one since the
// hold was claimed again.
func (s *liveSession) key() claim.Worker {
	h, ok, err := state.OpenHolds(filepath.Join(s.dir, ".git")).Load(claim.Issue{
		Owner: "acme", Repo: "app",
		Number: s.issue,
	})
	if err != nil || !ok || h.Session.ID != s.id {
		return s.worker
	}
	return h.Worker
}

// others reports whether somebody else than the session has the issue, by what GitHub shows.
func (s *liveSession) others() bool {
	return slices.ContainsFunc(s.log(s.issue).Live(), func(c claim.Claim) bool {
		return c.Record.Worker != s.worker && c.Record.Worker != s.key() && !c.Expired(claim.DefaultTerms(), time.Now())
	})
}

// lunch is a time without events. It reports whether the hold goes on.
func (s *liveSession) lunch(ctx context.Context) bool {
	s.count(&s.sessionFleet.lunches)
	s.reach(true)
	d := time.Duration(10+s.rng.IntN(80)) * time.Minute
	s.note("%s: goes to lunch for %s", s.id, d)
	time.Sleep(d)

	before := s.others()
	denied := s.event(ctx, agenthost.BeforeTool, agenthost.Edits)
	s.worked = s.worked || denied == ""
	_, decided := s.ended(s.issue, s.since)
	switch {
	case denied != "" && !decided && !s.others():
		s.breach("%s is back, and is denied although nobody has taken #%d: %s", s.id, s.issue, denied)
		return false

	case denied != "":
		s.count(&s.sessionFleet.denials)
		return false

	case before && s.others() && !decided:
		s.breach("%s is back, and edits #%d, which somebody else holds", s.id, s.issue)
		return false
	}

	time.Sleep(time.Minute) // a process behind the session claims it again
	was := s.worker
	s.worker = s.key()
	_, decided = s.ended(s.issue, s.since)
	c, _ := s.log(s.issue).Find(s.worker)
	refused := s.refused()
	switch {
	case c.Live() && !c.Expired(claim.DefaultTerms(), time.Now()):
		if s.worker != was {
			s.count(&s.sessionFleet.again)
		}
		return true
	case !decided && !s.others() && refused == "":
		s.breach("%s is back for a minute, nobody has taken #%d, and it is not claimed again", s.id, s.issue)
	}

	s.note("%s: #%d is not claimed again: %s", s.id, s.issue, refused)
	return false
}

// refused is why the session's hold could not be claimed again, as its worktree has recorded it.
func (s *liveSession) refused() string {
	h, ok, err := state.OpenHolds(filepath.Join(s.dir, ".git")).Load(claim.Issue{
		Owner: "acme", Repo: "app",
		Number: s.issue,
	})
	if err != nil || !ok {
		return ""
	}
	return h.Beat.Refused
}

// die is a session that is killed: no event says so. Its issue is ready within the lease and the
// grace, and the labels with the next sweep.
func (s *liveSession) die() {
	s.count(&s.sessionFleet.kills)
	c, _ := s.log(s.issue).Find(s.worker)
	n, w, id, token := s.issue, s.worker, s.id, c.Record.Token
	s.gone.Store(id, true)
	end, _ := c.Until(claim.DefaultTerms())
	s.note("%s: is killed, and held #%d until %s", id, n, end.UTC().Format(time.TimeOnly))
	s.running.Go(func() {
		time.Sleep(time.Until(end.Add(fleetGrace + time.Second)))
		c, _ := s.log(n).Find(w)
		taken := c.Record.Token > token // by the next session of the worktree
		if c.End == nil && !taken && !c.Expired(claim.DefaultTerms(), time.Now()) {
			s.breach("%s is dead, and holds #%d after its lease and the grace", id, n)
		}

		time.Sleep(fleetSweep + time.Minute)
		if c, _ := s.log(n).Find(w); c.End == nil && !taken {
			s.breach("%s is dead, and no sweep released #%d", id, n)
		}
	})
}

// end is a session that has done its work, says so or is closed, and reports whether it lives on.
func (s *liveSession) end(ctx context.Context) (alive bool) {
	switch s.rng.IntN(3) {
	case 0: // the end of the session, and of its host, releases it if nothing was done
		s.gone.Store(s.id, true)
		n, w, worked := s.issue, s.worker, s.worked
		s.event(ctx, agenthost.SessionEnd, "")
		s.running.Go(func() {
			time.Sleep(time.Minute)
			switch c, _ := s.log(n).Find(w); {
			case worked && c.End != nil && strings.HasPrefix(c.End.Reason, "its session ended"):
				s.breach("%s has ended with work done, and released #%d", s.id, n)
			case !worked && c.End == nil:
				s.breach("%s has ended with nothing done, and holds #%d", s.id, n)
			}
		})

		return false

	case 1:
		s.die()
		return false
	}

	// a person may have ended it
	_, _ = s.command(ctx, s.shell, "release", fmt.Sprint(s.issue), "--outcome", "cancelled")
	s.issue = 0
	return s.rng.IntN(2) == 0
}

// visit is sessions in a worktree that others hold issues in. They claim nothing, and nothing that
// others lose stops them.
func (d *fleetDesk) visit(ctx context.Context) {
	for time.Now().Before(d.until) {
		s := d.session()
		s.event(ctx, agenthost.SessionStart, "")
		for range 1 + d.rng.IntN(20) {
			d.pause(6 * time.Minute)
			if denied := s.event(ctx, agenthost.BeforeTool, agenthost.Edits); denied != "" {
				d.breach("%s holds nothing, and is denied: %s", s.id, denied)
			}
		}
	}
}

// decides is a person with the command line and on the site: forced ends, and labels that decide
// nothing.
func (d *fleetDesk) decides(ctx context.Context) {
	t := d.terminal("tok-olga", nil)
	for {
		d.pause(25 * time.Minute)
		if time.Now().After(d.until) {
			return
		}

		n := 1 + d.rng.IntN(fleetIssues)
		ref := fmt.Sprintf("acme/app#%d", n)
		var err error
		switch d.rng.IntN(5) {
		case 0, 1:
			if len(d.log(n).Live()) == 0 {
				continue
			}
			d.deed(n)
			d.count(&d.sessionFleet.forced)
			_, err = d.command(ctx, t, "release", ref, "--force", "--reason", "needed")
			d.deed(n)

		case 2:
			d.note("olga takes agent:in-flight off #%d", n)
			err = d.RemoveLabel("acme/app", n, "olga", "agent:in-flight")

		case 3:
			d.note("olga puts agent:implement on #%d", n)
			err = d.AddLabels("acme/app", n, "olga", "agent:implement")

		case 4:
			d.note("olga talks on #%d", n)
			_, err = d.AddComment("acme/app", n, "olga", "Any news?")
		}

		if err != nil {
			d.note("olga: %v", err)
		}
	}
}

// deed notes that a person ends holds of an issue now.
func (d *fleetDesk) deed(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.decided[n] = time.Now()
	delete(d.persons, n)
}

// takesLeave is a person who claims two issues, one of them by force, and goes on holiday: nobody
// but a person ends their holds.
func (d *fleetDesk) takesLeave(ctx context.Context) {
	t := d.terminal("tok-drake", nil)
	for k, force := range []bool{false, true} {
		d.pause(90 * time.Minute)
		n := 1 + d.rng.IntN(fleetIssues)
		args := []string{"claim", fmt.Sprintf("acme/app#%d", n)}
		if force {
			args = append(args, "--force", "--reason", "mine")
			d.deed(n)
		}

		_, err := d.command(ctx, t, args...)
		if err == nil {
			d.mu.Lock()
			d.persons[n] = "drake"
			if force {
				d.decided[n] = time.Now()
			}
			d.mu.Unlock()
		}

		d.note("drake has #%d: %v (%d)", n, err, k)
	}
}

// sweeps is the schedule, which goes on until everything is at rest.
func (f *sessionFleet) sweeps(ctx context.Context) {
	d := f.desk("sweeper", f.t.TempDir(), "")
	for time.Now().Before(f.until.Add(3 * time.Hour)) {
		time.Sleep(fleetSweep)
		// the next one repairs what this one could not
		_, _ = d.command(ctx, d.terminal("tok-olga", nil), "sweep-claims", "--repo", "acme/app")
	}
}
