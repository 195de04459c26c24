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
	a.key = newKey(t)
	root := template("Authority of a test", time.Now().Add(time.Hour))
	root.IsCA, root.BasicConstraintsValid, root.KeyUsage = true, true, x509.KeyUsageCertSign
	a.cert = a.sign(root, root, a.key)
	a.File = a.write("CERTIFICATE", a.cert.Raw)
	return a
}

// Pair signs a certificate for this machine, as server and as client, that ends then.
func (a *Authority) Pair(name string, end time.Time) Pair {
	a.t.Helper()
	key := newKey(a.t)
	leaf := template(name, end)
	leaf.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	leaf.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	return Pair{a.write("CERTIFICATE", a.sign(leaf, a.cert, key).Raw), a.write("PRIVATE KEY", der)}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func template(name string, end time.Time) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: end,
	}
}

func (a *Authority) sign(c, by *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	a.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, c, by, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return signed
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
