package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A pane is a real terminal: one of tmux, with nothing of this user's settings.
type pane struct {
	t      *testing.T
	socket string
}

// needTmux skips without tmux, or fails where LABEL_STATE_REQUIRE, a list with commas, promises it.
func needTmux(t *testing.T) {
	t.Helper()
	_, err := exec.LookPath("tmux")
	switch {
	case err == nil:
	case slices.Contains(strings.Split(os.Getenv("LABEL_STATE_REQUIRE"), ","), "tmux"):
		t.Fatalf("needs tmux, which LABEL_STATE_REQUIRE promises: %v", err)
	default:
		t.Skipf("needs tmux: %v", err)
	}
}

// openPane starts a command in a terminal of that size. style is tmux's for the pane, such as
// bg=#ffffff,fg=#000000; it is what the terminal tells a program that asks for its background. What
// is left of the command stays to be read.
func openPane(t *testing.T, width, height int, style, dir string, env []string, command ...string) *pane {
	t.Helper()
	needTmux(t)
	short, err := os.MkdirTemp("", "pane-") // a socket's path may have some hundred bytes
	if err != nil {
		t.Fatal(err)
	}

	p := &pane{t, filepath.Join(short, "s")}
	t.Cleanup(func() {
		p.tmux("kill-server")
		os.RemoveAll(short)
	})

	p.must("start-server", ";", "set", "-g", "status", "off", ";",
		"set", "-g", "default-terminal", "tmux-256color", ";", "set", "-g", "window-style", style, ";",
		"set", "-g", "exit-empty", "off")
	args := []string{"new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), "-c", dir}
	for _, kv := range append(slices.Clone(env), "COLORTERM=truecolor", "PATH="+os.Getenv("PATH")) {
		args = append(args, "-e", kv)
	}

	// tmux does not always notice with which status a program ended, so a shell says it.
	args = append(args, "sh", "-c", `"$@"; echo "ended with $?"; read -r _`, "sh")
	p.must(append(args, command...)...)
	return p
}

func (p *pane) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", p.socket, "-f", os.DevNull, "-u"}, args...)...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "TMUX") || strings.HasPrefix(kv, "NO_COLOR=") ||
			strings.HasPrefix(kv, "LABEL_STATE_")
	})
	out, err := cmd.CombinedOutput()

	return string(out), err
}

func (p *pane) must(args ...string) string {
	p.t.Helper()
	out, err := p.tmux(args...)
	if err != nil {
		p.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return out
}

// press types keys by tmux's names.
func (p *pane) press(keys ...string) { p.must(append([]string{"send-keys"}, keys...)...) }

// look is what the screen shows; styled is the same with its escapes.
func (p *pane) look() string { return p.must("capture-pane", "-p") }

func (p *pane) styled() string { return p.must("capture-pane", "-p", "-e") }

// await waits until the screen shows all of the texts, and returns it.
func (p *pane) await(texts ...string) string {
	p.t.Helper()
	screen := ""
	for start, pause := time.Now(), 20*time.Millisecond; time.Since(start) < time.Minute; pause = min(pause*5/4,
		200*time.Millisecond) {
		screen = p.look()
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(screen, text) }) {
			return screen
		}
		time.Sleep(pause)
	}

	p.t.Fatalf("waited in vain for %q:\n%s", texts, screen)
	return ""
}
