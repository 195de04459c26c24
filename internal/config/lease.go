package config

import "github.com/label-state/label-state/internal/lease"

// Lease says where the lease store is that Claim.Lease names, if it is a service of its own. Secrets are
// in the environment: the file is in the repository.
type Lease struct {
	RedisURLEnv string   // variable that holds the URL with its password
	Endpoints   []string // of an etcd cluster
	EtcdAuthEnv string   // variable that holds USER:PASSWORD@HOST,HOST; empty logs in as nobody
}

func (f *file) leaseKeys() rule {
	l := &f.c.Lease
	return object(
		key{"redis", "A Redis server, for claim.lease: redis.", object(
			key{"url_env", "Variable that holds its redis:// or rediss:// URL.", text(&l.RedisURLEnv, variable())},
		)},
		key{"etcd", "An etcd cluster, for claim.lease: etcd.", object(
			key{"endpoints", "Addresses of its members.", texts(&l.Endpoints, address())},
			key{"auth_env", "Variable that holds USER:PASSWORD@HOST,HOST: the login, and the members it is for.", text(&l.EtcdAuthEnv, variable())},
		)},
	)
}

// address is a member's. Who has the file has what is in it, so that there is no place for a password.
func address() form {
	return form{allowed: "https:// or http://, a host and a port; a password belongs into the variable that auth_env names", pattern: `^https?://[^\s/@?#]+$`, longest: 2000}
}

// stores reports a store that is named without its settings, and settings that nobody would use.
func (f *file) stores(r *reader) {
	c := f.c
	if c.Claim.Lease == lease.Redis && c.Lease.RedisURLEnv == "" {
		r.at("claim.lease", "is redis, and the file does not say which", "lease: {redis: {url_env: LABEL_STATE_REDIS_URL}} beside it")
	}
	if c.Claim.Lease == lease.Etcd && len(c.Lease.Endpoints) == 0 {
		r.at("claim.lease", "is etcd, and the file does not say which", "lease: {etcd: {endpoints: [https://etcd-1.example:2379]}} beside it")
	}
	for _, kind := range []string{lease.Redis, lease.Etcd} {
		if path := "lease." + kind; r.has(path) && c.Claim.Lease != kind {
			r.at(path, "is not used: claim.lease is "+c.Claim.Lease, "claim: {lease: "+kind+"}, or leave it out")
		}
	}
}
