// Package smallfile writes files as a whole, and reads files whose names or contents others may
// have chosen: regular files only, and no more of them than a limit. A device, a pipe or a file of
// many gigabytes costs neither time nor memory.
package smallfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
)

// A Large is a file beyond the limit, which it is, in bytes.
type Large int64

func (l Large) Error() string {
	switch {
	case l%(1<<20) == 0:
		return fmt.Sprintf("it is larger than %d MiB", l>>20)
	case l%(1<<10) == 0:
		return fmt.Sprintf("it is larger than %d KiB", l>>10)
	}

	return fmt.Sprintf("it is larger than %d bytes", l)
}

// Read returns the content of a file of a repository, at most limit bytes. A symbolic link is not a
// regular file. Errors are *fs.PathError; one has a Large in it, or what the system says.
func Read(path string, limit int64) ([]byte, error) { return read(path, limit, os.Lstat) }

// Follow is Read for a path that the user has named: it may be a link to a regular file.
func Follow(path string, limit int64) ([]byte, error) { return read(path, limit, os.Stat) }

// Open opens a regular file of any size, which path may be a link to, for a caller that reads parts
// of it. Errors are those of Read but for a Large.
func Open(path string) (*os.File, error) { return open(path, math.MaxInt64, os.Stat) }

// open has looked at the file twice: before it is opened, since for some devices that alone does
// something, and after. Between the two somebody may put a pipe there, and to open one would wait
// for its other end.
func open(path string, limit int64, stat func(string) (fs.FileInfo, error)) (*os.File, error) {
	info, err := stat(path)
	if err == nil {
		err = fit(path, info, limit)
	}

	if err != nil {
		return nil, err
	}
	f, err := openWithoutWaiting(path)
	if err != nil {
		return nil, err
	}

	if info, err = f.Stat(); err == nil {
		err = fit(path, info, limit)
	}

	if err != nil {
		return nil, errors.Join(err, f.Close())
	}

	return f, nil
}

func read(path string, limit int64, stat func(string) (fs.FileInfo, error)) ([]byte, error) {
	f, err := open(path, limit, stat)
	if err != nil {
		return nil, err
	}

	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil: // which names the path
		data = nil
	case int64(len(data)) > limit:
		data, err = nil, &fs.PathError{Op: "read", Path: path, Err: Large(limit)}
	}

	return data, errors.Join(err, f.Close())
}

func fit(path string, info fs.FileInfo, limit int64) error {
	kind := ""
	switch m := info.Mode(); {
	case m&fs.ModeSymlink != 0:
		kind = "a symbolic link"
	case m.IsDir():
		kind = "a folder"
	case m&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case m&fs.ModeSocket != 0:
		kind = "a socket"
	case m&fs.ModeDevice != 0:
		kind = "a device"
	case !m.IsRegular():
		kind = "something of its own"
	case info.Size() > limit:
		return &fs.PathError{Op: "read", Path: path, Err: Large(limit)}
	default:
		return nil
	}

	return &fs.PathError{Op: "read", Path: path, Err: errors.New("it is " + kind + ", not a regular file")}
}
