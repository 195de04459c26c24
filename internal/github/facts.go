package github

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/prchain"
)

// A snapshot is one issue's facts, or why they could not be read.
type Snapshot struct {
	Facts lifecycle.Facts
	Err   error
}

const (
	perQuery     = 50  // issues in one query
	perPage      = 100 // items on a page of a list; GitHub gives no more
	lastComments = 100 // of an issue, in a query for few
	rereads      = 3   // of an issue whose comments do not add up
)

// snapshots reads issues with everything that the rules look at.
type snapshots struct {
	api          *api
	viewer       *viewer
	repositories *repositories
	roles        *roles
	definitions  *definitions
	pauses       *pauses
	pulls        *pulls
	blockers     *blockers
	outsiders    *outsiders
	tips         *tips
	beginnings   *beginnings
	threads      *threads
	edits        *edits
	linkedPulls  *linkedPulls
	scheme       labels.Scheme
	web          string // where people look
	stageLocks   bool   // read them as claims
	dose         *dose  // issues in one query

	mu    sync.Mutex
	nodes map[string]string // global ids of issues, lower case
}

// Facts reads everything the rules look at for one issue: one request where there is GraphQL. An
// error means unknown, never free (ledger.Forge).
func (sn *snapshots) Facts(ctx context.Context, i claim.Issue) (lifecycle.Facts, error) {
	r := sn.FactsOf(ctx, []claim.Issue{i})[0]
	return r.Facts, r.Err
}

// FactsOf reads many issues, of any repositories, fifty a request. The snapshots are in the order
// of the issues; Facts.Issue is set in every one, also beside an error.
func (sn *snapshots) FactsOf(ctx context.Context, issues []claim.Issue) []Snapshot {
	return sn.read(ctx, issues, everyRecord)
}

// HoldersOf is FactsOf for who only wants to know who holds the issues, and which pull requests are open for them. Roles
// are asked only of authors whose records can change that: records that tell of the past alone may be missing from the
// logs. An author of whom nobody could be asked in time is in Facts.Doubts and not in the log; that is no error.
func (sn *snapshots) HoldersOf(ctx context.Context, issues []claim.Issue) []Snapshot {
	return sn.read(ctx, issues, standingClaims)
}

func (sn *snapshots) read(ctx context.Context, issues []claim.Issue, want scope) []Snapshot {
	out := make([]Snapshot, 0, len(issues))
	for part := range slices.Chunk(issues, perQuery) {
		snapshots, _ := sn.batch(ctx, part, want) // each has its own error
		for k, i := range part {
			one := snapshots[k].public()
			if one.Err != nil {
				one.Err = &claim.IssueError{Doing: "read", Issue: i, Err: one.Err}
			}
			out = append(out, one)
		}
	}
	return out
}

// A snapshot is an issue while it is being read.
type snapshot struct {
	facts    lifecycle.Facts
	body     string
	comments []comment
	more     *connection[queryComment] // the page read first, when it is not all there is
	bodies   map[string]string         // descriptions of its pull requests, by their names in lower case

	associations map[string]string // of their authors to the pull requests' repositories, likewise

	regions map[string]prchain.Region // what its pull requests say of their chains, by their names in lower case
	read    bool                      // everything but what finish adds
	err     error
}

func (r *snapshot) public() Snapshot {
	if r.err != nil {
		return Snapshot{Facts: lifecycle.Facts{Issue: r.facts.Issue}, Err: r.err}
	}
	return Snapshot{Facts: r.facts}
}

// batch reads up to fifty issues. The error is why it stopped; it is also that of every issue that was not read by then.
func (sn *snapshots) batch(ctx context.Context, issues []claim.Issue, want scope) ([]*snapshot, error) {
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
	var begun *beginning
	if len(askable) == 1 {
		begun = sn.beginnings.takeBegun(func(b *beginning) bool { return b.facts != nil && b.facts.facts.Issue == askable[0].facts.Issue })
	}
	var err error
	if begun != nil {
		*askable[0] = *begun.facts
		err = sn.completeFacts(ctx, askable)
	} else {
		err = sn.api.eitherWay(
			func() error {
				if err := bend(ctx, sn.dose, askable, sn.askFacts, sn.restSession().alone); err != nil {
					return err
				}
				return sn.completeFacts(ctx, askable)
			},
			func() error { return oneByOne(ctx, askable, sn.restSession().alone) })
	}
	sn.finish(ctx, readable(askable, err), want)
	return snapshots, err
}

// readable returns the snapshots that can be finished. Those that an error left unread get it.
func readable(snapshots []*snapshot, err error) []*snapshot {
	var out []*snapshot
	for _, r := range snapshots {
		switch {
		case r.read:
			out = append(out, r)
		case r.err == nil:
			r.err = err
		}
	}
	return out
}

// nameable refuses what cannot be an issue before it spoils a query for others.
func nameable(i claim.Issue) error {
	if to := onIssue(i, ""); to.err != nil {
		return to.err
	}
	if i.Number > math.MaxInt32 {
		return &NotFoundError{What: Object{IssueObject, i.String()}, Status: http.StatusNotFound, Message: "not a number GitHub has given out"}
	}
	return nil
}

// finish turns comments into logs, adds the pull requests that only the logs name and puts
// everything in order.
func (sn *snapshots) finish(ctx context.Context, snapshots []*snapshot, want scope) {
	if len(snapshots) == 0 {
		return
	}
	viewer, err := sn.viewer.self(ctx)
	for _, r := range snapshots {
		r.facts.Viewer = viewer
		r.err = cmp.Or(r.err, err)
		var records []comment // without ordinary talk
		for _, m := range r.comments {
			if sn.stageLocks {
				m.Body = claim.FromStageLock(m.Body)
			}
			_, counts, err := claim.Decode(m.Body)
			_, tells := claim.DecodeNotice(m.Body)
			if m.record = counts || tells; m.record || err != nil {
				records = append(records, m)
			}
		}
		if r.err == nil {
			r.comments = records
		}
	}
	judged := sn.judgeAuthors(ctx, snapshots, want)
	if err := sn.edits.uncover(ctx, snapshots, judged); err != nil {
		for _, r := range snapshots {
			r.doubt(err, want)
		}
	}
	for _, r := range snapshots {
		if r.err == nil {
			r.err = r.replay(judged, want)
		}
	}
	sn.linkedPulls.addRecorded(ctx, snapshots)
	sn.outsiders.dropExcessive(ctx, snapshots, want)
	sn.linkedPulls.addSiblings(ctx, snapshots)
	sn.blockers.addNamedBlockers(ctx, snapshots)
	for _, r := range snapshots {
		f := &r.facts // both ways of reading show the same: times only where they mean something, and everything in one order
		if !f.Open {
			f.ReopenedAt = time.Time{}
		}
		if !labels.Has(f.Labels, sn.scheme.Claimed) {
			f.ClaimedAt = time.Time{}
		}
		if !labels.Has(f.Labels, sn.scheme.Blocked) {
			f.BlockedAt = time.Time{}
		}
		slices.SortFunc(f.Labels, func(a, b string) int {
			return cmp.Or(strings.Compare(strings.ToLower(a), strings.ToLower(b)), strings.Compare(a, b))
		})
		slices.SortFunc(f.PRs, func(a, b lifecycle.PR) int {
			return cmp.Or(strings.Compare(strings.ToLower(a.Repo), strings.ToLower(b.Repo)), cmp.Compare(a.Number, b.Number))
		})
		slices.SortFunc(f.Blockers, func(a, b lifecycle.Blocker) int { return a.Issue.Compare(b.Issue) })
	}
}

// wholeRequest reports whether an error concerns everything that was asked, not one issue.
func wholeRequest(err error) bool {
	var lost *NetworkError
	return is[*RateLimitError](err) || is[*AuthError](err) || errors.As(err, &lost) && !lost.slow || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// completeAll reads the older comments of those issues that have more than one page of them. After an error those that it
// did not come to are unread.
func (sn *snapshots) completeAll(ctx context.Context, snapshots []*snapshot) error {
	byREST := sn.restSession()
	var lost losses
	var long []*snapshot
	for _, r := range snapshots {
		if r.err == nil && r.more != nil {
			long, r.read = append(long, r), false
		}
	}
	for _, r := range long {
		err := sn.threads.complete(ctx, r)
		r.err, r.read = err, err == nil
		switch {
		case tooMuch(err):
			err = byREST.alone(ctx, r)
		case !wholeRequest(err):
			err = nil
		}
		if lost.end(err) {
			return err
		}
	}
	return nil
}

// node is the global id of an issue that was read before.
func (sn *snapshots) node(i claim.Issue) (id string, known bool) {
	sn.mu.Lock()
	defer sn.mu.Unlock()
	id, known = sn.nodes[key(i.String())]
	return id, known
}
