package redis

import (
	"crypto/tls"
	"net"
	"os"
	"strconv"
	"testing"

	"github.com/label-state/label-state/internal/lease/leasetest"
)

// TestSecure asks a real Redis that speaks nothing but TLS.
func TestSecure(t *testing.T) {
	path := leasetest.Find(t, os.Getenv("LABEL_STATE_REQUIRE"), "redis", "redis-server")
	leasetest.Secure(t, leasetest.Guarded{
		Open: Open,
		Serve: func(t *testing.T, server leasetest.Pair, authority string, _ *tls.Config) string {
			port := leasetest.FreePorts(t, 1)[0]
			leasetest.Start(t, listens(port), path, "--bind", "127.0.0.1", "--port", "0", "--tls-port",
				strconv.Itoa(port), "--dir", t.TempDir(), "--save", "",
				"--tls-cert-file", server.Cert, "--tls-key-file", server.Key, "--tls-ca-cert-file", authority)
			return "rediss://" + leasetest.Loopback(port)
		},
	})
}

// listens is ready once somebody takes connections there.
func listens(port int) func() error {
	return func() error {
		c, err := net.Dial("tcp", leasetest.Loopback(port))
		if err == nil {
			err = c.Close()
		}
		return err
	}
}
