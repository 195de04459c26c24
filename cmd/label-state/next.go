package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/work"
	"github.com/urfave/cli/v2"
)

func nextCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "next", Usage: "claim the next issue: highest priority, oldest first", ArgsUsage: "[-- COMMAND...]",
		Description: "Takes the first issue of the queue that may be taken; when somebody is faster it tries the one after it. " +
			"No work is exit code 4, nothing on standard output, and nothing started.\n\n" +
			"   label-state next --codename lucius --json\n" +
			"   label-state next --codename lucius --prompt --run -- my-agent\n" +
			"   label-state next --no-claim --priority critical --priority high",
		Flags: writing(append(sourceFlags(filterFlags()...),
			&cli.BoolFlag{Name: "no-claim", Usage: "show the item and leave it alone"},
			&cli.BoolFlag{Name: "prompt", Usage: "print a prompt about it; with --run, give it to COMMAND as standard input"},
			&cli.StringFlag{Name: "schedule", Usage: "`FILE` with what a prompt begins with"},
			&cli.DurationFlag{Name: "ttl", Usage: "length of the lease (default: claim.ttl; with --run 30m)"},
			&cli.BoolFlag{Name: "run", Usage: "run COMMAND under the hold, as the command run does"},
			graceFlag(),
		)...),
		Action: t.atWork(nextItem),
	}
}

func filterFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "label", Usage: "only items with `LABEL`; may be repeated, then with all of them"},
		&cli.StringSliceFlag{Name: "priority", Usage: "only items of `PRIORITY`: critical, high, medium or low; may be repeated, then any of them"},
	}
}

func (c *call) filter() (o work.FetchOptions, err error) {
	o.Labels = c.StringSlice("label")
	for _, name := range c.StringSlice("priority") {
		p, err := work.ParsePriority(name)
		if err != nil {
			return o, err
		}
		o.Priorities = append(o.Priorities, p)
	}
	return o, nil
}

func nextItem(ctx context.Context, c *call, d desk) error {
	o, err := c.filter()
	if err != nil {
		return err
	}
	command, err := c.nextCommandLine()
	if err != nil {
		return err
	}
	schedule, err := c.schedule()
	if err != nil {
		return err
	}
	if c.Bool("no-claim") || c.Bool("dry-run") {
		i, err := d.Peek(ctx, d.Settings, o)
		if err != nil {
			return err
		}
		return c.present(work.Claimed{Item: i}, "free", schedule)
	}
	if err := c.asWorker(); err != nil {
		return err
	}
	got, err := d.Next(ctx, d.Settings, o)
	if err != nil {
		return err
	}
	if !c.Bool("run") {
		return c.present(got, "won", schedule)
	}
	h, _ := d.github.Hold(got.Item.ID)
	c.subject.Issue = h.Issue.String()
	p := program{args: command, in: c.in}
	if c.Bool("prompt") {
		p.in = strings.NewReader(work.Prompt(schedule, got.Item))
	}
	return c.work(ctx, h, p)
}

// nextCommandLine is what --run runs.
func (c *call) nextCommandLine() ([]string, error) {
	args := c.Args().Slice()
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	switch {
	case !c.Bool("run") && len(args) > 0:
		return nil, wrong("next", "a command goes with --run: label-state next --run -- %s", oneLine(strings.Join(args, " ")))
	case !c.Bool("run"):
		return nil, nil
	case c.Bool("no-claim") || c.String("folder") != "":
		return nil, wrong("next", "--run claims on GitHub; it does not go with --no-claim or --folder")
	}
	return args, c.runnable(args)
}

// schedule is the text that a prompt begins with.
func (c *call) schedule() (string, error) {
	file := c.String("schedule")
	switch {
	case file == "":
		return "", nil
	case !c.Bool("prompt"):
		return "", wrong("next", "--schedule goes with --prompt")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", wrong("next", "--schedule: %s", err)
	}
	return string(text), nil
}

// An itemView is the JSON of an item that next or work claim answers with.
type itemView struct {
	Answer   string    `json:"answer"`
	Item     work.Item `json:"item"`
	Codename string    `json:"codename,omitempty"`
	Firing   string    `json:"firing_id,omitempty"`
	Token    int64     `json:"token,omitempty"`
	Until    string    `json:"until,omitempty"`
	Prompt   string    `json:"prompt,omitempty"`
}

// present answers with an item: as JSON, as a prompt, or for people.
func (c *call) present(got work.Claimed, answer, schedule string) error {
	v := itemView{Answer: answer, Item: got.Item, Codename: got.Agent, Firing: got.Run, Token: got.Token, Until: stamp(got.Until)}
	text := describeItem(got.Item)
	if got.Run != "" {
		text = "claimed " + text + table([][2]string{{"  worker ", got.Agent + " (run " + got.Run + ")"}, {"  lease", "until " + moment(got.Until)}})
	}
	if c.Bool("prompt") {
		v.Prompt = work.Prompt(schedule, got.Item)
		text = v.Prompt
	}
	return c.answer(v, text)
}

func describeItem(i work.Item) string {
	labels := make([]string, len(i.Labels))
	for n, l := range i.Labels {
		labels[n] = oneLine(l)
	}
	slices.Sort(labels)
	return fmt.Sprintf("%s %s\n", i.ID, oneLine(i.Title)) + table([][2]string{
		{"  priority", i.Priority.String()}, {"  labels", strings.Join(labels, ", ")}, {"  url", oneLine(i.URL)},
	})
}
