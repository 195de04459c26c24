package outgoing

import (
	"slices"

	"pgregory.net/rapid"
)

// A drawing is a history in memory: commit i has parents of lower numbers only.
type drawing struct {
	parents [][]int
	dates   []int64
	graph   int // commits below this number are in the commit-graph
}

func (d *drawing) reach(tips []int) map[int]bool {
	seen := map[int]bool{}
	todo := slices.Clone(tips)
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if i < len(d.parents) && !seen[i] {
			seen[i] = true
			todo = append(todo, d.parents[i]...)
		}
	}

	return seen
}

// difference is the answer by its definition.
func (d *drawing) difference(push, hide []int) []int {
	gone := d.reach(hide)
	list := []int{}
	for i := range d.reach(push) {
		if !gone[i] {
			list = append(list, i)
		}
	}

	slices.Sort(list)
	return list
}

// drawHistory draws a history with merges whose clocks are right, a little wrong or meaningless.
func drawHistory(t *rapid.T, most int) *drawing {
	n := rapid.IntRange(1, most).Draw(t, "commits")
	skew := rapid.SampledFrom([]int64{0, 200, 100_000}).Draw(t, "skew")
	d := &drawing{}
	for i := range n {
		var parents []int
		if i > 0 {
			most := rapid.SampledFrom([]int{0, 1, 1, 1, 1, 2, 2, 3}).Draw(t, "parents")
			near := max(0, i-rapid.SampledFrom([]int{1, 3, 10, most * n}).Draw(t, "near"))
			for range most {
				if p := rapid.IntRange(near, i-1).Draw(t, "parent"); !slices.Contains(parents, p) {
					parents = append(parents, p)
				}
			}
		}

		d.parents = append(d.parents, parents)
		d.dates = append(d.dates, 1_000_000+int64(i)*60+rapid.Int64Range(-skew, skew).Draw(t, "off"))
	}

	d.graph = rapid.SampledFrom([]int{0, n / 2, n}).Draw(t, "graph")
	return d
}

func drawTips(t *rapid.T, d *drawing, label string, least int) []int {
	return rapid.SliceOfN(rapid.IntRange(0, len(d.parents)-1), least, 5).Draw(t, label)
}

// line draws n commits in a row, and every tenth merges the one twenty below it.
func line(n int) *drawing {
	d := &drawing{}
	for i := range n {
		var parents []int
		if i > 0 {
			parents = append(parents, i-1)
		}

		if i > 20 && i%10 == 0 {
			parents = append(parents, i-20)
		}
		d.parents = append(d.parents, parents)
		d.dates = append(d.dates, int64(i)*60)
	}

	return d
}

func span(from, to, step int) []int {
	var list []int
	for i := from; i < to; i += step {
		list = append(list, i)
	}
	return list
}
