package queue

import (
	"cmp"
	"context"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/work"
	"github.com/label-state/label-state/internal/work/folderwork"
	"github.com/label-state/label-state/internal/work/githubwork"
	urfave "github.com/urfave/cli/v2"
)

// A desk is where an agent gets its work: one source, and all kinds that this program has behind it.
type desk struct {
	*work.Dispatcher
	work.Settings
	github *githubwork.Source // nil when the work is not on GitHub
}

// sourceFlags say whose work it is and where from.
func sourceFlags(more ...urfave.Flag) []urfave.Flag {
	return append(append(cli.IdentityFlags(), &urfave.StringFlag{Name: "agent", Usage: "`NAME` of an agent of the configuration: its work source, and its codename"},
		&urfave.StringFlag{Name: "folder", Usage: "take work from the Markdown files in `DIR` instead of GitHub"}), more...)
}

// atWork is session for commands about the work of a repository; first is what they ask GitHub for first. A ref is the issue that it is
// about, which may be in any repository; an empty one names none. A folder needs no GitHub, and so no session.
func atWork(t cli.Terminal, ref string, first setup.First, do func(ctx context.Context, c *cli.Call, d desk) error) func(cc *urfave.Context) error {
	return func(cc *urfave.Context) error {
		if dir := cc.String("folder"); dir != "" {
			ctx, cancel := cli.Deadline(cc)
			defer cancel()
			c := &cli.Call{Flags: cc, Terminal: t, Session: &setup.Session{Worker: t.Env.Identity()}}
			return c.Fail(ctx, do(ctx, c, newDesk(c, work.Settings{Type: folderwork.Type, Agent: c.Claimant().Codename, Place: dir})))
		}
		e, err := readEmployment(t, cc)
		if err != nil {
			return err
		}
		e.options.Ref, e.options.First = ref, first
		return t.WithSession(cc, e.options, func(ctx context.Context, c *cli.Call) error {
			if err := employ(ctx, c, e); err != nil {
				return err
			}
			return do(ctx, c, newDesk(c, work.Settings{Type: githubwork.Type, Agent: c.Claimant().Codename, Place: c.Session.Repo.String()}))
		})
	}
}

// newDesk names all the sources there are.
func newDesk(c *cli.Call, s work.Settings) desk {
	d := desk{Settings: s}
	if s.Type == githubwork.Type {
		d.github = githubwork.New(c.Session.Client, c.Session.Ledger, githubwork.Options{
			Repo: c.Session.Repo, Worker: c.Claimant(), Exclude: c.Source.Exclude, KeepFailed: c.Source.KeepFailed,
			Take: func(ctx context.Context, i claim.Issue, judged ledger.Snapshot) (ledger.Hold, error) {
				h, err := c.Session.Ledger.Claim(ctx, i, ledger.Request{Worker: c.Claimant(), TTL: c.TTL(), Judged: judged})
				return h, c.RecordClaim(h, err)
			},
			Recall: func(i claim.Issue) (ledger.Hold, bool, error) {
				w, token, err := c.Holder(i)
				return ledger.Hold{Record: claim.Record{Worker: w}, Token: token}, err == nil, err
			},
			Warn: func(err error) { cli.Warnf(c.Terminal.Err, "%s", err) }, Wait: setup.Clock().Sleep,
		})
	}
	d.Dispatcher = work.NewDispatcher(work.Openers{
		githubwork.Type: func(context.Context, work.Settings) (work.Source, error) { return d.github, nil },
		folderwork.Type: func(_ context.Context, s work.Settings) (work.Source, error) {
			w := c.Claimant()
			src, err := folderwork.Open(s.Place, folderwork.Options{
				Agent: cmp.Or(w.Codename, "nobody"), Run: cmp.Or(w.FiringID, setup.Word()), TTL: c.TTL(), Exclude: []string{"blocked", "wip"}, Now: time.Now,
			})
			if err != nil {
				return nil, cli.Usagef(cli.CommandPath(c.Flags), "%s", err)
			}
			return src, nil
		},
	})
	return d
}
