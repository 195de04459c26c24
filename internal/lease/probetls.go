package lease

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"
)

// probeTimeout is how long a store may take to shake hands; one that takes longer is left to its
// client.
const probeTimeout = 2 * time.Second

// ProbeTLS shakes hands with a store at HOST:PORT and says whether it and this machine accept each
// other's certificates; nil secure is by what the system trusts. Clients of stores do not tell, or
// not every time: they try again until their time is over, and in TLS 1.3 a server's no comes after
// the handshake. In TLS 1.2 it is a part of it. A *DeniedError is a no. Everything else is for the
// client to find out, and nil.
func ProbeTLS(ctx context.Context, secure *tls.Config, address string) error {
	asked := false // the store wants to see a certificate of ours

	// show is what crypto/tls does without a callback: the first certificate that the store would
	// accept, or none.
	show := func(wants *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		asked = true
		if secure != nil {
			for n := range secure.Certificates {
				if c := &secure.Certificates[n]; wants.SupportsCertificate(c) == nil {
					return c, nil
				}
			}
		}

		return &tls.Certificate{}, nil
	}

	// shake shakes hands with no later version than most; 0 is any. It returns the version that was
	// agreed on.
	shake := func(most uint16) (version uint16, err error) {
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		conf := &tls.Config{MinVersion: tls.VersionTLS12}
		if secure != nil {
			conf = secure.Clone()
		}

		conf.MaxVersion, conf.GetClientCertificate = most, show
		raw, err := (&tls.Dialer{Config: conf}).DialContext(ctx, "tcp", address)
		if err != nil {
			return 0, err
		}

		defer raw.Close()
		if conn, ok := raw.(*tls.Conn); ok {
			version = conn.ConnectionState().Version
		}

		return version, nil
	}

	version, err := shake(0)
	if version > tls.VersionTLS12 {
		_, err = shake(tls.VersionTLS12)
	}

	const badVersion = "tls: protocol version not supported" // crypto/tls exports alerts for QUIC only
	var alert *net.OpError
	var denied *DeniedError
	switch {
	// some mind everything before TLS 1.3
	case err == nil, errors.As(err, &alert) && alert.Err.Error() == badVersion:
		return nil
	case errors.As(Distrust(err), &denied):
		return denied
	case asked && ctx.Err() == nil: // the alert was lost: who closes with something unread resets the connection
		return &DeniedError{showCertificate, err}
	}

	return nil
}
