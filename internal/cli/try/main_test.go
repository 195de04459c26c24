package try_test

import (
	"os"
	"testing"

	"github.com/label-state/label-state/internal/testmain"
)

// TestMain has the tests cost little: package testmain says how.
func TestMain(m *testing.M) {
	os.Exit(testmain.Tests{Play: m.Run, AtOnce: 4}.Run())
}
