package setup

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/printable"
)

// A configuration is what was read, and from where.
type configuration struct {
	config.Config
	source string // a path, owner/repo:path, or "defaults"
	here   bool   // it was read on this machine, and the repository may say something else
}

// local reads the configuration that is on this machine: the file that Options.Config or
// LABEL_STATE_CONFIG names, else the work tree's when that is a clone of the repository asked about. nil
// means that there is neither. The error is a *config.Error.
func (e Environment) local(o Options, p place) (*configuration, error) {
	if o.Published != "" {
		return nil, nil
	}
	if named := cmp.Or(o.Config, e.Getenv("LABEL_STATE_CONFIG")); named != "" {
		data, err := os.ReadFile(e.path(named))
		if err != nil {
			return nil, unreadable(named, err)
		}
		return parseHere(named, data)
	}
	if p.tree == "" {
		return nil, nil
	}
	data, err := os.ReadFile(filepath.Join(p.tree, filepath.FromSlash(config.Path)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, unreadable(config.Path, err)
	}
	return parseHere(config.Path, data)
}

func parseHere(name string, data []byte) (*configuration, error) {
	c, err := parse(name, data)
	if err == nil {
		c.here = true
	}
	return c, err
}

func parse(name string, data []byte) (*configuration, error) {
	c, err := config.Parse(name, data)
	if err != nil {
		return nil, err
	}
	return &configuration{Config: c, source: name}, nil
}

// unreadable leaves out what the operating system says besides the reason: the name is there already.
func unreadable(name string, err error) error {
	return &config.Error{File: name, Problem: "cannot be read: " + printable.Cause(err).Error()}
}

// published reads the configuration on the default branch; a repository without one has the
// defaults. Anything but yes or no is an error: with wrong label names nothing may be written.
func published(ctx context.Context, c *github.Client, r ledger.Repo, path string) (*configuration, error) {
	data, err := c.File(ctx, r, path)
	var absent *github.NotFoundError
	switch {
	case errors.As(err, &absent) && path == config.Path:
		return defaults(), nil
	case errors.As(err, &absent):
		return nil, &config.Error{File: r.String() + ":" + path, Problem: "cannot be read: no such file on the default branch"}
	case err != nil:
		return nil, err
	}
	return parse(r.String()+":"+path, data)
}

func defaults() *configuration { return &configuration{Config: config.Default(), source: "defaults"} }
