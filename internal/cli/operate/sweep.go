package operate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/trouble"
)

type sweepParams struct {
	cli.SomeRepos
	Hours float64 `flag:"max-age-hours" value:"HOURS" text:"lease of claims without a ttl of their own, in hours; only ever shortens it"`
	cli.Rehearsal
}

// SweepClaims releases expired holds and corrects labels.
func SweepClaims() cli.Verb {
	return cli.Do(cli.Verb{
		Name:    "sweep-claims",
		Alias:   "sweep",
		Summary: "release expired holds and correct labels",
		About: "Looks at every issue with a lifecycle label and everything changed in the last two days.\n\n" +
			"Repositories: the arguments and --repo, else LABEL_STATE_SWEEP_REPOS (comma separated), else sweep.repos of the configuration.",
		Examples: "label-state sweep-claims acme/app --dry-run\n" +
			"label-state sweep-claims acme/app acme/web\n",
	}, sweepClaims)
}

func sweepClaims(ctx context.Context, c *cli.Call, p *sweepParams) error {
	if p.Hours > 24*365 {
		return c.Usagef("--max-age-hours %v: expected a number of hours above 0, a year at most", p.Hours)
	}

	repos := c.Named()
	if len(repos) == 0 {
		fleet, err := c.FleetRepos(ctx)
		if err != nil {
			return err
		}
		repos = fleet
	}

	if len(repos) == 0 {
		return c.Usagef(
			"no repository to sweep; give OWNER/NAME, set LABEL_STATE_SWEEP_REPOS or sweep.repos of the configuration")
	}

	s := sweeping{
		view:   SweepView{Sweep: trouble.NewSweep(p.DryRun)},
		maxAge: time.Duration(p.Hours * float64(time.Hour)),
	}

	for _, name := range repos {
		s.sweep(ctx, c, name)
	}

	switch {
	case s.swept == 0 && s.first != nil:
		return c.Decline(s.first, "", &s.view)
	case s.view.Failed > 0 || len(s.view.Skipped) > 0:
		err := fmt.Errorf("not everything was swept: %d failed, %d not examined", s.view.Failed, len(s.view.Skipped))
		err = cli.Advise(err, answer.Call("each of them says why; fix that, then run", answer.Again))
		return c.Decline(err, s.view.text(), &s.view)
	}

	return c.Answer(s.view, s.view.text())
}

// A sweeping is one sweep of several repositories, each with a configuration of its own.
type sweeping struct {
	view   SweepView
	maxAge time.Duration
	swept  int
	first  error // of the repositories that could not be swept at all
}

// sweep looks at one repository. One that cannot be opened does not keep the others from being
// swept.
func (s *sweeping) sweep(ctx context.Context, call *cli.Call, name string) {
	c := call.Part()
	o := c.Options()
	o.Repo = name
	since := time.Now().Add(-ledger.Lookback)
	o.First.Since = since
	if err := c.Open(ctx, o); err != nil {
		err = c.Timed(ctx, err)
		s.view.Skipped = append(s.view.Skipped,
			strings.TrimPrefix(cli.WithoutURL(name)+": "+cli.OneLine(err.Error()), ": "))
		if s.first == nil {
			s.first = cli.At("sweep-claims", cli.WithoutURL(name), err)
		}

		return
	}

	defer c.Close()
	s.swept++
	why, err := c.Session.Client.Sweepable(ctx, c.Session.Repo)
	if err == nil && why != "" { // an error the sweep itself will say
		s.view.Left = append(s.view.Left, c.Session.Repo.String()+": "+why)
		return
	}

	var seen func(lifecycle.Facts)
	if !c.JSON && c.Env.IsTerminal(c.Err) { // on one line, while a person watches
		n := 0
		seen = func(f lifecycle.Facts) {
			n++
			fmt.Fprintf(c.Err, "\rlabel-state: %d examined, at %s\033[K", n, f.Issue)
		}
	}

	report := c.Session.Ledger.Sweep(ctx, c.Session.Client, ledger.Sweep{
		Repos:  []claim.Repo{c.Session.Repo},
		By:     ledger.SweepID(time.Now(), setup.Word()),
		MaxAge: s.maxAge,
		Since:  since,
		DryRun: c.DryRun,
		Seen:   seen,
	})

	if seen != nil {
		fmt.Fprint(c.Err, "\r\033[K")
	}

	for _, one := range report.Unshown {
		c.Warnf("%s", one)
	}

	if report.NotMinimized != nil {
		c.Warnf("comments of ended holds in %s stay as they are: %s", c.Session.Repo,
			cli.OneLine(report.NotMinimized.Error()))
	}

	trouble.AddSweep(&s.view.Sweep, report)
}

// A SweepView is the JSON of a sweep.
type SweepView struct {
	answer.Sweep
	cli.Negative
}

func (v *SweepView) text() string {
	var b strings.Builder
	for _, f := range v.Findings {
		b.WriteString(FindingLine(f, v.DryRun))
	}

	for _, s := range v.Stranded {
		fmt.Fprintf(&b, "stranded: %s: %s\n", s.Issue, s.Why)
	}

	for _, s := range v.Skipped {
		fmt.Fprintf(&b, "not examined: %s\n", s)
	}

	for _, s := range v.Left {
		fmt.Fprintf(&b, "left alone: %s\n", s)
	}

	if v.Minimized > 0 {
		fmt.Fprintf(&b, "%s of ended holds minimized\n", printable.Count(v.Minimized, "comment", "comments"))
	}
	back, repaired := "released", "repaired"
	if v.DryRun {
		back, repaired = "would be released", "would be repaired"
	}

	fmt.Fprintf(&b, "%d examined, %d %s, %d %s, %d failed, %d not examined\n",
		v.Examined, v.Ended, back, v.Repaired, repaired, v.Failed, len(v.Skipped))
	return b.String()
}

// FindingLine says in one line what a sweep did to an issue, or would do, and why.
func FindingLine(f answer.Finding, dryRun bool) string {
	change := cli.Move(f.Was, f.Is, labels.Change{Add: f.Came, Remove: f.Went}) + ": "
	if len(f.Was) == 0 && len(f.Is) == 0 { // what changes is another label
		change = ""
	}

	record, give := "recorded", "released"
	if dryRun {
		record, give = "would record", "would release"
	}

	var parts []string
	if f.Added != "" {
		parts = append(parts, record+" the hold of "+f.Added)
	}

	if len(f.Ended) > 0 {
		parts = append(parts, give+" the hold of "+strings.Join(f.Ended, ", "))
	}

	if f.Error != "" {
		change, parts = "", append(parts, "failed: "+f.Error)
	} else {
		parts = append(parts, f.Why) // who holds it now, too
	}

	return f.Issue + ": " + change + strings.Join(parts, "; ") + "\n"
}
