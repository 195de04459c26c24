package github

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
)

const (
	spokenPerQuery = 50  // issues and pull requests that are asked about at once
	spokenComments = 100 // of each, the first ones
)

// Spoken returns those of a repository's issues and pull requests that have a comment of our own
// which begins with the mark, among their first hundred. It is one request for fifty, and one more
// for the texts of what we have said there.
func (c *Client) Spoken(ctx context.Context, r claim.Repo, numbers []int, mark string) ([]int, error) {
	own := map[string]int{} // comments of our own, with where they are
	h := halves[int]{
		ask: func(ctx context.Context, part []int) error { return c.querySpoken(ctx, r, part, own) },
	}
	err := h.read(ctx, numbers, spokenPerQuery)
	if err = cmp.Or(err, h.unread); err != nil {
		return nil, failed(missing(err, repository(r)), "look for own comments in %s", r)
	}

	var out []int
	for part := range slices.Chunk(slices.Sorted(maps.Keys(own)), perPage) {
		texts, err := c.textsOf(ctx, part)
		if err != nil {
			return nil, fmt.Errorf("read own comments in %s: %w", r, err)
		}

		for id, text := range texts {
			if strings.HasPrefix(text, mark) {
				out = append(out, own[id])
			}
		}
	}

	slices.Sort(out)
	return slices.Compact(out), nil
}

// querySpoken adds our own comments on some issues and pull requests: their ids, with where they
// are.
func (c *Client) querySpoken(ctx context.Context, r claim.Repo, numbers []int, own map[string]int) error {
	const fields = "comments(first: %d) { nodes { id viewerDidAuthor } }"
	comments := fmt.Sprintf(fields, spokenComments)

	d := newDocument()
	for _, n := range numbers {
		d.add("    %s: issueOrPullRequest(number: %d) { ... on Issue { %s } ... on PullRequest { %s } }\n", alias("n", n), n,
			comments, comments)
	}

	var data map[string]*struct {
		Comments *connection[struct {
			ID              string
			ViewerDidAuthor bool
		}]
	}
	if _, err := c.askIn(ctx, r, d, &data); err != nil { // one that is gone has nothing to say
		return err
	}

	for _, n := range numbers {
		found := data[alias("n", n)]
		if found == nil {
			continue
		}

		for m := range found.Comments.shown() {
			if m.ViewerDidAuthor {
				own[m.ID] = n
			}
		}
	}

	return nil
}

// textsOf returns the texts of comments by their ids. One that was deleted meanwhile is left out.
func (c *Client) textsOf(ctx context.Context, ids []string) (map[string]string, error) {
	d := newDocument()
	for n, id := range ids {
		d.add("  %s: node(id: %s) { ... on IssueComment { body } }\n", alias("c", n), d.bind("ID!", id))
	}

	var data map[string]*struct{ Body string }
	if _, err := c.ask(ctx, d, &data); err != nil {
		return nil, err
	}

	out := map[string]string{}
	for n, id := range ids {
		if found := data[alias("c", n)]; found != nil {
			out[id] = found.Body
		}
	}

	return out, nil
}
