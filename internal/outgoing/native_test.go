package outgoing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// longHistory is a repository of n commits in a line with merges, and a push of its newest; tracked are the commits that
// the remote has branches on.
func longHistory(s *sandbox, n, graph int, tracked []int) (at Location, p Push, want, oids []string) {
	s.t.Helper()
	d := line(n)
	d.graph = graph
	oids = s.importDrawing("r", d, tracked)
	p = Push{Remote: "origin", URL: "https://example.com/x", Updates: []Update{
		{LocalRef: "HEAD", LocalOID: oids[n-1], RemoteRef: "refs/heads/new", RemoteOID: zeroID},
	}}
	for _, i := range d.difference([]int{n - 1}, tracked) {
		want = append(want, oids[i])
	}
	slices.Sort(want)
	return Location{Dir: s.path("r"), Env: s.environ()}, p, want, oids
}

func TestLongWalksAreHandedToGit(t *testing.T) {
	const n = 2000
	for _, c := range []struct {
		name         string
		tracked      []int
		graph        int
		native       bool
		wanted, kept int // kept: how many messages of the outgoing commits end in 7
	}{
		{name: "first push", native: true, wanted: n, kept: n / 10},
		{name: "a thousand commits", tracked: []int{n - 1001}, native: true, wanted: 1000, kept: 100},
		{name: "many branches, all old", tracked: span(0, n-1000, 1), wanted: 1000, kept: 100},
		{name: "many branches, one near", tracked: append(span(0, n-1000, 1), n-6), wanted: 5, kept: 1},
		{name: "old base, inside a commit-graph", tracked: []int{n - 101}, graph: n, native: true, wanted: 100, kept: 10},
		{name: "many branches, inside a commit-graph", tracked: span(0, n-100, 1), graph: n, native: true, wanted: 100, kept: 10},
		{name: "many branches, on a commit-graph", tracked: span(0, n-100, 1), graph: n - 50, native: true, wanted: 100, kept: 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			at, p, want, _ := longHistory(newSandbox(t), n, c.graph, c.tracked)
			if len(want) != c.wanted {
				t.Fatalf("%d commits leave, want %d", len(want), c.wanted)
			}
			_, err := readNative(t.Context(), at, p)
			var far *tooFar
			if errors.As(err, &far) == c.native {
				t.Errorf("native: %v", err)
			}
			all, err := collect(func(yield func(Commit) bool) error { return Commits(t.Context(), at, p, yield) })
			compare(t, "Commits", all, err, want)
			p.Keep = func(m []byte) bool { return strings.HasSuffix(string(m), "7\n") }
			some, err := collect(func(yield func(Commit) bool) error { return Commits(t.Context(), at, p, yield) })
			if err != nil || len(some) != c.kept {
				t.Errorf("Commits, with Keep: %d, %v; want %d", len(some), err, c.kept)
			}
			p.Keep = func([]byte) bool { return false }
			none, err := collect(func(yield func(Commit) bool) error { return Commits(t.Context(), at, p, yield) })
			compare(t, "Commits, none wanted", none, err, nil)
		})
	}
}

func TestOldBaseIsHandedToGit(t *testing.T) {
	const n = maxHidden + 1000
	for _, graph := range []int{0, n} {
		s := newSandbox(t)
		at, p, _, oids := longHistory(s, n, graph, []int{n - 1})
		p.Updates[0].LocalOID = s.git("r", "commit-tree", "-p", oids[500], "-m", "old base", oids[0]+"^{tree}")
		_, err := readNative(t.Context(), at, p)
		var far *tooFar
		if errors.As(err, &far) != (graph == 0) {
			t.Errorf("%d commits in the commit-graph: %v", graph, err)
		}
		got, err := collect(func(yield func(Commit) bool) error { return Commits(t.Context(), at, p, yield) })
		compare(t, "Commits", got, err, []string{p.Updates[0].LocalOID})
		for _, wanted := range []bool{false, true} {
			p.Keep = func([]byte) bool { return wanted }
			got, err := collect(func(yield func(Commit) bool) error { return Commits(t.Context(), at, p, yield) })
			if err != nil || (len(got) > 0) != wanted {
				t.Errorf("Commits, when all are wanted %v: %v, %v", wanted, got, err)
			}
		}
	}
}

func TestVeryLargePushIsHandedToGit(t *testing.T) {
	at, p, want, _ := longHistory(newSandbox(t), maxPushed+100, 0, nil)
	_, err := readNative(t.Context(), at, p)
	var far *tooFar
	if !errors.As(err, &far) {
		t.Errorf("native: %v", err)
	}
	got, err := collect(func(yield func(Commit) bool) error { return Commits(t.Context(), at, p, yield) })
	compare(t, "Commits", got, err, want)
}

func TestLikelyTipsComeFirstWhenTheRemoteHasManyBranches(t *testing.T) {
	const n = 900
	s := newSandbox(t)
	at, p, want, oids := longHistory(s, n, 0, append(span(0, 150, 1), n-101))
	s.git("r", "update-ref", "refs/remotes/origin/main", oids[n-111])
	p.Keep = func(m []byte) bool { return string(m) == fmt.Sprintf("commit %d\n", n-105) }
	// The commit is beyond main as far as the likely branches tell, and not beyond all branches.
	got, err := readNative(t.Context(), at, p)
	compare(t, "native", got, err, nil)
	got, err = collect(func(yield func(Commit) bool) error {
		return readGit(t.Context(), at, p, question{send: oids[n-1:], hide: []string{oids[n-111]}, likely: true}, yield)
	})
	compare(t, "git", got, err, nil)
	p.Keep = nil
	got, err = readNative(t.Context(), at, p)
	compare(t, "native, all", got, err, want)
}

func TestEverydayPushReadsLittle(t *testing.T) {
	s := newSandbox(t)
	at, p, _, oids := longHistory(s, 5000, 0, span(0, 4900, 10))
	p.Updates[0].RemoteOID = oids[4996]
	p.Keep = func([]byte) bool { return false }
	n, err := openNative(at, p)
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	if got, err := n.commits(t.Context()); err != nil || len(got) > 0 {
		t.Fatalf("%v, %v", got, err)
	}
	if n.objects.reads > 3 {
		t.Errorf("%d objects read for a push of three commits", n.objects.reads)
	}
}

func TestManyBranchesStayUnreadWhenNothingIsWanted(t *testing.T) {
	s := newSandbox(t)
	at, p, _, oids := longHistory(s, 900, 0, span(0, 700, 1))
	s.git("r", "update-ref", "refs/remotes/origin/main", oids[800])
	p.Keep = func([]byte) bool { return false }
	n, err := openNative(at, p)
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	if got, err := n.commits(t.Context()); err != nil || len(got) > 0 {
		t.Fatalf("%v, %v", got, err)
	}
	if n.objects.reads > 150 {
		t.Errorf("%d objects read for a push of 99 commits", n.objects.reads)
	}
}

func TestCommitsComeNewestFirst(t *testing.T) {
	at, p, _, _ := longHistory(newSandbox(t), 100, 0, []int{50})
	for name, read := range map[string]func(func(Commit) bool) error{
		"Commits": func(yield func(Commit) bool) error { return Commits(t.Context(), at, p, yield) },
		"git":     func(yield func(Commit) bool) error { return askGit(t.Context(), at, p, yield) },
	} {
		got, err := collect(read)
		if err != nil || len(got) != 49 || got[0].Subject() != "commit 99" || got[48].Subject() != "commit 51" {
			t.Errorf("%s: %d commits, %v", name, len(got), err)
		}
	}
}

func TestCancelledContext(t *testing.T) {
	at, p, _, _ := longHistory(newSandbox(t), 50, 0, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range map[string]error{
		"Commits": Commits(ctx, at, p, func(Commit) bool { return true }),
		"git":     askGit(ctx, at, p, func(Commit) bool { return true }),
	} {
		if !errors.Is(err, context.Canceled) {
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
	} {
		s := newSandbox(t)
		at, p, want, _ := longHistory(s, 30, 0, []int{10})
		s.write("r/"+c.file, c.text)
		got, err := collect(func(yield func(Commit) bool) error { return Commits(t.Context(), at, p, yield) })
		compare(t, c.name, got, err, want)
	}
}

func TestNobodyCanReadIt(t *testing.T) {
	s := newSandbox(t)
	at, p, _, _ := longHistory(s, 3, 0, nil)
	s.write("r/config", "[core\n")
	if err := Commits(t.Context(), at, p, func(Commit) bool { return true }); err == nil {
		t.Error("a broken configuration went unnoticed")
	}
	at.Dir = t.TempDir()
	if err := Commits(t.Context(), at, p, func(Commit) bool { return true }); err == nil {
		t.Error("a push from nowhere went unnoticed")
	}
}
