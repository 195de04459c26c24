package local

import (
	"cmp"
	"context"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/hookfile"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// blockersLooked is how many sleeping issues the doctor reads: what fits into one request.
const blockersLooked = 50

// checkBlockers looks for issues that wait for each other in a dependency cycle, among those that
// have the blocked label.
func checkBlockers(ctx context.Context, c *cli.Call) Diagnosis {
	asleep, err := c.Session.Client.OpenIssues(ctx, c.Session.Repo, c.Rules().Scheme.Blocked)
	if err != nil {
		return failedCheck(c, "blockers", err)
	}

	var issues []claim.Issue
	for _, i := range asleep[:min(len(asleep), blockersLooked)] {
		issues = append(issues, c.Session.Repo.Issue(i.Number))
	}

	waits := map[claim.Issue][]claim.Issue{}
	for _, r := range c.Session.Client.FactsOf(ctx, issues) {
		if r.Err != nil {
			return failedCheck(c, "blockers", r.Err)
		}
		waits[r.Facts.Issue] = r.Facts.Waits()
	}

	var cycles []string
	for _, ring := range lifecycle.Cycles(waits) {
		cycles = append(cycles, lifecycle.Round(lifecycle.Path(ring)))
	}

	switch {
	case len(cycles) > 0:
		return ok("blockers", "blocked in a dependency cycle: %s", strings.Join(cycles, "; ")).or("warn",
			cli.CycleRemedy)
	case len(asleep) > len(issues):
		return ok("blockers", "no cycle among %d of the %d issues that wait for others", len(issues), len(asleep))
	case len(asleep) == 0:
		return ok("blockers", "no open issue has the label %s", c.Rules().Scheme.Blocked)
	}

	return ok("blockers", "%s for others, none in a dependency cycle",
		printable.Count(len(asleep), "issue waits", "issues wait"))
}

// checkHook tells what becomes of a push from here: it plays the hook once.
func checkHook(ctx context.Context, c *cli.Call) Diagnosis {
	s, err := hookfile.Status(ctx, hookfile.Options{Git: c.Env.Git()})
	if err != nil {
		return ok("hook", "not looked for: %s", err).or("warn",
			"run doctor inside a clone that git uses, to see whether its pushes are guarded")
	}

	what := s.File
	if s.Kind == hookfile.Delegated {
		what = runBy(s)
	}

	trial := tryHook(ctx, c.Terminal, s, "")
	fault := faultOf(c.Terminal, s, trial, false)
	d := ok("hook", "%s; %s", what, cmp.Or(fault.text, trial.text()))
	switch {
	case fault.text == "":
		return d
	case !s.Installed():
		d = ok("hook", "%s (%s)", fault.text, cmp.Or(s.Manager, string(s.Kind)))
	case fault.refuses:
		return d.or("fail", fault.remedy)
	case fault.remedy == again:
		return d.or("warn", "do what the other lines say")
	}

	return d.or("warn", fault.remedy)
}

// mendScript is how a hook manager's script comes to let pushes go where the program is missing;
// empty when it is none's.
func mendScript(s hookfile.State) string {
	if s.Script == "" {
		return ""
	}
	return "take " + missingName(s) + " out of " + s.Script + ", then: label-state init"
}
