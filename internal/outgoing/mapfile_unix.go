//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package outgoing

import (
	"io"
	"os"
	"syscall"
)

// mmap maps a file that has a size.
func mmap(f *os.File, size int64) ([]byte, error) {
	if size <= 0 || int64(int(size)) != size {
		return nil, io.ErrUnexpectedEOF
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	return data, os.NewSyscallError("mmap", err)
}

func munmap(data []byte) {
	if data != nil {
		syscall.Munmap(data)
	}
}
