package outgoing

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/label-state/label-state/internal/smallfile"
)

// TestPartsBeforeAndAfterMap: a file that is read often gives the same parts, and has the same end.
func TestPartsBeforeAndAfterMap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	text := bytes.Repeat([]byte("0123456789"), 1000)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := openParts(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	for i := range 2 * oftenRead {
		part, err := f.at(int64(i), 25)
		if err != nil || !bytes.Equal(part, text[i:i+25]) {
			t.Fatalf("read %d: %q, %v", i, part, err)
		}
		for _, beyond := range []struct {
			offset int64
			n      int
		}{{int64(len(text)) - 24, 25}, {1 << 62, 25}, {int64(len(text)) + 1, 1}} {
			if part, err := f.at(beyond.offset, beyond.n); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("read %d, %d bytes at %d: %q, %v; want an unexpected end", i, beyond.n, beyond.offset, part, err)
			}
		}
	}
}

// TestMapFile: small files are read, large ones mapped, and ones beyond the limit are neither.
func TestMapFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, size := range []int{0, 1, smallFile, smallFile + 1} {
		text := bytes.Repeat([]byte("x"), size)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		data, unmap, err := mapFile(path, int64(size))
		if err != nil || !bytes.Equal(data, text) {
			t.Fatalf("%d bytes: %d, %v", size, len(data), err)
		}
		unmap()
		var large *smallfile.LargeError
		if _, _, err := mapFile(path, int64(size)-1); !errors.As(err, &large) {
			t.Errorf("%d bytes with a limit of one less: %v", size, err)
		}
	}
}
