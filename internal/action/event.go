package action

import (
	"encoding/json"
	"fmt"
	"strings"
)

// An Event is the part of a webhook payload that says where to look.
type Event struct {
	Name   string // GITHUB_EVENT_NAME
	Action string
	Number int
	Issue  *struct {
		Number      int
		PullRequest *struct{} `json:"pull_request"`
	}
	PullRequest *struct {
		Number int
		Head   struct {
			Repo *struct {
				FullName string `json:"full_name"`
			}
		}
	} `json:"pull_request"`
	Changes struct {
		Body struct{ From string }
	}
	Repository struct {
		FullName string `json:"full_name"`
	}
	Sender struct{ Login, Type string }
}

// ParseEvent reads the payload of the event called name. An empty payload is an event without detail.
func ParseEvent(name string, payload []byte) (Event, error) {
	var e Event
	if len(payload) > 0 {
		if err := json.Unmarshal(payload, &e); err != nil {
			return e, fmt.Errorf("read event %s: %w", name, err)
		}
	}
	e.Name = name
	return e, nil
}

// mode is what auto means for the event; empty when there is nothing to do.
func (e Event) mode() string {
	switch e.Name {
	case "schedule", "workflow_dispatch", "repository_dispatch":
		return "sweep"
	case "pull_request", "pull_request_target", "pull_request_review":
		return "lifecycle"
	case "issues":
		return "reconcile"
	}
	return ""
}

// pull is the number of the pull request the event is about, 0 when it does not say.
func (e Event) pull() int {
	switch {
	case e.PullRequest != nil && e.PullRequest.Number > 0:
		return e.PullRequest.Number
	case e.Name != "issues":
		return e.Number
	}
	return 0
}

// foreign reports whether the pull request comes from a fork, or from one that is gone: GitHub
// then hands out a token that may only read.
func (e Event) foreign() bool {
	if e.PullRequest == nil {
		return false
	}
	head := e.PullRequest.Head.Repo
	return head == nil || !strings.EqualFold(head.FullName, e.Repository.FullName)
}

// dependabot gets a token that may only read as well.
func (e Event) dependabot() bool { return e.Sender.Login == "dependabot[bot]" }
