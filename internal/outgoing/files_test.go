package outgoing

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"pgregory.net/rapid"
)

func TestPackIndexFindsEveryObject(t *testing.T) {
	for _, version := range []string{"2", "2,0x40"} { // the second has 64-bit offsets
		s := newSandbox(t)
		s.importDrawing("r", line(3000), nil)
		packs, err := filepath.Glob(s.path("r/objects/pack/*.pack"))
		if err != nil || len(packs) != 1 {
			t.Fatal(packs, err)
		}
		path := s.path("x.idx")
		s.git("r", "index-pack", "--index-version="+version, "-o", path, packs[0])
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		listing, err := s.run("r", string(text), "show-index")
		if err != nil {
			t.Fatal(err)
		}
		x, err := openPackIndex(path)
		if err != nil {
			t.Fatal(err)
		}
		defer x.file.close()
		count := 0
		for text := range strings.Lines(listing) {
			var offset int64
			var oid string
			if _, err := fmt.Sscan(text, &offset, &oid); err != nil {
				t.Fatal(err)
			}
			count++
			if got, err := x.FindOffset(plumbing.NewHash(oid)); err != nil || got != offset {
				t.Fatalf("%s: offset %d, %v; want %d", oid, got, err, offset)
			}
		}
		if count < 3000 {
			t.Errorf("only %d objects", count)
		}
		for _, oid := range []string{zeroID, oidA, oidB, strings.Repeat("f", 40)} {
			if _, err := x.FindOffset(plumbing.NewHash(oid)); !errors.Is(err, plumbing.ErrObjectNotFound) {
				t.Errorf("%s: %v", oid, err)
			}
		}
	}
}

// Names are as good as random; the search must find them also where they are not.
func TestPackIndexWithUnevenNames(t *testing.T) {
	const n = 5000
	var names []plumbing.Hash
	for i := range n {
		oid := plumbing.Hash{0: 7}
		binary.BigEndian.PutUint32(oid[1:], uint32(i*i)) // close together at first, then further apart
		names = append(names, oid)
	}
	data := []byte("\xfftOc\x00\x00\x00\x02")
	for i := range 256 {
		data = binary.BigEndian.AppendUint32(data, map[bool]uint32{true: n}[i >= 7])
	}
	for _, oid := range names {
		data = append(data, oid[:]...)
	}
	data = append(data, make([]byte, 4*n)...)
	for i := range n {
		data = binary.BigEndian.AppendUint32(data, uint32(i))
	}
	path := filepath.Join(t.TempDir(), "x.idx")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	x, err := openPackIndex(path)
	if err != nil {
		t.Fatal(err)
	}
	defer x.file.close()
	for i, oid := range names {
		if at, err := x.FindOffset(oid); err != nil || at != int64(i) {
			t.Fatalf("name %d: %d, %v", i, at, err)
		}
		oid[19] = 1
		if _, err := x.FindOffset(oid); !errors.Is(err, plumbing.ErrObjectNotFound) {
			t.Fatalf("a name after %d: %v", i, err)
		}
	}
}

func FuzzPackIndex(f *testing.F) {
	s := newSandbox(f)
	s.importDrawing("r", line(30), nil)
	packs, err := filepath.Glob(s.path("r/objects/pack/*.idx"))
	if err != nil || len(packs) != 1 {
		f.Fatal(packs, err)
	}
	good, err := os.ReadFile(packs[0])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, good[1032:1052])
	f.Add(good[:1100], good[1032:1052])
	f.Add(good[:7], []byte{})
	f.Fuzz(func(t *testing.T, data, oid []byte) {
		path := filepath.Join(t.TempDir(), "x.idx")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		x, err := openPackIndex(path)
		if err != nil {
			return
		}
		defer x.file.close()
		var h plumbing.Hash
		copy(h[:], oid)
		if offset, err := x.FindOffset(h); err == nil && offset < 0 {
			t.Errorf("offset %d", offset)
		}
	})
}

func TestCommitGraphSaysWhatTheCommitsSay(t *testing.T) {
	s := newSandbox(t)
	d := line(500)
	d.parents[300] = []int{299, 250, 200, 150} // more parents than a record holds
	d.dates[400], d.dates[200] = 1, 1<<33
	for _, c := range []struct {
		name  string
		write func(folder string, oids []string)
	}{
		{"one file", func(folder string, oids []string) { s.writeGraph(folder, oids) }},
		{"levels instead of dates", func(folder string, oids []string) {
			s.git(folder, "config", "commitGraph.generationVersion", "1")
			s.writeGraph(folder, oids)
		}},
		{"a chain", func(folder string, oids []string) {
			for _, end := range []int{100, 300, 500} {
				s.writeGraph(folder, oids[:end], "--split=no-merge")
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			oids := s.importDrawing(c.name, d, nil)
			c.write(c.name, oids)
			g := openCommitGraph([]string{s.path(c.name + "/objects")})
			if g == nil {
				t.Fatal("no commit-graph")
			}
			defer g.close()
			if layers := len(g.layers); (layers == 3) != (c.name == "a chain") {
				t.Errorf("%d layers", layers)
			}
			checkGraph(t, g, d, oids)
		})
	}
}

func checkGraph(t *testing.T, g *commitGraph, d *drawing, oids []string) {
	t.Helper()
	generations := make([]uint64, len(oids))
	for i, oid := range oids {
		facts, ok, err := g.commit(plumbing.NewHash(oid))
		if err != nil || !ok || facts.rank.date != d.dates[i] {
			t.Fatalf("commit %d: %+v, %v, %v", i, facts, ok, err)
		}
		var parents []string
		for _, p := range d.parents[i] {
			parents = append(parents, oids[p])
			if generations[p] >= facts.rank.generation {
				t.Errorf("commit %d has generation %d, its parent %d", i, facts.rank.generation, generations[p])
			}
		}
		if !slices.Equal(texts(facts.parents), parents) && len(parents) > 0 {
			t.Errorf("commit %d has parents %v, want %v", i, facts.parents, parents)
		}
		generations[i] = facts.rank.generation
	}
	if _, ok, err := g.commit(plumbing.NewHash(oidA)); ok || err != nil {
		t.Errorf("a commit that is not there: %v, %v", ok, err)
	}
}

func TestHoleInAChainOfCommitGraphs(t *testing.T) {
	s := newSandbox(t)
	at, p, want, oids := longHistory(s, 300, 0, []int{250})
	for _, end := range []int{100, 200, 300} {
		s.writeGraph("r", oids[:end], "--split=no-merge")
	}
	layers := chain(s.path("r/objects"))
	for _, i := range []int{0, 1, 2} {
		text, err := os.ReadFile(layers[i])
		if err != nil {
			t.Fatal(err)
		}
		for _, damage := range [][]byte{nil, text[:len(text)/2], text[:20], slices.Repeat([]byte{0xff}, len(text))} {
			os.Remove(layers[i])
			if damage != nil {
				s.write("r/objects/info/commit-graphs/"+filepath.Base(layers[i]), string(damage))
			}
			got, err := readNative(t.Context(), at, p)
			compare(t, fmt.Sprint("layer ", i, " cut to ", len(damage)), got, err, want)
		}
		os.Remove(layers[i])
		s.write("r/objects/info/commit-graphs/"+filepath.Base(layers[i]), string(text))
	}
}

func FuzzCommitGraph(f *testing.F) {
	s := newSandbox(f)
	d := line(40)
	d.parents[30] = []int{29, 20, 10}
	d.graph = 40
	oids := s.importDrawing("r", d, nil)
	good, err := os.ReadFile(s.path("r/objects/info/commit-graph"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, 0, byte(0))
	f.Add(good[:len(good)/2], 20, byte(1))
	f.Add(good[:9], 3, byte(255))
	f.Fuzz(func(t *testing.T, data []byte, at int, change byte) {
		data = bytes.Clone(data)
		if at >= 0 && at < len(data) {
			data[at] ^= change
		}
		l, err := parseGraph(data, 0)
		if err != nil {
			return
		}
		g := &commitGraph{layers: []graphLayer{l}, corrected: l.generations != nil}
		for _, oid := range oids {
			g.commit(plumbing.NewHash(oid))
		}
		for i := range min(l.count, 1000) {
			g.rank(i)
			g.parents(i, nil)
		}
	})
}

func TestPackedRefs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`refs/(heads|remotes/(o|origin|p)|tags)/[a-c/]{1,4}`), 0, 30, rapid.ID).Draw(t, "names")
		sorted := rapid.Bool().Draw(t, "sorted")
		var text strings.Builder
		if sorted {
			slices.Sort(names)
			text.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
		}
		oids := map[string]string{}
		for i, name := range names {
			oids[name] = fmt.Sprintf("%040x", i+1)
			text.WriteString(oids[name] + " " + name + "\n")
			if rapid.Bool().Draw(t, "tag") {
				text.WriteString("^" + oidA + "\n")
			}
		}
		p := packedRefs(text.String())
		for _, name := range append(names, "refs/", "refs/heads/b", "refs/zzz", "") {
			oid, ok := p.lookup(name)
			if want := oids[name]; ok != (want != "") || (ok && oid.String() != want) {
				t.Fatalf("lookup(%q) = %v, %v, want %q in\n%s", name, oid, ok, want, p)
			}
		}
		for _, prefix := range []string{"refs/heads/", "refs/remotes/origin/", "refs/remotes/o/", "refs/replace/"} {
			var got, want []string
			for name := range p.under(prefix) {
				got = append(got, string(name))
			}
			for _, name := range names {
				if strings.HasPrefix(name, prefix) {
					want = append(want, name)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("under(%q) = %q, want %q in\n%s", prefix, got, want, p)
			}
		}
	})
}

func FuzzPackedRefs(f *testing.F) {
	f.Add("# pack-refs with: sorted \n"+oidA+" refs/heads/x\n^"+oidB+"\n"+oidB+" refs/tags/y\n", "refs/tags/y")
	f.Add("# pack-refs with: sorted \n\n^\n \n\x00", "")
	f.Add("^\n^\n", "x")
	f.Fuzz(func(t *testing.T, text, name string) {
		p := packedRefs(text)
		p.lookup(name)
		for found := range p.under(name) {
			if !bytes.HasPrefix(found, []byte(name)) {
				t.Errorf("%q is not under %q", found, name)
			}
		}
	})
}

func TestParseCommit(t *testing.T) {
	c, err := parseCommit([]byte("tree " + oidA + "\nparent " + oidA + "\nparent " + oidB + "\nauthor x <y> 5 +0000\ncommitter a <b>> 1700000000 +0100\ngpgsig x\n parent y\n\nfixes #1\n\nmore"))
	if err != nil || len(c.parents) != 2 || c.date != 1_700_000_000 || string(c.message) != "fixes #1\n\nmore" {
		t.Errorf("%+v, %v", c, err)
	}
	for _, text := range []string{"parent x\n\n", "parent \n"} {
		if _, err := parseCommit([]byte(text)); !errors.Is(err, errDamaged) {
			t.Errorf("parseCommit(%q): %v", text, err)
		}
	}
	for text, want := range map[string]int64{"": 0, "x": 0, "a <b> ": 0, "a <b> 12": 12, "a <b> -5 +0000": 0, "a <b> 99999999999999999999 +0000": 9999999999999999} {
		if got := signatureDate([]byte(text)); got != want {
			t.Errorf("signatureDate(%q) = %d, want %d", text, got, want)
		}
	}
}
