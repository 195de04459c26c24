package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease/gitref"
)

// SwapRef implements gitref.Refs: updateRefs where there is GraphQL, otherwise the creation of a
// reference or its fast-forward. After's parent is Before, and a chain only grows, so that a
// fast-forward can start nowhere else.
func (c *Client) SwapRef(ctx context.Context, i claim.Issue, s gitref.Swap) error {
	if c.queries() && s.RepoID != "" {
		err := c.queryUpdateRefs(ctx, s.RepoID, []gitref.Swap{s})
		var off unavailable
		if !errors.As(err, &off) {
			return mayNotWrite(err)
		}
	}
	return mayNotWrite(c.restUpdateRef(ctx, i, s))
}

// zeroOID stands for a reference that must not exist.
const zeroOID = "0000000000000000000000000000000000000000"

// SwapRefs implements gitref.Mover: one updateRefs for all. REST has no such step.
func (c *Client) SwapRefs(ctx context.Context, _ claim.Issue, all []gitref.Swap) error {
	if !c.queries() || len(all) == 0 || all[0].RepoID == "" {
		return errors.ErrUnsupported
	}
	err := c.queryUpdateRefs(ctx, all[0].RepoID, all)
	var off unavailable
	if errors.As(err, &off) {
		return errors.ErrUnsupported
	}
	return mayNotWrite(err)
}

func (c *Client) queryUpdateRefs(ctx context.Context, repoID string, all []gitref.Swap) error {
	const document = `mutation($repo: ID!, $refs: [RefUpdate!]!) {
  updateRefs(input: {repositoryId: $repo, refUpdates: $refs}) { clientMutationId }
}`
	updates := make([]any, len(all))
	for n, s := range all {
		updates[n] = map[string]any{"name": s.Name, "beforeOid": cmp.Or(s.Before, zeroOID), "afterOid": s.After, "force": false}
	}
	var data struct {
		UpdateRefs *struct{ ClientMutationID *string }
	}
	got, err := c.ask(ctx, document, map[string]any{"repo": repoID, "refs": updates}, &data)
	if err == nil && len(got.errors) > 0 {
		err = got.errors[0].typed("repository")
	}
	if err == nil && data.UpdateRefs == nil {
		err = &AnswerError{Status: http.StatusOK, Reason: "the update is not in it"}
	}
	var refused *QueryError
	if errors.As(err, &refused) && (refused.Type == "UNPROCESSABLE" || refused.Type == "STALE_DATA") {
		return fmt.Errorf("%w: %w", gitref.ErrMoved, err)
	}
	return err
}

func (c *Client) restUpdateRef(ctx context.Context, i claim.Issue, s gitref.Swap) error {
	method, rest, sent := http.MethodPatch, strings.TrimPrefix(s.Name, "refs/"), map[string]any{"sha": s.After, "force": false}
	if s.Before == "" {
		method, rest, sent = http.MethodPost, "", map[string]any{"ref": s.Name, "sha": s.After}
	}
	path, err := onGit(i, "refs/", rest)
	if err == nil {
		_, err = c.Do(ctx, method, strings.TrimSuffix(path, "/"), sent, nil)
	}
	var refused *StatusError
	if errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity {
		return fmt.Errorf("%w: %w", gitref.ErrMoved, err)
	}
	return err
}

// contentsWrite is the permission that everything of git's asks for.
const contentsWrite = "contents: write"

// mayNotWrite names what a 404 for a write means. GitHub answers so rather than 403 where a token
// lacks a permission that its owner could have given it.
func mayNotWrite(err error) error {
	var hidden *NotFoundError
	if errors.As(err, &hidden) {
		return &PermissionError{Message: "no such repository, or the token lacks contents: write", Write: true, Needs: contentsWrite}
	}
	var denied *PermissionError
	if errors.As(err, &denied) { // GraphQL says neither
		denied.Write = true
		if denied.ofToken() {
			denied.Needs = cmp.Or(denied.Needs, contentsWrite)
		}
	}
	return err
}
