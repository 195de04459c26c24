package setup_test

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/leasetest"
	"github.com/label-state/label-state/internal/setup"
)

// TestStoreIsSecured: what the variables say of the two sides reaches the store, from files or from
// the variables themselves; what they cannot say is one error without what is in them.
func TestStoreIsSecured(t *testing.T) {
	a := leasetest.NewAuthority(t)
	p, q := a.Pair("worker", time.Now().Add(time.Hour)), a.Pair("other", time.Now().Add(time.Hour))
	secured, plain := "rediss://r.example", "redis://:secret@r.example"
	for name, c := range map[string]struct {
		url, ca, cert, key string
		want               string
	}{
		"nothing":           {secured, "", "", "", "default"},
		"nothing, plain":    {plain, "", "", "", "default"},
		"authority":         {secured, a.File, "", "", "authority"},
		"as text":           {secured, text(t, a.File), text(t, p.Cert), text(t, p.Key), "authority certificate"},
		"both":              {secured, a.File, p.Cert, p.Key, "authority certificate"},
		"certificate alone": {secured, "", p.Cert, p.Key, "certificate"},
		"no key": {
			secured, "", p.Cert, "",
			"use LABEL_STATE_LEASE_KEY: it is not set, but LABEL_STATE_LEASE_CERT is",
		},
		"no certificate": {
			secured, "", "", p.Key,
			"use LABEL_STATE_LEASE_CERT: it is not set, but LABEL_STATE_LEASE_KEY is",
		},
		"another's key": {
			secured, "", p.Cert, q.Key,
			"use LABEL_STATE_LEASE_CERT: does not match the key in LABEL_STATE_LEASE_KEY: ",
		},
		"no such file": {
			secured, "nowhere", "", "",
			"use LABEL_STATE_LEASE_CA: read the file that it names: no such file or directory",
		},
		"no certificate's file": {
			secured, "", "nowhere", p.Key,
			"use LABEL_STATE_LEASE_CERT: read the file that it names: no such file or directory",
		},
		"no key's file": {
			secured, "", p.Cert, "nowhere",
			"use LABEL_STATE_LEASE_KEY: read the file that it names: no such file or directory",
		},
		"not PEM": {
			secured, "-----BEGIN secret", "", "",
			"use LABEL_STATE_LEASE_CA: expected PEM, or a file with it",
		},
		"no certificate in": {
			secured, text(t, p.Key), "", "",
			"use LABEL_STATE_LEASE_CA: there is no certificate in it",
		},
		"without TLS": {
			plain, "", p.Cert, p.Key,
			"use LABEL_STATE_LEASE_CERT: it is set, and the store's address begins with redis://, which is without TLS",
		},
		"a socket": {"unix:///run/redis.sock", a.File, "", "", "authority"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, map[string]string{
				"GH_TOKEN": "tok", "MY_REDIS": c.url, lease.CAVariable: c.ca, lease.CertVariable: c.cert,
				lease.KeyVariable: c.key,
			})
			m.files["api.github.com acme/app"] = redisFile
			got := ""
			env := m.environment()
			env.Stores = map[string]lease.Opener{lease.Redis: func(secure *tls.Config, _ string) (lease.Remote, error) {
				got = told(secure)
				return nobody{}, nil
			}}
			s, err := setup.Open(t.Context(), env, setup.Options{Repo: "acme/app"})
			if err != nil {
				t.Fatal(err)
			}

			if _, _, err := s.Store.Look(t.Context(), claim.Issue{Owner: "acme", Repo: "app", Number: 7}); err != nil {
				got = err.Error()
				if !setup.Misconfigured(err) || strings.Contains(got, "secret") || strings.Contains(got, "BEGIN") {
					t.Errorf("error %v, want a wrong setting, and nothing of what is in it", err)
				}
			}

			if !strings.HasPrefix(got, c.want) || c.want == "" {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func told(secure *tls.Config) string {
	if secure == nil {
		return "default"
	}
	var out []string
	if secure.RootCAs != nil {
		out = append(out, "authority")
	}

	if secure.MinVersion < tls.VersionTLS12 {
		out = append(out, "and old TLS")
	}

	if len(secure.Certificates) > 0 {
		out = append(out, "certificate")
	}

	return strings.Join(out, " ")
}

func text(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
