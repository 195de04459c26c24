package githubsim

import (
	"context"
	"errors"
	"fmt"

	"github.com/label-state/label-state/internal/githubsim/gitrepo"
)

// merge merges a pull request and closes what it says it closes. sha, if given, must be the head's.
func (st *store) merge(ctx context.Context, who actor, t *thread, message, sha string) (string, error) {
	if err := who.need(t.repo, roleWrite); err != nil {
		return "", err
	}
	now := t.state.now()
	switch {
	case now.pull == nil:
		return "", notFound()
	case now.pull.draft:
		return "", &refusal{status: 405, message: "Pull Request is still a draft"}
	case !now.open:
		return "", &refusal{status: 405, message: "Pull Request is not mergeable"}
	}

	head, err := now.pull.headCommit(ctx)
	if err != nil {
		return "", err
	}
	if sha != "" && sha != head {
		return "", conflict("Head branch was modified. Review and try the merge again.")
	}

	if message == "" {
		message = fmt.Sprintf("Merge pull request #%d from %s/%s\n\n%s", t.number, now.pull.headRepo.owner.login,
			now.pull.head, now.title)
	}

	oid, closed, err := st.mergeCommit(ctx, who, t, message)
	if err != nil {
		return "", err
	}

	st.merged(who, t, head, oid)
	for _, target := range append(st.closes(t, now), closed...) {
		st.closeBy(who, t.repo, target)
	}

	return oid, nil
}

// headCommit is the id of the newest commit of the head branch.
func (p *pull) headCommit(ctx context.Context) (string, error) {
	if p.headRepo.git == nil || !p.merged.IsZero() {
		return p.headSHA, nil
	}
	oid, ok, err := p.headRepo.git.Ref(ctx, "refs/heads/"+p.head)
	if err != nil || !ok {
		return p.headSHA, err
	}

	return oid, nil
}

// mergeCommit lets git merge, and returns the issues that the merged commits' messages close.
func (st *store) mergeCommit(ctx context.Context, who actor, t *thread, message string) (string, []*thread, error) {
	p := t.state.now().pull
	if t.repo.git == nil || p.headRepo != t.repo {
		oid := fakeSHA(t.repo.fullName(), fmt.Sprint(t.number), message)
		if p.base != t.repo.base {
			return oid, nil, nil
		}

		var closed []*thread
		for _, text := range append([]string{message}, p.commits...) {
			closed = append(closed, st.resolve(t.repo, rawReferences(text))...)
		}

		return oid, closed, nil
	}

	before, _, err := t.repo.git.Ref(ctx, "refs/heads/"+p.base)
	if err != nil {
		return "", nil, err
	}

	by := gitrepo.Signature{Name: who.account.login, Email: who.account.email(), When: st.moment}
	oid, err := t.repo.git.Merge(ctx, p.base, p.head, message, by)
	if errors.Is(err, gitrepo.ErrMergeConflict) || errors.Is(err, gitrepo.ErrNotFound) {
		return "", nil, &refusal{status: 405, message: "Pull Request is not mergeable"}
	}
	if err != nil {
		return "", nil, fmt.Errorf("merge #%d: %w", t.number, err)
	}

	closed, err := st.closedByCommits(ctx, t.repo, p.base, before, oid)
	return oid, closed, err
}

// closedByCommits reads the messages of commits that came to a branch; only the default branch
// closes anything.
func (st *store) closedByCommits(ctx context.Context, r *repository, branch, before, after string) ([]*thread, error) {
	if branch != r.base {
		return nil, nil
	}
	commits, err := r.git.Between(ctx, before, after)
	if err != nil {
		return nil, fmt.Errorf("read commits: %w", err)
	}

	var found []*thread
	for _, c := range commits {
		found = append(found, st.resolve(r, rawReferences(c.Message))...)
	}

	return found, nil
}

func (a *account) email() string {
	return fmt.Sprintf("%d+%s@users.noreply.github.com", a.id, a.plain())
}

// merged marks a pull request as merged and closed.
func (st *store) merged(who actor, t *thread, head, oid string) {
	now := t.state.now()
	p := *now.pull
	p.merged, p.mergedBy, p.mergeSHA, p.headSHA = st.moment, who.account, oid, head
	now.pull = &p
	now.open, now.closed, now.closedBy = false, st.moment, who.account
	st.touch(t, now)
	st.record(t, event{kind: "merged", actor: who.account})
	st.record(t, event{kind: "closed", actor: who.account})
	st.emitThread(who, t, "closed", nil)
}

// closeBy closes an issue because something was merged in the repository from; another repository's
// issue only if the actor could have closed it by hand.
func (st *store) closeBy(who actor, from *repository, target *thread) {
	now := target.state.now()
	if !now.open || (target.repo != from && who.role(target.repo) < roleWrite) {
		return
	}

	now.open, now.reason, now.closed, now.closedBy = false, "completed", st.moment, who.account
	st.touch(target, now)
	st.record(target, event{kind: "closed", actor: who.account, reason: "completed"})
	st.emitThread(who, target, "closed", nil)
}
