package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
)

// probeTime is how long the key that Probe writes can be seen.
const probeTime = time.Second

// Probe implements lease.Prober: it runs a script that writes a key beside those of the repository.
func (s *Store) Probe(ctx context.Context, i claim.Issue) error {
	if _, err := s.client.Do(ctx, "EVAL", probe.text, probe.keys, key(i).lease+":probe",
		millis(probeTime)); err != nil {
		return fmt.Errorf("write to redis: %w", named(err))
	}
	return nil
}

// Known implements lease.Lister.
func (s *Store) Known(ctx context.Context, i claim.Issue) ([]int, error) {
	before := prefix + "{" + strings.ToLower(i.Slug()) + "#"
	var out []int
	cursor := "0"
	for range mostPages {
		page, err := redis.Values(s.client.Do(ctx, "SCAN", cursor, "MATCH", literal(before)+"*}", "COUNT", 1000))
		var found []string
		if err == nil {
			_, err = redis.Scan(page, &cursor, &found)
		}

		if err != nil {
			return nil, fmt.Errorf("list leases of %s: %w", i.Slug(), named(err))
		}

		for _, name := range found {
			if n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(name, before), "}")); err == nil {
				out = append(out, n)
			}
		}

		if cursor == "0" {
			return out, nil
		}
	}

	return nil, fmt.Errorf("list leases of %s: no end after %d pages", i.Slug(), mostPages)
}

// literal makes Redis's patterns take a text as it is.
func literal(text string) string {
	return strings.NewReplacer("[", `\[`, "*", `\*`, "?", `\?`, `\`, `\\`).Replace(text)
}

// named tells a login that may not write from everything else, by the code that a Redis error
// begins with (Redis, "Command errors"). Redis 6 words what a script may not do with ERR.
func named(err error) error {
	var answer redis.Error
	if !errors.As(err, &answer) {
		return lease.Distrust(err)
	}

	switch code, text, _ := strings.Cut(string(answer), " "); {
	case code == "NOAUTH", code == "WRONGPASS", code == "NOPERM", strings.Contains(text,
		"The user executing the script can't"):
		return &lease.DeniedError{Remedy: "put a user and a password that may run scripts and write " + prefix + "* into the URL", Err: err}
	case code == "READONLY":
		return &lease.DeniedError{Remedy: "name the primary in the URL: this server only copies another one", Err: err}
	}

	return err
}

// mostPages is how many pages of a thousand keys are looked at. A server with more has other work
// than leases.
const mostPages = 10_000
