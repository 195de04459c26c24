package smallfile_test

import (
	"errors"
	"testing"

	"github.com/label-state/label-state/internal/smallfile"
)

// TestLongerThanItSays: the size that the system tells is not believed; files of /proc say 0.
func TestLongerThanItSays(t *testing.T) {
	var large smallfile.Large
	if data, err := smallfile.Read("/proc/self/status", 64); !errors.As(err, &large) {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}
