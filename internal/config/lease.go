package config

import "github.com/label-state/label-state/internal/lease"

// Lease says where the lease store is that Claim.Lease names, if that is a server of its own. The
// URL has a password in it, so the file, which is in the repository, names a variable.
type Lease struct {
	RedisURLEnv string // variable that holds the URL; empty if Claim.Lease is not Redis
}

// checkStore reports a store that is named without its place, and a place that nobody would use.
func (f *file) checkStore(r *reader) {
	const path = "lease." + lease.Redis

	named := f.c.Claim.Lease == lease.Redis
	if named && f.c.Lease.RedisURLEnv == "" {
		r.at("claim.lease", "is redis, and the file does not say which server",
			"lease: {redis: {url_env: LABEL_STATE_REDIS_URL}} beside it")
	}

	if !named && r.has(path) {
		r.at(path, "is not used: claim.lease is "+f.c.Claim.Lease, "claim: {lease: redis}, or leave it out")
	}
}
