//go:build e2e

package hosts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// after is a step before which something happens, and what the model is told of it.
func (s step) after(before func(), told string) step {
	s.before, s.told = before, told
	return s
}

// create is the step in which the host writes a new file of that name into the worktree.
func (w *world) create(name string) step { return w.host.edit(filepath.Join(w.tree, name)) }

// finish waits for the end of a turn, and holds the conversation to its steps.
func (w *world) finish(s *script, cmd *exec.Cmd, out func() string) {
	w.t.Helper()
	if err := cmd.Wait(); err != nil {
		w.t.Fatalf("%s: %v\n%s", s.prompt, err, out())
	}
	s.check(w.t)
}

// play has the host work through one script, from its start to its end.
func (w *world) play(m *model, s *script) {
	w.t.Helper()
	cmd, out := w.startWith(m, s.prompt)
	w.finish(s, cmd, out)
}

// has wants the worktree to have exactly the files, of those that begin with "new".
func (w *world) has(names ...string) {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.tree, "new*"))
	w.check(err)
	for n, file := range found {
		found[n] = filepath.Base(file)
	}

	if !slices.Equal(found, names) {
		w.t.Errorf("the worktree has %q of the files, want %q", found, names)
	}
}

// A holdRecord is what is looked at of a hold's record.
type holdRecord struct {
	Token   int64  `json:"token"`
	TTL     int64  `json:"ttl_seconds"`
	Session string `json:"session"`
}

// hold is the worktree's record of its hold of an issue; zero when it has none.
func (w *world) hold(issue int) (h holdRecord) {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.tree, ".git", "label-state", "holds", fmt.Sprintf("acme@app@%d.json", issue)))
	if errors.Is(err, fs.ErrNotExist) {
		return h
	}

	w.check(err)
	w.check(json.Unmarshal(text, &h))
	return h
}

// await waits until something that other processes do is done.
func (w *world) await(what string, done func() bool) {
	w.t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Errorf("waited in vain for %s", what)
			return
		}
	}
}

// outside runs the program as a person who is not in the worktree.
func (w *world) outside(token string, args ...string) {
	w.t.Helper()
	cmd := w.command(w.t.Context(), "label-state", args...)
	cmd.Dir, cmd.Env = w.root, append(cmd.Env, "LABEL_STATE_TOKEN="+token)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Errorf("label-state %v: %v\n%s", args, err, out)
	}
}

const notYours = "acme/app#1 is no longer yours"

// TestRulings plays one session of each real host through what may happen to its hold: a second
// session meddles, GitHub is away past the lease, the lease has run out, a person ends the hold,
// and a command fails under the fence.
func TestRulings(t *testing.T) {
	for _, h := range all() {
		t.Run(h.name, func(t *testing.T) {
			w := newWorld(t, h)
			w.labelState("agent", "install", h.name, "--yes")
			m := newModel(t, nil)
			refused := "another session, of " + h.name + ", is at work on acme/app#1"
			second := m.add("script-two",
				h.shell("label-state release 1").after(nil, refused),
				h.shell("label-state renew 1").after(nil, refused),
				h.shell("label-state push").after(nil, refused))

			var token int64
			meddle := func() { w.play(m, second) }
			away := func() {
				// Codex runs the event after a command beside its next request. Would it still ask when the
				// outage begins, the events of the next step would leave that to it and say nothing.
				time.Sleep(time.Second)
				w.outage.Store(true)
				w.pass(40 * time.Minute)
			}
			back := func() {
				token = w.hold(1).Token
				w.outage.Store(false)
				w.pass(time.Minute)
			}
			again := func() { w.await("the new claim", func() bool { return w.hold(1).Token > token }) }
			ended := func() {
				w.outside("tok-olga", "release", "acme/app#1", "--force", "--reason", "not now")
				w.pass(11 * time.Minute)
			}

			m.plays(
				h.shell("label-state claim 1").after(nil, "claimed acme/app#1"),
				h.shell("test 1 -eq 1").after(meddle, ""),
				w.create("new1").after(away, "could not be asked whether somebody else has it now"),
				h.shell("git push origin main").after(nil, "is not claimed again yet"),
				w.create("new2").after(back, ""),
				w.create("new3").after(again, "nobody had taken the issue, and it was claimed again"),
				h.shell("test 2 -eq 2").after(ended, notYours+": the hold has ended: forced by olga"),
				w.create("new4").after(nil, notYours),
				h.shell("label-state release 1 || echo failed as $?").after(nil, "failed as 1"),
				w.create("new5").after(nil, notYours))
			w.play(m, m.script)
			if !strings.Contains(second.text(), "another session, of "+h.name+", works on acme/app#1 in this worktree") {
				t.Error("the second session's start did not say that the first one works here")
			}

			w.has("new1", "new2", "new3")
		})
	}
}

// TestDead: the session that follows a killed one in its worktree is told so at once, takes the
// hold over with a new fencing token, and edits.
func TestDead(t *testing.T) {
	for _, h := range all() {
		t.Run(h.name, func(t *testing.T) {
			w := newWorld(t, h)
			w.labelState("agent", "install", h.name, "--yes")
			claimed := make(chan struct{})
			m := newModel(t, []step{
				h.shell("label-state claim 1"),
				h.shell("true").after(func() {
					close(claimed)
					<-t.Context().Done() // the host waits for its model
				}, ""),
			})
			kill := w.startUntil(m, claimed)
			before := w.hold(1)
			kill()

			next := m.add("script-two",
				h.shell("label-state claim 1").after(nil, "claimed acme/app#1"),
				w.create("new1"),
				h.shell("label-state renew 1 && echo it goes on").after(nil, "it goes on"))
			w.play(m, next)
			if !strings.Contains(next.text(), "of "+h.name+" that disappeared without ending") {
				t.Errorf("the next session was not told: %s", next.heard[0])
			}

			w.has("new1")
			if now := w.hold(1); now.Token <= before.Token || now.Session == before.Session {
				t.Errorf("the hold was %+v, and is %+v", before, now)
			}
		})
	}
}

// TestSubagent: a sub-agent is its parent's session: its calls are heartbeats, its claims are the
// session's, and the fence is its own.
func TestSubagent(t *testing.T) {
	for _, h := range all() {
		t.Run(h.name, func(t *testing.T) {
			w := newWorld(t, h)
			w.labelState("agent", "install", h.name, "--yes")
			m := newModel(t, nil)
			before := 0
			edit, _ := w.editAfterTakeover()
			child := m.add("script-child",
				w.create("new1").after(func() { before = w.renewals(); w.pass(11 * time.Minute) }, ""),
				h.shell("label-state claim 2").after(func() {
					if w.renewals() != before+1 {
						t.Errorf("%d heartbeats by the sub-agent, want 1", w.renewals()-before)
					}
				}, "claimed acme/app#2"),
				edit.after(edit.before, notYours))
			m.plays(
				h.shell("label-state claim 1").after(nil, "claimed acme/app#1"),
				h.agent(child.prompt),
				h.shell("test 1 -eq 1").after(func() { w.await("the sub-agent", child.done) }, ""))
			w.play(m, m.script)
			child.check(t)
			w.has("new1")
			if parent, its := w.hold(1), w.hold(2); its.Session != parent.Session || its.TTL != 1800 {
				t.Errorf("the sub-agent's hold is %+v, its parent's %+v", its, parent)
			}
		})
	}
}

// TestEnd: a session that ends as sessions do, without having done anything, leaves a ready issue.
func TestEnd(t *testing.T) {
	for _, h := range all() {
		t.Run(h.name, func(t *testing.T) {
			w := newWorld(t, h)
			m := newModel(t, []step{h.shell("label-state claim 1").after(nil, "claimed acme/app#1")})
			w.labelState("agent", "install", h.name, "--yes")
			w.prepare(m)
			w.commit()
			w.play(m, m.script)
			w.await("the release", func() bool { return slices.Equal(w.labels(1), []string{"agent:implement"}) })
		})
	}
}

// TestCleared: a person empties the conversation before anything was done (/clear), and goes on: the
// issue stays taken, and the session that follows holds it, renews it and edits.
func TestCleared(t *testing.T) {
	for _, h := range all() {
		t.Run(h.name, func(t *testing.T) {
			if h.name == "opencode" {
				t.Skip("opencode's /clear is /new: both sessions go on, and nothing says which one its person has left")
			}

			w := newWorld(t, h)
			w.labelState("agent", "install", h.name, "--yes")
			m := newModel(t, []step{h.shell("label-state claim 1").after(nil, "claimed acme/app#1")})
			renewed := 0
			next := m.add("script-two",
				h.shell("label-state renew 1 && echo it goes on").after(nil, "it goes on"),
				w.create("new1").after(func() { renewed = w.renewals(); w.pass(11 * time.Minute) }, ""))
			w.prepare(m)
			w.commit()

			p := w.terminal()
			p.say(prompt)
			w.await("the first session's work", func() bool { return m.done() && strings.Contains(p.screen(), scripted) })
			first := w.hold(1)
			w.await("an empty screen", func() bool {
				p.say("/clear") // hosts do not take it while they work
				time.Sleep(2 * time.Second)
				return !strings.Contains(p.screen(), scripted)
			})
			time.Sleep(7 * time.Second) // longer than a host may take to end
			p.say(next.prompt)
			w.await("the next session's work", next.done)
			w.await("its heartbeat", func() bool { return w.renewals() > renewed })
			m.check(t)
			next.check(t)
			w.has("new1")
			if !strings.Contains(next.text(), "this worktree holds acme/app#1 for you") {
				t.Errorf("the next session was not told that it holds the issue: %s", next.heard[0])
			}

			if now := w.hold(1); now.Session == first.Session || now.Session == "" {
				t.Errorf("the hold was %+v, and is %+v", first, now)
			}
		})
	}
}

// A terminal is a session of the world's host in one of tmux.
type terminal struct {
	w      *world
	socket string
}

// terminal starts the host as a person does, and waits until it can be typed into.
func (w *world) terminal() terminal {
	w.t.Helper()
	_, err := exec.LookPath("tmux")
	need(w.t, "tmux", err)
	short, err := os.MkdirTemp("", "tmux-") // a socket's path may have some hundred bytes
	w.check(err)
	p := terminal{w, filepath.Join(short, "s")}
	w.t.Cleanup(func() {
		_, _ = p.tmux("kill-server")
		w.settle()
		_ = os.RemoveAll(short)
	})

	args := []string{"new-session", "-d", "-x", "140", "-y", "45", "-c", w.tree}
	for _, kv := range w.environ() {
		if !strings.HasPrefix(kv, "TERM=") {
			args = append(args, "-e", kv)
		}
	}

	_, err = p.tmux(slices.Concat(args, []string{filepath.Join(w.root, "bin", w.host.link)}, w.host.chat)...)
	w.check(err)
	w.t.Cleanup(func() {
		if w.t.Failed() {
			w.t.Log(p.screen())
		}
	})
	w.await(w.host.name+" in a terminal", func() bool { return strings.Contains(p.screen(), w.host.ready) })
	if w.t.Failed() {
		w.t.FailNow()
	}

	return p
}

// screen is what the terminal shows.
func (p terminal) screen() string {
	text, _ := p.tmux("capture-pane", "-p")
	return text
}

func (p terminal) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", p.socket, "-f", os.DevNull, "-u"}, args...)...)
	cmd.Env = p.w.environ()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// say types a line. Hosts take one that comes at once for a paste.
func (p terminal) say(line string) {
	p.w.t.Helper()
	_, err := p.tmux("send-keys", "-l", line)
	time.Sleep(time.Second)
	if err == nil {
		_, err = p.tmux("send-keys", "Enter")
	}
	p.w.check(err)
}
