package prchain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/state"
)

// A Pull is a pull request as it is now.
type Pull struct {
	ID          claim.Issue
	URL         string
	Title, Body string
	State       string // open, closed or merged
	Base        string
	SHA         string // of its newest commit
	Labels      []string
}

// The states of a pull request.
const (
	Open   = "open"
	Closed = "closed" // without a merge
	Merged = "merged"
)

// A Proposal is what it takes to open a pull request.
type Proposal struct{ Title, Body, Branch, Base string }

// NoParent says why nothing can be opened for the issue that a plan names as its parent. Without
// anything else to do about it another one has to be named.
func NoParent(i claim.Issue, why string, next ...answer.Command) error {
	if len(next) == 0 {
		next = append(next, answer.Call("name the issue that the feature is for", answer.TheVerb,
			"--feature", answer.TheObject, "--parent", "OWNER/NAME#NUMBER", "--pr", "OWNER/NAME:BRANCH"))
	}
	return &answer.Problem{Code: answer.Usage, Why: "parent " + i.String() + ": " + why, Next: next}
}

// An opener finds pull requests and opens them.
type opener interface {
	// CheckParent returns an *answer.Problem (NoParent) for an issue that is closed or not there,
	// and for a pull request.
	CheckParent(ctx context.Context, i claim.Issue) error
	DefaultBranch(ctx context.Context, repo string) (string, error)
	// Unopenable says why GitHub would certainly refuse a pull request from branch into base: one
	// of them is missing, or base has each commit of branch. It is empty where nothing speaks
	// against it.
	Unopenable(ctx context.Context, repo, branch, base string) (string, error)
	// PullsFrom lists the pull requests of every state from a branch of the repository itself.
	PullsFrom(ctx context.Context, repo, branch string) ([]Pull, error)
	// OpenPull opens one. Whatever the error, it may be open all the same.
	OpenPull(ctx context.Context, repo string, p Proposal) (Pull, error)
}

// An editor changes pull requests that are there.
type editor interface {
	ReadPull(ctx context.Context, i claim.Issue) (Pull, error)
	EditPullBody(ctx context.Context, i claim.Issue, body string) error
	AddLabel(ctx context.Context, i claim.Issue, name string) error
}

// A Forge is what an Executor needs of GitHub.
type Forge interface {
	opener
	editor
}

// An Executor carries plans out. Label is put on every pull request.
type Executor struct {
	Forge Forge
	Book  Book
	Label string
}

// A Result is what there is after a run, or a look, one Outcome for each part.
type Result struct {
	Plan  Plan
	Parts []Outcome
}

// An Outcome is what became of one part, or in a look how its checks stand.
type Outcome struct {
	Pull    Pull   // the zero value while it is not open yet
	Opened  bool   // by this run
	Changed bool   // its body was brought up to date by this run
	Err     error  // why its body was left alone, or nil
	Colour  Colour // of a look
	Why     string // that colour
}

// Settled reports whether every part is open or merged and every body is up to date.
func (r Result) Settled() bool {
	return !slices.ContainsFunc(r.Parts, func(o Outcome) bool { return o.Err != nil || o.Pull.State == Closed })
}

// ErrNoChain says that nothing is known of a feature here.
var ErrNoChain = errors.New("no chain was begun here")

// Begin carries a plan out, or goes on with it. Errors before anything is done are a wrong call,
// also when another plan has or may have a pull request or a part cannot be opened, that of
// CheckParent, *state.BusyError or *state.UnreadableJournalError; any other left the chain
// unfinished, and the same call goes on.
func (x Executor) Begin(ctx context.Context, p Plan) (Result, error) {
	if err := p.Check(); err != nil {
		return Result{}, err
	}
	return x.holding(ctx, p.Feature, func() (State, error) { return known(x.Book, p) })
}

// Resume goes on with a chain that was begun. Errors are those of Begin, and ErrNoChain.
func (x Executor) Resume(ctx context.Context, feature string) (Result, error) {
	if err := CheckFeature(feature); err != nil {
		return Result{}, err
	}
	return x.holding(ctx, feature, func() (State, error) { return Load(x.Book, feature) })
}

// holding goes on from a state while no other process works on the feature: it opens what is not
// open, in order, then brings every body up to date.
func (x Executor) holding(ctx context.Context, feature string, state func() (State, error)) (r Result, err error) {
	page, err := x.Book.Open(feature)
	if err != nil {
		return Result{}, err
	}

	defer func() { err = errors.Join(err, page.Close()) }()
	s, err := state()
	if err != nil {
		return Result{}, err
	}
	if err := x.check(ctx, s); err != nil {
		return Result{}, err
	}

	r = Result{Plan: s.Plan, Parts: make([]Outcome, len(s.Parts))}
	for n := range s.Parts {
		opened, err := x.open(ctx, page, s, n)
		if err != nil {
			return r, fmt.Errorf("open part %d of %d, branch %s: %w", n+1, len(s.Parts), s.Plan.Parts[n].Branch, err)
		}
		r.Parts[n].Opened = opened
	}

	var order []int
	for n := range s.Parts {
		if n+1 != s.Plan.Closes {
			order = append(order, n)
		}
	}

	if s.Plan.Closes > 0 { // last, because the event that its edit causes is to find the others up to date
		order = append(order, s.Plan.Closes-1)
	}

	for _, n := range order {
		if err := x.refresh(ctx, s, n, &r.Parts[n]); err != nil {
			return r, fmt.Errorf("refresh part %d of %d: %w", n+1, len(s.Parts), err)
		}
	}

	return r, nil
}

// check looks before anything is opened whether all can be: the parent is open, and each part that
// has no pull request has its branch with commits. Where every part has one the parent may be
// closed: that is what its closing part does.
func (x Executor) check(ctx context.Context, s State) error {
	if !slices.ContainsFunc(s.Parts, func(p Progress) bool { return p.Number == 0 }) {
		return nil
	}
	if err := x.Forge.CheckParent(ctx, s.Plan.Parent); err != nil {
		return err
	}

	for n := range s.Parts {
		if s.Parts[n].Number > 0 {
			continue
		}
		if err := x.checkBranches(ctx, s, n); err != nil {
			return err
		}
	}

	return nil
}

// checkBranches looks for the branches of a part, and notes which one it is for. A branch that was
// deleted since its pull request was merged is not missed.
func (x Executor) checkBranches(ctx context.Context, s State, n int) (err error) {
	p, part := &s.Parts[n], s.Plan.Parts[n]
	if p.Base = cmp.Or(p.Base, part.Base); p.Base == "" {
		if p.Base, err = x.Forge.DefaultBranch(ctx, part.Repo); err != nil {
			return err
		}
	}

	why, err := x.Forge.Unopenable(ctx, part.Repo, part.Branch, p.Base)
	if err != nil || why == "" {
		return err
	}
	if _, ok, err := x.find(ctx, s, n); ok || err != nil {
		return err
	}

	return &answer.Problem{
		Code: answer.Usage,
		Why:  fmt.Sprintf("part %d of %d: %s", n+1, len(s.Parts), why),
		Next: []answer.Command{
			answer.Advice("nothing was opened: push that branch with its commits, or correct its name, and repeat the command"),
		},
	}
}

// open makes sure that a part has its pull request: the one it is known to have, the one that its
// branch has, or a new one. The intent is on the page before anything is asked.
func (x Executor) open(ctx context.Context, page state.JournalPage[State], s State, n int) (opened bool, err error) {
	p, part := &s.Parts[n], s.Plan.Parts[n]
	if p.Number > 0 {
		return false, nil
	}

	if !p.Intent {
		p.Intent = true
		if err := page.Save(s); err != nil {
			return false, err
		}
	}

	found, ok, err := x.find(ctx, s, n)
	if err != nil {
		return false, err
	}

	if !ok {
		body, err := Replace(part.Body, s.region(n))
		if err != nil {
			return false, err
		}

		found, err = x.Forge.OpenPull(ctx, part.Repo, Proposal{s.Plan.Title(n + 1), body, part.Branch, p.Base})
		// it may be open all the same: the answer was lost, or somebody else was quicker and GitHub
		// refused a second one
		if err != nil {
			there, ok, again := x.find(ctx, s, n)
			if again == nil && !ok && rejected(err) { // nothing is open for it, so that another plan may begin
				p.Intent = false
				err = errors.Join(err, page.Save(s))
			}
			if again != nil || !ok {
				return false, err
			}
			found = there
		}

		opened = true
	}

	p.Number, p.URL = found.ID.Number, found.URL
	err = page.Save(s)
	if err == nil && opened {
		err = x.Forge.AddLabel(ctx, found.ID, x.Label) // refresh looks again
	}

	return opened, err
}

// rejected reports whether the other side has certainly not done what it was asked.
func rejected(err error) bool {
	var e interface{ Rejected() bool }
	return errors.As(err, &e) && e.Rejected()
}

// find looks for the pull request of a part: an open one from its branch, or one of this chain that
// somebody merged or closed since. A merged one counts also where parts before it were left out.
func (x Executor) find(ctx context.Context, s State, n int) (Pull, bool, error) {
	all, err := x.Forge.PullsFrom(ctx, s.Plan.Parts[n].Repo, s.Plan.Parts[n].Branch)
	if err != nil {
		return Pull{}, false, err
	}

	for _, p := range all {
		if p.State == Open && p.Base == s.Parts[n].Base {
			return p, true, nil
		}
	}

	for _, p := range all {
		r, ok, _ := Find(p.Body) // damaged marks are of no chain
		if ok && p.Base == s.Parts[n].Base && r.Feature == s.Plan.Feature && r.Parent.Same(s.Plan.Parent) &&
			(r.Part == n+1 || p.State == Merged) {
			return p, true, nil
		}
	}

	return Pull{}, false, nil
}

// refresh brings the label and the region of a pull request up to date. A body that must be left
// alone is not an error: the outcome says why.
func (x Executor) refresh(ctx context.Context, s State, n int, o *Outcome) error {
	p, err := x.Forge.ReadPull(ctx, s.id(n))
	if err != nil {
		return err
	}

	o.Pull = p
	if p.State == Open && !labels.Has(p.Labels, x.Label) {
		if err := x.Forge.AddLabel(ctx, p.ID, x.Label); err != nil {
			return err
		}
	}

	body, err := Replace(p.Body, s.region(n))
	if err != nil {
		o.Err = err
		return nil
	}
	if body == p.Body {
		return nil
	}
	if err := x.Forge.EditPullBody(ctx, p.ID, body); err != nil {
		return err
	}

	o.Pull.Body, o.Changed = body, true
	return nil
}
