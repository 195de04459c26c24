//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package outgoing

import (
	"io"
	"math"
	"os"
	"syscall"

	"github.com/label-state/label-state/internal/smallfile"
)

// mapFile gives a file's content without reading what nobody looks at. unmap ends its validity.
func mapFile(path string, limit int64) (data []byte, unmap func(), err error) {
	f, err := smallfile.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	switch {
	case info.Size() == 0:
		return nil, func() {}, nil
	case info.Size() > limit:
		return nil, nil, &smallfile.LargeError{Path: path, Limit: limit}
	}
	data, err = syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return data, func() { syscall.Munmap(data) }, nil
}

// A mapped file gives its parts without reading the others.
type mapped struct {
	data  []byte
	unmap func()
}

func openParts(path string) (parts, error) {
	data, unmap, err := mapFile(path, math.MaxInt64)
	return mapped{data, unmap}, err
}

func (m mapped) at(offset int64, n int) ([]byte, error) {
	if offset < 0 || n < 0 || offset > int64(len(m.data)-n) {
		return nil, io.ErrUnexpectedEOF
	}
	return m.data[offset : offset+int64(n)], nil
}

func (m mapped) close() { m.unmap() }
