package app

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/githubsim"
)

const (
	darkPane  = "bg=#0d1117,fg=#e6edf3"
	lightPane = "bg=#ffffff,fg=#1f2328"
)

// stage is an embedded GitHub with the scenario on it, changed as edits say, and the environment of
// somebody who works there.
func stage(t *testing.T, token string, edits ...func(*githubsim.Seed)) (*githubsim.Server, []string) {
	t.Helper()
	return stageWith(t, token, nil, edits...)
}

// scenarioServer is an embedded GitHub with the scenario on it, changed as edits say, and the
// folder above its own.
func scenarioServer(t *testing.T, edits ...func(*githubsim.Seed)) (server *githubsim.Server, dir string) {
	t.Helper()
	seed, err := scenario(time.Now())
	if err != nil {
		t.Fatal(err)
	}

	for _, edit := range edits {
		edit(&seed)
	}
	dir = t.TempDir()
	server, err = githubsim.New(seed, githubsim.Options{Dir: filepath.Join(dir, "github")})
	if err != nil {
		t.Fatal(err)
	}

	return server, dir
}

// stageWith is stage on a GitHub with those faults.
func stageWith(t *testing.T, token string, fault func(*http.Request) *githubsim.Fault,
	edits ...func(*githubsim.Seed),
) (*githubsim.Server, []string) {
	t.Helper()
	server, dir := scenarioServer(t, edits...)
	server.Fault = fault
	url, stop, err := server.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(stop)
	return server, []string{
		"HOME=" + dir, "LABEL_STATE_API_URL=" + url, "LABEL_STATE_TOKEN=" + token, "GIT_CONFIG_NOSYSTEM=1", "DISPLAY=",
		"WAYLAND_DISPLAY=", "BROWSER=",
	}
}

// openBoard is the board of the scenario in a terminal, once it has been read.
func openBoard(t *testing.T, width, height int, style string, env []string, more ...string) *pane {
	t.Helper()
	p := openPane(t, width, height, style, t.TempDir(), env,
		append([]string{"label-state", "board", "--repo", "acme/app"}, more...)...)
	p.await("12 issues, 5 held", "#1 Retry the upload")
	return p
}

// widest is the widest line of a screen, in cells.
func widest(screen string) int {
	wide := 0
	for line := range strings.Lines(screen) {
		wide = max(wide, ansi.StringWidth(strings.TrimRight(line, "\n")))
	}
	return wide
}

// TestTerminalBoard plays the board in real terminals against a real server.
func TestTerminalBoard(t *testing.T) {
	t.Parallel()
	t.Run("80 columns", func(t *testing.T) {
		t.Parallel()
		server, env := stage(t, "tok-olga")
		p := openBoard(t, 80, 24, darkPane, env)
		if w := widest(p.await("[in flight 3]", "READY 3", "PLAN 1", "▌#1", "every 30s")); w > 80 {
			t.Errorf("%d columns wide", w)
		}

		p.press("j", "j")
		p.await("▌#3", "drake", "! expired")
		p.press("c")
		p.await("Claim #3 for yourself? The lease of drake has expired.", "= label-state claim acme/app#3")
		p.press("n")
		p.await("nothing was done")
		p.press("h", "c", "y")
		p.await("#4 is yours", "[for people 3]", "▌#4", "olga (you)") // the cursor goes with it
		if got, err := server.Labels("acme/app", 4); err != nil || !slices.Contains(got, "do-not-pickup") {
			t.Errorf("labels of #4: %q, %v", got, err)
		}

		p.press("r", "y")
		p.await("#4 is released", "[ready 3]")
		p.press("3", "a", "y")
		p.await("the plan on #6 is approved", "[in flight 4]", "▌#6")
		p.press("o")
		p.await("no browser here; the address is http://")
		p.press("p")
		p.await("Pause acme/app?", "reason: █")
		p.press("-l", "release week")
		p.await("= label-state repo pause acme/app --reason 'release week'")
		p.press("Enter")
		p.await("acme/app is paused", "by olga: release week", "p resume")
		p.press("p", "y")
		p.await("acme/app is no longer paused")
		p.press("q")
		p.await("ended with 0")
	})

	t.Run("40 columns", func(t *testing.T) {
		t.Parallel()
		server, env := stage(t, "tok-olga")
		p := openBoard(t, 40, 12, lightPane, env)
		p.await("[in flight 3]", "▌#1 Retry the upload on 503", "▌ lucius", "? help")
		p.press("f")
		p.await("End the hold of lucius on #1 by force?", "reason: █", "enter confirms")
		p.press("Enter") // no reason yet
		p.press("-l", "it waits for a machine that is gone")
		p.await("gone█")
		p.press("Enter")
		p.await("the hold on #1 is ended", "note: lucius:l1 lost acme/app#1 by", "heartbeat or push")
		if got, err := server.Labels("acme/app", 1); err != nil || !slices.Contains(got, "agent:implement") {
			t.Errorf("labels of #1: %q, %v", got, err)
		}

		p.press("Enter")
		p.await("acme/app#1 Retry the upload on 503", "J scrolls")
		p.press("G")
		p.await("lost it", "because", "gone")
		p.press("Escape")
		p.await("▌#1")
		p.press("q")
		p.await("ended with 0")
	})

	t.Run("200 columns", func(t *testing.T) {
		t.Parallel()
		_, env := stage(t, "tok-olga")
		p := openBoard(t, 200, 50, darkPane, env)
		screen := p.await("READY 3", "IN FLIGHT 3", "PLAN 1", "PULL REQUEST 1", "DONE 2", "FOR PEOPLE 2", "every 30s",
			"→ #20")
		if strings.Contains(screen, "[in flight") || widest(screen) > 200 {
			t.Errorf("all columns have room, and no more:\n%s", screen)
		}

		p.press("Enter")
		p.await("▌#1", "lucius holds it for another", "history, oldest first", "drake lost the race to lucius", "│ The upload fails for good", "│ history, oldest first")
		p.press("j")
		p.await("▌#2", "vera holds it for another")
		p.press("Escape")
		p.await("enter details") // else the next key would come with the escape
		p.press("/")
		p.press("v", "e", "r", "a", "Enter")
		if screen := p.await("IN FLIGHT 1", "READY 0", "/vera"); strings.Contains(screen, "lucius") {
			t.Errorf("the filter lets everything through:\n%s", screen)
		}
	})

	t.Run("copied", func(t *testing.T) {
		t.Parallel()
		_, env := stage(t, "tok-olga")
		p := openBoard(t, 80, 24, darkPane, env)
		p.must("set", "-s", "set-clipboard", "on")
		p.press("h", "y")
		p.await("copied, if this terminal lets programs copy:", "label-state claim acme/app#4")
		given := func() string { got, _ := p.tmux("show-buffer"); return got } // an error until there is one
		for deadline := time.Now().Add(20 * time.Second); given() != "label-state claim acme/app#4"; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the terminal was given %q", given())
			}
		}
	})

	t.Run("once", func(t *testing.T) {
		t.Parallel()
		_, env := stage(t, "tok-olga")
		p := openPane(t, 80, 24, darkPane, t.TempDir(), env, "label-state", "board", "--repo", "acme/app", "--once")
		p.await("ISSUE", "acme/app#1", "lucius", "ended with 0")
		p = openPane(t, 80, 24, darkPane, t.TempDir(), env, "label-state", "board", "--repo", "../..")
		p.await("read repository", "ended with 2")
	})

	t.Run("several repositories", func(t *testing.T) {
		t.Parallel()
		_, env := stage(t, "tok-olga", func(seed *githubsim.Seed) {
			seed.Repos = append(seed.Repos, githubsim.SeedRepo{Name: "acme/web"}, githubsim.SeedRepo{
				Name: "acme/docs", Files: map[string]string{config.Path: "claim: {ttl: -4h}\n"},
			})
		})
		p := openBoard(t, 80, 24, darkPane, env, "--repo", "acme/web,acme/docs", "--verbose")
		p.await("3 repositories")
		p.press("q")
		if screen := p.await("claims and releases are refused", "ended with 0"); strings.Contains(screen, "POST") {
			t.Errorf("what is asked is told where the board was:\n%s", screen)
		}
	})

	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		_, env := stage(t, "tok-mallory")
		p := openPane(t, 80, 24, darkPane, t.TempDir(), env, "label-state", "board", "--repo", "acme/app")
		p.await("! nothing could be read: ", "records of\nagents count in acme/app",
			"use\nthe token of a login that may push to acme/app")
	})
}

// TestTerminalBoardRefresh: a refresh draws only what changes, a failing one says how old the board
// is, and none is made once the terminal is gone, even where nobody tells the program.
func TestTerminalBoardRefresh(t *testing.T) {
	t.Parallel()
	var out atomic.Bool
	server, env := stageWith(t, "tok-olga", func(*http.Request) *githubsim.Fault {
		if out.Load() {
			return &githubsim.Fault{Status: http.StatusUnauthorized} // which is not tried again
		}
		return nil
	})
	drawn, ended := filepath.Join(t.TempDir(), "drawn"), filepath.Join(t.TempDir(), "ended")
	p := openPane(t, 80, 24, darkPane, t.TempDir(), env, "sh", "-c",
		`trap "" HUP; label-state board -R acme/app --every 5s; : >"$0"`, ended)
	p.await("▌#1", "every 5s")
	p.must("pipe-pane", "-o", "cat >"+drawn)
	before := len(server.Requests())
	if err := server.Close("acme/app", 4, "olga"); err != nil {
		t.Fatal(err)
	}

	p.await(" ready 2 ")
	for deadline := time.Now().Add(time.Minute); len(server.Requests()) == before && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}

	text, err := os.ReadFile(drawn)
	if err != nil {
		t.Fatal(err)
	}

	if all := 80 * 24; strings.Contains(string(text), "\x1b[2J") || len(text) > 3*all {
		t.Errorf("%d bytes were drawn, the screen cleared: %t", len(text), strings.Contains(string(text), "\x1b[2J"))
	}
	out.Store(true)
	p.await("! this is ", " old, reading fails:", "▌#1", "every 10s")
	out.Store(false)
	p.await("read 0s ago, every 5s")
	p.tmux("kill-server")

	for gone := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(ended); err == nil {
			break
		}
		if time.Since(gone) > time.Minute {
			t.Fatal("the board is there still a minute after its terminal was gone")
		}
	}
}

// TestTerminalColours: the board asks the terminal for its background, and is silent in colours
// where none are wanted.
func TestTerminalColours(t *testing.T) {
	t.Parallel()
	const ofDark, ofLight = "38;5;75m", "38;5;25m" // the accent of each, in the 256 colours that tmux has
	for _, c := range []struct {
		name, style string
		env, flags  []string
		want, not   string
	}{
		{"dark", darkPane, nil, nil, ofDark, ofLight},
		{"light", lightPane, nil, nil, ofLight, ofDark},
		{"NO_COLOR", lightPane, []string{"NO_COLOR=1"}, nil, "▌", "\x1b[38"},
		{"--no-color", darkPane, nil, []string{"--no-color"}, "▌", "\x1b[38"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, env := stage(t, "tok-olga")
			p := openBoard(t, 80, 24, c.style, append(env, c.env...), c.flags...)
			p.press("j") // what the terminal answered has come by then
			p.await("▌#2")
			if got := p.styled(); !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
				t.Errorf("want %q and no %q in\n%q", c.want, c.not, got)
			}
		})
	}
}

// TestTerminalInit: a person is asked, and only a yes does it.
func TestTerminalInit(t *testing.T) {
	_, env := stage(t, "tok-olga")
	clone := cloneOf(t, "https://github.com/acme/app.git")
	for _, c := range []struct{ open, answer, want string }{
		{"", "", "nothing was done"},
		{"yes", "yep", "nothing was done"},
		{"y", "y", "created   file .github/workflows/label-state.yml"},
	} {
		p := openPane(t, 80, 40, darkPane, clone, env, "label-state", "init")
		p.await("acme/app is public. Is it an open-source project", "[y/N]")
		if c.open != "" {
			p.press(c.open)
		}
		p.press("Enter")
		p.await("+ file .github/label-state.yml", "+ label agent:blocked", "go on? [y/N]")
		if c.answer != "" {
			p.press(c.answer)
		}

		p.press("Enter")
		p.await(c.want, "ended with")
		if _, err := os.Stat(filepath.Join(clone, ".github", "label-state.yml")); (err == nil) != (c.answer == "y") {
			t.Errorf("answer %q: %v", c.answer, err)
		}
	}

	settings, _ := os.ReadFile(filepath.Join(clone, ".github", "label-state.yml"))
	if !strings.Contains(string(settings), "\ncontributors: {claim: labelled, pull_requests: claim} ") {
		t.Errorf("the settings are\n%s", settings)
	}

	openPane(t, 80, 40, darkPane, clone, env, "label-state", "init").await("nothing to do here: the files count once they are on the default branch",
		"ended with 0")

	if err := os.RemoveAll(filepath.Join(clone, ".github")); err != nil {
		t.Fatal(err)
	}
	for _, option := range []string{"--dry-run", "--yes"} { // nobody is asked, although somebody is there
		openPane(t, 80, 40, darkPane, clone, env, "label-state", "init", option).await("ended with 0")
	}
}
