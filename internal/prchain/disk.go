package prchain

import (
	"errors"
	"os"
	"path/filepath"
)

// Files is the Disk of this machine.
type Files struct{}

// Read returns a file.
func (Files) Read(name string) ([]byte, error) { return os.ReadFile(name) }

// Write makes a file that only its owner reads, and its folder.
func (Files) Write(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Rename gives a file another's name and has the folder on the disk, where the system can do that.
func (Files) Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(to)); err == nil {
		_ = dir.Sync() // not every system can; the name is right in any case
		_ = dir.Close()
	}
	return nil
}

// Lock takes a lock that the system ends with the process, however that ends. The file stays.
func (Files) Lock(name string) (unlock func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	return lockFile(name)
}
