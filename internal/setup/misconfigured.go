package setup

import (
	"errors"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/config"
)

// Misconfigured reports whether an error of Open means that the program was called or configured
// wrongly, rather than that something could not be found out.
func Misconfigured(err error) bool {
	_, is := errors.AsType[*config.Error](err)
	return is || answer.Is(err, answer.Config) || answer.Is(err, answer.Usage)
}
