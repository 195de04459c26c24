// Package smallfile reads files whose names or contents others may have chosen: regular files only,
// and no more of them than a limit. A device, a pipe or a file of many gigabytes costs neither time
// nor memory.
package smallfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
)

// An IrregularError is a name that leads to something else than a regular file.
type IrregularError struct {
	Path string
	Kind string // "a symbolic link", "a folder", "a pipe", "a socket", "a device" or "something of its own"
}

func (e *IrregularError) Error() string { return "read " + e.Path + ": " + Reason(e) }

// A LargeError is a file beyond the limit.
type LargeError struct {
	Path  string
	Limit int64 // bytes
}

func (e *LargeError) Error() string { return "read " + e.Path + ": " + Reason(e) }

// Read returns the content of a file of a repository, at most limit bytes. A symbolic link is not a
// regular file. Errors are *IrregularError, *LargeError, or what the system says.
func Read(path string, limit int64) ([]byte, error) { return read(path, limit, os.Lstat) }

// Follow is Read for a path that the user has named: it may be a link to a regular file.
func Follow(path string, limit int64) ([]byte, error) { return read(path, limit, os.Stat) }

// Open opens a regular file of any size, which path may be a link to, for a caller that reads parts
// of it. Errors are those of Read but for *LargeError.
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
	case err != nil:
		data, err = nil, fmt.Errorf("read %s: %w", path, err)
	case int64(len(data)) > limit:
		data, err = nil, &LargeError{path, limit}
	}

	return data, errors.Join(err, f.Close())
}

func fit(path string, info fs.FileInfo, limit int64) error {
	switch m := info.Mode(); {
	case m&fs.ModeSymlink != 0:
		return &IrregularError{path, "a symbolic link"}
	case m.IsDir():
		return &IrregularError{path, "a folder"}
	case m&fs.ModeNamedPipe != 0:
		return &IrregularError{path, "a pipe"}
	case m&fs.ModeSocket != 0:
		return &IrregularError{path, "a socket"}
	case m&fs.ModeDevice != 0:
		return &IrregularError{path, "a device"}
	case !m.IsRegular():
		return &IrregularError{path, "something of its own"}
	case info.Size() > limit:
		return &LargeError{path, limit}
	}

	return nil
}

// Reason is what is wrong with a file without its path, which the message around it names already.
func Reason(err error) string {
	var irregular *IrregularError
	var large *LargeError
	var path *fs.PathError
	switch {
	case errors.As(err, &irregular):
		return "it is " + irregular.Kind + ", not a regular file"
	case errors.As(err, &large) && large.Limit%(1<<20) == 0:
		return fmt.Sprintf("it is larger than %d MiB", large.Limit>>20)
	case errors.As(err, &large) && large.Limit%(1<<10) == 0:
		return fmt.Sprintf("it is larger than %d KiB", large.Limit>>10)
	case errors.As(err, &large):
		return fmt.Sprintf("it is larger than %d bytes", large.Limit)
	case errors.As(err, &path):
		return path.Err.Error()
	}

	return err.Error()
}
