package board

import (
	"strings"
	"time"
)

// Rows is the board without a terminal: the cells of one line a card, in the order of the lanes,
// under a line of heads.
func Rows(cards []Card, now time.Time) [][]string {
	rows := [][]string{{"ISSUE", "STATE", "HOLDER", "SILENT/LEASE", "MARKS", "TITLE"}}
	for _, c := range cards {
		age := ""
		if c.Holder != "" {
			age = c.age(now)
		}
		rows = append(rows, []string{
			c.Issue.String(), strings.ToLower(c.Lane.title()), c.Named(), age, c.marked(),
			c.Title,
		})
	}

	return rows
}
