package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/state"
)

func hold(number int) state.Hold {
	at := func(minute int) time.Time { return time.Date(2026, 5, 1, 19, minute, 17, 0, time.UTC) }
	return state.Hold{
		Issue:   claim.Issue{Owner: "Acme", Repo: "app.web", Number: number},
		Worker:  claim.Worker{Codename: "lucius", FiringID: "20260501-194217-643a"},
		Nonce:   "7f3a9c1e",
		Comment: 1 << 40,
		URL:     "https://x/1",
		Token:   7,
		TTL:     4 * time.Hour,
		Branch:  "fix/retry",
		Since:   at(41),
		Until:   time.Date(2026, 5, 1, 23, 42, 17, 0, time.UTC),
		Beat: agenthost.Beat{
			Session: agenthost.Session{Host: agenthost.ClaudeCode, ID: "s1"},
			Claimed: at(42),
			Renewed: at(43),
			Tried:   at(44),
			Ended:   at(45),
			Passed:  true,
			Lost:    "somebody has it",
			Refused: "held",
			Unsure:  true,
			Tell:    "stop",
		},
	}
}

func TestSaveLoadRemove(t *testing.T) {
	s := state.OpenHolds(t.TempDir())
	for _, h := range []state.Hold{hold(1), {
		Issue:   hold(2).Issue,
		Worker:  hold(2).Worker,
		Comment: 1,
		TTL:     claim.NoExpiry,
	}} {
		if _, ok, err := s.Load(h.Issue); ok || err != nil {
			t.Fatalf("Load before Save = %v, %v", ok, err)
		}

		if err := s.Save(h); err != nil {
			t.Fatal(err)
		}
		other := claim.Issue{Owner: "ACME", Repo: "App.Web", Number: h.Issue.Number}
		if got, ok, err := s.Load(other); err != nil || !ok || got != h {
			t.Errorf("Load(%s) = %+v, %v, %v; want %+v", other, got, ok, err, h)
		}
	}

	if err := s.Past().Save(hold(3)); err != nil {
		t.Error(err)
	}

	for _, i := range []claim.Issue{hold(1).Issue, hold(2).Issue, hold(2).Issue, hold(3).Issue} {
		if err := s.Remove(i); err != nil {
			t.Errorf("Remove(%s): %v", i, err)
		}
	}

	if all, err := s.All(); err != nil || len(all) != 0 {
		t.Errorf("All after Remove = %v, %v", all, err)
	}

	if past, err := s.Past().All(); err != nil || !slices.Equal(past, []state.Hold{hold(3)}) {
		t.Errorf("Past = %v, %v", past, err)
	}
}

// TestOver: a lease is over by this machine's clock after its ttl, if a session has extended it.
func TestOver(t *testing.T) {
	renewed := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		ttl     time.Duration
		renewed time.Time
		after   time.Duration
		want    bool
	}{
		{time.Hour, renewed, time.Hour, false},
		{time.Hour, renewed, time.Hour + 1, true},
		{0, renewed, 1, true},
		{claim.NoExpiry, renewed, 1e18, false},
		{time.Hour, time.Time{}, 1e18, false},
	} {
		h := state.Hold{TTL: c.ttl, Beat: agenthost.Beat{Renewed: c.renewed}}
		if got := h.Over(renewed.Add(c.after)); got != c.want {
			t.Errorf("%s after a heartbeat at %s, of %s: over is %v", c.after, c.renewed, c.ttl, got)
		}
	}
}

// TestRemoveMarkFirst: a hold whose mark cannot be removed keeps its record, so that no later hold
// of the issue finds the mark.
func TestRemoveMarkFirst(t *testing.T) {
	dir := t.TempDir()
	s, h := state.OpenHolds(dir), hold(1)
	if err := errors.Join(s.Save(h), s.MarkUntouched(h.Issue)); err != nil {
		t.Fatal(err)
	}

	if !s.Untouched(h.Issue) {
		t.Error("Untouched does not see the mark")
	}

	marks, err := filepath.Glob(filepath.Join(dir, "label-state", "holds", "*.untouched"))
	if err != nil || len(marks) != 1 {
		t.Fatalf("marks %v, %v", marks, err)
	}

	if err := errors.Join(os.Remove(marks[0]), os.MkdirAll(filepath.Join(marks[0], "in the way"), 0o700)); err != nil {
		t.Fatal(err)
	}

	if err := s.Remove(h.Issue); err == nil || !strings.HasPrefix(err.Error(), "remove hold of Acme/app.web#1: ") {
		t.Errorf("Remove of a mark that cannot be removed: %v", err)
	}

	if _, ok, err := s.Load(h.Issue); !ok || err != nil {
		t.Errorf("Load = %v, %v; the record is gone and its mark is not", ok, err)
	}

	if err := errors.Join(os.RemoveAll(marks[0]), s.MarkUntouched(h.Issue), s.Remove(h.Issue)); err != nil {
		t.Error(err)
	}

	if _, ok, _ := s.Load(h.Issue); ok || s.Untouched(h.Issue) {
		t.Error("Remove left the record or the mark")
	}
}

// TestAnyHold saves and loads whatever a ledger could hand over.
func TestAnyHold(t *testing.T) {
	s := state.OpenHolds(t.TempDir())
	rapid.Check(t, func(t *rapid.T) {
		h := state.Hold{
			Issue: claim.Issue{
				Owner:  rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9_-]{0,38}`).Draw(t, "owner"),
				Repo:   rapid.StringMatching(`[A-Za-z0-9_-][A-Za-z0-9._-]{0,60}`).Draw(t, "repo"),
				Number: rapid.IntRange(1, 1<<53-1).Draw(t, "number"),
			},
			Worker: claim.Worker{
				Codename: rapid.StringMatching(`[a-z][a-z._/-]{0,20}`).Draw(t, "codename"),
				FiringID: rapid.StringMatching(`[0-9][0-9:-]{0,20}`).Draw(t, "firing id"),
			},
			Comment: rapid.Int64Range(1, 1<<62).Draw(t, "comment"),
			Token:   rapid.Int64Range(0, 1<<62).Draw(t, "token"),
			URL:     rapid.String().Draw(t, "url"),
			Branch:  rapid.String().Draw(t, "branch"),
			TTL:     time.Duration(rapid.Int64Range(-1, 1e6).Draw(t, "ttl")) * time.Second,
			Until:   time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "until"), 0).UTC(),
		}

		if h.TTL < 0 {
			h.TTL = claim.NoExpiry
		}

		if err := s.Save(h); err != nil {
			t.Fatal(err)
		}
		got, ok, err := s.Load(h.Issue)
		if err != nil || !ok || got != h {
			t.Fatalf("Load = %+v, %v, %v; want %+v", got, ok, err, h)
		}

		if err := s.Remove(h.Issue); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAllIsOrdered(t *testing.T) {
	dir := t.TempDir()
	s := state.OpenHolds(dir)
	for _, n := range []int{10, 9, 2} {
		if err := s.Save(hold(n)); err != nil {
			t.Fatal(err)
		}
	}

	// What is not ours stays unread: a half-written file of a killed process, somebody's note.
	for _, name := range []string{".hold-123.tmp", "README"} {
		write(t, filepath.Join(dir, "label-state", "holds", name), "{")
	}
	all, err := s.All()
	if err != nil || len(all) != 3 || all[0].Issue.Number != 2 || all[1].Issue.Number != 9 ||
		all[2].Issue.Number != 10 {
		t.Errorf("All = %v, %v", all, err)
	}
}

// TestRemoveNone: to forget a hold of a worktree that has recorded none is a success.
func TestRemoveNone(t *testing.T) {
	if err := state.OpenHolds(t.TempDir()).Remove(hold(1).Issue); err != nil {
		t.Error(err)
	}
}

func TestCorrupt(t *testing.T) {
	good := `{"format":1,"owner":"acme","repo":"app","number":7,"codename":"c","firing_id":"f","comment":1,"token":1,"ttl_seconds":60}`
	issue := claim.Issue{Owner: "acme", Repo: "app", Number: 7}
	for _, c := range []struct{ name, content string }{
		{"empty", ""},
		{"cut", good[:40]},
		{"not JSON", "hold"},
		{"another type", strings.Replace(good, `"number":7`, `"number":"7"`, 1)},
		{"two", good + good},
		{"another issue", strings.Replace(good, `"number":7`, `"number":8`, 1)},
		{"path as owner", strings.Replace(good, `"acme"`, `"../acme"`, 1)},
		{"newer format", strings.Replace(good, `"format":1`, `"format":2`, 1)},
		{"no format", strings.Replace(good, `"format":1,`, ``, 1)},
		{"no worker", strings.Replace(good, `"codename":"c"`, `"codename":""`, 1)},
		{"no comment", strings.Replace(good, `"comment":1`, `"comment":0`, 1)},
		{"negative token", strings.Replace(good, `"token":1`, `"token":-1`, 1)},
		{"endless ttl", strings.Replace(good, `"ttl_seconds":60`, `"ttl_seconds":315360001`, 1)},
		{"negative ttl", strings.Replace(good, `"ttl_seconds":60`, `"ttl_seconds":-2`, 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := state.OpenHolds(dir)
			if err := s.Save(hold(1)); err != nil {
				t.Fatal(err)
			}

			path := filepath.Join(dir, "label-state", "holds", "acme@app@7.json")
			write(t, path, c.content)
			_, ok, err := s.Load(issue)
			if ok || !answer.Is(err, answer.Machine) || !strings.Contains(err.Error(), path) {
				t.Errorf("Load = %v, %v; want an error naming %s", ok, err, path)
			}

			all, err := s.All()
			if len(all) != 1 || all[0] != hold(1) || !answer.Is(err, answer.Machine) {
				t.Errorf("All = %v, %v; want the good one and an error", all, err)
			}
		})
	}

	t.Run("keys of a later version", func(t *testing.T) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "label-state", "holds", "acme@app@7.json"), `{"later":[1],`+good[1:])
		if _, ok, err := state.OpenHolds(dir).Load(issue); !ok || err != nil {
			t.Errorf("Load = %v, %v", ok, err)
		}
	})

	t.Run("the longest ttl", func(t *testing.T) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "label-state", "holds", "acme@app@7.json"),
			strings.Replace(good, `"ttl_seconds":60`, `"ttl_seconds":315360000`, 1))
		if _, ok, err := state.OpenHolds(dir).Load(issue); !ok || err != nil {
			t.Errorf("Load = %v, %v", ok, err)
		}
	})
}

// TestUnreadable: what is there and cannot be read is never the same as nothing.
func TestUnreadableHold(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "label-state", "holds"), "a file where the folder should be")
	s := state.OpenHolds(dir)
	if _, err := s.All(); err == nil {
		t.Error("All found nothing")
	}

	if _, _, err := s.Load(hold(1).Issue); err == nil {
		t.Error("Load found nothing")
	}

	if err := s.Save(hold(1)); err == nil {
		t.Error("Save succeeded")
	}

	if err := s.Remove(hold(1).Issue); err == nil {
		t.Error("Remove succeeded")
	}

	if err := s.MarkUntouched(hold(1).Issue); err == nil {
		t.Error("MarkUntouched succeeded")
	}

	if err := s.Touch(hold(1).Issue); err == nil {
		t.Error("Touch succeeded")
	}
	dir = t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "label-state", "holds", "acme@app.web@1.json"), 0o755); err != nil {
		t.Fatal(err)
	}

	if _, err := state.OpenHolds(dir).All(); err == nil {
		t.Error("a folder in a hold's place was taken for none")
	}

	if err := state.OpenHolds(dir).Save(hold(1)); err == nil {
		t.Error("Save in a folder's place succeeded")
	}
}

func TestNotAHold(t *testing.T) {
	dir := t.TempDir()
	s := state.OpenHolds(dir)
	for _, change := range []func(*state.Hold){
		func(h *state.Hold) { h.Issue.Owner = ".." },
		func(h *state.Hold) { h.Issue.Repo = "a/b" },
		func(h *state.Hold) { h.Issue.Repo = "" },
		func(h *state.Hold) { h.Issue.Number = 0 },
		func(h *state.Hold) { h.Worker.FiringID = "a b" },
		func(h *state.Hold) { h.Comment = 0 },
		func(h *state.Hold) { h.TTL = -time.Hour },
	} {
		h := hold(1)
		change(&h)
		if err := s.Save(h); err == nil {
			t.Errorf("saved %+v", h)
		}
	}

	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestReplaceIsWhole has readers look while a writer writes: each sees one of the two holds.
func TestReplaceIsWhole(t *testing.T) {
	s := state.OpenHolds(t.TempDir())
	a, b := hold(1), hold(1)
	b.Token, b.Branch = 8, strings.Repeat("b", 10_000)
	if err := s.Save(a); err != nil {
		t.Fatal(err)
	}

	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for range 200 {
				if got, ok, err := s.Load(a.Issue); err != nil || !ok || got != a && got != b {
					t.Errorf("Load = %+v, %v, %v", got, ok, err)
					return
				}
			}
		})
	}

	for n := range 20 {
		if err := s.Save([]state.Hold{b, a}[n%2]); err != nil {
			t.Error(err)
		}
	}

	readers.Wait()
	all, err := s.All()
	if err != nil || !slices.Equal(all, []state.Hold{a}) {
		t.Errorf("All = %v, %v", all, err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestChange: a change goes by the record as it is then, and a record that is gone stays gone.
func TestChange(t *testing.T) {
	s := state.OpenHolds(t.TempDir())
	later := func(h *state.Hold) bool {
		h.Token++
		return true
	}

	if _, ok, err := s.Change(hold(1).Issue, later); ok || err != nil {
		t.Errorf("Change of nothing = %v, %v", ok, err)
	}

	if err := s.Save(hold(1)); err != nil {
		t.Fatal(err)
	}
	want := hold(1)
	want.Token++
	if got, ok, err := s.Change(hold(1).Issue, later); !ok || err != nil || got != want {
		t.Errorf("Change = %+v, %v, %v; want %+v", got, ok, err, want)
	}

	nobodys := func(h *state.Hold) bool { h.Comment = 0; return true }
	if _, _, err := s.Change(hold(1).Issue, nobodys); err == nil {
		t.Error("a hold without a comment was written")
	}

	refused := func(h *state.Hold) bool {
		h.Token = 99
		return false
	}

	if _, _, err := s.Change(hold(1).Issue, refused); err != nil {
		t.Error(err)
	}

	if got, _, err := s.Load(hold(1).Issue); err != nil || got != want {
		t.Errorf("after a refusal = %+v, %v; want %+v", got, err, want)
	}

	if err := s.Remove(hold(1).Issue); err != nil {
		t.Fatal(err)
	}

	if _, ok, err := s.Change(hold(1).Issue, later); ok || err != nil {
		t.Errorf("Change of what is gone = %v, %v", ok, err)
	}
}

// TestChangeBesideRemove: no change that is under way writes back a record that is removed
// meanwhile.
func TestChangeBesideRemove(t *testing.T) {
	s := state.OpenHolds(t.TempDir())
	for range 20 {
		if err := s.Save(hold(1)); err != nil {
			t.Fatal(err)
		}

		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for ok := true; ok; {
					var err error
					_, ok, err = s.Change(hold(1).Issue, func(h *state.Hold) bool {
						h.Token++
						return true
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}

		if err := s.Remove(hold(1).Issue); err != nil {
			t.Error(err)
		}
		all.Wait()
		if _, ok, err := s.Load(hold(1).Issue); ok || err != nil {
			t.Fatalf("the record is back: %v, %v", ok, err)
		}
	}
}
