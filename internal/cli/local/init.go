// Package local prepares this machine, a clone and an agent: init, doctor, hook, agent, mcp,
// completion, man and version.
package local

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
)

type initParams struct {
	Yes          bool   `flag:"yes,y" text:"do not ask"`
	Contributors string `flag:"contributors" value:"KIND" text:"settings: issues that anybody may take" only:"off,labelled,all"`
	Lease        string `flag:"lease" value:"KIND" text:"settings: kind of lease, comments or refs" only:"comments,refs,..."`
	Hook         string `flag:"hook" value:"FILE" text:"program that the hook runs (default: as hook install has it)"`
	cli.Writing
}

// Init sets up a repository.
func Init() cli.Verb {
	return cli.Do(cli.Verb{
		Name:    "init",
		Summary: "set up a repository: files, labels and hook",
		About: "Shows what it will do and asks. Running it again is safe: existing files are kept. No line that " +
			"a person wrote is changed. " +
			"Run it inside a clone. In a public repository it asks whether contributors may take issues. Its last lines say what works, what is left to do and how to undo it.",
		Examples: "label-state init\nlabel-state init --dry-run\nlabel-state init --yes\n",
	}, cli.InRepo(initRepo))
}

func initRepo(ctx context.Context, c *cli.Call, p *initParams) error {
	steps, err := planSteps(ctx, c, p)
	if err != nil {
		return err
	}

	status := func(wanted string) bool {
		return slices.ContainsFunc(steps, func(s InitStep) bool { return s.Status == wanted })
	}
	repo := c.Session.Repo.String()

	if status(stepMissing) {
		if parents := c.ParentFirst(ctx); parents != nil {
			c.Warnf("%s", cli.Words(parents))
		}
	}

	switch {
	case !status(stepMissing) && status(stepKept):
		return endInit(ctx, c, p, steps, nil, "nothing to do here; items marked ! need you\n")
	case !status(stepMissing):
		found := "nothing to do: everything is set up\n"
		switch {
		case c.Session.Unconfigured:
			found = "nothing to do here: the files count once they are on the default branch\n"
		case unlanded(steps) || slices.ContainsFunc(steps, func(s InitStep) bool { return s.Next != "" }):
			found = "nothing to do here; what is left to you is listed under next\n"
		}
		return endInit(ctx, c, p, steps, nil, found)
	case c.DryRun:
		next := append(leftOf(steps, stepKept), "to do this, run the same command without --dry-run")
		return showSteps(c, repo, steps, paragraph("next", next...)+tips(ctx, c, p, steps))
	}

	preview := func() string {
		return cli.Wrap(previewSteps(repo, steps)+tips(ctx, c, p, steps), c.Env.Width(c.Out))
	}

	if err := agree(c, p.Yes, "label-state init", "see what it would do, then confirm in "+
		"advance", preview); err != nil {
		return err
	}
	did, err := takeSteps(ctx, c, steps)
	if err != nil {
		return cli.Otherwise(err, answer.Call("what was done before stays; fix the cause, then run", answer.Again))
	}

	return endInit(ctx, c, p, steps, did, "")
}

// agree shows what the command would do and asks, unless --yes. Without anybody to ask it is a call
// that lacks --yes, and advice says what to do beforehand.
func agree(c *cli.Call, yes bool, command, advice string, preview func() string) error {
	if yes {
		return nil
	}
	if !c.Live() {
		return cli.Advise(c.Usagef("there is no terminal to ask on"),
			answer.Advice(advice+": "+command+" --dry-run, "+command+" --yes"))
	}

	if ask(c, preview()+"go on?") {
		return nil
	}
	return cli.Declined("nothing was done", answer.Advice(command+" --dry-run shows the same again"))
}

// ask reports whether a person answers a question with yes. What cannot be read is not one.
func ask(c *cli.Call, question string) bool {
	fmt.Fprint(c.Out, question+" [y/N] ")
	var line strings.Builder
	for one := []byte{0}; ; line.Write(one) { // no more than the line: the next question has the rest
		if _, err := io.ReadFull(c.In, one); err != nil || one[0] == '\n' {
			break
		}
	}

	return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(line.String())))
}
