//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package outgoing

import "os"

// mapFile gives a file's content. unmap ends its validity.
func mapFile(path string) (data []byte, unmap func(), err error) {
	data, err = os.ReadFile(path)
	return data, func() {}, err
}
