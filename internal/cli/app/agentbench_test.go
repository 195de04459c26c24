package app

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli/local"
	gitcmd "github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/state"
)

// TestEventAtRest: an event with nothing due asks nobody and starts nothing, whatever the tool
// call; neither does one without a hold.
func TestEventAtRest(t *testing.T) {
	tree := t.TempDir()
	git := filepath.Join(tree, ".git")
	err := errors.Join(os.MkdirAll(filepath.Join(git, "objects"), 0o755),
		os.MkdirAll(filepath.Join(git, "refs"), 0o755),
		os.WriteFile(filepath.Join(git, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	asked := func(what string) { t.Errorf("an event with nothing due %s", what) }
	term := quiet(t, tree, nobody(func() { asked("asks GitHub") }), nil)
	term.Env.Run = func(context.Context, setup.Command) ([]byte, error) {
		asked("starts a process")
		return nil, exec.ErrNotFound
	}

	term.Env.Exec = func(context.Context, gitcmd.Command) ([]byte, error) {
		asked("starts git")
		return nil, exec.ErrNotFound
	}

	for _, renewed := range []time.Duration{0, 9 * time.Minute, -1} {
		if renewed >= 0 {
			err := state.OpenHolds(git).Save(state.Hold{
				Issue:   claim.Issue{Owner: "acme", Repo: "app", Number: 1},
				Worker:  claim.Worker{Codename: "claude-code", FiringID: "s-1"},
				Comment: 1,
				TTL:     30 * time.Minute,
				Until:   time.Now().Add(30 * time.Minute),
				Beat: agenthost.Beat{
					Session: agenthost.Session{Host: agenthost.ClaudeCode, ID: "s"},
					Claimed: time.Now(),
					Renewed: time.Now().Add(-renewed),
				},
			})
			if err != nil {
				t.Fatal(err)
			}
		} else if err := os.RemoveAll(filepath.Join(git, "label-state")); err != nil {
			t.Fatal(err)
		}

		for _, event := range []string{
			`"hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"a.txt"}`,
			`"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make"}`,
			`"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"make"}`,
			`"hook_event_name":"UserPromptSubmit"`, `"hook_event_name":"Stop"`,
		} {
			var out, said bytes.Buffer
			term.In, term.Out, term.Err = strings.NewReader(`{"session_id":"s","transcript_path":"/t","cwd":"`+tree+
				`",`+event+`}`), &out, &said
			local.AnswerEvent(t.Context(), term, "claude-code", local.Answered,
				func(string, local.Part, []byte) error { asked("detaches a process"); return nil })
			if out.Len()+said.Len() > 0 {
				t.Errorf("%s: %s%s", event, &out, &said)
			}
		}
	}
}

// nobody is a network on which nobody may be asked.
type nobody func()

func (n nobody) RoundTrip(*http.Request) (*http.Response, error) {
	n()
	return nil, errors.New("no route to host")
}

// BenchmarkEvent measures an event with nothing due, which a host sends before and after every tool
// call, beside the program's own start and an empty Go program. The programs take turns, so that a
// busy machine is busy for all.
func BenchmarkEvent(b *testing.B) {
	dir := b.TempDir()
	empty, program, tree := filepath.Join(dir, "empty"), filepath.Join(dir, "label-state"), filepath.Join(dir, "app")
	source := filepath.Join(dir, "main.go")
	git := filepath.Join(tree, ".git")
	err := errors.Join(os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600),
		os.MkdirAll(filepath.Join(git, "objects"), 0o755),
		os.MkdirAll(filepath.Join(git, "refs"), 0o755),
		os.WriteFile(filepath.Join(git, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600),
		state.OpenHolds(git).Save(state.Hold{
			Issue:   claim.Issue{Owner: "acme", Repo: "app", Number: 1},
			Worker:  claim.Worker{Codename: "claude-code", FiringID: "s-1"},
			Comment: 1,
			TTL:     time.Hour,
			Until:   time.Now().Add(time.Hour),
			Beat: agenthost.Beat{
				Session: agenthost.Session{Host: agenthost.ClaudeCode, ID: "s"},
				Claimed: time.Now(),
				Renewed: time.Now(),
			},
		}))
	if err != nil {
		b.Fatal(err)
	}

	for out, what := range map[string]string{empty: source, program: "../../../cmd/label-state"} {
		if said, err := exec.Command("go", "build", "-o", out, what).CombinedOutput(); err != nil {
			b.Fatalf("go build %s: %v\n%s", what, err, said)
		}
	}

	event := []byte(`{"session_id":"s","transcript_path":"/t","cwd":"` + tree +
		`","hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"a.txt"}}`)
	run := func(name string, args ...string) time.Duration {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Stdin, cmd.Env = tree, bytes.NewReader(event), []string{"HOME=" + dir}
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil || args != nil && args[0] == "agent" && len(out) > 0 {
			b.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}

		return time.Since(start)
	}

	var nothing, start, answered time.Duration
	quickest, quick := time.Hour, time.Hour
	runs := 0
	for b.Loop() {
		version, event := run(program, "version"), run(program, "agent", "event", "claude-code")
		nothing, start, answered = nothing+run(empty), start+version, answered+event
		quickest, quick, runs = min(quickest, event), min(quick, version), runs+1
	}

	if runs >= 20 && quickest.Seconds() > 1.5*quick.Seconds() { // the best of many: a busy machine only adds
		b.Errorf("an event with nothing due takes %s, the program's start %s: more than 1.5 times as long",
			quickest, quick)
	}

	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(b.N) }
	b.ReportMetric(ms(nothing), "ms-empty")
	b.ReportMetric(ms(start), "ms-version")
	b.ReportMetric(ms(answered), "ms-event")
	b.ReportMetric(answered.Seconds()/start.Seconds(), "event/version")
	b.ReportMetric(answered.Seconds()/(2*nothing+start).Seconds(), "event/bound")
}
