package ledger_test

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// A server answers single calls about issues. What it lacks of the calls below is answered as on a
// GitHub where nothing of that kind has happened.
type server interface {
	Facts(ctx context.Context, i claim.Issue) (lifecycle.Facts, error)
	Comment(ctx context.Context, i claim.Issue, body string) (claim.Comment, error)
	EditComment(ctx context.Context, i claim.Issue, id int64, body string) (claim.Comment, error)
	AddLabel(ctx context.Context, i claim.Issue, name string) error
	RemoveLabel(ctx context.Context, i claim.Issue, name string) error
}

type (
	shower interface { // a snapshot that comes with the answer to the last write; nil without one
		Shown(i claim.Issue) *lifecycle.Facts
	}
	eraser interface {
		DeleteComment(ctx context.Context, i claim.Issue, id int64) error
	}
	assigner interface {
		Assign(login string) error
	}
	jury interface {
		Heard(context.Context, claim.Repo) error
	}
	witness interface {
		LastMove(m protocol.LabelMoved) (ledger.Removal, error)
	}
	electors interface {
		Votes() []ledger.Vote
		MayLabel(login string) (bool, error)
	}
)

// served is GitHub as a server of single calls.
type served struct{ server }

// over makes a server what a ledger needs.
func over(s server) ledger.Forge { return &served{s} }

func (s *served) FactsOf(ctx context.Context, issues []claim.Issue) []lifecycle.Snapshot {
	out := make([]lifecycle.Snapshot, len(issues))
	for n, i := range issues {
		if out[n].Err = sent(ctx, i); out[n].Err == nil {
			out[n].Facts, out[n].Err = s.Facts(ctx, i)
		}
	}
	return out
}

// sent is the error of a request for which there is no time left, or about an issue that nobody can
// mean.
func sent(ctx context.Context, i claim.Issue) error {
	if i.Number == 0 {
		return errors.New("no such issue")
	}
	return ctx.Err()
}

func (s *served) Write(ctx context.Context, all []ledger.Batch) []ledger.Written {
	out := make([]ledger.Written, len(all))
	for n, b := range all {
		for _, w := range b.Writes {
			var r protocol.Result
			r.Comment, r.Err = s.write(ctx, b.Issue, w)
			out[n].Results = append(out[n].Results, r)
			if r.Err != nil {
				break
			}
		}

		if shows, able := s.server.(shower); able && b.Read {
			out[n].After = shows.Shown(b.Issue)
		}
	}

	return out
}

func (s *served) write(ctx context.Context, i claim.Issue, w protocol.Write) (c claim.Comment, err error) {
	if err := sent(ctx, i); err != nil {
		return c, err
	}

	switch w.Kind {
	case protocol.WritePost:
		return s.Comment(ctx, i, w.Body)
	case protocol.WriteEdit:
		return s.EditComment(ctx, i, w.Comment, w.Body)
	case protocol.WriteErase:
		if erases, able := s.server.(eraser); able {
			err = erases.DeleteComment(ctx, i, w.Comment)
		}
	case protocol.WriteAssign:
		if assigns, able := s.server.(assigner); able {
			err = assigns.Assign(w.Login)
		}
	case protocol.WriteRelabel:
		for _, name := range w.Labels.Add {
			if err = s.AddLabel(ctx, i, name); err != nil {
				return c, err
			}
		}

		for _, name := range w.Labels.Remove {
			if err = s.RemoveLabel(ctx, i, name); err != nil {
				return c, err
			}
		}
	}

	return c, err
}

func (s *served) Reply(ctx context.Context, i claim.Issue, ask protocol.Ask) (out protocol.Replies) {
	hears, hearing := s.server.(jury)
	saw, seeing := s.server.(witness)
	votes, voting := s.server.(electors)
	switch {
	case ask.Counts && hearing:
		out.Err = hears.Heard(ctx, i.In())
	case ask.Moved != nil && seeing:
		out.Moved, out.Err = saw.LastMove(*ask.Moved)
	case ask.Votes != 0 && voting:
		out.Votes = votes.Votes()
	case ask.May != "" && voting:
		out.May, out.Err = votes.MayLabel(ask.May)
	}

	return out
}

// scan lets the one issue of a server be swept.
type scan struct{ server }

func (s scan) Scan(ctx context.Context, _ claim.Repo, _ time.Time) iter.Seq2[lifecycle.Facts, error] {
	return func(yield func(lifecycle.Facts, error) bool) { yield(s.Facts(ctx, issue)) }
}

func (scan) Pause(context.Context, claim.Repo) (*lifecycle.Pause, error)   { return nil, nil }
func (scan) Minimize(context.Context, []claim.Comment) (done int, _ error) { return 0, nil }
