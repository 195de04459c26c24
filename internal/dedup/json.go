package dedup

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// jsonVersion grows when a key changes its meaning or goes away; new keys may come at any time.
const jsonVersion = 1

// The JSON form: stable keys, times in RFC 3339 and UTC, issues as owner/repo#7, other people's
// texts whole but without control characters.
type (
	jsonReport struct {
		Version  int             `json:"version"`
		Refused  bool            `json:"refused"`
		Refusals []jsonRefusal   `json:"refusals"`
		Notes    []jsonNote      `json:"notes"`
		Unknown  []jsonUnchecked `json:"unknown"`
		Bypass   string          `json:"bypass"`
	}
	jsonRefusal struct {
		Issue    string       `json:"issue"`
		Title    string       `json:"title"`
		URL      string       `json:"url"`
		Branch   string       `json:"branch,omitempty"` // that is pushed, of a pull request
		Commits  []jsonCommit `json:"commits"`
		Reasons  []jsonReason `json:"reasons"`
		LostHold *jsonLost    `json:"lost_hold,omitempty"`
		TakeOver string       `json:"take_over,omitempty"`
		Guess    bool         `json:"guess,omitempty"` // GitHub tells no role of somebody whose records the reasons go by
	}
	jsonCommit struct {
		OID     string `json:"oid"`
		Subject string `json:"subject"`
	}
	jsonReason struct {
		Code   lifecycle.Code `json:"code"`
		Text   string         `json:"text"`
		URL    string         `json:"url,omitempty"`
		Holder *jsonHolder    `json:"holder,omitempty"`
		Pull   *jsonPull      `json:"pull_request,omitempty"`
	}
	jsonHolder struct {
		Codename  string    `json:"codename"`
		FiringID  string    `json:"firing_id"`
		Person    string    `json:"person,omitempty"` // whose hold it is, when a person's
		Login     string    `json:"login"`
		Branch    string    `json:"branch,omitempty"`
		Confirmed bool      `json:"confirmed"`
		Since     time.Time `json:"since,omitzero"` // absent while only the lease store knows the hold
		Until     time.Time `json:"until,omitzero"`
	}
	jsonPull struct {
		Name   string `json:"name"`
		Title  string `json:"title"`
		Author string `json:"author"`
		Branch string `json:"branch"`
		Draft  bool   `json:"draft"`
	}
	jsonLost struct {
		Codename string    `json:"codename"`
		FiringID string    `json:"firing_id"`
		Ended    time.Time `json:"ended"`
		Outcome  string    `json:"outcome"`
		By       string    `json:"by,omitempty"`
	}
	jsonNote struct {
		Issue string `json:"issue,omitempty"`
		Text  string `json:"text"`
		URL   string `json:"url,omitempty"`
	}
	jsonUnchecked struct {
		Issue  string `json:"issue,omitempty"`
		Reason string `json:"reason"`
	}
)

// JSON writes the report for programs: one object on one line, or nothing when there is nothing to
// say.
func JSON(r Report) string {
	if r.Empty() {
		return ""
	}

	out := jsonReport{
		Version:  jsonVersion,
		Refused:  r.Stops(),
		Bypass:   bypass,
		Refusals: each(r.Refusals, toRefusal),
		Notes:    each(r.Notes, func(n Note) jsonNote { return jsonNote{named(n.Issue), strip(n.Text), strip(n.URL)} }),
		Unknown: each(r.Unknown, func(u Unchecked) jsonUnchecked {
			return jsonUnchecked{
				named(u.Issue),
				strip(u.Reason),
			}
		}),
	}
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(out); err != nil { // a time beyond the year 9999
		return fmt.Sprintf("{\"version\":%d,\"refused\":%t}\n", jsonVersion, r.Stops())
	}

	return text.String()
}

// each is never nil: an empty list is [], not null.
func each[A, B any](list []A, f func(A) B) []B {
	out := make([]B, len(list))
	for i, a := range list {
		out[i] = f(a)
	}
	return out
}

func toRefusal(r Refusal) jsonRefusal {
	out := jsonRefusal{
		Issue:    r.Issue.String(),
		Title:    strip(r.Title),
		URL:      strip(r.URL),
		Branch:   strip(r.Branch),
		Guess:    r.Guess,
		Commits:  each(r.Commits, func(c Commit) jsonCommit { return jsonCommit{c.OID, strip(c.Subject)} }),
		Reasons:  each(r.Reasons, toReason),
		TakeOver: r.takeOver(),
	}

	if c := r.Lost; c != nil {
		lost := &jsonLost{
			Codename: strip(c.Record.Worker.Codename), FiringID: strip(c.Record.Worker.FiringID),
			Outcome: "expired",
		}
		if c.End == nil {
			end, _ := c.Until(r.Terms)
			lost.Ended = end.UTC()
		} else {
			lost.Ended, lost.Outcome, lost.By = c.End.At.UTC(), strip(c.End.Outcome), strip(c.End.By)
		}

		out.LostHold = lost
	}

	return out
}

func toReason(r lifecycle.Reason) jsonReason {
	out := jsonReason{Code: r.Code, Text: strip(r.Text), URL: strip(r.URL)}
	if c := r.Claim; c != nil {
		out.Holder = &jsonHolder{
			Codename:  strip(c.Record.Worker.Codename),
			FiringID:  strip(c.Record.Worker.FiringID),
			Person:    strip(c.Person),
			Login:     strip(c.Author),
			Branch:    strip(c.Record.Branch),
			Confirmed: c.Held(),
			Since:     c.Created.UTC(),
			Until:     r.Until.UTC(),
		}
	}

	if p := r.PR; p != nil {
		out.Pull = &jsonPull{p.String(), strip(p.Title), strip(p.Author), strip(p.Head), p.Draft}
	}

	return out
}

func named(i claim.Issue) string {
	if i == (claim.Issue{}) {
		return ""
	}
	return i.String()
}
