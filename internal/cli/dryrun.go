package cli

import (
	"errors"
	"fmt"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
)

// Would is the answer of a dry run: what would have been done.
func (c *Call) Would(i claim.Issue, format string, args ...any) error {
	return c.Answer(answer.Answer{Issue: i.String(), Answer: answer.DryRun}, "would "+fmt.Sprintf(format, args...)+"\n")
}

// WouldClaim is the answer of a dry run that would have claimed an issue for w, whom the text calls
// by that name: free, unless a hold would end for it. Any other error is returned.
func (c *Call) WouldClaim(err error, w claim.Worker, name string) error {
	var would *ledger.Unsent
	if !errors.As(err, &would) {
		return err
	}

	f := would.Facts
	is, text := answer.DryRun, fmt.Sprintf("would claim %s %s for %s", f.Issue, OneLine(f.Title), name)
	holder, held := f.Log.Holder()
	switch {
	case !held || holder.Expired(c.Rules().Terms, f.Now):
		is = answer.Free
	case holder.Record.Worker == w:
		text = fmt.Sprintf("would take over %s %s for %s from another process of its run", f.Issue, OneLine(f.Title), w)
	default:
		text += ", ending the current hold"
	}

	return c.Answer(answer.Answer{Issue: f.Issue.String(), Answer: is}, text+"\n")
}
