package hold

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/trouble"
)

type dedupParams struct {
	cli.AnIssue
	cli.Identity
	cli.OneRepo
}

// DedupCheck answers whether an issue is free.
func DedupCheck() cli.Verb {
	return cli.Do(cli.Verb{
		Name:     "dedup-check",
		Summary:  "is it free? 0 free, 1 held, 3 could not find out",
		About:    "For scripts. A hold of the asking run itself counts as free.",
		Examples: "label-state dedup-check acme/app#42 --json\n",
		Tools: []cli.Tool{{
			Name:      "dedup_check",
			Title:     "Is an issue free?",
			Set:       cli.Core,
			Takes:     "issue codename firing-id",
			Reads:     true,
			Asks:      true,
			About:     "Answers whether an issue is free: yes, no with the reasons, or unknown. Your own hold counts as yes. It claims nothing.",
			Untrusted: "reasons.text",
		}},
	}, cli.OnIssue(checkIssue))
}

func checkIssue(ctx context.Context, c *cli.Call, i claim.Issue, _ *dedupParams) error {
	who := c.Asking(ctx, i)
	who.Earlier = c.Earlier(i, who.Worker)
	f, v, err := c.Session.Ledger.Check(ctx, i, who)
	if err != nil {
		return err
	}

	own := len(v.Reasons) > 0 // where none of them is left
	v.Reasons = c.Others(ctx, i, v, f.Viewer)
	if len(v.Reasons) > 0 {
		return &ledger.HeldError{Issue: i, Verdict: v}
	}
	text := "free"
	if own {
		text = "free: you hold it"
	}

	return c.Answer(answer.Answer{Issue: i.String(), Answer: answer.Free, Yours: own},
		fmt.Sprintf("%s %s is %s\n", i, cli.OneLine(f.Title), text))
}

type statusParams struct {
	cli.HeldIssue
	Mine bool `flag:"mine" text:"what you hold anywhere in --repo (several with commas), else in this clone's repository or the fleet's"`
	cli.Identity
	cli.OneRepo
}

// Status shows everything known about an issue.
func Status() cli.Verb {
	return cli.Do(cli.Verb{
		Name:    "status",
		Alias:   "status-issue",
		Summary: "everything known about an issue",
		About: "Who holds it and until when, what its labels should say, attempts with their reasons, pull requests, records that do not count. " +
			"When issues wait for each other in a dependency cycle, it says so: it follows blockers over 4 steps and 20 issues at most.",
		Examples: "label-state status                  # what this worktree holds\n" +
			"label-state status --mine           # what you hold, on any machine\n" +
			"label-state status 42\nlabel-state status acme/app#42 --json\n",
		Shows: true,
		Tools: []cli.Tool{{
			Name:  "status",
			Title: "Everything about an issue",
			Set:   cli.Core,
			Takes: "issue mine codename firing-id",
			Reads: true,
			About: "Shows who holds an issue and until when, its labels and what they should be, attempts, pull requests, what blocks it, and records that do not count. Of your own hold, result.holder.renew_before says when to renew. Without an issue: what you hold here; with mine, on any machine.",
			Untrusted: "title labels reasons.text why holder.codename holder.firing_id holder.branch holder.note " +
				"attempts.worker attempts.person attempts.reason attempts.branch pull_requests.title ignored.reason " +
				"plan.by plan.reason cycle.unknown ended",
		}},
	}, showIssueOrHere)
}

// nothingHere says that the worktree has no hold, and how to take one. A person's hold belongs to
// no worktree.
func nothingHere(c *cli.Call) string {
	name := ""
	if c.RequireWorker() != nil {
		name = " --codename NAME"
	}

	return "this worktree holds no issue; take one with: label-state next" + name +
		"; what is yours elsewhere: label-state status --mine\n"
}

// showIssueOrHere shows an issue, or without one what this worktree holds: the status of its only
// hold, else what it has recorded.
func showIssueOrHere(ctx context.Context, c *cli.Call, p *statusParams) error {
	named := p.Repo != "" && !c.Env.Server // a server's own --repo is for calls that name none
	switch {
	case p.Issue != "" && p.Mine:
		return c.Usagef("--mine goes without an issue")
	case p.Mine:
		return showMine(ctx, c, p)
	case p.Issue != "", !named && c.Env.Issue() != "":
		return cli.OnIssue(showStatus)(ctx, c, p)
	}
	if named {
		return cli.Advise(c.Usagef("name the issue of %s, or give %s", cli.OneLine(p.Repo), c.Option("mine")),
			answer.Call("to see who holds what", "board", "--repo", p.Repo))
	}

	all, err := c.NamedHolds()
	switch {
	case err != nil:
		return err
	case len(all) == 0:
		if past := c.PastHolds(); len(past) > 0 {
			return c.LostHere(past[0])
		}
		return c.Answer(answer.Answer{Answer: answer.None}, nothingHere(c))
	case len(all) == 1:
		c.Issue = all[0].Issue.String()
		return cli.OnIssue(showStatus)(ctx, c, p)
	}

	for _, h := range all {
		out := answer.Answer{
			Issue:    h.Issue.String(),
			Answer:   answer.Recorded,
			Codename: h.Worker.Codename,
			FiringID: h.Worker.FiringID,
			Since:    h.Since.Truncate(time.Second),
			Until:    h.Until,
			Token:    h.Token,
			Branch:   h.Branch,
			URL:      h.URL,
		}
		what := cli.Lasts(h.Until) + " as recorded here"
		if h.Lost != "" {
			what = "lost: " + h.Lost
		}
		if err := c.Answer(out, holdLine(out, what)); err != nil {
			return err
		}
	}

	return nil
}

// holdLine is a hold among several, and what is known of it, in one line.
func holdLine(h answer.Answer, what string) string {
	who := cmp.Or(h.Person, fmt.Sprintf("%s (run %s)", h.Codename, h.FiringID))
	return cli.OneLine(fmt.Sprintf("%s  %s, %s; see: label-state status %s", h.Issue, who, what, h.Issue)) + "\n"
}

// showMine lists what the login holds in the repositories, as a person and for workers, or for the
// worker that the call names.
func showMine(ctx context.Context, c *cli.Call, p *statusParams) (err error) {
	names := setup.Listed(p.Repo)
	if len(names) == 0 {
		if names, err = c.ReposToRead(ctx, false); err != nil {
			return err
		}
	}

	var holds int
	var read []string
	err = cli.InEach(ctx, c, names, cli.InRepo(func(ctx context.Context, c *cli.Call, p *statusParams) error {
		n, err := listMine(ctx, c, p)
		holds += n
		read = append(read, c.Session.Repo.String())
		return err
	}), p)

	if err != nil || holds > 0 {
		return err
	}

	as := ""
	if w := c.Worker(); w.Codename != "" {
		as = " as " + w.Codename
	}
	return c.Answer(answer.Answer{Answer: answer.None},
		cli.OneLine("you hold no issue"+as+" in "+strings.Join(read, ", "))+"\n")
}

func listMine(ctx context.Context, c *cli.Call, p *statusParams) (n int, err error) {
	rules, asked := c.Rules(), claim.Worker{Codename: c.Worker().Codename, FiringID: p.FiringID}
	for f, err := range c.Session.Client.Current(ctx, c.Session.Repo, time.Now().Add(-ledger.Lookback)) {
		if err != nil {
			return n, err
		}

		f.Log = f.Log.ByToken()
		h, _ := rules.Holder(f)
		mine := h.IsOf(f.Viewer) || h.Person == "" && h.WrittenBy(f.Viewer)
		if !h.Held() || !mine || !cli.Fits(asked, h.Record.Worker) {
			continue
		}

		n++
		out := cli.ViewOwn(f.Issue, h, rules.Terms)
		if err := c.Answer(out, holdLine(out, cli.Lasts(out.Until))); err != nil {
			return n, err
		}
	}

	return n, nil
}

func showStatus(ctx context.Context, c *cli.Call, i claim.Issue, _ *statusParams) error {
	f, err := c.Session.Ledger.Look(ctx, i)
	if err != nil {
		return err
	}

	f = c.Session.Ledger.Here(f)
	v := c.Rules().Verdict(f, lifecycle.Seeker{})
	if v.Answer == lifecycle.Free {
		limited, err := c.Session.Ledger.Limited(ctx, f, lifecycle.Seeker{Worker: c.Claimant()})
		if err == nil {
			f = limited
		} else { // all else is known, and is looked for when things are wrong
			f.Doubts = []string{err.Error()}
		}
		v = c.Rules().Verdict(f, lifecycle.Seeker{})
	}

	view := cli.StatusView{Status: trouble.Status(c.Rules(), f, v)}
	view.Store, view.Cycle, view.Guessed = c.Session.Config.Claim.Lease, c.FindCycle(ctx, f), c.Session.Client.Guessed()
	view.Ended = c.Ended(f)
	if view.Stranded == "" {
		view.Next = c.ReadyFirst(f, v)
	}

	if h, ok := c.Rules().Shown(f); ok && c.Mine(ctx, i, h, f.Viewer) {
		view.Holder.RenewBefore = cli.RenewOwn(h, c.Rules().Terms)
	}

	title, rest, _ := strings.Cut(cli.DescribeStatus(c.Rules(), f, v, view), "\n")
	verdict, facts, _ := strings.Cut(rest, "\n")
	ink := map[lifecycle.Answer]string{lifecycle.Free: cli.InkGreen, lifecycle.Held: cli.InkYellow}[v.Answer]
	return c.Tell(view, c.Paint(cli.InkBold, title)+"\n"+c.Paint(cmp.Or(ink, cli.InkAlarm), verdict)+"\n"+facts)
}
