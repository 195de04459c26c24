package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/migrate"
	"github.com/label-state/label-state/internal/printable"
	"github.com/urfave/cli/v2"
)

// formerly is the codename of attempts that failed before there was a log.
const formerly = "before-label-state"

func migrateCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "migrate", Usage: "bring over a repository of the original label scripts", ArgsUsage: "[OWNER/NAME]",
		Description: "Says what it would do; --apply does it. Old claim comments count as they are and are listed. Labels such as attempt-2 or " +
			"lucius-attempt-2 become records of failed attempts and go. A host's pause file becomes the shared marker. Run it again whenever " +
			"you like: what was brought over stays, what was interrupted goes on.\n\n" +
			"   label-state migrate acme/app\n   label-state migrate acme/app --pause-file paused.txt --apply",
		Flags: common(
			&cli.BoolFlag{Name: "apply", Usage: "do it"},
			&cli.StringFlag{Name: "pause-file", Usage: "`FILE` of the host's paused repositories: lines \"owner/repo reason\", or a JSON list"},
		),
		Action: func(cc *cli.Context) error { return t.migrate(cc) },
	}
}

// migrate is inRepo with a client that writes only with --apply (PRODUCT ruling 21).
func (t terminal) migrate(cc *cli.Context) error {
	o, err := inOneRepo(cc)
	if err != nil {
		return err
	}
	o.DryRun = !cc.Bool("apply")
	return t.session(cc, o, migrateRepo)
}

func migrateRepo(ctx context.Context, c *call) error {
	by, err := c.Viewer(ctx)
	if err != nil {
		return err
	}
	var steps []step
	for _, read := range []func(context.Context, string) ([]step, error){c.pauseSteps, c.neededLabels, c.oldClaims, c.attemptSteps} {
		found, err := read(ctx, by)
		if err != nil {
			return err
		}
		steps = append(steps, found...)
	}
	switch todo := slices.ContainsFunc(steps, func(s step) bool { return s.status == stepMissing }); {
	case !todo:
		return c.showSteps(steps, "nothing to bring over\n")
	case !c.Bool("apply"):
		return c.showSteps(steps, "this would be done; do it with: label-state migrate "+c.Repo.String()+" --apply\n")
	}
	if may, err := c.Client.MayLabel(ctx, c.Repo, by); err != nil {
		return err
	} else if !may {
		no := fmt.Errorf("%s may not label %s, so nobody would count what it records", oneLine(by), c.Repo)
		return &failure{err: no, hint: "use the token of a login with the triage role or more"}
	}
	if err := c.takeSteps(ctx, steps); err != nil {
		return &failure{err: err, hint: hintOr(err, "what was brought over stays; run it again")}
	}
	return nil
}

// neededLabels are the labels that are missing or have another colour.
func (c *call) neededLabels(ctx context.Context, _ string) ([]step, error) {
	all, err := c.labelSteps(ctx)
	return slices.DeleteFunc(all, func(s step) bool { return s.status == stepThere && s.detail == "" }), err
}

// oldClaims lists the claims of the original scripts that stand: they count until their lease ends.
func (c *call) oldClaims(ctx context.Context, _ string) ([]step, error) {
	var out []step
	for f, err := range c.Client.Current(ctx, c.Repo, time.Time{}) {
		if err != nil {
			return nil, err
		}
		for _, old := range f.Log.Live() {
			if old.Legacy {
				out = append(out, step{kind: "claim", name: f.Issue.String(), status: stepThere, detail: c.standing(old)})
			}
		}
	}
	return out, nil
}

// standing says how long an old claim stands.
func (c *call) standing(old claim.Claim) string {
	text := "by " + oneLine(old.Record.Worker.Codename)
	if end, ok := old.Until(c.Ledger.Rules().Terms); ok {
		return "until " + moment(end) + " " + text
	}
	return "without end " + text
}

// attemptSteps are the labels that counted failures: one step for each open issue that has some, and
// one for each label, which goes when its issues are done. What closed issues say goes with it.
func (c *call) attemptSteps(ctx context.Context, by string) ([]step, error) {
	have, err := c.Client.Labels(ctx, c.Repo)
	if err != nil {
		return nil, err
	}
	var issues []int
	var out, gone []step
	for _, label := range have {
		if _, ok := migrate.Attempts(label.Name); !ok {
			continue
		}
		found, err := c.Client.OpenIssues(ctx, c.Repo, label.Name)
		if err != nil {
			return nil, err
		}
		for _, i := range found {
			issues = append(issues, i.Number)
		}
		gone = append(gone, step{
			kind: "label", name: oneLine(label.Name), status: stepMissing, detail: "no longer needed: the log counts", done: "deleted",
			do: func(ctx context.Context) error { return c.Client.DeleteLabel(ctx, c.Repo, label.Name) },
		})
	}
	slices.Sort(issues)
	for _, number := range slices.Compact(issues) {
		s, err := c.attemptStep(ctx, claim.Issue{Owner: c.Repo.Owner, Repo: c.Repo.Name, Number: number}, by)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return append(out, gone...), nil
}

// attemptStep records what one issue's labels count and the log does not, and takes them off.
func (c *call) attemptStep(ctx context.Context, i claim.Issue, by string) (step, error) {
	f, _, err := c.Ledger.Check(ctx, i, lifecycle.Seeker{})
	if err != nil {
		return step{}, err
	}
	names, counted := migrate.Counted(f.Labels)
	todo := c.untold(f, counted)
	return step{
		kind: "attempts", name: i.String(), status: stepMissing, done: "recorded",
		detail: fmt.Sprintf("record %s; off: %s", count(len(todo), "failure", "failures"), list(names)),
		do: func(ctx context.Context) error {
			for _, w := range todo {
				if _, err := c.Ledger.RecordFailure(ctx, f, w, by, "counted by a label before"); err != nil {
					return err
				}
			}
			return c.dropLabels(ctx, i, names)
		},
	}, nil
}

// untold are the attempts that labels count and the log does not know, up to as many as stop work on
// an issue: more change nothing. An attempt that was told in part is told to its end.
func (c *call) untold(f lifecycle.Facts, counted int) (todo []claim.Worker) {
	rules, known := c.Ledger.Rules(), 0
	for _, a := range f.Log.Attempts {
		if a.Worker.Codename != formerly {
			known++
		}
	}
	for n := 1; n <= min(counted, cmp.Or(rules.MaxAttempts, len(rules.Rest)))-known; n++ {
		w := claim.Worker{Codename: formerly, FiringID: fmt.Sprintf("attempt-%d", n)}
		if _, told := f.Log.Find(w); !told || !f.Log.Dead(w) {
			todo = append(todo, w)
		}
	}
	return todo
}

// dropLabels takes the labels off and brings the others in line.
func (c *call) dropLabels(ctx context.Context, i claim.Issue, names []string) error {
	for _, name := range names {
		if err := c.Client.RemoveLabel(ctx, i, name); err != nil {
			return err
		}
	}
	_, err := c.Ledger.Reconcile(ctx, i)
	return c.late(err)
}

// pauseSteps are the repositories of the pause file.
func (c *call) pauseSteps(ctx context.Context, by string) ([]step, error) {
	file := c.String("pause-file")
	if file == "" {
		return nil, nil
	}
	pauses, err := c.readPauses(file)
	if err != nil {
		return nil, err
	}
	var out []step
	for _, p := range pauses {
		owner, name, _ := strings.Cut(p.Repo, "/")
		repo := ledger.Repo{Owner: owner, Name: name}
		have, err := c.Client.Pause(ctx, repo)
		if err != nil {
			return nil, err
		}
		s := step{kind: "pause", name: p.Repo, status: stepThere, detail: p.Reason, done: "paused"}
		if have == nil {
			s.status = stepMissing
			s.do = func(ctx context.Context) error {
				return c.Client.SetPause(ctx, repo, lifecycle.Pause{By: by, Reason: p.Reason})
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// readPauses reads the pause file. One that cannot be used is a call that makes no sense.
func (c *call) readPauses(file string) ([]migrate.Pause, error) {
	at := file
	if !filepath.IsAbs(at) {
		at = filepath.Join(c.env.Dir, at)
	}
	f, err := os.Open(at)
	var data []byte
	if err == nil {
		defer f.Close()
		data, err = io.ReadAll(io.LimitReader(f, migrate.MaxFile+1))
	}
	if err != nil {
		return nil, wrong("migrate", "--pause-file %s: %s", oneLine(file), printable.Cause(err))
	}
	pauses, err := migrate.Pauses(file, data)
	return pauses, err
}

// migrateAnswers are for a pause file with a line that says nothing.
func migrateAnswers() []answer {
	return []answer{on(exitCalled, says[*migrate.FileError]("a line is owner/repo and perhaps a reason; # begins a comment"))}
}
