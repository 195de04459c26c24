// Package etcd lets package labelstate use a lease store on an etcd cluster. Only a repository whose configuration says
// claim.lease: etcd needs it; a program that does not import it is not linked with a client of etcd.
//
//	c, err := labelstate.Open(ctx, labelstate.Options{
//		Repo: "acme/app", Token: token, Stores: []labelstate.Store{etcd.Store("user:password@etcd-1.example,etcd-2.example", nil)},
//	})
package etcd

import (
	"crypto/tls"

	labelstate "github.com/label-state/label-state"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/etcd"
)

// Store returns the lease store on the members that the repository's configuration names. It connects when a claim first asks it.
// login is USER:PASSWORD@HOST,HOST and goes to no host that it does not name; empty is for a cluster that asks for none.
// config is for members at https://; nil trusts what the system trusts. With [labelstate.FromEnvironment] and no login, both come
// from the variables that the command line reads.
func Store(login string, config *tls.Config) labelstate.Store {
	return lease.Service{Name: lease.Etcd, Open: etcd.Open, Secret: login, TLS: config}
}
