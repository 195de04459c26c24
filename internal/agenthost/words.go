package agenthost

import (
	"fmt"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

func lost(i claim.Issue, why string) string {
	return fmt.Sprintf("%s is no longer yours: %s. Do not edit, commit or push for it. "+
		"Take other work with: label-state next; or put the changes here aside with: git stash -u", i, why)
}

// unproven is why a push waits under a hold that is not known to stand.
func unproven(h Hold, now time.Time) string {
	switch {
	case h.Refused != "":
		return fmt.Sprintf("your hold of %s expired and it could not be claimed again: %s. Do not push for it now. "+
			"See what is known: label-state status %s", h.Issue, h.Refused, h.Issue)
	case h.Expired(now):
		return fmt.Sprintf("your hold of %s expired at %s and is not claimed again yet. Push again in half a minute, "+
			"or claim it now with: label-state claim %s", h.Issue, clock(h.expires()), h.Issue)
	}

	return fmt.Sprintf("could not find out whether %s is still yours, and a push needs that. Push again when GitHub answers; see: "+
		"label-state status %s", h.Issue, h.Issue)
}

// Unsure is what a session is told, once, whose lease is over and of whose hold nothing can be
// found out.
func Unsure(h Hold) string {
	return fmt.Sprintf("label-state: your hold of %s expired at %s, and GitHub could not be asked whether somebody else has it now. "+
		"Edits go on; a push waits for the answer", h.Issue, clock(h.expires()))
}

// Again is what a session is told whose hold had expired and was claimed again.
func Again(i claim.Issue) string {
	return fmt.Sprintf("label-state: your hold of %s had expired, nobody had taken the issue, and it was claimed again. Go on", i)
}

// NotAgain is what a session is told whose hold had expired and could not be claimed again.
func NotAgain(h Hold) string { return "label-state: " + unproven(h, h.expires()) }

const unclaimed = "this repository requires a claim before its files are edited, and this worktree holds none " +
	"(sessions.require_claim). Take work with: label-state next; or a specific issue with: label-state claim ISSUE"

// clock writes a time of this machine for a person and for a model: with its zone.
func clock(t time.Time) string { return t.UTC().Format("15:04 UTC") }

// A Shown is what a snapshot says about a hold of the worktree at the start of a session.
type Shown struct {
	Hold
	Waits string // what it waits for: a plan, a pull request; empty for nothing

	// Until is when the answer to its plan must have come, and how long it lasts till then, by
	// GitHub's clock; zero where no plan waits.
	Until time.Time
}

// StartText returns what a session is told when it starts: what its worktree holds, whose that is,
// or how to take work. It is empty in a repository that does not use label-state.
func StartText(e Event, w World, shown []Shown, worktree string) string {
	switch {
	case len(shown) == 0 && !w.Known:
		return ""
	case len(shown) == 0:
		return "label-state: this worktree holds no issue. Before you work on one, take it with: label-state next; " +
			"or a specific one with: label-state claim ISSUE"
	}

	var out []string
	for _, s := range shown {
		i, until := s.Issue, ""
		switch {
		case !s.Until.IsZero():
			until = " until " + s.Until.UTC().Format("2006-01-02 15:04 UTC")
		case s.TTL >= 0:
			until = " until " + clock(s.expires())
		}
		text := fmt.Sprintf("another session, of %s, works on %s in this worktree%s. Do not edit files here; use a worktree of your own, "+
			"such as: git worktree add %s", s.Session.Host, i, until, worktree)
		switch {
		case s.Lost != "" && s.Session != e.Session && !s.Session.IsZero():
			text = fmt.Sprintf("%s was held in this worktree by %s, for another session of %s, and that hold is lost: %s. "+
				"Do not commit or push what may be left of its work here. Take work with: label-state next",
				i, s.Worker, s.Session.Host, s.Lost)
		case s.Lost != "":
			text = lost(s.Issue, s.Lost)
		case s.Until.IsZero() && s.Expired(w.Now):
			text = fmt.Sprintf("%s was held in this worktree until %s, and what was done for it may still be here. "+
				"To go on with it: label-state claim %s; to release it: label-state release "+
				"%s", i, clock(s.expires()), i, i)
		case s.Session == e.Session || s.Session.IsZero():
			text = yours(s, until)
		case !s.Ended.IsZero():
			text = fmt.Sprintf("this worktree holds %s%s for a session of %s that ended at %s and may have left work behind. "+
				"To go on with it: "+
				"label-state claim %s; to release it: label-state release %s", i, until, s.Session.Host, clock(s.Ended), i, i)

		case s.Gone:
			text = fmt.Sprintf("this worktree holds %s%s for a session of %s that disappeared without ending, "+
				"and may have left work behind. "+
				"To go on with it: label-state claim %s; to release it: label-state release %s", i, until, s.Session.Host, i, i)
		}

		out = append(out, "label-state: "+text)
	}

	return strings.Join(out, "\n")
}

// yours is what a session is told of a hold of its own.
func yours(s Shown, until string) string {
	stays := "It is renewed while you work"
	switch {
	case !s.Until.IsZero():
		stays = "It needs no renewal until then"
	case s.TTL < 0:
		stays = "It does not expire"
	}

	if s.Waits != "" {
		stays += "; " + s.Waits
	}

	return fmt.Sprintf("this worktree holds %s for you (%s)%s. %s. When you are done: label-state release %s --pr URL",
		s.Issue, s.Worker, until, stays, s.Issue)
}

// Yours is what a session is told of a hold that it goes on with.
func Yours(h Hold) string { return "label-state: " + yours(Shown{Hold: h}, "") }

// Over is what a session is told when a heartbeat finds that its hold is lost.
func Over(i claim.Issue, why string) string { return "label-state: " + lost(i, why) }

// Lifted is what a session is told when it may edit a worktree again that has nothing of a lost
// hold's work.
func Lifted(i claim.Issue, why string) string {
	return fmt.Sprintf("label-state: %s is no longer yours: %s. Nothing of the work on it is in this worktree, "+
		"so its files may be edited "+
		"for something else. Take work with: label-state next", i, why)
}

// HandedOver is what a session is told when its hold ended because its work is there.
func HandedOver(i claim.Issue) string {
	return fmt.Sprintf("label-state: the hold of %s ended, because its work is handed over; you may go on with its pull request", i)
}
