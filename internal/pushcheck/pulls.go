package pushcheck

import (
	"context"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/dedup"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/outgoing"
	"github.com/label-state/label-state/internal/setup"
)

// With hook.pull_requests the hook also refuses a push of a branch whose open pull request somebody
// else holds (hook.md).

// mentionsPulls reports whether a configuration that cannot be used may ask for it: the first stage
// goes by the same.
func (h *Hook) mentionsPulls() bool {
	return outgoing.AsksForPulls(h.Env.Dir, h.Env.Getenv("LABEL_STATE_CONFIG"))
}

// pushedTo is the repository that is pushed to. label-state.repo may name another one, whose issues
// are meant: the upstream of a fork.
func (c *checker) pushedTo() claim.Repo {
	home := c.home()
	at, err := host.ParseRemote(c.push.URL)
	if err != nil || strings.EqualFold(at.Owner+"/"+at.Repo, home.String()) {
		return home
	}
	return claim.Repo{Owner: at.Owner, Name: at.Repo}
}

// readAll reads the issues, the pull requests of the pushed branches if the configuration says so,
// and the configuration.
func (c *checker) readAll(ctx context.Context, guessed *setup.Session,
	named []dedup.Named,
) (s *setup.Session, issues, pulls []dedup.Snapshot, err error) {
	if len(named) > 0 {
		s, issues, err = c.readUnder(ctx, guessed, named)
		if err == nil && s.Config.Hook.PullRequests {
			pulls = c.askPulls(ctx, s.Client)
		}
		return s, issues, pulls, err
	}

	pulls = c.askPulls(ctx, guessed.Client) // and with them for the configuration
	s, err = c.settle(ctx, guessed)
	switch {
	case err != nil:
	case s.Unusable != nil && !s.Config.Hook.PullRequests: // what it says of pull requests may be what is wrong
		err = s.Unusable
	case !s.Config.Hook.PullRequests:
		pulls = nil
	case s != guessed:
		pulls = c.askPulls(ctx, s.Client)
	}

	return s, nil, pulls, err
}

// askPulls reads the open pull requests from the pushed branches, and who holds them.
func (c *checker) askPulls(ctx context.Context, client *github.Client) []dedup.Snapshot {
	all := outgoing.Branches(c.push.Updates)
	if len(all) == 0 {
		return nil
	}

	found, err := client.HoldersOfHeads(ctx, c.home(), c.pushedTo(), all)
	if err != nil {
		return []dedup.Snapshot{{Unread: ofHeads(all, err.Error())}}
	}

	out := make([]dedup.Snapshot, len(found))
	for k, h := range found {
		out[k] = dedup.Snapshot{Named: dedup.Named{Issue: h.Pull, Branch: h.Branch}, Facts: h.Facts, Guess: h.Guess}
		if h.Err != nil {
			out[k].Unread = ledger.Reason(h.Pull, h.Err)
		}
	}

	return out
}

// ofHeads says that it is not known whether somebody holds a pull request from the branches.
func ofHeads(all []string, reason string) string {
	others := ""
	if len(all) > 1 {
		others = " and other branches"
	}
	return "pull requests from " + all[0] + others + ": " + reason
}

// settlePulls has the lease store say who holds the pull requests, and reads those in the parent of
// a fork under the parent's rules.
func (c *checker) settlePulls(ctx context.Context, env setup.Environment, s *setup.Session,
	pulls []dedup.Snapshot,
) []dedup.Snapshot {
	home := c.home().String()
	var own, theirs []dedup.Snapshot
	for _, r := range pulls {
		if r.Unread != "" || strings.EqualFold(r.Issue.Slug(), home) {
			own = append(own, r)
		} else {
			theirs = append(theirs, r)
		}
	}

	out := decide(ctx, s, s.Repo, own)
	if len(theirs) == 0 {
		return out
	}

	named := make([]dedup.Named, len(theirs))
	for k, r := range theirs {
		named[k] = r.Named
	}

	return append(out, c.readParent(ctx, env, s, named[0].Issue.In(), named)...)
}

// unread is what is known of everything that was to be read when an error ended it.
func (c *checker) unread(named []dedup.Named, err error) []dedup.Snapshot {
	if len(named) == 0 && len(c.heads) > 0 {
		return []dedup.Snapshot{{Unread: ofHeads(c.heads, err.Error())}}
	}
	out := make([]dedup.Snapshot, len(named))
	for k, n := range named {
		out[k] = dedup.Snapshot{Named: n, Unread: err.Error()}
	}

	return out
}
