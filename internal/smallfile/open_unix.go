//go:build unix

package smallfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openWithoutWaiting opens a file, and a pipe without waiting for its other end. os.OpenFile would
// ask the system to tell when a file opened so can be read, which regular files always can; setting
// that up takes a new process longer than reading a small file.
func openWithoutWaiting(path string) (*os.File, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		if err := syscall.SetNonblock(fd, false); err != nil {
			return nil, errors.Join(os.NewSyscallError("fcntl", err), syscall.Close(fd))
		}

		return os.NewFile(uintptr(fd), path), nil
	}
}
