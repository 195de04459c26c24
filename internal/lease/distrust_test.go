package lease_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/lease"
)

// TestDistrust: what a failed handshake says about certificates is a refusal, and nothing else is.
func TestDistrust(t *testing.T) {
	expired := x509.CertificateInvalidError{Reason: x509.Expired}
	chain := x509.CertificateInvalidError{Reason: x509.TooManyIntermediates}
	for _, c := range []struct {
		err    error
		remedy string // a part; empty where nothing is refused
	}{
		{&tls.CertificateVerificationError{Err: expired}, "has expired"},
		{&tls.CertificateVerificationError{Err: chain}, lease.CAVariable},
		{&net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")}, lease.CertVariable},
		{&net.OpError{Op: "dial", Err: errors.New("connection refused")}, ""},
		{tls.RecordHeaderError{}, "the port with TLS"},
		{errors.New("hung up"), ""},
	} {
		got := lease.Distrust(c.err)
		var denied *lease.DeniedError
		if c.remedy == "" {
			if !errors.Is(got, c.err) || errors.As(got, &denied) {
				t.Errorf("%v: %v", c.err, got)
			}
			continue
		}
		if !errors.As(got, &denied) || denied == nil || denied.Err == nil ||
			!strings.Contains(denied.Remedy, c.remedy) {
			t.Errorf("%v: %+v, want %q", c.err, denied, c.remedy)
		}
	}
}
