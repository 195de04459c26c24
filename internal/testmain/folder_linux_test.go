package testmain

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestSuits: the tests' folders lie in memory only where there is enough of it and programs run
// from there.
func TestSuits(t *testing.T) {
	for _, c := range []struct {
		name string
		fs   syscall.Statfs_t
		want bool
	}{
		{"memory", syscall.Statfs_t{Type: tmpfs, Bsize: 4096, Bavail: enough / 4096}, true},
		{"a disk", syscall.Statfs_t{Type: 0xEF53, Bsize: 4096, Bavail: enough / 4096}, false},
		{"no programs", syscall.Statfs_t{
			Type:   tmpfs,
			Bsize:  4096,
			Bavail: enough / 4096,
			Flags:  syscall.MS_NOEXEC | syscall.MS_NOSUID,
		}, false},
		{"Docker's 64 MB", syscall.Statfs_t{Type: tmpfs, Bsize: 4096, Bavail: 64 << 20 / 4096}, false},
	} {
		if got := suits(c.fs) && roomy(c.fs); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}

	if dir, _, ok := folder("/proc"); ok {
		t.Errorf("/proc is taken for memory: %s", dir)
	}
}

// TestFolder: a run removes its folder and those that killed runs left, not that of a run beside
// it.
func TestFolder(t *testing.T) {
	place, remove, ok := folder(memory)
	if !ok {
		t.Skip("no file system in memory with enough room")
	}

	defer remove()
	beside, removeBeside, _ := folder(place)
	killed := filepath.Join(place, "label-state-tests-1")
	if err := os.MkdirAll(filepath.Join(killed, "TestSome", "001"), 0o700); err != nil {
		t.Fatal(err)
	}

	own, removeOwn, ok := folder(place)
	if !ok || own == beside {
		t.Fatalf("%q, %v beside %q", own, ok, beside)
	}

	there := func() string {
		var names string
		for _, dir := range []string{beside, killed, own} {
			if _, err := os.Stat(dir); err == nil {
				names += " " + filepath.Base(dir)
			}
		}

		return names
	}

	if got, want := there(), " "+filepath.Base(beside)+" "+filepath.Base(own); got != want {
		t.Errorf("there are%s, want%s", got, want)
	}
	removeOwn()
	removeBeside()
	if got := there(); got != "" {
		t.Errorf("there are%s, want none", got)
	}
}
