package clock_test

import (
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/clock"
)

// TestClockIsMonotonic: what a holder counts its lease by goes on when somebody sets the machine's
// clock back; a wall clock alone would let it believe for hours longer (package time, "Monotonic
// Clocks").
func TestClockIsMonotonic(t *testing.T) {
	if now := (clock.Machine{}).Now(); !strings.Contains(now.String(), " m=+") {
		t.Errorf("the clock shows %s, without a monotonic reading", now)
	}
}
