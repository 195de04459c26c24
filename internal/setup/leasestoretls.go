package setup

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/printable"
)

// secured is how a store at that URL is to be recognized, and recognizes us; nil is the system's
// way. If a variable asks for it, a URL without TLS is an error: the password would go in clear.
// The error is an answer.Config.
func (e Environment) secured(url string) (*tls.Config, error) {
	ca, cert, key := e.Getenv(lease.CAVariable), e.Getenv(lease.CertVariable), e.Getenv(lease.KeyVariable)
	names := []string{lease.CAVariable, lease.CertVariable, lease.KeyVariable}
	set := slices.IndexFunc(names, func(name string) bool { return e.Getenv(name) != "" })
	if set < 0 {
		return nil, nil
	}
	if scheme, _, _ := strings.Cut(url, "://"); scheme != "rediss" && scheme != "unix" {
		return nil, unusable(names[set], "",
			"it is set, and the store's address begins with %s://, which is without TLS", scheme)
	}

	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		text, err := e.pem(lease.CAVariable, ca)
		if err != nil {
			return nil, err
		}

		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(text) {
			return nil, unusable(lease.CAVariable, "", "there is no certificate in it")
		}
	}

	switch {
	case cert == "" && key == "":
		return conf, nil
	case cert == "":
		return nil, unusable(lease.CertVariable, "", "it is not set, but %s is", lease.KeyVariable)
	case key == "":
		return nil, unusable(lease.KeyVariable, "", "it is not set, but %s is", lease.CertVariable)
	}

	// This machine's certificate with its key.
	certText, err := e.pem(lease.CertVariable, cert)
	if err != nil {
		return nil, err
	}

	keyText, err := e.pem(lease.KeyVariable, key)
	if err != nil {
		return nil, err
	}

	own, err := tls.X509KeyPair(certText, keyText)
	if err != nil {
		return nil, unusable(lease.CertVariable, "",
			"does not match the key in %s: %w", lease.KeyVariable, err)
	}

	conf.Certificates = []tls.Certificate{own}
	return conf, nil
}

// pem is what the variable holds, or what is in the file that it names. What a variable holds is
// never in an error.
func (e Environment) pem(name, value string) ([]byte, error) {
	text := []byte(value)
	if !strings.Contains(value, "-----BEGIN ") {
		var err error
		if text, err = os.ReadFile(e.Path(value)); err != nil {
			return nil, unusable(name, "", "read the file that it names: %w", printable.Cause(err))
		}
	}

	if block, _ := pem.Decode(text); block == nil {
		return nil, unusable(name, "", "expected PEM, or a file with it")
	}

	return text, nil
}
