// Package queue leads an agent from one piece of work to the next: next, plan, approve, reject and
// advance.
package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/githubwork"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/work"
	urfave "github.com/urfave/cli/v2"
)

// NewNextCommand makes the command next.
func NewNextCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name:      "next",
		Usage:     "claim the next issue: highest priority, oldest first",
		ArgsUsage: "[-- COMMAND...]",
		Description: "Takes the first free issue of the queue; when somebody is faster it tries the one after it. " +
			"With --list it prints what it would offer, in order, and claims nothing. " +
			"No work is exit code 4, nothing on standard output, and nothing started.\n\n" +
			"   label-state next --list --limit 5\n" +
			"   label-state next --codename lucius --json\n" +
			"   label-state next --codename lucius --prompt --run -- my-agent\n" +
			"   label-state next --no-claim --priority critical --priority high",
		Flags: cli.WriteFlags(append(cli.IdentityFlags(),
			cli.AgentFlag(),
			&urfave.StringSliceFlag{
				Name:  "label",
				Usage: "only items with `LABEL`; may be repeated, then with all of them",
			},
			&urfave.StringSliceFlag{
				Name:  "priority",
				Usage: "only items of `PRIORITY`: critical, high, medium or low; may be repeated, then any of them",
			},
			&urfave.BoolFlag{Name: "list", Usage: "list what is free, first to claim first, and claim nothing"},
			&urfave.StringFlag{Name: "limit", Usage: "with --list, at most `N` items (default: all)"},
			&urfave.BoolFlag{Name: "no-claim", Usage: "show the item and leave it alone"},
			&urfave.BoolFlag{
				Name:  "prompt",
				Usage: "print a prompt about it; with --run, give it to COMMAND as standard input",
			},
			&urfave.StringFlag{Name: "schedule", Usage: "`FILE` with what a prompt begins with"},
			&urfave.DurationFlag{Name: "ttl", Usage: "length of the lease (default: claim.ttl; with --run 30m)"},
			&urfave.BoolFlag{Name: "run", Usage: "run COMMAND under the hold, as the command run does"},
			cli.GraceFlag(),
		)...),
		Action: func(cc *urfave.Context) error {
			o := cli.SetupOptions(cc)
			o.First = setup.First{Ready: true}
			return t.WithAgent(cc, o, func(ctx context.Context, c *cli.Call) error {
				if cc.Bool("list") {
					return listItems(ctx, c, queueOf(c))
				}
				return nextItem(ctx, c, queueOf(c))
			})
		},
	}
}

func readFilter(c *cli.Call) (o work.FetchOptions, err error) {
	o.Labels = c.Flags.StringSlice("label")
	for _, name := range c.Flags.StringSlice("priority") {
		p, err := work.ParsePriority(name)
		if err != nil {
			return o, err
		}
		o.Priorities = append(o.Priorities, p)
	}

	text := c.Flags.String("limit")
	switch {
	case !c.Flags.IsSet("limit"):
		return o, nil
	case !c.Flags.Bool("list"):
		return o, cli.Usagef("next", "--limit goes with --list")
	}

	if o.Limit, err = strconv.Atoi(text); err != nil || o.Limit < 1 {
		return o, cli.Usagef("next", "--limit %q: must be a positive number", cli.OneLine(text))
	}

	return o, nil
}

// listItems prints what next would offer, first to claim first, and claims nothing. Nothing to
// offer is no work, as for next.
func listItems(ctx context.Context, c *cli.Call, s *githubwork.Source) error {
	for _, flag := range []string{"no-claim", "prompt", "schedule", "ttl", "run", "grace"} {
		if c.Flags.IsSet(flag) {
			return cli.Usagef("next", "--list claims nothing; --%s does not go with it", flag)
		}
	}

	if c.Flags.NArg() > 0 {
		return cli.Usagef("next", "--list takes no arguments")
	}
	o, err := readFilter(c)
	if err != nil {
		return err
	}

	page, err := s.Fetch(ctx, o)
	if err != nil {
		return err
	}
	if len(page.Items) == 0 {
		return withFirstStep(ctx, c, s.NoWork())
	}

	for _, i := range page.Items {
		if err := c.Answer(i, fmt.Sprintf("%-12s  %-8s  %s\n", i.Issue, i.Priority, cli.OneLine(i.Title))); err != nil {
			return err
		}
	}

	return nil
}

func nextItem(ctx context.Context, c *cli.Call, s *githubwork.Source) error {
	o, err := readFilter(c)
	if err != nil {
		return err
	}

	command, err := commandLine(c)
	if err != nil {
		return err
	}

	schedule, err := readSchedule(c)
	if err != nil {
		return err
	}
	if c.Flags.Bool("no-claim") || c.Flags.Bool("dry-run") {
		if w := c.Claimant(); w.Codename != "" {
			if err := c.Session.Ledger.MayClaim(claim.Issue{}, ledger.Request{Worker: w, TTL: c.TTL()}); err != nil {
				return err
			}
		}

		i, err := work.Peek(ctx, s, o)
		if err != nil {
			return withFirstStep(ctx, c, err)
		}

		return present(c, work.Claimed{Item: i}, "free", schedule)
	}

	if err := c.RequireWorker(); err != nil {
		return err
	}
	o.Spread = work.SpreadOf(c.Claimant().String() + setup.Clock().Now().String())
	got, err := work.Next(ctx, s, o)
	if err != nil {
		return withFirstStep(ctx, c, err)
	}
	if !c.Flags.Bool("run") {
		return present(c, got, "won", schedule)
	}

	h, _ := s.Hold(got.Item.ID)
	c.Subject.Issue = h.Issue.String()
	p := cli.Program{Args: command, In: c.Terminal.In}
	if c.Flags.Bool("prompt") {
		p.In = strings.NewReader(work.Prompt(schedule, got.Item))
	}

	return cli.RunProgram(ctx, c, h, p)
}

// withFirstStep adds to no work that the repository lacks the label that would make some: without
// it no issue can be given it.
func withFirstStep(ctx context.Context, c *cli.Call, err error) error {
	none, is := errors.AsType[*work.NoWorkError](err)
	if !is || none.Queue > 0 {
		return err
	}
	if first, asked := c.LabelsFirst(ctx); asked == nil && first != nil {
		return cli.Advise(err, first...)
	}

	return err
}

// commandLine is what --run runs.
func commandLine(c *cli.Call) ([]string, error) {
	args := c.Flags.Args().Slice()
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}

	switch {
	case !c.Flags.Bool("run") && len(args) > 0:
		return nil, cli.Usagef("next", "a command goes with --run: label-state next --run -- %s",
			cli.OneLine(strings.Join(args, " ")))
	case !c.Flags.Bool("run"):
		return nil, nil
	case c.Flags.Bool("no-claim"):
		return nil, cli.Usagef("next", "--run needs a claim; it does not go with --no-claim")
	}

	return args, cli.CheckProgram(c, args)
}

// readSchedule is the text that a prompt begins with.
func readSchedule(c *cli.Call) (string, error) {
	file := c.Flags.String("schedule")
	switch {
	case file == "":
		return "", nil
	case !c.Flags.Bool("prompt"):
		return "", cli.Usagef("next", "--schedule goes with --prompt")
	}

	text, err := os.ReadFile(file)
	if err != nil {
		return "", cli.Usagef("next", "--schedule: %s", err)
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
}

// present answers with an item: as JSON, as a prompt, or for people.
func present(c *cli.Call, got work.Claimed, answer, schedule string) error {
	v := ItemView{
		Issue:    got.Item.Issue,
		Answer:   answer,
		Item:     got.Item,
		Codename: got.Agent,
		Firing:   got.Run,
		Token:    got.Token,
		Until:    cli.Stamp(got.Until),
		Renew:    cli.Stamp(cli.RenewBefore(got.Until, got.Lease)),
	}
	text := describeItem(got.Item)
	if got.Run != "" {
		text = "claimed " + text + cli.Table([][2]string{
			{"  worker ", got.Agent + " (run " + got.Run + ")"},
			{"  lease", "until " + cli.Moment(got.Until)},
		})
	}

	if c.Flags.Bool("prompt") {
		v.Prompt = work.Prompt(schedule, got.Item)
		text = v.Prompt
	}

	return c.Answer(v, text)
}

func describeItem(i work.Item) string {
	labels := make([]string, len(i.Labels))
	for n, l := range i.Labels {
		labels[n] = cli.OneLine(l)
	}

	slices.Sort(labels)
	return fmt.Sprintf("%s %s\n", i.Issue, cli.OneLine(i.Title)) + cli.Table([][2]string{
		{"  priority", i.Priority.String()}, {"  labels", strings.Join(labels, ", ")}, {"  url", cli.OneLine(i.URL)},
	})
}
