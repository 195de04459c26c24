// Package githubwork is the work source on GitHub: open issues with the available label, judged by
// the one predicate, claimed and ended through the ledger.
package githubwork

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/work"
)

// Type is the source's name among work.Openers, and how its ids begin.
const Type = "github"

// Options are what one agent's source needs besides a client and a ledger.
type Options struct {
	Repo   claim.Repo
	Worker claim.Worker  // an empty firing id is made up for every claim
	TTL    time.Duration // 0 is the repository's default

	Queues  []string // labels that put an issue into the queue; none is the repository's
	Exclude []string // labels, besides the repository's, that keep an issue from this agent
	// Contributor says that the login is one, who is shown what it may take by a comment. It has no
	// worker.
	Contributor bool
	Limit       string // why a contributor may take nothing more now; empty for nothing
	// KeepFailed puts the label for "needs a person" on what failed, instead of queueing it again.
	KeepFailed bool
	// Shown says that what is found free is shown and not claimed: a lease store is asked about
	// each, as a claim asks it.
	Shown bool
	// Take claims by the snapshot that the issue was judged by, if there is one; nil is the
	// ledger's Claim, with late labels told to Warn.
	Take func(context.Context, claim.Issue, ledger.Request) (ledger.Hold, error)
	// Recall finds the hold of an earlier process: its worker and its fencing token; nil knows
	// none.
	Recall func(claim.Issue) (h ledger.Hold, found bool)
	// Won is told of each hold that was claimed, and Ended of whose hold was ended; nil drops it.
	Won   func(ledger.Hold)
	Ended func(claim.Issue, claim.Worker)
	// Warn is told what does not change an answer; nil drops it.
	Warn func(error)
	// Wait lets time pass before a comment is repeated whose answer got lost; nil repeats it at
	// once.
	Wait func(context.Context, time.Duration) error
}

// A Source is one agent's view of one repository.
type Source struct {
	client *github.Client
	ledger *ledger.Ledger
	o      Options

	mu    sync.Mutex
	holds map[int]ledger.Hold // by issue number: taken by this process
	free  map[int]judgement   // by issue number: what was found free
	// by issue number, since the last first page: why it was passed over, empty if it was found
	// free
	queue map[int]lifecycle.Code
	limit string   // what kept the agent from all of them; empty for nothing
	rare  []string // labels asked for by the last search that no issue of the queue has
}

var _ work.Source = (*Source)(nil)

// New returns a source. It asks nothing.
func New(c *github.Client, l *ledger.Ledger, o Options) *Source {
	s := &Source{
		client: c,
		ledger: l,
		o:      o,
		holds:  map[int]ledger.Hold{},
		free:   map[int]judgement{},
	}

	if len(s.o.Queues) == 0 {
		s.o.Queues = s.scheme().Queues()
	}

	if s.o.Warn == nil {
		s.o.Warn = func(error) {}
	}

	if s.o.Wait == nil {
		s.o.Wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	}

	if s.o.Won == nil {
		s.o.Won = func(ledger.Hold) {}
	}

	if s.o.Ended == nil {
		s.o.Ended = func(claim.Issue, claim.Worker) {}
	}

	if s.o.Recall == nil {
		s.o.Recall = func(claim.Issue) (ledger.Hold, bool) { return ledger.Hold{}, false }
	}

	if s.o.Take == nil {
		s.o.Take = func(ctx context.Context, i claim.Issue, req ledger.Request) (ledger.Hold, error) {
			h, err := l.Claim(ctx, i, req)
			return h, s.late(err)
		}
	}

	return s
}

func (s *Source) scheme() labels.Scheme { return s.ledger.Rules().Scheme }

// issue reads an id.
func (s *Source) issue(id string) (claim.Issue, error) {
	n, err := work.ParseID(Type, id)
	return s.issueOf(int(n)), err
}

func (s *Source) issueOf(number int) claim.Issue {
	return s.o.Repo.Issue(number)
}

// Fetch lists the queue, and with IncludeClaimed what is being worked on. A candidate is read
// before it is shown: the label alone says nothing. A worker or a lease that no claim may have is
// an answer.Usage.
func (s *Source) Fetch(ctx context.Context, o work.FetchOptions) (work.Page, error) {
	if err := o.Check(); err != nil {
		return work.Page{}, err
	}

	if s.o.Worker.Codename != "" { // what no claim may say is no reason to pass over an issue
		err := s.ledger.MayClaim(claim.Issue{}, ledger.Request{Worker: s.o.Worker, TTL: s.o.TTL})
		if err != nil {
			return work.Page{}, err
		}
	}

	queues := slices.Clone(s.o.Queues)
	if o.IncludeClaimed {
		queues = append(queues, s.scheme().Claimed)
	}

	var found []github.Issue
	for _, label := range queues {
		some, err := s.client.OpenIssues(ctx, s.o.Repo, label)
		if err != nil {
			return work.Page{}, refusal("", err)
		}
		found = append(found, some...)
	}

	s.mu.Lock()
	// what an earlier search passed over is forgotten; a cursor may come from an earlier run
	if o.Cursor == "" || s.queue == nil {
		s.queue = map[int]lifecycle.Code{}
	}

	s.rare = slices.DeleteFunc(slices.Clone(o.Labels), func(l string) bool {
		return slices.ContainsFunc(found, func(i github.Issue) bool { return labels.Has(i.Labels, l) })
	})
	s.mu.Unlock()
	excluding := slices.Concat(s.ledger.Rules().Exclude, s.o.Exclude) // what has one of these labels need not be read
	candidates := make([]work.Item, 0, len(found))
	seen := map[int]bool{}
	for _, i := range found {
		switch {
		case seen[i.Number]:
		case slices.ContainsFunc(excluding, func(x string) bool { return labels.Has(i.Labels, x) }):
			s.pass(i.Number, lifecycle.CodeExcluded)
		case !o.Wants(s.item(i)):
			s.pass(i.Number, NotWanted)
		default:
			candidates = append(candidates, s.item(i))
		}

		seen[i.Number] = true
	}

	load, err := s.ledger.Load(ctx, s.o.Repo)
	if err != nil {
		return work.Page{}, refusal("", err)
	}

	j := judge{Source: s, claimed: o.IncludeClaimed, load: load}
	page, err := work.Select(ctx, candidates, o, j.judge)
	if err == nil && len(page.Items) == 0 && j.unread != nil {
		return work.Page{}, refusal("", j.unread)
	}

	return page, err
}

func (s *Source) item(i github.Issue) work.Item {
	state := "closed"
	if i.Open {
		state = "open"
	}

	return work.Item{
		ID:          work.ID(Type, int64(i.Number)),
		Issue:       s.issueOf(i.Number).String(),
		Source:      Type,
		ExternalID:  fmt.Sprint(i.Number),
		Title:       i.Title,
		Description: i.Body,
		Priority:    work.DefaultWords().Of(i.Labels),
		Labels:      i.Labels,
		Claimed:     labels.Has(i.Labels, s.scheme().Claimed),
		URL:         i.URL,
		Metadata: work.Metadata{
			State:     state,
			Assignees: i.Assignees,
			Milestone: i.Milestone,
			Author:    i.Author,
		},
		Created:  i.Created,
		Updated:  i.Updated,
		Blockers: []string{},
	}
}

// A judge reads candidates in batches and asks the one predicate (spec.md#the-verdict).
type judge struct {
	*Source
	claimed bool
	load    lifecycle.Load
	unread  error // why an issue could not be read: with nothing else to show that is no "no work"
}

func (j *judge) judge(ctx context.Context, candidates []work.Item) ([]work.Item, error) {
	issues := make([]claim.Issue, len(candidates))
	for n, i := range candidates {
		issues[n] = j.issueOf(i.Number())
	}

	taken := j.ledger.Now()
	all := j.client.FactsOf(ctx, issues)

	var out []work.Item
	for n, r := range j.asStored(ctx, all) {
		if _, away := errors.AsType[*lease.Error](r.Err); away && !answer.Is(r.Err, answer.Unread) { // for all of them
			return nil, refusal("", r.Err)
		}
		if r.Err != nil {
			j.unread = r.Err
			j.o.Warn(r.Err)
			continue
		}

		i, f := candidates[n], r.Facts
		v := j.verdict(f)
		i.Claimed = v.Has(lifecycle.CodeInFlight) || v.Has(lifecycle.CodeOwn)
		for _, b := range f.Blockers {
			if b.Open {
				i.Blockers = append(i.Blockers, b.Issue.String())
			}
		}

		i.Tried = tried(f)
		switch until := j.ledger.Rules().UnprovenUntil(f, j.o.Worker.Codename); {
		case v.Answer == lifecycle.Free && until.After(f.Now):
			j.pass(f.Issue.Number, unproven)
		case v.Answer == lifecycle.Free:
			j.offer(i, ledger.Snapshot{Facts: all[n].Facts, Taken: taken})
			out = append(out, i)

		case v.Answer == lifecycle.Held:
			j.pass(f.Issue.Number, v.Reasons[0].Code)
			if j.claimed && i.Claimed {
				out = append(out, i)
			}
		default:
			j.unread = fmt.Errorf("read %s: %s", f.Issue, v)
			j.o.Warn(j.unread)
		}
	}

	return out, nil
}

// verdict is the predicate's answer.
func (j *judge) verdict(f lifecycle.Facts) lifecycle.Verdict {
	return j.ledger.Rules().Verdict(f, lifecycle.Seeker{Worker: j.o.Worker, Contributor: j.o.Contributor})
}

// asStored are the snapshots with what else the predicate goes by. Where a lease store decides, it
// is asked about each that is shown as free, and about those that the log calls held.
func (j *judge) asStored(ctx context.Context, all []lifecycle.Snapshot) []lifecycle.Snapshot {
	out := slices.Clone(all)
	var asked []*lifecycle.Snapshot
	for n, r := range all {
		if r.Err != nil {
			continue
		}

		f := j.ledger.Here(r.Facts)
		by := lifecycle.Asker{Login: f.Viewer, Codename: j.o.Worker.Codename}
		f.Limit = cmp.Or(j.o.Limit, j.ledger.Rules().Limit(j.load, f, by))
		j.noteLimit(f.Limit)
		if out[n].Facts = f; len(f.Log.Live()) > 0 || j.o.Shown && j.verdict(f).Answer == lifecycle.Free {
			asked = append(asked, &out[n])
		}
	}

	j.ledger.RuledAll(ctx, asked)
	return out
}

// offer notes that an issue was found free.
func (s *Source) offer(i work.Item, by ledger.Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free[by.Facts.Issue.Number] = judgement{i, by}
	s.queue[by.Facts.Issue.Number] = ""
}

// tried are the earlier attempts at an issue, the newest first.
func tried(f lifecycle.Facts) []work.Attempt {
	var out []work.Attempt
	for _, one := range f.Tried() {
		out = append(out, work.Attempt{
			By:          cmp.Or(one.Person, one.Worker.Codename),
			Outcome:     one.Outcome,
			Reason:      one.Reason,
			Branch:      one.Branch,
			PullRequest: one.PR,
			Ended:       one.At,
		})
	}

	return out
}

// A judgement is an item that was found free, and the snapshot that says so.
type judgement struct {
	item     work.Item
	snapshot ledger.Snapshot
}

// Get reads one issue, whatever its state; a pull request is not found.
func (s *Source) Get(ctx context.Context, id string) (work.Item, error) {
	i, err := s.read(ctx, id)
	if err != nil {
		return work.Item{}, err
	}
	return s.item(i), nil
}

func (s *Source) read(ctx context.Context, id string) (github.Issue, error) {
	issue, err := s.issue(id)
	if err != nil {
		return github.Issue{}, err
	}

	i, err := s.client.Issue(ctx, issue)
	if err != nil {
		return github.Issue{}, refusal(id, err)
	}
	if i.PullRequest {
		return github.Issue{}, work.Refused(id, work.NotFound, "%s is a pull request, which is never work", issue)
	}

	return i, nil
}
