package outgoing

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/git"
)

// pushes are kinds of push from an ordinary clone.
var pushes = []scenario{
	{name: "two commits on a known branch", count: 2, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.commit("w", "four")
		s.commit("w", "five")
		return s.push("w", "push", "origin", "main")
	}},
	{name: "up to date", build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		return s.push("w", "push", "origin", "main")
	}},
	{name: "new branch on main", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.git("w", "checkout", "--quiet", "-b", "fix")
		s.commit("w", "fix")
		return s.push("w", "push", "origin", "fix")
	}},
	{name: "new branch without new commits", build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		return s.push("w", "push", "origin", "main~1:refs/heads/old")
	}},
	{name: "new branch on an old commit", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.git("w", "checkout", "--quiet", "-b", "fix", "main~2")
		s.commit("w", "fix")
		return s.push("w", "push", "origin", "fix")
	}},
	{
		name:  "first push to an empty remote",
		count: 4,
		build: func(s *sandbox) (git.Git, Push) {
			s.pair()
			s.git(".", "init", "--quiet", "--bare", "empty")
			s.git("w", "remote", "add", "second", s.path("empty"))
			s.commit("w", "four")
			return s.push("w", "push", "second", "main")
		},
		remotes: []string{"second"},
	},
	{name: "unrelated root", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.git("w", "checkout", "--quiet", "--orphan", "pages")
		s.commit("w", "pages")
		return s.push("w", "push", "origin", "pages")
	}},
	{name: "main merged in", count: 3, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.git("w", "checkout", "--quiet", "-b", "fix")
		s.commit("w", "fix 1")
		s.git("w", "push", "--quiet", "origin", "fix")
		s.commit("w", "fix 2")
		s.others("main", 5)
		s.git("w", "fetch", "--quiet")
		s.clock += 60
		s.git("w", "merge", "--quiet", "--no-edit", "origin/main")
		s.commit("w", "fix 3")

		return s.push("w", "push", "origin", "fix")
	}},
	{name: "force push over a known commit", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.git("w", "commit", "--quiet", "--amend", "--allow-empty", "-m", "three again")
		return s.push("w", "push", "--force", "origin", "main")
	}},
	{name: "force push over an unknown commit", count: 4, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.others("main", 2)
		s.commit("w", "four")
		return s.push("w", "push", "--force", "origin", "main")
	}},
	{name: "many branches at once", count: 21, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.commit("w", "shared")
		for i := range 20 {
			s.git("w", "checkout", "--quiet", "-b", fmt.Sprint("b", i), "main")
			s.commit("w", fmt.Sprint("work ", i))
		}

		return s.push("w", "push", "--all", "origin")
	}},
	{name: "light tag", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.commit("w", "four")
		s.git("w", "tag", "v1")
		return s.push("w", "push", "origin", "v1")
	}},
	{name: "tag of a tag", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.commit("w", "four")
		s.git("w", "tag", "-a", "-m", "1", "v1")
		s.git("w", "tag", "-a", "-m", "2", "v2", "v1")
		return s.push("w", "push", "origin", "v2")
	}},
	{name: "tag of a file", build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.write("w/f", "text")
		s.git("w", "tag", "-a", "-m", "1", "v1", s.git("w", "hash-object", "-w", "f"))
		return s.push("w", "push", "origin", "v1")
	}},
	{name: "annotated tag moved", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.git("w", "tag", "-a", "-m", "1", "v1")
		s.git("w", "push", "--quiet", "origin", "v1")
		s.commit("w", "four")
		s.git("w", "tag", "-f", "-a", "-m", "2", "v1")
		return s.push("w", "push", "--force", "origin", "v1")
	}},
	{name: "mirror", count: 2, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.commit("w", "four")
		s.git("w", "tag", "-a", "-m", "1", "v1")
		s.git("w", "checkout", "--quiet", "-b", "fix")
		s.commit("w", "fix")
		return s.push("w", "push", "--mirror", "origin")
	}},
	{name: "deletion", build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.git("w", "push", "--quiet", "origin", "main:refs/heads/old")
		return s.push("w", "push", "origin", ":old")
	}},
	{name: "branch renamed on the remote", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.commit("w", "four")
		s.git("w", "push", "--quiet", "origin", "main:refs/heads/old")
		s.git("w", "update-ref", "-d", "refs/remotes/origin/old")
		s.commit("w", "five")
		return s.push("w", "push", "origin", ":old", "main:refs/heads/new")
	}},
	{name: "source with spaces", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.commit("w", "fix the upload")
		return s.push("w", "push", "origin", "HEAD^{/fix the}:refs/heads/x")
	}},
	{
		name:  "to a URL that has no name",
		count: 4,
		build: func(s *sandbox) (git.Git, Push) {
			s.pair()
			s.git(".", "init", "--quiet", "--bare", "empty")
			s.commit("w", "four")
			return s.push("w", "push", s.path("empty"), "main")
		},
		remotes: []string{},
	},
	{name: "to a URL that has a name", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.commit("w", "four")
		return s.push("w", "push", s.path("hub"), "main:refs/heads/x")
	}},
	{
		name:  "to a relative path",
		count: 1,
		build: func(s *sandbox) (git.Git, Push) {
			s.pair()
			s.commit("w", "four")
			return s.push("w", "push", "../hub", "main")
		},
		remotes: []string{},
	},
	{
		name:  "to a remote with a slash in its name",
		count: 1,
		build: func(s *sandbox) (git.Git, Push) {
			s.pair()
			s.git("w", "remote", "rename", "origin", "team/hub")
			s.commit("w", "four")
			return s.push("w", "push", "team/hub", "main:refs/heads/x")
		},
		remotes: []string{"team/hub"},
	},
	{name: "another remote has the commits", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.commit("w", "four")
		s.git(".", "init", "--quiet", "--bare", "fork")
		s.git("w", "remote", "add", "fork", s.path("fork"))
		s.git("w", "push", "--quiet", "fork", "main")
		return s.push("w", "push", "origin", "main")
	}},
	{name: "branch deleted on the remote, tracked here", count: 2, build: func(s *sandbox) (git.Git, Push) {
		s.gone()
		return s.push("w", "push", "origin", "HEAD:refs/heads/fix")
	}},
	{name: "branch deleted on the remote, packed here", count: 2, build: func(s *sandbox) (git.Git, Push) {
		s.gone()
		s.git("w", "pack-refs", "--all")
		return s.push("w", "push", "origin", "HEAD:refs/heads/fix")
	}},
	{
		name: "branch deleted on the remote, to a URL that has a name", count: 2,
		build: func(s *sandbox) (git.Git, Push) {
			s.gone()
			return s.push("w", "push", s.path("hub"), "HEAD:refs/heads/fix")
		},
	},
	{name: "branch set back on the remote", count: 2, build: func(s *sandbox) (git.Git, Push) {
		s.gone()
		s.git("hub", "branch", "fix", "main")
		return s.push("w", "push", "origin", "HEAD:refs/heads/fix")
	}},
	{name: "branch deleted on the remote, pushed under another name", build: func(s *sandbox) (git.Git, Push) {
		s.gone()
		return s.push("w", "push", "origin", "HEAD:refs/heads/other")
	}},
	{name: "remote made anew", count: 3, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.git("hub", "update-ref", "-d", "refs/heads/main")
		return s.push("w", "push", "origin", "main")
	}},
	{
		name:  "branch deleted on the remote, in a folder of its own here",
		count: 2,
		build: func(s *sandbox) (git.Git, Push) {
			s.gone("+refs/heads/*:refs/remotes/origin/heads/*")
			return s.push("w", "push", "origin", "HEAD:refs/heads/fix")
		},
		stale: []string{"refs/remotes/origin/heads/fix"},
	},
	{
		name:  "branch deleted on the remote, another name here",
		count: 2,
		build: func(s *sandbox) (git.Git, Push) {
			s.gone("+refs/heads/main:refs/remotes/origin/main", "fix:remotes/origin/mine")
			return s.push("w", "push", "origin", "HEAD:refs/heads/fix")
		},
		stale: []string{"refs/remotes/origin/mine"},
	},
	{
		name:  "branch deleted on the remote, main here",
		count: 5,
		build: func(s *sandbox) (git.Git, Push) {
			s.gone("fix:refs/remotes/origin/main")
			s.git("w", "gc", "--quiet")
			return s.push("w", "push", "origin", "HEAD:refs/heads/fix")
		},
		stale: []string{"refs/remotes/origin/main"},
	},
	{
		name: "branch deleted on the remote, another name here by an included file", count: 2,
		build: func(s *sandbox) (git.Git, Push) {
			s.gone()
			s.write("w/.git/more", "[remote \"origin\"]\n\tfetch = fix:refs/remotes/origin/mine\n")
			s.git("w", "config", "include.path", "more")
			s.git("w", "update-ref", "refs/remotes/origin/mine", "fix")
			return s.push("w", "push", "origin", "HEAD:refs/heads/fix")
		}, stale: []string{"refs/remotes/origin/mine"},
	},
	{
		name: "branch deleted on the remote, another name here by git -c", count: 2,
		build: func(s *sandbox) (git.Git, Push) {
			s.gone()
			s.git("w", "update-ref", "refs/remotes/origin/mine", "fix")
			return s.push("w", "-c", "remote.origin.fetch=fix:remotes/origin/mine", "push", "origin",
				"HEAD:refs/heads/fix")
		}, stale: []string{"refs/remotes/origin/mine"},
	},
	{name: "tracking branch of another branch under the name", count: 2, build: func(s *sandbox) (git.Git, Push) {
		s.gone("+refs/heads/main:refs/remotes/origin/main", "+refs/heads/fix:refs/remotes/origin/other")
		return s.push("w", "push", "origin", "HEAD:refs/heads/other")
	}},
	{name: "remote branch far ahead", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.git("w", "checkout", "--quiet", "-b", "fix")
		s.commit("w", "fix")
		s.others("main", 30)
		s.git("w", "fetch", "--quiet")
		return s.push("w", "push", "origin", "fix")
	}},
	{name: "a clock that was years behind", count: 2, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		now := s.clock
		s.clock = 1_000_000_000
		s.commit("w", "from the past")
		s.git("w", "push", "--quiet", "origin", "main")
		s.clock = now
		s.git("w", "checkout", "--quiet", "-b", "fix", "main~1")
		s.commit("w", "fix")
		s.git("w", "merge", "--quiet", "--no-edit", "main")

		return s.push("w", "push", "origin", "fix")
	}},
}

// gone pushes two commits to the branch fix, fetches it by these refspecs or by clone's own, and
// deletes it on the hub, which the clone does not know.
func (s *sandbox) gone(refspecs ...string) {
	s.t.Helper()
	s.pair()
	s.git("w", "checkout", "--quiet", "-b", "fix")
	s.commit("w", "fix 1")
	s.commit("w", "fix 2")
	if len(refspecs) > 0 {
		s.git("w", "config", "--unset-all", "remote.origin.fetch")
	}

	for _, spec := range refspecs {
		s.git("w", "config", "--add", "remote.origin.fetch", spec)
	}
	s.git("w", "push", "--quiet", "origin", "fix")
	s.git("w", "fetch", "--quiet")
	s.git("hub", "update-ref", "-d", "refs/heads/fix")
}

// others lets someone else push n commits to a branch of the hub.
func (s *sandbox) others(branch string, n int) {
	s.t.Helper()
	s.git(".", "clone", "--quiet", s.path("hub"), "other")
	s.git("other", "checkout", "--quiet", branch)
	for i := range n {
		s.commit("other", fmt.Sprint("other ", i))
	}

	s.git("other", "push", "--quiet", "origin", branch)
}

// places are where a repository may lie and a push may start.
var places = []scenario{
	{name: "linked worktree", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.git("w", "worktree", "add", "--quiet", "-b", "fix", "../linked")
		s.commit("linked", "fix")
		return s.push("linked", "push", "origin", "fix")
	}},
	{name: "sub-directory", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.commit("w", "four")
		s.write("w/a/b/f", "")
		at, p := s.push("w/a/b", "push", "origin", "main")
		at.Dir = s.path("w/a/b")
		return at, p
	}},
	{name: "GIT_DIR absolute", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.commit("w", "four")
		return s.push(".", "--git-dir="+s.path("w/.git"), "push", "origin", "main")
	}},
	{name: "GIT_DIR relative", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.commit("w", "four")
		return s.push(".", "--git-dir=w/.git", "push", "origin", "main")
	}},
	{name: "bare", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.git(".", "clone", "--quiet", "--bare", s.path("hub"), "bare")
		s.git("bare", "fetch", "--quiet", "origin", "+refs/heads/*:refs/remotes/origin/*")
		four := s.git("bare", "commit-tree", "-p", "main", "-m", "four", "main^{tree}")
		return s.push("bare", "push", "origin", four+":refs/heads/x")
	}},
	{name: "git directory elsewhere", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.git(".", "clone", "--quiet", "--separate-git-dir="+s.path("store"), s.path("hub"), "v")
		s.commit("v", "four")
		return s.push("v", "push", "origin", "main")
	}},
	{name: ".git is a link", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.commit("w", "four")
		if err := os.Rename(s.path("w/.git"), s.path("real")); err != nil {
			s.t.Fatal(err)
		}

		if err := os.Symlink(s.path("real"), s.path("w/.git")); err != nil {
			s.t.Fatal(err)
		}

		return s.push("w", "push", "origin", "main")
	}},
	{name: "submodule", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.git(".", "init", "--quiet", "-b", "main", "super")
		s.git("super", "submodule", "--quiet", "add", s.path("hub"), "sub")
		s.commit("super/sub", "four")
		return s.push("super/sub", "push", "origin", "HEAD:main")
	}},
	{name: "submodule, asked without GIT_DIR", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.git(".", "init", "--quiet", "-b", "main", "super")
		s.git("super", "submodule", "--quiet", "add", s.path("hub"), "sub")
		s.commit("super/sub", "four")
		at, p := s.push("super/sub", "push", "origin", "HEAD:main")
		at.Env = slices.DeleteFunc(at.Env, func(kv string) bool { return strings.HasPrefix(kv, "GIT_DIR=") })

		return at, p
	}},
	{name: "shared clone", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.git(".", "clone", "--quiet", "--shared", s.path("hub"), "v")
		s.commit("v", "four")
		return s.push("v", "push", "origin", "main")
	}},
	{name: "chained and relative alternates", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.git(".", "clone", "--quiet", "--shared", s.path("hub"), "v")
		s.git(".", "clone", "--quiet", "--shared", s.path("v"), "u")
		s.write("u/.git/objects/info/alternates", "# ours\n\n../../../v/.git/objects\n")
		s.git("u", "remote", "set-url", "origin", s.path("hub"))
		s.commit("u", "four")

		return s.push("u", "push", "origin", "main")
	}},
}
