// Package worktree makes, lists and removes the worktrees of a feature: one linked worktree in each
// of several repositories, all of them or none.
//
// The intent is in the journal before the first side effect, so that a run that was killed can be
// undone by the next. Work is never thrown away: a tree with changes and a branch with commits
// that no remote has are kept, whoever asks.
package worktree

import (
	"context"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/state"
)

// A Git runs the git program in a folder and returns what it prints, without the last line break.
// The error is a *git.Error.
type Git func(ctx context.Context, dir string, args ...string) (string, error)

// A Book is where features are kept, a Page a feature that this process holds.
type (
	Book = state.Journal[Feature]
	Page = state.JournalPage[Feature]
)

// Journal is the book in a folder of the user's state.
func Journal(dir string) Book { return state.OpenJournal[Feature](dir) }

// A Feature is work in several repositories with its trees.
type Feature struct {
	Name    string    `json:"name"`
	Agent   string    `json:"agent"`
	Folder  string    `json:"folder"` // where the trees are
	Created time.Time `json:"created"`
	Ready   bool      `json:"ready"` // false: being made, or left by a run that was killed
	Trees   []Tree    `json:"trees"`
}

// A Tree is one linked worktree.
type Tree struct {
	Repo   string `json:"repo"`   // its name in the feature
	Source string `json:"source"` // git directory that it is linked to
	Path   string `json:"path"`
	Branch string `json:"branch"` // without refs/heads/
	Base   string `json:"base"`   // as it was asked for; empty is the default branch
	From   string `json:"from"`   // the commit it was made at
}

// Features are the features whose worktrees this user has, in a journal.
type Features struct {
	git  Git
	book Book
}

// New returns the features in a journal. It touches nothing.
func New(git Git, b Book) *Features { return &Features{git, b} }

// hasTrees is a feature that has trees already, not all of them where a run was killed.
func hasTrees(name string, all bool) error {
	if !all {
		return &answer.Problem{
			Code: answer.Declined,
			Why:  "a run that was making its worktrees was killed",
			Next: []answer.Command{answer.Call("undo what it left", "worktree prune")},
		}
	}

	return &answer.Problem{
		Code: answer.Declined,
		Why:  "it has worktrees already",
		Next: []answer.Command{answer.Call("remove them first", "worktree remove", name)},
	}
}

// Absent is a feature that has no trees.
func Absent() error {
	return &answer.Problem{
		Code: answer.Declined,
		Why:  "no feature of this name has worktrees here",
		Next: []answer.Command{answer.Call("see which have", "worktree list")},
	}
}

// A Kept tree or branch was not removed, because work would be lost or because it is not ours.
type Kept struct {
	Tree
	Why string
}

// A KeptError lists what was kept.
type KeptError struct{ Kept []Kept }

func (e *KeptError) Error() string {
	texts := make([]string, len(e.Kept))
	for n, k := range e.Kept {
		texts[n] = "kept " + k.Path + ": " + k.Why
	}
	return strings.Join(texts, "; ")
}

// Of returns what became of a tree: kept, and why, or removed.
func (e *KeptError) Of(t Tree) (state, why string) {
	for _, k := range e.Kept {
		if k.Tree == t {
			return "kept", k.Why
		}
	}
	return "removed", ""
}

// An UndoneError says that trees could not all be made, and that those that were are gone again,
// but for what KeptError in it lists.
type UndoneError struct {
	Cause error
	Kept  error // nil when everything is as it was
}

func (e *UndoneError) Error() string { return e.Cause.Error() + "; " + e.Aftermath() }

// Aftermath says what became of the trees.
func (e *UndoneError) Aftermath() string {
	if e.Kept != nil {
		return "not everything could be undone: " + e.Kept.Error()
	}
	return "everything was undone"
}

// Unwrap returns why.
func (e *UndoneError) Unwrap() error { return e.Cause }
