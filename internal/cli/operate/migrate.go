package operate

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
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/migrate"
	"github.com/label-state/label-state/internal/printable"
	urfave "github.com/urfave/cli/v2"
)

// formerly is the codename of attempts that failed before there was a log.
const formerly = "before-label-state"

// NewMigrateCommand makes the command migrate.
func NewMigrateCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name: "migrate", Usage: "bring over a repository of the original label scripts", ArgsUsage: "[OWNER/NAME]",
		Description: "Says what it would do; --apply does it. Old claim comments count as they are and are listed. Labels such as attempt-2 or " +
			"lucius-attempt-2 become records of failed attempts and go. A host's pause file becomes the shared marker. Run it again whenever " +
			"you like: what was brought over stays, what was interrupted goes on.\n\n" +
			"   label-state migrate acme/app\n   label-state migrate acme/app --pause-file paused.txt --apply",
		Flags: cli.RepoFlags(
			&urfave.BoolFlag{Name: "apply", Usage: "do it"},
			&urfave.BoolFlag{Name: "dry-run", Usage: "say what it would do, as without --apply"},
			&urfave.StringFlag{Name: "pause-file", Usage: "`FILE` of the host's paused repositories: lines \"owner/repo reason\", or a JSON list"},
		),
		Action: func(cc *urfave.Context) error { // t.InRepo with a client that writes only with --apply (cli.md)
			o, err := cli.InOneRepo(cc)
			if err != nil {
				return err
			}
			if cc.Bool("apply") && cc.Bool("dry-run") {
				return cli.Usagef("migrate", "--apply and --dry-run: want one of them")
			}
			o.DryRun = !cc.Bool("apply")
			return t.WithSession(cc, o, migrateRepo)
		},
	}
}

func migrateRepo(ctx context.Context, c *cli.Call) error {
	by, err := c.Session.Client.Viewer(ctx)
	if err != nil {
		return err
	}
	pauses, err := pauseSteps(ctx, c, by)
	if err != nil {
		return err
	}
	needed, err := cli.LabelSteps(ctx, c)
	if err != nil {
		return err
	}
	needed = slices.DeleteFunc(needed, func(s cli.Step) bool { return s.Status == cli.StepThere && s.Detail == "" })
	claims, err := oldClaims(ctx, c)
	if err != nil {
		return err
	}
	attempts, err := attemptSteps(ctx, c, by)
	if err != nil {
		return err
	}
	steps := slices.Concat(pauses, needed, claims, attempts)
	switch todo := slices.ContainsFunc(steps, func(s cli.Step) bool { return s.Status == cli.StepMissing }); {
	case !todo:
		return cli.ShowSteps(c, c.Session.Repo.String(), steps, "nothing to bring over\n")
	case !c.Flags.Bool("apply"):
		return cli.ShowSteps(c, c.Session.Repo.String(), steps, "this would be done; do it with: label-state migrate "+c.Session.Repo.String()+" --apply\n")
	}
	if may, err := c.Session.Client.MayLabel(ctx, c.Session.Repo, by); err != nil {
		return err
	} else if !may {
		no := fmt.Errorf("%s may not label %s, so nobody would count what it records", cli.OneLine(by), c.Session.Repo)
		return &cli.Failure{Err: no, Hint: "set GH_TOKEN to the token of a login with the triage role or more, then: " + cli.Again}
	}
	if err := cli.TakeSteps(ctx, c, steps); err != nil {
		return &cli.Failure{Err: err, Hint: cmp.Or(cli.HintFor(err), "what was brought over stays; go on with: "+cli.Again)}
	}
	return nil
}

// oldClaims lists the claims of the original scripts that stand: they count until their lease ends.
func oldClaims(ctx context.Context, c *cli.Call) ([]cli.Step, error) {
	var out []cli.Step
	for f, err := range c.Session.Client.Current(ctx, c.Session.Repo, time.Time{}) {
		if err != nil {
			return nil, err
		}
		for _, old := range f.Log.Live() {
			if !old.Legacy {
				continue
			}
			stands := "without end"
			if end, ok := old.Until(c.Session.Ledger.Rules().Terms); ok {
				stands = "until " + cli.Moment(end)
			}
			out = append(out, cli.Step{
				Kind: "claim", Name: f.Issue.String(), Status: cli.StepThere,
				Detail: stands + " by " + cli.OneLine(old.Record.Worker.Codename),
			})
		}
	}
	return out, nil
}

// attemptSteps are the labels that counted failures: one step for each open issue that has some, and
// one for each label, which goes when its issues are done. What closed issues say goes with it.
func attemptSteps(ctx context.Context, c *cli.Call, by string) ([]cli.Step, error) {
	have, err := c.Session.Client.Labels(ctx, c.Session.Repo)
	if err != nil {
		return nil, err
	}
	var issues []int
	var out, gone []cli.Step
	for _, label := range have {
		if _, ok := migrate.Attempts(label.Name); !ok {
			continue
		}
		found, err := c.Session.Client.OpenIssues(ctx, c.Session.Repo, label.Name)
		if err != nil {
			return nil, err
		}
		for _, i := range found {
			issues = append(issues, i.Number)
		}
		gone = append(gone, cli.Step{
			Kind: "label", Name: cli.OneLine(label.Name), Status: cli.StepMissing, Detail: "no longer needed: the log counts", Done: "deleted",
			Do: func(ctx context.Context) error { return c.Session.Client.DeleteLabel(ctx, c.Session.Repo, label.Name) },
		})
	}
	slices.Sort(issues)
	for _, number := range slices.Compact(issues) {
		s, err := attemptStep(ctx, c, claim.Issue{Owner: c.Session.Repo.Owner, Repo: c.Session.Repo.Name, Number: number}, by)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return append(out, gone...), nil
}

// attemptStep records what one issue's labels count and the log does not, and takes them off.
func attemptStep(ctx context.Context, c *cli.Call, i claim.Issue, by string) (cli.Step, error) {
	f, err := c.Session.Ledger.Look(ctx, i)
	if err != nil {
		return cli.Step{}, err
	}
	names, counted := migrate.Counted(f.Labels)
	todo := untold(c, f, counted)
	return cli.Step{
		Kind: "attempts", Name: i.String(), Status: cli.StepMissing, Done: "recorded",
		Detail: fmt.Sprintf("record %s; off: %s", printable.Count(len(todo), "failure", "failures"), list(names)),
		Do: func(ctx context.Context) error {
			for _, w := range todo {
				if _, err := c.Session.Ledger.RecordFailure(ctx, f, w, by, "counted by a label before"); err != nil {
					return err
				}
			}
			for _, name := range names {
				if err := c.Session.Client.RemoveLabel(ctx, i, name); err != nil {
					return err
				}
			}
			_, err := c.Session.Ledger.Reconcile(ctx, i)
			return c.WarnLate(err)
		},
	}, nil
}

// untold are the attempts that labels count and the log does not know, up to as many as stop work on
// an issue: more change nothing. An attempt that was told in part is told to its end.
func untold(c *cli.Call, f lifecycle.Facts, counted int) (todo []claim.Worker) {
	rules, known := c.Session.Ledger.Rules(), 0
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

// pauseSteps are the repositories of the pause file.
func pauseSteps(ctx context.Context, c *cli.Call, by string) ([]cli.Step, error) {
	file := c.Flags.String("pause-file")
	if file == "" {
		return nil, nil
	}
	pauses, err := readPauses(c, file)
	if err != nil {
		return nil, err
	}
	var out []cli.Step
	for _, p := range pauses {
		owner, name, _ := strings.Cut(p.Repo, "/")
		repo := ledger.Repo{Owner: owner, Name: name}
		have, err := c.Session.Client.Pause(ctx, repo)
		if err != nil {
			return nil, err
		}
		s := cli.Step{Kind: "pause", Name: p.Repo, Status: cli.StepThere, Detail: p.Reason, Done: "paused"}
		if have == nil {
			s.Status = cli.StepMissing
			s.Do = func(ctx context.Context) error {
				return c.Session.Client.SetPause(ctx, repo, lifecycle.Pause{By: by, Reason: p.Reason})
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// readPauses reads the pause file. One that cannot be used is a call that makes no sense.
func readPauses(c *cli.Call, file string) ([]migrate.Pause, error) {
	at := file
	if !filepath.IsAbs(at) {
		at = filepath.Join(c.Terminal.Env.Dir, at)
	}
	f, err := os.Open(at)
	var data []byte
	if err == nil {
		defer f.Close()
		data, err = io.ReadAll(io.LimitReader(f, migrate.MaxFile+1))
	}
	if err != nil {
		return nil, cli.Usagef("migrate", "--pause-file %s: %s", cli.OneLine(file), printable.Cause(err))
	}
	pauses, err := migrate.Pauses(file, data)
	return pauses, err
}
