package main

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// readInput reads standard input until it ends, and fails if it has not ended by that time. Git's
// input is a pipe. A timer of Go's would start threads, which took a twentieth of an everyday push,
// so it is waited for with select. A read may not wait: others may read the same pipe, and have
// taken what select has seen. It is therefore opened once more, for reads that do not; what cannot
// be is read under a timer.
func readInput(until time.Time) ([]byte, error) {
	fd, err := syscall.Open("/proc/self/fd/0", syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return readTimed(os.Stdin, until)
	}

	defer func() { _ = syscall.Close(fd) }() // it was only read
	var is syscall.Stat_t
	if err := syscall.Fstat(fd, &is); err != nil || is.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return readTimed(os.Stdin, until)
	}

	var input []byte
	piece := make([]byte, 4096)
	for {
		n, err := syscall.Read(fd, piece)
		switch {
		case n > 0:
			input = append(input, piece[:n]...)
		case err == nil:
			return input, nil
		case errors.Is(err, syscall.EAGAIN):
			if err := waitInput(until); err != nil {
				return nil, err
			}
		case !errors.Is(err, syscall.EINTR):
			return nil, err
		}
	}
}

// waitInput waits until standard input may be read, or a signal comes; it fails when it is that
// time.
func waitInput(until time.Time) error {
	left := time.Until(until)
	if left <= 0 {
		return os.ErrDeadlineExceeded
	}

	limit, input := syscall.NsecToTimeval(left.Nanoseconds()), syscall.FdSet{}
	input.Bits[0] = 1 // descriptor 0
	if _, err := syscall.Select(1, &input, nil, nil, &limit); err != nil && !errors.Is(err, syscall.EINTR) {
		return err
	}

	return nil
}
