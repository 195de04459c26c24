package github

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/protocol"
)

// TestRelabel: labels come and go and the issue is read again in one request, and the snapshot is
// the one that Facts returns.
func TestRelabel(t *testing.T) {
	sent := watched(simulated(t).Transport())
	c := connect(t, sent)
	for n, change := range []labels.Change{
		{Add: []string{"agent:pr-open"}, Remove: []string{"agent:implement"}},
		{Add: []string{"agent:implement"}},
		{Remove: []string{"agent:PR-open", "agent:done"}},
	} {
		i := issue("app", 1)
		if n == 0 {
			supply(t, c, "agent:pr-open", "agent:done")
		}

		before, err := c.Facts(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}

		asked := len(sent.sent)
		answer := written(t, c, i, protocol.Write{Kind: protocol.WriteRelabel, Labels: change})
		if answer.Results[0].Err != nil || answer.After == nil {
			t.Fatal(answer)
		}
		got := *answer.After

		if n := len(sent.sent) - asked; n != 1 {
			t.Errorf("%+v took %d requests: %q", change, n, sent.sent[asked:])
		}
		want, err := c.Facts(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}

		got.Now, want.Now = before.Now, before.Now
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v:\n got %+v\nwant %+v", change, got, want)
		}

		for _, name := range change.Add {
			if !labels.Has(got.Labels, name) {
				t.Errorf("%s is not on: %q", name, got.Labels)
			}
		}

		for _, name := range change.Remove {
			if labels.Has(got.Labels, name) {
				t.Errorf("%s is still on: %q", name, got.Labels)
			}
		}
	}
}

func supply(t *testing.T, c *Client, names ...string) {
	t.Helper()
	for _, d := range c.o.Scheme.Definitions() {
		if slices.Contains(names, d.Name) {
			if err := c.CreateLabel(t.Context(), repoOf("app"), d); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestRelabelOneByOne: what one request cannot do is done label by label: a label of the scheme
// that the repository lacks, or that was deleted since, is made first, with its colour, and an issue
// that was never read is none the worse for it.
func TestRelabelOneByOne(t *testing.T) {
	for name, story := range map[string]func(t *testing.T, c *Client){
		"the repository lacks it": func(t *testing.T, c *Client) {
			if _, err := c.Facts(t.Context(), issue("app", 1)); err != nil {
				t.Fatal(err)
			}
		},
		"deleted since": func(t *testing.T, c *Client) {
			supply(t, c, "needs:human-scope")
			if _, err := c.Facts(t.Context(), issue("app", 1)); err != nil {
				t.Fatal(err)
			}

			if _, err := connect(t, c.transport.o.HTTP).DeleteLabel(t.Context(), repoOf("app"),
				"needs:human-scope"); err != nil {
				t.Fatal(err)
			}
		},
		"never read": func(t *testing.T, c *Client) { supply(t, c, "needs:human-scope") },
	} {
		t.Run(name, func(t *testing.T) {
			server := simulated(t)
			c := connect(t, server.Transport())
			story(t, c)
			change := labels.Change{Add: []string{"needs:human-scope"}}
			got := written(t, c, issue("app", 1), protocol.Write{Kind: protocol.WriteRelabel, Labels: change})
			if got.Results[0].Err != nil {
				t.Errorf("%+v, want that it was done", got)
			}

			f, err := connect(t, server.Transport()).Facts(t.Context(), issue("app", 1))
			if err != nil || !labels.Has(f.Labels, "needs:human-scope") {
				t.Errorf("labels %q, %v", f.Labels, err)
			}

			made, err := c.Labels(t.Context(), repoOf("app"))
			n := slices.IndexFunc(made, func(d labels.Definition) bool { return d.Name == "needs:human-scope" })
			if err != nil || n < 0 || made[n].Color != "e99695" {
				t.Errorf("%+v, %v", made, err)
			}
		})
	}
}

// TestRelabelRefused: a token that may not label is told so, once by one request and then by the
// request of one label.
func TestRelabelRefused(t *testing.T) {
	c := connect(t, simulated(t).Transport(), as("tok-rob"))
	f, err := c.Facts(t.Context(), issue("app", 1))
	if err != nil {
		t.Fatal(err)
	}

	change := labels.Change{Remove: []string{"bug"}}
	err = written(t, c, f.Issue, protocol.Write{Kind: protocol.WriteRelabel, Labels: change}).Results[0].Err
	var denied *PermissionError
	if !errors.As(err, &denied) || !strings.Contains(err.Error(), "bug") {
		t.Errorf("%v", err)
	}
}
