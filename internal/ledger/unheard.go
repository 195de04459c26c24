package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// unheard returns why a claim is no hold although it won: its labels were refused because its login may
// not label the repository, so nobody else counts its record (PRODUCT ruling 7). nil means that it
// is one. A strict store decides without any record.
func (a *attempt) unheard(late error) error {
	var labels *LabelsError
	var refused interface {
		error
		Forbidden() bool
	}
	known := slices.ContainsFunc(a.set.Trusted, func(login string) bool { return strings.EqualFold(login, a.facts.Viewer) })
	if a.store != nil || known || !errors.As(late, &labels) || !errors.As(labels.Err, &refused) || !refused.Forbidden() {
		return nil
	}
	return &UnknownError{a.issue, fmt.Errorf("this login may not label %s, so others do not count its claims: %w", a.issue.Slug(), refused)}
}
