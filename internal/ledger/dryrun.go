package ledger

import (
	"errors"

	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// An Unsent is the error of an operation that would have written, from a ledger with
// Settings.DryRun. Whatever else it would have answered is its answer in a dry run as well.
type Unsent struct {
	Facts lifecycle.Facts // by which it was about to write, with what a lease store says; zero for a bundle
}

func (*Unsent) Error() string { return "dry run: nothing was written" }

// IsUnsent reports whether an error says that a dry run has come to a write.
func IsUnsent(err error) bool { return errors.As(err, new(*Unsent)) }

// unsent is the error of an operation that has come to a write and must not send it. Whether a
// record would count is asked as it is before a post.
func (u *underway) unsent() error {
	var err error = &Unsent{u.config().Ruled(u.shown, u.lease)}
	if u.effects.Writes[0].Kind == protocol.WritePost {
		if refused := u.counts(); refused != nil {
			err = &UnknownError{Issue: u.issue, Err: refused}
		}
	}

	return err
}
