package app

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
)

// publicGitHub lets programs reach the embedded GitHub as github.com and api.github.com, so that
// what they print has the addresses that people see: a proxy of this test leads there, with a
// certificate that only these programs trust. It returns their environment.
func publicGitHub(t *testing.T, server *githubsim.Server) []string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "github.com"},
		DNSNames:              []string{"github.com", "api.github.com"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}

	trusted := filepath.Join(t.TempDir(), "github.pem")
	if err := os.WriteFile(trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		0o644); err != nil {
		t.Fatal(err)
	}

	inner := &connections{arrive: make(chan net.Conn), shut: make(chan struct{})}
	site := &http.Server{Handler: server, ReadHeaderTimeout: time.Minute}
	config := &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		MinVersion:   tls.VersionTLS12,
	}
	go site.Serve(tls.NewListener(inner, config))
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		proxy.Close()
		site.Close()
	})

	go func() {
		for {
			conn, err := proxy.Accept()
			if err != nil {
				return
			}
			go inner.tunnel(conn)
		}
	}()

	url := "http://" + proxy.Addr().String()
	return []string{
		"NO_PROXY=", "no_proxy=", "HTTPS_PROXY=" + url, "https_proxy=" + url, "SSL_CERT_FILE=" + trusted,
		"GIT_SSL_CAINFO=" + trusted,
	}
}

// connections is a listener for what comes through the proxy.
type connections struct {
	arrive chan net.Conn
	shut   chan struct{}
	once   sync.Once
}

// tunnel answers a proxy's CONNECT. Whatever was asked for, it leads to the embedded GitHub, whose
// certificate says whether it is meant.
func (c *connections) tunnel(conn net.Conn) {
	in := bufio.NewReader(conn)
	r, err := http.ReadRequest(in)
	if err != nil || r.Method != http.MethodConnect || in.Buffered() > 0 {
		conn.Close()
		return
	}
	if _, err := conn.Write([]byte("HTTP/1.1 200 OK\r\n\r\n")); err != nil {
		conn.Close()
		return
	}

	select {
	case c.arrive <- conn:
	case <-c.shut:
		conn.Close()
	}
}

// Accept is net.Listener's.
func (c *connections) Accept() (net.Conn, error) {
	select {
	case conn := <-c.arrive:
		return conn, nil
	case <-c.shut:
		return nil, net.ErrClosed
	}
}

// Close is net.Listener's.
func (c *connections) Close() error {
	c.once.Do(func() { close(c.shut) })
	return nil
}

// Addr is net.Listener's.
func (c *connections) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// inPublic is stage on a GitHub that is known as github.com.
func inPublic(t *testing.T, token string, edits ...func(*githubsim.Seed)) []string {
	t.Helper()
	server, dir := scenarioServer(t, edits...)
	return append(publicGitHub(t, server), "HOME="+dir, "GH_TOKEN="+token, "GIT_CONFIG_NOSYSTEM=1", "DISPLAY=",
		"WAYLAND_DISPLAY=", "BROWSER=")
}
