package gitrepo

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ServeHTTP answers one request of git's smart protocol with git http-backend. pathPrefix is what
// stands before /info/refs, /git-upload-pack or /git-receive-pack in the URL's path; user becomes
// REMOTE_USER and may be empty. Whether the user may read or push is for the caller to decide
// first: whoever gets here may do both.
func (r *Repo) ServeHTTP(w http.ResponseWriter, req *http.Request, pathPrefix, user string) {
	git, err := exec.LookPath("git")
	if err != nil {
		http.Error(w, "git is not installed", http.StatusInternalServerError)
		return
	}

	root, err := filepath.Abs(r.Dir)
	if err != nil {
		http.Error(w, "find repository: "+err.Error(), http.StatusInternalServerError)
		return
	}

	req, done, err := sized(req)
	if err != nil {
		http.Error(w, "read request: "+err.Error(), http.StatusBadRequest)
		return
	}

	defer done()
	backend := cgi.Handler{
		Path: git,
		// which starts two processes a push, and is told little here
		Args:   []string{"-c", "receive.autoGC=false", "http-backend"},
		Root:   pathPrefix,
		Dir:    root,
		Env:    cgiEnv(root, user, req.Header.Get("Git-Protocol")),
		Logger: log.New(io.Discard, "", 0),
		Stderr: io.Discard,
	}
	backend.ServeHTTP(w, req)
}

func cgiEnv(root, user, protocol string) []string {
	env := []string{
		"GIT_PROJECT_ROOT=" + root,
		"GIT_HTTP_EXPORT_ALL=1",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_PROTOCOL=" + protocol,
	}

	if user = strings.Map(dropNUL, user); user != "" {
		env = append(env, "REMOTE_USER="+user)
	}

	return env
}

func dropNUL(c rune) rune {
	if c == 0 {
		return -1
	}
	return c
}

// sized gives the request a Content-Length, which CGI needs and a large push, sent in chunks, does
// not have: the body goes through a temporary file. done removes it.
func sized(req *http.Request) (out *http.Request, done func(), err error) {
	if req.ContentLength >= 0 {
		return req, func() {}, nil
	}
	body, err := os.CreateTemp("", "git-request-")
	if err != nil {
		return nil, nil, err
	}

	done = func() {
		body.Close()
		os.Remove(body.Name())
	}

	size, err := io.Copy(body, req.Body)
	if err == nil {
		_, err = body.Seek(0, io.SeekStart)
	}

	if err != nil {
		done()
		return nil, nil, fmt.Errorf("keep body: %w", err)
	}

	out = req.Clone(req.Context())
	out.Body, out.ContentLength, out.TransferEncoding = body, size, nil
	return out, done, nil
}
