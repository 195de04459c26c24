package setup

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
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
			at, err := e.addresses(conf.Lease, kind)
			if err != nil {
				return nil, err
			}
			secure, err := e.secured(at)
			if err != nil {
				return nil, err
			}
			return open(secure, at...)
		})
	}
}

// addresses are where the store is, with what this machine logs in by.
func (e Environment) addresses(l config.Lease, kind string) ([]string, error) {
	if kind == lease.Etcd {
		return e.members(l)
	}
	at := e.Getenv(l.RedisURLEnv)
	if at == "" {
		return nil, &SettingError{Setting: l.RedisURLEnv, Err: errors.New("it is not set; it holds the URL of the lease store"), Do: "export " + l.RedisURLEnv + "=redis://USER:PASSWORD@HOST:6379"}
	}
	return []string{at}, nil
}

// members are the cluster's addresses. The repository says where they are and this machine who it is, so
// that the login names the hosts it is for: a strange repository could send it anywhere.
func (e Environment) members(l config.Lease) ([]string, error) {
	if l.EtcdAuthEnv == "" {
		return l.Endpoints, nil
	}
	value := e.Getenv(l.EtcdAuthEnv)
	at := strings.LastIndexByte(value, '@')
	user, password, ok := strings.Cut(value[:max(at, 0)], ":")
	if at < 0 || !ok || user == "" {
		return nil, &SettingError{Setting: l.EtcdAuthEnv, Err: errors.New("want USER:PASSWORD@HOST,HOST, the login and the members it is for"), Do: "export " + l.EtcdAuthEnv + "=USER:PASSWORD@HOST"}
	}
	hosts := strings.Split(value[at+1:], ",")
	var out []string
	for _, endpoint := range l.Endpoints {
		u, err := url.Parse(endpoint)
		if err != nil || !slices.Contains(hosts, u.Hostname()) {
			return nil, &SettingError{Setting: l.EtcdAuthEnv, Err: fmt.Errorf("it is not for %s, which the configuration names", endpoint)}
		}
		u.User = url.UserPassword(user, password)
		out = append(out, u.String())
	}
	return out, nil
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
		switch here := describe(conf.Config); {
		case errors.As(err, &denied) && conf.Claim.Lease == lease.Comments:
		case err != nil:
			return fmt.Errorf("read which lease store decides: %w", err)
		case describe(theirs.Config) != here:
			return &config.Error{
				File: conf.source, Path: "claim.lease",
				Problem: fmt.Sprintf("is %s, and on the default branch of %s it is %s", here, r, describe(theirs.Config)),
				Allowed: "what the default branch says, so that everybody asks the same one",
			}
		}
		asked = true
		return nil
	}
}

// describe names a store and where it is.
func describe(c config.Config) string {
	switch c.Claim.Lease {
	case lease.Redis:
		return "redis at " + c.Lease.RedisURLEnv
	case lease.Etcd:
		return "etcd at " + strings.Join(c.Lease.Endpoints, ", ")
	}
	return c.Claim.Lease
}
