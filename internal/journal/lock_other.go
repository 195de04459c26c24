//go:build !unix

package journal

import (
	"errors"
	"io/fs"
	"os"
)

var errBusy = errors.New("busy")

// A lock is a file that this process has made. One that a killed process left behind must be removed by hand.
type lock struct{ file *os.File }

func hold(path string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, errBusy
	}
	return &lock{f}, err
}

func (l *lock) free() error { return errors.Join(l.file.Close(), os.Remove(l.file.Name())) }
