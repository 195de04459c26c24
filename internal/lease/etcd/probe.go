package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
)

// probeSeconds is how long what Probe writes stays when it cannot take it away again.
const probeSeconds = 5

// Probe implements lease.Prober: it writes a key beside those of the repository and takes it away.
func (s *Store) Probe(ctx context.Context, i claim.Issue) error {
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	granted, err := s.client.Grant(ctx, probeSeconds)
	if err == nil {
		_, err = s.client.Put(ctx, key(i)+":probe", "1", clientv3.WithLease(granted.ID))
		err = errors.Join(err, s.withdraw(ctx, granted.ID))
	}
	if err != nil {
		return fmt.Errorf("write to etcd: %w", named(err))
	}
	return nil
}

// Known implements lease.Lister.
func (s *Store) Known(ctx context.Context, i claim.Issue) ([]int, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	before := "label-state/" + strings.ToLower(i.Slug()) + "#"
	got, err := s.client.Get(ctx, before, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return nil, fmt.Errorf("list leases of %s: %w", i.Slug(), named(err))
	}
	var out []int
	for _, kv := range got.Kvs {
		if n, err := strconv.Atoi(strings.TrimPrefix(string(kv.Key), before)); err == nil {
			out = append(out, n)
		}
	}
	return out, nil
}

// named tells a login that may not do it from everything else.
func named(err error) error {
	for _, no := range []error{
		rpctypes.ErrPermissionDenied, rpctypes.ErrAuthFailed, rpctypes.ErrUserEmpty, rpctypes.ErrInvalidAuthToken,
		rpctypes.ErrAuthNotEnabled, rpctypes.ErrUserNotFound, rpctypes.ErrPermissionNotGranted,
	} {
		var said rpctypes.EtcdError
		if errors.Is(err, no) || errors.As(err, &said) && said.Error() == no.Error() {
			return &lease.DeniedError{Remedy: "let the etcd user read and write keys that begin with label-state/, and name it in lease.etcd.auth_env", Err: err}
		}
	}
	return err
}
