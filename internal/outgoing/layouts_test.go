package outgoing

import (
	"fmt"
	"os"
	"strings"

	"github.com/label-state/label-state/internal/git"
)

// layouts are ways to store the same history.
var layouts = []scenario{
	{name: "packed objects and references", count: 2, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.git("w", "checkout", "--quiet", "-b", "fix")
		s.commit("w", "fix")
		s.git("w", "tag", "-a", "-m", "1", "v1")
		s.git("w", "gc", "--quiet")
		s.commit("w", "fix 2")

		return s.push("w", "push", "origin", "fix")
	}},
	{name: "loose references over packed ones", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.git("w", "pack-refs", "--all")
		s.others("main", 2)
		s.git("w", "fetch", "--quiet")
		s.git("w", "reset", "--quiet", "--hard", "origin/main")
		s.commit("w", "four")

		return s.push("w", "push", "origin", "main:refs/heads/x")
	}},
	{name: "a remote branch that went back", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		old := s.git("w", "rev-parse", "main")
		s.commit("w", "four")
		s.git("w", "push", "--quiet", "origin", "main:refs/heads/x")
		s.git("w", "pack-refs", "--all")
		s.git("hub", "update-ref", "refs/heads/x", old)
		s.git("w", "fetch", "--quiet")

		return s.push("w", "push", "origin", "main:refs/heads/y")
	}},
	{name: "packed references without an order", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.commit("w", "four")
		old, one := s.git("w", "rev-parse", "origin/main"), s.git("w", "rev-parse", "main~3")
		s.git("w", "update-ref", "-d", "refs/remotes/origin/main")
		s.git("w", "symbolic-ref", "-d", "refs/remotes/origin/HEAD")
		s.write("w/.git/packed-refs", old+" refs/remotes/origin/zz\n"+one+" refs/heads/b\n"+one+
			" refs/remotes/origin/a\n")

		return s.push("w", "push", "origin", "main:refs/heads/x")
	}},
	{name: "many remote branches", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		one, three := s.git("w", "rev-parse", "main~2"), s.git("w", "rev-parse", "main")
		var refs strings.Builder
		for i := range 300 {
			fmt.Fprintf(&refs, "create refs/remotes/origin/b%d %s\n", i, one)
		}

		fmt.Fprintf(&refs, "create refs/remotes/origin/release/1 %s\n", three)
		if _, err := s.run("w", refs.String(), "update-ref", "--stdin"); err != nil {
			s.t.Fatal(err)
		}

		s.git("w", "pack-refs", "--all")
		s.commit("w", "four")
		return s.push("w", "push", "origin", "main:refs/heads/x")
	}},
	{name: "many packs", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		for i := range 5 {
			s.commit("w", fmt.Sprint("more ", i))
			s.git("w", "repack", "--quiet", "-d")
		}

		s.git("w", "push", "--quiet", "origin", "main")
		s.git("w", "multi-pack-index", "write")
		s.commit("w", "last")
		return s.push("w", "push", "origin", "main")
	}},
	{
		name:    "index version 1",
		count:   1,
		gitOnly: true,
		build: func(s *sandbox) (git.Git, Push) {
			s.pair()
			s.commit("w", "four")
			s.git("w", "-c", "pack.indexVersion=1", "repack", "--quiet", "-a", "-d", "-F")
			return s.push("w", "push", "origin", "main:refs/heads/x")
		},
	},
	{name: "a lock beside a reference", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		four := s.commit("w", "four")
		s.write("w/.git/refs/remotes/origin/main.lock", four+"\n")
		return s.push("w", "push", "origin", "main")
	}},
	{name: "HEAD of the remote dangles", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.commit("w", "four")
		s.write("w/.git/refs/remotes/origin/HEAD", "ref: refs/remotes/origin/gone\n")
		return s.push("w", "push", "origin", "main")
	}},
	{name: "sparse checkout", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.git("w", "sparse-checkout", "set", "docs")
		s.commit("w", "four")
		return s.push("w", "push", "origin", "main")
	}},
	{name: "partial clone", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.git("hub", "config", "uploadpack.allowFilter", "true")
		s.git(".", "clone", "--quiet", "--filter=blob:none", "file://"+s.path("hub"), "v")
		s.git("v", "config", "core.repositoryFormatVersion", "1")
		s.git("v", "config", "extensions.partialClone", "origin")
		s.others("main", 1)
		s.commit("v", "four")

		return s.push("v", "push", "--force", "origin", "main")
	}},
	{
		name:    "shallow clone",
		count:   1,
		gitOnly: true,
		build: func(s *sandbox) (git.Git, Push) {
			s.pair()
			s.git(".", "clone", "--quiet", "--depth=2", "file://"+s.path("hub"), "v")
			s.commit("v", "four")
			return s.push("v", "push", "origin", "main:refs/heads/x")
		},
	},
	{name: "replaced commit", count: 2, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.commit("w", "four")
		s.git("w", "replace", "--graft", s.commit("w", "five"), "main~2")
		return s.push("w", "push", "origin", "main:refs/heads/x")
	}},
	{
		name:    "grafts",
		count:   2,
		gitOnly: true,
		build: func(s *sandbox) (git.Git, Push) {
			s.pair()
			old := s.commit("w", "four")
			s.commit("w", "five")
			s.write("w/.git/info/grafts", old+"\n")
			return s.push("w", "push", "origin", "main:refs/heads/x")
		},
	},
	{
		name:    "SHA-256",
		count:   1,
		gitOnly: true,
		build: func(s *sandbox) (git.Git, Push) {
			s.git(".", "init", "--quiet", "--bare", "--object-format=sha256", "-b", "main", "hub")
			s.git(".", "init", "--quiet", "--object-format=sha256", "-b", "main", "w")
			s.git("w", "remote", "add", "origin", s.path("hub"))
			s.commit("w", "one")
			s.git("w", "push", "--quiet", "origin", "main")
			s.commit("w", "two")

			return s.push("w", "push", "origin", "main")
		},
	},
	{
		name:    "objects elsewhere",
		count:   1,
		gitOnly: true,
		build: func(s *sandbox) (git.Git, Push) {
			s.pair()
			s.commit("w", "four")
			if err := os.Rename(s.path("w/.git/objects"), s.path("objects")); err != nil {
				s.t.Fatal(err)
			}

			s.write("w/.git/objects/info/empty", "")
			s.env = append(s.env, "GIT_OBJECT_DIRECTORY="+s.path("objects"))
			return s.push("w", "push", "origin", "main")
		},
	},
}

// messages are commits whose text is unusual.
var messages = []scenario{
	{name: "no message", count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		s.commit("w", "")
		return s.push("w", "push", "origin", "main")
	}},
	rawMessage("not UTF-8", "", "caf\xe9 fixes #1\n"),
	rawMessage("another encoding", "encoding ISO-8859-1\n", "caf\xe9 fixes #1\n"),
	rawMessage("a signature", "gpgsig -----BEGIN-----\n \n parent x\n -----END-----\n", "signed\n\n\nfixes #1"),
	rawMessage("only line breaks", "", "\n\n\n"),
	rawMessage("2 MiB", "", strings.Repeat("closes ", 300_000)),
	rawMessage("a NUL", "", "before\x00after\n"),
}

func rawMessage(name, header, message string) scenario {
	return scenario{name: name, count: 1, build: func(s *sandbox) (git.Git, Push) {
		s.pair()
		tree, parent := s.git("w", "rev-parse", "main^{tree}"), s.git("w", "rev-parse", "main")
		who := "ann <ann@example.com> 1700009999 +0000\n"
		oid := s.raw("w", "tree "+tree+"\nparent "+parent+"\nauthor "+who+"committer "+who+header+"\n"+message)
		s.git("w", "update-ref", "refs/heads/main", oid)
		return s.push("w", "push", "origin", "main")
	}}
}
