package board_test

import (
	"context"
	"errors"
	"fmt"
	"image/color"
	"io"
	"slices"
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

// A desk remembers what it was asked to do. after is what an order that is carried out makes of the
// snapshot.
type desk struct {
	snapshot board.Snapshot
	did      []string
	err      error
	browser  bool
	warnings []string
	after    func(*board.Snapshot, board.Order)
}

func (d *desk) Read(ctx context.Context) (board.Snapshot, error) {
	d.did = append(d.did, "read")
	return d.snapshot, errors.Join(d.err, ctx.Err())
}

func (d *desk) Do(_ context.Context, o board.Order) ([]string, error) {
	d.did = append(d.did, strings.TrimPrefix(o.Command(), "label-state "))
	if d.err == nil && d.after != nil {
		d.after(&d.snapshot, o)
	}
	return d.warnings, d.err
}

func (d *desk) Open(url string) bool {
	d.did = append(d.did, "open "+url)
	return d.browser
}

func (d *desk) Hint(error) string { return "label-state doctor acme/app" }

var special = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "space": tea.KeySpace,
	"pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp, "home": tea.KeyHome, "end": tea.KeyEnd, "tab": tea.KeyTab, "f5": tea.KeyF5, "left": tea.KeyLeft, "right": tea.KeyRight, "up": tea.KeyUp, "down": tea.KeyDown, "backspace": tea.KeyBackspace,
}

// press plays keys and everything they set off, but for the clock.
func press(m tea.Model, keys string) tea.Model {
	for key := range strings.FieldsSeq(keys) {
		if key == "click" {
			m = send(m, tea.MouseClickMsg{X: 4, Y: 4, Button: tea.MouseLeft})
			continue
		}

		msg := tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
		if letter, ctrl := strings.CutPrefix(key, "ctrl+"); ctrl {
			msg = tea.KeyPressMsg{Code: []rune(letter)[0], Mod: tea.ModCtrl}
		}
		if code, ok := special[key]; ok {
			msg = tea.KeyPressMsg{Code: code}
		}

		if key == "space" {
			msg.Text = " "
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

// start is a board of that size after its first snapshot.
func start(t *testing.T, d *desk, width, height int) tea.Model {
	t.Helper()
	if d.snapshot.Cards == nil {
		d.snapshot = full(t)
	}

	var m tea.Model = board.New(t.Context(), d, board.Options{Name: "acme/app", Every: 30 * time.Second})
	m = send(m, tea.WindowSizeMsg{Width: width, Height: height})
	m = send(m, tea.BackgroundColorMsg{Color: color.Black})
	m = press(m, "u") // nothing: it is reading already
	d.did = nil

	return send(m, firstRead(t, m))
}

// full is a snapshot with something in every lane.
func full(t *testing.T) board.Snapshot {
	t.Helper()
	return board.Snapshot{
		Cards:   board.Deal(lifecycle.DefaultRules(), busy(t)),
		Now:     now,
		Viewer:  "olga",
		Repos:   []string{"acme/app"},
		Details: atLength,
	}
}

// atLength is an issue at length, longer than a small screen.
func atLength(i claim.Issue, at time.Time, _ int) []string {
	out := []string{i.String() + " at " + at.Format("15:04:05")}
	for n := range 30 {
		out = append(out, fmt.Sprintf("record %d of the log", n+1))
	}
	return out
}

// firstRead runs Init's snapshot.
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
	if _, err := (&colorprofile.Writer{Forward: &b, Profile: profile}).WriteString(m.View().Content +
		"\n"); err != nil {
		t.Fatal(err)
	}

	return b.String()
}

func TestGoldens(t *testing.T) {
	for _, size := range []struct{ width, height int }{{40, 12}, {80, 24}, {200, 50}} {
		m := start(t, &desk{}, size.width, size.height)
		for name, keys := range map[string]string{
			"": "", "-right": "l l l", "-filter": "/ v e r a", "-claim": "h c", "-force": "f t o o space s l o w",
			"-help": "?", "-details": "enter",
			"-reject": "l x", "-pause": "p",
		} {
			golden.Check(t, fmt.Sprintf("testdata/board-%d%s.txt", size.width, name), text(press(m, keys))+"\n")
		}

		failing := &desk{}
		m = start(t, failing, size.width, size.height)
		failing.err = errors.New("board acme/app#1: read issues of acme/app: secondary rate limit reached, come back at 10:06:40 UTC; not read: #2, #3")
		golden.Check(t, fmt.Sprintf("testdata/board-%d-stale.txt", size.width), text(press(m, "u"))+"\n")
	}

	m := start(t, &desk{}, 80, 24)
	golden.Check(t, "testdata/board-dark.ansi", in(t, colorprofile.TrueColor, m))
	golden.Check(t, "testdata/board-light.ansi",
		in(t, colorprofile.TrueColor, send(m, tea.BackgroundColorMsg{Color: color.White})))
	golden.Check(t, "testdata/board-16.ansi", in(t, colorprofile.ANSI, m))
}

// TestNoColor: without colours there are none, and everything is still told.
func TestNoColor(t *testing.T) {
	m := start(t, &desk{}, 80, 30)
	plain := in(t, colorprofile.ASCII, m)
	if strings.Contains(plain, "\x1b[3") || strings.Contains(plain, ";3") {
		t.Errorf("colours without colours:\n%q", plain)
	}

	if ansi.Strip(plain) != text(m)+"\n" {
		t.Error("the text differs from that with colours")
	}

	for _, want := range []string{"▌#1", "━━━", "! expired", "█"} {
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
		{"k", "▌#1", "read"},
		{"j j up", "▌#2", "read"},
		{"end", "▌#11", "read"},
		{"end home", "▌#1", "read"},
		{"tab", "▌#6", "read"},
		{"down down", "▌#3", "read"},
		{"j j j j j j k", "▌#3", "read"},
		{"G", "▌#11", "read"},
		{"G g", "▌#1", "read"},
		{"h", "▌#4", "read"},
		{"left left left", "▌#4", "read"},
		{"right", "▌#6", "read"},
		{"l l l l l l l l", "▌#9", "read"},
		{"1", "▌#4", "read"},
		{"5", "▌#10", "read"},
		{"/ d r a k e enter", "▌#3", "read"},
		{"/ D R ö backspace a k e enter", "▌#3", "read"},
		{"/ d r a k e enter esc", "▌#3", "read"},
		{"/ g r ö enter", "▌#5", "read"}, // its title begins with a capital
		{"/ q q enter", "READY 0", "read"},
		{"/ q q enter enter", "READY 0", "read"},
		{"/ q q enter p", "Pause acme/app?", "read"},
		{"/ q q esc j", "▌#5", "read"},
		{"/ # 1 enter s", "by age · /#1", "read"},
		{"/ d r a k e j", "/drakej█", "read"},
		{"/ q space a space ctrl+w", "/q █", "read"},
		{"/ q q ctrl+u d", "/d█", "read"},
		{"m", "▌#3", "read"},
		{"m 3", "▌#6", "read"},
		{"m", "only mine", "read"},
		{"j m m", "▌#3", "read"},
		{"s g", "▌#11", "read"},
		{"s s g", "▌#3", "read"},
		{"s s", "by end", "read"},
		{"s s s s s g", "▌#1", "read"},
		{"M", "the terminal uses the mouse", "read"},
		{
			"o", "no browser here; the address is https://github.com/acme/app/issues/1",
			"read, open https://github.com/acme/app/issues/1",
		},
		{"y", "copied, if this terminal lets programs copy: label-state status acme/app#1", "read"},
		{"h y", "copied, if this terminal lets programs copy: label-state claim acme/app#4", "read"},
		{"l y", "copied, if this terminal lets programs copy: label-state approve acme/app#6", "read"},
		{"u", "▌#1", "read, read"},
		{"f5", "▌#1", "read, read"},
		{"?", "filter: every word", "read"},
		{"? x", "▌#1", "read"},
		{"enter", "acme/app#1 at 12:00:00", "read"},
		{"enter j", "record 2 of the log", "read"},
		{"enter G", "record 30 of the log", "read"},
		{"enter end", "record 30 of the log", "read"},
		{"enter G g", "acme/app#1 at 12:00:00", "read"},
		{"enter G home", "acme/app#1 at 12:00:00", "read"},
		{"enter J J", "record 2 of the log", "read"},
		{"enter k", "acme/app#1 at 12:00:00", "read"},
		{"enter j j j K", "↓ 9 more lines", "read"},
		{"enter j j j k", "↓ 9 more lines", "read"},
		{"enter j j j up", "↓ 9 more lines", "read"},
		{"enter ctrl+d", "record 30 of the log", "read"},
		{"enter G ctrl+u", "acme/app#1 at 12:00:00", "read"},
		{"enter G K", "↓ 2 more lines", "read"},
		{"enter pgdown", "record 30 of the log", "read"},
		{"enter space pgup", "acme/app#1 at 12:00:00", "read"},
		{"enter j enter enter", "acme/app#1 at 12:00:00", "read"},
		{"enter esc", "▌#1", "read"},
		{"enter enter", "▌#1", "read"},
		{"c", "Take #1 from lucius by force, for yourself?", "read"},
		{"c enter", "reason: █", "read"},
		{"c m i n e backspace enter", "▌#1", "read, claim acme/app#1 --force --reason min, read"},
		{"c i t ' s space m i n e enter", "▌#1", `read, claim acme/app#1 --force --reason 'it'\''s mine', read`},
		{"c x esc", "nothing was done", "read"},
		{"j j c", "Claim #3 for yourself? The lease of drake has expired.", "read"},
		{"h c n", "nothing was done", "read"},
		{"h c esc", "nothing was done", "read"},
		{"h c y", "▌#4", "read, claim acme/app#4, read"},
		{"r", "lucius holds #1, not you; f ends the hold by force", "read"},
		{"f", "End the hold of lucius on #1 by force?", "read"},
		{"f o l d enter", "▌#1", "read, release acme/app#1 --force --reason old, read"},
		{"h r", "nobody holds #4", "read"},
		{"h f", "nobody holds #4", "read"},
		{"5 c", "#10 is done: there is nothing to claim", "read"},
		{"a", "no plan is waiting on #1", "read"},
		{"l a", "Approve the plan of lucius on #6?", "read"},
		{"l a y", "▌#6", "read, approve acme/app#6, read"},
		{"l x n o enter", "▌#6", "read, reject acme/app#6 --reason no, read"},
		{"p", "Pause acme/app?", "read"},
		{"p d a y enter", "▌#1", "read, repo pause acme/app --reason day, read"},
		{"/ q q enter c y", "no card is selected", "read"},
	} {
		d := &desk{}
		m := press(start(t, d, 80, 24), c.keys)
		if !strings.Contains(text(m), c.screen) || strings.Join(d.did, ", ") != c.did {
			t.Errorf("%s: the desk did %q, want %q; the screen shows no %q\n%s", c.keys, d.did, c.did, c.screen,
				text(m))
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

	_, cmd := start(t, &desk{}, 80, 24).Update(tea.KeyPressMsg{Code: 'z', Mod: tea.ModCtrl})
	if cmd == nil || cmd() != tea.Suspend() {
		t.Error("ctrl+z does not suspend")
	}
}

// TestMouse: what clicks and the wheel do, at cells of board-80.txt and board-200-details.txt.
func TestMouse(t *testing.T) {
	click := func(x, y int) tea.Msg { return tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft} }
	wheel := func(x, y int, b tea.MouseButton) tea.Msg { return tea.MouseWheelMsg{X: x, Y: y, Button: b} }
	for _, c := range []struct {
		width  int
		keys   string
		mouse  []tea.Msg
		screen string
	}{
		{80, "", []tea.Msg{click(5, 6)}, "▌#5"},
		{80, "", []tea.Msg{click(5, 6), click(5, 6)}, "acme/app#5 at"},
		{80, "", []tea.Msg{click(5, 20)}, "▌#1"},
		{80, "", []tea.Msg{click(52, 1)}, "[done 1]"},
		{80, "", []tea.Msg{click(60, 2)}, "▌#6"},
		{80, "", []tea.Msg{wheel(30, 5, tea.MouseWheelDown)}, "▌#2"},
		{80, "G", []tea.Msg{wheel(5, 5, tea.MouseWheelUp)}, "▌#4"},
		{80, "c", []tea.Msg{click(5, 6)}, "▌#1"},
		{80, "", []tea.Msg{click(26, 6)}, "▌#1"},
		{80, "enter", []tea.Msg{wheel(5, 5, tea.MouseWheelDown)}, "↓ 10 more lines"},
		{200, "enter G", nil, "▌#11"},
		{200, "enter J J j", nil, "acme/app#2 at"},
		{200, "enter ?", nil, "another one shows the whole issue; the wheel scrolls."},
		{40, "", []tea.Msg{click(3, 3)}, "["},
		{80, "h c", []tea.Msg{wheel(30, 5, tea.MouseWheelDown)}, "▌#4"},
		{80, "", []tea.Msg{tea.MouseClickMsg{X: 5, Y: 6, Button: tea.MouseRight}}, "▌#1"},
		{80, "?", []tea.Msg{click(5, 6), wheel(5, 6, tea.MouseWheelDown)}, "first and last card"},
		{200, "enter", []tea.Msg{wheel(150, 5, tea.MouseWheelDown)}, "│ record 1 of"},
		{200, "enter J", []tea.Msg{click(5, 6)}, "acme/app#5 at"},
	} {
		m := press(start(t, &desk{}, c.width, 24), c.keys)
		for _, msg := range c.mouse {
			m = send(m, msg)
		}

		if got := text(m); !strings.Contains(got, c.screen) {
			t.Errorf("%d columns, %s, %v: no %q\n%s", c.width, c.keys, c.mouse, c.screen, got)
		}
	}

	m := start(t, &desk{}, 80, 24)
	if on, off := m.View().MouseMode, press(m, "M").View().MouseMode; on == tea.MouseModeNone || off != tea.MouseModeNone {
		t.Errorf("mouse mode %d, and %d after M", on, off)
	}
}

// TestInSight: the cards stay where they are on the screen while the cursor moves among them.
func TestInSight(t *testing.T) {
	var facts []lifecycle.Facts
	for n := range 40 {
		facts = append(facts, issue(t, n+1, "x", "agent:implement"))
	}

	d := &desk{snapshot: board.Snapshot{Cards: board.Deal(lifecycle.DefaultRules(), facts), Now: now}}
	m := press(start(t, d, 80, 24), "G k k k")
	at := strings.Index(text(m), "#40")
	for _, keys := range []string{"k", "u", "k k k j"} {
		if got := text(press(m, keys)); strings.Index(got, "#40") != at || at < 0 {
			t.Errorf("after %s #40 has moved:\n%s", keys, got)
		}
	}

	d.snapshot.Cards = d.snapshot.Cards[:20]
	if got, want := text(press(m, "u")), text(press(start(t, d, 80, 24), "G")); got != want {
		t.Errorf("with fewer cards:\n%s\nwant\n%s", got, want)
	}
}

// TestTrouble: an error is shown whole with its hint, and what was read before stays, with its age.
func TestTrouble(t *testing.T) {
	for _, size := range []struct{ width, height int }{{40, 12}, {80, 24}, {200, 60}} {
		d := &desk{}
		m := start(t, d, size.width, size.height)
		d.err = errors.New("board acme/app#1: it changed \x1b[31mwhile you looked, so nothing was done")

		for keys, want := range map[string][]string{
			"c m i n e enter": {
				"it changed [31mwhile you looked, so nothing was done",
				"hint: label-state doctor acme/app",
			},
			"u": {
				"! this is 0s old, reading fails: ",
				"it changed [31mwhile you looked, so nothing was done", "label-state doctor acme/app", "▌#1",
			},
		} {
			got := strings.Join(strings.Fields(text(press(m, keys))), " ")
			for _, want := range want {
				if !strings.Contains(got, want) {
					t.Errorf("%d columns, %s: no %q\n%s", size.width, keys, want, text(press(m, keys)))
				}
			}
			if d.did[len(d.did)-1] != "read" {
				t.Errorf("%s: not read again: %q", keys, d.did)
			}
		}

		failed := press(m, "u")
		d.err = nil
		if got := text(press(failed, "u")); strings.Contains(got, "reading fails") {
			t.Errorf("the error stays after a good snapshot\n%s", got)
		}
	}
}

// TestFirstReadFails: there is no empty board that looks like an answer.
func TestFirstReadFails(t *testing.T) {
	if got := text(board.New(t.Context(), &desk{}, board.Options{})); !strings.Contains(got, "reading …") {
		t.Errorf("before anything is read:\n%s", got)
	}

	got := text(start(t, &desk{err: errors.New("no network")}, 80, 24))
	if !strings.Contains(got, "nothing could be read: no network") || strings.Contains(got, "issues,") ||
		strings.Contains(got, "READY") {
		t.Errorf("screen:\n%s", got)
	}
}

// TestBorneOut: what an order did is said once a snapshot shows it. Until then nothing above says
// the opposite of what is below.
func TestBorneOut(t *testing.T) {
	const late = "GitHub does not show it yet, u reads again"
	paused := func(repo string, here bool) board.Pause { return board.Pause{Repo: repo, Here: here} }
	card := func(number int, change func(*board.Card)) func(*board.Snapshot, board.Order) {
		return func(r *board.Snapshot, _ board.Order) {
			r.Cards = slices.Clone(r.Cards)
			for n := range r.Cards {
				if r.Cards[n].Issue.Number == number {
					change(&r.Cards[n])
				}
			}
		}
	}
	pauses := func(all ...board.Pause) func(*board.Snapshot, board.Order) {
		return func(r *board.Snapshot, _ board.Order) { r.Pauses = all }
	}
	olgas := func(c *board.Card) { c.Holder, c.Worker, c.Person = "Olga", "", true }
	nobodys := func(c *board.Card) { c.Holder, c.Worker, c.Person, c.Plan = "", "", false, false }

	for _, c := range []struct {
		keys, want string
		before     func(*board.Snapshot, board.Order)
		after      func(*board.Snapshot, board.Order)
	}{
		{"h c y", "#4 is yours", nil, card(4, olgas)},
		{"h c y", late, nil, nil},
		{"h c y", late, nil, card(4, func(c *board.Card) { c.Holder, c.Worker = "olga", "olga:1" })},
		{"c o enter", "#1 is yours", nil, card(1, olgas)},
		{"h r y", "#4 is released", card(4, olgas), card(4, nobodys)},
		{"h r y", late, card(4, olgas), nil},
		{"f o enter", "the hold on #1 is ended", nil, card(1, nobodys)},
		{"f o enter", "the hold on #1 is ended", nil, card(1, func(c *board.Card) { c.Worker = "vera:9" })},
		{"f o enter", late, nil, nil},
		{"l a y", "the plan on #6 is approved", nil, card(6, nobodys)},
		{"l a y", late, nil, nil},
		{"l x n enter", "the plan on #6 is rejected", nil, card(6, nobodys)},
		{"p d enter", "acme/app is paused", nil, pauses(paused("acme/web", false), paused("acme/app", false))},
		{"p d enter", late, nil, pauses(paused("acme/web", false))},
		{"p d enter", late, nil, pauses(paused("acme/app", true))},
		{"p y", "acme/app is no longer paused", pauses(paused("acme/app", true)), pauses(paused("acme/web", false))},
		{"p y", late, pauses(paused("acme/app", true)), nil},
	} {
		d := &desk{warnings: []string{"tell them"}, snapshot: full(t), after: c.after}
		if c.before != nil {
			c.before(&d.snapshot, board.Order{})
		}

		m := press(start(t, d, 80, 24), c.keys)
		m, _ = m.Update(board.Tick(now))
		m, _ = m.Update(board.Tick(now.Add(20 * time.Second))) // what it warns of stays
		got := strings.Join(strings.Fields(text(m)), " ")
		if !strings.Contains(got, c.want) || !strings.Contains(got, "note: tell them") ||
			strings.Contains(got, late) != (c.want == late) ||
			c.want == "#4 is yours" && (strings.Contains(got, "c claim") || !strings.Contains(got, "r release")) {
			t.Errorf("%s: want %q\n%s", c.keys, c.want, got)
		}
	}

	d := &desk{after: card(4, olgas)}
	olga := &desk{snapshot: full(t)}
	card(4, olgas)(&olga.snapshot, board.Order{})
	if got := text(press(start(t, olga, 80, 24), "h r")); !strings.Contains(got, "Release #4, so that workers may") {
		t.Errorf("asked before what is one's own is released:\n%s", got)
	}
	if got := text(press(start(t, d, 80, 24), "h c y y")); !strings.Contains(got, "label-state release acme/app#4") {
		t.Errorf("copied for what is one's own:\n%s", got)
	}
}

// TestSorted: the orders of the cards of a column.
func TestSorted(t *testing.T) {
	with := func(number int, label string, log ...event) lifecycle.Facts {
		f := issue(t, number, "x", "agent:in-flight", log...)
		f.Labels = append(f.Labels, label)
		f.Created = now.Add(-time.Duration(number) * time.Minute)
		return f
	}
	forever := holds(3*time.Hour, "d").as(func(r *claim.Record) { r.TTL = claim.NoExpiry })
	d := &desk{snapshot: board.Snapshot{Now: now, Cards: board.Deal(lifecycle.DefaultRules(), []lifecycle.Facts{
		with(1, "p3", forever), with(2, "p2", holds(time.Hour, "a")), with(3, "p0", holds(2*time.Hour, "b")), with(4, "p1"),
	})}}
	for keys, want := range map[string]string{
		"": "1 2 3 4", "s": "1 3 2 4", "s s": "3 2 1 4", "s s s": "3 4 2 1", "s s s s": "1 2 3 4",
	} {
		m, got := press(start(t, d, 80, 60), keys+" g"), []string{}
		for range 4 {
			_, after, _ := strings.Cut(text(m), "▌#")
			got = append(got, after[:1])
			m = press(m, "j")
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", keys, got, want)
		}
	}
}

// TestNames: an issue is named as shortly as it can be told from the others.
func TestNames(t *testing.T) {
	for repos, want := range map[string]string{
		"acme/app": "▌#1 ", "acme/app acme/web": "▌app#1 ", "acme/app acme/web olga/app": "▌acme/app#1 ",
	} {
		s := full(t)
		s.Repos = strings.Fields(repos)
		if got := text(start(t, &desk{snapshot: s}, 120, 24)); !strings.Contains(got, want) {
			t.Errorf("%s: no %q\n%s", repos, want, got)
		}

		pause := map[bool]string{true: "Pause acme/app?", false: "select a card: the pause applies"}[len(s.Repos) == 1]
		if got := text(press(start(t, &desk{snapshot: s}, 120, 24), "/ q q enter p")); !strings.Contains(got, pause) {
			t.Errorf("%s: no %q\n%s", repos, pause, got)
		}
	}
}

// TestOneOrderAtATime: while an order is carried out nothing is read, no other order begins, and
// neither key nor click takes away that it is under way.
func TestOneOrderAtATime(t *testing.T) {
	d := &desk{}
	m, do := press(start(t, d, 80, 24), "h c").Update(tea.KeyPressMsg{Code: 'y', Text: "y"})
	m = send(press(m, "u c"), tea.MouseClickMsg{X: 5, Y: 6, Button: tea.MouseLeft})
	m, _ = m.Update(board.Tick(now))
	m, _ = m.Update(board.Tick(now.Add(time.Hour)))
	if got := text(m); len(d.did) != 1 || !strings.Contains(got, "label-state claim acme/app#4 …") {
		t.Errorf("it did %q\n%s", d.did, got)
	}
	if press(send(m, do()), ""); strings.Join(d.did, ", ") != "read, claim acme/app#4, read" {
		t.Errorf("it did %q", d.did)
	}
}

// TestNotices: what nobody has to read goes away by itself.
func TestNotices(t *testing.T) {
	for keys, want := range map[string]string{
		"M": "the terminal uses the mouse", "r": "lucius holds #1, not you", "h c n": "nothing was done",
		"f esc": "nothing was done", "/ q q enter c": "no card is selected",
	} {
		m := press(start(t, &desk{}, 80, 24), keys)
		for _, after := range []int{0, 14, 15} {
			m, _ = m.Update(board.Tick(now.Add(time.Duration(after) * time.Second)))
			if got := text(m); strings.Contains(got, want) != (after < 15) {
				t.Errorf("%s, %d s later: %q\n%s", keys, after, want, got)
			}
		}
	}
}

// TestNarrow: the column of the cursor is there in any terminal, and a number is cut rather than
// said twice.
func TestNarrow(t *testing.T) {
	if got := text(start(t, &desk{}, 10, 24)); !strings.Contains(got, "▌#1") {
		t.Errorf("screen:\n%s", got)
	}
	if got := text(start(t, &desk{}, 3, 24)); !strings.Contains(got, "▌# \n▌ …") {
		t.Errorf("screen:\n%s", got)
	}
}

// TestNothingChosen: where no card is chosen, no key for one is offered.
func TestNothingChosen(t *testing.T) {
	got := text(press(start(t, &desk{}, 200, 24), "/ q q enter"))
	if !strings.Contains(got, "/ filter") || strings.Contains(got, "y copy") || strings.Contains(got, "enter details") {
		t.Errorf("screen:\n%s", got)
	}
}

// TestLateReading: a snapshot from before an order that comes in after it does not count.
func TestLateReading(t *testing.T) {
	d := &desk{}
	m := start(t, d, 80, 24)
	m, slow := m.Update(tea.KeyPressMsg{Code: 'u', Text: "u"})
	before := slow()
	d.after = func(r *board.Snapshot, _ board.Order) { r.Cards = r.Cards[:2]; r.Cards[1].Request = true }
	m = press(m, "h c y")
	if got := text(send(m, before)); !strings.Contains(got, "1 issue,") {
		t.Errorf("the older snapshot came back:\n%s", got)
	}
}

// unread is a keyboard that fails.
type unread struct{ err error }

func (u unread) Read([]byte) (int, error) { return 0, u.err }

// TestProgram: that the person quits, the terminal is gone or the time is over is no error, and
// anything else is.
func TestProgram(t *testing.T) {
	broken := unread{errors.New("the keyboard is broken")}
	over, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		ctx  context.Context
		in   io.Reader
		gone bool
		want error
	}{
		"quit":   {t.Context(), strings.NewReader("q"), false, nil},
		"broken": {t.Context(), broken, false, broken.err},
		"gone":   {t.Context(), broken, true, nil},
		"over":   {over, strings.NewReader(""), false, nil},
	} {
		m := board.New(c.ctx, &desk{}, board.Options{Name: "acme/app", Gone: func() bool { return c.gone }})
		err := board.Program(c.ctx, m, board.Screen{In: c.in, Out: io.Discard, NoColor: true})
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestGone: a board whose terminal is gone reads no more.
func TestGone(t *testing.T) {
	d, gone := &desk{}, false
	var m tea.Model = board.New(t.Context(), d,
		board.Options{Name: "acme/app", Every: time.Second, Gone: func() bool { return gone }})
	m = send(m, firstRead(t, m))
	m, _ = m.Update(board.Tick(now))
	gone = true
	if _, cmd := m.Update(board.Tick(now.Add(time.Hour))); cmd == nil || cmd() != tea.Quit() || len(d.did) != 1 {
		t.Errorf("it goes on: %q", d.did)
	}
}

// TestAdvice: where nothing can be taken, the column in which it would be says what to do.
func TestAdvice(t *testing.T) {
	d := &desk{snapshot: board.Snapshot{
		Cards: []board.Card{}, Now: now,
		Next: []string{"label an issue: gh issue edit NUMBER --repo acme/app --add-label agent:implement"},
	}}
	for _, width := range []int{40, 80, 200} {
		got := strings.Join(strings.Fields(text(start(t, d, width, 24))), "")
		if !strings.Contains(got, "ghissueeditNUMBER") {
			t.Errorf("%d columns:\n%s", width, text(start(t, d, width, 24)))
		}
	}
}

// TestNeverByItself: a board without a pace reads when it is asked to.
func TestNeverByItself(t *testing.T) {
	d := &desk{}
	var m tea.Model = board.New(t.Context(), d, board.Options{Name: "acme/app"})
	m = send(m, firstRead(t, m))
	m, _ = m.Update(board.Tick(now))
	m, _ = m.Update(board.Tick(now.Add(time.Hour)))
	if got := text(m); strings.Contains(got, "reading") || strings.Contains(got, "every") {
		t.Errorf("screen:\n%s", got)
	}
}

// TestWatch: ages grow with the clock, and it reads again when it is time and not before; later
// each time that reading fails.
func TestWatch(t *testing.T) {
	d := &desk{snapshot: full(t)}
	d.snapshot.Cards[2].Since = now.AddDate(0, 0, -1) // which says nothing of the bar
	m := start(t, d, 80, 24)
	at := now
	tick := func(m tea.Model, after time.Duration) (tea.Model, tea.Cmd) {
		at = at.Add(after)
		m, next := m.Update(board.Tick(at))
		if next == nil {
			t.Errorf("the clock stands still at %s", at)
		}
		return m, next
	}

	m, _ = tick(m, 0)
	if m, _ = tick(m, 29*time.Second); !strings.Contains(text(m), "read 29s ago, every 30s") {
		t.Errorf("after 29s:\n%s", text(m))
	}

	m, again := tick(m, time.Second)
	if !strings.Contains(text(m), "reading …") {
		t.Errorf("after 30s:\n%s", text(m))
	}

	if m, _ = tick(m, time.Hour); !strings.Contains(text(m), "lucius ██▊░░░ 2h9m left") {
		t.Errorf("the bar did not grow:\n%s", text(m))
	}
	d.err = errors.New("no network")
	read := func(cmd tea.Cmd) tea.Msg { return cmd().(tea.BatchMsg)[0]() }
	m = send(m, read(again))
	if got := text(m); !strings.Contains(got, "! this is 1h old, reading fails: no network") ||
		!strings.Contains(got, "every 1m") {
		t.Errorf("after a failure:\n%s", got)
	}

	if m, _ = tick(m, 59*time.Second); strings.Contains(text(m), "reading …") {
		t.Errorf("it asks again at once:\n%s", text(m))
	}
	m, again = tick(m, time.Second)
	d.err = nil
	if got := text(send(m, read(again))); strings.Contains(got, "reading fails") ||
		!strings.Contains(got, "read 0s ago, every 30s") {
		t.Errorf("after a good one:\n%s", got)
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

	d.snapshot.Cards = board.Deal(lifecycle.DefaultRules(), facts)
	if got := text(press(m, "u")); !strings.Contains(got, "[done 2]") || !strings.Contains(got, "▌#2") {
		t.Errorf("screen:\n%s", got)
	}
}

// TestPaused: a pause is said where everybody sees it.
func TestPaused(t *testing.T) {
	d := &desk{snapshot: board.Snapshot{
		Cards:  board.Deal(lifecycle.DefaultRules(), busy(t)),
		Now:    now,
		Repos:  []string{"acme/app"},
		Pauses: []board.Pause{{Repo: "acme/App", Text: "acme/app is paused by olga: release", Here: true}},
	}}
	d.after = func(r *board.Snapshot, _ board.Order) { r.Pauses = nil }
	m := start(t, d, 80, 24)
	if got := text(m); !strings.Contains(got, "! acme/app is paused by olga: release") ||
		!strings.Contains(got, "p resume") {
		t.Errorf("screen:\n%s", got)
	}

	if got := text(press(m, "p")); !strings.Contains(got, "Let workers claim in acme/App again?") {
		t.Errorf("screen:\n%s", got)
	}

	if got := text(press(m, "p y")); !strings.Contains(got, "acme/App is no longer paused") ||
		d.did[1] != "repo resume acme/App --local" {
		t.Errorf("%q\n%s", d.did, got)
	}

	d.snapshot.Pauses = []board.Pause{{Text: "acme/app is paused: " + strings.Repeat("release ", 12) + "and so on"}}
	if got := text(start(t, d, 80, 24)); !strings.Contains(got, "and so on ") && !strings.Contains(got, "and so on\n") {
		t.Errorf("what has room in two lines is cut:\n%s", got)
	}
	d.snapshot.Pauses[0].Text += strings.Repeat(" on and on", 12) + " to the end"
	if got := text(start(t, d, 80, 24)); !strings.Contains(got, "…") || strings.Contains(got, "to the end") {
		t.Errorf("what has no room in two lines is not cut:\n%s", got)
	}
}

// TestColumns: an empty column is shown as soon as it has room beside what the others need, and a
// column with cards as soon as all have the least width.
func TestColumns(t *testing.T) {
	for _, c := range []struct {
		width    int
		keys     string
		headings int
	}{
		{49, "", 1},
		{50, "", 2},
		{101, "", 3},
		{102, "", 4},
		{153, "", 5},
		{154, "", 6},
		{90, "/ d r a k e enter", 1},
		{91, "/ d r a k e enter", 6},
	} {
		m, headings := press(start(t, &desk{}, c.width, 24), c.keys), 0
		for _, name := range []string{"READY", "IN FLIGHT", "PLAN", "PULL REQUEST", "DONE", "FOR PEOPLE"} {
			headings += strings.Count(text(m), name)
		}
		if headings != c.headings {
			t.Errorf("%d columns, %s: %d headings, want %d\n%s", c.width, c.keys, headings, c.headings, text(m))
		}
	}
}

// TestCycle: the chosen card says the dependency cycle of which it is a part, in place of why it is
// in its column.
func TestCycle(t *testing.T) {
	facts := busy(t)
	for n, f := range facts {
		if f.Issue.Number == 4 || f.Issue.Number == 5 {
			facts[n].Blockers = []lifecycle.Blocker{{Issue: claim.Issue{
				Owner: "acme", Repo: "app",
				Number: 9 - f.Issue.Number,
			}, Open: true}}
		}
	}

	cards := board.Deal(lifecycle.DefaultRules(), facts)
	d := &desk{snapshot: board.Snapshot{Cards: cards, Now: now, Cycles: board.MarkCycles(cards, facts)}}
	if got := text(press(start(t, d, 120, 24), "h")); !strings.Contains(got, "▌#4") ||
		!strings.Contains(got, "! dependency cycle") ||
		!strings.Contains(got, "blocked in a dependency cycle: acme/app#4 waits for acme/app#5 waits for acme/app#4") ||
		!strings.Contains(got, "2 stranded") {
		t.Errorf("screen:\n%s", got)
	}
	if got := text(press(start(t, d, 120, 24), "h f")); !strings.Contains(got, "nobody holds #4") {
		t.Errorf("f starts a cycle over:\n%s", got)
	}
}

// TestFits: whatever the size, the titles, the keys and the clicks, no line is wider than the
// terminal, there are not more lines than it has, and none holds a character that a terminal would
// obey.
func TestFits(t *testing.T) {
	facts := busy(t)
	rapid.Check(t, func(t *rapid.T) {
		for n := range facts {
			facts[n].Title = string(rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "title"))
		}
		width, height := rapid.IntRange(1, 250).Draw(t, "width"), rapid.IntRange(1, 70).Draw(t, "height")
		pauses := []board.Pause{{Repo: "acme/app", Text: strings.Repeat(facts[0].Title+" ", 3)}}
		d := &desk{snapshot: board.Snapshot{
			Cards: board.Deal(lifecycle.DefaultRules(), facts), Now: now,
			Pauses: pauses[:rapid.IntRange(0, 1).Draw(t, "pauses")],
		}}
		var m tea.Model = board.New(t.Context(), d, board.Options{Name: "acme/app"})
		m = send(send(m, tea.WindowSizeMsg{Width: width, Height: height}), m.Init()().(tea.BatchMsg)[0]())
		m = press(m, strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"h", "j", "k", "l", "g", "G", "c", "r", "/",
			"x", "?", "esc", "o", "enter", "J", "K", "f", "a", "p", "y", "3", "m", "s", "click",
		})).Draw(t, "keys"), " "))
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
