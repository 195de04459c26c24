package board

import (
	"time"

	"github.com/charmbracelet/x/ansi"
)

// titleLeast is how much of a title a table in a terminal shows.
const titleLeast = 20

// Rows is the board without a terminal: the cells of one line a card, in the order of the lanes,
// under a line of heads. Marks and titles are cut so that the rows fit into so many cells, with a
// gap between columns; 0 cuts nothing.
func Rows(cards []Card, now time.Time, width int) [][]string {
	rows := [][]string{{"ISSUE", "STATE", "HOLDER", "LEASE", "MARKS", "TITLE"}}
	for _, c := range cards {
		rows = append(rows, []string{
			c.Issue.String(), c.Lane.Title(), c.Holder, c.end(now), c.marked(),
			c.Title,
		})
	}

	if width <= 0 {
		return rows
	}

	room := width - gap
	for column := range 4 {
		room -= cut(rows, column, width) + gap
	}
	marks := cut(rows, 4, max(room-titleLeast, len("MARKS")))
	cut(rows, 5, max(room-marks, titleLeast))

	return rows
}

// cut cuts the cells of a column to so many cells of the screen, and returns how many it uses.
func cut(rows [][]string, column, most int) (used int) {
	for _, row := range rows {
		row[column] = ansi.Truncate(row[column], most, "…")
		used = max(used, ansi.StringWidth(row[column]))
	}
	return used
}
