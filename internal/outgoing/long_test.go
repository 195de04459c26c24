package outgoing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/git"
)

// longHistory is a repository of n commits in a line with merges, and a push of its newest; tracked
// are the commits that the remote has branches on.
func longHistory(s *sandbox, n, graph int, tracked []int) (at git.Git, p Push, want, oids []string) {
	s.t.Helper()
	d := line(n)
	d.graph = graph
	oids = s.importDrawing("r", d, tracked)
	p = Push{Remote: "origin", URL: "https://example.com/x", Updates: []Update{
		{
			LocalRef:  "HEAD",
			LocalOID:  oids[n-1],
			RemoteRef: "refs/heads/new",
			RemoteOID: zeroID,
		},
	}}

	for _, i := range d.difference([]int{n - 1}, tracked) {
		want = append(want, oids[i])
	}
	slices.Sort(want)

	return git.Git{Dir: s.path("r"), Env: s.environ()}, p, want, oids
}

func TestLongHistories(t *testing.T) {
	const n = 2000
	for _, c := range []struct {
		name         string
		tracked      []int
		graph        int
		wanted, kept int // kept: how many messages of the outgoing commits end in 7
	}{
		{name: "first push", wanted: n, kept: n / 10},
		{
			name:    "a thousand commits",
			tracked: []int{n - 1001},
			wanted:  1000,
			kept:    100,
		},
		{
			name:    "many branches, all old",
			tracked: span(0, n-1000, 1),
			wanted:  1000,
			kept:    100,
		},
		{
			name:    "many branches, one near",
			tracked: append(span(0, n-1000, 1), n-6),
			wanted:  5,
			kept:    1,
		},
		{
			name:    "old base, inside a commit-graph",
			tracked: []int{n - 101},
			graph:   n,
			wanted:  100,
			kept:    10,
		},
		{
			name:    "many branches, on a commit-graph",
			tracked: span(0, n-100, 1),
			graph:   n - 50,
			wanted:  100,
			kept:    10,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			at, p, want, _ := longHistory(newSandbox(t), n, c.graph, c.tracked)
			if len(want) != c.wanted {
				t.Fatalf("%d commits leave, want %d", len(want), c.wanted)
			}

			all, err := leaving(t.Context(), at, p)
			compare(t, "Commits", all, err, want)
			p.Keep = func(m []byte) bool { return strings.HasSuffix(string(m), "7\n") }
			some, err := leaving(t.Context(), at, p)
			if err != nil || len(some) != c.kept {
				t.Errorf("Commits, with Keep: %d, %v; want %d", len(some), err, c.kept)
			}

			p.Keep = func([]byte) bool { return false }
			none, err := leaving(t.Context(), at, p)
			compare(t, "Commits, none wanted", none, err, nil)
		})
	}
}

// TestLikelyTipsAreNotAll: of many branches, the likely ones are asked for first. A commit that
// they do not have, and another branch has, does not leave.
func TestLikelyTipsAreNotAll(t *testing.T) {
	const n = 900
	s := newSandbox(t)
	at, p, want, oids := longHistory(s, n, 0, append(span(0, 150, 1), n-101))
	s.git("r", "update-ref", "refs/remotes/origin/main", oids[n-111])
	s.manyReferences("r", oids[0])
	p.Keep = func(m []byte) bool { return string(m) == fmt.Sprintf("commit %d\n", n-105) }
	found, exact, err := Commits(t.Context(), at, p)
	if err != nil || exact || len(found) != 1 {
		t.Errorf("%d commits, exact %t, %v; want one that may leave", len(found), exact, err)
	}
	got, err := leaving(t.Context(), at, p)
	compare(t, "one wanted", got, err, nil)

	p.Keep = nil // more than GitHub is asked about in vain
	got, exact, err = Commits(t.Context(), at, p)
	compare(t, "all", got, err, want)
	if !exact {
		t.Error("all: not exact")
	}
}

// manyReferences adds packed references to a git directory, so that git is asked for the likely
// tips first.
func (s *sandbox) manyReferences(folder, oid string) {
	s.t.Helper()
	refs, err := os.ReadFile(s.path(folder + "/packed-refs"))
	if err != nil {
		s.t.Fatal(err)
	}

	header, rest, _ := strings.Cut(string(refs), "\n")
	for i := range 2000 {
		header += fmt.Sprintf("\n%s refs/heads/b%04d", oid, i)
	}

	s.write(folder+"/packed-refs", header+"\n"+rest)
	if repository(s.path(folder)).fewReferences() {
		s.t.Fatal("the references are too few to be a test")
	}
}

// TestStaleLikelyTip: the tracking branches of what is pushed are not tips, neither the likely ones
// nor among all; nor is HEAD, which is one of them.
func TestStaleLikelyTip(t *testing.T) {
	for _, many := range []bool{false, true} {
		for _, branch := range []string{"main", "trunk"} {
			s := newSandbox(t)
			s.pair()
			s.git("w", "push", "--quiet", "origin", "main:refs/heads/"+branch)
			s.git("w", "remote", "set-head", "origin", branch)

			for _, known := range []string{"main", "trunk"} {
				s.run("hub", "", "update-ref", "-d", "refs/heads/"+known)
				if known != branch {
					s.run("w", "", "update-ref", "-d", "refs/remotes/origin/"+known)
				}
			}

			s.git("w", "pack-refs", "--all")
			if many {
				s.manyReferences("w/.git", s.git("w", "rev-parse", "main"))
			}

			at, p := s.push("w", "push", "origin", "main:refs/heads/"+branch)
			for _, wanted := range []bool{true, false} {
				p.Keep = func([]byte) bool { return wanted }
				got, err := askGit(t.Context(), at, p)
				if err != nil || wanted != (len(got) == 3) {
					t.Errorf("%s, many references %t: %d commits, %v", branch, many, len(got), err)
				}
			}
		}
	}
}

// TestPushOfVeryManyReferences: more than git gets as arguments.
func TestPushOfVeryManyReferences(t *testing.T) {
	const n = 700
	s := newSandbox(t)
	at, p, _, oids := longHistory(s, n, 0, nil)
	s.git("r", "update-ref", "refs/remotes/origin/main", oids[9])
	p.Updates = nil

	for i := range maxArguments + 100 {
		p.Updates = append(p.Updates, Update{
			LocalRef: "x", LocalOID: oids[i+50], RemoteRef: fmt.Sprint("refs/heads/b", i), RemoteOID: oids[i+20],
		})
	}

	var want []string // what the newest has and the newest of the remote has not
	for _, i := range line(n).difference([]int{maxArguments + 149}, []int{maxArguments + 119}) {
		want = append(want, oids[i])
	}

	slices.Sort(want)
	got, err := leaving(t.Context(), at, p)
	compare(t, "Commits", got, err, want)
}

// TestEverydayPushNeedsNoGit: new commits on a branch that the remote has, on what it most likely
// has, and a first push of a few are read without git.
func TestEverydayPushNeedsNoGit(t *testing.T) {
	s := newSandbox(t)
	s.pair()
	s.git("w", "gc", "--quiet")
	s.git(".", "init", "--quiet", "-b", "main", "first")
	s.git("first", "remote", "add", "origin", s.path("hub"))
	s.commit("first", "one")

	for _, c := range []struct {
		name, folder string
		before       []string // commands
		push         string
	}{
		{"first", "first", nil, "main:refs/heads/first"},
		{"new branch on a packed reference", "w", []string{"checkout --quiet -b fix", "commit --quiet --allow-empty -m fix"}, "fix"},
		{"existing branch", "w", []string{"push --quiet origin fix", "commit --quiet --allow-empty -m more"}, "fix"},
		{"new branch on a loose reference", "w", []string{
			"checkout --quiet main", "commit --quiet --allow-empty -m four", "push --quiet origin main",
			"checkout --quiet -b mend", "commit --quiet --allow-empty -m mend",
		}, "mend"},
		{"main merged in", "w", []string{"checkout --quiet fix", "merge --quiet --no-edit origin/main"}, "fix"},
	} {
		for _, command := range c.before {
			s.git(c.folder, strings.Fields(command)...)
		}

		at, p := s.push(c.folder, "push", "origin", c.push)
		at.Env = slices.DeleteFunc(at.Env, func(kv string) bool {
			return strings.HasPrefix(kv, "PATH=") || strings.HasPrefix(kv, "GIT_EXEC_PATH=")
		})
		p.Keep = func([]byte) bool { return false }
		got, err := leaving(t.Context(), at, p)
		compare(t, c.name, got, err, nil)
		p.Keep = nil
		if _, _, err := Commits(t.Context(), at, p); err == nil {
			t.Errorf("%s: which commits the remote has was told without git", c.name)
		}
	}
}

func TestCommitsComeNewestFirst(t *testing.T) {
	at, p, _, _ := longHistory(newSandbox(t), 100, 0, []int{50})
	for name, read := range map[string]func(context.Context, git.Git, Push) ([]Commit, error){
		"Commits": leaving,
		"git":     askGit,
	} {
		got, err := read(t.Context(), at, p)
		if err != nil || len(got) != 49 || got[0].Subject() != "commit 99" || got[48].Subject() != "commit 51" {
			t.Errorf("%s: %d commits, %v", name, len(got), err)
		}
	}
}

func TestCancelledContext(t *testing.T) {
	at, p, _, _ := longHistory(newSandbox(t), 50, 0, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	for name, read := range map[string]func(context.Context, git.Git, Push) ([]Commit, error){
		"Commits": leaving,
		"git":     askGit,
	} {
		if _, err := read(ctx, at, p); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDamageIsNoObstacle(t *testing.T) {
	for _, c := range []struct{ name, file, text string }{
		{"commit-graph", "objects/info/commit-graph", "CGPH\x01\x01\x09\x00"},
		{"chain of commit-graphs", "objects/info/commit-graphs/commit-graph-chain", oidA + "\n"},
		{"quoted alternates", "objects/info/alternates", "\"quoted\"\n"},
		{"index of a pack", "objects/pack/pack-x.idx", "\xfftOc\x00\x00\x00\x02"},
		{"empty reference", "refs/remotes/origin/crashed", ""},
	} {
		s := newSandbox(t)
		at, p, want, _ := longHistory(s, 30, 0, []int{10})
		s.write("r/"+c.file, c.text)
		got, err := leaving(t.Context(), at, p)
		compare(t, c.name, got, err, want)
	}
}

func TestNobodyCanReadIt(t *testing.T) {
	s := newSandbox(t)
	at, p, _, _ := longHistory(s, 3, 0, nil)
	s.write("r/config", "[core\n")
	if _, _, err := Commits(t.Context(), at, p); err == nil {
		t.Error("a broken configuration went unnoticed")
	}

	s.write("r/config", "[fetch\n")
	if _, err := Leaving(t.Context(), at, p, nil); err == nil {
		t.Error("a broken configuration went unnoticed the second time")
	}

	at.Dir = t.TempDir()
	_, _, err := Commits(t.Context(), at, p)
	_, again := Leaving(t.Context(), at, p, nil)
	if err == nil || again == nil {
		t.Error("a push from nowhere went unnoticed")
	}

	if found, exact, err := Commits(t.Context(), at, Push{}); len(found) > 0 || !exact || err != nil {
		t.Errorf("a push of nothing: %v, %t, %v", found, exact, err)
	}
}
