package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
	"github.com/urfave/cli/v2"
)

func sweepCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "sweep-claims", Aliases: []string{"sweep"}, Usage: "give back dead claims and repair labels",
		Description: "Looks at every issue with a lifecycle label and everything changed in the last two days.\n\n" +
			"Repositories: --repo, else LABEL_STATE_SWEEP_REPOS (comma separated), else sweep.repos of the configuration.\n\n" +
			"   label-state sweep-claims --repo acme/app --dry-run\n" +
			"   label-state sweep-claims --repo acme/app --repo acme/web",
		Flags: answering(
			&cli.Float64Flag{Name: "max-age-hours", Usage: "lease of claims without a ttl of their own, in `HOURS`; only ever shortens it"},
			dryRun(),
			&cli.StringSliceFlag{Name: "repo", Aliases: []string{"R"}, Usage: "repository `OWNER/NAME`; may be repeated"},
		),
		Action: t.sweep,
	}
}

func (t terminal) sweep(cc *cli.Context) error {
	if cc.Args().Present() {
		return wrong("sweep-claims", "sweep-claims takes no arguments; name repositories with --repo")
	}
	hours := cc.Float64("max-age-hours")
	if cc.IsSet("max-age-hours") && !(hours > 0 && hours <= 24*365) {
		return wrong("sweep-claims", "--max-age-hours %v: want a number of hours above 0, a year at most", hours)
	}
	ctx, cancel := deadline(cc)
	defer cancel()
	repos, err := t.sweepRepos(ctx, cc)
	if err != nil {
		return err
	}
	s := sweeping{view: sweepView{Findings: []findingView{}, Stranded: []strandView{}, Skipped: []string{}, DryRun: cc.Bool("dry-run")}}
	s.maxAge = time.Duration(hours * float64(time.Hour))
	for _, name := range repos {
		s.sweep(ctx, t, cc, name)
	}
	return s.answer(&call{Context: cc, terminal: t})
}

// sweepRepos are the repositories to sweep, as they were written. None is an error.
func (t terminal) sweepRepos(ctx context.Context, cc *cli.Context) ([]string, error) {
	if repos := cc.StringSlice("repo"); len(repos) > 0 {
		return repos, nil
	}
	if repos := t.env.SweepRepos(); len(repos) > 0 {
		return repos, nil
	}
	o := options(cc)
	o.Repo, o.Near = "", true
	s, err := setup.Open(ctx, t.env, o)
	switch {
	case setup.Misconfigured(err):
		return nil, &failure{doing: "sweep-claims", err: err}
	case err == nil && len(s.Config.Sweep) > 0:
		return s.Config.Sweep, nil
	}
	return nil, wrong("sweep-claims", "no repository to sweep; give --repo OWNER/NAME, set LABEL_STATE_SWEEP_REPOS or sweep.repos of the configuration")
}

// A sweeping is one sweep of several repositories, each with a configuration of its own.
type sweeping struct {
	view   sweepView
	maxAge time.Duration
	swept  int
	first  error // of the repositories that could not be swept at all
}

// sweep looks at one repository. One that cannot be opened does not keep the others from being swept.
func (s *sweeping) sweep(ctx context.Context, t terminal, cc *cli.Context, name string) {
	o := options(cc)
	o.Repo = name
	session, err := setup.Open(ctx, t.env, o)
	if err != nil {
		s.view.Skipped = append(s.view.Skipped, strings.TrimPrefix(typed(name)+": "+oneLine(err.Error()), ": "))
		if s.first == nil {
			s.first = &failure{doing: "sweep-claims", object: typed(name), err: err}
		}
		return
	}
	s.swept++
	c := &call{Context: cc, terminal: t, Session: session}
	defer c.close()
	s.view.add(c.sweepOne(ctx, s.maxAge))
}

func (s *sweeping) answer(c *call) error {
	if s.swept == 0 && s.first != nil {
		return errors.Join(s.first, c.answerJSON(s.view))
	}
	if err := c.answer(s.view, s.view.text()); err != nil {
		return err
	}
	if s.view.Failed > 0 || len(s.view.Skipped) > 0 {
		err := fmt.Errorf("not everything was swept: %d failed, %d not examined", s.view.Failed, len(s.view.Skipped))
		return &failure{doing: "sweep-claims", err: err, hint: "the lines above say why; then run it again"}
	}
	return nil
}

func (c *call) sweepOne(ctx context.Context, maxAge time.Duration) ledger.Report {
	now := time.Now()
	seen, done := c.progress()
	defer done()
	return c.Ledger.Sweep(ctx, c.Client, ledger.Sweep{
		Repos: []ledger.Repo{c.Repo}, By: ledger.SweepID(now, c.Word()), MaxAge: maxAge,
		Since: now.Add(-ledger.Lookback), DryRun: c.Bool("dry-run"), Seen: seen,
	})
}

// progress counts on one line of stderr while a person watches; done takes the line away.
func (c *call) progress() (seen func(lifecycle.Facts), done func()) {
	if c.Bool("json") || !c.env.IsTerminal(c.err) {
		return nil, func() {}
	}
	n := 0
	return func(f lifecycle.Facts) {
		n++
		fmt.Fprintf(c.err, "\rlabel-state: %d examined, at %s\033[K", n, f.Issue)
	}, func() { fmt.Fprint(c.err, "\r\033[K") }
}

// A sweepView is the JSON of a sweep.
type sweepView struct {
	Examined int           `json:"examined"`
	Ended    int           `json:"swept"`
	Repaired int           `json:"repaired"`
	Failed   int           `json:"failed"`
	Skipped  []string      `json:"not_examined"`
	Findings []findingView `json:"findings"`
	Stranded []strandView  `json:"stranded"`
	DryRun   bool          `json:"dry_run"`
}

// A strandView is the JSON of an issue that nobody works on and nothing will move.
type strandView struct {
	Issue string `json:"issue"`
	Why   string `json:"why"`
}

type findingView struct {
	Issue string   `json:"issue"`
	Was   []string `json:"was"`
	Is    []string `json:"is"`
	Ended []string `json:"ended,omitempty"`
	Why   string   `json:"why"`
	Added string   `json:"recorded,omitempty"` // worker whose hold was missing in the log
	Error string   `json:"error,omitempty"`
}

func (v *sweepView) add(r ledger.Report) {
	v.Examined += r.Examined
	v.Ended += r.GaveBack()
	v.Repaired += r.Repaired()
	v.Failed += r.Failed
	for _, s := range r.Skipped {
		v.Skipped = append(v.Skipped, oneLine(s))
	}
	for _, s := range r.Stranded {
		v.Stranded = append(v.Stranded, strandView{s.Issue.String(), oneLine(s.Why)})
	}
	for _, f := range r.Findings {
		one := findingView{
			Issue: f.Issue.String(), Was: names(f.Was), Is: names(f.Is), Ended: workers(f.Ended), Why: oneLine(f.Why),
		}
		if f.Mirrored != nil {
			one.Added = f.Mirrored.Record.Worker.String()
		}
		if f.Err != nil {
			one.Error = oneLine(f.Err.Error())
		}
		if f.Answered != nil {
			one.Why = oneLine(f.Answered.String()) + "; " + one.Why
		}
		v.Findings = append(v.Findings, one)
	}
}

func (v *sweepView) text() string {
	var b strings.Builder
	for _, f := range v.Findings {
		b.WriteString(f.line(v.DryRun))
	}
	for _, s := range v.Stranded {
		fmt.Fprintf(&b, "stranded: %s: %s\n", s.Issue, s.Why)
	}
	for _, s := range v.Skipped {
		fmt.Fprintf(&b, "not examined: %s\n", s)
	}
	back, repaired := "given back", "repaired"
	if v.DryRun {
		back, repaired = "would be given back", "would be repaired"
	}
	fmt.Fprintf(&b, "%d examined, %d %s, %d %s, %d failed, %d not examined\n",
		v.Examined, v.Ended, back, v.Repaired, repaired, v.Failed, len(v.Skipped))
	return b.String()
}

func (f findingView) line(dryRun bool) string {
	change := fmt.Sprintf("%s -> %s: ", state(f.Was), state(f.Is))
	what := f.Why
	switch {
	case f.Error != "":
		change, what = "", "failed: "+f.Error
	case f.Added != "" && dryRun:
		what = "would record the hold of " + f.Added
	case f.Added != "":
		what = "recorded the hold of " + f.Added
	case len(f.Ended) > 0 && dryRun:
		what = "would give back the hold of " + strings.Join(f.Ended, ", ")
	case len(f.Ended) > 0:
		what = "gave back the hold of " + strings.Join(f.Ended, ", ")
	}
	return f.Issue + ": " + change + what + "\n"
}
