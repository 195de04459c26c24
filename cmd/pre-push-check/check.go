package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/dedup"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/outgoing"
	"github.com/label-state/label-state/internal/setup"
)

// config reads the configuration that is here: the file that LABEL_STATE_CONFIG names, else the work
// tree's. file is its path, empty when there is none. GitHub is not asked for it: that would be a
// second request.
func (h *hook) config() (conf config.Config, file string, err error) {
	named := h.env.Getenv("LABEL_STATE_CONFIG")
	file = cmp.Or(named, filepath.FromSlash(config.Path))
	if !filepath.IsAbs(file) {
		file = filepath.Join(h.env.Dir, file)
	}
	data, err := os.ReadFile(file)
	switch {
	case named == "" && errors.Is(err, fs.ErrNotExist):
		return config.Default(), "", nil
	case err != nil:
		return conf, file, fmt.Errorf("read configuration: %w", err)
	}
	conf, err = config.Parse(cmp.Or(named, config.Path), data)
	return conf, file, err
}

// A checker is one push on its way to GitHub's answer.
type checker struct {
	*hook
	push   outgoing.Push
	conf   config.Config
	file   string      // of the configuration
	remote host.Remote // whose issues are meant
}

// check finds out what the messages name and whose work that is.
func (h *hook) check(ctx context.Context, push outgoing.Push, messages []dedup.Message) dedup.Report {
	conf, file, err := h.config()
	if err != nil {
		return h.unknown(err)
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), h.start.Add(conf.Hook.Timeout))
	defer cancel()
	c := checker{hook: h, push: push, conf: conf, file: file}
	var elsewhere *host.NotGitHubError
	switch c.remote, err = h.env.Remote(ctx, push.URL); {
	case errors.As(err, &elsewhere):
		return dedup.Report{}
	case err != nil:
		return h.unknown(inTime(ctx, err))
	}
	named := dedup.Name(messages, closing.Repo{Owner: c.remote.Owner, Name: c.remote.Repo}, c.remote.Host)
	if len(named) == 0 {
		return dedup.Report{}
	}
	return c.judge(ctx, named)
}

// judge reads the issues and holds them against the rules.
func (c *checker) judge(ctx context.Context, named []dedup.Named) dedup.Report {
	readings, err := c.read(ctx, named)
	var noToken *setup.NoTokenError
	switch {
	case errors.As(err, &noToken) && c.stranger(ctx):
		return dedup.Report{Notes: []dedup.Note{{Text: "not checked: " + c.remote.Host + " is no GitHub that there is a token for"}}}
	case errors.As(err, &noToken):
		readings = unread(named, fmt.Errorf("no token for %s: set %s, or log in with gh", noToken.Host, strings.Join(noToken.Variables, " or ")))
	case err != nil:
		readings = unread(named, inTime(ctx, err))
	}
	who, notes := c.pusher()
	r := dedup.Check(c.conf.Rules(), who, c.zone, readings)
	r.Home, r.Policy = c.remote.Owner+"/"+c.remote.Repo, policy(c.conf)
	r.Notes = append(notes, r.Notes...)
	return r
}

// stranger reports whether the host may be no GitHub at all: GitHub does not run it, and nobody said
// that it is one.
func (c *checker) stranger(ctx context.Context) bool {
	get := c.env.Getenv
	if wellKnown(c.remote.Host) || get("LABEL_STATE_API_URL") != "" || strings.EqualFold(get("GH_HOST"), c.remote.Host) {
		return false
	}
	said, err := c.env.Run(ctx, setup.Command{Name: "git", Args: []string{"config", "--get", "label-state.host"}, Dir: c.env.Dir})
	return err != nil || len(said) == 0
}

// read asks GitHub about every issue, in one request. Of a fork, what it does not have itself is its
// parent's (PRODUCT ruling 22). The error is for all issues.
func (c *checker) read(ctx context.Context, named []dedup.Named) ([]dedup.Reading, error) {
	ctx, hangUp := context.WithCancelCause(ctx)
	defer hangUp(nil)
	env := c.env
	env.HTTP = impatient{env.HTTP, hangUp}
	s, err := setup.Open(ctx, env, setup.Options{Repo: c.remote.Owner + "/" + c.remote.Repo, Host: c.remote.Host, Config: c.file, Near: true})
	if err != nil {
		return nil, err
	}
	readings := decide(ctx, s, s.Repo, ask(ctx, s.Client, named))
	if cause := context.Cause(ctx); cause != nil {
		return nil, inTime(ctx, cause)
	}
	return c.askParent(ctx, s, readings), nil
}

func ask(ctx context.Context, client *github.Client, named []dedup.Named) []dedup.Reading {
	issues := make([]claim.Issue, len(named))
	for k, n := range named {
		issues[k] = n.Issue
	}
	out := make([]dedup.Reading, len(named))
	for k, got := range client.FactsOf(ctx, issues) {
		out[k] = dedup.Reading{Named: named[k], Facts: got.Facts}
		var absent *github.NotFoundError
		switch {
		case got.Err == nil:
		case errors.As(got.Err, &absent) && strings.HasPrefix(absent.What, "issue "):
			out[k].Absent = true
		default:
			out[k].Unread = strings.TrimPrefix(got.Err.Error(), "read "+issues[k].String()+": ")
		}
	}
	return out
}

// askParent replaces the readings of issues that a fork does not have by those of its parent. When
// it cannot be found out whether the repository is a fork, they stay not found.
func (c *checker) askParent(ctx context.Context, s *setup.Session, readings []dedup.Reading) []dedup.Reading {
	home := ledger.Repo{Owner: c.remote.Owner, Name: c.remote.Repo}
	var missing []dedup.Named
	var at []int
	for k, r := range readings {
		if strings.EqualFold(r.Issue.Slug(), home.String()) && (r.Absent || r.Facts.PullRequest) {
			missing, at = append(missing, r.Named), append(at, k)
		}
	}
	if len(missing) == 0 {
		return readings
	}
	repo, err := s.Client.Repository(ctx, home)
	if err != nil || repo.Parent == (ledger.Repo{}) {
		return readings
	}
	for k := range missing {
		missing[k].Issue.Owner, missing[k].Issue.Repo = repo.Parent.Owner, repo.Parent.Name
	}
	for k, r := range decide(ctx, s, repo.Parent, ask(ctx, s.Client, missing)) {
		readings[at[k]] = r
	}
	return readings
}

func unread(named []dedup.Named, err error) []dedup.Reading {
	out := make([]dedup.Reading, len(named))
	for k, n := range named {
		out[k] = dedup.Reading{Named: n, Unread: err.Error()}
	}
	return out
}

// pusher is who pushes, and what should be known about how that was found out.
func (c *checker) pusher() (dedup.Pusher, []dedup.Note) {
	who := dedup.Pusher{Repo: c.remote.Owner + "/" + c.remote.Repo, Branches: branches(c.push.Updates)}
	if at, err := host.ParseRemote(c.push.URL); err == nil {
		who.Repo = at.Owner + "/" + at.Repo // label-state.repo may name another one, the upstream of a fork
	}
	if w := c.env.Identity(); w.Codename != "" && w.FiringID != "" {
		who.Worker = w
	}
	var notes []dedup.Note
	if v := c.env.Getenv("LABEL_STATE_SKIP_DEDUP_CHECK"); v != "" {
		notes = append(notes, dedup.Note{Text: "LABEL_STATE_SKIP_DEDUP_CHECK=" + v + " does not skip the check; only 1 and true do"})
	}
	store, err := c.env.Holds()
	if err == nil {
		holds, bad := store.All()
		for _, h := range holds {
			who.Holds = append(who.Holds, dedup.Hold{Issue: h.Issue, Worker: h.Worker})
		}
		err = bad
	}
	if err != nil {
		notes = append(notes, dedup.Note{Text: err.Error()})
	}
	return who, notes
}
