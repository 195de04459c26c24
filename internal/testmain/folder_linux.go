package testmain

import (
	"os"
	"path/filepath"
	"syscall"
)

const (
	memory  = "/dev/shm"
	enough  = 1 << 30 // bytes; Docker gives a container 64 MB, which is too little
	pattern = "label-state-tests-*"
	tmpfs   = 0x01021994
)

// folder makes a folder at a place of the file system, and returns how to remove it. It makes none
// where suits or roomy say no, or where it may not write. First it removes the folders of runs that
// were killed: a run holds a lock on its folder.
func folder(place string) (dir string, remove func(), ok bool) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(place, &fs); err != nil || !suits(fs) {
		return "", nil, false
	}

	left, _ := filepath.Glob(filepath.Join(place, pattern)) // the pattern is valid
	for _, dir := range left {
		if lock, ok := hold(dir); ok {
			_ = os.RemoveAll(dir) // of another user, or for the next run
			lock.Close()
		}
	}

	if err := syscall.Statfs(place, &fs); err != nil || !roomy(fs) { // only now: what was left has taken room
		return "", nil, false
	}
	dir, err := os.MkdirTemp(place, pattern)
	if err != nil {
		return "", nil, false
	}

	lock, ok := hold(dir)
	if !ok {
		_ = os.Remove(dir) // it is empty, and no run could remove it later if folders cannot be locked here
		return "", nil, false
	}
	if _, err := os.Stat(dir); err != nil { // another run has taken it for one that was left
		lock.Close()
		return "", nil, false
	}

	return dir, func() {
		_ = os.RemoveAll(dir) // the next run tries again
		lock.Close()
	}, true
}

// suits reports whether a file system lies in memory, and lets programs run from it: the tests'
// hooks.
func suits(fs syscall.Statfs_t) bool {
	return fs.Type == tmpfs && fs.Flags&syscall.MS_NOEXEC == 0
}

// roomy reports whether a file system has enough room.
func roomy(fs syscall.Statfs_t) bool { return fs.Bavail*uint64(fs.Bsize) >= enough }

// hold locks a folder until the file is closed, unless somebody else does.
func hold(dir string) (*os.File, bool) {
	// what others put there may be a pipe, or lead elsewhere
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, false
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, false
	}

	return f, true
}
