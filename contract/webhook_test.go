package contract

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/label-state/label-state/internal/action"
	"github.com/label-state/label-state/internal/githubsim"
)

const (
	hooksFile    = "@octokit/openapi-webhooks/generated/api.github.com.json"
	examplesFile = "@octokit/webhooks-examples/api.github.com/index.json"
)

// deliveries are the events that the simulator knows, each as name-action in the spelling of the description.
var deliveries = []string{
	"issues-opened", "issues-edited", "issues-closed", "issues-reopened", "issues-labeled", "issues-unlabeled",
	"issues-assigned", "issues-unassigned", "issues-deleted", "issues-transferred", "issues-locked", "issues-unlocked",
	"pull-request-opened", "pull-request-edited", "pull-request-closed", "pull-request-reopened",
	"pull-request-labeled", "pull-request-unlabeled", "pull-request-synchronize", "pull-request-converted-to-draft", "pull-request-ready-for-review",
	"issue-comment-created", "issue-comment-edited", "issue-comment-deleted",
	"label-created", "label-edited", "label-deleted",
	"pull-request-enqueued", "pull-request-dequeued", "merge-group-checks-requested", "merge-group-destroyed",
}

// TestWebhooks has the simulator deliver every event it knows and holds the payloads against the webhooks' description.
func TestWebhooks(t *testing.T) {
	npmFile(t, hooksFile)
	doc, err := openapi3.NewLoader().LoadFromFile("node_modules/" + hooksFile)
	if err != nil {
		t.Fatal(err)
	}
	s := simulator(t)
	if err := rearrange(s); err != nil {
		t.Fatal(err)
	}
	play(t, s.Transport())
	if err := queue(s); err != nil {
		t.Fatal(err)
	}
	events, err := s.Events()
	if err != nil {
		t.Fatal(err)
	}
	var findings []finding
	seen := map[string]bool{}
	for _, e := range events {
		name := strings.ReplaceAll(e.Name+"-"+e.Action, "_", "-")
		seen[name] = true
		findings = append(findings, judgeHook(doc, name, e.Payload)...)
	}
	report(t, findings, nil)
	for _, name := range deliveries {
		if !seen[name] {
			t.Errorf("%s was never delivered", name)
		}
		delete(seen, name)
	}
	if len(seen) > 0 {
		t.Errorf("delivered, and not in the list: %v", seen)
	}
}

// queue sends a pull request through the merge queue, the first time in vain.
func queue(s *githubsim.Server) error {
	if _, err := s.Enqueue("acme/app", 4, "wes"); err != nil {
		return err
	}
	if err := s.Dequeue("acme/app", 4, "wes"); err != nil {
		return err
	}
	if _, err := s.Enqueue("acme/app", 4, "wes"); err != nil {
		return err
	}
	return s.MergeQueued("acme/app")
}

func judgeHook(doc *openapi3.T, name string, payload []byte) []finding {
	hook := doc.Webhooks[name]
	if hook == nil || hook.Post == nil {
		return []finding{{name, "is not described"}}
	}
	return judgeBody(name, payload, jsonSchema(hook.Post.RequestBody.Value.Content))
}

// TestExamples: the Action understands GitHub's own examples of the events it reads, and finds in them where to look.
func TestExamples(t *testing.T) {
	var hooks []struct {
		Name     string
		Examples []json.RawMessage
	}
	if err := json.Unmarshal(npmFile(t, examplesFile), &hooks); err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, hook := range hooks {
		if !slices.Contains([]string{"issues", "pull_request", "issue_comment"}, hook.Name) {
			continue
		}
		for _, payload := range hook.Examples {
			read++
			e, err := action.ParseEvent(hook.Name, payload)
			found := e.Issue.Number > 0 || e.PullRequest != nil && e.PullRequest.Number == e.Number
			if err != nil || e.Action == "" || !strings.Contains(e.Repository.FullName, "/") || e.Sender.Login == "" || !found {
				t.Errorf("%s: %v, read as %+v of\n%.200s", hook.Name, err, e, payload)
			}
		}
	}
	if read < 50 {
		t.Errorf("only %d examples, of %d events", read, len(hooks))
	}
}
