package setup_test

import (
	"fmt"
	"testing"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/setup"
)

func TestMisconfigured(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{&config.Error{}, true},
		{&host.ReferenceError{}, true},
		{fmt.Errorf("open: %w", &setup.SettingError{Err: fmt.Errorf("x")}), true},
		{&setup.NoTokenError{}, false},
		{&setup.BadTokenError{}, false},
	} {
		if got := setup.Misconfigured(c.err); got != c.want {
			t.Errorf("Misconfigured(%v) = %v", c.err, got)
		}
	}
}
