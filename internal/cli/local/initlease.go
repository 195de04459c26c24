package local

import (
	"context"
	"path/filepath"
	"slices"

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
const settingsLine = "#claim: {ttl: 4h, max_ttl: 24h}            # how long a hold stands without a heartbeat"

// refsLine is that line with the refs lease.
const refsLine = "claim: {lease: refs}                       # a git reference decides a claim; also here: ttl: 4h, max_ttl: 24h"

// chosenLease is the kind of lease that --lease names, else the settings. A wrong call says that
// there is no such kind for init to set up, or that the settings are there and name another one.
func chosenLease(c *cli.Call, root, kind string, settings cli.Step) (string, error) {
	there := c.Session.Config.Claim.Lease
	text, err := smallfile.Follow(filepath.Join(root, filepath.FromSlash(config.Path)), cli.LargestFile)
	if err == nil {
		// an init before this one may have written it, and nobody pushed yet
		if own, err := config.Parse(config.Path, text); err == nil {
			there = own.Claim.Lease
		}
	}

	switch {
	case kind == "":
		return there, nil
	case kind != lease.Comments && kind != lease.Refs:
		return "", cli.Advise(c.Usagef("--lease %q: allowed are %s and %s", cli.OneLine(kind), lease.Comments, lease.Refs),
			answer.Advice("a service is set up by hand: see claim.lease in docs/configuration.md"), answer.Call("then",
				"init"))

	case settings.Status != cli.StepMissing && kind != there:
		return "", cli.Advise(c.Usagef("--lease %s: %s is there and says %s", kind, config.Path, there),
			answer.Call("set claim: {lease: "+kind+"} in "+config.Path+", then", "init"))
	}

	return kind, nil
}

// refsTip is RefsTip where this init writes the settings and the token may write contents, as far
// as its role tells; else empty. That the role cannot be read is no reason to stop.
func refsTip(ctx context.Context, c *cli.Call, chosen string, steps []cli.Step) string {
	settings := slices.IndexFunc(steps, func(s cli.Step) bool { return s.Name == config.Path })
	if chosen != "" || settings < 0 || steps[settings].Status != cli.StepMissing {
		return ""
	}

	r, err := c.Session.Client.Repository(ctx, c.Session.Repo)
	if err != nil || !slices.Contains([]github.Role{github.RoleWrite, github.RoleMaintain, github.RoleAdmin}, r.Role) {
		return ""
	}

	return RefsTip
}
