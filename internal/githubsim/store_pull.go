package githubsim

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/githubsim/gitrepo"
)

// A proposal is what is needed to open a pull request.
type proposal struct {
	title, body, head, base string
	draft                   bool
	commits                 []string
	files                   map[string]string
	behind                  bool
}

// createPull opens a pull request. head may be owner:branch. Anyone who may read can propose.
func (st *store) createPull(ctx context.Context, who actor, r *repository, p proposal) (*thread, error) {
	if err := who.need(r, roleRead); err != nil {
		return nil, err
	}
	if err := checkText("PullRequest", p.title, p.body); err != nil {
		return nil, err
	}

	from, branch, err := st.headOf(r, p.head)
	if err != nil {
		return nil, err
	}
	if err := st.checkBranches(ctx, r, from, branch, p.base); err != nil {
		return nil, err
	}

	proposed, err := st.newPull(ctx, r, from, branch, p)
	if err != nil {
		return nil, err
	}

	t := st.openThread(r, 0, issue{
		title:   p.title,
		body:    p.body,
		author:  who.account,
		open:    true,
		created: st.moment,
		updated: st.moment,
		pull:    proposed,
	})
	st.emitThread(who, t, "opened", nil)

	return t, nil
}

// newPull is what the proposal of a branch of from is, as git has the branches now.
func (st *store) newPull(ctx context.Context, r, from *repository, branch string, p proposal) (*pull, error) {
	head, err := from.branchTip(ctx, branch)
	if err != nil {
		return nil, err
	}

	base, err := r.branchTip(ctx, p.base)
	if err != nil {
		return nil, err
	}

	return &pull{
		id:       st.nextID("pull"),
		head:     branch,
		headRepo: from,
		headSHA:  head,
		base:     p.base,
		baseSHA:  base,
		draft:    p.draft,
		closes:   closingReferences(p.body),
		commits:  p.commits,
		files:    p.files,
		behind:   p.behind,
	}, nil
}

// branchTip is the newest commit of a branch; a made-up id where there is no git, or no such
// branch.
func (r *repository) branchTip(ctx context.Context, branch string) (string, error) {
	if r.git == nil {
		return fakeSHA(r.fullName(), branch), nil
	}
	oid, found, err := r.git.Ref(ctx, "refs/heads/"+branch)
	if !found {
		oid = fakeSHA(r.fullName(), branch)
	}

	return oid, err
}

// fakeSHA stands in for a commit id in repositories without git.
func fakeSHA(parts ...string) string {
	sum := sha1.Sum([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// headOf splits owner:branch; without an owner the branch is in the repository itself.
func (st *store) headOf(r *repository, head string) (*repository, string, error) {
	owner, branch, crossed := strings.Cut(head, ":")
	switch {
	case head == "":
		return nil, "", invalid("PullRequest", "head", "missing_field")
	case !crossed:
		return r, head, nil
	case strings.EqualFold(owner, r.owner.login):
		return r, branch, nil
	}

	fork := st.repos[strings.ToLower(owner+"/"+r.name)]
	if fork == nil {
		return nil, "", invalid("PullRequest", "head", "invalid")
	}

	return fork, branch, nil
}

// checkBranches asks git, where there is one, that both branches exist and differ, and that the
// pair is not proposed yet.
func (st *store) checkBranches(ctx context.Context, r, from *repository, head, base string) error {
	if base == "" {
		return invalid("PullRequest", "base", "missing_field")
	}
	if ok, err := from.hasBranch(ctx, head); err != nil || !ok {
		return orRefuse(err, invalid("PullRequest", "head", "invalid"))
	}
	if ok, err := r.hasBranch(ctx, base); err != nil || !ok {
		return orRefuse(err, invalid("PullRequest", "base", "invalid"))
	}
	if none, err := r.nothingBetween(ctx, from, head, base); err != nil || none {
		return orRefuse(err, invalidBecause("PullRequest", "", fmt.Sprintf("No commits between %s and %s", base, head)))
	}

	for _, t := range r.threads {
		now := t.state.now()
		if now.pull != nil && now.open && now.pull.head == head && now.pull.headRepo == from && now.pull.base == base {
			return invalidBecause("PullRequest", "",
				fmt.Sprintf("A pull request already exists for %s:%s.", from.owner.login, head))
		}
	}

	return nil
}

// nothingBetween reports whether the base has all of the head already. Without git, and for forks,
// it is false.
func (r *repository) nothingBetween(ctx context.Context, from *repository, head, base string) (bool, error) {
	if r.git == nil || from != r {
		return false, nil
	}
	theirs, err := r.branchTip(ctx, head)
	if err != nil {
		return false, err
	}

	ours, err := r.branchTip(ctx, base)
	if err != nil {
		return false, err
	}

	return r.git.IsAncestor(ctx, theirs, ours)
}

func orRefuse(err error, otherwise *refusal) error {
	if err != nil {
		return err
	}
	return otherwise
}

// hasBranch is true for any name where there is no git.
func (r *repository) hasBranch(ctx context.Context, branch string) (bool, error) {
	if r.git == nil {
		return true, nil
	}
	_, found, err := r.git.Ref(ctx, "refs/heads/"+branch)
	if errors.Is(err, gitrepo.ErrInvalid) {
		return false, nil
	}

	return found, err
}

// convertToDraft makes a pull request a draft.
func (st *store) convertToDraft(who actor, t *thread) error {
	return st.setDraft(who, t, "convert_to_draft", "converted_to_draft")
}

// markReady makes a draft an ordinary pull request.
func (st *store) markReady(who actor, t *thread) error {
	return st.setDraft(who, t, "ready_for_review", "ready_for_review")
}

// setDraft records the change under its names in the timeline and in webhooks, which differ.
func (st *store) setDraft(who actor, t *thread, kind, action string) error {
	if err := st.mayEdit(who, t); err != nil {
		return err
	}
	now, draft := t.state.now(), kind == "convert_to_draft"
	if now.pull == nil || now.pull.draft == draft {
		return nil
	}

	p := *now.pull
	p.draft = draft
	now.pull = &p
	st.touch(t, now)
	st.record(t, event{kind: kind, actor: who.account})
	st.emitThread(who, t, action, nil)

	return nil
}

// setBase points a pull request at another branch.
func (st *store) setBase(who actor, t *thread, base string) error {
	if err := st.mayEdit(who, t); err != nil {
		return err
	}
	now := t.state.now()
	if now.pull == nil || now.pull.base == base {
		return nil
	}

	old := now.pull.base
	p := *now.pull
	p.base = base
	now.pull = &p
	st.touch(t, now)
	st.record(t, event{kind: "base_ref_changed", actor: who.account})
	changes := object{"base": object{"ref": object{"from": old}, "sha": object{"from": p.baseSHA}}}
	st.emitThread(who, t, "edited", func() object { return object{"changes": changes} })

	return nil
}

// synchronize has open pull requests follow their heads in a repository whose branches may have
// moved.
func (st *store) synchronize(ctx context.Context, who actor, from *repository) error {
	for _, r := range st.distinct() {
		for _, s := range r.pullsIn(present()) {
			if !s.now.open || s.now.pull.headRepo != from {
				continue
			}
			if err := st.follow(ctx, who, s.thread); err != nil {
				return err
			}
		}
	}

	return nil
}

// follow notes where a pull request's head is by now, and tells whoever listens.
func (st *store) follow(ctx context.Context, who actor, t *thread) error {
	now := t.state.now()
	before := now.pull.headSHA
	after, err := now.pull.headCommit(ctx)
	if err != nil || after == before {
		return err
	}

	p := *now.pull
	p.headSHA = after
	now.pull = &p
	st.touch(t, now)
	st.emitThread(who, t, "synchronize", func() object { return object{"before": before, "after": after} })

	return nil
}
