// Package queue leads an agent from one piece of work to the next: next, plan, approve, reject and
// advance.
package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/githubwork"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/trouble"
	"github.com/label-state/label-state/work"
)

type nextParams struct {
	cli.Identity
	Labels     []string      `flag:"label" value:"LABEL" text:"only with all of these labels" split:","`
	Priorities []string      `flag:"priority" value:"NAME" text:"only of these priorities" only:"critical,high,medium,low" split:","`
	TTL        time.Duration `flag:"ttl" text:"length of the lease, such as 2h (default: as configured)"`
	List       bool          `flag:"list" text:"list what is free, in order, and claim nothing"`
	NoClaim    bool          `flag:"no-claim" text:"show the item and leave it alone"`
	Prompt     bool          `flag:"prompt" text:"print a prompt about it, with the description fenced"`
	Run        bool          `flag:"run" text:"run COMMAND under the hold, with --prompt as its input"`
	Limit      int64         `flag:"limit" value:"N" text:"at most so many items of the list"`
	Schedule   string        `flag:"schedule" value:"FILE" text:"what a prompt begins with" show:"all"`
	Agent      string        `flag:"agent" value:"NAME" text:"agent of the configuration, with its work source"`
	cli.Stopping
	Command []string `arg:"[-- COMMAND...]"`
	cli.Writing
}

// Next claims the next issue.
func Next() cli.Verb {
	return cli.Do(cli.Verb{
		Name:    "next",
		Summary: "claim the next issue: highest priority, oldest first",
		About: "If somebody is faster, it tries the next one. Exit code 4: no work. With --run it is COMMAND's, " +
			"but 1 for 4; a 0 without a pull request is a failed attempt.",
		Examples: "label-state next --codename lucius --json\n" +
			"label-state next --codename lucius --prompt --run -- my-agent\n",
		Tools: []cli.Tool{
			{
				Name:   "next",
				Title:  "Claim the next issue",
				Set:    cli.Core,
				Takes:  "codename firing-id label priority ttl no-claim prompt repo",
				Worker: true,
				Asks:   true,
				About: "Claims the first free issue of the queue: highest priority, then oldest. If somebody " +
					"else is faster, it tries the one after it. " +
					"Answer no means that there is no work now: do nothing and ask again later. Keep result.issue and result.firing_id; renew before result.renew_before.",
				Untrusted: itemText("item."),
			},
			{
				Name:      "list",
				Title:     "The queue",
				Set:       cli.Work,
				Takes:     "label priority limit repo",
				With:      "list",
				Reads:     true,
				Many:      true,
				About:     "Lists the free issues of the queue, first to claim first, and claims nothing. Answer no means that there are none now; board shows what others work on.",
				Untrusted: itemText(""),
			},
		},
	}, takeNext)
}

// itemText are the paths of other people's text in a work item.
func itemText(prefix string) string {
	paths := "title description labels metadata.assignees metadata.milestone metadata.author tried.by tried.reason tried.branch"
	return prefix + strings.ReplaceAll(paths, " ", " "+prefix)
}

func takeNext(ctx context.Context, c *cli.Call, p *nextParams) error {
	o := c.Options()
	o.First = setup.First{Ready: true}
	o.View = p.List || p.NoClaim // to claim what is shown, it is read again
	if err := c.OpenForAgent(ctx, o); err != nil {
		return err
	}

	if p.List {
		return listItems(ctx, c, p)
	}
	if p.Run {
		p.TTL = c.RunTTL(p.TTL)
	}

	return nextItem(ctx, c, p, queueOf(ctx, c, p, false))
}

func readFilter(c *cli.Call, p *nextParams) (o work.FetchOptions, err error) {
	o.Labels = p.Labels
	for _, name := range p.Priorities {
		one, err := work.ParsePriority(name)
		if err != nil {
			return o, err
		}
		o.Priorities = append(o.Priorities, one)
	}

	if p.Limit > 0 && !p.List {
		return o, c.Usagef("--limit goes with --list")
	}
	o.Limit = int(p.Limit)

	return o, nil
}

// listItems prints what next would offer, first to claim first, and claims nothing. Nothing to
// offer means no work, as for next. A contributor is shown what a comment /claim of theirs takes.
func listItems(ctx context.Context, c *cli.Call, p *nextParams) error {
	given, is := cli.Given(p, "no-claim", "prompt", "schedule", "ttl", "run", "grace", "command")
	if is {
		return c.Usagef("--list claims nothing; %s does not go with it", given.Row()[0])
	}

	o, err := readFilter(c, p)
	if err != nil {
		return err
	}

	contributes := c.Session.Config.Contributors.Open() && cli.Welcome(c.Session.Client.Heard(ctx, c.Session.Repo))
	s := queueOf(ctx, c, p, contributes)
	page, err := s.Fetch(ctx, o)
	if err != nil {
		return err
	}

	mark := ""
	switch {
	case len(page.Items) == 0 && contributes: // labels are nothing that they can put on
		return cli.Advise(s.NoWork(), answer.Call("what others work on", "board", "--repo", c.Session.Repo.String()))
	case len(page.Items) == 0:
		return withFirstStep(ctx, c, s.NoWork())
	case contributes:
		mark = "  (/claim)"
		c.Warnf("your records do not count in %s; as a contributor you take what is marked, by a comment /claim",
			c.Session.Repo)
	}

	for _, i := range page.Items {
		line := fmt.Sprintf("%-12s  %-8s  %s%s\n", i.Issue, i.Priority, cli.OneLine(i.Title), mark)
		if err := c.Answer(i, line); err != nil {
			return err
		}
	}

	return nil
}

func nextItem(ctx context.Context, c *cli.Call, p *nextParams, s *githubwork.Source) error {
	o, err := readFilter(c, p)
	if err != nil {
		return err
	}

	if err := checkCommand(c, p); err != nil {
		return err
	}

	schedule, err := readSchedule(c, p)
	if err != nil {
		return err
	}
	if p.NoClaim || p.DryRun {
		i, err := work.Peek(ctx, s, o)
		if err != nil {
			return withFirstStep(ctx, c, err)
		}

		return present(c, p, work.Claimed{Item: i}, ledger.Hold{}, schedule)
	}

	if err := c.RequireWorker(); err != nil {
		if c.OneSession() == nil {
			err = cli.Advise(err, answer.Call("for a worker", "next", "--help"),
				answer.Call("to see what is free", "next", "--list", "--repo", c.Session.Repo.String()))
		}

		return err
	}

	o.Spread = work.SpreadOf(c.Claimant().String() + setup.Clock().Now().String())
	got, err := work.Next(ctx, s, o)
	if err != nil {
		return withFirstStep(ctx, c, c.Outside(ctx, err))
	}
	h, _ := s.Hold(got.Item.ID)
	c.Subject.Issue = h.Issue.String()
	if !p.Run {
		return present(c, p, got, h, schedule)
	}

	run := p.Program(c, p.Command)
	if p.Prompt {
		run.In = strings.NewReader(work.Prompt(schedule, got.Item))
	}

	err = cli.RunProgram(ctx, c, h, run)
	if ended, is := errors.AsType[*cli.ExitStatus](err); is && ended.Code == answer.ExitNoWork { // a loop ends there
		return &cli.ExitStatus{Code: answer.ExitNo}
	}

	return err
}

// withFirstStep adds to no work that the repository lacks the label that would make some: without
// it no issue can be given it. Where the filters kept most of the queue out, it shows the rest.
func withFirstStep(ctx context.Context, c *cli.Call, err error) error {
	none, is := errors.AsType[*work.NoWorkError](err)
	switch {
	case !is:
		return err
	case none.Queue > 0 && none.Passed[0].Reason == string(githubwork.NotWanted):
		return cli.Advise(err, trouble.Queue("see what is free, whatever its label and priority", c.Session.Repo.String()),
			answer.Call("later", answer.Again))
	case none.Queue > 0:
		return err
	}

	if first, _ := c.LabelsFirst(ctx); first != nil { // only what to say
		return cli.Advise(err, first...)
	}

	return err
}

// checkCommand makes sure that --run can run something.
func checkCommand(c *cli.Call, p *nextParams) error {
	switch {
	case !p.Run && len(p.Command) > 0:
		return c.Usagef("a command goes with --run: label-state next --run -- %s",
			cli.OneLine(strings.Join(p.Command, " ")))
	case !p.Run:
		return nil
	case p.NoClaim:
		return c.Usagef("--run needs a claim; it does not go with --no-claim")
	}

	return c.CheckProgram(p.Command)
}

// readSchedule is the text that a prompt begins with.
func readSchedule(c *cli.Call, p *nextParams) (string, error) {
	switch {
	case p.Schedule == "":
		return "", nil
	case !p.Prompt:
		return "", c.Usagef("--schedule goes with --prompt")
	}

	text, err := os.ReadFile(p.Schedule)
	if err != nil {
		return "", c.Usagef("--schedule: %s", err)
	}

	return string(text), nil
}

// An ItemView is the JSON of an item that next answers with.
type ItemView struct {
	Issue    string    `json:"issue"`
	Answer   string    `json:"answer"`
	Item     work.Item `json:"item"`
	Codename string    `json:"codename,omitempty"`
	Firing   string    `json:"firing_id,omitempty"`
	Token    int64     `json:"token,omitempty"`
	Until    string    `json:"until,omitempty"`
	Renew    string    `json:"renew_before,omitempty"`
	Prompt   string    `json:"prompt,omitempty"`

	cli.WithWarnings
}

// present answers with an item and its hold, if it was claimed: as JSON, as a prompt, or for
// people.
func present(c *cli.Call, p *nextParams, got work.Claimed, h ledger.Hold, schedule string) error {
	v := ItemView{
		Issue:    got.Item.Issue,
		Answer:   "free",
		Item:     got.Item,
		Codename: got.Agent,
		Firing:   got.Run,
		Token:    got.Token,
		Until:    cli.Stamp(got.Until),
		Renew:    cli.Stamp(cli.RenewBefore(got.Until, got.Lease)),
	}
	rows := itemRows(got.Item)
	text := fmt.Sprintf("%s %s\n", got.Item.Issue, cli.OneLine(got.Item.Title)) + cli.Table(rows)
	if got.Run != "" {
		v.Answer, text = "won", "claimed "+cli.DescribeHold(h, rows...)
	}

	if p.Prompt {
		v.Prompt = work.Prompt(schedule, got.Item)
		text = v.Prompt
	}

	return c.Answer(&v, text)
}

func itemRows(i work.Item) [][2]string {
	labels := make([]string, len(i.Labels))
	for n, l := range i.Labels {
		labels[n] = cli.OneLine(l)
	}

	slices.Sort(labels)
	return [][2]string{
		{"  priority", i.Priority.String()},
		{"  labels", strings.Join(labels, ", ")},
		{"  url", cli.OneLine(i.URL)},
	}
}
