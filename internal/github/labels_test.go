package github

import (
	"errors"
	"strings"
	"testing"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/labels"
)

// TestWhoMayCreateLabels: GitHub hides from a login that may not push that labels can be created,
// and refuses a token that may write pull requests alone. Both are told what is missing; only a
// repository that nobody can read is not there.
func TestWhoMayCreateLabels(t *testing.T) {
	seed := world()
	seed.Users = append(seed.Users,
		githubsim.SeedUser{
			Login:            "ci[bot]",
			Token:            "tok-labeler",
			Permissions:      map[string]string{"acme/app": "write"},
			TokenPermissions: map[string]string{"pull_requests": "write"},
		})
	server, err := githubsim.New(seed, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	label := labels.Definition{Name: "agent:implement-later", Color: "aabbcc"}

	for name, c := range map[string]struct {
		token, repo, want string
		push              bool
		needs             string
	}{
		"a triager": {
			"tok-tia", "app", "not permitted (HTTP 404: creating a label requires push access",
			true, "",
		},
		"a reader": {
			"tok-rob", "app", "not permitted (HTTP 404: creating a label requires push access",
			true, "",
		},
		"a workflow's token": {
			"tok-labeler", "app",
			"not permitted (HTTP 403: You do not have permission to create labels", false, "issues: write",
		},
		"nothing to be found": {"tok-bot", "nowhere", "repository acme/nowhere not found (HTTP 404", false, ""},
	} {
		client := connect(t, server.Transport(), as(c.token))
		err := client.CreateLabel(t.Context(), repoOf(c.repo), label)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}

		var denied *PermissionError
		if errors.As(err, &denied) != (c.repo == "app") || denied != nil &&
			(denied.Push != c.push || denied.Needs != c.needs) {
			t.Errorf("%s: %+v, want push %t and needs %q", name, denied, c.push, c.needs)
		}
	}

	if err := connect(t, server.Transport(), as("tok-tia")).AddLabel(t.Context(), issue("app", 1),
		"agent:large-feature"); !answer.Is(err, answer.NotFound) {
		t.Errorf("a label of ours that is missing, put on by a triager: %v, want that somebody creates it", err)
	}

	var denied *PermissionError
	if err := connect(t, server.Transport(), as("tok-labeler")).AddLabel(t.Context(), issue("app", 7),
		"agent:large-feature"); !errors.As(err, &denied) || denied.Needs != "issues: write" ||
		answer.Is(err, answer.NotFound) {
		t.Errorf("… by a workflow: %v, want what its token lacks", err)
	}

	denied = nil
	if err := connect(t, server.Transport(), as("tok-tia")).SetPause(t.Context(), repoOf("app"),
		pauseNow()); !errors.As(err, &denied) || denied.Status != 404 {
		t.Errorf("pause by a triager: %v, want that it may not", err)
	}

	if err := connect(t, server.Transport()).CreateLabel(t.Context(), repoOf("app"), label); err != nil {
		t.Errorf("by an administrator: %v", err)
	}
}
