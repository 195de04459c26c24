package etcd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/label-state/label-state/internal/lease/leasetest"
)

// A cluster is so many real members on loopback.
type cluster struct {
	t       *testing.T
	urls    []string // of the members, for clients
	members []*leasetest.Program
	admin   *clientv3.Client
}

// start runs a cluster of so many members until the test ends.
func start(t *testing.T, size int) *cluster {
	t.Helper()
	path := leasetest.Find(t, os.Getenv("LABEL_STATE_REQUIRE"), "etcd", "etcd")
	c := &cluster{t: t}
	ports := leasetest.FreePorts(t, 2*size)
	var peers, names []string
	for k := range size {
		c.urls = append(c.urls, "http://"+leasetest.Loopback(ports[2*k]))
		peers = append(peers, "http://"+leasetest.Loopback(ports[2*k+1]))
		names = append(names, fmt.Sprintf("m%d=%s", k, peers[k]))
	}
	c.admin = c.connect(clientv3.Config{})
	for k := range size {
		p := leasetest.New(t, c.answers(k), path,
			"--name", fmt.Sprintf("m%d", k), "--data-dir", t.TempDir(), "--logger", "zap", "--log-level", "error",
			"--listen-client-urls", c.urls[k], "--advertise-client-urls", c.urls[k],
			"--listen-peer-urls", peers[k], "--initial-advertise-peer-urls", peers[k],
			"--initial-cluster", strings.Join(names, ","), "--heartbeat-interval", "100", "--election-timeout", "1000")
		p.Begin()
		c.members = append(c.members, p)
	}
	for _, p := range c.members {
		p.Ready()
	}
	if t.Failed() {
		t.FailNow()
	}
	return c
}

// connect returns a client of all members; what config leaves out is filled in.
func (c *cluster) connect(config clientv3.Config) *clientv3.Client {
	c.t.Helper()
	config.Endpoints, config.Logger, config.DialTimeout = c.urls, zap.NewNop(), 5*time.Second
	client, err := clientv3.New(config)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = client.Close() })
	return client
}

// answers is whether a member takes part: it knows the leader and can read through it.
func (c *cluster) answers(k int) func() error {
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		status, err := c.admin.Status(ctx, c.urls[k])
		if err == nil && status.Leader == 0 {
			err = errors.New("no leader")
		}
		if err != nil {
			return err
		}
		one, err := clientv3.New(clientv3.Config{Endpoints: c.urls[k : k+1], Logger: zap.NewNop(), Context: ctx})
		if err != nil {
			return err
		}
		defer one.Close()
		_, err = one.Get(ctx, "ready")
		return err
	}
}

// leader returns the member that leads, or -1.
func (c *cluster) leader() int {
	for k, u := range c.urls {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		status, err := c.admin.Status(ctx, u)
		cancel()
		if err == nil && status.Leader == status.Header.MemberId {
			return k
		}
	}
	return -1
}

// loseLeader kills the leader, lets the others choose the next one, if there are others, and brings
// the killed one back.
func (c *cluster) loseLeader() {
	k := max(0, c.leader())
	c.members[k].Kill()
	for other, p := range c.members {
		if other != k {
			p.Ready()
		}
	}
	c.members[k].Run()
}
