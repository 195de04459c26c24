package board

import (
	"charm.land/lipgloss/v2"
)

// A palette is how the parts of the board look. Nothing is told by colour alone: without colours
// the cursor, the bars and the marks are still there.
type palette struct {
	name, dim, head, focus, number, cursor lipgloss.Style
	calm, soon, over                       lipgloss.Style // of bars: plenty of lease left, over half gone, gone
	alert, mark, good                      lipgloss.Style
}

// dark is for light text on a dark background.
func dark() palette {
	return paint("#8b949e", "#58a6ff", "#3fb950", "#d29922", "#ff7b72")
}

// light is for dark text on a light background.
func light() palette {
	return paint("#59636e", "#0550ae", "#116329", "#7d4e00", "#a40e26")
}

func paint(dim, accent, green, yellow, red string) palette {
	in := func(color string) lipgloss.Style { return lipgloss.NewStyle().Foreground(lipgloss.Color(color)) }
	return palette{
		name:   lipgloss.NewStyle().Bold(true),
		dim:    in(dim),
		head:   in(dim).Bold(true),
		focus:  in(accent).Bold(true),
		number: in(accent),
		cursor: lipgloss.NewStyle().Bold(true),
		calm:   in(green),
		soon:   in(yellow),
		over:   in(red),
		alert:  in(red).Bold(true),
		mark:   in(yellow),
		good:   in(green),
	}
}
