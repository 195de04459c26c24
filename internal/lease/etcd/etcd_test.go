package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/leasetest"
	"github.com/label-state/label-state/internal/sample"
)

// TestExam sits the exam on one real member that is killed in the middle, and, when everything is played, on three members that lose
// their leader there.
func TestExam(t *testing.T) {
	t.Parallel()
	members := []int{1, 3}
	for _, size := range members[:sample.Size(1, len(members))] {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			leasetest.Exam(t, func(t *testing.T) leasetest.Bench { return bench(t, start(t, size)) })
		})
	}
}

func bench(t *testing.T, c *cluster) leasetest.Bench {
	w := &world{wire: &leasetest.Wire{}, admin: c.admin, leases: map[int64]*running{}}
	return leasetest.Bench{
		Client: func(time.Duration) lease.Store {
			return New(c.connect(clientv3.Config{DialOptions: []grpc.DialOption{
				grpc.WithChainUnaryInterceptor(w.unary), grpc.WithChainStreamInterceptor(w.stream),
			}}))
		},
		Advance: func(d time.Duration) { w.advance(t, d) },
		Wire:    w.wire,
		Restart: c.loseLeader,
		TTL:     30 * time.Minute,
		Sparse:  !sample.All(),
	}
}

// A world stands between the clients and the cluster. It spoils requests, and it makes time pass:
// it sees every lease granted and kept alive, and revokes it when its time is over, as the cluster does.
type world struct {
	wire  *leasetest.Wire
	admin *clientv3.Client

	mu     sync.Mutex
	leases map[int64]*running
}

// A running lease has so much time left.
type running struct{ ttl, left time.Duration }

func (w *world) granted(id, ttl int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := time.Duration(ttl) * time.Second
	w.leases[id] = &running{d, d}
}

func (w *world) kept(id int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := w.leases[id]; l != nil {
		l.left = l.ttl
	}
}

func (w *world) advance(t *testing.T, d time.Duration) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, l := range w.leases {
		if l.left -= d; l.left > 0 {
			continue
		}
		delete(w.leases, id)
		if _, err := w.admin.Revoke(t.Context(), clientv3.LeaseID(id)); err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
			t.Fatal(err)
		}
	}
}

func (w *world) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	answered := false
	err := w.wire.Carry(func() error {
		into, ctx := reply, ctx
		if answered { // the request is late, and the caller has gone
			into, ctx = empty(reply), context.WithoutCancel(ctx)
		}
		err := invoke(ctx, method, req, into, cc, opts...)
		if g, ok := into.(*etcdserverpb.LeaseGrantResponse); ok && err == nil {
			w.granted(g.ID, g.TTL)
		}
		return err
	})
	answered = true
	return err
}

// empty is another answer of the same kind.
func empty(reply any) any {
	switch reply.(type) {
	case *etcdserverpb.LeaseGrantResponse:
		return &etcdserverpb.LeaseGrantResponse{}
	case *etcdserverpb.LeaseRevokeResponse:
		return &etcdserverpb.LeaseRevokeResponse{}
	case *etcdserverpb.TxnResponse:
		return &etcdserverpb.TxnResponse{}
	}
	return &etcdserverpb.RangeResponse{}
}

// stream is the way of keep-alives.
func (w *world) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := open(ctx, desc, cc, method, opts...)
	if err != nil || !strings.HasSuffix(method, "/LeaseKeepAlive") {
		return s, err
	}
	return &keepAlives{ClientStream: s, world: w}, nil
}

type keepAlives struct {
	grpc.ClientStream
	world *world
	lost  error // what becomes of the answer
}

func (k *keepAlives) SendMsg(m any) error {
	fault, spoiled := k.world.wire.Next()
	req, ok := m.(*etcdserverpb.LeaseKeepAliveRequest)
	switch {
	case !ok:
		return errors.New("not a keep-alive")
	case spoiled && fault == leasetest.Dropped:
		return leasetest.ErrCut
	case spoiled && fault == leasetest.Late:
		k.world.wire.Postpone(func() { k.world.keepLate(req.ID) })
		return leasetest.ErrCut
	case spoiled:
		k.lost = leasetest.ErrCut
	}
	return k.ClientStream.SendMsg(m)
}

func (k *keepAlives) RecvMsg(m any) error {
	if err := k.ClientStream.RecvMsg(m); err != nil {
		return err
	}
	if answer, ok := m.(*etcdserverpb.LeaseKeepAliveResponse); ok && answer.TTL > 0 {
		k.world.kept(answer.ID)
	}
	return k.lost
}

func (w *world) keepLate(id int64) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := w.admin.KeepAliveOnce(ctx, clientv3.LeaseID(id)); err == nil {
		w.kept(id)
	}
}

// TestRealTime: no time of the test's, but etcd's own: a lease ends by itself, and not before its time.
func TestRealTime(t *testing.T) {
	t.Parallel()
	leasetest.RealTime(t, New(start(t, 1).admin), time.Second)
}

// TestKeys are a promise to whoever looks into the cluster or shares it.
func TestKeys(t *testing.T) {
	t.Parallel()
	c := start(t, 1).admin
	s := New(c)
	a := lease.Ask{Issue: claim.Issue{Owner: "Acme", Repo: "App", Number: 7}, Worker: claim.Worker{Codename: "ann", FiringID: "x:y"}, TTL: time.Minute}
	l, err := s.Acquire(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	const key = "label-state/acme/app#7"
	got, err := c.Get(t.Context(), key)
	if err != nil || len(got.Kvs) != 1 {
		t.Fatalf("key: %v, %v", got, err)
	}
	if kv := got.Kvs[0]; string(kv.Value) != `{"codename":"ann","firing_id":"x:y","ttl":60}` || kv.CreateRevision != l.Token || tip(clientv3.LeaseID(kv.Lease)) != l.Tip {
		t.Errorf("key = %v, lease = %+v", kv, l)
	}
	// Who rewrites or deletes the key takes the lease away, however well its etcd lease does.
	if _, err := c.Put(t.Context(), key, "nonsense"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Renew(t.Context(), l); !errors.Is(err, lease.ErrLost) {
		t.Errorf("renew: %v, want that it is lost", err)
	}
	if got, held, err := s.Look(t.Context(), a.Issue); err == nil {
		t.Errorf("look at somebody else's value: %+v, %t, want an error", got, held)
	}
	if got, err := s.Acquire(t.Context(), a); err == nil {
		t.Errorf("acquired over somebody else's value: %+v", got)
	}
	if _, err := c.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Renew(t.Context(), l); !errors.Is(err, lease.ErrLost) {
		t.Errorf("renew: %v, want that it is lost", err)
	}
	leases, err := c.Leases(t.Context())
	if err != nil || len(leases.Leases) != 1 {
		t.Errorf("etcd leases: %v, %v, want the one that was taken, and none of attempts that failed", leases, err)
	}
}

// TestNoMajority: two of three members gone is an error within the step's time, and nobody holds more.
func TestNoMajority(t *testing.T) {
	c := start(t, 3)
	s := New(c.admin)
	a := lease.Ask{Issue: claim.Issue{Owner: "acme", Repo: "app", Number: 7}, Worker: claim.Worker{Codename: "ann", FiringID: "1"}, TTL: time.Hour}
	l, err := s.Acquire(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	c.members[0].Kill()
	c.members[1].Kill()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for name, do := range map[string]func() error{
		"acquire": func() error { _, err := s.Acquire(ctx, a); return err },
		"renew":   func() error { _, err := s.Renew(ctx, l); return err },
		"release": func() error { return s.Release(ctx, l) },
		"look":    func() error { _, _, err := s.Look(ctx, a.Issue); return err },
	} {
		if err := do(); err == nil || errors.Is(err, lease.ErrLost) || errors.As(err, new(*lease.HeldError)) {
			t.Errorf("%s without a majority: %v, want not to know", name, err)
		}
	}
}

func TestOpen(t *testing.T) {
	for _, address := range []string{"host:2379", "ftp://u:secret@host", "http://", "http://u:secret@h%zz"} {
		if _, err := Open(nil, address); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("open %q: %v, want an error without the password", address, err)
		}
	}
	s, err := Open(nil, "https://etcd-1.example:2379", "https://etcd-2.example:2379")
	if err != nil {
		t.Fatal(err)
	}
	store, ok := s.(*Store)
	if !ok {
		t.Fatalf("opened %T", s)
	}
	if got := store.client.Endpoints(); len(got) != 2 || got[0] != "https://etcd-1.example:2379" {
		t.Errorf("endpoints = %q", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
