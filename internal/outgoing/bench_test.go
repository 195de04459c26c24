package outgoing

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/git"
)

// bigPair is a repository of n packed commits, each with a tree that differs, with main on the
// remote and three new commits on top; many further branches of the remote are spread over the
// history.
func bigPair(b *testing.B, n, branches int) (*sandbox, git.Git, Push) {
	b.Helper()
	s := newSandbox(b)
	s.git(".", "init", "--quiet", "--bare", "-b", "main", "r")
	s.git("r", "remote", "add", "origin", s.path("hub"))
	var stream strings.Builder
	for i := range n {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter a <a@b> %d +0000\ndata <<E\nChange %d\n\nSee #%d.\nE\n",
			s.clock+int64(i)*60, i, i)
		fmt.Fprintf(&stream, "M 644 inline f%d\ndata <<E\n%d\nE\n\n", i%50, i)
		if branches > 0 && i%(n/branches) == 0 {
			fmt.Fprintf(&stream, "reset refs/remotes/origin/b%d\nfrom refs/heads/main\n\n", i)
		}
	}

	fmt.Fprint(&stream, "reset refs/remotes/origin/main\nfrom refs/heads/main\n\n")
	if _, err := s.run("r", stream.String(), "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet"); err != nil {
		b.Fatal(err)
	}

	s.git("r", "repack", "--quiet", "-a", "-d")
	s.git("r", "pack-refs", "--all")
	s.clock += int64(n) * 60
	old := s.git("r", "rev-parse", "main")
	tip := old
	for i := range 3 {
		s.clock += 60
		tip = s.git("r", "commit-tree", "-p", tip, "-m", fmt.Sprint("new ", i), "main^{tree}")
	}

	p := Push{Remote: "origin", URL: s.path("hub"), Updates: []Update{{
		LocalRef:  "main",
		LocalOID:  tip,
		RemoteRef: "refs/heads/main",
		RemoteOID: old,
	}}}

	return s, git.Git{Dir: s.path("r"), Env: s.environ()}, p
}

func BenchmarkEverydayPush(b *testing.B) {
	for _, size := range []struct {
		name              string
		commits, branches int
	}{{"5000 commits", 5000, 5}, {"5000 commits, 2500 branches", 5000, 2500}} {
		s, at, p := bigPair(b, size.commits, size.branches)
		none, all := p, p
		none.Keep = func(m []byte) bool { return bytes.Contains(m, []byte("Fixes #")) }
		all.Keep = func([]byte) bool { return true }
		far := all
		far.Updates = []Update{{
			LocalRef:  "x",
			LocalOID:  s.git("r", "commit-tree", "-p", "main~2300", "-m", "x", "main^{tree}"),
			RemoteRef: "refs/heads/x",
			RemoteOID: zeroID,
		}}
		first := p
		first.Remote, first.URL = "nowhere", "nowhere"
		first.Updates = []Update{{
			LocalRef:  "x",
			LocalOID:  p.Updates[0].LocalOID,
			RemoteRef: "refs/heads/x",
			RemoteOID: zeroID,
		}}

		for _, c := range []struct {
			name string
			push Push
		}{{"nothing wanted", none}, {"all wanted", all}, {"old base", far}, {"first push", first}} {
			b.Run(size.name+"/"+c.name+"/ours", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := Commits(b.Context(), at, c.push); err != nil {
						b.Fatal(err)
					}
				}
			})

			b.Run(size.name+"/"+c.name+"/git rev-list", func(b *testing.B) {
				for b.Loop() {
					cmd := exec.CommandContext(b.Context(), "git", "rev-list", c.push.Updates[0].LocalOID, "--not",
						"--remotes="+c.push.Remote)
					cmd.Dir, cmd.Env = at.Dir, at.Env
					if err := cmd.Run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
