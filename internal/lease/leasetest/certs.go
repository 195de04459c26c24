package leasetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// An Authority signs certificates for one test. Its files are PEM.
type Authority struct {
	t    testing.TB
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	File string // its own certificate
}

// A Pair is a certificate with its key, in files.
type Pair struct{ Cert, Key string }

// NewAuthority makes an authority that nobody knows yet.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t, dir: t.TempDir()}
	a.cert, a.key = a.sign(&x509.Certificate{
		Subject:               pkix.Name{CommonName: "Authority of a test"},
		NotAfter:              time.Now().Add(time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	})
	a.File = a.write("CERTIFICATE", a.cert.Raw)

	return a
}

// Pair signs a certificate for this machine, as server and as client, that ends then.
func (a *Authority) Pair(name string, end time.Time) Pair {
	a.t.Helper()
	leaf, key := a.sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: name},
		NotAfter:    end,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		KeyUsage:    x509.KeyUsageDigitalSignature,
	})
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}

	return Pair{a.write("CERTIFICATE", leaf.Raw), a.write("PRIVATE KEY", der)}
}

// sign makes a certificate with a new key, signed by the authority; the first one, its own, by
// itself.
func (a *Authority) sign(c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}

	c.SerialNumber, c.NotBefore = big.NewInt(time.Now().UnixNano()), time.Now().Add(-48*time.Hour)
	by, signer := a.cert, a.key
	if by == nil {
		by, signer = c, key
	}

	der, err := x509.CreateCertificate(rand.Reader, c, by, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}

	signed, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}

	return signed, key
}

func (a *Authority) write(kind string, der []byte) string {
	a.t.Helper()
	f, err := os.CreateTemp(a.dir, "*.pem")
	if err != nil {
		a.t.Fatal(err)
	}

	defer f.Close()
	if err := pem.Encode(f, &pem.Block{Type: kind, Bytes: der}); err != nil {
		a.t.Fatal(err)
	}

	return filepath.Clean(f.Name())
}

// Config trusts the authority, and shows the certificates.
func (a *Authority) Config(own ...Pair) *tls.Config {
	a.t.Helper()
	conf := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
	conf.RootCAs.AddCert(a.cert)

	for _, p := range own {
		c, err := tls.LoadX509KeyPair(p.Cert, p.Key)
		if err != nil {
			a.t.Fatal(err)
		}
		conf.Certificates = append(conf.Certificates, c)
	}

	return conf
}
