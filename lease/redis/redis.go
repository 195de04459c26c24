// Package redis lets package labelstate use a lease store on a Redis server. Only a repository
// whose configuration says claim.lease: redis needs it; a program that does not import it is not
// linked with a client of Redis.
//
//	c, err := labelstate.Open(ctx, labelstate.Options{
//		Repo: "acme/app", Token: token, Stores: []labelstate.Store{redis.Store("rediss://user:password@redis.example:6379", nil)},
//	})
package redis

import (
	"crypto/tls"

	labelstate "github.com/label-state/label-state"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/redis"
)

// Store returns the lease store at a redis:// or rediss:// URL, with the password in it. It
// connects when a claim first asks it. config is for rediss://; nil trusts what the system trusts.
// With [labelstate.FromEnvironment] and no URL, both come from the variables that the command line
// reads.
func Store(url string, config *tls.Config) labelstate.Store {
	return lease.Service{
		Name: lease.Redis,
		Open: redis.Open,
		URL:  url,
		TLS:  config,
	}
}
