package app

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/label-state/label-state/internal/git"
)

// gitAnswers answers like git. A question that each command asks, and that files which have not
// changed since decide, it asks git once. The zero value is valid.
type gitAnswers struct {
	environ []string // of git; nil is that of this process
	known   sync.Map
}

func (g *gitAnswers) answer(ctx context.Context, c git.Command) ([]byte, error) {
	type answer struct {
		out []byte
		err error
	}
	environ := slices.Concat(g.environ, c.Env)
	if g.environ == nil {
		environ = append(os.Environ(), c.Env...)
	}

	files, plain := decisive(c.Dir, environ)
	key := fmt.Sprintf("%q %q %q %q %s", c.Dir, c.Args, c.Stdin, environ, files)
	again := plain && everyday(c.Args)
	if known, ok := g.known.Load(key); ok && again && ctx.Err() == nil {
		return known.(answer).out, known.(answer).err
	}

	cmd := exec.CommandContext(ctx, "git", c.Args...)
	cmd.Dir, cmd.Stdin, cmd.Env = c.Dir, strings.NewReader(c.Stdin), environ
	out, err := cmd.Output()
	if again && ctx.Err() == nil {
		g.known.Store(key, answer{out, err})
	}

	return out, err
}

// everyday reports whether a command asks for the repository's folder, branch, settings or remote.
func everyday(args []string) bool {
	line := strings.Join(args, " ")
	for _, question := range []string{
		" rev-parse --show-toplevel", " symbolic-ref --quiet --short HEAD",
		" remote get-url ", " config -z --show-origin --get-regexp ", " config --type=path --get ", " rev-parse --git-path ",
	} {
		if strings.Contains(line, question) {
			return true
		}
	}

	return false
}

// decisive are the contents of the files that decide those answers in a folder; it reports false
// where git would look for others: from a linked worktree, or for variables that name a repository.
func decisive(dir string, environ []string) (files string, plain bool) {
	home, global := "", ""
	for _, kv := range environ {
		switch name, value, _ := strings.Cut(kv, "="); name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR":
			return "", false
		case "HOME":
			home = value
		case "GIT_CONFIG_GLOBAL":
			global = value
		}
	}

	if global == "" {
		global = filepath.Join(home, ".gitconfig")
	}
	names := []string{global}
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Lstat(filepath.Join(at, ".git"))
		if err == nil {
			if !info.IsDir() {
				return "", false
			}
			for _, name := range []string{"config", "config.worktree", "HEAD"} {
				names = append(names, filepath.Join(at, ".git", name))
			}

			break
		}
		if at == filepath.Dir(at) {
			break
		}
	}

	for _, name := range names {
		text, err := os.ReadFile(name)
		files += fmt.Sprintf("%s %q %v\n", name, text, err)
	}

	return files, true
}
