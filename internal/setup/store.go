package setup

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/gitref"
	"github.com/label-state/label-state/internal/ledger"
)

// store opens what the configuration says decides; nil is the log itself. A store that this program
// cannot open answers everything with an error: nothing else may decide in its place.
func (e Environment) store(c *github.Client, conf config.Config) lease.Store {
	switch kind := conf.Claim.Lease; kind {
	case lease.Comments:
		return nil
	case lease.Refs:
		return gitref.New(c, gitref.Options{Sleep: Clock().Sleep})
	default:
		return lease.NewLate(func() (lease.Remote, error) {
			open, linked := e.Stores[kind]
			if !linked {
				return nil, fmt.Errorf("%w: %s", lease.ErrNotLinked, kind)
			}
			at, bad := conf.Addresses(e.Getenv)
			if bad != nil {
				return nil, unusable(bad)
			}
			secure, err := e.secured(at)
			if err != nil {
				return nil, err
			}
			return open(secure, at...)
		})
	}
}

// decided gives the ledger the store that decides, if it is not the log itself.
func decided(l *ledger.Ledger, s lease.Store, kind string, dryRun bool) *ledger.Ledger {
	if s == nil {
		return l
	}
	if dryRun {
		s = lease.ReadOnly(s)
	}
	return l.Strict(s, kind)
}

// agrees makes sure, once, that the configuration which is on this machine names the store that the
// repository's default branch names: two that decide are none. What may not be read there is what a
// login without contents: read sees, which can use no other store than the log.
func agrees(c *github.Client, r ledger.Repo, conf *configuration) func(context.Context) error {
	var mu sync.Mutex
	asked := false
	return func(ctx context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		if asked {
			return nil
		}
		theirs, err := published(ctx, c, r, config.Path)
		var denied *github.PermissionError
		switch here := conf.Store(); {
		case errors.As(err, &denied) && conf.Claim.Lease == lease.Comments:
		case err != nil:
			return fmt.Errorf("read which lease store decides: %w", err)
		case theirs.Store() != here:
			return &config.Error{
				File: conf.source, Path: "claim.lease",
				Problem: fmt.Sprintf("is %s, and on the default branch of %s it is %s", here, r, theirs.Store()),
				Allowed: "what the default branch says, so that everybody asks the same one",
			}
		}
		asked = true
		return nil
	}
}

// unusable says what is wrong with the variable by which this machine logs in to the store.
func unusable(l *config.Login) *SettingError {
	e := &SettingError{Setting: l.Variable, Err: l.Err}
	if l.Want != "" {
		e.Do = "export " + l.Variable + "=" + l.Want
	}
	return e
}
