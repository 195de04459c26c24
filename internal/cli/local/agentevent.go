package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/process"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/state"
)

// How long an event may take when it asks GitHub. A host lets a call through whose hook takes too
// long, and waits for none at its end.
const (
	startTime    = 2 * time.Second
	beforeTime   = 5 * time.Second
	afterTime    = 15 * time.Second
	releaseTime  = 30 * time.Second
	goneTime     = 5 * time.Second
	gonePause    = 100 * time.Millisecond
	againTime    = 90 * time.Second
	largestEvent = 64 << 20
)

// answerEvent answers one event of a host. It never fails: a heartbeat that does not work must
// not stop anybody's work, and hosts take exit codes for denials. What was in the way is one line
// on standard error.
func answerEvent(ctx context.Context, c *cli.Call, p *eventParams) error {
	part := Answered
	switch {
	case p.Ended:
		part = Ended
	case p.Expired:
		part = Expired
	}

	AnswerEvent(ctx, c.Terminal, p.Host, part, detach)
	return nil
}

// A Part is what is done about an event: its answer, or what a process of its own does behind the
// session, because a host does not wait for it.
type Part string

// The parts. The others than the answer are the names of the options of agent event.
const (
	Answered Part = ""
	Ended    Part = "ended"   // the session is over: holds under which nothing was done are released
	Expired  Part = "expired" // the session's expired holds are claimed again
)

// AnswerEvent does one part of an event of a host, which stands on the terminal's standard input,
// and returns the answer. What the host need not wait for, detach is asked to have done as another
// part.
func AnswerEvent(
	ctx context.Context, t cli.Terminal, host string, part Part,
	detach func(host string, part Part, event []byte) error,
) (answer agenthost.Answer) {
	e := hostEvent{Terminal: t, now: time.Now, detach: detach}
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(t.Err, "label-state: work goes on, but: internal error: %s\n", cli.OneLine(fmt.Sprint(p)))
		}
		answer = e.answer
	}()

	if err := e.read(host); err != nil {
		e.note(err)
	} else if e.event.Kind != agenthost.Ignored && e.event.Session.Run() != "" {
		e.look()
		switch part {
		case Ended:
			e.endSession(ctx)
		case Expired:
			e.claimAgain(ctx)
		default:
			e.decide(ctx)
		}
	}

	if len(e.answer.Notes) > 0 {
		fmt.Fprintf(t.Err, "label-state: work goes on, but: %s\n", strings.Join(e.answer.Notes, "; "))
	}
	_, _ = io.WriteString(t.Out, e.answer.Text(e.event)) // nobody is left to tell that nobody listens

	return e.answer
}

// A hostEvent is one event on its way to its answer.
type hostEvent struct {
	cli.Terminal
	now    func() time.Time
	detach func(host string, part Part, event []byte) error

	name   string
	text   []byte
	event  agenthost.Event
	files  state.Sessions
	kept   state.Session    // what is kept of the event's
	trees  []*worktreeHolds // of the event, then the session's others
	about  int              // so many are the event's
	good   []claim.Issue    // of which GitHub has said just now that the hold stands
	answer agenthost.Answer

	expired bool // a hold was found expired, and is to be claimed again

	required bool   // the edit wants a claim first
	unusable string // why the configuration that says so cannot be used
}

// worktreeHolds is a worktree with what it has recorded.
type worktreeHolds struct {
	top   string
	git   string
	store state.Holds
	holds []*record
}

// A record is a hold that a worktree has recorded.
type record struct {
	*worktreeHolds
	state.Hold
}

func (e *hostEvent) read(name string) error {
	h, known := agenthost.Parse(name)
	if !known {
		return fmt.Errorf("%q is not a host that this version supports", name)
	}

	text, err := io.ReadAll(io.LimitReader(e.In, largestEvent+1))
	if err != nil {
		return fmt.Errorf("read the event: %w", err)
	}
	if len(text) > largestEvent {
		return errors.New("read the event: it is larger than 64 MiB")
	}

	e.name, e.text = name, text
	e.event, err = agenthost.Read(h, text)
	return err
}

// note keeps one line for standard error about an error, if there is one.
func (e *hostEvent) note(err error) {
	if err == nil {
		return
	}
	if line := cli.OneLine(err.Error()); !slices.Contains(e.answer.Notes, line) {
		e.answer.Notes = append(e.answer.Notes, line)
	}
}

// look reads what this machine knows: the session's worktrees, and the holds of those that the
// event is about. These are where the files are that are written, where the command works, else
// where the agent does.
func (e *hostEvent) look() {
	for _, p := range e.event.Paths {
		e.open(filepath.Dir(e.absolute(p)))
	}

	for _, p := range e.event.Dirs {
		e.open(e.absolute(p))
	}

	if len(e.event.Paths)+len(e.event.Dirs) == 0 {
		e.open(e.absolute(""))
	}
	e.about = len(e.trees)
	files, err := e.Env.SessionFiles()
	if err != nil {
		e.note(err)
		return
	}

	e.files = files
	e.actFor()
	e.kept, err = e.meet()
	e.note(err)
	if e.event.Kind == agenthost.SessionStart {
		files.Prune(e.now())
	}

	for _, dir := range e.kept.Worktrees {
		e.open(dir)
	}
}

// mostAgents is how many sub-agents of a session are known by their ids: more than work at once.
const mostAgents = 200

// actFor makes the event of a sub-agent, which has an id of its own, one of the session that it
// acts for.
func (e *hostEvent) actFor() {
	if e.event.Parent == "" {
		return
	}
	agent := e.event.Session.ID
	e.event.Session = e.files.Root(agenthost.Session{Host: e.event.Host, ID: e.event.Parent})
	e.note(e.files.Change(e.event.Session, func(s *state.Session) { // whose id its own sub-agents name
		if !slices.Contains(s.Agents, agent) {
			s.Agents = append(s.Agents[max(0, len(s.Agents)-mostAgents+1):], agent)
		}
	}))
}

// meet notes that the session sends events, and the process of its host. A session that goes on in
// another process says so at its start. Events that come from several are a host's whose process
// cannot be told.
func (e *hostEvent) meet() (state.Session, error) {
	kept, known, err := e.files.Load(e.event.Session)
	if err != nil || e.event.Kind == agenthost.SessionEnd {
		return kept, err
	}

	var from process.ID
	if p := e.Env.Processes; p != nil {
		from = process.Starter(p.Above())
	}

	begins := !known || e.event.Kind == agenthost.SessionStart || kept.Process.IsZero() && !kept.Scattered
	if !begins && from.IsZero() { // its host was killed while it was under way
		return kept, nil
	}
	if known && kept.Process == from && (kept.Ended.IsZero() || !begins) || !begins && kept.Scattered {
		return kept, nil
	}

	err = e.files.Change(e.event.Session, func(s *state.Session) {
		s.Process, s.Scattered, s.Ended = from, false, time.Time{}
		if !begins {
			s.Process, s.Scattered = process.ID{}, true
		}
		kept = *s
	})

	return kept, err
}

func (e *hostEvent) absolute(p string) string {
	if p = filepath.FromSlash(p); filepath.IsAbs(p) {
		return p
	}
	dir := e.event.Dir
	if !filepath.IsAbs(dir) {
		dir = e.Env.Dir
	}

	return filepath.Join(dir, p)
}

// open reads the holds of the worktree that the folder is in, once. A folder that is yet to be made
// is in its parent's.
func (e *hostEvent) open(dir string) {
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}

	top, err := state.Top(dir)
	if errors.Is(err, state.ErrNoRepository) ||
		slices.ContainsFunc(e.trees, func(t *worktreeHolds) bool { return t.top == top }) {
		return
	}

	t := &worktreeHolds{top: top}
	if err == nil {
		t.git, err = state.GitDir(top, "")
	}

	if err == nil {
		t.store = state.OpenHolds(t.git)
		var holds []state.Hold
		holds, err = t.store.All()
		for _, h := range holds {
			t.holds = append(t.holds, &record{t, h})
		}
	}

	e.note(err)
	if t.git != "" {
		e.trees = append(e.trees, t)
	}
}

// world is what the decision needs, as the records stand now.
func (e *hostEvent) world() agenthost.World {
	w := agenthost.World{Now: e.now(), Claim: e.required, Unusable: e.unusable}
	for n, t := range e.trees {
		for _, h := range t.holds {
			hold := hostHold(h.Hold)
			hold.Good = slices.ContainsFunc(e.good, h.Issue.Same)
			hold.Gone, hold.Beside = e.process(hold)
			if hold.Session == e.event.Session {
				w.Mine = append(w.Mine, hold)
			}

			if n < e.about {
				w.Here = append(w.Here, hold)
			}
		}
	}

	return w
}

// process tells of the hold of another session whether the process of its host has ended, which
// matters where a session starts, and whether it is the one that sends the event.
func (e *hostEvent) process(h agenthost.Hold) (gone, beside bool) {
	all := e.Env.Processes
	if h.Session.IsZero() || h.Session == e.event.Session || all == nil {
		return false, false
	}

	its, known, err := e.files.Load(h.Session)
	if err != nil || !known || its.Process.IsZero() {
		return false, false
	}

	return e.event.Kind == agenthost.SessionStart && all.Gone(its.Process), its.Process == e.kept.Process
}

// hostHold is a record as the decision wants it. One that no session has extended was when its
// lease began.
func hostHold(h state.Hold) agenthost.Hold {
	if h.Renewed.IsZero() {
		h.Renewed = h.Until.Add(-h.TTL)
	}
	return agenthost.Hold{
		Issue:  h.Issue,
		Worker: h.Worker,
		TTL:    h.TTL,
		Beat:   h.Beat,
	}
}

// decide does what the event asks for and finds its answer.
func (e *hostEvent) decide(ctx context.Context) {
	w := e.world()
	plan := agenthost.Decide(e.event, w)
	if !plan.Nothing() {
		e.carryOut(ctx, plan)
		w = e.world()
	}

	if e.event.Kind == agenthost.SessionEnd && len(plan.End) == 0 {
		e.note(e.files.Remove(e.event.Session))
	}
	holds := slices.ContainsFunc(w.Here, func(h agenthost.Hold) bool { return h.Alive(w.Now) })
	if e.event.Kind == agenthost.BeforeTool && e.event.Call == agenthost.Edits && !holds {
		e.required, e.unusable = e.wantsClaim(ctx)
		w = e.world()
	}

	e.answer.Deny = agenthost.Denies(e.event, w)
	if e.answer.Deny != "" && e.lifted(ctx) {
		e.answer.Deny = agenthost.Denies(e.event, e.world())
	}

	if e.Env.SkipDedup() { // a person's word, in the environment that the host was started with
		e.answer.Deny = ""
	}

	// from now on the session's end releases none of its holds, wherever the change is
	if e.event.Changes && e.answer.Deny == "" {
		for _, t := range e.trees {
			for _, h := range t.holds {
				if h.Session == e.event.Session {
					e.note(t.store.Touch(h.Issue))
				}
			}
		}
	}

	if e.event.Kind == agenthost.SessionStart && e.answer.Context == "" {
		e.answer.Context = e.startText(nil)
	}
	e.tell()
}

// lifted forgets holds that were lost, and whose session knows, in worktrees that have nothing of
// the work under them. It reports whether there was one.
func (e *hostEvent) lifted(ctx context.Context) (any bool) {
	ctx, cancel := context.WithTimeout(ctx, beforeTime)
	defer cancel()

	for _, t := range e.trees[:e.about] {
		over := slices.DeleteFunc(slices.Clone(t.holds), func(h *record) bool {
			return h.Lost == "" || h.Tell != "" || h.Session != e.event.Session
		})

		if len(over) == 0 || !e.clean(ctx, t) {
			continue
		}

		for _, h := range over {
			e.forget(h)
			e.answer.Context, any = agenthost.Lifted(h.Issue, h.Lost), true
		}
	}

	return any
}

// tell says what the session is to be told of its holds, once: by this event, if its answer can
// carry it. A denial and the start of a session say it themselves.
func (e *hostEvent) tell() {
	said := e.answer.Deny != "" || e.event.Kind == agenthost.SessionStart && e.event.TakesContext()
	if !said && !e.event.TakesContext() {
		return
	}

	for k, t := range e.trees {
		for _, h := range t.holds {
			if h.Tell == "" || h.Session != e.event.Session || said && k >= e.about {
				continue
			}
			first, text := false, h.Tell
			e.change(h, func(now *state.Hold) {
				first = now.Tell != "" // else an event beside this one has just said it
				now.Tell = ""
			})

			if first && !said {
				e.answer.Context = strings.TrimPrefix(e.answer.Context+"\n"+text, "\n")
			}
		}
	}
}

// wantsClaim reports whether one of the event's repositories wants a claim before an edit, by its
// default branch as it was last fetched. A configuration that cannot be used wants one if it
// mentions the key, and why is its cause; of any other that cannot be used nobody is kept from
// editing.
func (e *hostEvent) wantsClaim(ctx context.Context) (yes bool, why string) {
	ctx, cancel := context.WithTimeout(ctx, beforeTime)
	defer cancel()
	for _, t := range e.trees[:e.about] {
		conf, text, err := e.environment(t).Fetched(ctx)
		switch _, unusable := errors.AsType[*config.Error](err); {
		case unusable && bytes.Contains(text, []byte("require_claim")):
			return true, cli.OneLine(err.Error())
		case err != nil: // what cannot be found out keeps nobody from editing
			e.note(err)
		case conf.Sessions.RequireClaim:
			return true, ""
		}
	}

	return false, ""
}

func (e *hostEvent) carryOut(ctx context.Context, p agenthost.Plan) {
	e.with(func(r *record) { // the hold is this session's from now on
		was := r.Hold
		adopted := e.change(r, func(h *state.Hold) {
			h.Session, h.Ended, h.Passed = e.event.Session, time.Time{}, false
			if e.event.Kind == agenthost.SessionStart && !e.event.TakesContext() {
				h.Tell = agenthost.Yours(hostHold(*h))
			}
		})

		if !adopted {
			return
		}

		if !was.Ended.IsZero() && was.Session != e.event.Session {
			e.note(e.files.Remove(was.Session))
		}

		e.note(e.files.Add(e.event.Session, r.top))
	}, p.Adopt...)

	e.with(func(r *record) { e.change(r, func(h *state.Hold) { h.Ended = e.now() }) }, p.End...)
	e.with(func(r *record) { e.change(r, func(h *state.Hold) { h.Ended, h.Passed = e.now(), true }) }, p.Pass...)

	if len(p.End) > 0 {
		if !e.kept.Process.IsZero() {
			e.note(e.files.Change(e.event.Session, func(s *state.Session) { s.Ended = e.now() }))
		}
		if err := e.detach(e.name, Ended, e.text); err != nil {
			e.note(fmt.Errorf("release at the end of the session: %w", err))
		}
	}

	limit := afterTime
	switch e.event.Kind {
	case agenthost.SessionStart:
		limit = startTime
	case agenthost.BeforeTool:
		limit = beforeTime
	}

	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	e.with(func(r *record) { e.renew(ctx, r) }, p.Renew...)
	e.with(func(r *record) { e.verify(ctx, r) }, p.Verify...)
	if e.expired { // only now is no hold locked, which the other process leaves out
		if err := e.detach(e.name, Expired, e.text); err != nil {
			e.note(fmt.Errorf("claim again what has expired: %w", err))
		}
	}

	if len(p.Show) > 0 {
		e.answer.Context = e.startText(e.waiting(ctx))
	}
}

// with calls do for the first record of each issue.
func (e *hostEvent) with(do func(*record), issues ...claim.Issue) {
	for _, i := range issues {
		for _, t := range e.trees {
			if n := slices.IndexFunc(t.holds, func(r *record) bool { return r.Issue.Same(i) }); n >= 0 {
				do(t.holds[n])
				break
			}
		}
	}
}

// change changes the record of a hold as it is now, and reports whether it is still the one that
// was read: one that is gone, or that another claim has replaced, stays as it is.
func (e *hostEvent) change(r *record, do func(*state.Hold)) (same bool) {
	now, there, err := r.store.Change(r.Issue, func(h *state.Hold) bool {
		same = h.Worker == r.Worker
		if same {
			do(h)
		}
		return same
	})

	switch {
	case err != nil: // this event goes by what it knows
		e.note(err)
		do(&r.Hold)
		return true
	case !there:
		r.drop()
	default:
		r.Hold = now
	}

	return same
}

// drop leaves the hold out, which no longer has a record.
func (r *record) drop() {
	r.holds = slices.DeleteFunc(slices.Clone(r.holds), func(other *record) bool { return other == r })
}

// startText is what the session is told at its start; waits says what holds wait for.
func (e *hostEvent) startText(waits map[claim.Issue]agenthost.Shown) string {
	w := e.world()
	shown := make([]agenthost.Shown, 0, len(w.Here))
	for _, h := range w.Here {
		s := waits[h.Issue]
		s.Hold = h
		shown = append(shown, s)
	}

	own := "../" + "NAME"
	for _, t := range e.trees[:e.about] {
		own = filepath.Join("..", filepath.Base(t.top)+"-2")
		// by init and agent install
		written := []string{config.Path, ".claude/skills/label-state/SKILL.md", ".agents/skills/label-state/SKILL.md"}
		w.Known = w.Known || slices.ContainsFunc(written, func(file string) bool {
			_, err := os.Stat(filepath.Join(t.top, filepath.FromSlash(file)))
			return err == nil
		})
	}

	return agenthost.StartText(e.event, w, shown, own)
}

// environment is the program's, as if it had been started in the worktree.
func (e *hostEvent) environment(t *worktreeHolds) setup.Environment {
	env := e.Env
	env.Dir, env.Waiting = t.top, nil // the host waits, and shows no lines
	return env
}

// ask opens a session about an issue from the worktree.
func (e *hostEvent) ask(ctx context.Context, t *worktreeHolds, i claim.Issue) (*setup.Session, error) {
	s, err := setup.Open(ctx, e.environment(t), setup.Options{Ref: i.String()})
	if err != nil {
		return nil, err
	}

	for _, r := range t.holds {
		s.Told(r.Hold)
	}

	return s, nil
}
