package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/printable"
)

// A source is a repository that trees are linked to.
type source struct {
	git  Git
	dir  string // its git directory, that of a worktree if the path was one: whose HEAD counts
	name string
}

// run runs git on the repository, whatever the working directory is.
func (s source) run(ctx context.Context, args ...string) (string, error) {
	return s.git(ctx, s.dir, append([]string{"--git-dir=" + s.dir}, args...)...)
}

// open finds the repository at exactly this path: one further up is somebody else's.
func open(ctx context.Context, run Git, s Spec) (source, error) {
	path, err := filepath.EvalSymlinks(s.Path)
	if err != nil {
		return source{}, answer.Wrongf("repository %s: %s: %s", s.Name, s.Path, printable.Cause(err))
	}

	info, err := os.Stat(path)
	place, none := git.Find(path, "")
	strange, is := errors.AsType[*git.EmbeddedError](none)
	switch {
	case is:
		return source{}, answer.Wrongf("repository %s: %s", s.Name, strange)
	case errors.Is(none, git.ErrNone) || err == nil && !info.IsDir():
		return source{}, notOne(s)
	}

	// git itself looks for it, because it asks nobody whose a directory is that it is told to use
	question := []string{"rev-parse", "--absolute-git-dir", "--show-prefix"}
	if place.Bare { // the caller has named it, which is as explicit as git wants it
		question = append([]string{"-c", "safe.bareRepository=all"}, question...)
	}

	found, err := run(ctx, path, question...)
	if e, is := errors.AsType[*git.Error](err); is && e.Code > 0 && ctx.Err() == nil {
		return source{}, &answer.Problem{
			Code:  answer.Usage,
			Why:   "repository " + s.Name + ": " + err.Error(),
			Next:  []answer.Command{answer.Shell("see what git says of it", "git", "-C", e.Repository, "status")},
			Cause: err,
		}
	}
	if err != nil {
		return source{}, err
	}

	dir, below, _ := strings.Cut(found, "\n")
	dir = filepath.FromSlash(dir)
	if _, err := os.Lstat(filepath.Join(path, ".git")); below != "" || err != nil && dir != path {
		return source{}, notOne(s)
	}

	return source{run, dir, s.Name}, nil
}

// notOne is a path at which no repository is.
func notOne(s Spec) error {
	return answer.Wrongf("repository %s: %s is not a git repository", s.Name, s.Path)
}

// refused is a request that git says no to; when time is over it is not known what git would have
// said.
func refused(ctx context.Context, err error, format string, args ...any) error {
	if ctx.Err() != nil || git.Code(err) == 0 {
		return err
	}
	return answer.Wrongf(format, args...)
}

// resolve returns the commit that a base means. A remote's branch is fetched first, unless offline,
// and comes before a local branch of the same name, which may be behind it or hold what is not
// meant to leave: refs/heads/NAME is that one.
func (s source) resolve(ctx context.Context, base string, offline bool) (string, error) {
	remotes, err := s.remotes(ctx)
	if err == nil && base == "" {
		base, err = s.fallback(ctx, remotes, offline)
	}

	oid := ""
	if err == nil {
		oid, err = s.lookup(ctx, remotes, base, offline)
	}

	switch {
	case err != nil:
		return "", s.inRepository(fmt.Errorf("base %q: %w", cmp.Or(base, "default branch"), err))
	case oid == "":
		return "", answer.Wrongf("repository %s: base %q: no branch, tag or commit", s.name, base)
	}

	return oid, nil
}

// lookup is the commit that a base means, or nothing.
func (s source) lookup(ctx context.Context, remotes []string, base string, offline bool) (string, error) {
	for _, remote := range remotes {
		if branch, ok := strings.CutPrefix(base, remote+"/"); ok {
			if oid, err := s.branch(ctx, remote, branch, offline); err != nil || oid != "" {
				return oid, err
			}
		}
	}

	ours, err := s.isLocalName(ctx, base)
	if err != nil {
		return "", err
	}

	if len(remotes) > 0 && !ours {
		if oid, err := s.branch(ctx, upstream(remotes), base, offline); err != nil || oid != "" {
			return oid, err
		}
	}

	return s.commit(ctx, base)
}

// isLocalName reports whether a base is resolved without asking a remote: a full reference, HEAD,
// or a tag or an object id that is here. No branch begins with a dash.
func (s source) isLocalName(ctx context.Context, base string) (bool, error) {
	if base == "HEAD" || strings.HasPrefix(base, "refs/") || strings.HasPrefix(base, "-") {
		return true, nil
	}

	names := []string{"refs/tags/" + base}
	if len(base) >= 7 && strings.Trim(base, "0123456789abcdef") == "" { // it may begin an object id
		names = append(names, base)
	}

	for _, name := range names {
		if oid, err := s.commit(ctx, name); err != nil || oid != "" {
			return oid != "", err
		}
	}

	return false, nil
}

// inRepository names the repository in an error that does not name it.
func (s source) inRepository(err error) error {
	if answer.Is(err, answer.Usage) {
		return err
	}
	return fmt.Errorf("repository %s: %w", s.name, err)
}

// remotes lists the names of remotes, the longest first: a name may be the beginning of another.
func (s source) remotes(ctx context.Context) ([]string, error) {
	out, err := s.run(ctx, "remote")
	if err != nil {
		return nil, err
	}

	names := strings.Fields(out)
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	return names, nil
}

// upstream is the remote that counts when none is named.
func upstream(remotes []string) string {
	if slices.Contains(remotes, "origin") {
		return "origin"
	}
	return remotes[len(remotes)-1]
}

// fallback is the base when none is given: the default branch of the remote as it is noted here, or
// as the remote says, because a bare clone notes none; else HEAD.
func (s source) fallback(ctx context.Context, remotes []string, offline bool) (string, error) {
	if len(remotes) == 0 {
		return "HEAD", nil
	}
	remote := upstream(remotes)
	head, err := s.run(ctx, "symbolic-ref", "--quiet", "refs/remotes/"+remote+"/HEAD")
	if name, ok := strings.CutPrefix(head, "refs/remotes/"); err == nil && ok {
		return name, nil
	}
	if err != nil && !git.No(err) {
		return "", err
	}
	if offline {
		return "HEAD", nil
	}

	out, err := s.run(ctx, "ls-remote", "--symref", "--end-of-options", remote, "HEAD")
	if err != nil {
		return "", err
	}
	name, known := strings.CutPrefix(out, "ref: refs/heads/")
	if !known {
		return "HEAD", nil
	}

	branch, _, _ := strings.Cut(name, "\t")
	return remote + "/" + branch, nil
}

// commit returns what git takes the name for, or nothing. A name that begins with a dash is not an
// option.
func (s source) commit(ctx context.Context, name string) (string, error) {
	oid, err := s.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if git.Code(err) > 0 { // 1, or 128 for what is not a name at all
		return "", ctx.Err()
	}
	return oid, err
}

// branch returns the commit at a remote's branch, or nothing when it has none of that name. A bare
// clone has no place to note it, so it is not looked for in the references.
func (s source) branch(ctx context.Context, remote, branch string, offline bool) (string, error) {
	ref := "refs/heads/" + branch
	if _, err := s.run(ctx, "check-ref-format", ref); err != nil {
		if git.No(err) {
			err = nil
		}
		return "", err
	}
	if offline {
		return s.commit(ctx, "refs/remotes/"+remote+"/"+branch)
	}

	oid, err := s.tip(ctx, remote, ref)
	if err != nil || oid == "" {
		return "", err
	}
	if _, err := s.run(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
		"--no-auto-maintenance", "--end-of-options", remote, ref); err != nil {
		return "", err
	}

	return s.commit(ctx, oid)
}

// tip asks a remote where its reference is; nothing when it has none.
func (s source) tip(ctx context.Context, remote, ref string) (string, error) {
	out, err := s.run(ctx, "ls-remote", "--exit-code", "--end-of-options", remote, ref)
	if err != nil && git.No(err) {
		return "", nil
	}

	oid, name, _ := strings.Cut(strings.SplitN(out, "\n", 2)[0], "\t")
	if err != nil || name != ref {
		return "", err
	}

	return oid, nil
}
