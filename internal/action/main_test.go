package action_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets garbage lie: what a test makes is small and dies young.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
