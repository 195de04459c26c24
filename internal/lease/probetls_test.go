package lease_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/leasetest"
)

// TestProbeTLS: a no is a *lease.DeniedError; what says nothing about certificates is for the
// client to find out. A real store is probed by the exam of redis.
func TestProbeTLS(t *testing.T) {
	own := leasetest.NewAuthority(t)
	later := time.Now().Add(time.Hour)
	trusting := own.Config(own.Pair("worker", later))
	demanding := own.Config(own.Pair("store", later))
	demanding.ClientAuth, demanding.ClientCAs = tls.RequireAndVerifyClientCert, demanding.RootCAs
	modern := demanding.Clone()
	modern.MinVersion = tls.VersionTLS13

	old := own.Config(own.Pair("store", later.Add(-2*time.Hour)))
	show, authority := "LABEL_STATE_LEASE_CERT", "LABEL_STATE_LEASE_CA"

	for name, c := range map[string]struct {
		server, client *tls.Config
		remedy         string // a part; empty where nothing is refused
	}{
		"both accept":                       {demanding, trusting, ""},
		"no certificate":                    {demanding, own.Config(), show},
		"TLS 1.3 only":                      {modern, trusting, ""},
		"TLS 1.3 only, and no certificate":  {modern, own.Config(), ""}, // the client hears it
		"TLS 1.3 only, and unknown to us":   {modern, nil, authority},
		"unknown to us":                     {demanding, nil, authority},
		"expired":                           {old, trusting, "has expired"},
		"a server that hangs up":            {nil, trusting, ""},
		"a server that hangs up on anybody": {nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := lease.ProbeTLS(t.Context(), c.client, shaking(t, c.server))
			var denied *lease.DeniedError
			if errors.As(err, &denied) && denied == nil || (denied != nil) != (c.remedy != "") ||
				err != nil && c.remedy == "" ||
				denied != nil && (!strings.Contains(denied.Remedy, c.remedy) || denied.Unwrap() == nil) {
				t.Errorf("%v, remedy %+v, want %q", err, denied, c.remedy)
			}
		})
	}
}

// TestProbeTLSOnce: a store of TLS 1.2 says all in one handshake.
func TestProbeTLSOnce(t *testing.T) {
	own := leasetest.NewAuthority(t)
	conf := own.Config(own.Pair("store", time.Now().Add(time.Hour)))
	for most, want := range map[uint16]int32{tls.VersionTLS12: 1, tls.VersionTLS13: 2} {
		conf.MaxVersion = most
		var came atomic.Int32
		address := serving(t, func(c net.Conn) {
			came.Add(1)
			_ = tls.Server(c, conf).HandshakeContext(context.Background())
			_ = c.Close()
		})
		if err := lease.ProbeTLS(t.Context(), own.Config(), address); err != nil || came.Load() != want {
			t.Errorf("%s: %d handshakes, %v, want %d", tls.VersionName(most), came.Load(), err, want)
		}
	}
}

// TestProbeTLSWithoutAlert: a store that asks for a certificate and then hangs up does not accept
// the one that it was shown, though nothing says so. Of one that says nothing until the time is
// over nobody knows.
func TestProbeTLSWithoutAlert(t *testing.T) {
	own := leasetest.NewAuthority(t)
	worker := own.Config(own.Pair("worker", time.Now().Add(time.Hour)))
	asking := func(then func(net.Conn)) string {
		return serving(t, func(c net.Conn) {
			conf := own.Config(own.Pair("store", time.Now().Add(time.Hour)))
			conf.ClientAuth, conf.MaxVersion = tls.RequireAnyClientCert, tls.VersionTLS12
			conf.VerifyPeerCertificate = func([][]byte, [][]*x509.Certificate) error {
				then(c)
				return errors.New("no")
			}
			_ = tls.Server(c, conf).HandshakeContext(context.Background())
			_ = c.Close()
		})
	}

	var denied *lease.DeniedError
	err := lease.ProbeTLS(t.Context(), worker, asking(func(c net.Conn) { _ = c.Close() }))
	if !errors.As(err, &denied) || denied == nil || !strings.Contains(denied.Remedy, lease.CertVariable) {
		t.Errorf("it hangs up: %v, remedy %+v", err, denied)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := lease.ProbeTLS(ctx, worker, asking(func(net.Conn) { <-t.Context().Done() })); err != nil {
		t.Errorf("it says nothing: %v, want no opinion", err)
	}
}

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

// shaking shakes hands with everybody, or with nil hangs up.
func shaking(t *testing.T, conf *tls.Config) string {
	return serving(t, func(c net.Conn) {
		if conf != nil {
			_ = tls.Server(c, conf).HandshakeContext(context.Background()) // the other side hears why not
		}
		_ = c.Close()
	})
}

// serving does the same with everybody who connects to the address, one after the other.
func serving(t *testing.T, with func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			with(c)
		}
	}()

	return l.Addr().String()
}

// TestProbeTLSOtherProtocol: a server that answers something else, and one that says nothing.
func TestProbeTLSOtherProtocol(t *testing.T) {
	talk := func(say string) string {
		return serving(t, func(c net.Conn) {
			t.Cleanup(func() { _ = c.Close() })
			_, _ = c.Write([]byte(say))
		})
	}

	var denied *lease.DeniedError
	if err := lease.ProbeTLS(t.Context(), nil, talk("HTTP/1.1 400 Bad Request\r\n\r\n")); !errors.As(err, &denied) ||
		!strings.Contains(denied.Remedy, "use the port with TLS") {
		t.Errorf("a server without TLS: %v", err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := lease.ProbeTLS(ctx, nil, talk("")); err != nil {
		t.Errorf("a silent server: %v, want no opinion", err)
	}
}
