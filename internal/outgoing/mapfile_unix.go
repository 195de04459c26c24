//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package outgoing

import (
	"os"
	"syscall"
)

// mapFile gives a file's content without reading what nobody looks at. unmap ends its validity.
func mapFile(path string) (data []byte, unmap func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	data, err = syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return data, func() { syscall.Munmap(data) }, nil
}
