package lease

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
)

// The variables that say who a store with TLS is, and who this machine is to it, where the system's
// authorities and a password do not. Each holds PEM or names a file with it. They are variables
// like all that is secret or differs from machine to machine; a repository's file only says where
// its store is.
const (
	// authorities that may have signed the store's certificate; no others count then
	CAVariable   = "LABEL_STATE_LEASE_CA"
	CertVariable = "LABEL_STATE_LEASE_CERT" // this machine's certificate, and those between it and its authority
	KeyVariable  = "LABEL_STATE_LEASE_KEY"  // the key of that certificate
)

const showCertificate = "put a certificate that the store accepts into " + CertVariable + ", and its key into " +
	KeyVariable

// Distrust makes a *DeniedError of a handshake that failed because one side does not accept what
// the other showed: nothing was asked. Every other error is returned as it is.
func Distrust(err error) error {
	var (
		verify  *tls.CertificateVerificationError
		invalid x509.CertificateInvalidError
		alert   *net.OpError
		record  tls.RecordHeaderError
	)

	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return &DeniedError{"the store's certificate has expired or is not valid yet: renew it, or set this " +
			"machine's clock", err}
	case errors.As(err, &verify):
		return &DeniedError{"name the authority that signed the store's certificate in " + CAVariable +
			", and the store as its certificate does", err}
	case errors.As(err, &alert) && alert.Op == "remote error":
		return &DeniedError{showCertificate, err}
	case errors.As(err, &record):
		return &DeniedError{"the store does not use TLS there: use the port with TLS, or an address that begins " +
			"with redis:// if that is meant", err}
	}

	return err
}
