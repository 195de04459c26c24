package local

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/smallfile"
)

// StartConfig is the configuration that init writes. It says nothing yet.
//
//go:embed start/label-state.yml
var StartConfig string

// planSteps are everything a repository needs, in the order in which it is made: files, hook,
// labels.
func planSteps(ctx context.Context, c *cli.Call, p *initParams) ([]InitStep, error) {
	root, err := findRoot(ctx, c)
	if err != nil {
		return nil, err
	}

	if c.Session.Unconfigured && isAbsent(root, config.Path) && isAbsent(root, config.Unread) {
		askContributors(ctx, c, p)
	}

	all, kind, err := configSteps(ctx, c, root, p)
	if err != nil {
		return nil, err
	}

	action, err := workflowStep(ctx, c, root, kind)
	if err != nil {
		return nil, err
	}

	all = append(all, action)
	hook, err := hookSteps(ctx, c, root, p.Hook)
	if err != nil {
		return nil, err
	}

	labels, err := labelSteps(ctx, c)
	return slices.Concat(all, hook, labels, hostSteps(c.Terminal)), err
}

// configSteps are the settings. Where records of the token's login do not count, a file that init
// writes names its App, and a file that is there is for a person to change. kind is the kind of
// lease that the settings name.
func configSteps(ctx context.Context, c *cli.Call, root string, p *initParams) (steps []InitStep, kind string, err error) {
	var outsider *github.OutsiderError
	if err := c.Session.Client.Heard(ctx, c.Session.Repo); err != nil && !errors.As(err, &outsider) {
		return nil, "", err
	}

	about := "the settings"
	if outsider != nil && outsider.App() != "" {
		about += "; trust.apps lists " + outsider.App()
	}

	text := ConfigFor(outsider)
	if p.Contributors != "" && p.Contributors != config.ContributorsOff {
		text = contributorsIn(text, p.Contributors)
		about += "; contributors may claim"
	}

	if p.Lease == lease.Refs {
		text = strings.Replace(text, settingsLine, refsLine, 1)
	}

	if about == "the settings" {
		about += ", all optional"
	}

	if isAbsent(root, config.Path) && !isAbsent(root, config.Unread) {
		return []InitStep{{
			Kind:   "file",
			Name:   config.Unread,
			Status: stepKept,
			Detail: "is not read under this name",
			Next:   "git mv " + config.Unread + " " + config.Path,
		}}, c.Session.Config.Claim.Lease, nil
	}

	file, err := fileStep(ctx, c, root, config.Path, text, about)
	if err == nil {
		kind, err = chosenLease(c, root, p, file)
	}

	if err != nil || outsider == nil || outsider.App() != "" && file.Status == stepMissing {
		return []InitStep{file}, kind, err
	}

	trust := InitStep{
		Kind:   "trust",
		Name:   outsider.Login,
		Status: stepKept,
		Detail: "its claims do not count yet",
		Next:   outsider.Remedy(),
	}

	return []InitStep{file, trust}, kind, nil
}

// ConfigFor is the configuration that init writes, with the line that lets an App's records count.
func ConfigFor(o *github.OutsiderError) string {
	if o == nil || o.App() == "" {
		return StartConfig
	}
	return strings.Replace(StartConfig, "#trust: {apps: [github-actions]}", "trust: {apps: [github-actions, "+o.App()+
		"]}", 1)
}

// findRoot is the top of the clone, which is the repository's or nobody's yet.
func findRoot(ctx context.Context, c *cli.Call) (string, error) {
	inside := answer.Call("git clone it, and run label-state init inside; labels alone", "labels sync",
		c.Session.Repo.String())

	top, err := c.Env.Git().Ask(ctx, "rev-parse", "--show-toplevel")
	if err != nil || top == "" {
		return "", cli.Advise(c.Usagef("not in a git clone of %s", c.Session.Repo), inside)
	}

	if c.Session.Tree == "" {
		home, err := c.Env.Home(ctx)
		if err != nil {
			return "", err
		}
		of := claim.Repo{Owner: home.Owner, Name: home.Repo}
		if home.Owner != "" && !strings.EqualFold(of.String(), c.Session.Repo.String()) {
			return "", cli.Advise(c.Usagef("not in a git clone of %s: this one is of %s", c.Session.Repo, of), inside,
				answer.Shell("where it is of a fork, set its repository", "git", "config", "label-state.repo",
					c.Session.Repo.String()))
		}
	}

	return filepath.FromSlash(top), nil
}

// fileStep looks for a file here and then on GitHub's default branch. One that is there stays.
func fileStep(ctx context.Context, c *cli.Call, root, path, text, about string) (InitStep, error) {
	s := InitStep{
		Kind:   "file",
		Name:   path,
		Status: stepThere,
		Detail: about,
		Done:   "created",
	}
	file := filepath.Join(root, filepath.FromSlash(path))
	have, err := readHere(root, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		var missing *github.NotFoundError
		_, err := c.Session.Client.File(ctx, c.Session.Repo, path)
		switch {
		case err == nil:
			s.Detail = "on GitHub; git pull brings it" // short enough to be shown whole
		case !errors.As(err, &missing):
			return s, err
		default:
			s.Status, s.Do = stepMissing, func(context.Context) error { return Create(file, text, 0o644) }
			s.File = path
		}

	case err != nil:
		return s, cli.Advise(fmt.Errorf("look for file: %w", err),
			answer.Shell("nothing was done; see what is there", "ls", "-ld", filepath.Dir(file)))
	case strings.ReplaceAll(have, "\r\n", "\n") == text: // as git for Windows checks it out
	case path == config.Path:
		s.Detail = "yours" // it is meant to be changed, and has been read already
	default:
		ours, theirs := lacking(text, have), lacking(have, text)
		s.Status, s.Detail = stepKept, fmt.Sprintf("kept your version: it lacks %s of ours and has %d of its own",
			printable.Count(len(ours), "line", "lines"), len(theirs))
		if len(ours) > 0 {
			s.Detail += fmt.Sprintf("; ours has, for one, %q", ours[0])
		}
	}

	return s, nil
}

// readHere reads a file of the worktree, by its path from the top with slashes.
func readHere(root, path string) (string, error) {
	text, err := smallfile.Follow(filepath.Join(root, filepath.FromSlash(path)), largestFile)
	return string(text), err
}

// isAbsent reports whether the worktree has nothing at a path.
func isAbsent(root, path string) bool {
	_, err := os.Lstat(filepath.Join(root, filepath.FromSlash(path)))
	return errors.Is(err, fs.ErrNotExist)
}

// Create writes a file that is not there. One that has come in the meantime stays.
func Create(file, text string, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return &KeptError{Why: "it was created in the meantime"}
	}
	if err != nil {
		return err
	}

	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(file))
	}

	return nil
}

// lacking are the lines of text, comments and empty ones aside, that other does not have.
func lacking(text, other string) (out []string) {
	known := slices.Collect(strings.SplitSeq(other, "\n"))
	for i := range known {
		known[i] = strings.TrimSpace(known[i])
	}

	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' && !slices.Contains(known, line) {
			out = append(out, line)
		}
	}

	return out
}
