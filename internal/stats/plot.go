package stats

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/printable"
)

// The plot's measures, in pixels.
const (
	plotWidth = 860
	plotLeft  = 30
	nameWidth = 130 // of what stands left of a bar
	rowHeight = 24
)

// The plot's colours.
const (
	ink, faint, grid  = "#1f2328", "#59636e", "#d1d9e0"
	blue, green, red  = "#0969da", "#1a7f37", "#cf222e"
	orange, grey, sky = "#bc4c00", "#8c959f", "#b6d7ff"
)

// A sheet is a plot in the making: shapes from top to bottom.
type sheet struct {
	b strings.Builder
	y int // where the next part begins
}

// Plot is the figures as one SVG picture that needs nothing else. Other people's text in it is
// escaped.
func (f Figures) Plot(name string) string {
	s := &sheet{y: 44}
	s.text(from(plotLeft, s.y), lettering{20, ink, true}, name)
	s.y += 22
	s.text(from(plotLeft, s.y), lettering{13, faint, false},
		fmt.Sprintf("%s to %s, %s with records", date(f.From), date(f.To),
			printable.Count(f.Issues, "issue", "issues")))
	s.headlines(f.Totals)
	s.throughput(f.Days)
	s.stays(f.States)
	s.crew(f.Workers)

	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="-apple-system,'Segoe UI','DejaVu Sans',sans-serif">`+"\n"+
		`<rect width="100%%" height="100%%" rx="8" fill="#ffffff"/>`+"\n", plotWidth, s.y+20, plotWidth, s.y+20) +
		s.b.String() + "</svg>\n"
}

func (s *sheet) rect(x, y, w, h float64, fill string) {
	fmt.Fprintf(&s.b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y, max(w, 0),
		max(h, 0), fill)
}

// A spot is where a text begins, or where it ends.
type spot struct {
	x, y   int
	anchor string
}

func from(x, y int) spot { return spot{x, y, "start"} }

// until is the right edge.
func until(y int) spot { return spot{plotWidth - plotLeft, y, "end"} }

// A lettering is how a text looks; its size is in pixels.
type lettering struct {
	size int
	fill string
	bold bool
}

func (s *sheet) text(at spot, l lettering, text string) {
	weight := ""
	if l.bold {
		weight = ` font-weight="bold"`
	}

	fmt.Fprintf(&s.b, `<text x="%d" y="%d" font-size="%d" fill="%s"%s text-anchor="%s">`, at.x, at.y, l.size, l.fill,
		weight, at.anchor)
	_ = xml.EscapeText(&s.b, []byte(printable.Line(text))) // a Builder takes everything
	s.b.WriteString("</text>\n")
}

// heading begins a part.
func (s *sheet) heading(text, note string) {
	s.y += 42
	s.text(from(plotLeft, s.y), lettering{14, ink, true}, text)
	s.text(until(s.y), lettering{12, faint, false}, note)
	s.y += 8
}

// headlines are the totals side by side.
func (s *sheet) headlines(t Totals) {
	s.y += 46
	all := []struct {
		n           int
		name, color string
	}{
		{t.Holds, "holds", ink},
		{t.Delivered, "delivered", green},
		{t.Failed, "failed", orange},
		{t.Expired, "expired", red},
		{t.Forced, "forced", grey},
		{t.Yielded, "races yielded", blue},
		{t.Merged, "merged", green},
	}
	step := (plotWidth - 2*plotLeft) / len(all)
	for i, one := range all {
		s.text(from(plotLeft+i*step, s.y), lettering{28, one.color, true}, fmt.Sprint(one.n))
		s.text(from(plotLeft+i*step, s.y+18), lettering{12, faint, false}, one.name)
	}

	s.y += 18
}

// throughput has three bars a day: begun behind, delivered and trouble in front.
func (s *sheet) throughput(days []Day) {
	const height = 120
	top := 1
	for _, d := range days {
		top = max(top, d.Holds, d.Delivered+d.Troubled)
	}

	s.heading("A day", "light: holds begun, green: delivered, red: failed or expired")
	base, step := float64(s.y+height), float64(plotWidth-2*plotLeft)/float64(max(len(days), 1))
	unit := float64(height-14) / float64(top)
	s.rect(plotLeft, base-unit*float64(top), plotWidth-2*plotLeft, 1, grid)
	s.text(until(int(base-unit*float64(top))-3), lettering{11, faint, false}, fmt.Sprint(top))

	for i, d := range days {
		x := plotLeft + float64(i)*step
		s.rect(x+step*0.1, base-unit*float64(d.Holds), step*0.8, unit*float64(d.Holds), sky)
		s.rect(x+step*0.25, base-unit*float64(d.Delivered), step*0.5, unit*float64(d.Delivered), green)
		s.rect(x+step*0.25, base-unit*float64(d.Delivered+d.Troubled), step*0.5, unit*float64(d.Troubled), red)
	}

	s.rect(plotLeft, base, plotWidth-2*plotLeft, 1, faint)
	s.y += height + 16
	if len(days) > 0 {
		s.text(from(plotLeft, s.y), lettering{11, faint, false}, days[0].Date)
		s.text(until(s.y), lettering{11, faint, false}, days[len(days)-1].Date)
	}
}

// stays are a bar up to the median and a thin one up to the 90th percentile for each state.
func (s *sheet) stays(states []Stay) {
	if len(states) == 0 {
		return
	}
	longest := Length(time.Second)
	for _, one := range states {
		longest = max(longest, one.P90)
	}

	s.heading("Time in state", "thick: median, thin: nine of ten are shorter")
	unit := float64(plotWidth-2*plotLeft-nameWidth-150) / float64(longest)
	for _, one := range states {
		y := float64(s.y)
		s.text(from(plotLeft, s.y+16), lettering{13, ink, false}, stateName(one.State))
		s.rect(plotLeft+nameWidth, y+10, unit*float64(one.P90), 3, blue)
		s.rect(plotLeft+nameWidth, y+4, max(unit*float64(one.Median), 1), 15, blue)
		note := fmt.Sprintf("%d now", one.Now)
		if one.Ended > 0 {
			note = fmt.Sprintf("%s, %s; %s", one.Median, one.P90, note)
		}

		s.text(until(s.y+16), lettering{12, faint, false}, note)
		s.y += rowHeight
	}
}

// crew is one bar a worker: what became of its holds.
func (s *sheet) crew(workers []Worker) {
	const most = 12
	if len(workers) == 0 {
		return
	}

	longest := 1
	for _, w := range workers {
		longest = max(longest, w.Delivered+w.Failed+w.Expired+w.Forced)
	}

	s.heading("Workers", "green: delivered, orange: failed, red: expired, grey: forced")
	unit := float64(plotWidth-2*plotLeft-nameWidth-150) / float64(longest)
	for _, w := range workers[:min(len(workers), most)] {
		s.text(from(plotLeft, s.y+16), lettering{13, ink, false}, printable.Short(w.Codename, 16))
		x := float64(plotLeft + nameWidth)
		for _, part := range []struct {
			n     int
			color string
		}{{w.Delivered, green}, {w.Failed, orange}, {w.Expired, red}, {w.Forced, grey}} {
			s.rect(x, float64(s.y+4), unit*float64(part.n), 15, part.color)
			x += unit * float64(part.n)
		}

		note := printable.Count(w.Holds, "hold", "holds")
		if w.Median != 0 {
			note += ", " + w.Median.String()
		}

		if w.Median != 0 && w.Holds != 1 {
			note += " each"
		}
		s.text(until(s.y+16), lettering{12, faint, false}, note)
		s.y += rowHeight
	}

	if more := len(workers) - most; more > 0 {
		s.text(from(plotLeft, s.y+16), lettering{12, faint, false}, fmt.Sprintf("and %d more", more))
		s.y += rowHeight
	}
}
