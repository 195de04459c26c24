package setup

import (
	"errors"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/state"
)

// Misconfigured reports whether an error of Open means that the program was called or configured
// wrongly, rather than that something could not be found out.
func Misconfigured(err error) bool {
	var (
		conf  *config.Error
		ref   *host.ReferenceError
		value *SettingError
		name  *state.RepoNameError
	)

	return errors.As(err, &conf) || errors.As(err, &ref) || errors.As(err, &value) || errors.As(err, &name)
}
