package lease

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"
)

// probeTimeout is how long a store may take to shake hands; one that takes longer is left to its client.
const probeTimeout = 2 * time.Second

// ProbeTLS shakes hands with a store at HOST:PORT and says whether it and this machine accept each other's certificates;
// nil secure is by what the system trusts. Clients of stores do not tell, or not every time: they try again until their
// time is over, and in TLS 1.3 a server's no comes after the handshake. In TLS 1.2 it is a part of it.
// A *DeniedError is a no. Everything else is for the client to find out, and nil.
func ProbeTLS(ctx context.Context, secure *tls.Config, address string) error {
	h := handshake{secure: secure, address: address}
	version, err := h.shake(ctx, 0)
	if err == nil && version > tls.VersionTLS12 {
		_, err = h.shake(ctx, tls.VersionTLS12)
	}
	var denied *DeniedError
	switch {
	case err == nil || isVersion(err):
		return nil
	case errors.As(Distrust(err), &denied):
		return denied
	case h.asked && ctx.Err() == nil: // the alert was lost: who closes with something unread resets the connection
		return &DeniedError{showCertificate, err}
	}
	return nil
}

// isVersion reports whether the server only minds the version, which some do with everything before TLS 1.3.
func isVersion(err error) bool {
	const text = "tls: protocol version not supported" // crypto/tls exports alerts for QUIC only
	var alert *net.OpError
	return errors.As(err, &alert) && alert.Err != nil && alert.Err.Error() == text
}

// A handshake is with one store.
type handshake struct {
	secure  *tls.Config
	address string
	asked   bool // the store wants to see a certificate of ours
}

// shake shakes hands with no later version than most; 0 is any. It returns the version that was agreed on.
func (h *handshake) shake(ctx context.Context, most uint16) (uint16, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if h.secure != nil {
		conf = h.secure.Clone()
	}
	conf.MaxVersion, conf.GetClientCertificate = most, h.show
	raw, err := (&tls.Dialer{Config: conf}).DialContext(ctx, "tcp", h.address)
	if err != nil {
		return 0, err
	}
	defer raw.Close()
	conn, ok := raw.(*tls.Conn)
	if !ok {
		return 0, nil
	}
	return conn.ConnectionState().Version, nil
}

// show is what crypto/tls does without a callback: the first certificate that the server would accept, or none.
func (h *handshake) show(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
	h.asked = true
	if h.secure != nil {
		for n := range h.secure.Certificates {
			if c := &h.secure.Certificates[n]; asked.SupportsCertificate(c) == nil {
				return c, nil
			}
		}
	}
	return &tls.Certificate{}, nil
}
