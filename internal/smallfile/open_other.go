//go:build !unix

package smallfile

import (
	"os"
	"syscall"
)

// openWithoutWaiting opens a file, and a pipe without waiting for its other end.
func openWithoutWaiting(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}
