package githubsim

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/label-state/label-state/internal/githubsim/gitrepo"
)

// gitPath takes the path of a request of git's smart protocol apart: the repository's full name and
// what is asked of it.
func gitPath(path string) (full, rest string, ok bool) {
	full, rest, found := strings.Cut(strings.TrimPrefix(path, "/"), ".git/")
	return full, rest, found && strings.Count(full, "/") == 1
}

// gitService is the service that the request is for.
func gitService(r *http.Request) string {
	_, rest, _ := gitPath(r.URL.Path)
	if rest == "info/refs" {
		return r.URL.Query().Get("service")
	}
	return rest
}

// serveGit answers git's smart protocol. Anyone may read what is public; pushing needs write.
func (s *Server) serveGit(rec *recorder, r *http.Request) {
	if err := s.runGit(rec, r); err != nil {
		*rec = recorder{header: http.Header{}}
		refuseGit(rec, err)
	}
}

func (s *Server) runGit(rec *recorder, r *http.Request) error {
	full, _, _ := gitPath(r.URL.Path)
	repo, who, err := s.admit(r, full)
	if err != nil {
		return err
	}

	login := ""
	if who.account != nil {
		login = who.account.login
	}

	if gitService(r) != "git-receive-pack" || r.Method != http.MethodPost {
		repo.git.ServeHTTP(rec, r, "/"+full+".git", login)
		return nil
	}

	before, err := repo.tip(r.Context())
	if err != nil {
		return err
	}

	repo.git.ServeHTTP(rec, r, "/"+full+".git", login)
	return s.pushed(r.Context(), who, repo, before)
}

// admit decides whether the request may reach the repository.
func (s *Server) admit(r *http.Request, full string) (*repository, actor, error) {
	defer s.lock()()
	who, err := s.st.authenticate(r)
	if err != nil {
		return nil, actor{}, err
	}

	owner, name, _ := strings.Cut(full, "/")
	repo, err := s.st.repository(who, owner, name)
	if repo == nil && who.account == nil {
		return nil, who, &refusal{status: http.StatusUnauthorized, message: "Repository not found."}
	}
	if repo == nil || repo.git == nil {
		return nil, who, &refusal{status: http.StatusNotFound, message: "Repository not found."}
	}

	var moved *refusal
	if err != nil && (!errors.As(err, &moved) || moved.moved == "") {
		return nil, who, err
	}
	if gitService(r) == "git-receive-pack" {
		if who.granted(repo, contentsWrite, false) != nil {
			return nil, who, forbidden("Write access to repository not granted.")
		}
		return repo, who, who.need(repo, roleWrite)
	}
	if who.granted(repo, contentsRead, true) != nil {
		return nil, who, forbidden("Write access to repository not granted.")
	}

	return repo, who, nil
}

// refuseGit answers in plain text, which git shows to the user as remote lines.
func refuseGit(w http.ResponseWriter, err error) {
	status, message := http.StatusInternalServerError, err.Error()
	var r *refusal
	if errors.As(err, &r) {
		status, message = r.status, r.message
	}

	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
	}
	w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
	w.WriteHeader(status)
	fmt.Fprintln(w, message)
}

// tip is what the default branch points at; empty if it is not there.
func (r *repository) tip(ctx context.Context) (string, error) {
	oid, _, err := r.git.Ref(ctx, "refs/heads/"+r.base)
	return oid, err
}

// pushed does what follows a push. Pull requests follow their heads. When commits came to the
// default branch, those whose commits are among them are merged, and what the messages close is
// closed.
func (s *Server) pushed(ctx context.Context, who actor, repo *repository, before string) error {
	after, err := repo.tip(ctx)
	if err != nil {
		return err
	}

	defer s.lock()()
	if err := s.st.synchronize(ctx, who, repo); err != nil || after == before || after == "" {
		return err
	}

	targets, err := s.st.closedByCommits(ctx, repo, repo.base, before, after)
	if err != nil {
		return err
	}

	merged, err := s.st.mergedByPush(ctx, who, repo, after)
	if err != nil {
		return err
	}

	for _, t := range append(targets, merged...) {
		s.st.closeBy(who, repo, t)
	}

	return nil
}

// mergedByPush marks the open pull requests whose heads the default branch has now, and returns
// what they close.
func (st *store) mergedByPush(ctx context.Context, who actor, r *repository, tip string) ([]*thread, error) {
	var closed []*thread
	for _, s := range r.pullsIn(present()) {
		p := s.now.pull
		if !s.now.open || p.base != r.base || p.headRepo != r {
			continue
		}

		head, err := p.headCommit(ctx)
		if err != nil {
			return nil, err
		}

		reached, err := r.git.IsAncestor(ctx, head, tip)
		if err != nil && !errors.Is(err, gitrepo.ErrNoObject) { // the head may have been lost with its repository
			return nil, err
		}

		if reached {
			st.merged(who, s.thread, head, tip)
			closed = append(closed, st.closes(s.thread, s.now)...)
		}
	}

	return closed, nil
}
