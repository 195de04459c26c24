// Package state keeps what this machine remembers between two commands: the holds recorded for a
// worktree, this host's own pauses, the sessions of agent hosts, and the journal of what a command
// is in the middle of.
//
// Every file is small and whole: a reader sees the old text or the new one, also after a kill. A
// file that cannot be read is an error that names it, and never the same as no file.
package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/smallfile"
)

// readJSON reads a file that is one JSON value into into. An error is fs.ErrNotExist, or says what
// is wrong with the file without naming it.
func readJSON(file string, limit int64, into any) error {
	data, err := smallfile.Read(file, limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil:
		return printable.Cause(err)
	}

	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("unexpected data after it")
	}

	return nil
}

// writeJSON has smallfile.Replace give a file, which this user alone may read, one JSON value.
func writeJSON(file string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return smallfile.Replace(file, append(data, '\n'), 0o600)
}

// Missing are the folder and those above it that are not there yet, outermost first: what
// os.MkdirAll would make.
func Missing(dir string) []string {
	var out []string
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
			slices.Reverse(out)
			return out
		}
		out = append(out, dir)
	}
}

// Fingerprint is the SHA-256 of a text, in hexadecimal digits.
func Fingerprint(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

var errIrregular = errors.New("it is not a regular file")

// ErrLocked is a file that somebody else holds.
var ErrLocked = errors.New("another process holds it")

// How long a writer waits for another one, and how long between two tries. A write takes
// milliseconds.
const (
	lockPatience = 2 * time.Second
	lockPause    = 2 * time.Millisecond
)

// lockSoon is Lock for a writer: it waits for another one, and is ErrLocked when that takes too
// long.
func lockSoon(file string) (free func() error, err error) {
	for end := time.Now().Add(lockPatience); ; time.Sleep(lockPause) {
		free, err = Lock(file)
		if !errors.Is(err, ErrLocked) || !time.Now().Before(end) {
			return free, err
		}
	}
}

// Lock holds a file until free is called or the process ends, however it ends; a file that somebody
// else holds, in this process or another, is ErrLocked. The file has no text; it is there while it
// is held, and after a kill.
func Lock(file string) (free func() error, err error) {
	for {
		if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
			// to open a pipe waits for its other end
			return nil, &fs.PathError{Op: "lock", Path: file, Err: errIrregular}
		}

		f := flock.New(file)
		ok, err := f.TryLock()
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, ErrLocked
		}

		locked, err1 := f.Stat()
		there, err2 := os.Stat(file)

		// else the last holder has removed what was locked
		if err1 == nil && err2 == nil && os.SameFile(locked, there) {
			return func() error {
				_ = os.Remove(file) // while it is held, so that nobody can take it before; Windows keeps it
				return f.Unlock()
			}, nil
		}
		if err := f.Unlock(); err != nil {
			return nil, err
		}
	}
}
