//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package outgoing

import (
	"io"
	"os"

	"github.com/label-state/label-state/internal/smallfile"
)

// mapFile gives a file's content. unmap ends its validity.
func mapFile(path string, limit int64) (data []byte, unmap func(), err error) {
	data, err = smallfile.Follow(path, min(limit, maxRefs))
	return data, func() {}, err
}

// An unmapped file is read one part at a time.
type unmapped struct {
	file *os.File
	part []byte
}

func openParts(path string) (parts, error) {
	f, err := smallfile.Open(path)
	return &unmapped{file: f}, err
}

func (u *unmapped) at(offset int64, n int) ([]byte, error) {
	if n > cap(u.part) {
		u.part = make([]byte, n)
	}
	_, err := u.file.ReadAt(u.part[:n], offset)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return u.part[:n], err
}

func (u *unmapped) close() { u.file.Close() }
