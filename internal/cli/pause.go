package cli

import (
	"time"

	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/trouble"
)

// A PauseView is the JSON of one repository's pause.
type PauseView struct {
	Repo   string    `json:"repo"`
	Paused bool      `json:"paused"`
	Local  bool      `json:"local,omitempty"`
	Since  time.Time `json:"since,omitzero"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
	DryRun bool      `json:"dry_run,omitempty"`
}

// Resume is what ends the pause, after "label-state repo resume".
func (v PauseView) Resume() string {
	if v.Local {
		return v.Repo + " --local"
	}
	return v.Repo
}

// Where says of a pause that it is of this host alone; the other kind, which everybody obeys, is
// not named.
func Where(local bool) string {
	if local {
		return " on this host"
	}
	return ""
}

// ViewPause is what a pause shows; nil is no pause.
func ViewPause(repo string, p *lifecycle.Pause, local bool) PauseView {
	v := PauseView{Repo: repo, Paused: p != nil, Local: local}
	if p != nil {
		v.Since, v.By, v.Reason = trouble.Second(p.Since), OneLine(p.By), OneLine(p.Reason)
	}
	return v
}

// Line is the answer of the commands about pauses.
func (v PauseView) Line() string {
	if !v.Paused {
		return v.Repo + " is not paused\n"
	}
	return v.Sentence("is paused") + "\n"
}

// Sentence says that the repository is paused, in the words given, since when, by whom and why.
func (v PauseView) Sentence(paused string) string {
	p := lifecycle.Pause{
		Since:  v.Since,
		By:     v.By,
		Reason: v.Reason,
		Here:   v.Local,
	}

	return v.Repo + " " + paused + p.Told()
}
