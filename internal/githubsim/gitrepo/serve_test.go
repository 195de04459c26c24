package gitrepo_test

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/label-state/label-state/internal/githubsim/gitrepo"
)

// A door serves one repository as /acme/app.git and keeps what the requests looked like.
type door struct {
	url string
	mu  sync.Mutex
	saw []http.Header
}

func serve(t *testing.T, r *gitrepo.Repo) *door {
	t.Helper()
	d := &door{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		d.mu.Lock()
		seen := req.Header.Clone()
		seen.Set("Test-Transfer", strings.Join(req.TransferEncoding, ","))
		d.saw = append(d.saw, seen)
		d.mu.Unlock()
		r.ServeHTTP(w, req, "/acme/app.git", "ann")
	}))
	t.Cleanup(server.Close)
	d.url = server.URL + "/acme/app.git"

	return d
}

func (d *door) sawHeader(name, value string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, h := range d.saw {
		if strings.Contains(h.Get(name), value) {
			return true
		}
	}

	return false
}

func TestCloneAndPush(t *testing.T) {
	r := newRepo(t)
	d := serve(t, r)
	work := filepath.Join(t.TempDir(), "w")
	user(t, t.TempDir(), "clone", "--quiet", d.url, work)
	if got, want := user(t, work, "rev-parse", "HEAD"), head(t, r, "main"); got != want {
		t.Fatalf("cloned %s, want %s", got, want)
	}

	if !d.sawHeader("Git-Protocol", "version=2") {
		t.Error("the clone did not speak protocol 2")
	}
	user(t, work, "commit", "--quiet", "--allow-empty", "-m", "Fixes #1")
	user(t, work, "push", "--quiet", "origin", "HEAD:main", "HEAD:refs/heads/feature/x")
	want := user(t, work, "rev-parse", "HEAD")
	if head(t, r, "main") != want || head(t, r, "feature/x") != want {
		t.Error("the push did not arrive")
	}

	user(t, work, "push", "--quiet", "origin", ":feature/x")
	if _, ok, err := r.Ref(t.Context(), "refs/heads/feature/x"); ok || err != nil {
		t.Errorf("deleted branch: %v, %v", ok, err)
	}
}

func TestLargePushComesInChunks(t *testing.T) {
	r := newRepo(t)
	d := serve(t, r)
	work := filepath.Join(t.TempDir(), "w")
	user(t, t.TempDir(), "clone", "--quiet", d.url, work)
	noise := make([]byte, 3<<20)
	random := rand.NewChaCha8([32]byte{1})
	random.Read(noise)
	if err := os.WriteFile(filepath.Join(work, "noise"), noise, 0o644); err != nil {
		t.Fatal(err)
	}

	user(t, work, "add", "noise")
	user(t, work, "commit", "--quiet", "-m", "noise")
	user(t, work, "push", "--quiet", "origin", "HEAD:main")
	if !d.sawHeader("Test-Transfer", "chunked") {
		t.Error("the push was not chunked, so the test shows nothing")
	}

	if data, err := r.File(t.Context(), "main", "noise"); err != nil || len(data) != len(noise) {
		t.Errorf("File = %d bytes, %v", len(data), err)
	}
}

func TestFetchWithCompressedBody(t *testing.T) {
	r := newRepo(t)
	d := serve(t, r)
	work := filepath.Join(t.TempDir(), "w")
	user(t, t.TempDir(), "clone", "--quiet", d.url, work)

	for range 60 {
		user(t, work, "commit", "--quiet", "--allow-empty", "-m", "local only")
	}
	oid := commit(t, r, "there", nil, head(t, r, "main"))
	if err := r.UpdateRef(t.Context(), "refs/heads/main", oid, false); err != nil {
		t.Fatal(err)
	}

	user(t, work, "fetch", "--quiet", "origin")
	if !d.sawHeader("Content-Encoding", "gzip") {
		t.Error("no request was compressed, so the test shows nothing")
	}

	if got := user(t, work, "rev-parse", "origin/main"); got != oid {
		t.Errorf("fetched %s, want %s", got, oid)
	}
}

func TestPusherIsKnownToGit(t *testing.T) {
	r := newRepo(t)
	d := serve(t, r)
	hooks := filepath.Join(r.Dir, "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}

	script := "#!/bin/sh\nprintf %s \"$REMOTE_USER\" >pusher\n"
	if err := os.WriteFile(filepath.Join(hooks, "pre-receive"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}

	work := filepath.Join(t.TempDir(), "w")
	user(t, t.TempDir(), "clone", "--quiet", d.url, work)
	user(t, work, "push", "--quiet", "origin", "HEAD:refs/heads/x")
	if got, err := os.ReadFile(filepath.Join(r.Dir, "pusher")); err != nil || string(got) != "ann" {
		t.Errorf("REMOTE_USER = %q, %v", got, err)
	}
}

func TestRestAndGitSeeTheSameRefs(t *testing.T) {
	r := newRepo(t)
	d := serve(t, r)
	if err := r.CreateRef(t.Context(), "refs/label-state/leases/7", head(t, r, "main")); err != nil {
		t.Fatal(err)
	}

	if got := user(t, t.TempDir(), "ls-remote", d.url, "refs/label-state/*"); !strings.HasSuffix(got,
		"refs/label-state/leases/7") {
		t.Errorf("ls-remote = %q", got)
	}
}

func TestOutsideTheRepositoryIsNotServed(t *testing.T) {
	r := newRepo(t)
	d := serve(t, r)
	for _, path := range []string{"/../../etc/passwd", "/nothing", ""} {
		resp, err := http.Get(d.url + path)
		if err != nil {
			t.Fatal(err)
		}

		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			t.Errorf("GET %s = %s", path, resp.Status)
		}
	}
}
