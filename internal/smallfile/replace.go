package smallfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace gives a file in an existing folder a new text in one step: a reader sees the old text or
// the new one, and the new one is on the disk when Replace returns. After an error the old one
// stands. What a kill leaves beside it begins with a dot and ends in .tmp; nobody reads it.
func Replace(file string, text []byte, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(file), ".new-*.tmp")
	if err != nil {
		return err
	}

	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), file); err != nil {
		return err
	}

	if dir, err := os.Open(filepath.Dir(file)); err == nil { // has the new name on the disk, too
		_ = dir.Sync() // not every system can; the name is right in any case
		_ = dir.Close()
	}

	return nil
}

// Rewrite is Replace with the mode that the file has; mode is that of a new one. A link is replaced,
// because in a checkout others have chosen where it leads.
func Rewrite(path string, text []byte, mode fs.FileMode) error {
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}

	return Replace(path, text, mode)
}

// RewriteLinked is Rewrite of what a link leads to, for a file of the user's own.
func RewriteLinked(path string, text []byte, mode fs.FileMode) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}

	return Rewrite(path, text, mode)
}
