package outgoing

import (
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/sample"
)

// A scenario prepares repositories and returns what git tells the hook.
type scenario struct {
	name    string
	build   func(s *sandbox) (git.Git, Push)
	remotes []string // whose references count; origin when nil
	stale   []string // tracking branches that do not count, beside those of the same names
	gitOnly bool     // the loose objects must not be taken for an answer
	count   int      // how many commits leave
}

// TestReadersAgree: git and the reader of loose objects find the commits that leave by definition.
// An ordinary run plays half of the scenarios.
func TestReadersAgree(t *testing.T) {
	for _, c := range slices.Concat(pushes, places, layouts, messages) {
		if !sample.Plays(c.name, 0, 2) {
			continue
		}

		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			at, p := c.build(s)
			if c.remotes == nil {
				c.remotes = []string{"origin"}
			}

			want := s.expected(at, p, c.remotes, c.stale...)
			if len(want) != c.count {
				t.Errorf("%d commits leave by definition, the scenario says %d", len(want), c.count)
			}

			check(t, at, p, want, c.gitOnly)
		})
	}
}

// check asks both readers, with and without Keep, and the public function.
func check(t *testing.T, at git.Git, p Push, want []string, gitOnly bool) {
	t.Helper()
	byGit, err := askGit(t.Context(), at, p)
	compare(t, "git", byGit, err, want)
	checkLoose(t, at, p, byGit, want, gitOnly)
	all, err := leaving(t.Context(), at, p)
	compare(t, "Commits", all, err, want)
	p.Keep = func([]byte) bool { return false }
	none, err := leaving(t.Context(), at, p)
	none = slices.DeleteFunc(none, func(c Commit) bool { return c.Cut }) // nobody knows what the rest of it says
	compare(t, "Commits, none wanted", none, err, nil)
	p.Keep = func([]byte) bool { return true }
	all, err = leaving(t.Context(), at, p)
	compare(t, "Commits, all wanted", all, err, want)
}

// checkLoose: the loose objects, if they tell the commits at all, miss none that leaves, and have
// the messages that git prints.
func checkLoose(t *testing.T, at git.Git, p Push, byGit []Commit, want []string, gitOnly bool) {
	t.Helper()
	if len(pushed(p.Updates)) == 0 {
		return
	}

	repo, err := openRepository(at)
	if err != nil {
		t.Fatal(err)
	}

	loose, complete := readLoose(t.Context(), at, repo, p)
	if complete && gitOnly {
		t.Error("what must be left to git was read from the loose objects")
	}

	if !complete {
		return
	}
	oids := oidsOf(loose)
	for _, oid := range want {
		if !slices.Contains(oids, oid) {
			t.Errorf("the loose objects miss %s", oid)
		}
	}

	sameMessages(t, loose, byGit)
}

func compare(t *testing.T, who string, got []Commit, err error, want []string) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", who, err)
	}

	if oids := oidsOf(got); !slices.Equal(oids, want) && len(oids)+len(want) > 0 {
		t.Errorf("%s: %d commits %v, want %d %v", who, len(oids), oids, len(want), want)
	}
}

func sameMessages(t *testing.T, a, b []Commit) {
	t.Helper()
	texts := map[string]string{}
	for _, c := range a {
		texts[c.OID] = string(c.Message)
	}

	for _, c := range b {
		if texts[c.OID] != string(c.Message) {
			t.Errorf("message of %s: loose %.80q (%d), git %.80q (%d)", c.OID, texts[c.OID], len(texts[c.OID]),
				c.Message, len(c.Message))
		}
	}
}

func TestBrokenReferenceIsNoObstacle(t *testing.T) {
	s := newSandbox(t)
	s.pair()
	four := s.commit("w", "four")
	at, p := s.push("w", "push", "origin", "main")
	s.write("w/.git/refs/remotes/origin/crashed", "")
	got, err := leaving(t.Context(), at, p)
	compare(t, "Commits", got, err, []string{four})
}

// TestNoRemotes: of a repository that has none, pushed to an address, all history leaves. Its
// configuration includes a file, so that git is asked for the remotes.
func TestNoRemotes(t *testing.T) {
	s := newSandbox(t)
	s.pair()
	four := s.commit("w", "four")
	all := slices.Sorted(slices.Values(strings.Fields(s.git("w", "rev-list", four))))
	s.git("w", "remote", "remove", "origin")
	s.git("w", "config", "include.path", "none")
	at, p := s.push("w", "push", s.path("hub"), "main:refs/heads/x")
	got, err := leaving(t.Context(), at, p)
	compare(t, "Commits", got, err, all)
}

func TestMissingObjectIsAnError(t *testing.T) {
	s := newSandbox(t)
	s.pair()
	at, p := s.push("w", "push", "origin", "main:refs/heads/x")
	p.Updates[0].LocalOID = strings.Repeat("ab", 20)
	if _, _, err := Commits(t.Context(), at, p); err == nil {
		t.Error("a pushed object that is not there went unnoticed")
	}
}

func TestSubject(t *testing.T) {
	for message, want := range map[string]string{
		"": "", "\n\n": "", "one": "one", "\n  one \ntwo": "one", "one\n\ntwo": "one",
	} {
		if got := (Commit{Message: []byte(message)}).Subject(); got != want {
			t.Errorf("Subject(%q) = %q, want %q", message, got, want)
		}
	}
}
