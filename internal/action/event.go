package action

import (
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/github"
)

// An Event is the part of a webhook payload that says where to look.
type Event struct {
	Name   string // GITHUB_EVENT_NAME
	Action string
	Number int
	Issue  struct {
		Number      int
		PullRequest *struct{} `json:"pull_request"`
	}
	PullRequest *struct {
		Number int
		Head   struct {
			SHA  string
			Repo *struct {
				FullName string `json:"full_name"`
			}
		}
	} `json:"pull_request"`
	MergeGroup *struct {
		HeadRef string `json:"head_ref"`
		HeadSHA string `json:"head_sha"`
	} `json:"merge_group"`
	Label   struct{ Name string } // that came or went
	Comment *Comment
	Changes struct {
		Body struct{ From string }
	}
	Repository struct {
		FullName string `json:"full_name"`
	}
	Sender Account
}

// An Account is who did something.
type Account struct{ Login, Type string }

// A Comment is the one an issue_comment event is about, as it was then.
type Comment struct {
	ID      int64
	Body    string
	Created time.Time `json:"created_at"`
	User    Account
	App     *struct{} `json:"performed_via_github_app"`
}

// ParseEvent reads the payload of the event called name. An empty payload is an event without
// detail.
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

// The modes of a step.
const (
	modeAuto      = "auto"
	modeSweep     = "sweep"
	modeLifecycle = "lifecycle"
	modeGuard     = "guard"
	modeReconcile = "reconcile"
	modeCommands  = "commands"
	modeSetup     = "setup"
)

// pull is the number of the pull request the event is about, 0 when it does not say.
func (e Event) pull() int {
	switch {
	case e.PullRequest != nil:
		return e.PullRequest.Number
	case e.MergeGroup != nil: // whose branch is gh-readonly-queue/BASE/pr-NUMBER-SHA
		queue, last := path.Split(strings.TrimPrefix(e.MergeGroup.HeadRef, "refs/heads/"))
		name, isPull := strings.CutPrefix(last, "pr-")
		number, _, _ := strings.Cut(name, "-")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || !isPull || !strings.HasPrefix(queue, "gh-readonly-queue/") {
			return 0
		}

		return n
	case e.Issue.Number == 0:
		return e.Number
	}

	return 0
}

// head is the commit that the event is about, empty when it does not say.
func (e Event) head() string {
	switch {
	case e.MergeGroup != nil:
		return e.MergeGroup.HeadSHA
	case e.PullRequest != nil:
		return e.PullRequest.Head.SHA
	}

	return ""
}

// readOnly reports whether GitHub hands out a token that may only read: for a pull request from a
// fork, from a fork that is gone, or from Dependabot.
func (e Event) readOnly() bool {
	switch {
	case e.Name != "pull_request":
		return false
	case e.Sender.Login == "dependabot[bot]":
		return true
	case e.PullRequest == nil:
		return false
	}

	head := e.PullRequest.Head.Repo
	return head == nil || !strings.EqualFold(head.FullName, e.Repository.FullName)
}

// person reports whether an account is somebody's own, rather than an app's or a bot's, or the one
// that GitHub shows for all accounts that were deleted.
func (a Account) person() bool {
	return a.Login != "" && a.Login != github.Ghost && a.Type != "Bot" && !strings.HasSuffix(a.Login, "[bot]")
}
