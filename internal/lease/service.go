package lease

import "crypto/tls"

// A Service is a store that is a service of its own, with this machine's login to it.
type Service struct {
	Name string // what claim.lease calls it
	Open Opener
	URL  string      // with the password in it
	TLS  *tls.Config // nil is by what the system trusts
}

// Kind returns the name.
func (s Service) Kind() string { return s.Name }
