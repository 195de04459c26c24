package github

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

const (
	perQuery     = 50  // issues in one query
	perPage      = 100 // items on a page of a list; GitHub gives no more
	lastComments = 100 // of an issue, in a query for few
	rereads      = 3   // of an issue whose comments do not add up
)

// Facts reads everything the rules look at for one issue: one request. An error means unknown,
// never free (ledger.Forge).
func (c *Client) Facts(ctx context.Context, i claim.Issue) (lifecycle.Facts, error) {
	r := c.FactsOf(ctx, []claim.Issue{i})[0]
	return r.Facts, r.Err
}

// FactsOf reads many issues, of any repositories, fifty a request. The snapshots are in the order
// of the issues; Facts.Issue is set in every one, also beside an error.
func (c *Client) FactsOf(ctx context.Context, issues []claim.Issue) []lifecycle.Snapshot {
	return c.readIssues(ctx, issues, everyRecord)
}

// HoldersOf is FactsOf for a caller that only wants to know who holds the issues, and which pull
// requests are open for them. Roles are asked only of authors whose records can change that:
// records that tell of the past alone may be missing from the logs. An author of whom nobody could
// be asked in time is in Facts.Doubts and not in the log; that is not an error. Where that is
// because GitHub does not tell roles, the snapshot has a guess.
func (c *Client) HoldersOf(ctx context.Context, issues []claim.Issue) []lifecycle.Snapshot {
	return c.readIssues(ctx, issues, standingClaims)
}

func (c *Client) readIssues(ctx context.Context, issues []claim.Issue, want scope) []lifecycle.Snapshot {
	out := make([]lifecycle.Snapshot, 0, len(issues))
	for part := range slices.Chunk(issues, perQuery) {
		snapshots, _ := c.readBatch(ctx, part, want) // each has its own error
		for _, one := range snapshots {
			out = append(out, one.public())
		}
	}

	return out
}

// A snapshot is an issue while it is being read.
type snapshot struct {
	facts    lifecycle.Facts
	comments []comment
	talk     []claim.Comment           // ordinary comments: who wrote them and when
	more     *connection[queryComment] // the page read first, when it is not all there is
	closers  *connection[queryPull]    // likewise, of the pull requests that close it
	page     int                       // comments, and pull requests, of which one page was not too much; 0 is all
	told     map[pullID]told           // of its pull requests, by the one spelling of their names
	read     bool                      // everything but what judgeRecords adds
	guess    *claim.State              // Snapshot.Guess
	err      error
}

func (r *snapshot) public() lifecycle.Snapshot {
	if r.err != nil {
		i := r.facts.Issue
		return lifecycle.Snapshot{
			Facts: lifecycle.Facts{Issue: i},
			Err:   &claim.IssueError{Doing: "read", Issue: i, Err: r.err},
		}
	}
	return lifecycle.Snapshot{Facts: r.facts, Guess: r.guess}
}

// readBatch reads up to fifty issues. The error is why it stopped; it is also that of every issue
// that was not read by then.
func (c *Client) readBatch(ctx context.Context, issues []claim.Issue, want scope) ([]*snapshot, error) {
	snapshots := make([]*snapshot, len(issues))
	var askable []*snapshot
	for k, i := range issues {
		snapshots[k] = &snapshot{facts: lifecycle.Facts{Issue: i}, err: nameable(i)}
		if snapshots[k].err == nil {
			askable = append(askable, snapshots[k])
		}
	}

	if len(askable) == 0 {
		return snapshots, nil
	}

	var err error
	one, begun := takeBegun(c, func(one *snapshot) bool {
		return one.read && len(askable) == 1 && one.facts.Issue.Same(askable[0].facts.Issue)
	})
	if begun {
		*askable[0] = *one
	} else {
		err = c.askAll(ctx, askable)
	}

	return snapshots, c.finish(ctx, askable, err, want)
}

// finish completes snapshots, unless an error has ended the reading already, and judges those that
// are whole. The others get the error that left them unread; it is returned.
func (c *Client) finish(ctx context.Context, snapshots []*snapshot, err error, want scope) error {
	if err == nil {
		err = c.completeFacts(ctx, snapshots)
	}

	var whole []*snapshot
	for _, r := range snapshots {
		switch {
		case r.read:
			whole = append(whole, r)
		case r.err == nil:
			r.err = err
		}
	}

	c.judgeRecords(ctx, whole, want)
	return err
}

// nameable refuses what cannot be an issue before it spoils a query for others.
func nameable(i claim.Issue) error {
	return onIssue(i, "").err
}

// judgeRecords turns comments into logs, adds the pull requests that only the logs name and puts
// everything in order.
func (c *Client) judgeRecords(ctx context.Context, snapshots []*snapshot, want scope) {
	if len(snapshots) == 0 {
		return
	}
	viewer, err := c.self(ctx)
	for _, r := range snapshots {
		r.facts.Viewer = viewer
		r.err = cmp.Or(r.err, err)
		var records []comment // without ordinary talk, of which only who spoke when tells something
		r.talk = nil

		for _, m := range r.comments {
			_, counts, err := claim.Decode(m.Body)
			_, tells := claim.DecodeNotice(m.Body)
			if m.record = counts || tells; m.record || err != nil {
				records = append(records, m)
			} else {
				r.talk = append(r.talk, claim.Comment{
					ID:      m.ID,
					Created: m.Created,
					Updated: m.Created,
					Author:  m.Author,
				})
			}
		}

		if r.err == nil {
			r.comments = records
		}
	}

	judged := c.judgeAuthors(ctx, snapshots, want)
	if err := c.uncover(ctx, snapshots, judged); err != nil {
		for _, r := range snapshots {
			r.doubt(err, want)
		}
	}

	for _, r := range snapshots {
		if r.err == nil {
			r.err = r.replay(judged, want)
		}
	}

	c.addRecorded(ctx, snapshots)
	c.dropExcessive(ctx, snapshots, want)
	c.addSiblings(ctx, snapshots)
	c.addNamedBlockers(ctx, snapshots)

	for _, r := range snapshots {
		// times only where they mean something, and everything in one order
		f := &r.facts
		if !f.Open {
			f.ReopenedAt = time.Time{}
		}

		if !labels.Has(f.Labels, c.o.Scheme.Claimed) {
			f.ClaimedAt = time.Time{}
		}

		if !labels.Has(f.Labels, c.o.Scheme.Blocked) {
			f.BlockedAt = time.Time{}
		}

		slices.SortFunc(f.Labels, func(a, b string) int {
			return strings.Compare(strings.ToLower(a), strings.ToLower(b))
		})
		slices.SortFunc(f.PRs, func(a, b lifecycle.PR) int { return pullOf(a).Compare(pullOf(b)) })
		*f = f.Lived()
		if r.guess != nil {
			guessed := *f
			guessed.Log = *r.guess
			*r.guess = guessed.Lived().Log
		}

		slices.SortFunc(f.Blockers, func(a, b lifecycle.Blocker) int { return a.Issue.Compare(b.Issue) })
	}
}

// askAll reads issues by as few queries as GitHub bears.
func (c *Client) askAll(ctx context.Context, snapshots []*snapshot) error {
	h := halves[*snapshot]{ask: c.askFacts, alone: c.askPages}
	err := h.read(ctx, snapshots, c.bearable("", perQuery))
	if h.halved && !h.heavy { // an issue that is too much by itself says nothing about the others
		c.measures.note("", measure{max(1, h.answered), c.o.Clock.Now()})
	}

	return err
}

// wholeRequest reports whether an error concerns everything that was asked, not one issue.
func wholeRequest(err error) bool {
	if lost, is := errors.AsType[*NetworkError](err); is && !tooMuch(lost) {
		return true
	}
	return is[*RateLimitError](err) || is[*AuthError](err) || is[*NoGraphQLError](err) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// completeAll reads what does not fit on the first page of an issue: older comments, and more pull
// requests that close it. An issue whose pages cannot be read is unreadable, and the others go on.
// After an error those that it did not come to are unread.
func (c *Client) completeAll(ctx context.Context, snapshots []*snapshot) error {
	var long []*snapshot
	for _, r := range snapshots {
		if r.err == nil && (r.more != nil || r.closers != nil) {
			long, r.read = append(long, r), false
		}
	}

	lost := 0
	for _, r := range long {
		r.err = c.completeIssue(ctx, r)
		r.read = r.err == nil
		switch {
		case wholeRequest(r.err):
			return r.err
		case tooMuch(r.err):
			lost++
		default:
			lost = 0
		}

		if lost == maxLost {
			return r.err
		}
	}

	return nil
}

// issueNode is the global id of an issue that was read before.
func (c *Client) issueNode(i claim.Issue) (id string, known bool) {
	return c.nodes.get(key(i.String()))
}
