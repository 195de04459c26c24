package state_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/state"
)

type text struct {
	Step  string   `json:"step"`
	Parts []string `json:"parts"`
}

func TestPage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "book")
	book := state.OpenJournal[text](dir)
	if names, err := book.Names(); err != nil || len(names) != 0 {
		t.Fatalf("names of no folder: %q, %v", names, err)
	}

	page, err := book.Open("checkout")
	if err != nil {
		t.Fatal(err)
	}

	if _, ok, err := page.Load(); ok || err != nil {
		t.Errorf("a page without a text: %t, %v", ok, err)
	}
	want := text{"first", []string{"a", "b\x00\xff"}}
	if err := page.Save(want); err != nil {
		t.Fatal(err)
	}

	if got, ok, err := book.Read("checkout"); err != nil || !ok || got.Step != "first" || len(got.Parts) != 2 {
		t.Errorf("read: %+v, %t, %v", got, ok, err)
	}

	if names, err := book.Names(); err != nil || !slices.Equal(names, []string{"checkout"}) {
		t.Errorf("names: %q, %v", names, err)
	}

	if err := errors.Join(page.Remove(), page.Remove(), page.Close()); err != nil {
		t.Error(err)
	}

	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestUnreadablePage(t *testing.T) {
	dir := t.TempDir()
	book := state.OpenJournal[text](dir)
	for _, data := range []string{
		"", "{", "null null", `{"format":2,"state":{}}`, `{"format":1,"state":[]}`,
		`{"format":1,"state":{}} x`, `[]`,
	} {
		if err := os.WriteFile(filepath.Join(dir, "x.json"), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		_, ok, err := book.Read("x")
		var bad *state.UnreadableJournalError
		if ok || !errors.As(err, &bad) || !strings.HasSuffix(bad.File, "x.json") {
			t.Errorf("%q: %t, %v, want that it cannot be read", data, ok, err)
		}
	}

	if err := os.WriteFile(filepath.Join(dir, "x.json"), []byte(`{"format":1,"more":1,"state":{"step":"s","more":2}}`),
		0o600); err != nil {
		t.Fatal(err)
	}

	if got, ok, err := book.Read("x"); !ok || err != nil || got.Step != "s" {
		t.Errorf("with keys of a later version: %+v, %t, %v", got, ok, err)
	}
}

func TestPageNames(t *testing.T) {
	book := state.OpenJournal[text](t.TempDir())
	for _, name := range []string{"", ".", "..", "../x", "a/b", `a\b`, ".hidden", "c:x"} {
		if p, err := book.Open(name); err == nil {
			t.Errorf("opened %q", name)
			_ = p.Close()
		}

		if _, _, err := book.Read(name); err == nil {
			t.Errorf("read %q", name)
		}
	}

	dir := t.TempDir()
	file := filepath.Join(dir, "in the way")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Mkdir(filepath.Join(dir, "x.json.lock"), 0o700)); err != nil {
		t.Fatal(err)
	}

	for _, dir := range []string{file, dir} {
		if _, err := state.OpenJournal[text](dir).Open("x"); err == nil || !strings.HasPrefix(err.Error(), "open journal: ") {
			t.Errorf("opened below %s: %v", dir, err)
		}
	}
}

// TestOneHolder: however many want a page, one has it, and it can be had again afterwards.
func TestOneHolderOfAPage(t *testing.T) {
	book := state.OpenJournal[text](t.TempDir())
	var holders, turns atomic.Int32
	var crew sync.WaitGroup
	for range 8 {
		crew.Go(func() {
			for range 50 {
				p, err := book.Open("x")
				var busy *state.BusyError
				if errors.As(err, &busy) {
					runtime.Gosched()
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}

				if holders.Add(1) > 1 {
					t.Error("two hold the page")
				}
				turns.Add(1)
				holders.Add(-1)
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}

	crew.Wait()
	if turns.Load() < 8 {
		t.Errorf("the page was held %d times", turns.Load())
	}
}

// TestKilled: a page that a killed process held can be held at once.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("JOURNAL_TEST_DIR"); dir != "" {
		p, err := state.OpenJournal[text](dir).Open("x")
		if err != nil || p.Save(text{Step: "begun"}) != nil {
			os.Exit(1)
		}
		time.Sleep(time.Hour)
	}

	dir := t.TempDir()
	child := exec.Command(os.Args[0], "-test.run", "TestKilled")
	child.Env = append(os.Environ(), "JOURNAL_TEST_DIR="+dir)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}

	book := state.OpenJournal[text](dir)
	for {
		if _, ok, _ := book.Read("x"); ok {
			break
		}
		runtime.Gosched()
	}

	var busy *state.BusyError
	if _, err := book.Open("x"); !errors.As(err, &busy) || busy.Name != "x" {
		t.Errorf("open while another process holds it: %v", err)
	}

	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed
	p, err := book.Open("x")
	if err != nil {
		t.Fatal(err)
	}

	if got, ok, err := p.Load(); !ok || err != nil || got.Step != "begun" {
		t.Errorf("after the kill: %+v, %t, %v", got, ok, err)
	}
}
