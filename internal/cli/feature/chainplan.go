package feature

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/prchain"
)

// readPlan is the plan that is given. given is false when no more than a feature is named.
func readPlan(ctx context.Context, c *cli.Call, asked PlanParams) (p prchain.Plan, given bool, err error) {
	named := asked.Parent != "" || asked.Closes != "" || len(asked.PRs) > 0
	switch {
	case asked.File != "" && (named || asked.Feature != ""):
		return p, false, c.Usagef("--file has the whole plan; leave --feature, --parent, --pr and --closes out")
	case asked.File != "":
		text, err := c.ReadFile("file", asked.File, maxPlan)
		if err != nil {
			return p, true, err
		}
		if err := cli.UnknownKey(text, prchain.PlanFile{}); err != nil {
			return p, true, c.Usagef("read plan: %s", err)
		}
		p, err = prchain.ReadPlan(text)
		return p, true, err
	}

	p.Feature = asked.Feature
	if p.Feature == "" {
		return p, false, c.Usagef("which feature? Give --feature")
	}
	if err := prchain.CheckFeature(p.Feature); err != nil || !named {
		return p, false, err
	}

	defaults := host.Defaults{Org: c.Env.Getenv("GH_ORG")}
	if !strings.Contains(asked.Parent, "/") { // a number is of this clone's repository
		home, err := c.Env.Home(ctx)
		if err != nil {
			return p, false, err
		}
		defaults.Owner, defaults.Repo = home.Owner, home.Repo
	}

	if p.Parent, err = host.ParseIssue(asked.Parent, defaults); err != nil {
		return p, false, err
	}

	for _, text := range asked.PRs {
		part, err := prchain.ParsePart(text)
		if err != nil {
			return p, false, err
		}
		p.Parts = append(p.Parts, part)
	}

	switch text := cmp.Or(asked.Closes, "last"); text {
	case "last":
		p.Closes = len(p.Parts)
	case "none":
	default:
		if p.Closes, err = strconv.Atoi(text); err != nil || p.Closes < 1 || p.Closes > len(p.Parts) {
			return p, true, c.Usagef("%s %q: expected last, none, or 1 to %d",
				c.Option("closes"), cli.OneLine(text), len(p.Parts))
		}
	}

	return p, true, p.Check()
}

const maxPlan = 8 << 20 // bytes of a plan file

func planChain(ctx context.Context, c *cli.Call, asked *chainPlanParams) error {
	c.Subject.Feature = cli.OneLine(asked.Feature)
	p, given, err := readPlan(ctx, c, asked.PlanParams)
	if err != nil {
		return err
	}
	if !given {
		return c.Usagef("what is planned? Give %s and %s, or --file", c.Option("parent"), c.Option("pr"))
	}

	var b strings.Builder
	fmt.Fprintf(&b, "%s for %s\n", p.Feature, p.Parent)
	for n, part := range p.Parts {
		base, closing := part.Base, ""
		if base == "" {
			base = "the default branch"
		}

		if n+1 == p.Closes {
			closing = "; closes " + p.Parent.String()
		}
		fmt.Fprintf(&b, "%d/%d  %s: %s into %s: %s%s\n", n+1, len(p.Parts), part.Repo, part.Branch, base, p.Title(n+1),
			closing)
	}

	return c.Answer(p, b.String())
}
