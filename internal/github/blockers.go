package github

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
	"github.com/label-state/label-state/internal/lifecycle"
)

// Blockers say where dependencies are read from. The zero value is GitHub's own, and for issues
// that have none there, lines of their text (spec.md#further-labels).
type Blockers struct {
	NativeOff bool // leave GitHub's own "blocked by" unread
	TextOff   bool // leave lines such as "Blocked by #7" unread
}

const maxNamed = 50 // blockers one text can name

var (
	blockerLine = pattern(`(?i)^[ \t]*(?:[-*+][ \t]+(?:\[[ xX]\][ \t]+)?)?\**(?:blocked by|depends on)\b:?\**:?[ \t]+(.*)$`)
	blockerName = pattern(`^(?:(?:([A-Za-z0-9_-]+)/([A-Za-z0-9_.-]+))?#([1-9]\d{0,9})|(https?://\S+?))(?:[.,;)]*(?:[ \t]+|$))`)
)

// namedBlockers lists the issues that a text says its issue is blocked by: lines that begin with
// "Blocked by" or "Depends on", in any case, as list items too, and name issues as #7, owner/repo#7
// or by address, several with commas or "and" between. Code blocks and HTML comments do not count.
func namedBlockers(text string, of claim.Issue, web string) []claim.Issue {
	var out []claim.Issue
	seen := strings.ReplaceAll(closing.WithoutCode(text), "\x00", " ")
	for line := range strings.Lines(seen) {
		m := blockerLine().FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}

		for rest := m[1]; rest != ""; {
			name := blockerName().FindStringSubmatch(rest)
			if name == nil {
				break
			}

			rest = strings.TrimPrefix(strings.TrimPrefix(rest[len(name[0]):], "and "), "& ")
			i, ok := namedIssue(name, of, web)
			if ok && !i.Same(of) && !slices.ContainsFunc(out, i.Same) && len(out) < maxNamed {
				out = append(out, i)
			}
		}
	}

	return out
}

func namedIssue(name []string, of claim.Issue, web string) (claim.Issue, bool) {
	if name[4] != "" { // the address of an issue on this GitHub
		u, err := url.Parse(name[4])
		if err != nil {
			return claim.Issue{}, false
		}
		u.Path = strings.Replace(u.Path, "/issues/", "/pull/", 1)
		return parsePull(u.String(), web)
	}

	i := of.In().Issue(0)
	if name[1] != "" {
		i.Owner, i.Repo = name[1], name[2]
	}

	number, err := strconv.Atoi(name[3])
	i.Number = number
	return i, err == nil && nameable(i) == nil
}

// addNamedBlockers reads the state of the issues that texts name, all of a batch together. Those
// that GitHub does not show block nothing: a typo must not stop an issue for ever.
func (c *Client) addNamedBlockers(ctx context.Context, snapshots []*snapshot) {
	if c.o.Blockers.TextOff {
		return
	}
	var all []claim.Issue
	by := map[*snapshot][]claim.Issue{}
	for _, r := range snapshots {
		if r.err != nil || !r.facts.Open || r.facts.PullRequest || len(r.facts.Blockers) > 0 {
			continue
		}
		r.facts.BlockersRead = true
		by[r] = namedBlockers(r.facts.Body, r.facts.Issue, c.o.Web)
		all = append(all, by[r]...)
	}

	type state struct {
		URL    string
		Closed bool
	}

	found := lookUp[state](ctx, c, all,
		"issueOrPullRequest(number: %d) { ... on Issue { url closed } ... on PullRequest { url closed } }")
	for r, named := range by {
		for _, i := range named {
			one := found[i.Folded()]
			r.err = cmp.Or(r.err, failed(one.err, "read blockers"))
			if one.found != nil {
				r.facts.Blockers = append(r.facts.Blockers,
					lifecycle.Blocker{Issue: i, Open: !one.found.Closed, URL: one.found.URL})
			}
		}
	}
}

// Blocking lists the issues that wait for this one (spec.md#further-labels): by GitHub's own
// dependencies, and by their text those of the same repository that have the blocked label. What
// Blockers leaves unread, or the server does not know, is nothing.
func (c *Client) Blocking(ctx context.Context, i claim.Issue) ([]claim.Issue, error) {
	var out []claim.Issue
	if c.has(featureDependencies) {
		type waiting struct {
			Number     int
			Repository string `json:"repository_url"`
		}
		found, err := list[waiting](ctx, c, onIssue(i, "/dependencies/blocking?per_page=100"))
		if err != nil && !is[*NotFoundError](err) {
			return nil, fmt.Errorf("list what waits for %s: %w", i, err)
		}

		for _, one := range found {
			owner, name := path.Split(one.Repository)
			out = append(out, claim.Issue{Owner: path.Base(owner), Repo: name, Number: one.Number})
		}
	}

	if c.o.Blockers.TextOff {
		return out, nil
	}
	asleep, err := c.OpenIssues(ctx, i.In(), c.o.Scheme.Blocked)
	if err != nil {
		return out, fmt.Errorf("list what waits for %s: %w", i, err)
	}

	for _, one := range asleep {
		w := i.In().Issue(one.Number)
		if slices.ContainsFunc(namedBlockers(one.Body, w, c.o.Web), i.Same) && !slices.ContainsFunc(out, w.Same) {
			out = append(out, w)
		}
	}

	return out, nil
}

// featureDependencies is GitHub's own blocked-by in REST.
const featureDependencies = "REST dependencies"
