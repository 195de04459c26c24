package setup

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/smallfile"
)

// A configuration is what counts, and from where it is.
type configuration struct {
	config.Config
	Source       string     // owner/repo:path, or "defaults"; with a caller's file that and its path
	Unconfigured bool       // the repository has none, so that the defaults apply
	own          config.Own // what the caller named

	// what is wrong with the repository's, which was read without that: with Options.Tolerant or
	// View; nil when nothing is
	Unusable *config.Error
}

// Own reads the configuration that the caller named: by Options.Config, else LABEL_STATE_CONFIG.
// The zero value has nothing. The error is a *config.Error.
func (e Environment) Own(o Options) (config.Own, error) {
	named := cmp.Or(o.Config, e.Getenv("LABEL_STATE_CONFIG"))
	if named == "" || o.Published != "" {
		return config.Own{}, nil
	}

	data, err := smallfile.Follow(e.Path(named), config.MaxFile)
	if err != nil {
		return config.Own{}, unreadable(named, err)
	}

	return config.ParseOwn(named, data)
}

// Checkout reads the configuration in a worktree. It decides nothing: the branch that is checked
// out may be anybody's. there is false when there is none; the error is a *config.Error.
func Checkout(top string) (c config.Config, there bool, err error) {
	c, text, err := checkedOut(top)
	if text == nil && err == nil {
		_, wrong := os.Lstat(filepath.Join(top, filepath.FromSlash(config.Unread)))
		if wrong == nil {
			err = &config.Error{File: config.Unread, Problem: "is not read: the file is called " + config.Path}
		}
	}

	return c, text != nil || err != nil, err
}

// checkedOut is Checkout with the text of the file; nil when there is none, or it cannot be read.
func checkedOut(top string) (c config.Config, text []byte, err error) {
	text, err = smallfile.Read(filepath.Join(top, filepath.FromSlash(config.Path)), config.MaxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return config.Default(), nil, nil
	case err != nil:
		return config.Default(), nil, unreadable(config.Path, err)
	}

	c, err = config.Parse(config.Path, text)
	return c, text, err
}

func unreadable(file string, err error) *config.Error {
	return &config.Error{
		File:       file,
		Problem:    "cannot be read: " + printable.Cause(err).Error(),
		Unreadable: true,
	}
}

// Fetched reads the configuration of the default branch as the clone around Dir last fetched it,
// without a request; Dir is the top of the worktree. The default branch is the HEAD of the remote,
// else its main or master. Where the clone knows none of them the file that is checked out counts.
// text is the file's, nil when there is none; the error is a *config.Error for one that cannot be
// used, else git's.
func (e Environment) Fetched(ctx context.Context) (c config.Config, text []byte, err error) {
	if e.neverFetched() {
		return checkedOut(e.Dir)
	}
	s, err := e.settings(ctx)
	if err != nil {
		return config.Default(), nil, err
	}

	names := s.belongs()
	if len(names) == 0 {
		return checkedOut(e.Dir)
	}

	for _, branch := range []string{"HEAD", "main", "master"} {
		ref := "refs/remotes/" + names[0] + "/" + branch
		entry, err := e.Git().Ask(ctx, "ls-tree", "--full-tree", ref, "--", config.Path)
		switch {
		case ctx.Err() != nil:
			return config.Default(), nil, context.Cause(ctx)
		case err != nil: // no such branch
			continue
		case entry == "":
			return config.Default(), nil, nil
		}

		file := names[0] + "/" + branch + ":" + config.Path
		found, err := e.Git().Feed(ctx, ref+":"+config.Path+"\n", "cat-file", "--batch", "--follow-symlinks")
		if ctx.Err() != nil {
			return config.Default(), nil, context.Cause(ctx)
		}

		head, data, _ := strings.Cut(found, "\n")
		if words := strings.Fields(head); err != nil || len(words) != 3 || words[1] != "blob" {
			return config.Default(), nil, &config.Error{File: file, Problem: "cannot be read: git has no such file"}
		}

		c, err := config.Parse(file, []byte(data))
		return c, []byte(data), err
	}

	return checkedOut(e.Dir)
}

// neverFetched reports whether the clone certainly has no branch of a remote, without starting git.
func (e Environment) neverFetched() bool {
	place, err := git.Find(e.Dir, e.Getenv("GIT_DIR"))
	if err != nil {
		return errors.Is(err, git.ErrNone)
	}

	common, err := git.Common(place.Dir)
	if err != nil {
		return false
	}

	for _, refs := range []string{"refs/remotes", "packed-refs", "reftable"} {
		if _, err := os.Stat(filepath.Join(common, filepath.FromSlash(refs))); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}

	return true
}

// published reads the configuration on the default branch; a repository without one has the
// defaults. Anything but yes or no is an error: with wrong label names nothing may be written.
// Beside a *config.Error the configuration is what can be used of it.
func published(ctx context.Context, c *github.Client, r claim.Repo, path string) (*configuration, error) {
	name := r.String() + ":" + path
	if data, known := c.Along(r, path); known && (data != nil || path == config.Path) {
		if data == nil {
			return defaults(), nil
		}
		if conf, err := config.Parse(name, data); err == nil {
			return &configuration{Config: conf, Source: name}, nil
		}
		// File follows a symbolic link, and tells why it is none
	}

	data, err := c.File(ctx, r, path)
	var absent *github.NotFoundError
	switch {
	case errors.As(err, &absent) && path == config.Path:
		return defaults(), nil
	case errors.As(err, &absent):
		return nil, &config.Error{
			File:    name,
			Problem: "cannot be read: no such file on the default branch",
		}
	case err != nil:
		return nil, err
	}

	out := &configuration{Source: name}
	out.Config, err = config.Parse(name, data)
	if errors.As(err, &out.Unusable) {
		out.Config = config.Usable(name, data)
	}

	return out, err
}

func defaults() *configuration {
	return &configuration{Config: config.Default(), Source: "defaults", Unconfigured: true}
}

// under lays the caller's own file over the configuration of the repository. Where there is none,
// nothing can differ from it.
func (c *configuration) under(own config.Own, r claim.Repo) (*configuration, error) {
	if own.File == "" {
		return c, nil
	}
	theirs := c.Config
	if r == (claim.Repo{}) {
		theirs = own.Config
	}
	whole, err := own.Over(theirs, r.String())
	if err != nil {
		return nil, err
	}

	out := *c
	out.Config, out.own = whole, own
	out.Source += " and " + own.File
	return &out, nil
}

// Differs says in one line that the configuration which is checked out is not the one on the
// default branch of a repository; empty when they mean the same.
func Differs(here, there config.Config, r claim.Repo) string {
	different := config.Differences(here, there)
	if len(different) == 0 {
		return ""
	}

	return config.Path + " as it is checked out differs from the default branch of " + r.String() +
		", which is what counts: " +
		printable.Short(strings.Join(different, ", "), 200)
}
