package state_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/process"
	"github.com/label-state/label-state/internal/state"
)

func TestSessionFile(t *testing.T) {
	dir := t.TempDir()
	s, id := state.OpenSessions(dir), agenthost.Session{Host: agenthost.Codex, ID: "../../a b"}
	if _, ok, err := s.Load(id); ok || err != nil {
		t.Fatalf("before: %v, %v", ok, err)
	}

	for _, tree := range []string{"", "/w/a", "/w/b", "/w/a", ""} {
		if err := s.Add(id, tree); err != nil {
			t.Fatal(err)
		}
	}

	scatter := func(kept *state.Session) { kept.Scattered, kept.Agents = true, []string{"a1"} }
	if err := s.Change(id, scatter); err != nil {
		t.Fatal(err)
	}

	got, ok, err := s.Load(id)
	if !ok || err != nil || got.Session != id || !slices.Equal(got.Worktrees, []string{"/w/a", "/w/b"}) ||
		!got.Scattered || !slices.Equal(got.Agents, []string{"a1"}) {
		t.Fatalf("%+v, %v, %v", got, ok, err)
	}

	files, err := filepath.Glob(filepath.Join(dir, "sessions", "*"))
	if err != nil || len(files) != 1 || filepath.Base(files[0]) != "codex@a-b.json" {
		t.Fatalf("%v, %v", files, err)
	}

	if _, ok, err := s.Load(agenthost.Session{Host: agenthost.Codex, ID: "a-b"}); ok || err != nil {
		t.Errorf("another session of the same file name: %v, %v", ok, err)
	}

	for n := range 1000 {
		if err := os.WriteFile(filepath.Join(dir, "sessions", fmt.Sprintf("x%d.json", n)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	other := filepath.Join(dir, "sessions", "notes.txt")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}

	var crew sync.WaitGroup
	for range 8 { // each removes files that another one has listed
		crew.Go(func() { s.Prune(time.Now().Add(8 * 24 * time.Hour)) })
	}
	crew.Wait()
	if _, ok, _ := s.Load(id); ok {
		t.Error("an old file was kept")
	}

	if _, err := os.Lstat(other); err != nil {
		t.Errorf("what is no session: %v", err)
	}

	if err := s.Add(id, ""); err != nil {
		t.Fatal(err)
	}
	s.Prune(time.Now().Add(6 * 24 * time.Hour))
	if _, ok, _ := s.Load(id); !ok {
		t.Error("a session of this week is gone")
	}

	for range 2 {
		if err := s.Remove(id); err != nil {
			t.Fatal(err)
		}
	}

	if _, ok, _ := s.Load(id); ok {
		t.Error("removed, and still there")
	}
}

// TestUnreadable: what is not ours is neither read nor taken for nothing.
func TestUnreadableSession(t *testing.T) {
	dir, id := t.TempDir(), agenthost.Session{Host: agenthost.Codex, ID: "a"}
	s, file := state.OpenSessions(dir), filepath.Join(dir, "sessions", "codex@a.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}

	for name, text := range map[string]string{
		"no JSON": "x", "another version": `{"format":2,"host":"codex","session":"a"}`,
		"too large": string(make([]byte, 1<<17)),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := s.Load(id); ok || err == nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}

	if err := os.Symlink("/dev/zero", file); err != nil {
		t.Fatal(err)
	}

	if _, ok, err := s.Load(id); ok || err == nil {
		t.Errorf("a link: %v, %v", ok, err)
	}
	var none state.Sessions
	if _, _, err := none.Load(id); err == nil || none.Add(id, "") == nil || none.Remove(id) == nil {
		t.Error("a store without a folder works")
	}

	if _, _, err := s.Load(agenthost.Session{Host: agenthost.Codex}); err == nil {
		t.Error("a session without an id has a file")
	}
}

// TestSessionRoot: a sub-agent's root is the session that has named it, and every other id's is
// itself.
func TestSessionRoot(t *testing.T) {
	s := state.OpenSessions(t.TempDir())
	root := agenthost.Session{Host: agenthost.Copilot, ID: "root"}
	err := s.Change(root, func(one *state.Session) {
		one.Agents, one.Process = []string{"child", "other"}, process.ID{PID: 7, Start: "1", Place: "p"}
	})
	if err != nil {
		t.Fatal(err)
	}

	for id, want := range map[string]string{"root": "root", "child": "root", "other": "root", "stranger": "stranger"} {
		if got := s.Root(agenthost.Session{Host: agenthost.Copilot, ID: id}); got.ID != want {
			t.Errorf("Root(%s) = %s, want %s", id, got.ID, want)
		}
	}

	if got := s.Root(agenthost.Session{Host: agenthost.Codex, ID: "child"}); got.ID != "child" {
		t.Errorf("the root of another host's agent is %s", got)
	}

	if s.Some(agenthost.Codex) || !s.Some(agenthost.Copilot) {
		t.Error("Some is wrong")
	}

	if all := s.All(); len(all) != 1 || all[0].Session != root || all[0].Process.PID != 7 {
		t.Errorf("All = %+v", all)
	}
}
