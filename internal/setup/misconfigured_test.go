package setup_test

import (
	"fmt"
	"testing"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/setup"
)

func TestMisconfigured(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{&config.Error{}, true},
		{&answer.Problem{Code: answer.Usage}, true},
		{fmt.Errorf("open: %w", &answer.Problem{Code: answer.Config}), true},
		{&setup.NoTokenError{}, false},
		{&answer.Problem{Code: answer.BadToken}, false},
	} {
		if got := setup.Misconfigured(c.err); got != c.want {
			t.Errorf("Misconfigured(%v) = %v", c.err, got)
		}
	}
}
