package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/lease"
)

// Lease says where the lease store is that Claim.Lease names, if it is a service of its own. Secrets are
// in the environment: the file is in the repository.
type Lease struct {
	RedisURLEnv string   // variable that holds the URL with its password
	Endpoints   []string // of an etcd cluster
	EtcdAuthEnv string   // variable that holds USER:PASSWORD@HOST,HOST; empty logs in as nobody
}

// A service is a kind of store that is a service of its own: what the file says of it.
type service struct {
	kind, about, example string
	keys                 func(*Lease) rule
	said                 func(Lease) bool   // the file says where it is
	where                func(Lease) string // in words
	addresses            func(Lease, func(string) string) ([]string, *Login)
}

// services are all of them, in the order in which they are told.
func services() []service {
	return []service{
		{
			lease.Redis, "A Redis server", "lease: {redis: {url_env: LABEL_STATE_REDIS_URL}}",
			func(l *Lease) rule {
				return object(key{"url_env", "Variable that holds its redis:// or rediss:// URL.", text(&l.RedisURLEnv, variable())})
			},
			func(l Lease) bool { return l.RedisURLEnv != "" }, func(l Lease) string { return l.RedisURLEnv },
			func(l Lease, getenv func(string) string) ([]string, *Login) {
				at := getenv(l.RedisURLEnv)
				if at == "" {
					return nil, &Login{l.RedisURLEnv, errors.New("it is not set; it holds the URL of the lease store"), "redis://USER:PASSWORD@HOST:6379"}
				}
				return []string{at}, nil
			},
		},
		{
			lease.Etcd, "An etcd cluster", "lease: {etcd: {endpoints: [https://etcd-1.example:2379]}}",
			func(l *Lease) rule { // who has the file has what is in it, so that there is no place for a password
				const allowed = "https:// or http://, a host and a port; a password belongs into the variable that auth_env names"
				return object(
					key{"endpoints", "Addresses of its members.", texts(&l.Endpoints, form{allowed: allowed, pattern: `^https?://[^\s/@?#]+$`, longest: 2000})},
					key{"auth_env", "Variable that holds USER:PASSWORD@HOST,HOST: the login, and the members it is for.", text(&l.EtcdAuthEnv, variable())},
				)
			},
			func(l Lease) bool { return len(l.Endpoints) > 0 }, func(l Lease) string { return strings.Join(l.Endpoints, ", ") }, Lease.members,
		},
	}
}

// Services are the kinds of store that are services of their own.
func Services() []string {
	var kinds []string
	for _, s := range services() {
		kinds = append(kinds, s.kind)
	}
	return kinds
}

// Store names what decides and, if that is a service, where it is. Two configurations that say the same ask the same one.
func (c Config) Store() string {
	for _, s := range services() {
		if s.kind == c.Claim.Lease {
			return s.kind + " at " + s.where(c.Lease)
		}
	}
	return c.Claim.Lease
}

// A Login is a variable that cannot be used to log in to a service.
type Login struct {
	Variable string
	Err      error
	Want     string // what it should hold; empty when that does not help
}

// Addresses are where the service that Claim.Lease names is, with what this machine logs in by; getenv looks up a
// variable. Bad is nil unless that variable cannot be used.
func (c Config) Addresses(getenv func(string) string) (at []string, bad *Login) {
	for _, s := range services() {
		if s.kind == c.Claim.Lease {
			return s.addresses(c.Lease, getenv)
		}
	}
	return nil, nil
}

// members are the cluster's addresses. The repository says where they are and the machine who it is, so that the login
// names the hosts it is for: a strange repository could send it anywhere.
func (l Lease) members(getenv func(string) string) ([]string, *Login) {
	if l.EtcdAuthEnv == "" {
		return l.Endpoints, nil
	}
	value := getenv(l.EtcdAuthEnv)
	at := strings.LastIndexByte(value, '@')
	user, password, ok := strings.Cut(value[:max(at, 0)], ":")
	if at < 0 || !ok || user == "" {
		return nil, &Login{l.EtcdAuthEnv, errors.New("want USER:PASSWORD@HOST,HOST, the login and the members it is for"), "USER:PASSWORD@HOST"}
	}
	hosts := strings.Split(value[at+1:], ",")
	var out []string
	for _, endpoint := range l.Endpoints {
		u, err := url.Parse(endpoint)
		if err != nil || !slices.Contains(hosts, u.Hostname()) {
			return nil, &Login{Variable: l.EtcdAuthEnv, Err: fmt.Errorf("it is not for %s, which the configuration names", endpoint)}
		}
		u.User = url.UserPassword(user, password)
		out = append(out, u.String())
	}
	return out, nil
}
