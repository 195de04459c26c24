package local

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/smallfile"
)

// RefsTip recommends the refs lease. Its figures are those of docs/speed.md, which a test compares.
const RefsTip = "tip: with --lease refs a claim takes 0.3 s and 4 requests instead of 2.4 s and 5; " +
	"the tokens of all workers and the workflow then need contents: write\n"

// settingsLine is the line of the start file that a lease of another kind replaces.
const settingsLine = "#claim: {ttl: 4h, max_ttl: 24h}            # how long a hold lasts without a heartbeat"

// refsLine is that line with the refs lease.
const refsLine = "claim: {lease: refs}                       # a git reference decides a claim; also here: ttl: 4h, max_ttl: 24h"

// contributorsOff is the line of the start file that says who else may take issues.
const contributorsOff = "#contributors: {claim: off}                # issues that anybody may take by /claim: off, labelled or all"

// contributorsLine is the setting by which contributors take issues of a kind.
func contributorsLine(kind string) string {
	return "contributors: {claim: " + kind + ", pull_requests: claim}"
}

// contributorsIn is the start file with that setting.
func contributorsIn(text, kind string) string {
	return strings.Replace(text, contributorsOff, contributorsLine(kind)+
		" # anybody takes an issue by /claim, or by a pull request; also here: labels, ttl, limit", 1)
}

// askContributors asks about a public repository whether contributors are to take issues, where no
// option says so and somebody is there, and notes the answer.
func askContributors(ctx context.Context, c *cli.Call, p *initParams) {
	if p.Contributors != "" || p.Yes || p.DryRun || !c.Live() {
		return
	}
	if r, err := c.Session.Client.Repository(ctx, c.Session.Repo); err != nil || r.Private {
		return
	}

	p.Contributors = config.ContributorsOff
	if ask(c, cli.Wrap(c.Session.Repo.String()+" is public. Is it an open-source project whose contributors take issues?\n"+
		"If yes, anybody may take an issue labelled \"good first issue\" or \"help wanted\", by commenting /claim or by "+
		"opening a pull request. You see the settings before they are written.", c.Env.Width(c.Out))) {
		p.Contributors = config.ContributorsLabelled
	}
}

// chosenLease is the kind of lease that --lease names, else the settings. A wrong call says that
// there is no such kind for init to set up, or that the settings are there and say something else
// than an option.
func chosenLease(c *cli.Call, root string, p *initParams, settings InitStep) (string, error) {
	there := c.Session.Config
	text, err := smallfile.Follow(filepath.Join(root, filepath.FromSlash(config.Path)), largestFile)
	if err == nil {
		// an init before this one may have written it, and nobody pushed yet
		if own, err := config.Parse(config.Path, text); err == nil {
			there = own
		}
	}

	differs := func(option, chosen, there, setting string) error {
		return cli.Advise(c.Usagef("--%s %s: %s is there and says %s", option, chosen, config.Path, there),
			answer.Call("set "+setting+" in "+config.Path+", then", "init"))
	}
	found, kind := settings.Status != stepMissing, p.Lease
	switch {
	case found && p.Contributors != "" && p.Contributors != there.Contributors.Claim:
		return "", differs("contributors", p.Contributors, there.Contributors.Claim,
			"contributors: {claim: "+p.Contributors+"}")
	case kind == "":
		return there.Claim.Lease, nil
	case kind != lease.Comments && kind != lease.Refs:
		return "", cli.Advise(c.Usagef("--lease %q: expected %s or %s", cli.OneLine(kind), lease.Comments, lease.Refs),
			answer.Advice("a service is set up by hand: see claim.lease in docs/configuration.md"), answer.Call("then",
				"init"))

	case found && kind != there.Claim.Lease:
		return "", differs("lease", kind, there.Claim.Lease, "claim: {lease: "+kind+"}")
	}

	return kind, nil
}

// missesSettings reports whether init writes the settings.
func missesSettings(steps []InitStep) bool {
	return slices.ContainsFunc(steps, func(s InitStep) bool { return s.Name == config.Path && s.Status == stepMissing })
}

// tips recommend what nobody has chosen where this init writes the settings: RefsTip where the
// token may write contents, as far as its role tells, and contributors in a public repository. That
// nothing can be read of it is no reason to stop.
func tips(ctx context.Context, c *cli.Call, p *initParams, steps []InitStep) (text string) {
	if !missesSettings(steps) {
		return ""
	}
	r, err := c.Session.Client.Repository(ctx, c.Session.Repo)
	if err != nil {
		return ""
	}

	if p.Lease == "" && slices.Contains([]github.Role{github.RoleWrite, github.RoleMaintain, github.RoleAdmin}, r.Role) {
		text += RefsTip
	}
	switch {
	case p.Contributors == "" && !r.Private:
		text += contributorsTip
	case p.Contributors != "" && p.Contributors != config.ContributorsOff:
		text += "the settings have: " + contributorsLine(p.Contributors) + "\n"
	}

	return text
}

const contributorsTip = "tip: open source? With --contributors labelled anybody may take issues labelled " +
	"\"good first issue\" or \"help wanted\", by commenting /claim or by opening a pull request\n"
