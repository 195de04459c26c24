package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/urfave/cli/v2"
)

func initCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "init", Usage: "set up a repository: files, labels and hook",
		Description: "Shows what it will do and asks. Run it again whenever you like: what is there stays, and files that people wrote are " +
			"never changed. Run it inside a clone.\n\n" +
			"   label-state init\n   label-state init --dry-run\n   label-state init --yes",
		Flags: writing(
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"},
			&cli.StringFlag{Name: "hook", Usage: "`FILE` of the compiled hook (default: as hook install has it)"},
		),
		Action: func(cc *cli.Context) error {
			if cc.Args().Present() {
				return wrong("init", "init takes no arguments; name a repository with --repo")
			}
			return t.session(cc, options(cc), initRepo)
		},
	}
}

// A step is one thing that a repository needs, and how it was found.
type step struct {
	kind, name string
	status     string                      // there, missing, kept
	detail     string                      // what it is for, or what differs
	do         func(context.Context) error // makes what is missing; a *keptError leaves it as it was
	done       string                      // the status afterwards
}

// How a step is found, and what becomes of it.
const (
	stepThere   = "there"
	stepMissing = "missing"
	stepKept    = "kept" // a person's: left alone
)

// A keptError says that there is a person's work in the place, which stays.
type keptError struct{ why string }

func (e *keptError) Error() string { return e.why }

// An initView is the JSON of a step.
type initView struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Status string `json:"status"`
	Detail string `json:"detail,omitempty"`
}

// sign is what stands before a step in the preview, as in a diff.
func (s step) sign() string {
	return map[string]string{stepThere: "=", stepMissing: "+", stepKept: "!"}[s.status]
}

func initRepo(ctx context.Context, c *call) error {
	steps, err := c.steps(ctx)
	if err != nil {
		return err
	}
	missing := 0
	for _, s := range steps {
		if s.status == stepMissing {
			missing++
		}
	}
	switch {
	case missing == 0:
		return c.showSteps(steps, nothingToDo(steps))
	case c.Bool("dry-run"):
		return c.showSteps(steps, "")
	}
	if err := c.agree(steps); err != nil {
		return err
	}
	return c.carryOut(ctx, steps)
}

// nothingToDo is init's last word where it finds nothing missing.
func nothingToDo(steps []step) string {
	if slices.ContainsFunc(steps, func(s step) bool { return s.status == stepKept }) {
		return "nothing to do here; what a ! stands before is yours to change\n"
	}
	return "nothing to do: all is there\n"
}

// agree shows the steps and asks, unless --yes. Without anybody to ask it is a call that lacks --yes.
func (c *call) agree(steps []step) error {
	if c.Bool("yes") {
		return nil
	}
	if !c.live(c.Context) {
		return &failure{err: wrong("init", "nobody is here to ask"), hint: "look at what it would do, then say yes beforehand: label-state init --dry-run, label-state init --yes"}
	}
	fmt.Fprint(c.out, wrap(preview(c.Repo.String(), steps), c.env.Width(c.out))+"go on? [y/N] ")
	line, _ := bufio.NewReader(c.in).ReadString('\n') // what cannot be read is no yes
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return &failure{err: &answerNo{"nothing was done"}, hint: "label-state init --dry-run shows the same again"}
}

// carryOut makes what is missing, and says how to go on.
func (c *call) carryOut(ctx context.Context, steps []step) error {
	if err := c.takeSteps(ctx, steps); err != nil {
		return &failure{err: err, hint: hintOr(err, "what was made before stays; mend that, then run it again")}
	}
	if c.Bool("json") {
		return nil
	}
	return c.tell(nil, fmt.Sprintf("\nnext: commit the new files and push them, label an issue %s, and see that all is well with: label-state doctor\n",
		c.Ledger.Rules().Scheme.Available))
}

// takeSteps does what is missing, in order, and says so as it goes. What was done before an error stays.
func (c *call) takeSteps(ctx context.Context, steps []step) error {
	for _, s := range steps {
		err := s.runMissing(ctx)
		if err == nil {
			err = c.showStep(s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hintOr is the hint of an error, or another one.
func hintOr(err error, other string) string {
	if hint := hintFor(err); hint != "" {
		return hint
	}
	return other
}

// runMissing does a step, unless it is done.
func (s *step) runMissing(ctx context.Context) error {
	if s.status != stepMissing {
		return nil
	}
	err := s.do(ctx)
	var kept *keptError
	if errors.As(err, &kept) {
		s.status, s.detail = stepKept, kept.why
		return nil
	}
	if err == nil {
		s.status = s.done
	}
	return err
}

// showStep tells what became of one step; what was there is only told in JSON.
func (c *call) showStep(s step) error {
	text := ""
	if s.status != stepThere {
		text = strings.TrimRight(fmt.Sprintf("%-9s %s %s  %s", s.status, s.kind, s.name, oneLine(s.note())), " ") + "\n"
	}
	return c.tell(initView{s.kind, s.name, s.status, oneLine(s.detail)}, text)
}

// note is the detail where a person needs it: what something is for is said before, what differs also after.
func (s step) note() string {
	if s.status == stepKept {
		return s.detail
	}
	return ""
}

func (c *call) showSteps(steps []step, last string) error {
	if !c.Bool("json") {
		return c.tell(nil, preview(c.Repo.String(), steps)+last)
	}
	for _, s := range steps {
		if err := c.answer(initView{s.kind, s.name, s.status, oneLine(s.detail)}, ""); err != nil {
			return err
		}
	}
	return nil
}

// preview lists the steps as a diff would: + is made, = is there, ! is a person's and stays.
func preview(repo string, steps []step) string {
	wide := 0
	for _, s := range steps {
		wide = max(wide, len(s.kind)+1+len(s.name))
	}
	out := repo + "\n"
	for _, s := range steps {
		line := strings.TrimRight(fmt.Sprintf("  %s %-*s  %s", s.sign(), wide, s.kind+" "+s.name, oneLine(s.detail)), " ")
		if s.status != stepKept { // what differs is worth a long line
			line = ansi.Truncate(line, helpWidth, "…")
		}
		out += line + "\n"
	}
	return out
}
