package outgoing

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"pgregory.net/rapid"
)

// A drawing is a history in memory: commit i has parents of lower numbers only. It counts how often it is asked.
type drawing struct {
	parents [][]int
	dates   []int64
	graph   int // commits below this number are in the commit-graph
	asked   int
	tips    []int // that the remote has, in the commit-graph
}

func drawOID(i int) plumbing.Hash {
	var oid plumbing.Hash
	binary.BigEndian.PutUint32(oid[:], uint32(i)*2654435761)
	binary.BigEndian.PutUint32(oid[16:], uint32(i)+1)
	return oid
}

func drawNumber(oid plumbing.Hash) int { return int(binary.BigEndian.Uint32(oid[16:])) - 1 }

func (d *drawing) commit(oid plumbing.Hash) (commitFacts, error) {
	d.asked++
	i := drawNumber(oid)
	if i < 0 || i >= len(d.parents) {
		return commitFacts{}, plumbing.ErrObjectNotFound
	}
	facts := commitFacts{rank: rank{date: d.dates[i]}}
	for _, p := range d.parents[i] {
		facts.parents = append(facts.parents, drawOID(p))
	}
	if i < d.graph {
		facts.rank.generation = d.generation(i)
	} else {
		facts.message, facts.hasMessage = fmt.Append(nil, i), true
	}
	return facts, nil
}

func (d *drawing) hide(oid plumbing.Hash) (bool, error) {
	i := drawNumber(oid)
	if i < 0 || i >= min(d.graph, len(d.parents)) {
		return false, nil
	}
	d.tips = append(d.tips, i)
	return true, nil
}

func (d *drawing) hidden(oid plumbing.Hash) (bool, error) {
	return d.reach(d.tips)[drawNumber(oid)], nil
}

// generation is git's corrected commit date.
func (d *drawing) generation(i int) uint64 {
	g := uint64(d.dates[i]) + 1
	for _, p := range d.parents[i] {
		g = max(g, d.generation(p)+1)
	}
	return g
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

// runWalk goes through the stages of the first reader: the pushed side alone, then the marked tips without slop, then
// the others.
func runWalk(d *drawing, push, marked, hide []int, descend, extra int) ([]int, error) {
	w := newWalk(d, nil, func(uint8) error { return nil })
	for _, i := range marked {
		w.mark(drawOID(i))
	}
	for _, i := range push {
		if err := w.push(drawOID(i)); err != nil {
			return nil, err
		}
	}
	if _, err := w.descend(descend); err != nil {
		return nil, err
	}
	for _, i := range marked {
		if _, err := w.hide(drawOID(i)); err != nil {
			return nil, err
		}
	}
	if len(marked) > 0 {
		if err := w.settle(0); err != nil {
			return nil, err
		}
	}
	for _, i := range hide {
		if _, err := w.hide(drawOID(i)); err != nil {
			return nil, err
		}
	}
	if err := w.settle(extra); err != nil {
		return nil, err
	}
	found := []int{}
	for _, n := range w.outgoing() {
		found = append(found, drawNumber(n.oid))
	}
	slices.Sort(found)
	return found, nil
}

func TestWalkIsTheSetDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawHistory(t, 60)
		push, marked, hide := drawTips(t, d, "push", 1), drawTips(t, d, "marked", 0), drawTips(t, d, "hide", 0)
		marked = append(marked, 1000) // a remote id that is not in the repository
		got, err := runWalk(d, push, marked, hide, rapid.IntRange(0, 64).Draw(t, "descend"), slop)
		if err != nil {
			t.Fatal(err)
		}
		if want := d.difference(push, append(marked, hide...)); !slices.Equal(got, want) {
			t.Fatalf("found %v, want %v", got, want)
		}
	})
}

func TestWalkNeedsNoSlopInsideACommitGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawHistory(t, 60)
		d.graph = len(d.parents)
		push, hide := drawTips(t, d, "push", 1), drawTips(t, d, "hide", 0)
		got, err := runWalk(d, push, nil, hide, 10, 0)
		if err != nil {
			t.Fatal(err)
		}
		if want := d.difference(push, hide); !slices.Equal(got, want) {
			t.Fatalf("found %v, want %v", got, want)
		}
	})
}

// Whatever the dates and however early the walk ends, what leaves is never missed.
func TestWalkNeverMisses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawHistory(t, 60)
		push, hide := drawTips(t, d, "push", 1), drawTips(t, d, "hide", 0)
		got, err := runWalk(d, push, nil, hide, 10, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range d.difference(push, hide) {
			if !slices.Contains(got, i) {
				t.Fatalf("found %v, without %d", got, i)
			}
		}
	})
}

// An old commit that is pushed beside a tip which the remote has: that the tip is reached from one of the two says nothing
// about the other.
func TestOldCommitBesideATip(t *testing.T) {
	d := line(20)
	got, err := runWalk(d, []int{0, 19}, []int{19}, nil, 2, slop)
	if err != nil || len(got) > 0 {
		t.Errorf("found %v, %v, and the remote has everything", got, err)
	}
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

func TestEffortFollowsThePushAndNotTheHistory(t *testing.T) {
	const n = 5000
	for _, c := range []struct {
		name              string
		push, marked, all []int
		found, most       int
	}{
		{"one commit on a branch", []int{n - 1}, []int{n - 2}, nil, 1, 4},
		{"one commit, the remote has 50 branches", []int{n - 1}, []int{n - 2}, span(0, n-100, 98), 1, 400},
		{"a hundred branches of one history", span(n-100, n, 1), nil, []int{n - 101}, 100, 500},
		{"everything", []int{n - 1}, nil, nil, n, n + 10},
		{"nothing new", []int{n - 1}, []int{n - 1}, nil, 0, 2},
	} {
		d := line(n)
		got, err := runWalk(d, c.push, c.marked, c.all, near, slop)
		if err != nil || len(got) != c.found {
			t.Errorf("%s: %d commits, %v; want %d", c.name, len(got), err, c.found)
		}
		if d.asked > c.most {
			t.Errorf("%s: %d commits read, want at most %d", c.name, d.asked, c.most)
		}
	}
}

func span(from, to, step int) []int {
	var list []int
	for i := from; i < to; i += step {
		list = append(list, i)
	}
	return list
}

func TestMissingParent(t *testing.T) {
	d := &drawing{parents: [][]int{{7}, {0}, {0}}, dates: []int64{1, 2, 3}}
	if _, err := runWalk(d, []int{2}, nil, nil, 0, slop); err == nil {
		t.Error("a hole in what is pushed went unnoticed")
	}
	got, err := runWalk(d, []int{2}, nil, []int{1}, 0, slop)
	if err != nil || !slices.Equal(got, []int{2}) {
		t.Errorf("found %v, %v; a hole in what the remote has does not matter", got, err)
	}
}
