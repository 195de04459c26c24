package githubsim_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
)

// TestMergeQueue: a queued pull request gets a branch of the queue on top of those before it; the
// queue merges it itself.
func TestMergeQueue(t *testing.T) {
	for name, dir := range map[string]string{"git": t.TempDir(), "without git": ""} {
		t.Run(name, func(t *testing.T) { mergeQueue(t, serverWith(t, githubsim.Options{Dir: dir}), dir != "") })
	}
}

func mergeQueue(t *testing.T, s *githubsim.Server, git bool) {
	seen, err := s.Events()
	must(t, err)
	group, err := s.Enqueue("acme/app", 4, "wes")
	must(t, err)
	if !strings.HasPrefix(group.HeadRef, "refs/heads/gh-readonly-queue/main/pr-4-") ||
		group.BaseRef != "refs/heads/main" {
		t.Errorf("group %+v", group)
	}

	if _, err := s.Enqueue("acme/app", 4, "wes"); err == nil {
		t.Error("it was queued twice")
	}

	if _, err := s.Enqueue("acme/app", 1, "wes"); err == nil {
		t.Error("an issue was queued")
	}
	must(t, s.Dequeue("acme/app", 4, "wes"))
	if err := s.MergeQueued("acme/app"); err == nil {
		t.Error("an empty queue merged")
	}

	group, err = s.Enqueue("acme/app", 4, "wes")
	must(t, err)
	if git {
		dir, err := s.GitDir("acme/app")
		must(t, err)
		out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "rev-parse", group.HeadRef).Output()
		must(t, err)
		if strings.TrimSpace(string(out)) != group.HeadSHA {
			t.Errorf("the branch is at %s, not %s", out, group.HeadSHA)
		}
	}

	must(t, s.MergeQueued("acme/app"))
	if i, err := s.Issue("acme/app", 4); err != nil || !i.Merged {
		t.Errorf("not merged: %+v %v", i, err)
	}

	if i, err := s.Issue("acme/app", 1); err != nil || i.State != "closed" {
		t.Errorf("what it closes is %+v %v", i, err)
	}
	events, err := s.EventsSince(len(seen))
	must(t, err)
	var got []string
	for _, e := range events {
		got = append(got, e.Name+"."+e.Action)
		var p map[string]any
		must(t, json.Unmarshal(e.Payload, &p))
		if e.Name == "merge_group" && (field(p, "merge_group.head_ref") != group.HeadRef ||
			field(p, "sender.login") != "github-merge-queue[bot]") {
			t.Errorf("%s: %s", e.Action, e.Payload)
		}
	}

	want := "pull_request.enqueued merge_group.checks_requested pull_request.dequeued merge_group.destroyed " +
		"pull_request.enqueued merge_group.checks_requested pull_request.dequeued merge_group.destroyed pull_request.closed issues.closed"
	if strings.Join(got, " ") != want {
		t.Errorf("events %v", got)
	}
}
