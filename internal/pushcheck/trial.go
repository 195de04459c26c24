package pushcheck

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/dedup"
	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/outgoing"
	"github.com/label-state/label-state/internal/setup"
)

// TryFlag asks for a Trial in place of an answer: TryFlag REMOTE URL, without an input. Git never
// calls a hook so.
const TryFlag = "--try"

// A Trial is what a push from here meets, as TryFlag prints it: one JSON object.
type Trial struct {
	Version string `json:"version"`          // of the program that tried
	Repo    string `json:"repo,omitempty"`   // whose issues are meant, OWNER/NAME; empty when the remote is not on GitHub
	Checked bool   `json:"checked"`          // a commit that closes an issue is checked
	Reason  string `json:"reason,omitempty"` // why it is not
	Remedy  string `json:"remedy,omitempty"` // what to do about it; empty where GitHub's answer is the reason
}

// nobodys is the number of an issue that no repository has: the largest that GitHub's GraphQL
// takes.
const nobodys = 1<<31 - 1

// try plays a push of a commit that closes an issue which does not exist: it does everything that a
// push does, and can refuse nothing. The exit code says only that it could answer.
func (h *Hook) try(ctx context.Context, url string) int {
	t := h.trial(ctx, url)
	t.Version, t.Checked = h.Version, t.Reason == ""

	text, err := json.Marshal(t)
	if err != nil {
		return exitUsage
	}

	fmt.Fprintf(h.Stdout, "%s\n", text)
	return exitPass
}

// trial is whose issues a push to the URL means, and why they could not be checked.
func (h *Hook) trial(ctx context.Context, url string) (t Trial) {
	if h.Env.SkipDedup() {
		return Trial{
			Reason: "LABEL_STATE_SKIP_DEDUP_CHECK turns the check off",
			Remedy: "unset LABEL_STATE_SKIP_DEDUP_CHECK",
		}
	}

	local, err := h.local()
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return Trial{Reason: first}
	}

	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), h.Start.Add(local.timeout))
	defer cancel()

	c := checker{Hook: h, local: local}
	var elsewhere *host.NotGitHubError
	c.remote, err = h.Env.Remote(ctx, url)
	switch {
	case errors.As(err, &elsewhere):
		return Trial{
			Reason: "the remote is not on GitHub",
			Remedy: "if its issues are: git config label-state.repo OWNER/NAME",
		}
	case err != nil:
		return Trial{Reason: inTime(ctx, err).Error()}
	}

	t.Repo = c.home().String()
	named := []dedup.Named{{Issue: c.home().Issue(nobodys)}}
	snapshots, err := outgoing.InTime(ctx, func() ([]dedup.Snapshot, error) {
		_, snapshots, err := c.read(ctx, named)
		return snapshots, err
	})

	var noToken *setup.NoTokenError
	switch {
	case errors.As(err, &noToken) && c.stranger(ctx):
		t.Reason, t.Remedy = c.remote.Host+" is not a known GitHub host", "if it is one: git config label-state.host "+
			c.remote.Host
	case errors.As(err, &noToken):
		t.Reason, t.Remedy = "no token for "+noToken.Host, variables(noToken)
	default:
		for _, s := range snapshots {
			t.Reason = cmp.Or(t.Reason, s.Unread)
		}
		if err != nil {
			t.Reason = cmp.Or(t.Reason, inTime(ctx, err).Error())
		}
	}

	return t
}
