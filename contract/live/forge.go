package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

// A forge is the GitHub that is looked at, with the issue that everything is tried on.
type forge struct {
	api, graphQL string
	repo, token  string
	client       *http.Client
	word         string // that no other run has used

	issue    int
	issueID  string
	repoID   string
	late     lateness
	leftover []request // what takes away what was made, newest last
}

type request struct {
	method, path string
	body         any
}

type object = map[string]any

// A reply is an answer, whole.
type reply struct {
	status int
	header http.Header
	text   []byte
}

// is returns an error unless the answer has one of the statuses.
func (r reply) is(statuses ...int) error {
	if slices.Contains(statuses, r.status) {
		return nil
	}
	return fmt.Errorf("HTTP %d: %.200s", r.status, r.text)
}

func (r reply) into(v any) error { return json.Unmarshal(r.text, v) }

// send makes a request below the repository.
func (f *forge) send(ctx context.Context, method, path string, body any) (reply, error) {
	return f.request(ctx, method, f.api+"/repos/"+f.repo+path, body)
}

func (f *forge) request(ctx context.Context, method, url string, body any) (reply, error) {
	var sent io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return reply{}, err
		}
		sent = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, sent)
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Authorization", "Bearer "+f.token)
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("Content-Type", "application/json")
	resp, err := f.client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	return reply{resp.StatusCode, resp.Header, text}, err
}

// want is send for an answer that has to have one of the statuses, read into a value.
func (f *forge) want(ctx context.Context, method, path string, body, into any, statuses ...int) error {
	r, err := f.send(ctx, method, path, body)
	if err == nil {
		err = r.is(statuses...)
	}
	if err == nil && into != nil {
		err = r.into(into)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

// ask sends a GraphQL document and reads its data. An error of a field is the error.
func (f *forge) ask(ctx context.Context, document string, variables, into any) error {
	r, err := f.request(ctx, http.MethodPost, f.graphQL, object{"query": document, "variables": variables})
	if err == nil {
		err = r.is(http.StatusOK)
	}
	if err != nil {
		return fmt.Errorf("GraphQL: %w", err)
	}
	var answer struct {
		Data   json.RawMessage
		Errors []queryError
	}
	if err := r.into(&answer); err != nil {
		return fmt.Errorf("GraphQL: %w", err)
	}
	if len(answer.Errors) > 0 {
		return &answer.Errors[0]
	}
	return json.Unmarshal(answer.Data, into)
}

// raw sends a GraphQL document and returns the errors of its answer, as they are.
func (f *forge) raw(ctx context.Context, document string) (string, error) {
	r, err := f.request(ctx, http.MethodPost, f.graphQL, object{"query": document})
	if err != nil {
		return "", fmt.Errorf("GraphQL: %w", err)
	}
	var answer struct{ Errors json.RawMessage }
	if err := r.into(&answer); err != nil {
		return "", fmt.Errorf("GraphQL: %w", err)
	}
	if len(answer.Errors) == 0 {
		return fmt.Sprint(r.status, ", no error"), nil
	}
	return fmt.Sprintf("%d %.500s", r.status, answer.Errors), nil
}

// A queryError is what GraphQL says of a field.
type queryError struct{ Type, Message string }

func (e *queryError) Error() string { return e.Type + ": " + e.Message }

// undo notes what takes away something that was made.
func (f *forge) undo(method, path string, body any) {
	f.leftover = append(f.leftover, request{method, path, body})
}

// begin opens the issue that everything is tried on.
func (f *forge) begin(ctx context.Context) error {
	var repo struct {
		NodeID string `json:"node_id"`
	}
	if err := f.want(ctx, http.MethodGet, "", nil, &repo, http.StatusOK); err != nil {
		return err
	}
	var issue struct {
		Number int
		NodeID string `json:"node_id"`
	}
	title := object{"title": "A look at GitHub " + f.word, "body": "Made and closed by make live."}
	if err := f.want(ctx, http.MethodPost, "/issues", title, &issue, http.StatusCreated); err != nil {
		return err
	}
	f.repoID, f.issue, f.issueID = repo.NodeID, issue.Number, issue.NodeID
	f.undo(http.MethodPatch, fmt.Sprintf("/issues/%d", f.issue), object{"state": "closed", "state_reason": "not_planned"})
	return nil
}

// cleanUp takes away what was made, newest first, also after an interrupt. What cannot be taken
// away is said.
func (f *forge) cleanUp(errs io.Writer) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, r := range slices.Backward(f.leftover) {
		answer, err := f.send(ctx, r.method, r.path, r.body)
		if err == nil && answer.status >= 400 && answer.status != http.StatusNotFound && answer.status != http.StatusUnprocessableEntity {
			err = answer.is(http.StatusOK)
		}
		if err != nil {
			fmt.Fprintf(errs, "live: left behind in %s: %s %s: %s\n", f.repo, r.method, r.path, err)
		}
	}
}

// A comment is one as both APIs have it.
type comment struct {
	ID      int64
	NodeID  string    `json:"node_id"`
	Created time.Time `json:"created_at"`
	Updated time.Time `json:"updated_at"`
}

// comment posts a comment, which is deleted at the end.
func (f *forge) comment(ctx context.Context, body string) (c comment, err error) {
	err = f.want(ctx, http.MethodPost, fmt.Sprintf("/issues/%d/comments", f.issue), object{"body": body}, &c, http.StatusCreated)
	if err == nil {
		f.undo(http.MethodDelete, fmt.Sprintf("/issues/comments/%d", c.ID), nil)
	}
	return c, err
}

// pause waits, or returns the context's error if that is over first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
