//go:build unix

package outgoing

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/sample"
	"github.com/label-state/label-state/internal/smallfile"
)

// TestNothingIsWaitedFor: a pipe, a device or a file without an end in the place of one of git's
// own is neither opened nor read to its end, by us or by git: the answer is that it could not be
// read.
func TestNothingIsWaitedFor(t *testing.T) {
	kinds := []struct {
		name string
		put  func(string) error
	}{
		{"pipe", func(path string) error { return syscall.Mkfifo(path, 0o600) }},
		{"device", func(path string) error { return os.Symlink("/dev/zero", path) }},
		{"huge", func(path string) error {
			f, err := os.Create(path)
			return errors.Join(err, f.Truncate(64<<30), f.Close())
		}},
	}

	for _, c := range []struct {
		name string
		huge bool // how large it is does not matter, since parts of it are read
	}{
		{name: "packed-refs"},
		{name: "config"},
		{name: "objects/info/alternates"},
		{name: "shallow", huge: true},
		{name: "info/grafts", huge: true},
		{name: "refs/remotes/origin/main", huge: true},
		{name: "refs/remotes/origin/team/x", huge: true},
		{name: "objects/info/commit-graph", huge: true},
		{name: "objects/info/commit-graphs/commit-graph-chain"},
		{name: "objects/pack/pack-1.idx", huge: true},
		{name: "objects/COMMIT", huge: true},
	} {
		for n, kind := range kinds {
			if kind.name == "huge" && c.huge || !sample.Plays(c.name, n, len(kinds)) {
				continue
			}

			t.Run(c.name+" is a "+kind.name, func(t *testing.T) {
				s := newSandbox(t)
				s.pair()
				s.commit("w", "Closes #1")
				at, p := s.push("w", "push", "origin", "HEAD:refs/heads/new")
				oid := p.Updates[0].LocalOID
				path := s.path("w/.git/" + strings.Replace(c.name, "COMMIT", oid[:2]+"/"+oid[2:], 1))
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.RemoveAll(path),
					kind.put(path)); err != nil {
					t.Fatal(err)
				}

				ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
				defer stop()
				got, err := collect(func(yield func(Commit) bool) error { return Commits(ctx, at, p, yield) })
				var irregular *smallfile.IrregularError
				var large *smallfile.LargeError
				if !errors.As(err, &irregular) && !errors.As(err, &large) {
					t.Errorf("%v, %v; want why the file is not read", got, err)
				}
			})
		}
	}
}
