package github

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/clock"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A program asks the same two things first: by which configuration the repository goes, and what stands on an issue, or what there is
// to do. One query answers both. What it read besides the configuration is kept for the next who asks for just that.

// An along is what the first query about a repository brought along.
type along struct {
	known     bool
	data      []byte
	archived  bool
	hasIssues bool
}

// askAlong asks for what comes along, once for every repository.
func (c *Client) askAlong(d *document, r ledger.Repo) {
	c.mu.Lock()
	_, asked := c.along[key(r.String())]
	c.along[key(r.String())] = c.along[key(r.String())]
	c.mu.Unlock()
	if asked || c.o.Along == "" {
		return
	}
	d.add("    isArchived hasIssuesEnabled\n    branch: defaultBranchRef { name }\n")
	d.add("    file: object(expression: %s) { __typename ... on Blob { text byteSize isTruncated } }\n", d.bind("String", "HEAD:"+c.o.Along))
}

// isAlong reports whether an alias is of what came along: an error about it is not one about the repository.
func isAlong(alias string) bool { return alias == "branch" || alias == "file" || isTip(alias) }

// noteAlong takes the file from an answer. It is absent only where the default branch can be seen and has no such file; a file that
// is not text, that is cut off or not to be read is not known here.
func (c *Client) noteAlong(s sheet) {
	if s.err != nil || s.fields["file"] == nil {
		return
	}
	var branch *named
	var file *struct {
		Typename    string `json:"__typename"`
		Text        *string
		ByteSize    int
		IsTruncated bool
	}
	got := along{}
	failed := s.failed("branch", "branch") != nil || s.failed("file", "file") != nil
	if json.Unmarshal(s.fields["isArchived"], &got.archived) != nil || json.Unmarshal(s.fields["hasIssuesEnabled"], &got.hasIssues) != nil ||
		json.Unmarshal(s.fields["branch"], &branch) != nil || json.Unmarshal(s.fields["file"], &file) != nil {
		return
	}
	switch {
	case failed || branch == nil:
	case file == nil:
		got.known = true
	case file.Typename == "Blob" && !file.IsTruncated && file.Text != nil && len(*file.Text) == file.ByteSize:
		got.known, got.data = true, []byte(*file.Text)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.along[key(s.repo.String())] = &got
}

// Along returns the file that came along with the first query about the repository, nil when its default branch has none, and forgets
// it. known is false when it did not come, and then only File can tell.
func (c *Client) Along(r ledger.Repo, path string) (data []byte, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.along[key(r.String())]
	if got == nil || !got.known || path != c.o.Along {
		return nil, false
	}
	got.known = false
	return got.data, true
}

// Sweepable reports whether issues of the repository can change at all: it is not archived and has issues.
func (c *Client) Sweepable(ctx context.Context, r ledger.Repo) (archived, hasIssues bool, err error) {
	c.mu.Lock()
	got := c.along[key(r.String())]
	c.mu.Unlock()
	if got != nil {
		return got.archived, got.hasIssues, nil
	}
	known, err := c.Repository(ctx, r)
	return known.Archived, known.HasIssues, err
}

// fresh is how long what Begin has read stands for the first reading.
const fresh = 5 * time.Second

// A beginning is what the first query has read besides the configuration.
type beginning struct {
	at    time.Time
	facts *reading // of an issue, or else
	repo  ledger.Repo
	what  selection // of a scan
	found []listed  // its first page
	lists []*cursor // and what is left
	label string    // or of the open issues with a label
	open  []Issue   // its first page
	after string    // and where the next one begins, empty after the last
}

// Begin reads an issue for whoever asks for its facts next, and with it what Options.Along names: one request. A read that fails, or
// that GraphQL cannot make, is left to whoever asks next; only what concerns every request is an error.
func (c *Client) Begin(ctx context.Context, i claim.Issue) error {
	one := &reading{facts: lifecycle.Facts{Issue: i}}
	if nameable(i) != nil {
		return nil
	}
	return c.begin(i.String(), func() (*beginning, error) {
		err := c.askFactsAnd(replaceable(ctx, true), []*reading{one}, true) // whether references decide is not known yet
		if err != nil || !one.read {
			return nil, err
		}
		return &beginning{facts: one}, nil
	})
}

// BeginScan does for Scan what Begin does for Facts: it reads the first page.
func (c *Client) BeginScan(ctx context.Context, r ledger.Repo, since time.Time) error {
	return c.beginScan(ctx, r, selection{c.scheme.Lifecycle(), since})
}

// BeginCurrent does it for Current.
func (c *Client) BeginCurrent(ctx context.Context, r ledger.Repo, since time.Time) error {
	return c.beginScan(ctx, r, c.current(since))
}

// BeginOpen does it for OpenIssues with the label of what is ready for work, or of the first stage.
func (c *Client) BeginOpen(ctx context.Context, r ledger.Repo) error {
	if _, err := at(r.Owner, r.Name, ""); err != nil {
		return nil // whoever asks next says so
	}
	label := c.scheme.Queues()[0]
	return c.begin("issues of "+r.String(), func() (*beginning, error) {
		found, next, err := c.queryOpenPage(replaceable(ctx, true), r, label, "")
		if err != nil {
			return nil, err
		}
		return &beginning{repo: r, label: label, open: found, after: next}, nil
	})
}

func (c *Client) beginScan(ctx context.Context, r ledger.Repo, what selection) error {
	if _, err := at(r.Owner, r.Name, ""); err != nil {
		return nil // whoever asks next says so
	}
	lists := c.lists(what)
	size := c.pageSize(lists)
	return c.begin("issues of "+r.String(), func() (*beginning, error) {
		found, err := c.queryPage(replaceable(ctx, true), r, lists, size)
		if err != nil {
			return nil, err
		}
		c.answered(lists, size)
		lists = slices.DeleteFunc(lists, func(k *cursor) bool { return k.done })
		return &beginning{repo: r, what: what, found: found, lists: lists}, nil
	})
}

func (c *Client) begin(what string, read func() (*beginning, error)) error {
	if !c.queries() {
		return nil
	}
	var got *beginning
	err := c.eitherWay(func() (err error) { got, err = read(); return err }, func() error { return nil })
	switch {
	case wholeRequest(err):
		return fmt.Errorf("read %s: %w", what, err)
	case err == nil && got != nil:
		got.at = c.o.Clock.Now()
		c.mu.Lock()
		c.begun = got
		c.mu.Unlock()
	}
	return nil
}

// takeBegun returns what Begin has read, once. It is nothing any more after a write, or after a while.
func (c *Client) takeBegun(of func(*beginning) bool) *beginning {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.begun
	if got == nil || !of(got) {
		return nil
	}
	c.begun = nil
	if c.transport.writes.Load() > 0 || clock.Passed(got.at, c.o.Clock.Now()) > fresh {
		return nil
	}
	return got
}

func (c *Client) begunFacts(one *reading) bool {
	got := c.takeBegun(func(b *beginning) bool { return b.facts != nil && b.facts.facts.Issue == one.facts.Issue })
	if got == nil {
		return false
	}
	*one = *got.facts
	return true
}

// begunScan returns the first page of a scan of the same. One that looks a moment further back has all that is asked for.
func (c *Client) begunScan(r ledger.Repo, what selection) ([]listed, []*cursor, bool) {
	got := c.takeBegun(func(b *beginning) bool {
		further := what.since.Sub(b.what.since)
		return b.facts == nil && b.label == "" && b.repo == r && slices.Equal(b.what.labels, what.labels) && further >= 0 && further <= fresh
	})
	if got == nil {
		return nil, nil, false
	}
	return got.found, got.lists, true
}

// begunOpen returns the first page of a list of open issues, if it was read, and where the next one begins.
func (c *Client) begunOpen(r ledger.Repo, label string) (found []Issue, after string, begun bool) {
	got := c.takeBegun(func(b *beginning) bool { return b.label != "" && b.label == label && b.repo == r })
	if got == nil {
		return nil, "", false
	}
	return got.open, got.after, true
}
