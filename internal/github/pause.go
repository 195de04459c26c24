package github

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

const (
	pauseColor     = "b60205"
	maxDescription = 100 // characters GitHub allows in a label's description
)

// Pause reads the pause marker: nil, nil when the repository is there and not paused.
func (c *Client) Pause(ctx context.Context, r claim.Repo) (*lifecycle.Pause, error) {
	all, err := c.Pauses(ctx, []claim.Repo{r})
	return all[r], err
}

// Pauses reads the markers of many repositories in one request. Repositories that are not paused
// are left out; one that cannot be read is an error.
func (c *Client) Pauses(ctx context.Context, repos []claim.Repo) (map[claim.Repo]*lifecycle.Pause, error) {
	out := map[claim.Repo]*lifecycle.Pause{}
	if len(repos) == 0 {
		return out, nil
	}

	d := newDocument()
	marker := d.bind("String!", c.o.Scheme.Paused)
	for k, r := range repos {
		d.open(alias("r", k), r)
		d.add("    pause: label(name: %s) "+pauseFields+"\n  }\n", marker)
	}

	var data map[string]json.RawMessage
	got, err := c.ask(ctx, d, &data)
	for k := 0; err == nil && k < len(repos); k++ {
		s := sheet{repo: repos[k], alias: alias("r", k), partial: got}
		if s.read(data); s.pause != nil {
			out[s.repo] = s.pause
		}
		err = s.err
	}

	if err != nil {
		return nil, fmt.Errorf("read pause marker: %w", err)
	}

	return out, nil
}

// SetPause creates the marker, or rewrites the one that is there. Without a reason it leaves that
// one as it is.
func (c *Client) SetPause(ctx context.Context, r claim.Repo, p lifecycle.Pause) error {
	text, err := DescribePause(p)
	if err != nil {
		return err
	}

	d := labels.Definition{Name: c.o.Scheme.Paused, Color: pauseColor, Description: text}
	err = c.createLabel(ctx, r, d)
	switch {
	case err == nil || !taken(err):
	case p.Reason == "":
		return nil
	default:
		err = c.updateLabel(ctx, at(r, "").label(c.o.Scheme.Paused), d)
	}

	return failed(err, "pause %s", r)
}

// ClearPause removes the marker, and reports whether it was there.
func (c *Client) ClearPause(ctx context.Context, r claim.Repo) (paused bool, err error) {
	paused, err = c.DeleteLabel(ctx, r, c.o.Scheme.Paused)
	return paused, failed(err, "end pause of %s", r)
}

// DescribePause is the marker's description: paused since TIME by LOGIN: REASON. Without a time the
// making of the marker is meant. A reason for which there is no room is a wrong call.
func DescribePause(p lifecycle.Pause) (string, error) {
	text := "paused"
	if !p.Since.IsZero() {
		text += " since " + p.Since.UTC().Format(time.RFC3339)
	}

	text += " by " + strings.Join(strings.Fields(oneLine(p.By)), "-")
	reason := printable.Short(p.Reason, len(p.Reason)) // whole
	if reason != "" {
		text += ": " + reason
	}

	size := utf8.RuneCountInString(reason)
	if over := utf8.RuneCountInString(text) - maxDescription; over > 0 {
		return "", answer.Wrongf("the reason has %d characters; the description of a label has room for %d", size, size-over)
	}

	return text, nil
}

var pauseText = pattern(`(?is)^\s*paused(?: since (\S+))? by (\S*?)(?::\s*(.*))?$`)

// parsePause reads a marker's description. Text in any other form is the reason, from when the
// marker was made: the existence of the label is the pause, whatever it says.
func parsePause(description string, made time.Time) lifecycle.Pause {
	p := lifecycle.Pause{Since: made, Reason: strings.TrimSpace(description)}
	m := pauseText().FindStringSubmatch(description)
	if m == nil {
		return p
	}

	if m[1] != "" {
		since, err := time.Parse(time.RFC3339, m[1])
		if err != nil {
			return p
		}
		p.Since = since.UTC()
	}

	p.By, p.Reason = m[2], strings.TrimSpace(m[3])
	return p
}
