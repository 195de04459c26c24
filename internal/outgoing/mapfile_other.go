//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package outgoing

import (
	"errors"
	"os"
)

func mmap(*os.File, int64) ([]byte, error) { return nil, errors.ErrUnsupported }

func munmap([]byte) {}
