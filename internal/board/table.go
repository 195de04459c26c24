package board

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Table is the board without a terminal: one line a card, in the order of the lanes, under a line of heads.
func Table(cards []Card, now time.Time) string {
	rows := [][]string{{"ISSUE", "STATE", "HOLDER", "SILENT/LEASE", "MARKS", "TITLE"}}
	for _, c := range cards {
		age := ""
		if c.Holder != "" {
			age = c.age(now)
		}
		rows = append(rows, []string{c.Issue.String(), strings.ToLower(c.Lane.title()), c.Named(), age, c.marked(), c.Title})
	}
	widths := make([]int, len(rows[0])) // of all columns but the last
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += cell + strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+2)
		}
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	return b.String()
}
