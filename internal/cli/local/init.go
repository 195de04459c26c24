// Package local prepares this machine, a clone and an agent: init, doctor, hook, agent, mcp,
// completion, man and version.
package local

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	urfave "github.com/urfave/cli/v2"
)

// NewInitCommand makes the command init.
func NewInitCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name:  "init",
		Usage: "set up a repository: files, labels and hook",
		Description: "Shows what it will do and asks. Run it again whenever you like: what is there stays. No line that a person wrote is changed. " +
			"Run it inside a clone. Its last lines say what works, what is left to do, what it costs and how to undo it.\n\n" +
			"   label-state init\n   label-state init --dry-run\n   label-state init --yes",
		Flags: cli.WriteFlags(
			&urfave.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"},
			&urfave.StringFlag{
				Name:  "lease",
				Usage: "`KIND` of lease for the settings that it writes: comments or refs",
			},
			&urfave.StringFlag{
				Name:  "hook",
				Usage: "`FILE` of the program that the hook runs (default: as hook install has it)",
			},
		),
		Action: func(cc *urfave.Context) error {
			if cc.Args().Present() {
				return cli.Usagef("init", "init takes no arguments; name a repository with --repo")
			}
			return t.WithSession(cc, cli.SetupOptions(cc), initRepo)
		},
	}
}

func initRepo(ctx context.Context, c *cli.Call) error {
	steps, err := planSteps(ctx, c)
	if err != nil {
		return err
	}

	status := func(wanted string) bool {
		return slices.ContainsFunc(steps, func(s cli.Step) bool { return s.Status == wanted })
	}
	repo := c.Session.Repo.String()

	switch {
	case !status(cli.StepMissing) && status(cli.StepKept):
		return endInit(ctx, c, steps, nil, "nothing to do here; items marked ! need you\n")
	case !status(cli.StepMissing):
		return endInit(ctx, c, steps, nil, "nothing to do: all is there\n")
	case c.Flags.Bool("dry-run"):
		return cli.ShowSteps(c, repo, steps, paragraph("next", leftOf(steps, cli.StepKept)...)+refsTip(ctx, c, steps))
	}

	preview := func() string {
		return cli.Wrap(cli.Preview(repo, steps)+refsTip(ctx, c, steps), c.Terminal.Env.Width(c.Terminal.Out))
	}

	if err := agree(c, "label-state init", "look at what it would do, then say yes beforehand", preview); err != nil {
		return err
	}
	did, err := cli.TakeSteps(ctx, c, steps)
	if err != nil {
		return cli.Otherwise(err, answer.Call("what was done before stays; fix the cause, then run", answer.Again))
	}

	return endInit(ctx, c, steps, did, "")
}

// agree shows what the command would do and asks, unless --yes. Without anybody to ask it is a call
// that lacks --yes, and advice says what to do beforehand.
func agree(c *cli.Call, command, advice string, preview func() string) error {
	if c.Flags.Bool("yes") {
		return nil
	}
	if !c.Terminal.Live(c.Flags) {
		return cli.Advise(cli.Usagef(cli.CommandPath(c.Flags), "nobody is here to ask"),
			answer.Advice(advice+": "+command+" --dry-run, "+command+" --yes"))
	}

	fmt.Fprint(c.Terminal.Out, preview()+"go on? [y/N] ")
	line, _ := bufio.NewReader(c.Terminal.In).ReadString('\n') // what cannot be read is no yes
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}

	return cli.Declined("nothing was done", answer.Advice(command+" --dry-run shows the same again"))
}
