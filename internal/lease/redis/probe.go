package redis

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
)

// probeTime is how long the key that Probe writes can be seen.
const probeTime = time.Second

// Probe implements lease.Prober: it runs a script that writes a key beside those of the repository.
func (s *Store) Probe(ctx context.Context, i claim.Issue) error {
	err := probe.Run(ctx, s.client, []string{key(i).lease + ":probe"}, millis(probeTime)).Err()
	if err != nil {
		return fmt.Errorf("write to redis: %w", named(err))
	}
	return nil
}

// Known implements lease.Lister.
func (s *Store) Known(ctx context.Context, i claim.Issue) ([]int, error) {
	before := "label-state:{" + strings.ToLower(i.Slug()) + "#"
	var out []int
	found := s.client.Scan(ctx, 0, literal(before)+"*}", 1000).Iterator()
	for found.Next(ctx) {
		number := strings.TrimSuffix(strings.TrimPrefix(found.Val(), before), "}")
		if n, err := strconv.Atoi(number); err == nil {
			out = append(out, n)
		}
	}
	if err := found.Err(); err != nil {
		return nil, fmt.Errorf("list leases of %s: %w", i.Slug(), named(err))
	}
	return out, nil
}

// literal makes Redis's patterns take a text as it is.
func literal(text string) string {
	return strings.NewReplacer("[", `\[`, "*", `\*`, "?", `\?`, `\`, `\\`).Replace(text)
}

// inScript is how Redis 7 words NOPERM within a script.
const inScript = "The user executing the script can't"

// named tells a login that may not write from everything else (Redis, "Command errors": NOAUTH,
// WRONGPASS, NOPERM, READONLY).
func named(err error) error {
	switch {
	case err == nil:
		return nil
	case goredis.IsAuthError(err), goredis.IsPermissionError(err), strings.Contains(err.Error(), inScript):
		return &lease.DeniedError{Remedy: "put a user and a password that may run scripts and write label-state:* into the URL", Err: err}
	case goredis.IsReadOnlyError(err):
		return &lease.DeniedError{Remedy: "name the primary in the URL: this server only copies another one", Err: err}
	}
	return lease.Distrust(err)
}
