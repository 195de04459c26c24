package labelstate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A Pause says that nobody may claim an issue in a repository. Existing holds go on.
type Pause struct {
	Repo       string // owner/name
	Since      time.Time
	By, Reason string // who paused it, and why
}

// Pause keeps everybody from claiming in the repository, on every machine, until [Client.Resume].
// reason is shown to everybody who is refused. An empty reason keeps the reason of an existing
// pause. One for which there is no room is [ErrInvalid].
func (c *Client) Pause(ctx context.Context, reason string) error {
	by, err := c.s.Client.Viewer(ctx)
	if err == nil {
		err = c.s.Client.SetPause(ctx, c.s.Repo, lifecycle.Pause{By: by, Reason: reason})
	}

	if err != nil {
		return fmt.Errorf("pause %s: %w", c.Repo(), err)
	}

	return nil
}

// Resume ends the pause. A no-op if the repository is not paused.
func (c *Client) Resume(ctx context.Context) error {
	if _, err := c.s.Client.ClearPause(ctx, c.s.Repo); err != nil {
		return fmt.Errorf("resume %s: %w", c.Repo(), err)
	}
	return nil
}

// PausedRepos returns those of the repositories, given as owner/name, that are paused. Without any
// it asks about the client's own. A repository that cannot be read is an error.
func (c *Client) PausedRepos(ctx context.Context, repos ...string) ([]Pause, error) {
	asked := []claim.Repo{}
	for _, slug := range repos {
		owner, name, ok := strings.Cut(slug, "/")
		if !ok || owner == "" || name == "" {
			return nil, fmt.Errorf("list paused repositories: %w: %q: expected owner/name", ErrInvalid, slug)
		}
		asked = append(asked, claim.Repo{Owner: owner, Name: name})
	}

	if len(asked) == 0 {
		asked = append(asked, c.s.Repo)
	}
	found, err := c.s.Client.Pauses(ctx, asked)
	if err != nil {
		return nil, fmt.Errorf("list paused repositories: %w", err)
	}

	out := []Pause{}
	for _, r := range asked {
		if p := found[r]; p != nil {
			out = append(out, Pause{r.String(), p.Since, p.By, p.Reason})
		}
	}

	return out, nil
}
