package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/label-state/label-state/internal/githubsim"
)

const (
	darkPane  = "bg=#0d1117,fg=#e6edf3"
	lightPane = "bg=#ffffff,fg=#1f2328"
)

// stage is an embedded GitHub with the scene on it, changed as edits say, and the environment of somebody who works there.
func stage(t *testing.T, token string, edits ...func(*githubsim.Seed)) (*githubsim.Server, []string) {
	t.Helper()
	seed, err := scene(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range edits {
		edit(&seed)
	}
	dir := t.TempDir()
	server, err := githubsim.New(seed, githubsim.Options{Dir: filepath.Join(dir, "github")})
	if err != nil {
		t.Fatal(err)
	}
	url, stop, err := server.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return server, []string{
		"HOME=" + dir, "LABEL_STATE_API_URL=" + url, "LABEL_STATE_TOKEN=" + token, "GIT_CONFIG_NOSYSTEM=1", "DISPLAY=", "WAYLAND_DISPLAY=", "BROWSER=",
	}
}

// openBoard is the board of the scene in a terminal, once it has been read.
func openBoard(t *testing.T, width, height int, style string, env []string, more ...string) *pane {
	t.Helper()
	p := openPane(t, width, height, style, t.TempDir(), env, append([]string{"label-state", "board", "--repo", "acme/app"}, more...)...)
	p.await("12 issues, 4 held, 2 stuck", "#1 Retry the upload")
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
	t.Run("80 columns", func(t *testing.T) {
		server, env := stage(t, "tok-olga")
		p := openBoard(t, 80, 24, darkPane, env)
		if w := widest(p.await("[in flight 3]", "READY 3", "PLAN 1", "▌#1")); w > 80 {
			t.Errorf("%d columns wide", w)
		}
		p.press("j", "j")
		p.await("▌#3", "drake", "! lapsed")
		p.press("c")
		p.await("claim #3 for yourself? the lease of drake is over")
		p.press("n")
		p.await("nothing was done")
		p.press("h", "c", "y")
		p.await("#4 is yours", "[for people 3]", "▌#4") // the cursor goes with it
		if got, err := server.Labels("acme/app", 4); err != nil || !slices.Contains(got, "do-not-pickup") {
			t.Errorf("labels of #4: %q, %v", got, err)
		}
		p.press("r", "y")
		p.await("#4 is released", "[ready 3]")
		p.press("o")
		p.await("no browser here; the address is http://")
		p.press("q")
		p.await("ended with 0")
	})
	t.Run("200 columns", func(t *testing.T) {
		_, env := stage(t, "tok-olga")
		p := openBoard(t, 200, 30, darkPane, env, "--watch")
		screen := p.await("READY 3", "IN FLIGHT 3", "PLAN 1", "PULL REQUEST 1", "DONE 2", "FOR PEOPLE 2", "every 30s", "→ #20")
		if strings.Contains(screen, "[in flight") || widest(screen) > 200 {
			t.Errorf("all columns have room, and no more:\n%s", screen)
		}
		p.press("/")
		p.press("v", "e", "r", "a", "Enter")
		if screen := p.await("IN FLIGHT 1", "READY 0", "/vera"); strings.Contains(screen, "lucius") {
			t.Errorf("the filter lets everything through:\n%s", screen)
		}
	})
	t.Run("refused", func(t *testing.T) {
		server, env := stage(t, "tok-mallory")
		p := openBoard(t, 80, 24, darkPane, env)
		p.press("h", "c", "y")
		p.await("board acme/app#4: ", "hint: see what the token may do: label-state doctor acme/app")
		if got, err := server.Labels("acme/app", 4); err != nil || slices.Contains(got, "do-not-pickup") {
			t.Errorf("labels of #4: %q, %v", got, err)
		}
	})
}

// TestTerminalColours: the board asks the terminal for its background, and is silent in colours where none are wanted.
func TestTerminalColours(t *testing.T) {
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
	for _, c := range []struct{ answer, want string }{
		{"", "nothing was done"},
		{"yep", "nothing was done"},
		{"y", "created   file .github/workflows/label-state.yml"},
	} {
		p := openPane(t, 80, 40, darkPane, clone, env, "label-state", "init")
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
	openPane(t, 80, 40, darkPane, clone, env, "label-state", "init").await("nothing to do: all is there", "ended with 0")
}
