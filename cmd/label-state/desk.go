package main

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/work"
	"github.com/label-state/label-state/internal/work/folderwork"
	"github.com/label-state/label-state/internal/work/githubwork"
	"github.com/urfave/cli/v2"
)

// A desk is where an agent gets its work: one source behind the registry of all that this program has.
type desk struct {
	*work.Dispatcher
	work.Settings
	github *githubwork.Source // nil when the work is not on GitHub
}

// source is the source itself.
func (d desk) source(ctx context.Context) (work.Source, error) {
	return d.Dispatcher.Source(ctx, d.Settings)
}

// sourceFlags say whose work it is and where from.
func sourceFlags(more ...cli.Flag) []cli.Flag {
	return append(append(identityFlags(), &cli.StringFlag{Name: "agent", Usage: "`NAME` of an agent of the configuration: its work source, and its codename"},
		&cli.StringFlag{Name: "folder", Usage: "take work from the Markdown files in `DIR` instead of GitHub"}), more...)
}

// atWork is session for commands about work. A folder needs no GitHub, and so no session.
func (t terminal) atWork(do func(ctx context.Context, c *call, d desk) error) func(cc *cli.Context) error {
	return func(cc *cli.Context) error {
		if dir := cc.String("folder"); dir != "" {
			return t.inFolder(cc, dir, do)
		}
		e, err := t.employed(cc)
		if err != nil {
			return err
		}
		return t.session(cc, e.options, func(ctx context.Context, c *call) error {
			if err := c.employ(ctx, e); err != nil {
				return err
			}
			d, err := c.desk(work.Settings{Type: githubwork.Type, Agent: c.worker().Codename, Place: c.Repo.String()})
			if err != nil {
				return err
			}
			return do(ctx, c, d)
		})
	}
}

func (t terminal) inFolder(cc *cli.Context, dir string, do func(ctx context.Context, c *call, d desk) error) error {
	ctx, cancel := deadline(cc)
	defer cancel()
	c := &call{Context: cc, terminal: t, Session: &setup.Session{Worker: t.env.Identity()}}
	d, err := c.desk(work.Settings{Type: folderwork.Type, Agent: c.worker().Codename, Place: dir})
	if err == nil {
		err = do(ctx, c, d)
	}
	return c.failed(ctx, err)
}

// desk fills the registry: these are all the sources there are.
func (c *call) desk(s work.Settings) (desk, error) {
	d := desk{Settings: s}
	if s.Type == githubwork.Type {
		d.github = c.githubSource()
	}
	var r work.Registry
	err := errors.Join(
		r.Register(githubwork.Type, func(context.Context, work.Settings) (work.Source, error) { return d.github, nil }),
		r.Register(folderwork.Type, c.openFolder))
	d.Dispatcher = work.NewDispatcher(&r)
	return d, err
}

func (c *call) githubSource() *githubwork.Source {
	return githubwork.New(c.Client, c.Ledger, githubwork.Options{
		Repo: c.Repo, Worker: c.worker(), Exclude: c.source.Exclude, KeepFailed: c.source.KeepFailed,
		Take: func(ctx context.Context, i claim.Issue) (ledger.Hold, error) {
			return c.take(ctx, i, ledger.Request{Worker: c.worker(), TTL: c.ttl()})
		},
		Recall: func(i claim.Issue) (ledger.Hold, bool, error) {
			w, token, err := c.holder(i)
			return ledger.Hold{Record: claim.Record{Worker: w}, Token: token}, err == nil, err
		},
		Warn: func(err error) { warn(c.err, "%s", err) }, Wait: setup.Clock().Sleep,
	})
}

func (c *call) openFolder(_ context.Context, s work.Settings) (work.Source, error) {
	w := c.worker()
	src, err := folderwork.Open(s.Place, folderwork.Options{
		Agent: cmp.Or(w.Codename, "nobody"), Run: cmp.Or(w.FiringID, c.Word()), TTL: c.ttl(), Exclude: []string{"blocked", "wip"}, Now: time.Now,
	})
	if err != nil {
		return nil, wrong(path(c.Context), "%s", err)
	}
	return src, nil
}

// runTTL is the lease of a hold that is renewed all the time.
const runTTL = 30 * time.Minute

// ttl is what was asked for; 0 is the repository's default.
func (c *call) ttl() time.Duration {
	if d := c.Duration("ttl"); d > 0 {
		return d
	}
	if c.Bool("run") || path(c.Context) == "run" {
		return runTTL
	}
	return 0
}

// checkTTL refuses a lease of nothing.
func (c *call) checkTTL() error {
	if c.IsSet("ttl") && c.Duration("ttl") <= 0 {
		return wrong(path(c.Context), "--ttl %s: want more than nothing, such as 30m", c.Duration("ttl"))
	}
	return nil
}

// take claims as a worker does: not in a repository that is paused here, and remembered for this work tree.
func (c *call) take(ctx context.Context, i claim.Issue, req ledger.Request) (ledger.Hold, error) {
	if err := c.unpaused(i); err != nil {
		return ledger.Hold{}, err
	}
	h, err := c.Ledger.Claim(ctx, i, req)
	return h, c.won(h, err)
}

// won remembers a hold for this work tree. The error is the claim's, unless only labels are late.
func (c *call) won(h ledger.Hold, err error) error {
	if err = c.late(err); err != nil {
		return err
	}
	if err := c.Remember(h); err != nil {
		warn(c.err, "claimed, but this work tree's record could not be written, so the hook will not know you: %s", err)
	}
	return nil
}

// asWorker refuses a command that needs to know who works.
func (c *call) asWorker() error {
	if c.worker().Codename == "" {
		return wrong(path(c.Context), "who works? Give --codename, or set LABEL_STATE_CODENAME")
	}
	return c.checkTTL()
}
