// Package services names the lease stores that are services of their own, for the programs that can bear to be linked
// with their clients.
package services

import (
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/etcd"
	"github.com/label-state/label-state/internal/lease/redis"
)

// Openers are the ways to open them, by what the configuration calls them.
func Openers() map[string]lease.Opener {
	return map[string]lease.Opener{lease.Redis: redis.Open, lease.Etcd: etcd.Open}
}
