package outgoing

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/sample"
)

// TestReadersOnRandomHistories writes drawn histories into real repositories. Git, which ends its
// walk by dates, must give at least the set difference, and exactly that when the clocks were
// right. Loose objects, if they tell all commits, must miss none.
func TestReadersOnRandomHistories(t *testing.T) {
	s := newSandbox(t)
	n := 0
	sample.Checks(t, 20)
	rapid.Check(t, func(rt *rapid.T) {
		n++
		folder := fmt.Sprint("r", n)
		d := drawHistory(rt, 40)
		push, known, tracked := drawTips(rt, d, "push", 1), drawTips(rt, d, "known", 0), drawTips(rt, d, "tracked", 0)
		oids := s.importDrawing(folder, d, tracked)
		defer os.RemoveAll(s.path(folder))
		p := Push{Remote: "origin", URL: "https://example.com/x"}

		// so many tracking branches are of references that are pushed
		updated := rapid.IntRange(0, len(push)).Draw(rt, "updated")
		for i, tip := range push {
			u := Update{
				LocalRef:  "HEAD",
				LocalOID:  oids[tip],
				RemoteRef: fmt.Sprint("refs/heads/p", i),
				RemoteOID: zeroID,
			}

			if i < len(known) {
				u.RemoteOID = oids[known[i]]
			}

			if i < updated {
				u.RemoteRef = "refs/heads/" + trackedName(i)
			}
			p.Updates = append(p.Updates, u)
		}

		var want []string
		for _, i := range d.difference(push,
			slices.Concat(known[:min(len(known), len(push))], tracked[min(updated, len(tracked)):])) {
			want = append(want, oids[i])
		}

		slices.Sort(want)
		at := git.Git{Dir: s.path(folder), Env: s.environ()}
		byGit, err := askGit(t.Context(), at, p)
		more := slices.DeleteFunc(oidsOf(byGit), func(oid string) bool { return slices.Contains(want, oid) })
		if err != nil || len(byGit)-len(more) != len(want) || (d.sane() && len(more) > 0) {
			rt.Fatalf("git: %v, %v, want %v", oidsOf(byGit), err, want)
		}

		loose, complete := readLoose(t.Context(), at, repository(at.Dir), p)
		for _, oid := range want {
			if complete && !slices.Contains(oidsOf(loose), oid) {
				rt.Fatalf("loose objects: %v, want %v", oidsOf(loose), want)
			}
		}

		for _, oid := range want {
			message := fmt.Sprintf("commit %d\n", slices.Index(oids, oid))
			p.Keep = func(m []byte) bool { return string(m) == message }
			one, err := leaving(t.Context(), at, p)
			if err != nil || !slices.Equal(oidsOf(one), []string{oid}) {
				rt.Fatalf("Commits, one wanted: %v, %v, want %s", oidsOf(one), err, oid)
			}
		}

		p.Keep = func([]byte) bool { return false }
		none, err := leaving(t.Context(), at, p)
		if err != nil || len(none) > 0 {
			rt.Fatalf("Commits, none wanted: %v, %v", oidsOf(none), err)
		}
	})
}

// trackedName is the branch of the remote at the tracked commit of a number; the first is one that
// pushes most likely build on.
func trackedName(i int) string {
	if i == 0 {
		return "main"
	}
	return fmt.Sprint("t", i)
}

// sane reports whether no commit is older than a parent.
func (d *drawing) sane() bool {
	for i, parents := range d.parents {
		for _, p := range parents {
			if d.dates[p] > d.dates[i] {
				return false
			}
		}
	}

	return true
}

// importDrawing makes a bare repository of a drawing, with remote-tracking references at the given
// commits and, when the drawing has a part in one, a commit-graph of that part. It returns the
// commits' ids.
func (s *sandbox) importDrawing(folder string, d *drawing, tracked []int) []string {
	s.t.Helper()
	s.git(".", "init", "--quiet", "--bare", "-b", "main", folder)
	var stream strings.Builder
	for i, parents := range d.parents {
		fmt.Fprintf(&stream, "reset refs/heads/x\ncommit refs/heads/x\nmark :%d\n", i+1)
		fmt.Fprintf(&stream, "committer a <a@b> %d +0000\ndata <<E\ncommit %d\nE\n", d.dates[i], i)
		for j, p := range parents {
			fmt.Fprintf(&stream, "%s :%d\n", []string{"from", "merge"}[min(j, 1)], p+1)
		}
		stream.WriteString("\n")
	}

	marks := filepath.Join(s.dir, folder, "marks")
	if _, err := s.run(folder, stream.String(), "-c", "fastimport.unpackLimit=20", "fast-import", "--quiet", "--force",
		"--export-marks="+marks); err != nil {
		s.t.Fatal(err)
	}

	text, err := os.ReadFile(marks)
	if err != nil {
		s.t.Fatal(err)
	}

	oids := make([]string, len(d.parents))
	for line := range strings.Lines(string(text)) {
		var mark int
		var oid string
		if _, err := fmt.Sscanf(line, ":%d %s", &mark, &oid); err != nil {
			s.t.Fatal(err)
		}
		oids[mark-1] = oid
	}

	packed := "# pack-refs with: peeled fully-peeled sorted \n"
	names := map[string]string{}
	for i, tip := range tracked {
		names["refs/remotes/origin/"+trackedName(i)] = oids[tip]
	}

	for _, name := range slices.Sorted(maps.Keys(names)) {
		packed += names[name] + " " + name + "\n"
	}
	s.write(folder+"/packed-refs", packed)
	if d.graph > 0 {
		s.writeGraph(folder, oids[:d.graph])
	}

	return oids
}

// writeGraph writes a commit-graph, or another layer of one, of these commits and their ancestors.
func (s *sandbox) writeGraph(folder string, oids []string, args ...string) {
	s.t.Helper()
	args = append([]string{"commit-graph", "write", "--stdin-commits"}, args...)
	if _, err := s.run(folder, strings.Join(oids, "\n")+"\n", args...); err != nil {
		s.t.Fatal(err)
	}
}
