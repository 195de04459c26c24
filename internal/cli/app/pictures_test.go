package app

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
)

var pictures = flag.Bool("pictures", false, "draw what the terminal shows into docs")

// TestPictures draws the pictures in docs, each from a real terminal in which the real programs
// run.
func TestPictures(t *testing.T) {
	if !*pictures {
		t.Skip("draws only with -pictures (make pictures)")
	}

	t.Run("board", func(t *testing.T) {
		env := inPublic(t, "tok-olga", plainTitles)
		draw(t, "board", openBoard(t, 158, 28, darkPane, env), 158)
		draw(t, "board-80", openBoard(t, 80, 24, darkPane, env), 80)
		draw(t, "board-200", openBoard(t, 200, 50, darkPane, env), 200)
	})

	t.Run("issue", func(t *testing.T) {
		p := openBoard(t, 132, 28, darkPane, inPublic(t, "tok-olga", plainTitles))
		p.press("Enter")
		p.await("lucius holds it for another", "https://github.com/acme/app/issues/1", "history, oldest first")
		draw(t, "issue", p, 132)
	})

	t.Run("stats", func(t *testing.T) {
		plot, err := filepath.Abs("../../../docs/stats.svg")
		if err != nil {
			t.Fatal(err)
		}

		_, env := stage(t, "tok-olga", month)
		openPane(t, 80, 40, darkPane, t.TempDir(), env, "label-state", "stats", "acme/app", "--plot",
			plot).await("WORKER", "ended with 0")
	})
	t.Run("refusal", drawRefusal)
	t.Run("denied", drawDenied)
}

// plainTitles takes out of the scenario what is there to try a terminal.
func plainTitles(s *githubsim.Seed) {
	s.Repos[0].Issues[0].Body = "The upload fails for good when the server answers 503. Try again three times, with a pause of a second before each."
	s.Repos[0].Issues[3].Title, s.Repos[0].Issues[4].Title = "Document the retry policy", "Sum up the sizes in the overview"
}

// drawRefusal has a person push a commit that closes an agent's issue, with the compiled hook.
func drawRefusal(t *testing.T) {
	dir := t.TempDir()
	clone := filepath.Join(dir, "app")
	env := append(inPublic(t, "tok-olga"), "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=user.name",
		"GIT_CONFIG_VALUE_0=olga", "GIT_CONFIG_KEY_1=user.email", "GIT_CONFIG_VALUE_1=olga@example.com")
	for _, args := range [][]string{
		{"go", "build", "-o", dir, "../../../cmd/pre-push", "../../../cmd/pre-push-check"},
		{"git", "clone", "-q", "https://x:tok-olga@github.com/acme/app.git", clone},
		{"label-state", "hook", "install", "--hook", filepath.Join(dir, "pre-push")},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		if args[0] == "label-state" {
			cmd.Dir = clone
		}

		cmd.Env = append(os.Environ(), env...)
		if args[0] == "go" {
			cmd.Env = os.Environ()
		}

		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}

	p := openPane(t, 134, 10, darkPane, clone, append(env, "PS1=$ ", "HISTFILE="), "bash", "--norc", "--noprofile")
	p.await("$")
	const commit, push = "git commit -q --allow-empty -m 'Retry uploads three times' -m 'Closes #1'", "git push origin HEAD:quick-fix"
	p.press("-l", commit)
	p.press("Enter")
	p.await(commit + "\n$")
	p.press("-l", push)
	p.press("Enter")
	p.await("push refused", "lucius", "failed to push some refs")
	draw(t, "refusal", p, 134)
}

// drawDenied has a session's edit answered after a person has taken its issue by force.
func drawDenied(t *testing.T) {
	clone := filepath.Join(t.TempDir(), "app")
	env := inPublic(t, "tok-agents", plainTitles)
	run := func(dir, input, token string, args ...string) {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Stdin, cmd.Env = dir, strings.NewReader(input), append(append(os.Environ(), env...),
			"GH_TOKEN="+token)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}

	run("", "", "tok-agents", "git", "clone", "-q", "https://x:tok-agents@github.com/acme/app.git", clone)
	run(clone, `{"session_id":"5f2c7a10","hook_event_name":"SessionStart"}`, "tok-agents", "label-state", "agent",
		"event", "claude-code")
	event := `{"session_id":"5f2c7a10","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"a.md"}}` + "\n"
	if err := os.WriteFile(filepath.Join(clone, "edit.json"), []byte(event), 0o644); err != nil {
		t.Fatal(err)
	}

	p := openPane(t, 112, 16, darkPane, clone, append(env, "PS1=$ ", "HISTFILE=", "CLAUDE_CODE_SESSION_ID=5f2c7a10"),
		"bash", "--norc", "--noprofile")
	p.await("$")
	enter := func(line, answer string) {
		p.press("-l", line)
		p.press("Enter")
		p.await(answer)
	}

	enter("label-state claim 4", "record")
	run(filepath.Dir(clone), "", "tok-olga", "label-state", "claim", "acme/app#4", "--force")
	if err := age(clone, 11*time.Minute); err != nil { // a heartbeat is due
		t.Fatal(err)
	}

	enter("cat edit.json   # the next edit; meanwhile olga has claimed the issue by force", "a.md")
	enter("label-state agent event claude-code <edit.json", "no longer yours")
	draw(t, "denied", p, 112)
}

// draw writes what the pane shows to docs/NAME.svg.
func draw(t *testing.T, name string, p *pane, width int) {
	t.Helper()
	if err := os.WriteFile(filepath.Join("..", "..", "..", "docs", name+".svg"), []byte(picture(p.styled(), width)),
		0o644); err != nil {
		t.Fatal(err)
	}
}
