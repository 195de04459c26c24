package folder_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/label-state/label-state/examples/folder"
	"github.com/label-state/label-state/work"
)

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func source(dir, agent string) *folder.Source {
	return &folder.Source{
		Dir:   dir,
		Agent: agent,
		Run:   "r1",
		TTL:   time.Hour,
		Ready: "ready",
	}
}

func refused(err error, r work.Reason) bool {
	e, is := errors.AsType[*work.Error](err)
	return is && e.Reason == r
}

func ids(t *testing.T, s work.Source, o work.FetchOptions) string {
	t.Helper()
	page, err := s.Fetch(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}

	var out []string
	for _, i := range page.Items {
		out = append(out, i.ID)
	}

	return strings.Join(out, " ")
}

// Example takes the next item of a folder and of nothing else; a program with several sources names
// them in one work.Dispatcher.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}

	defer os.RemoveAll(dir)
	text := "title: Retry the upload\nlabels: ready, p1\n\nThree times, then give up.\n"
	if err := os.WriteFile(filepath.Join(dir, "upload.md"), []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	s := &folder.Source{
		Dir:   dir,
		Agent: "lucius",
		Run:   "1",
		TTL:   30 * time.Minute,
	}

	for {
		got, err := work.Next(ctx, s, work.FetchOptions{})
		if errors.Is(err, work.ErrNoWork) {
			fmt.Println(err)
			return
		}

		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(got.Item.ID, got.Item.Priority, got.Item.Title)

		if err := s.Complete(ctx, got.Item.ID, work.Result{Outcome: work.Success, Summary: "done"}); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// folder-upload high Retry the upload
	// no work
}

// TestLife: an item is listed in its order, claimed by one agent, and done when that agent says so.
func TestLife(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a", "title: A\nlabels: ready, low\n")
	write(t, dir, "b", "title: B\nlabels: READY, p1\n\nThe text.\n")
	write(t, dir, "c", "title: C\nlabels: p0\n")
	ann, bob := source(dir, "ann"), source(dir, "bob")
	if got := ids(t, ann, work.FetchOptions{}); got != "folder-b folder-a" {
		t.Errorf("queue %q", got)
	}

	got, err := ann.Claim(t.Context(), "folder-b")
	if err != nil || got.Item.Description != "The text.\n" || got.Token != 1 || !got.Item.Claimed {
		t.Fatalf("claim: %+v, %v", got, err)
	}

	for id, want := range map[string]work.Reason{
		"folder-b": work.AlreadyClaimed, "folder-c": work.InvalidState, "folder-x": work.NotFound, "b": work.NotFound,
		"folder-../b": work.NotFound,
	} {
		if _, err := bob.Claim(t.Context(), id); !refused(err, want) {
			t.Errorf("claim of %s: %v, want %s", id, err, want)
		}
	}

	if got := ids(t, bob, work.FetchOptions{}) + "; " +
		ids(t, bob, work.FetchOptions{IncludeClaimed: true}); got != "folder-a; folder-b folder-a" {
		t.Errorf("queue, and with what is claimed: %q", got)
	}

	if err := bob.Complete(t.Context(), "folder-b", work.Result{Outcome: work.Success}); !refused(err,
		work.InvalidState) {
		t.Errorf("complete of another's: %v", err)
	}

	for range 2 {
		if err := ann.Complete(t.Context(), "folder-b", work.Result{Outcome: work.Success}); err != nil {
			t.Fatal(err)
		}
	}

	if err := ann.Complete(t.Context(), "folder-b", work.Result{Outcome: work.Failure}); !refused(err,
		work.InvalidState) {
		t.Errorf("complete with another outcome: %v", err)
	}

	if _, err := bob.Claim(t.Context(), "folder-b"); !refused(err, work.InvalidState) {
		t.Errorf("claim of what is done: %v", err)
	}
}

// TestExpiry: a claim stands until the very end of its time, and what was not done may be claimed
// again.
func TestExpiry(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a", "title: A\nlabels: ready\n")
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	ann, bob := source(dir, "ann"), source(dir, "bob")
	ann.Now = func() time.Time { return now }
	bob.Now = ann.Now
	if _, err := ann.Claim(t.Context(), "folder-a"); err != nil {
		t.Fatal(err)
	}

	now = now.Add(time.Hour)
	if _, err := bob.Claim(t.Context(), "folder-a"); !refused(err, work.AlreadyClaimed) {
		t.Errorf("at the very end: %v", err)
	}

	now = now.Add(time.Nanosecond)
	got, err := bob.Claim(t.Context(), "folder-a")
	if err != nil || got.Token != 2 {
		t.Fatalf("after it: %+v, %v; want a larger token", got, err)
	}

	if err := ann.Complete(t.Context(), "folder-a", work.Result{Outcome: work.Success}); !refused(err,
		work.InvalidState) {
		t.Errorf("complete by the late one: %v", err)
	}

	if err := bob.Release(t.Context(), "folder-a", work.ReleaseOptions{Reason: "later"}); err != nil {
		t.Fatal(err)
	}

	if _, err := ann.Claim(t.Context(), "folder-a"); err != nil {
		t.Errorf("claim of what was released: %v", err)
	}
}

// TestRace: agents side by side drain the folder through a dispatcher, and every item is done once.
func TestRace(t *testing.T) {
	const count = 20
	dir := t.TempDir()
	for n := range count {
		write(t, dir, fmt.Sprint("t", n), "title: Work\nlabels: ready\n")
	}

	open := work.Openers{folder.Type: func(_ context.Context, s work.Settings) (work.Source,
		error,
	) {
		return source(s.Place, s.Agent), nil
	}}
	sources := work.NewDispatcher(open)

	var mu sync.Mutex
	done := map[string]int{}
	drain := func(who work.Settings) error {
		for {
			got, err := sources.Next(t.Context(), who, work.FetchOptions{})
			if errors.Is(err, work.ErrNoWork) {
				return nil
			}
			if err != nil {
				return err
			}

			s, err := sources.Source(t.Context(), who)
			if err == nil {
				err = s.Complete(t.Context(), got.Item.ID, work.Result{Outcome: work.Success})
			}

			if err != nil {
				return err
			}
			mu.Lock()
			done[got.Item.ID]++
			mu.Unlock()
		}
	}

	var agents sync.WaitGroup
	for n := range 6 {
		agents.Go(func() {
			if err := drain(work.Settings{Type: folder.Type, Agent: fmt.Sprint("agent", n), Place: dir}); err != nil {
				t.Error(err)
			}
		})
	}

	agents.Wait()

	if len(done) != count {
		t.Errorf("%d of %d were done", len(done), count)
	}

	for id, n := range done {
		if n != 1 {
			t.Errorf("%s was done %d times", id, n)
		}
	}
}

// TestBadFiles: what cannot be read is an error with its line, not an empty queue.
func TestBadFiles(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "line 1",
		"labels: ready\n":           "the title is missing",
		"title: A\nstate: open\n":   `line 2: "state: open"`,
		"title: A\nThe text.\n\n\n": "line 2",
	} {
		dir := t.TempDir()
		write(t, dir, "a", text)
		if _, err := source(dir, "ann").Fetch(t.Context(), work.FetchOptions{}); !refused(err, work.SourceError) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}

	dir := t.TempDir()
	write(t, dir, "Upper Case", "title: A\n")
	if _, err := source(dir, "ann").Fetch(t.Context(), work.FetchOptions{}); err == nil {
		t.Error("a file whose name is no id was passed over")
	}

	if _, err := source(filepath.Join(dir, "none"), "ann").Fetch(t.Context(), work.FetchOptions{}); !refused(err,
		work.SourceError) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
