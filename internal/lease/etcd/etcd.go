// Package etcd is a lease store in an etcd cluster, for fleets that outgrow the API budget of one
// repository and want the guarantee of a consensus.
//
// An issue is held by whoever has written its key, bound to an etcd lease that ends by the
// cluster's own time. The key is written by a transaction that demands that it does not exist; the
// revision that created it is the token, which grows with every change of the cluster. Renewing and
// releasing demand that the key still is of that revision.
//
// What it promises: one holder at a time and tokens that grow, over lost members, lost leaders and
// restarts, with any clock on the client, as long as a majority keeps its disk. A change of leader
// may make a lease last longer, never shorter. What it does not: after a restore from a backup
// revisions repeat, unless etcdutl is told to bump them.
package etcd

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
)

var (
	_ lease.Remote = (*Store)(nil)
	_ lease.Prober = (*Store)(nil)
	_ lease.Lister = (*Store)(nil)
)

// A Store keeps leases in etcd. It may be used from any goroutine.
type Store struct{ client *clientv3.Client }

// dialTime bounds the wait for a connection, and for the login.
const dialTime = 2 * time.Second

// Open returns a store at the members with these addresses, http:// or https://. Where one address
// holds a user and a password it logs in at once. Members with TLS must accept us, and we them, or the error is a
// *lease.DeniedError. It is a lease.Opener.
func Open(secure *tls.Config, endpoints ...string) (lease.Remote, error) {
	config := clientv3.Config{
		DialTimeout: dialTime, DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: 5 * time.Second, Logger: zap.NewNop(), TLS: secure,
	}
	for _, text := range endpoints {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, errors.New("open etcd: an endpoint is not https://HOST:PORT")
		}
		if password, told := u.User.Password(); told && config.Username == "" {
			config.Username, config.Password = u.User.Username(), password
		}
		config.Endpoints = append(config.Endpoints, u.Scheme+"://"+u.Host)
	}
	if err := probeTLS(secure, config.Endpoints); err != nil {
		return nil, fmt.Errorf("open etcd: %w", err)
	}
	client, err := clientv3.New(config)
	if err != nil {
		return nil, fmt.Errorf("open etcd: %w", named(err))
	}
	return New(client), nil
}

// probeTLS asks the members with TLS whether they and we accept each other. One that does is enough, and one that
// cannot be reached: the client looks for the others.
func probeTLS(secure *tls.Config, endpoints []string) (denied error) {
	answers := make(chan error, len(endpoints))
	asked := 0
	for _, endpoint := range endpoints {
		if at, ok := strings.CutPrefix(endpoint, "https://"); ok {
			asked++
			go func() { answers <- lease.ProbeTLS(context.Background(), secure, at) }()
		}
	}
	for range asked {
		if denied = <-answers; denied == nil {
			return nil
		}
	}
	return denied
}

// New returns a store that uses a client.
func New(client *clientv3.Client) *Store { return &Store{client} }

// Close closes the connections. Leases stay.
func (s *Store) Close() error { return s.client.Close() }

// stepTime is how long one step may take: the client would ask a cluster without a majority for ever.
const stepTime = 15 * time.Second

// key is the issue's. GitHub does not tell upper from lower case.
func key(i claim.Issue) string { return "label-state/" + strings.ToLower(i.String()) }

// holder is the value of a key.
type holder struct {
	Codename string `json:"codename"`
	FiringID string `json:"firing_id"`
	Seconds  int64  `json:"ttl"`
}

// Acquire implements lease.Store. Etcd does not tell the time at which a lease ends.
func (s *Store) Acquire(ctx context.Context, a lease.Ask) (lease.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	l, err := s.acquire(ctx, a)
	if err != nil {
		return lease.Lease{}, fmt.Errorf("acquire %s: %w", a.Issue, named(err))
	}
	return l, nil
}

// acquire is Acquire without the words of its errors.
func (s *Store) acquire(ctx context.Context, a lease.Ask) (lease.Lease, error) {
	seconds := max(1, int64((a.TTL+time.Second-1)/time.Second)) // which etcd counts in, rounded up
	value, err := json.Marshal(holder{a.Worker.Codename, a.Worker.FiringID, seconds})
	if err == nil && !utf8.ValidString(a.Worker.String()) {
		err = errors.New("it would not be read back")
	}
	if err != nil {
		return lease.Lease{}, fmt.Errorf("write worker %q: %w", a.Worker, err)
	}
	granted, err := s.client.Grant(ctx, seconds)
	if err != nil {
		return lease.Lease{}, fmt.Errorf("grant a lease: %w", err)
	}
	k := key(a.Issue)
	done, err := s.client.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(k), "=", 0)).
		Then(clientv3.OpPut(k, string(value), clientv3.WithLease(granted.ID))).
		Else(clientv3.OpGet(k)).Commit()
	if err != nil {
		return lease.Lease{}, errors.Join(fmt.Errorf("write the key: %w", err), s.withdraw(ctx, granted.ID))
	}
	if done.Succeeded {
		return lease.Lease{
			Issue: a.Issue, Worker: a.Worker, TTL: a.TTL, Token: done.Header.Revision, Tip: tip(granted.ID),
		}, nil
	}
	if err := s.withdraw(ctx, granted.ID); err != nil {
		return lease.Lease{}, err
	}
	// The key exists: no, or a renewal for the worker that has it already.
	found := done.Responses[0].GetResponseRange().GetKvs()
	if len(found) == 0 {
		return lease.Lease{}, errors.New("the answer has neither key nor holder")
	}
	l, err := read(a.Issue, found[0])
	switch {
	case err != nil:
		return lease.Lease{}, err
	case l.Worker != a.Worker:
		return lease.Lease{}, &lease.HeldError{Lease: l}
	}
	return s.renew(ctx, l)
}

// withdraw ends a lease that was not used, so far as anybody knows. After it a transaction that is
// still on its way has no lease to bind the key to, and one that was carried out is undone.
func (s *Store) withdraw(ctx context.Context, id clientv3.LeaseID) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTime)
	defer cancel()
	if _, err := s.client.Revoke(ctx, id); err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return fmt.Errorf("withdraw the lease: %w", err)
	}
	return nil
}

// tip names an etcd lease as its own tools do.
func tip(id clientv3.LeaseID) string { return fmt.Sprintf("%x", int64(id)) }

// read is the lease that a key stands for.
func read(i claim.Issue, kv *mvccpb.KeyValue) (lease.Lease, error) {
	var h holder
	err := json.Unmarshal(kv.Value, &h)
	w := claim.Worker{Codename: h.Codename, FiringID: h.FiringID}
	if err != nil || w.IsZero() {
		return lease.Lease{}, fmt.Errorf("read %s: its value is not a lease", kv.Key)
	}
	return lease.Lease{
		Issue: i, Worker: w, TTL: time.Duration(h.Seconds) * time.Second, Token: kv.CreateRevision,
		Tip: tip(clientv3.LeaseID(kv.Lease)),
	}, nil
}

// Renew implements lease.Store: the etcd lease is kept alive, and the key must still be of the
// token's revision and bound to it. An etcd lease that ended cannot be renewed.
func (s *Store) Renew(ctx context.Context, l lease.Lease) (lease.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	got, err := s.renew(ctx, l)
	if err != nil {
		return lease.Lease{}, fmt.Errorf("renew %s: %w", l.Issue, named(err))
	}
	return got, nil
}

// renew is Renew without the words of its errors.
func (s *Store) renew(ctx context.Context, l lease.Lease) (lease.Lease, error) {
	var id int64
	if _, err := fmt.Sscanf(l.Tip, "%x", &id); err != nil {
		return lease.Lease{}, fmt.Errorf("lease %q: not an etcd lease", l.Tip)
	}
	alive, err := s.client.KeepAliveOnce(ctx, clientv3.LeaseID(id))
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return lease.Lease{}, lease.ErrLost
	}
	if err != nil {
		return lease.Lease{}, fmt.Errorf("keep the lease alive: %w", err)
	}
	// The snapshot makes the transaction wait for the leader: one that only compares is answered by
	// whichever member is asked, from what it happens to know.
	k := key(l.Issue)
	own, err := s.client.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(k), "=", l.Token), clientv3.Compare(clientv3.LeaseValue(k), "=", clientv3.LeaseID(id))).
		Then(clientv3.OpGet(k)).Else(clientv3.OpGet(k)).Commit()
	if err != nil {
		return lease.Lease{}, fmt.Errorf("compare the key: %w", err)
	}
	if !own.Succeeded {
		return lease.Lease{}, lease.ErrLost
	}
	l.TTL = min(l.TTL, time.Duration(alive.TTL)*time.Second) // an etcd lease keeps the ttl it was granted with
	return l, nil
}

// Release implements lease.Store: the key goes if it is still of the token's revision, and its etcd
// lease with it.
func (s *Store) Release(ctx context.Context, l lease.Lease) error {
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	now, held, err := s.look(ctx, l.Issue)
	if err == nil && held && now.Worker == l.Worker && (l.Token == 0 || now.Token == l.Token) {
		k := key(l.Issue)
		_, err = s.client.Txn(ctx).
			If(clientv3.Compare(clientv3.CreateRevision(k), "=", now.Token)).
			Then(clientv3.OpDelete(k)).Commit()
		var id int64
		if err != nil {
			err = fmt.Errorf("delete the key: %w", err)
		} else if _, bad := fmt.Sscanf(now.Tip, "%x", &id); bad != nil {
			err = fmt.Errorf("lease %q: not an etcd lease", now.Tip)
		} else {
			err = s.withdraw(ctx, clientv3.LeaseID(id))
		}
	}
	if err != nil {
		return fmt.Errorf("release %s: %w", l.Issue, named(err))
	}
	return nil
}

// Look implements lease.Store.
func (s *Store) Look(ctx context.Context, i claim.Issue) (lease.Lease, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	l, held, err := s.look(ctx, i)
	if err != nil {
		return lease.Lease{}, false, &claim.IssueError{Doing: "look at", Issue: i, Err: named(err)}
	}
	return l, held, nil
}

// look reads the issue's key.
func (s *Store) look(ctx context.Context, i claim.Issue) (lease.Lease, bool, error) {
	got, err := s.client.Get(ctx, key(i))
	if err != nil || len(got.Kvs) == 0 {
		return lease.Lease{}, false, err
	}
	l, err := read(i, got.Kvs[0])
	return l, err == nil, err
}
