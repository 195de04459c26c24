package board

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// Sizes in cells and lines.
const (
	columnLeast = 24 // what a column with cards needs to be of use
	columnGood  = 36 // what it has before empty ones are shown
	gap         = 2  // between columns
	barMost     = 12
	holderMost  = barMost + len("  23h59m left") // beside the name
	titleLines  = 2                              // of a card; twice as many in a terminal of titleFrom lines
	titleFrom   = 40
)

// A column is a lane on the screen, or its tab.
type column struct {
	lane        lifecycle.Lane
	left, width int
	line        int // of a tab
}

func (c column) covers(x int) bool { return x >= c.left && x < c.left+c.width }

// heading is the name of a lane with the number of its cards.
func (v view) heading(l lifecycle.Lane) string {
	return fmt.Sprintf("%s %d", strings.ToUpper(l.Title()), len(v.cards[l]))
}

// columns are the lanes that have room. An empty one is as wide as its heading, and left out where
// those with cards would be narrow. Where these do not all fit, those farthest from the cursor are
// left out. What room there is goes to those that need it.
func (v view) columns() []column {
	room := v.width - v.side() + gap
	var out []column
	for l := range lifecycle.Lanes {
		out = append(out, column{lane: l, width: min(v.needs[l], columnGood)})
	}

	taken := func() (cells int) {
		for _, c := range out {
			cells += c.width + gap
		}
		return cells
	}

	if taken() > room {
		out = slices.DeleteFunc(out, func(c column) bool { return c.lane != v.lane && len(v.cards[c.lane]) == 0 })
	}

	for n := range out {
		out[n].width = min(v.needs[out[n].lane], columnLeast)
	}

	for len(out) > 1 && taken() > room {
		at := slices.IndexFunc(out, func(c column) bool { return c.lane == v.lane })
		first := yes(at*2 >= len(out))
		out = out[first : len(out)-1+first]
	}

	left := room - taken()
	for grown := true; grown; {
		grown = false
		for n := range out {
			if left > 0 && out[n].width < v.needs[out[n].lane] {
				out[n].width, left, grown = out[n].width+1, left-1, true
			}
		}
	}

	for n, at := 0, 0; n < len(out); n++ {
		out[n].left, out[n].width = at, min(out[n].width, max(room-gap, 1))
		at += out[n].width + gap
	}

	return out
}

// need is the width at which nothing of a lane is cut.
func (v view) need(l lifecycle.Lane) int {
	need := ansi.StringWidth(v.heading(l))
	for _, c := range v.cards[l] {
		need = max(need, columnLeast, 2+ansi.StringWidth(v.ref(c)+" "+c.Title))
		if c.Holder != "" {
			need = max(need, 2+ansi.StringWidth(v.who(c))+holderMost)
		}
	}

	for _, line := range v.advice(l) {
		need = max(need, 1+ansi.StringWidth(line))
	}

	return need
}

// advice is what to do where nothing can be taken; it is where that would be looked for.
func (v view) advice(l lifecycle.Lane) []string {
	if l != lifecycle.LaneReady || v.filter != "" || v.mine {
		return nil
	}
	return v.snapshot.Next
}

// A row is a line of a column, and the card that it shows; -1 is none.
type row struct {
	text string
	card int
}

// rows are one column: its heading, and as many cards as there is room for.
func (v view) rows(c column, height int) []row {
	style, line := v.palette.head, "─"
	if c.lane == v.lane {
		style, line = v.palette.focus, "━"
	}

	heading := v.heading(c.lane)
	if rest := c.width - len(heading) - 1; rest > 0 {
		heading += " " + strings.Repeat(line, rest)
	}
	out := append([]row{{style.Render(heading), -1}}, v.stack(c, height-1)...)
	for i := range height {
		if i >= len(out) {
			out = append(out, row{"", -1})
		}
		out[i].text = pad(out[i].text, c.width)
	}

	return out[:height]
}

// stack is the part of a lane's cards that has room.
func (v view) stack(c column, height int) []row {
	cards := v.cards[c.lane]
	note := func(text string, args ...any) row { return row{v.palette.dim.Render(fmt.Sprintf(text, args...)), -1} }
	var out []row
	if len(cards) == 0 {
		out = []row{note(" –")}
	}

	first, between := v.first(c, height)
	if first > 0 {
		out = append(out, note(" ↑ %d more", first))
	}

	for i := first; i < len(cards); i++ {
		lines := v.card(c, i)
		if i > first {
			lines = append(slices.Repeat([]string{""}, between), lines...)
		}

		room := height - len(out) - yes(i < len(cards)-1)
		if len(lines) > room && i > v.at[c.lane] {
			return append(out, note(" ↓ %d more", len(cards)-i))
		}

		for _, line := range lines[:max(min(len(lines), room), 0)] { // the end of a card may go, its beginning not
			out = append(out, row{line, i})
		}
	}

	for _, line := range v.advice(c.lane) {
		out = append(out, note(""))
		for _, one := range broken(printable.Line(line), c.width-1, v.palette.dim) {
			out = append(out, row{" " + one, -1})
		}
	}

	return out
}

// first is the first card that is shown: as before, unless that leaves the cursor out of sight.
// Where all cards fit, there are lines between them.
func (v view) first(c column, height int) (first, between int) {
	cards, at := v.cards[c.lane], v.at[c.lane]
	used := -1
	for n := 0; n < len(cards) && used <= height; n++ {
		used += 1 + len(v.card(c, n))
	}
	if used <= height {
		return 0, 1
	}

	back := func(from, least, used int) int {
		for ; from > least; from-- {
			if used += len(v.card(c, from-1)); used+yes(from > 1) > height {
				break
			}
		}
		return from
	}
	before := min(v.from[c.lane], back(len(cards), 0, 0)) // nothing stays free below

	return back(at, before, yes(at < len(cards)-1)+len(v.card(c, at))), 0
}

// card is one issue: number and title, who holds it and until when, pull requests, and marks.
func (v view) card(of column, n int) []string {
	c, width := v.cards[of.lane][n], of.width-2
	edge, style := " ", lipgloss.NewStyle()
	if of.lane == v.lane && n == v.at[of.lane] {
		edge, style = v.palette.focus.Render("▌"), v.palette.cursor
	}

	ref := v.ref(c)
	title := strings.Split(ansi.Wrap(ref+" "+c.Title, width, ""), "\n")
	if title[0] == ref { // what follows is longer than a line, or is written without blanks
		title = strings.Split(ansi.Hardwrap(ref+" "+c.Title, width, false), "\n")
	}

	most := titleLines << yes(v.height >= titleFrom)
	if len(title) > most {
		title = append(title[:most-1], ansi.Truncate(strings.Join(title[most-1:], " "), width, "…"))
	}

	for i, line := range title {
		rest, found := strings.CutPrefix(line, ref)
		title[i] = style.Render(line)
		if i == 0 && found {
			title[i] = v.palette.number.Render(ref) + style.Render(rest)
		}
	}

	out := title
	if c.Holder != "" {
		out = append(out, v.holder(c, width)...)
	}

	for _, p := range c.Pulls {
		out = append(out, ansi.Truncate("→ "+p.Name, width, "…"))
	}

	marks := len(out) // as many to a line as there is room for
	for _, mark := range c.Marks {
		text := v.palette.mark.Render("· " + mark.Text)
		if mark.Alert {
			text = v.palette.alert.Render("! " + mark.Text)
		}

		last := len(out) - 1
		if last >= marks && ansi.StringWidth(out[last])+1+ansi.StringWidth(text) <= width {
			out[last] += " " + text
			continue
		}

		out = append(out, ansi.Truncate(text, width, "…"))
	}

	for i := range out {
		if i > 0 {
			out[i] = " " + out[i]
		}
		out[i] = edge + out[i]
	}

	return out
}

// who is the holder by name.
func (v view) who(c Card) string {
	if c.isOf(v.snapshot.Viewer) {
		return c.Holder + " (you)"
	}
	return c.Holder
}

// holder is who holds it, a bar for how much of the lease is gone without a heartbeat, and what is
// left of it; or what ends the hold.
func (v view) holder(c Card, width int) []string {
	end := c.end(v.now())
	if c.Until.IsZero() {
		return broken(v.who(c)+" "+end, width, lipgloss.NewStyle())
	}

	room := width - ansi.StringWidth(end) - 2
	name := ansi.Truncate(v.who(c), max(room-4, 4), "…")
	cells := min(room-ansi.StringWidth(name), barMost)
	if cells < 2 {
		return []string{ansi.Truncate(name+" "+v.palette.dim.Render(end), width, "…")}
	}

	part := float64(v.now().Sub(c.Seen)) / float64(max(c.Until.Sub(c.Seen), 1))
	style := v.palette.calm
	switch {
	case part >= 1:
		style = v.palette.over
	case part > 0.5:
		style = v.palette.soon
	}

	full, rest := printable.Bar(part, cells)
	return []string{name + " " + style.Render(full) + v.palette.dim.Render(rest+" "+end)}
}

// standing is the chosen card in one line: who holds it and how that ends before why it is in its
// lane.
func (v view) standing(c Card) string {
	facts := []string{c.Why}
	switch {
	case len(c.Cycle) > 0:
		facts = []string{lifecycle.InCycle(c.Cycle)}
	case c.Worker == "": // nobody, or a person by the label alone
	case c.isOf(v.snapshot.Viewer):
		facts = []string{"yours"}
	default:
		facts = []string{"held by " + c.Holder}
	}

	switch {
	case c.Holder == "" && c.Ends == "":
	case c.Until.IsZero():
		facts = append(facts, c.Ends)
	default:
		facts = append(facts, c.end(v.now())+", "+printable.Minute(c.Until))
	}

	if !c.Since.IsZero() {
		facts = append(facts, "since "+printable.Minute(c.Since))
	}

	if c.Branch != "" {
		facts = append(facts, "branch "+c.Branch)
	}

	for _, p := range c.Pulls {
		facts = append(facts, p.URL)
	}

	return strings.Join(facts, " · ")
}

// pad makes a line exactly width cells wide.
func pad(line string, width int) string {
	line = ansi.Truncate(line, width, "…")
	return line + strings.Repeat(" ", width-ansi.StringWidth(line))
}
