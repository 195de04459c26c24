package app

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/label-state/label-state/internal/sample"
)

var screens = flag.String("screens", "", "folder in which to draw what the terminals of TestTerminalScreens show")

// A sight is what somebody looks at: a command and what must be seen of it.
type sight struct {
	name, see string
	args      []string
}

var sights = []sight{
	{"status", "lucius holds it for another", []string{"status", "acme/app#1"}},
	{"scope", "3 attempts failed", []string{"status", "acme/app#9"}},
	{"log", "lost the race to lucius:l1", []string{"log", "acme/app#1"}},
	{"stats", "WORKER", []string{"stats", "acme/app"}},
	{"help", "label-state help GROUP", []string{"--help"}},
	{"help-all", "give up after this long", []string{"claim", "--help-all"}},
	{"doctor", "pushes from here are not guarded (husky)", []string{"doctor"}},
	{"init", "+ file .husky/pre-push adds lines that run it", []string{"init", "--dry-run"}},
	{"board", "ISSUE STATE HOLDER", []string{"board"}},
}

// A look is a terminal as somebody has set it up; colours says whether the text is painted there.
type look struct {
	name, style string
	env         []string
	colours     bool
}

var looks = []look{
	{"dark", darkPane, nil, true},
	{"light", lightPane, nil, true},
	{"plain", lightPane, []string{"NO_COLOR=1"}, false},
	{"dumb", darkPane, []string{"TERM=dumb"}, false},
}

// inks finds a colour of text, or faint; 39 is none.
var inks = regexp.MustCompile(`\x1b\[([0-9]+;)*(2|3[0-8]|9[0-7])[;m]`)

// TestTerminalScreens looks at everything that people look at every day, in terminals of several
// widths and kinds: nothing is cut off, no line runs over the edge where words could break, and
// without colours there are none. An ordinary run plays each kind in one width.
func TestTerminalScreens(t *testing.T) {
	_, env := stage(t, "tok-olga")
	clone := cloneOf(t, "https://github.com/acme/app.git")
	script := filepath.Join(clone, ".husky", "_", "pre-push") // husky is at home there: init adds its lines to the script
	for file, text := range map[string]string{
		script: "# husky's\n",
		filepath.Join(clone, ".husky", "pre-push"): "npm test\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755),
			os.WriteFile(file, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}

	if out, err := exec.CommandContext(t.Context(), "git", "-C", clone, "config", "core.hooksPath",
		".husky/_").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	widths := []int{40, 60, 80, 200}
	for n, width := range widths {
		for _, l := range looks {
			if *screens == "" && !sample.Plays(l.name, n, len(widths)) {
				continue
			}

			t.Run(l.name+"-"+strconv.Itoa(width), func(t *testing.T) {
				for _, v := range sights {
					p := v.open(t, width, l, clone, env)
					if *screens != "" {
						p.draw(filepath.Join(*screens, v.name+"-"+l.name+"-"+strconv.Itoa(width)), width)
					}

					p.fits(v, width)
					painted := inks.MatchString(p.styled())
					if want := l.colours && !slices.Contains([]string{"init", "help", "help-all"}, v.name); painted != want {
						t.Errorf("%s: painted: %t, want %t\n%q", v.name, painted, want, p.styled())
					}
				}
			})
		}
	}
}

// open plays it in a terminal; tmux sets TERM itself, so that env must.
func (v sight) open(t *testing.T, width int, l look, dir string, env []string) *pane {
	t.Helper()
	command := append(append([]string{"env"}, l.env...), "label-state")
	p := openPane(t, width, 60, l.style, dir, env, append(command, v.args...)...)
	if v.name == "board" && l.name != "dumb" {
		p.await("IN FLIGHT", "#1 Retry")
		p.press("j") // what the terminal answered has come by then
		p.await("▌#2")
		return p
	}

	screen := strings.Join(strings.Fields(p.await("ended with 0")), " ")
	if width > 40 && !strings.Contains(screen, v.see) {
		t.Errorf("%s: no %q:\n%s", v.name, v.see, screen)
	}

	return p
}

// fits wants no line to go on beyond the edge: tmux joins such lines when it is asked to.
func (p *pane) fits(v sight, width int) {
	p.t.Helper()
	for line := range strings.Lines(p.must("capture-pane", "-p", "-J")) {
		line = strings.TrimRight(line, " \n")
		remedy := strings.Contains(line, " -> ") // is copied, and stays one line
		word := strings.Contains(line, "://")    // a URL alone is not broken
		if wide := ansi.StringWidth(line); wide > width && width > 40 && !remedy && !word {
			p.t.Errorf("%s: %d columns in %d: %q", v.name, wide, width, line)
		}
	}
}

func (p *pane) draw(name string, width int) {
	p.t.Helper()
	if err := os.WriteFile(name+".svg", []byte(picture(p.styled(), width)), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// TestTerminalResize: the board is drawn anew for every size its terminal gets, however small.
func TestTerminalResize(t *testing.T) {
	t.Parallel()
	_, env := stage(t, "tok-olga")
	p := openBoard(t, 200, 30, darkPane, env)
	p.await("FOR PEOPLE 2")

	for _, c := range []struct {
		width, height int
		see           string
	}{{80, 24, "[in flight 3]"}, {40, 12, "? help"}, {12, 5, "for people…"}, {3, 2, "q"}, {200, 50, "FOR PEOPLE 2"}} {
		p.must("resize-window", "-x", strconv.Itoa(c.width), "-y", strconv.Itoa(c.height))
		if screen := p.await(c.see); widest(screen) > c.width {
			t.Errorf("%d columns in %d:\n%s", widest(screen), c.width, screen)
		}
	}

	p.press("q")
	p.await("ended with 0")
}
