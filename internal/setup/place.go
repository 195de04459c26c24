package setup

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/host"
)

// A place is what a session is about: a repository on a host, perhaps an issue there.
type place struct {
	origin
	Repo     claim.Repo    // zero when neither the options nor the clone name one
	Issue    claim.Issue   // zero without Options.Ref
	Defaults host.Defaults // to read further references with
	Tree     string        // top of the worktree, when it is a clone of Repo; empty where no clone was looked at
}

// locate finds the place. Names come from the options, what they leave out from the clone; with
// Options.Guess, and repository and host by name, no clone is looked at, so that Settle has no
// checked-out file to remark on. Errors are answer.Usage and answer.Config.
func (e Environment) locate(ctx context.Context, o Options) (place, error) {
	var c clone
	var err error

	// else git, which answers each question in a process, has nothing to add
	if o.Guess == nil || o.Repo == "" || o.Host == "" {
		c, err = e.clone(ctx)
	}

	if err != nil {
		return place{}, err
	}
	hosts, err := e.hosts(o, c)
	if err != nil {
		return place{}, err
	}

	var first error
	for _, at := range hosts {
		p := place{origin: at, Defaults: host.Defaults{
			Org: e.Getenv("GH_ORG"), Hosts: []string{at.Host()},
			Nowhere: c.nowhere,
		}}
		if at.named || c.remote.Host == at.Host() { // short references are completed with the clone's repository
			p.Defaults.Owner, p.Defaults.Repo = c.remote.Owner, c.remote.Repo
		}

		err := p.read(o)
		if err == nil {
			p.slug = p.Repo.String()
			ours := c.remote.Owner != "" && (p.named || c.remote.Host == p.Host())
			if ours && strings.EqualFold(c.remote.Owner+"/"+c.remote.Repo, p.slug) {
				p.Tree = c.top
			}
			return p, nil
		}

		if first == nil {
			first = err
		}
	}

	return place{}, first
}

// hosts are the hosts that a reference may be on, the likeliest first. An address that somebody
// named is the only one. A URL of a host that nothing here mentions is refused: it may come from
// anybody, and a token would go there.
func (e Environment) hosts(o Options, c clone) ([]origin, error) {
	if named := cmp.Or(o.API, e.Getenv("LABEL_STATE_API_URL")); named != "" {
		ep, err := host.FromAPI(named)
		switch {
		case err != nil && o.API != "":
			return nil, unusable("input api-url", "", "%w", err)
		case err != nil:
			return nil, unusable("LABEL_STATE_API_URL",
				"set it to a URL such as https://api.github.com, or: unset LABEL_STATE_API_URL", "%w", err)
		}

		return []origin{{Endpoints: ep, named: true}}, nil
	}
	if o.Host != "" {
		return []origin{{Endpoints: host.API(o.Host)}}, nil
	}

	var out []origin
	seen := map[string]bool{"": true}
	for _, name := range []string{c.remote.Host, strings.ToLower(e.Getenv("GH_HOST")), "github.com"} {
		if !seen[name] && isName(name) {
			seen[name] = true
			out = append(out, origin{Endpoints: host.API(name)})
		}
	}

	return out, nil
}

// read reads the repository and the issue that the options name. Bare numbers are of the
// repository named, else of the clone's.
func (p *place) read(o Options) error {
	if o.Repo != "" {
		owner, name, err := host.ParseRepo(o.Repo, p.Defaults)
		if err != nil {
			return err
		}
		p.Defaults.Owner, p.Defaults.Repo = owner, name
	}

	p.Repo = claim.Repo{Owner: p.Defaults.Owner, Name: p.Defaults.Repo}
	if o.Ref == "" {
		return nil
	}

	i, err := host.ParseIssue(o.Ref, p.Defaults)
	if err != nil {
		return err
	}

	if named := p.Repo; o.Within && !i.SameRepo(named.Issue(i.Number)) {
		return &answer.Problem{
			Code: answer.Usage,
			Why:  fmt.Sprintf("the issue is of %s, and the repository that is named is %s", i.Slug(), named),
			Next: []answer.Command{answer.Call("leave the repository out, as in", "status", i.String())},
		}
	}

	p.Issue, p.Repo = i, i.In()
	return nil
}

// Checkout is the function Checkout for the worktree; one of another repository has none.
func (p place) Checkout() (c config.Config, there bool, err error) {
	if p.Tree == "" {
		return c, false, nil
	}
	return Checkout(p.Tree)
}
