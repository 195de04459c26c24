package setup

import (
	"errors"
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
		return lease.NewLate(func() (lease.Remote, error) { return e.openServer(kind, conf.Lease.RedisURLEnv) },
			e.Waiting)
	}
}

// openServer opens a store that is a server of its own: one that the caller gave, else the one that
// this program was built with, at the URL in the variable. The error is an answer.Config, also for
// a URL that cannot be read, or lease.ErrNotLinked, or the store's.
func (e Environment) openServer(kind, variable string) (lease.Remote, error) {
	if given, ok := e.Services[kind]; ok {
		return given.Open(given.TLS, given.URL)
	}

	open, linked := e.Stores[kind]
	if !linked {
		return nil, fmt.Errorf("%w: %s", lease.ErrNotLinked, kind)
	}

	url, form := e.Getenv(variable), "export "+variable+"=redis://USER:PASSWORD@HOST:6379"
	if url == "" {
		return nil, unusable(variable, form, "it is not set; it holds the URL of the lease store")
	}

	secure, err := e.secured(url)
	if err != nil {
		return nil, err
	}

	opened, err := open(secure, url)
	if errors.Is(err, lease.ErrAddress) {
		return nil, unusable(variable, form, "%w", err)
	}

	return opened, err
}
