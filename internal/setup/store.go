package setup

import (
	"fmt"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/gitref"
)

// store opens what the configuration says decides; nil is the log itself. A store that this program
// cannot open answers everything with an error: nothing else may decide in its place.
func (e Environment) store(c *github.Client, conf config.Config) lease.Store {
	switch kind := conf.Claim.Lease; kind {
	case lease.Comments:
		return nil
	case lease.Refs:
		c.ShowLeases()
		return gitref.New(c, gitref.Options{Sleep: Clock().Sleep})
	default:
		return lease.NewLate(func() (lease.Remote, error) {
			if s, given := e.Services[kind]; given {
				at, bad := conf.Addresses(func(string) string { return s.Secret })
				if bad != nil {
					return nil, fmt.Errorf("log in to the lease store %s: %w", kind, bad.Err)
				}
				return s.Open(s.TLS, at...)
			}
			open, linked := e.Stores[kind]
			if !linked {
				return nil, fmt.Errorf("%w: %s", lease.ErrNotLinked, kind)
			}
			at, bad := conf.Addresses(e.Getenv)
			if bad != nil {
				wrong := &SettingError{Setting: bad.Variable, Err: bad.Err}
				if bad.Want != "" {
					wrong.Do = "export " + bad.Variable + "=" + bad.Want
				}
				return nil, wrong
			}
			secure, err := e.secured(at)
			if err != nil {
				return nil, err
			}
			return open(secure, at...)
		})
	}
}
