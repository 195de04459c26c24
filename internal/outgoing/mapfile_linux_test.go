package outgoing

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// TestMapFileShorterThanItSays: a file that ends before its size is an error that names it. Files of /sys say a page.
func TestMapFileShorterThanItSays(t *testing.T) {
	const path = "/sys/devices/system/cpu/online"
	if info, err := os.Stat(path); err != nil || info.Size() < 4096 {
		t.Skip("no file here says more than it has")
	}
	if data, _, err := mapFile(path, 1<<20); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), path) {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}
