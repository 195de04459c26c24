package board_test

import (
	"context"
	"errors"
	"fmt"
	"image/color"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/board"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A desk remembers what it was asked to do.
type desk struct {
	reading board.Reading
	did     []string
	err     error
	browser bool
}

func (d *desk) Read(context.Context) (board.Reading, error) {
	d.did = append(d.did, "read")
	return d.reading, d.err
}

func (d *desk) Claim(_ context.Context, c board.Card) error {
	d.did = append(d.did, "claim "+c.Issue.String())
	return d.err
}

func (d *desk) Release(_ context.Context, c board.Card) error {
	d.did = append(d.did, "release "+c.Issue.String())
	return d.err
}

func (d *desk) Open(url string) bool {
	d.did = append(d.did, "open "+url)
	return d.browser
}

func (d *desk) Hint(error) string { return "label-state doctor acme/app" }

var special = map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "left": tea.KeyLeft, "right": tea.KeyRight, "up": tea.KeyUp, "down": tea.KeyDown, "backspace": tea.KeyBackspace}

// press plays keys and everything they set off, but for the clock.
func press(m tea.Model, keys string) tea.Model {
	for key := range strings.FieldsSeq(keys) {
		msg := tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
		if code, ok := special[key]; ok {
			msg = tea.KeyPressMsg{Code: code}
		}
		m = send(m, msg)
	}
	return m
}

func send(m tea.Model, msg tea.Msg) tea.Model {
	m, cmd := m.Update(msg)
	if cmd == nil {
		return m
	}
	switch msg := cmd().(type) {
	case nil, tea.QuitMsg, tea.BatchMsg:
		return m
	default:
		return send(m, msg)
	}
}

// start is a board of that size after its first reading.
func start(t *testing.T, d *desk, width, height int) tea.Model {
	t.Helper()
	if d.reading.Cards == nil {
		d.reading = board.Reading{Cards: board.Deal(lifecycle.DefaultRules(), busy(t)), Now: now}
	}
	var m tea.Model = board.New(t.Context(), d, board.Options{Name: "acme/app", Every: 30 * time.Second})
	m = send(m, tea.WindowSizeMsg{Width: width, Height: height})
	m = send(m, tea.BackgroundColorMsg{Color: color.Black})
	m = press(m, "u") // nothing: it is reading already
	d.did = nil
	return send(m, firstRead(t, m))
}

// firstRead runs Init's reading.
func firstRead(t *testing.T, m tea.Model) tea.Msg {
	t.Helper()
	batch, ok := m.Init()().(tea.BatchMsg)
	if !ok || len(batch) == 0 {
		t.Fatal("Init asks for nothing")
	}
	return batch[0]()
}

// text is the screen without any styles.
func text(m tea.Model) string { return ansi.Strip(m.View().Content) }

func in(t *testing.T, profile colorprofile.Profile, m tea.Model) string {
	t.Helper()
	var b strings.Builder
	if _, err := (&colorprofile.Writer{Forward: &b, Profile: profile}).WriteString(m.View().Content + "\n"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGoldens(t *testing.T) {
	for _, size := range []struct{ width, height int }{{80, 24}, {120, 30}, {200, 30}} {
		m := start(t, &desk{}, size.width, size.height)
		golden.Check(t, "testdata/"+fmt.Sprintf("board-%d.txt", size.width), text(m)+"\n")
	}
	m := start(t, &desk{}, 80, 24)
	golden.Check(t, "testdata/board-80-right.txt", text(press(m, "l l l"))+"\n")
	golden.Check(t, "testdata/board-80-filter.txt", text(press(m, "/ v e r a"))+"\n")
	golden.Check(t, "testdata/board-80-confirm.txt", text(press(m, "c"))+"\n")
	golden.Check(t, "testdata/board-80-help.txt", text(press(m, "?"))+"\n")
	golden.Check(t, "testdata/board-dark.ansi", in(t, colorprofile.TrueColor, m))
	golden.Check(t, "testdata/board-light.ansi", in(t, colorprofile.TrueColor, send(m, tea.BackgroundColorMsg{Color: color.White})))
	golden.Check(t, "testdata/board-16.ansi", in(t, colorprofile.ANSI, m))
}

// TestNoColor: without colours there are none, and everything is still told.
func TestNoColor(t *testing.T) {
	m := start(t, &desk{}, 80, 24)
	plain := in(t, colorprofile.ASCII, m)
	if strings.Contains(plain, "\x1b[3") || strings.Contains(plain, ";3") {
		t.Errorf("colours without colours:\n%q", plain)
	}
	if ansi.Strip(plain) != text(m)+"\n" {
		t.Error("the text differs from that with colours")
	}
	for _, want := range []string{"▌#1", "━━━", "! lapsed", "█"} {
		if !strings.Contains(ansi.Strip(plain), want) {
			t.Errorf("no %q without colours", want)
		}
	}
}

// TestKeys: what keys do, seen on the screen and by the desk.
func TestKeys(t *testing.T) {
	for _, c := range []struct{ keys, screen, did string }{
		{"", "▌#1", "read"},
		{"j", "▌#2", "read"},
		{"down down", "▌#3", "read"},
		{"j j j j j j k", "▌#3", "read"},
		{"G", "▌#11", "read"},
		{"G g", "▌#1", "read"},
		{"h", "▌#4", "read"},
		{"left left left", "▌#4", "read"},
		{"right", "▌#6", "read"},
		{"l l l l l l l l", "▌#9", "read"},
		{"/ d r a k e enter", "▌#3", "read"},
		{"/ d r x backspace a k e enter", "▌#3", "read"},
		{"/ d r a k e enter esc", "▌#3", "read"},
		{"/ q q enter", "READY 0", "read"},
		{"o", "no browser here; the address is https://github.com/acme/app/issues/1", "read, open https://github.com/acme/app/issues/1"},
		{"u", "▌#1", "read, read"},
		{"?", "filter: every word", "read"},
		{"? x", "▌#1", "read"},
		{"c", "take #1 from lucius by force and keep it for yourself?", "read"},
		{"j j c", "claim #3 for yourself? the lease of drake is over", "read"},
		{"c n", "nothing was done", "read"},
		{"c esc", "nothing was done", "read"},
		{"c y", "#1 is yours", "read, claim acme/app#1, read"},
		{"r", "end the hold of lucius on #1 by force?", "read"},
		{"r y", "#1 is released", "read, release acme/app#1, read"},
		{"h c y", "#4 is yours", "read, claim acme/app#4, read"},
		{"h r y", "nobody holds #4", "read"},
		{"l l l c y", "#10 is done: there is nothing to claim", "read"},
		{"/ q q enter c y", "no card is chosen", "read"},
	} {
		d := &desk{}
		m := press(start(t, d, 80, 24), c.keys)
		if !strings.Contains(text(m), c.screen) || strings.Join(d.did, ", ") != c.did {
			t.Errorf("%s: the desk did %q, want %q; the screen shows no %q\n%s", c.keys, d.did, c.did, c.screen, text(m))
		}
	}
}

func TestQuit(t *testing.T) {
	for _, msg := range []tea.KeyPressMsg{{Code: 'q', Text: "q"}, {Code: 'c', Mod: tea.ModCtrl}} {
		_, cmd := start(t, &desk{}, 80, 24).Update(msg)
		if cmd == nil || cmd() != tea.Quit() {
			t.Errorf("%s does not quit", msg)
		}
	}
}

// TestTrouble: an error is shown with its hint, and what was read before stays.
func TestTrouble(t *testing.T) {
	d := &desk{}
	m := start(t, d, 80, 24)
	d.err = errors.New("board acme/app#1: it changed \x1b[31mwhile you looked")
	for keys, fresh := range map[string]string{"c y": "read 0s ago", "u": "NOT FRESH"} {
		got := text(press(m, keys))
		for _, want := range []string{"it changed [31mwhile you looked", "hint: label-state doctor acme/app", "▌#1 Retry", fresh} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q\n%s", keys, want, got)
			}
		}
	}
	failed := press(m, "u")
	d.err = nil
	if got := text(press(failed, "u")); strings.Contains(got, "NOT FRESH") || strings.Contains(got, "hint:") {
		t.Errorf("the error stays after a good reading\n%s", got)
	}
}

// TestFirstReadFails: there is no empty board that looks like an answer.
func TestFirstReadFails(t *testing.T) {
	got := text(start(t, &desk{err: errors.New("no network")}, 80, 24))
	if !strings.Contains(got, "nothing could be read yet") || !strings.Contains(got, "no network") || strings.Contains(got, "issues,") {
		t.Errorf("screen:\n%s", got)
	}
}

// TestWatch: ages grow with the clock, and it reads again when it is time and not before.
func TestWatch(t *testing.T) {
	m := start(t, &desk{}, 80, 24)
	at := now
	tick := func(m tea.Model, after time.Duration) (tea.Model, tea.Cmd) {
		at = at.Add(after)
		return m.Update(board.Tick(at))
	}
	m, _ = tick(m, 0)
	if m, _ = tick(m, 29*time.Second); !strings.Contains(text(m), "read 29s ago, every 30s") {
		t.Errorf("after 29s:\n%s", text(m))
	}
	if m, _ = tick(m, time.Second); !strings.Contains(text(m), "reading …") {
		t.Errorf("after 30s:\n%s", text(m))
	}
	if m, _ = tick(m, time.Hour); !strings.Contains(text(m), "lucius ███▋") || !strings.Contains(text(m), "1h50m/4h") {
		t.Errorf("the bar did not grow:\n%s", text(m))
	}
}

// TestFollow: the cursor stays with its issue when that moves to another column.
func TestFollow(t *testing.T) {
	d := &desk{}
	m := press(start(t, d, 80, 24), "j")
	facts := busy(t)
	for n, f := range facts {
		if f.Issue.Number == 2 {
			facts[n] = issue(t, 2, "Say which file was too large", "agent:done")
		}
	}
	d.reading.Cards = board.Deal(lifecycle.DefaultRules(), facts)
	if got := text(press(m, "u")); !strings.Contains(got, "[done 2]") || !strings.Contains(got, "▌#2") {
		t.Errorf("screen:\n%s", got)
	}
}

// TestPaused: a pause is said where everybody sees it.
func TestPaused(t *testing.T) {
	d := &desk{reading: board.Reading{Cards: board.Deal(lifecycle.DefaultRules(), busy(t)), Now: now, Paused: "acme/app is paused by olga: release"}}
	if got := text(start(t, d, 80, 24)); !strings.Contains(got, "! acme/app is paused by olga: release") {
		t.Errorf("screen:\n%s", got)
	}
}

// TestCircle: the chosen card says the circle that it waits in, in place of why it is in its column.
func TestCircle(t *testing.T) {
	facts := busy(t)
	for n, f := range facts {
		if f.Issue.Number == 4 || f.Issue.Number == 5 {
			facts[n].Blockers = []lifecycle.Blocker{{Issue: claim.Issue{Owner: "acme", Repo: "app", Number: 9 - f.Issue.Number}, Open: true}}
		}
	}
	cards := board.Deal(lifecycle.DefaultRules(), facts)
	d := &desk{reading: board.Reading{Cards: cards, Now: now, Circles: board.Encircle(cards, facts)}}
	if got := text(press(start(t, d, 120, 24), "h")); !strings.Contains(got, "▌#4") || !strings.Contains(got, "! in a circle") ||
		!strings.Contains(got, "blocked in a circle: acme/app#4 waits for acme/app#5 waits for acme/app#4") || !strings.Contains(got, "4 stuck") {
		t.Errorf("screen:\n%s", got)
	}
}

// TestFits: whatever the size, the titles and the keys, no line is wider than the terminal, there are
// not more lines than it has, and none holds a character that a terminal would obey.
func TestFits(t *testing.T) {
	facts := busy(t)
	rapid.Check(t, func(t *rapid.T) {
		for n := range facts {
			facts[n].Title = string(rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "title"))
		}
		width, height := rapid.IntRange(1, 250).Draw(t, "width"), rapid.IntRange(1, 70).Draw(t, "height")
		d := &desk{reading: board.Reading{Cards: board.Deal(lifecycle.DefaultRules(), facts), Now: now}}
		var m tea.Model = board.New(t.Context(), d, board.Options{Name: "acme/app"})
		m = send(send(m, tea.WindowSizeMsg{Width: width, Height: height}), m.Init()().(tea.BatchMsg)[0]())
		m = press(m, strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"h", "j", "k", "l", "g", "G", "c", "r", "/", "x", "?", "esc", "o"})).Draw(t, "keys"), " "))
		lines := strings.Split(text(m), "\n")
		if len(lines) > height {
			t.Fatalf("%d lines of %d", len(lines), height)
		}
		for _, line := range lines {
			if ansi.StringWidth(line) > width || strings.ContainsAny(line, "\x1b\a\r") {
				t.Fatalf("%d cells of %d: %q", ansi.StringWidth(line), width, line)
			}
		}
	})
}

// TestMarksHaveRoom: marks that do not fit side by side stand below each other, whole.
func TestMarksHaveRoom(t *testing.T) {
	c := board.Card{Title: "Make everything faster", Lane: board.People, Marks: []board.Mark{{Text: "needs scope", Alert: true}, {Text: "3 attempts failed", Alert: true}, {Text: "x"}}}
	c.Issue.Owner, c.Issue.Repo, c.Issue.Number = "acme", "app", 9
	d := &desk{reading: board.Reading{Cards: []board.Card{c}}}
	for _, row := range []struct {
		width int
		want  string
	}{{80, "! needs scope ! 3 attempts failed · x\n"}, {30, "! needs scope\n ! 3 attempts failed · x\n"}} {
		var lines []string
		for line := range strings.Lines(text(start(t, d, row.width, 24))) {
			lines = append(lines, strings.TrimRight(line, " \n")+"\n")
		}
		if got := strings.ReplaceAll(strings.Join(lines, ""), "▌", " "); !strings.Contains(got, row.want) {
			t.Errorf("%d columns: no %q in\n%s", row.width, row.want, got)
		}
	}
}
