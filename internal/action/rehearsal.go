package action

import (
	"context"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
)

// rehearsed is the place with a ledger and a hub that write nothing: whoever would, gets a
// *ledger.Unsent.
func (p Place) rehearsed() Place {
	p.Ledger, p.Hub = p.Ledger.Rehearsed(), unsentHub{p.Hub}
	return p
}

// An unsentHub only reads.
type unsentHub struct{ Hub }

func (unsentHub) Comment(context.Context, claim.Issue, string) (claim.Comment, error) {
	return claim.Comment{}, &ledger.Unsent{}
}

func (unsentHub) EditComment(context.Context, claim.Issue, int64, string) (claim.Comment, error) {
	return claim.Comment{}, &ledger.Unsent{}
}

func (unsentHub) DeleteComment(context.Context, claim.Issue, int64) error { return &ledger.Unsent{} }

func (unsentHub) React(context.Context, claim.Repo, int64, string) error { return &ledger.Unsent{} }

func (unsentHub) CreateLabel(context.Context, claim.Repo, labels.Definition) error {
	return &ledger.Unsent{}
}

func (unsentHub) AddLabel(context.Context, claim.Issue, string) error { return &ledger.Unsent{} }

func (unsentHub) RemoveLabel(context.Context, claim.Issue, string) error { return &ledger.Unsent{} }
