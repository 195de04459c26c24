package action_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/printable"
)

// TestNothingForged puts the worst text people can write where the Action repeats it, and looks at
// everything that it leaves behind.
func TestNothingForged(t *testing.T) {
	const evil = "x\n::set-output name=swept::9\n##[error]owned | <img src=x> @everyone `a` \x1b[31m\nEOF\nlabel-state-"
	const worker = "<!--agent-claim:@everyone|<b>::error::`x`##[error]"
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		n, err := w.server.AddIssue(app, "stranger", evil, evil, "agent:implement")
		w.must(err)
		body, err := claim.Encode(claim.Record{
			Kind:   claim.KindClaim,
			Worker: claim.Worker{Codename: worker, FiringID: "f1"},
		})
		w.must(err)
		_, err = w.server.AddComment(app, n, "agents", body)
		w.must(err)
		pull, err := w.server.OpenPull(app, "olga",
			githubsim.Pull{Title: evil, Body: "Closes #1\n" + evil, Head: "mine"})
		w.must(err)
		time.Sleep(2 * time.Second)
		steps := []step{w.deliver(tokActions, w.last("pull_request", "opened", ""))}
		w.said(steps[0], 1, "held by", "refused<<")
		w.ownComments(pull) // which the sweep takes away
		time.Sleep(5 * time.Hour)
		steps = append(steps, w.sweep())
		w.said(steps[1], 0, "1 released")
		_, err = w.server.AddComment(app, n, "tia", "/reject "+strings.ReplaceAll(evil, "\n", " "))
		w.must(err)
		steps = append(steps, w.deliver(tokActions, w.last("issue_comment", "created", "/reject")))
		for _, s := range steps {
			w.harmless(s)
		}

		w.ownComments(n)
	})
}

func (w *world) harmless(s step) {
	w.Helper()
	for line := range strings.Lines(s.log) {
		ours := strings.HasPrefix(line, "::error::acme/app#") || strings.HasPrefix(line, "::group::1 ") ||
			strings.HasPrefix(line, "::endgroup::")
		if strings.HasPrefix(strings.TrimSpace(line), "::") && !ours || strings.Contains(line, "##[") {
			w.Errorf("forged command in the log: %q", line)
		}
	}

	for _, bad := range []string{"<img", "<b>", "@everyone", "`a`", "`x`"} {
		if strings.Contains(s.summary, bad) {
			w.Errorf("%q got through:\n%s", bad, s.summary)
		}
	}

	if strings.Contains(s.all(), "\x1b") || strings.Count(s.output, "\nswept<<") != 1 ||
		strings.Contains(s.output, "\nEOF\n") {
		w.Errorf("outputs:\n%s", s.output)
	}
}

// ownComments looks at what the Action wrote: a record of the ledger's, or no record at all.
func (w *world) ownComments(number int) {
	w.Helper()
	all, err := w.server.Comments(app, number)
	w.must(err)
	own := 0
	for _, c := range all {
		if c.Author != "github-actions[bot]" {
			continue
		}
		own++
		r, record, err := claim.Decode(c.Body)
		_, said, _ := strings.Cut(strings.TrimSuffix(c.Body, printable.Footer), "-->")
		if err != nil || record && (r.Kind != claim.KindRelease || r.By == "") || strings.ContainsAny(said, "<>") ||
			strings.Contains(said, "@e") {
			w.Errorf("comment on #%d: %q", number, c.Body)
		}
	}

	if own == 0 {
		w.Errorf("nothing was written on #%d", number)
	}
}
