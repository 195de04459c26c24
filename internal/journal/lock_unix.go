//go:build unix

package journal

import (
	"errors"
	"os"
	"syscall"
)

var errBusy = errors.New("busy")

// A lock is a file that this process has locked; the system frees it when the process ends.
type lock struct{ file *os.File }

// hold locks a file, or returns errBusy. Whoever had it before may have removed it in the meantime, so
// what was locked must still be what is there.
func hold(path string) (*lock, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			if errors.Is(err, syscall.EWOULDBLOCK) {
				err = errBusy
			}
			return nil, errors.Join(err, f.Close())
		}
		if current(f, path) {
			return &lock{f}, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

func current(f *os.File, path string) bool {
	locked, err1 := f.Stat()
	there, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(locked, there)
}

// free removes the file while it is still locked, so that nobody locks one that is gone.
func (l *lock) free() error { return errors.Join(os.Remove(l.file.Name()), l.file.Close()) }
