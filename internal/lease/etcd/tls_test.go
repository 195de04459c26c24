package etcd

import (
	"context"
	"crypto/tls"
	"os"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/label-state/label-state/internal/lease/leasetest"
)

// TestSecure asks a real member that speaks nothing but TLS with its clients.
func TestSecure(t *testing.T) {
	t.Parallel()
	path := leasetest.Find(t, os.Getenv("LABEL_STATE_REQUIRE"), "etcd", "etcd")
	leasetest.Secure(t, leasetest.Guarded{
		Open: Open,
		Serve: func(t *testing.T, server leasetest.Pair, authority string, admin *tls.Config) string {
			ports := leasetest.FreePorts(t, 2)
			clients, peers := "https://"+leasetest.Loopback(ports[0]), "http://"+leasetest.Loopback(ports[1])
			leasetest.Start(t, func() error { return up(clients, admin) }, path,
				"--data-dir", t.TempDir(), "--logger", "zap", "--log-level", "fatal",
				"--listen-client-urls", clients, "--advertise-client-urls", clients,
				"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default="+peers,
				"--cert-file", server.Cert, "--key-file", server.Key, "--client-cert-auth", "--trusted-ca-file", authority)
			return clients
		},
	})
}

func up(endpoint string, admin *tls.Config) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, TLS: admin, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Get(ctx, "up")
	return err
}
