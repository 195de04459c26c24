package githubsim

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// An Issue is what a test wants to see of an issue or a pull request.
type Issue struct {
	ID          int64
	Number      int
	Title, Body string
	Author      string
	State       string // open or closed
	StateReason string
	Labels      []string
	Assignees   []string
	Comments    int
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Pull        bool
	Draft       bool
	Merged      bool
}

// A Comment is what a test wants to see of a comment.
type Comment struct {
	ID        int64
	Author    string
	Body      string
	CreatedAt time.Time
	UpdatedAt time.Time
	Editor    string // empty if it was never edited
}

// A Pull is what is needed to open a pull request.
type Pull struct {
	Title, Body string
	Head        string // branch, or owner:branch of a fork
	Base        string // the default branch if empty
	Draft       bool

	// Where there is no git: the messages of its commits, and files as they are at its head.
	Commits []string
	Files   map[string]string
	Behind  bool // it changes none of the files: its branch has them from an older base
}

// within runs one transaction on a repository, which is named as owner/repo.
func (s *Server) within(repo string, do func(*store, *repository) error) error {
	defer s.lock()()
	r := s.st.repos[strings.ToLower(repo)]
	if r == nil {
		return fmt.Errorf("no repository %q", repo)
	}
	return do(s.st, r)
}

// on runs one transaction on an issue or a pull request, as somebody with the role that login has
// there.
func (s *Server) on(repo string, number int, login string, do func(*store, actor, *thread) error) error {
	return s.within(repo, func(st *store, r *repository) error {
		t, _, err := st.thread(present(), r, number, "an issue")
		if err != nil {
			return fmt.Errorf("%s#%d: %w", repo, number, err)
		}
		if err := do(st, st.as(login), t); err != nil {
			return fmt.Errorf("%s#%d as %s: %w", repo, number, login, err)
		}

		return nil
	})
}

// AddIssue opens an issue and returns its number.
func (s *Server) AddIssue(repo, login, title, body string, labels ...string) (number int, err error) {
	err = s.within(repo, func(st *store, r *repository) error {
		t, err := st.createIssue(st.as(login), r, title, body, labels)
		if err == nil {
			number = t.number
		}
		return err
	})

	return number, err
}

// AddComment posts a comment and returns its id.
func (s *Server) AddComment(repo string, number int, login, body string) (id int64, err error) {
	err = s.on(repo, number, login, func(st *store, who actor, t *thread) error {
		c, err := st.addComment(who, t, body)
		id = c.id
		return err
	})
	return id, err
}

// AddCommentAt is AddComment at another time, as if the clock had stood there.
func (s *Server) AddCommentAt(repo string, number int, login, body string, at time.Time) (id int64, err error) {
	err = s.on(repo, number, login, func(st *store, who actor, t *thread) error {
		st.moment = clock(at)
		c, err := st.addComment(who, t, body)
		id = c.id
		return err
	})

	return id, err
}

// EditComment replaces the body of a comment.
func (s *Server) EditComment(repo string, id int64, login, body string) error {
	return s.within(repo, func(st *store, r *repository) error {
		c, err := st.comment(present(), r, id)
		if err != nil {
			return err
		}
		_, err = st.editComment(st.as(login), c, body)
		return err
	})
}

// DeleteComment takes a comment away.
func (s *Server) DeleteComment(repo string, id int64, login string) error {
	return s.within(repo, func(st *store, r *repository) error {
		c, err := st.comment(present(), r, id)
		if err != nil {
			return err
		}
		return st.deleteComment(st.as(login), c)
	})
}

// HideComment minimizes a comment as outdated.
func (s *Server) HideComment(repo string, id int64, login string) error {
	return s.minimize(repo, id, login, "outdated")
}

// UnhideComment shows a minimized comment again.
func (s *Server) UnhideComment(repo string, id int64, login string) error {
	return s.minimize(repo, id, login, "")
}

func (s *Server) minimize(repo string, id int64, login, reason string) error {
	return s.within(repo, func(st *store, r *repository) error {
		c, err := st.comment(present(), r, id)
		if err != nil {
			return err
		}
		_, err = st.minimize(st.as(login), c, reason)
		return err
	})
}

// MarkSpam has GitHub take a comment for spam: it goes on being counted and is not shown to
// anybody.
func (s *Server) MarkSpam(repo string, id int64) error {
	return s.within(repo, func(st *store, r *repository) error {
		c, err := st.comment(present(), r, id)
		if err != nil {
			return err
		}

		c.spam = true
		st.comments[c.id].put(st.change(), c)
		return nil
	})
}

// AddLabels puts labels on an issue; labels that the repository does not have are made.
func (s *Server) AddLabels(repo string, number int, login string, names ...string) error {
	return s.on(repo, number, login,
		func(st *store, who actor, t *thread) error { return st.labelIssue(who, t, names) })
}

// RemoveLabel takes a label off an issue.
func (s *Server) RemoveLabel(repo string, number int, login, name string) error {
	return s.on(repo, number, login,
		func(st *store, who actor, t *thread) error { return st.unlabelIssue(who, t, name) })
}

// Assign assigns logins to an issue, as far as they can be assigned.
func (s *Server) Assign(repo string, number int, login string, logins ...string) error {
	return s.on(repo, number, login, func(st *store, who actor, t *thread) error { return st.assign(who, t, logins) })
}

// Unassign takes logins off an issue.
func (s *Server) Unassign(repo string, number int, login string, logins ...string) error {
	return s.on(repo, number, login, func(st *store, who actor, t *thread) error { return st.unassign(who, t, logins) })
}

// Close closes an issue as completed, or a pull request without merging it.
func (s *Server) Close(repo string, number int, login string) error {
	return s.on(repo, number, login,
		func(st *store, who actor, t *thread) error { return st.setState(who, t, "closed", "") })
}

// Reopen opens a closed issue or pull request again.
func (s *Server) Reopen(repo string, number int, login string) error {
	return s.on(repo, number, login,
		func(st *store, who actor, t *thread) error { return st.setState(who, t, "open", "") })
}

// OpenPull opens a pull request and returns its number.
func (s *Server) OpenPull(repo, login string, p Pull) (number int, err error) {
	err = s.within(repo, func(st *store, r *repository) error {
		wanted := proposal{
			title:   p.Title,
			body:    p.Body,
			head:    p.Head,
			base:    p.Base,
			draft:   p.Draft,
			commits: p.Commits,
			files:   p.Files,
			behind:  p.Behind,
		}

		if wanted.base == "" {
			wanted.base = r.base
		}
		t, err := st.createPull(context.Background(), st.as(login), r, wanted)
		if err == nil {
			number = t.number
		}

		return err
	})

	return number, err
}

// SetMerge changes how pull requests of a repository may be merged.
func (s *Server) SetMerge(repo string, m SeedMerge) error {
	return s.within(repo, func(_ *store, r *repository) error {
		r.merge = m
		return nil
	})
}

// MergePull merges a pull request and so closes what its description says it closes.
func (s *Server) MergePull(repo string, number int, login string) error {
	return s.on(repo, number, login, func(st *store, who actor, t *thread) error {
		_, err := st.merge(context.Background(), who, t, "", "")
		return err
	})
}

// Block makes one issue of a repository wait for another.
func (s *Server) Block(repo string, number, blocker int, login string) error {
	return s.on(repo, number, login, func(st *store, who actor, t *thread) error {
		other, _, err := st.thread(present(), t.repo, blocker, "an issue")
		if err != nil {
			return err
		}
		return st.block(who, t, other)
	})
}

// Lock locks the conversation of an issue: only those with write may comment.
func (s *Server) Lock(repo string, number int, login string) error {
	return s.on(repo, number, login, func(st *store, who actor, t *thread) error { return st.setLocked(who, t, true) })
}

// DeleteIssue removes an issue for good; its address answers 410.
func (s *Server) DeleteIssue(repo string, number int, login string) error {
	return s.on(repo, number, login, func(st *store, who actor, t *thread) error { return st.removeThread(who, t) })
}

// TransferIssue moves an issue to another repository and returns its number there; its old address
// answers 301.
func (s *Server) TransferIssue(repo string, number int, login, to string) (moved int, err error) {
	err = s.on(repo, number, login, func(st *store, who actor, t *thread) error {
		target := st.repos[strings.ToLower(to)]
		if target == nil {
			return fmt.Errorf("no repository %q", to)
		}

		t, err := st.transfer(who, t, target)
		if err == nil {
			moved = t.number
		}

		return err
	})

	return moved, err
}

// RenameRepo gives a repository another name with the same owner; its old address answers 301.
func (s *Server) RenameRepo(repo, name string) error {
	return s.within(repo, func(st *store, r *repository) error {
		key := strings.ToLower(r.owner.login + "/" + name)
		if st.repos[key] != nil || !namePattern.MatchString(name) {
			return fmt.Errorf("%q is taken or not a name", name)
		}

		r.name = name
		st.repos[key] = r
		return nil
	})
}

// Labels lists the names of an issue's labels.
func (s *Server) Labels(repo string, number int) ([]string, error) {
	i, err := s.Issue(repo, number)
	return i.Labels, err
}

// RepoLabels lists the names of a repository's labels.
func (s *Server) RepoLabels(repo string) (names []string, err error) {
	err = s.within(repo, func(_ *store, r *repository) error {
		for _, l := range r.labelsIn(present()) {
			names = append(names, l.name)
		}
		return nil
	})

	return names, err
}

// Issue returns an issue or a pull request as it is now.
func (s *Server) Issue(repo string, number int) (out Issue, err error) {
	err = s.within(repo, func(st *store, r *repository) error {
		t, now, err := st.thread(present(), r, number, "an issue")
		if err != nil {
			return fmt.Errorf("%s#%d: %w", repo, number, err)
		}

		out = Issue{
			ID:          now.id,
			Number:      number,
			Title:       now.title,
			Body:        now.body,
			Author:      now.author.login,
			State:       stateName(now),
			StateReason: now.reason,
			Comments:    len(t.everyComment(present())),
			CreatedAt:   now.created,
			UpdatedAt:   now.updated,
		}

		for _, l := range r.labelsOf(present(), now) {
			out.Labels = append(out.Labels, l.name)
		}

		for _, a := range now.assignees {
			out.Assignees = append(out.Assignees, a.login)
		}

		if now.pull != nil {
			out.Pull, out.Draft, out.Merged = true, now.pull.draft, !now.pull.merged.IsZero()
		}

		return nil
	})

	return out, err
}

// Comments lists an issue's comments, ascending id.
func (s *Server) Comments(repo string, number int) (out []Comment, err error) {
	err = s.within(repo, func(st *store, r *repository) error {
		t, _, err := st.thread(present(), r, number, "an issue")
		if err != nil {
			return fmt.Errorf("%s#%d: %w", repo, number, err)
		}

		for _, c := range t.commentsIn(present()) {
			shown := Comment{
				ID:        c.id,
				Author:    c.author.login,
				Body:      c.body,
				CreatedAt: c.created,
				UpdatedAt: c.updated,
			}

			if c.editor != nil {
				shown.Editor = c.editor.login
			}
			out = append(out, shown)
		}

		return nil
	})

	return out, err
}

// CommitFile has the owner of a repository commit a file to its default branch, which must be
// there.
func (s *Server) CommitFile(repo, path, text string) error {
	return s.within(repo, func(st *store, r *repository) error {
		if r.git == nil {
			return fmt.Errorf("%s has no git repository", repo)
		}
		return st.commitFiles(context.Background(), r, map[string]string{path: text}, "Change "+path)
	})
}

// GitDir returns the folder of a repository's bare git repository; empty where there is none.
func (s *Server) GitDir(repo string) (dir string, err error) {
	err = s.within(repo, func(_ *store, r *repository) error {
		if r.git != nil {
			dir = r.git.Dir
		}
		return nil
	})

	return dir, err
}
