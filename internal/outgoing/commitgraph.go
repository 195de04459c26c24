package outgoing

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/label-state/label-state/internal/smallfile"
)

// A commitGraph answers a commit's parents, date and generation from git's commit-graph (gitformat-commit-graph(5)), one
// file or a chain of them, mapped into memory. Go-git's reader opens such files one read at a time and panics on a chain
// with a hole; this one checks every offset, and its caller does without a graph that is damaged.
type commitGraph struct {
	layers    []graphLayer // the base first
	corrected bool         // generations are corrected commit dates, else topological levels
	unmap     []func()
}

// A graphLayer is one file: its chunks, and how many commits the layers below it have.
type graphLayer struct {
	below, count                                         uint32
	fanout, names, commits, generations, overflow, edges []byte
	bases                                                []byte
}

const (
	graphCommitSize = hashSize + 16
	noParent        = 0x70000000
	lastEdge        = 1 << 31
)

// openCommitGraph opens the commit-graph of the first object directory that has one. Without any, or with a damaged one,
// it returns nil: the commits themselves say the same.
func openCommitGraph(dirs []string) *commitGraph {
	for _, dir := range dirs {
		for _, paths := range [][]string{{filepath.Join(dir, "info", "commit-graph")}, chain(dir)} {
			g := &commitGraph{}
			if err := g.open(paths); err == nil && len(g.layers) > 0 {
				return g
			}
			g.close()
		}
	}
	return nil
}

// chain lists the files of a split commit-graph, the base first.
func chain(dir string) []string {
	folder := filepath.Join(dir, "info", "commit-graphs")
	text, err := smallfile.Follow(filepath.Join(folder, "commit-graph-chain"), maxText)
	if err != nil {
		return nil
	}
	var paths []string
	for _, id := range strings.Fields(string(text)) {
		if !isOID(id) {
			return nil
		}
		paths = append(paths, filepath.Join(folder, "graph-"+id+".graph"))
	}
	return paths
}

func (g *commitGraph) close() {
	for _, unmap := range g.unmap {
		unmap()
	}
}

func (g *commitGraph) open(paths []string) error {
	below := uint32(0)
	var ids []byte // of the layers below, which each layer must hold
	for _, path := range paths {
		data, unmap, err := mapFile(path, math.MaxInt64)
		if err != nil {
			return err
		}
		g.unmap = append(g.unmap, unmap)
		layer, err := parseGraph(data, below)
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		if !bytes.Equal(layer.bases, ids) {
			return fmt.Errorf("read %s: %w: other layers below it", path, errDamaged)
		}
		id, _ := parseHash(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "graph-"), ".graph"))
		ids = append(ids, id[:]...)
		g.layers = append(g.layers, layer)
		below += layer.count
	}
	g.corrected = !slices.ContainsFunc(g.layers, func(l graphLayer) bool { return l.generations == nil })
	return nil
}

// parseGraph finds the chunks of one file and checks that their sizes fit each other.
func parseGraph(data []byte, below uint32) (graphLayer, error) {
	l := graphLayer{below: below}
	if len(data) < 8 || string(data[:4]) != "CGPH" || data[4] != 1 || data[5] != 1 {
		return l, fmt.Errorf("%w: not a version 1 commit-graph of SHA-1", errDamaged)
	}
	chunks := map[string][]byte{}
	for i := range int(data[6]) { // the table of contents: an id and an offset for each chunk, then the offset of the end
		entry := 8 + 12*i
		if len(data) < entry+24 {
			return l, fmt.Errorf("%w: table of contents", errDamaged)
		}
		from, to := binary.BigEndian.Uint64(data[entry+4:]), binary.BigEndian.Uint64(data[entry+16:])
		if from > to || to > uint64(len(data)) {
			return l, fmt.Errorf("%w: chunk offsets", errDamaged)
		}
		chunks[string(data[entry:entry+4])] = data[from:to]
	}
	l.fanout, l.names, l.commits = chunks["OIDF"], chunks["OIDL"], chunks["CDAT"]
	l.generations, l.overflow = chunks["GDA2"], chunks["GDO2"]
	l.edges, l.bases = chunks["EDGE"], chunks["BASE"]
	if len(l.fanout) != fanoutSize {
		return l, fmt.Errorf("%w: fanout", errDamaged)
	}
	l.count = binary.BigEndian.Uint32(l.fanout[fanoutSize-4:])
	n := uint64(l.count)
	fits := uint64(len(l.names)) == n*hashSize && uint64(len(l.commits)) == n*graphCommitSize
	if !fits || n == 0 || n+uint64(below) >= noParent || (l.generations != nil && uint64(len(l.generations)) != n*4) {
		return l, fmt.Errorf("%w: sizes of chunks", errDamaged)
	}
	return l, nil
}

// commit returns what the graph says of a commit; ok is false when it says nothing.
func (g *commitGraph) commit(oid plumbing.Hash) (facts commitFacts, ok bool, err error) {
	position, ok := g.find(oid)
	if !ok {
		return commitFacts{}, false, nil
	}
	facts.rank, err = g.rank(position)
	if err != nil {
		return commitFacts{}, true, err
	}
	positions, err := g.parents(position, nil)
	for _, p := range positions {
		l, at := g.layer(p)
		facts.parents = append(facts.parents, plumbing.Hash(l.names[at*hashSize:]))
	}
	return facts, true, err
}

// find returns the position of a commit, by which the graph names it, counted over all layers.
func (g *commitGraph) find(oid plumbing.Hash) (position uint32, ok bool) {
	for i := len(g.layers) - 1; i >= 0; i-- {
		l := &g.layers[i]
		from, to := uint32(0), binary.BigEndian.Uint32(l.fanout[4*int(oid[0]):])
		if oid[0] > 0 {
			from = binary.BigEndian.Uint32(l.fanout[4*int(oid[0])-4:])
		}
		if from > to || to > l.count {
			continue
		}
		if at, found := searchNames(l.names[int(from)*hashSize:int(to)*hashSize], oid); found {
			return l.below + from + uint32(at), true
		}
	}
	return 0, false
}

// size is how many commits there are.
func (g *commitGraph) size() uint32 {
	top := g.layers[len(g.layers)-1]
	return top.below + top.count
}

// layer returns the layer of a position that is below size, and the place in it.
func (g *commitGraph) layer(position uint32) (l *graphLayer, at int) {
	i := len(g.layers) - 1
	for position < g.layers[i].below {
		i--
	}
	l = &g.layers[i]
	return l, int(position - l.below)
}

// rank returns the rank of the commit at a position.
func (g *commitGraph) rank(position uint32) (rank, error) {
	l, at := g.layer(position)
	word := binary.BigEndian.Uint64(l.commits[at*graphCommitSize+hashSize+8:])
	date, level := word&(1<<34-1), word>>34
	if !g.corrected {
		return rank{generation: level + 1, date: int64(date)}, nil
	}
	offset := uint64(binary.BigEndian.Uint32(l.generations[4*at:]))
	if offset&(1<<31) != 0 {
		index := (offset &^ (1 << 31)) * 8
		if index+8 > uint64(len(l.overflow)) {
			return rank{}, fmt.Errorf("%w: commit-graph generations", errDamaged)
		}
		offset = binary.BigEndian.Uint64(l.overflow[index:])
	}
	return rank{generation: date + offset + 1, date: int64(date)}, nil
}

// parents appends the positions of a commit's parents to a list. Of more than two, the second field of the record says
// where in EDGE the others are.
func (g *commitGraph) parents(position uint32, list []uint32) ([]uint32, error) {
	l, at := g.layer(position)
	record := l.commits[at*graphCommitSize+hashSize:]
	first, second := binary.BigEndian.Uint32(record), binary.BigEndian.Uint32(record[4:])
	before := len(list)
	if first != noParent {
		list = append(list, first)
	}
	switch {
	case second == noParent:
	case second&lastEdge == 0:
		list = append(list, second)
	default: // a merge of more than two
		for edge := uint32(0); edge&lastEdge == 0; second++ {
			from := uint64(second&^lastEdge) * 4
			if from+4 > uint64(len(l.edges)) {
				return nil, fmt.Errorf("%w: commit-graph edges", errDamaged)
			}
			edge = binary.BigEndian.Uint32(l.edges[from:])
			list = append(list, edge&^lastEdge)
		}
	}
	for _, p := range list[before:] {
		if p >= g.size() {
			return nil, fmt.Errorf("%w: commit-graph parents", errDamaged)
		}
	}
	return list, nil
}
