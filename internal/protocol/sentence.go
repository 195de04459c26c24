package protocol

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// Body is the comment of a record about an issue.
func Body(f lifecycle.Facts, r claim.Record) (string, error) {
	return claim.Body(r, sentence(f, r)+printable.Footer)
}

// sentence is what a person reads beside the record (spec.md#records): words of ours and names
// made harmless, because an older claim may carry any name.
func sentence(f lifecycle.Facts, r claim.Record) string {
	text := issueSentence(f, r)
	if f.PullRequest { // no name has a space in it
		text = strings.NewReplacer("this issue", "this pull request", "he issue", "he pull request").Replace(text)
	}
	return text
}

// issueSentence words a record about an issue.
func issueSentence(f lifecycle.Facts, r claim.Record) string {
	who := whose(r.Worker)
	own, _ := f.Log.Find(r.Worker)
	person := own.Person
	if r.Kind == claim.KindClaim {
		person = r.Person
	}

	if person != "" {
		who = "**" + harmless(person) + "**" // no mention: nobody is called by what they did themselves
	}

	switch r.Kind {
	case claim.KindClaim:
		switch {
		case !r.Held:
			return who + " asks for this issue."
		case r.Person != "" && r.TTL > 0:
			return who + personsTerm(f, r)
		case r.Person != "":
			return who + " holds this issue until they release it."
		}

		limit := ""
		if r.TTL == claim.NoExpiry {
			limit = ", without time limit"
		} else if r.TTL > 0 {
			limit = fmt.Sprintf("; the hold ends %s after its last sign of life", printable.Exact(r.TTL))
		}

		return who + " is working on this issue" + limit + by(r) + because(r) + "."

	case claim.KindRelease:
		completed := !f.Open && f.StateReason == "completed"
		if completed && r.Outcome == claim.OutcomeSuccess && r.PR == "" && r.By == "" {
			return who + " finished the issue, which is closed as completed" + because(r) + "."
		}
		if r.Worker.Codename == byHand && r.Outcome == claim.OutcomeAdvanced {
			return "The issue " + ending(r) + by(r) + "."
		}

		return who + " " + ending(r) + because(r) + "." + named(r)
	case claim.KindRevoke:
		return who + " was asked to stop" + by(r) + because(r) + "."
	case claim.KindApprove:
		return "The plan of " + who + " may go ahead" + by(r) + "."
	case claim.KindReject:
		return "The plan of " + who + " was turned down" + by(r) + because(r) + "; the issue is free again."
	case claim.KindUnlink:
		return "The pull request of " + who + " no longer closes this issue."
	case claim.KindReset:
		if r.Restart {
			return "The issue starts again" + by(r) + because(r) + ". Nothing that was recorded before keeps it from being taken."
		}
		return "Failed attempts and waits are reset" + by(r) + "."
	}

	return who + " " + string(r.Kind) + by(r) + "."
}

// whose names a worker, in bold and without a mention. Its run stands in the record.
func whose(w claim.Worker) string { return "**" + harmless(w.Codename) + "**" }

// ending says how the hold of a release ended: the clause behind its worker.
func ending(r claim.Record) string {
	if w, ok := claim.Yielded(r.Outcome); ok {
		return fmt.Sprintf("came second and leaves the issue to **%s**", harmless(w.Codename))
	}

	switch r.Outcome {
	case claim.OutcomeAdvanced:
		return "moved on to stage `" + harmless(r.Stage) + "`"
	case claim.OutcomeStaleSwept:
		return "has not been heard from; the issue is free again"
	case claim.OutcomeAbandoned:
		return "gave up before the claim was confirmed"
	case claim.OutcomeBundleRolledBack:
		return "released the issue: not all of its bundle could be taken"
	case claim.OutcomeForced:
		return "lost the issue by force" + by(r)
	case claim.OutcomePlanTimeout:
		return "waited too long for an answer to the plan"
	case claim.OutcomeFailure:
		return "failed at the issue and released it"
	case "", claim.OutcomeCancelled:
		return "released the issue"
	}

	return "released the issue: " + strings.ReplaceAll(harmless(r.Outcome), "-", " ")
}

// because is the reason or the note that a record gives, as the clause behind what happened.
func because(r claim.Record) string {
	if r.Reason == "" {
		return ""
	}
	return ": " + printable.Code(r.Reason, quotedLimit)
}

// named links the pull request that a record names, if its address can be nothing but one.
func named(r claim.Record) string {
	address, err := url.Parse(r.PR)
	if r.PR == "" || err != nil || address.Scheme != "https" || harmless(r.PR) != r.PR || address.Host == "" {
		return ""
	}
	return " Pull request: " + r.PR
}

// by says in brackets who decided what the record says. Who wrote it because of a rule, as a sweep
// does, stands in the record alone.
func by(r claim.Record) string {
	if r.By == "" {
		return ""
	}
	return " (by **" + harmless(r.By) + "**)"
}

// harmless keeps what Worker.Validate allows, and replaces all else: nothing left can be markup or
// a mention.
func harmless(name string) string {
	return strings.Map(func(r rune) rune {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if letter || strings.ContainsRune("._/-:[]", r) {
			return r
		}
		return '?'
	}, name)
}
