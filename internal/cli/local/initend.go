package local

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/hookfile"
	"github.com/label-state/label-state/internal/printable"
)

// An EndView is the JSON of the last line: what becomes of a push from here, and what was set up.
type EndView struct {
	InitStep
	Undo []string `json:"undo,omitempty"` // commands, and what is to be edited by hand
}

// endInit says what works now, what is left to a person, and how to undo what was done. Where
// nothing was done, steps are shown first, and found says so.
func endInit(ctx context.Context, c *cli.Call, p *initParams, steps, did []InitStep, found string) error {
	if found != "" {
		if err := showSteps(c, c.Session.Repo.String(), steps, found); err != nil {
			return err
		}
	}

	trial, shared := hookTrial{pushes: pushesUntried, why: "this is a dry run"}, ""
	if !p.DryRun {
		s, err := hookfile.Status(ctx, hookfile.Options{Git: c.Env.Git()})
		if err != nil {
			return hookFailure("init", err)
		}
		trial, shared = tryHook(ctx, c.Terminal, s, chosenHook(c, p.Hook)), strings.TrimSpace(everybody(s))
	}

	undo := undoLines(c.Session.Repo.String(), did)
	view := EndView{
		InitStep: InitStep{
			Kind:   "pushes",
			Name:   "from here",
			Status: trial.pushes,
			Detail: cli.OneLine(trial.why),
		},
		Undo: undo,
	}
	works := []string{shared, worksToo(ctx, c)}
	if trial.pushes == pushesChecked {
		works = slices.Insert(works, 0, trial.text())
	}

	text := paragraph("works now", works...) +
		paragraph("next", nextLines(c, p, steps, did, trial)...) +
		paragraph("undo", undo...)

	if found == "" {
		text = "\n" + text
	}

	return c.Answer(view, text)
}

// worksToo is what works besides the hook, for somebody whose records count and for others. What
// cannot be found out counts as yes here.
func worksToo(ctx context.Context, c *cli.Call) string {
	const board = "who has what: label-state board"
	outsider, is := errors.AsType[*github.OutsiderError](c.Session.Client.Heard(ctx, c.Session.Repo))
	switch {
	case !is:
		return "claims: label-state next --codename NAME, label-state claim NUMBER; " + board
	case outsider.Welcome:
		return "claims by a comment: /claim; " + board
	}

	return board + "; your own claims do not count here: " + outsider.Remedy()
}

// paragraph is a word with its lines, each indented below the first; nothing where there is no
// line.
func paragraph(word string, lines ...string) string {
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	if len(lines) == 0 {
		return ""
	}
	text := strings.Join(lines, "\n")
	return word + ": " + strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", len(word)+2)) + "\n"
}

// nextLines are what a person has to do.
func nextLines(c *cli.Call, p *initParams, steps, did []InitStep, trial hookTrial) []string {
	lines := leftOf(steps, "")
	hookWaits := slices.ContainsFunc(steps, func(s InitStep) bool {
		manager := s.Kind == "file" && !strings.HasPrefix(s.Name, ".github/")
		return (s.Kind == "hook" || manager) && s.Next != ""
	})
	if trial.pushes != pushesChecked && !hookWaits {
		lines = append(lines, strings.TrimSuffix(trial.text()+"; "+trial.remedy, "; "))
	}

	if c.Session.Unconfigured || unlanded(steps) || slices.ContainsFunc(did, func(s InitStep) bool { return s.Kind == "file" }) {
		lines = append(lines, "commit the files and push them; the Action runs as soon as they are on the default branch")
	}

	if len(did) > 0 {
		lines = append(lines, cli.Words([]answer.Command{c.FirstCommand()}))
		switch p.Contributors {
		case config.ContributorsLabelled:
			lines = append(lines, `label issues "good first issue" or "help wanted": a contributor takes one by commenting /claim`)
		case config.ContributorsAll:
			lines = append(lines, "a contributor takes an open issue by commenting /claim")
		}
	}

	return append(lines, "check the setup: label-state doctor")
}

// unlanded reports whether the default branch has not got a file that is here.
func unlanded(steps []InitStep) bool {
	return slices.ContainsFunc(steps, func(s InitStep) bool { return s.Unlanded })
}

// leftOf is what the steps of a status leave to a person; an empty status is all of them.
func leftOf(steps []InitStep, status string) (lines []string) {
	for _, s := range steps {
		if status == "" || s.Status == status {
			lines = append(lines, s.Next)
		}
	}
	return lines
}

// undoLines are the commands that undo steps that were taken.
func undoLines(repo string, did []InitStep) []string {
	var lines, files, labels, edited []string
	for _, s := range did {
		if s.Undo != "" {
			lines = append(lines, s.Undo)
		}

		switch {
		case s.File != "":
			files = append(files, printable.ShellWord(s.File))
		case s.Kind == "label":
			labels = append(labels, printable.ShellWord(s.Name))
		case s.Kind == "hook" && s.Undo == "":
			lines = append(lines, "label-state hook uninstall")
		case s.Kind == "file":
			edited = append(edited, "take label-state's lines out of "+s.Name)
		}
	}

	if len(files) > 0 {
		lines = append(lines, "rm "+strings.Join(files, " "))
	}

	if len(labels) > 0 {
		lines = append(lines, "for label in "+strings.Join(labels, " ")+"; do gh label delete \"$label\" --yes --repo "+
			repo+"; done")
	}

	return append(lines, edited...)
}
