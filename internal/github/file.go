package github

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/label-state/label-state/internal/ledger"
)

// File reads a file of the default branch, at most the megabyte that GitHub sends this way. A
// file that does not exist is a *NotFoundError, a folder an *AnswerError.
func (c *Client) File(ctx context.Context, r ledger.Repo, path string) ([]byte, error) {
	content, err := c.file(ctx, r, path)
	if err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", path, r, missing(err, "file"))
	}
	return content, nil
}

func (c *Client) file(ctx context.Context, r ledger.Repo, path string) ([]byte, error) {
	var escaped []string
	for part := range strings.SplitSeq(path, "/") {
		if strings.Trim(part, ".") == "" {
			return nil, &NotFoundError{What: "file", Status: http.StatusNotFound, Message: "not a path"}
		}
		escaped = append(escaped, url.PathEscape(part))
	}
	where, err := at(r.Owner, r.Name, "/contents/%s", strings.Join(escaped, "/"))
	if err != nil {
		return nil, err
	}
	var got fileContent
	if _, err := c.Do(ctx, http.MethodGet, where, nil, &got); err != nil {
		return nil, err
	}
	return got.bytes()
}

// fileContent is one file of the contents API; a folder is a list and does not decode into it.
type fileContent struct {
	Type     string `json:"type"`
	Encoding string `json:"encoding"`
	Content  string `json:"content"`
}

func (f fileContent) bytes() ([]byte, error) {
	if f.Type != "file" || f.Encoding != "base64" {
		return nil, &AnswerError{Status: http.StatusOK, Reason: "it is not a file of up to a megabyte"}
	}
	text, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(f.Content, "\n", ""))
	if err != nil {
		return nil, &AnswerError{Status: http.StatusOK, Reason: "its content is not base64"}
	}
	return text, nil
}
