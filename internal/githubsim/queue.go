package githubsim

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/label-state/label-state/internal/githubsim/gitrepo"
)

// mergeQueueBot is the App that merges what a merge queue has tested.
const mergeQueueBot = "github-merge-queue[bot]"

// A queued pull request waits in its repository's merge queue, behind those before it.
type queued struct {
	pull             *thread
	branch           string // gh-readonly-queue/BASE/pr-NUMBER-BASESHA
	base, head       string // commits: what the group is built on, and the group
	message          string
	headOfPull, into string // the pull request's newest commit, and the branch it goes to
}

// A MergeGroup is what a merge queue has checks run on.
type MergeGroup struct {
	HeadRef string // refs/heads/gh-readonly-queue/…
	HeadSHA string
	BaseRef string
}

// Enqueue puts a pull request into its repository's merge queue: it makes the branch of the merge
// group, on top of the group before it, and has its checks requested.
func (s *Server) Enqueue(repo string, number int, login string) (group MergeGroup, err error) {
	err = s.on(repo, number, login, func(st *store, who actor, t *thread) error {
		q, err := st.enqueue(context.Background(), who, t)
		if err == nil {
			group = MergeGroup{HeadRef: "refs/heads/" + q.branch, HeadSHA: q.head, BaseRef: "refs/heads/" + q.into}
		}
		return err
	})

	return group, err
}

// Dequeue takes a pull request out of the merge queue. Groups behind it are not built anew.
func (s *Server) Dequeue(repo string, number int, login string) error {
	return s.on(repo, number, login, func(st *store, who actor, t *thread) error {
		at := slices.IndexFunc(t.repo.queue, func(q *queued) bool { return q.pull == t })
		if at < 0 {
			return notFound()
		}
		return st.leaveQueue(context.Background(), who, t.repo, at, "dequeued")
	})
}

// MergeQueued merges the first pull request of the queue, as the queue does once the checks of its
// group have passed.
func (s *Server) MergeQueued(repo string) error {
	return s.within(repo, func(st *store, r *repository) error {
		if len(r.queue) == 0 {
			return errors.New("the merge queue is empty")
		}
		return st.mergeQueued(context.Background(), r)
	})
}

func (st *store) enqueue(ctx context.Context, who actor, t *thread) (*queued, error) {
	if err := who.need(t.repo, roleWrite); err != nil {
		return nil, err
	}
	now := t.state.now()
	if now.pull == nil || !now.open || now.pull.draft {
		return nil, unprocessable("Pull Request is not mergeable")
	}
	if slices.ContainsFunc(t.repo.queue, func(q *queued) bool { return q.pull == t }) {
		return nil, unprocessable("Pull request is already in the queue")
	}

	q, err := st.group(ctx, t, now)
	if err != nil {
		return nil, err
	}

	t.repo.queue = append(t.repo.queue, q)
	st.emitThread(who, t, "enqueued", nil)
	st.emitGroup(q, "checks_requested", "")
	return q, nil
}

// group makes the merge group of a pull request: a commit that has the queue before it and the pull
// request.
func (st *store) group(ctx context.Context, t *thread, now issue) (*queued, error) {
	head, err := now.pull.headCommit(ctx)
	if err != nil {
		return nil, err
	}

	base, err := t.repo.branchTip(ctx, now.pull.base)
	if err != nil {
		return nil, err
	}

	for _, before := range t.repo.queue {
		if before.into == now.pull.base {
			base = before.head
		}
	}

	q := &queued{
		pull:       t,
		base:       base,
		headOfPull: head,
		into:       now.pull.base,
		branch:     fmt.Sprintf("gh-readonly-queue/%s/pr-%d-%s", now.pull.base, t.number, base),
		message: fmt.Sprintf("Merge pull request #%d from %s/%s\n\n%s", t.number, now.pull.headRepo.owner.login,
			now.pull.head, now.title),
	}

	if t.repo.git == nil || now.pull.headRepo != t.repo {
		q.head = fakeSHA(t.repo.fullName(), q.branch)
		return q, nil
	}

	tree, err := t.repo.git.MergeTree(ctx, base, head)
	if errors.Is(err, gitrepo.ErrMergeConflict) {
		return nil, unprocessable("Pull Request is not mergeable")
	}
	if err != nil {
		return nil, err
	}

	bot := st.account(mergeQueueBot)
	by := gitrepo.Signature{Name: bot.login, Email: bot.email(), When: st.moment}
	q.head, err = t.repo.git.WriteCommit(ctx, gitrepo.Commit{
		Tree:      tree,
		Parents:   []string{base, head},
		Message:   q.message,
		Author:    by,
		Committer: by,
	})
	if err != nil {
		return nil, err
	}

	return q, t.repo.git.CreateRef(ctx, "refs/heads/"+q.branch, q.head)
}

// leaveQueue takes the group at that place out of the queue, with its branch.
func (st *store) leaveQueue(ctx context.Context, who actor, r *repository, at int, reason string) error {
	q := r.queue[at]
	r.queue = slices.Delete(slices.Clone(r.queue), at, at+1)
	if r.git != nil && q.pull.state.now().pull.headRepo == r {
		if err := r.git.DeleteRef(ctx, "refs/heads/"+q.branch); err != nil {
			return err
		}
	}

	why := map[string]string{"merged": "MERGE", "dequeued": "MANUAL"}[reason]
	st.emitThread(who, q.pull, "dequeued", func() object { return object{"reason": why} })
	st.emitGroup(q, "destroyed", reason)
	return nil
}

func (st *store) mergeQueued(ctx context.Context, r *repository) error {
	q, who := r.queue[0], actor{account: st.account(mergeQueueBot)}
	var closed []*thread
	if r.git != nil && q.pull.state.now().pull.headRepo == r {
		before, err := r.branchTip(ctx, q.into)
		if err != nil {
			return err
		}
		if err := r.git.UpdateRef(ctx, "refs/heads/"+q.into, q.head, false); err != nil {
			return err
		}
		if closed, err = st.closedByCommits(ctx, r, q.into, before, q.head); err != nil {
			return err
		}
	}

	if err := st.leaveQueue(ctx, who, r, 0, "merged"); err != nil {
		return err
	}
	now := q.pull.state.now()
	st.merged(who, q.pull, q.headOfPull, q.head)

	for _, target := range append(st.closes(q.pull, now), closed...) {
		st.closeBy(who, r, target)
	}

	return nil
}

// emitGroup delivers an event of a merge group, whose sender is the queue itself.
func (st *store) emitGroup(q *queued, action, reason string) {
	bot, at := st.account(mergeQueueBot), timestamp(st.moment)
	who := actor{account: bot}
	st.emit(who, q.pull.repo, Event{Name: "merge_group", Action: action, Number: q.pull.number}, func() object {
		person := object{"name": bot.login, "email": bot.email()}
		payload := object{"merge_group": object{
			"head_sha": q.head, "head_ref": "refs/heads/" + q.branch, "base_sha": q.base,
			"base_ref": "refs/heads/" + q.into,
			"head_commit": object{
				"id": q.head, "tree_id": fakeSHA("tree", q.head), "message": q.message, "timestamp": at,
				"author": person, "committer": person,
			},
		}}

		if reason != "" {
			payload["reason"] = reason
		}

		return payload
	})
}
