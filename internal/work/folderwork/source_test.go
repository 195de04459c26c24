package folderwork_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/work"
	"github.com/label-state/label-state/internal/work/folderwork"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func task(id, labels string, minute int) string {
	return fmt.Sprintf("---\nid: %s\ntitle: Do %s\nlabels: [%s]\nstate: open\ncreated: %s\n---\n\nThe text.\n", id, id, labels, noon.Add(time.Duration(minute)*time.Minute).Format(time.RFC3339))
}

// A hand is an agent with a clock of the test's.
type hand struct {
	*folderwork.Source
	now time.Time
}

func open(t *testing.T, dir, agent string) *hand {
	t.Helper()
	h := &hand{now: noon.Add(time.Hour)}
	var err error
	h.Source, err = folderwork.Open(dir, folderwork.Options{Agent: agent, Run: "r1", TTL: time.Hour, Exclude: []string{"wip"}, Now: func() time.Time { return h.now }})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func refused(err error, r work.Reason) bool {
	var e *work.Error
	return errors.As(err, &e) && e.Reason == r
}

func ids(t *testing.T, s work.Source, o work.FetchOptions) string {
	t.Helper()
	page, err := s.Fetch(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, i := range page.Items {
		out = append(out, strings.TrimPrefix(i.ID, "folder-"))
	}
	return strings.Join(out, " ")
}

func TestLife(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.md", task("a", "ready, low", 0))
	write(t, dir, "b.md", task("b", "READY, p1", 5))
	write(t, dir, "c.md", task("c", "ready, p1, wip", 1))
	write(t, dir, "d.md", task("d", "p0", 1))
	write(t, dir, "e.md", task("e", "ready, p1", 2))
	ann, bob := open(t, dir, "ann"), open(t, dir, "bob")
	if got := ids(t, ann, work.FetchOptions{}); got != "e b a" {
		t.Errorf("queue %q", got)
	}
	c, err := ann.Claim(t.Context(), "folder-e")
	if err != nil || c.Item.Description != "The text.\n" || c.Token != 1 || !c.Until.Equal(ann.now.Add(time.Hour)) {
		t.Fatalf("claim: %+v %v", c, err)
	}
	for id, want := range map[string]work.Reason{"folder-e": work.AlreadyClaimed, "folder-c": work.InvalidState, "folder-d": work.InvalidState, "folder-x": work.NotFound, "e": work.NotFound} {
		if _, err := bob.Claim(t.Context(), id); !refused(err, want) {
			t.Errorf("claim %s: %v, want %s", id, err, want)
		}
	}
	if got := ids(t, bob, work.FetchOptions{IncludeClaimed: true, Limit: 1}); got != "e" {
		t.Errorf("with claimed ones %q", got)
	}
	if err := bob.Complete(t.Context(), "folder-e", work.Result{Outcome: work.Success}); !refused(err, work.InvalidState) {
		t.Errorf("complete of another's: %v", err)
	}
	for range 2 {
		if err := ann.Complete(t.Context(), "folder-e", work.Result{Outcome: work.Success}); err != nil {
			t.Fatal(err)
		}
	}
	i, err := ann.Get(t.Context(), "folder-e")
	if err != nil || i.Metadata.State != "closed" || i.Claimed || i.Description != "The text.\n" {
		t.Errorf("done: %+v %v", i, err)
	}
	if err := ann.Release(t.Context(), "folder-e", work.ReleaseOptions{}); !refused(err, work.InvalidState) {
		t.Errorf("release of what is done: %v", err)
	}
	if got := ids(t, ann, work.FetchOptions{}); got != "b a" {
		t.Errorf("afterwards %q", got)
	}
}

// TestExpiry: a claim stands until the very end of its time, then the item comes back; after three
// failures it does not.
func TestExpiry(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.md", task("a", "ready", 0))
	ann, bob := open(t, dir, "ann"), open(t, dir, "bob")
	claim := func(h *hand) error { _, err := h.Claim(t.Context(), "folder-a"); return err }
	if err := claim(ann); err != nil {
		t.Fatal(err)
	}
	bob.now = bob.now.Add(time.Hour)
	if err := claim(bob); !refused(err, work.AlreadyClaimed) {
		t.Errorf("at the very end: %v", err)
	}
	bob.now = bob.now.Add(time.Nanosecond)
	if err := claim(bob); err != nil {
		t.Fatal(err)
	}
	ann.now = bob.now
	if err := ann.Complete(t.Context(), "folder-a", work.Result{Outcome: work.Success}); !refused(err, work.InvalidState) {
		t.Errorf("complete by the late one: %v", err)
	}
	if err := bob.Release(t.Context(), "folder-a", work.ReleaseOptions{Reason: "later"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := errors.Join(claim(ann), ann.Complete(t.Context(), "folder-a", work.Result{Outcome: work.Failure})); err != nil {
			t.Fatal(err)
		}
	}
	if err := claim(ann); !refused(err, work.InvalidState) || !strings.Contains(err.Error(), "3 attempts") {
		t.Errorf("after three failures: %v", err)
	}
}

// TestRace: agents in threads of their own drain the folder; every item is done once.
func TestRace(t *testing.T) {
	dir := t.TempDir()
	const count = 16
	for n := range count {
		write(t, dir, fmt.Sprintf("%d.md", n), task(fmt.Sprintf("t%d", n), "ready", n))
	}
	var mu sync.Mutex
	done := map[string]int{}
	var wait sync.WaitGroup
	for a := range 5 {
		h := open(t, dir, fmt.Sprintf("agent%d", a))
		kinds := work.Openers{folderwork.Type: func(context.Context, work.Settings) (work.Source, error) { return h, nil }}
		wait.Go(func() {
			d, who := work.NewDispatcher(kinds), work.Settings{Type: folderwork.Type}
			for {
				c, err := d.Next(t.Context(), who, work.FetchOptions{})
				if errors.Is(err, work.ErrNoWork) {
					return
				}
				if err == nil {
					err = h.Complete(t.Context(), c.Item.ID, work.Result{Outcome: work.Success})
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				done[c.Item.ID]++
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	if len(done) != count {
		t.Errorf("%d of %d were done", len(done), count)
	}
	for id, n := range done {
		if n != 1 {
			t.Errorf("%s was done %d times", id, n)
		}
	}
}

func TestBadFiles(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"no front matter": {"hello", "want front matter"},
		"open":            {"---\nid: a\n", "want front matter"},
		"unknown key":     {"---\nid: a\ntitle: x\nlabel: [ready]\n---\n", "front matter: line 3: field label is none of id, title, labels, state, created"},
		"a list as title": {"---\nid: a\ntitle: [x]\n---\n", "front matter: line 2: want text"},
		"a word as list":  {"---\nid: a\ntitle: x\nlabels: {a: b}\n---\n", "front matter: line 3: want a list of texts"},
		"no time":         {"---\nid: a\ntitle: x\ncreated: soon into now\n---\n", `front matter: created "soon into now": want a time such as 2026-05-01T14:05:00Z`},
		"a list as time":  {"---\nid: a\ntitle: x\ncreated: [x]\n---\n", "front matter: line 3: want a time such as 2026-05-01T14:05:00Z"},
		"two mistakes":    {"---\nid: [a]\nsize: 1\n---\n", "front matter: line 1: want text; line 2: field size is none of"},
		"a list":          {"---\n- a\n---\n", "front matter: line 1: want keys with values"},
		"no YAML":         {"---\nid: [\n---\n", "front matter: "},
		"bad id":          {"---\nid: ../a\ntitle: x\n---\n", `id "../a"`},
		"no title":        {"---\nid: a\n---\n", "title is empty"},
		"state":           {"---\nid: a\ntitle: x\nstate: done\n---\n", `state "done"`},
		"same id":         {task("good", "ready", 0), "also in"},
		"megabytes":       {"---\nid: a\ntitle: x\n---\n" + strings.Repeat("x", 1<<20), "larger than 1 MiB"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "a.md", task("good", "ready", 0))
			write(t, dir, "b.md", c.text)
			_, err := open(t, dir, "ann").Fetch(t.Context(), work.FetchOptions{})
			if !refused(err, work.SourceError) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), "folderwork") {
				t.Errorf("%v, want %q and no path", err, c.want)
			}
		})
	}
	if _, err := folderwork.Open(filepath.Join(t.TempDir(), "none"), folderwork.Options{Agent: "a", Run: "r", Now: time.Now}); err == nil {
		t.Error("a folder that is not there was opened")
	}
}
