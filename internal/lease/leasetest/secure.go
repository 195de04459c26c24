package leasetest

import (
	"crypto/tls"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
)

// A Guarded store speaks TLS, and asks its clients for a certificate of its authority.
type Guarded struct {
	// Serve starts one; admin is how it can be asked whether it is up, whatever its certificate.
	Serve func(t *testing.T, server Pair, authority string, admin *tls.Config) (address string)
	Open  lease.Opener
}

// Secure holds a kind of store to who may talk to whom: where either side does not trust the other
// nothing is read or written, and the error is a *lease.DeniedError that says which side it was.
func Secure(t *testing.T, g Guarded) {
	own, other := NewAuthority(t), NewAuthority(t)
	later, before := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	client := own.Pair("worker", later)
	admin := own.Config(client)
	admin.InsecureSkipVerify = true
	named := own.Config(client) // by the caller; the address has what the certificate says
	named.ServerName = "other.example"
	at := g.Serve(t, own.Pair("store", later), own.File, admin)
	stale := g.Serve(t, own.Pair("store", before), own.File, admin)
	for name, c := range map[string]struct {
		at     string
		secure *tls.Config
		want   string // of the remedy; empty is a store that can be used
	}{
		"right authority and certificate": {at, own.Config(client), ""},
		"the system's authorities":        {at, nil, "LABEL_STATE_LEASE_CA"},
		"wrong authority":                 {at, other.Config(client), "LABEL_STATE_LEASE_CA"},
		"no certificate":                  {at, own.Config(), "LABEL_STATE_LEASE_CERT"},
		"certificate of another":          {at, own.Config(other.Pair("worker", later)), "LABEL_STATE_LEASE_CERT"},
		"certificate that has ended":      {at, own.Config(own.Pair("worker", before)), "LABEL_STATE_LEASE_CERT"},
		"store's certificate has ended":   {stale, own.Config(client), "has expired"},
		"store of another name":           {at, named, "LABEL_STATE_LEASE_CA"},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			err := visit(t, g, c.at, c.secure)
			var denied *lease.DeniedError
			switch {
			case c.want == "" && err != nil:
				t.Errorf("%v", err)
			case c.want != "" && (!errors.As(err, &denied) || !strings.Contains(denied.Remedy, c.want)):
				t.Errorf("%v, want a remedy with %q", err, c.want)
			}

			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("the answer took %s", d)
			}
		})
	}
}

// visit claims, looks, renews and releases.
func visit(t *testing.T, g Guarded, at string, secure *tls.Config) error {
	t.Helper()
	s, err := g.Open(secure, at)
	if err != nil {
		return err
	}

	defer s.Close()
	i := claim.Issue{Owner: "acme", Repo: "app", Number: 7}
	l, err := s.Acquire(t.Context(),
		lease.Ask{Issue: i, Worker: claim.Worker{Codename: "ann", FiringID: "1"}, TTL: time.Minute})
	if err != nil {
		return err
	}

	if _, held, err := s.Look(t.Context(), i); err != nil || !held {
		t.Errorf("look: %t, %v", held, err)
	}
	_, err = s.Renew(t.Context(), l)

	return errors.Join(err, s.Release(t.Context(), l))
}
