package githubsim

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
)

// What a pull request brings to its base, and how it may be merged.

// MergeCommitAllowed resolves the field of that name.
func (g *gqlRepository) MergeCommitAllowed() bool { return g.r.merge.Commit }

// SquashMergeAllowed resolves the field of that name.
func (g *gqlRepository) SquashMergeAllowed() bool { return g.r.merge.Squash }

// RebaseMergeAllowed resolves the field of that name.
func (g *gqlRepository) RebaseMergeAllowed() bool { return g.r.merge.Rebase }

// MergeCommitTitle is what the title of a merge commit is made of.
func (g *gqlRepository) MergeCommitTitle() string {
	return cmp.Or(g.r.merge.CommitTitle, "MERGE_MESSAGE")
}

// MergeCommitMessage is what its text is made of.
func (g *gqlRepository) MergeCommitMessage() string {
	return cmp.Or(g.r.merge.CommitMessage, "PR_TITLE")
}

// SquashMergeCommitTitle is what the title of a squashed commit is made of.
func (g *gqlRepository) SquashMergeCommitTitle() string {
	return cmp.Or(g.r.merge.SquashTitle, "COMMIT_OR_PR_TITLE")
}

// SquashMergeCommitMessage is what its text is made of.
func (g *gqlRepository) SquashMergeCommitMessage() string {
	return cmp.Or(g.r.merge.SquashMessage, "COMMIT_MESSAGES")
}

// A gqlPullCommit is a commit of a pull request.
type gqlPullCommit struct{ Commit *gqlCommit }

// ID is the global id.
func (g *gqlPullCommit) ID() globalID { return globalID("PRC_" + g.Commit.oid) }

// Commits are those that the base does not have, oldest first. Those of a fork are known where
// there is no git.
func (g *gqlPull) Commits(ctx context.Context, page pageArgs) (*gqlConnection[*gqlPullCommit], error) {
	var list []*gqlObject
	if g.t.repo.git != nil && g.now.pull.headRepo == g.t.repo {
		head, err := g.now.pull.headCommit(ctx)
		if err != nil {
			return nil, err
		}

		found, err := g.t.repo.git.Between(ctx, g.now.pull.baseSHA, head)
		if err != nil {
			return nil, absentObject(err)
		}

		for _, one := range found {
			list = append(list, &gqlObject{
				c:    g.c,
				r:    g.t.repo,
				oid:  one.OID,
				kind: "commit",
			})
		}
	}

	for n, text := range g.now.pull.commits {
		oid := fakeSHA(g.t.repo.fullName(), fmt.Sprint(g.t.number, n), text)
		list = append(list, &gqlObject{
			c:    g.c,
			r:    g.t.repo,
			oid:  oid,
			kind: "commit",
			said: text,
		})
	}

	place := func(o *gqlObject) int64 { return int64(slices.Index(list, o)) + 1 }
	return connect(g.c, page, "commits", list, place,
		func(o *gqlObject) *gqlPullCommit { return &gqlPullCommit{&gqlCommit{*o}} })
}

// A gqlChangedFile is a file that a pull request changes.
type gqlChangedFile struct{ Path string }

// Files are those that it changes; where there is git, none are told.
func (g *gqlPull) Files(page pageArgs) (*gqlConnection[*gqlChangedFile], error) {
	list := slices.Sorted(maps.Keys(g.now.pull.files))
	if g.now.pull.behind {
		list = nil
	}
	place := func(name string) int64 { return int64(slices.Index(list, name)) + 1 }
	return connect(g.c, page, "files", list, place, func(name string) *gqlChangedFile { return &gqlChangedFile{name} })
}

// fileOfPull is a file at the head of a pull request, where there is no git.
func (r *repository) fileOfPull(rev, name string) (data []byte, at bool) {
	if r.git != nil {
		return nil, false
	}

	for _, t := range r.threads {
		p := t.state.now().pull
		if p == nil || p.headSHA != rev {
			continue
		}
		if text, changed := p.files[name]; changed {
			return []byte(text), true
		}
	}

	return nil, false
}
