package main

import (
	"fmt"
	"strings"
)

const (
	zero = "0000000000000000000000000000000000000000"
	gone = "5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e" // a commit that nobody has
	many = 5000
	wide = 100
)

// The branches whose pushes are measured. What is new in them lies below refs/heads/new.
const (
	existing = "existing"
	fresh    = "fresh"
	forced   = "forced"
	merged   = "merged"
	keyword  = "keyword"
	manyNew  = "many"
	manyHits = "many-issues"
	old      = "old"
)

// back is a commit of main so many commits before the tip, or half way to its beginning, where no
// other branch leaves it.
func (sh shape) back(commits int) string {
	back := min(commits, sh.commits/2)
	if sh.merges {
		return fmt.Sprintf("refs/heads/main~%d", back/mergedEvery+3)
	}
	return fmt.Sprintf("refs/heads/main~%d", back*8/10+3)
}

// known adds branches that the remote has and that left main some time ago.
func (s *stream) known(sh shape) {
	for i, name := range []string{existing, merged, keyword} {
		from := sh.back(min(5000, sh.commits/20) * (i + 1))
		s.commit(commit{
			ref:     "refs/remotes/origin/" + name,
			time:    sh.now(),
			message: oldMessage(1),
			parents: []string{from},
		})
	}
}

// now is when main ends.
func (sh shape) now() int { return epoch + sh.commits*minute }

// unknown adds the few commits that leave with most of the pushes.
func (s *stream) unknown(sh shape) {
	const main = "refs/heads/main^0"
	remote := func(name string) string { return "refs/remotes/origin/" + name + "^0" }
	s.two(sh, existing, "", remote(existing))
	s.two(sh, fresh, "", main)
	s.two(sh, forced, "", sh.back(3))
	s.two(sh, merged, "", remote(merged), main)
	s.two(sh, keyword, "Fixes #12\n", remote(keyword))
	s.two(sh, old, "", sh.back(200_000))

	for i := range wide {
		s.two(sh, branchName(i), "", sh.back(20*i))
	}
}

// two makes two commits, the first with the parents given.
func (s *stream) two(sh shape, branch, trailer string, parents ...string) {
	ref := "refs/heads/new/" + branch
	first := s.commit(commit{
		ref:     ref,
		time:    sh.now() + minute,
		message: newMessage(branch, 0, ""),
		parents: parents,
	})

	s.commit(commit{
		ref:     ref,
		time:    sh.now() + 2*minute,
		message: newMessage(branch, 1, trailer),
		parents: []string{first},
	})
}

func branchName(i int) string { return fmt.Sprint("wide-", i) }

// thousands makes the commits of two large pushes, as they come from somebody else's repository: in
// a pack.
func (s *stream) thousands(sh shape) {
	for _, name := range []string{manyNew, manyHits} {
		tip := "refs/heads/main^0"
		for i := range many {
			trailer := ""
			if name == manyHits && i%(many/5) == many/10 {
				trailer = fmt.Sprintf("Fixes #%d\n", i)
			}

			tip = s.commit(commit{
				ref:     "refs/heads/new/" + name,
				time:    sh.now() + minute + i,
				message: newMessage(name, i, trailer),
				parents: []string{tip},
				change:  fmt.Sprintln(name, i),
			})
		}
	}
}

// newMessage names no issue but in its trailer.
func newMessage(branch string, i int, trailer string) string {
	return fmt.Sprintf(`Step %d of %s

What was one function is now two, so that the second can be asked without
the first (see the discussion of #31).

%sSigned-off-by: Ann Example <ann@example.com>
`, i, branch, trailer)
}

// A push is what git tells the hook, and the commits it names.
type push struct {
	remote  string
	lines   string
	oids    []string // what is pushed
	remotes []string // what the remote has now, as far as the clone has it
}

// origin is the remote that has the branches.
const origin = "origin"

// push prepares the push of new/BRANCH to a branch of the remote that is at remote now: a full
// name, an id, or zero.
func (r *repository) push(branch, remote string) (push, error) {
	p := push{remote: origin}
	return p, p.add(r, branch, remote)
}

func (p *push) add(r *repository, branch, remote string) error {
	oid, err := r.git("rev-parse", "--verify", "refs/heads/new/"+branch)
	if err != nil {
		return err
	}

	if strings.HasPrefix(remote, "refs/") {
		if remote, err = r.git("rev-parse", "--verify", remote); err != nil {
			return err
		}
	}

	p.oids = append(p.oids, oid)
	if remote != zero && remote != gone {
		p.remotes = append(p.remotes, remote)
	}

	p.lines += fmt.Sprintf("refs/heads/new/%s %s refs/heads/%s %s\n", branch, oid, branch, remote)
	return nil
}

// branches prepares the push of a hundred new branches.
func (r *repository) branches() (push, error) {
	p := push{remote: origin}
	for i := range wide {
		if err := p.add(r, branchName(i), zero); err != nil {
			return p, err
		}
	}

	return p, nil
}

// everything prepares the first push of main to a remote that has nothing.
func (r *repository) everything() (push, error) {
	oid, err := r.git("rev-parse", "--verify", "refs/heads/main")
	return push{
		remote: "mirror", lines: fmt.Sprintf("refs/heads/main %s refs/heads/main %s\n", oid, zero),
		oids: []string{oid},
	}, err
}
