package outgoing

import (
	"fmt"
	"os"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/sample"
)

// TestPast asks, between one tip and the next, about any commit, in any order.
func TestPast(t *testing.T) {
	s := newSandbox(t)
	n := 0
	sample.Checks(t, 20)
	rapid.Check(t, func(rt *rapid.T) {
		n++
		folder := fmt.Sprint("r", n)
		d := drawHistory(rt, 40)
		d.graph = len(d.parents)
		oids := s.importDrawing(folder, d, nil)
		defer os.RemoveAll(s.path(folder))
		g := openCommitGraph([]string{s.path(folder + "/objects")})
		if g == nil {
			rt.Fatal("no commit-graph")
		}
		defer g.close()
		p := past{graph: g}
		var tips []int
		for range rapid.IntRange(1, 4).Draw(rt, "tips") {
			tip := rapid.IntRange(0, len(oids)-1).Draw(rt, "tip")
			tips = append(tips, tip)
			if ok, err := p.hide(plumbing.NewHash(oids[tip])); !ok || err != nil {
				rt.Fatalf("hide %d: %v, %v", tip, ok, err)
			}
			reached := d.reach(tips)
			for _, i := range rapid.SliceOf(rapid.IntRange(0, len(oids)-1)).Draw(rt, "asked") {
				if got, err := p.hidden(plumbing.NewHash(oids[i])); err != nil || got != reached[i] {
					rt.Fatalf("hidden %d: %v, %v, of the tips %v", i, got, err, tips)
				}
			}
		}
	})
}

func TestPastIsOfTheGraphOnly(t *testing.T) {
	s := newSandbox(t)
	d := line(30)
	d.graph = 20
	oids := s.importDrawing("r", d, nil)
	for _, g := range []*commitGraph{nil, openCommitGraph([]string{s.path("r/objects")})} {
		p := past{graph: g}
		for i, want := range map[int]bool{10: g != nil, 25: false} {
			oid := plumbing.NewHash(oids[i])
			ok, err := p.hide(oid)
			if err != nil || ok != want {
				t.Errorf("hide %d: %v, %v", i, ok, err)
			}
			if ok, err = p.hidden(oid); err != nil || ok != want {
				t.Errorf("hidden %d: %v, %v", i, ok, err)
			}
		}
	}
}
