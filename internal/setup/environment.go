// Package setup turns the environment, the clone and .github/label-state.yml into a session: a
// client, a ledger and the settings they follow.
//
// It is the only package besides main that looks at the environment, and it does so through an
// Environment, so that a test can be somebody else. Nothing is read before Open is called.
package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/clock"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/process"
	"github.com/label-state/label-state/internal/state"
)

// An Environment is everything outside the program that a session depends on. All fields but
// Environ, Exec, HTTP, Stores, Services, Watched and Processes are required; Dir is empty where
// there is no directory.
type Environment struct {
	Getenv   func(string) string
	Environ  []string  // all variables, for git
	Dir      string    // working directory, absolute; empty is in no clone and on no host: nothing of either counts
	Stderr   io.Writer // for warnings, and for --verbose; one write for each
	Run      func(context.Context, Command) (stdout []byte, err error)
	Exec     git.Exec                 // starts git; nil starts a process
	HTTP     http.RoundTripper        // nil is http.DefaultTransport
	Limits   *github.Limits           // what all sessions of the program know of GitHub's limits; nil is each its own
	Stores   map[string]lease.Opener  // by what claim.lease says; those that the program was built with
	Services map[string]lease.Service // the same with a login: these take nothing from variables, and come first

	Watched func(io.Writer) bool // whether it is a terminal; nil is no for all

	Processes Processes // of this machine; nil when they are not looked at

	// absolute path of this program, for what starts it later; empty where it does not stay, or
	// nobody knows
	Executable string

	// Waiting is told what a request waits for that takes long; nil is nobody.
	Waiting clock.Teller

	// Server says that the program may outlive the session that started it: only its host's process
	// tells for which session it works.
	Server bool

	// Outside is a folder for what is held outside of every repository, by a server that remembers
	// it as long as it runs. Empty is that nothing is remembered there.
	Outside string
}

// Processes are those of a machine, as process.Running sees them.
type Processes interface {
	Above() iter.Seq[process.Process]
	Gone(process.ID) bool
}

// Nothing returns an environment in which nothing is set: no variables, no directory, no programs
// and no state folder. What a session needs is in its Options. Warnings go to w.
func Nothing(w io.Writer) Environment {
	return Environment{
		Getenv:  func(string) string { return "" },
		Environ: []string{},
		Stderr:  w,
		Run: func(_ context.Context, c Command) ([]byte, error) {
			return nil, &exec.Error{Name: c.Name, Err: exec.ErrNotFound}
		},
	}
}

// A Command is a subprocess: gh, or ssh.
type Command struct {
	Name string
	Args []string
	Dir  string
	Env  []string // NAME=value, besides what the program itself has
}

// OS returns the environment of this process.
func OS() Environment {
	dir, err := os.Getwd()
	if err != nil {
		dir = string(filepath.Separator)
	}

	return Environment{
		Getenv:     os.Getenv,
		Environ:    os.Environ(),
		Dir:        dir,
		Stderr:     os.Stderr,
		Run:        run,
		HTTP:       http.DefaultTransport,
		Limits:     &github.Limits{},
		Processes:  process.Running{},
		Executable: executable(),
		Watched: func(w io.Writer) bool {
			f, ok := w.(interface{ Fd() uintptr })
			return ok && term.IsTerminal(int(f.Fd()))
		},
	}
}

// executable is where this program is. One that "go run" has made is removed when it ends.
func executable() string {
	path, err := os.Executable()
	if err != nil || strings.Contains(filepath.ToSlash(path), "/go-build") {
		return ""
	}
	return path
}

// Find finds a program by its path, or by its name on PATH, else in the folders in which the hook's
// scripts look as well: a program that a desktop has started has a short PATH.
func (e Environment) Find(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil || strings.ContainsAny(name, `/\`) {
		return path, err
	}

	folders := []string{"/usr/local/bin", "/opt/homebrew/bin"}
	if home := e.Getenv("HOME"); filepath.IsAbs(home) {
		folders = append([]string{filepath.Join(home, "go", "bin"), filepath.Join(home, ".local", "bin")}, folders...)
	}

	for _, folder := range folders {
		if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
			return path, nil
		}
	}

	return "", err
}

// Inherited is the environment of the programs that a command starts: Environ, or this process's
// own when that is not set.
func (e Environment) Inherited() []string {
	if e.Environ == nil {
		return os.Environ()
	}
	return slices.Clip(e.Environ)
}

// Git is the installed git in Dir. It gets Environ, and GIT_DIR in any case: that decides where we
// are.
func (e Environment) Git() git.Git {
	env := e.Environ
	if dir := e.Getenv("GIT_DIR"); dir != "" && env == nil {
		env = []string{"GIT_DIR=" + dir}
	}
	return git.Git{Dir: e.Dir, Env: env, Exec: e.Exec}
}

// afterKill is how long a killed subprocess may keep its pipes open.
const afterKill = 200 * time.Millisecond

// run starts the command and returns what it prints. What it says on its standard error is dropped:
// a credential helper may print anything there.
func run(ctx context.Context, c Command) ([]byte, error) {
	cmd := exec.CommandContext(ctx, c.Name, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.WaitDelay = afterKill
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("run %s: %w", c.Name, errors.Join(err, ctx.Err()))
	}

	return out.Bytes(), nil
}

// Issue is the one that LABEL_STATE_ISSUE says the work is about; empty where it says none.
func (e Environment) Issue() string { return e.Getenv("LABEL_STATE_ISSUE") }

// Identity is who LABEL_STATE_CODENAME and LABEL_STATE_FIRING_ID say is working; either may be
// empty.
func (e Environment) Identity() claim.Worker {
	return claim.Worker{Codename: e.Getenv("LABEL_STATE_CODENAME"), FiringID: e.Getenv("LABEL_STATE_FIRING_ID")}
}

// SweepRepos are the repositories in LABEL_STATE_SWEEP_REPOS; nil when it names none.
func (e Environment) SweepRepos() []string { return Listed(e.Getenv("LABEL_STATE_SWEEP_REPOS")) }

// Listed are the repositories in lists with commas, each once, in whatever case.
func Listed(lists ...string) (out []string) {
	for _, list := range lists {
		for name := range strings.SplitSeq(list, ",") {
			name = strings.TrimSpace(name)
			if name != "" && !slices.ContainsFunc(out, func(one string) bool { return strings.EqualFold(one, name) }) {
				out = append(out, name)
			}
		}
	}

	return out
}

// SkipDedup reports whether LABEL_STATE_SKIP_DEDUP_CHECK turns the hook off. Only 1 and true do.
func (e Environment) SkipDedup() bool {
	v := e.Getenv("LABEL_STATE_SKIP_DEDUP_CHECK")
	return v == "1" || v == "true"
}

// HookJSON reports whether LABEL_STATE_HOOK_FORMAT asks for JSON.
func (e Environment) HookJSON() bool { return e.Getenv("LABEL_STATE_HOOK_FORMAT") == "json" }

// IsTerminal reports whether a person watches w.
func (e Environment) IsTerminal(w io.Writer) bool { return e.Watched != nil && e.Watched(w) }

// Width is how many cells the terminal w has in a line; 0 when w is none.
func (e Environment) Width(w io.Writer) int {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return 0
	}

	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}

	return width
}

// Color reports whether w may be coloured: a terminal that can, and NO_COLOR (no-color.org) is not
// set.
func (e Environment) Color(w io.Writer) bool {
	return e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb" && e.IsTerminal(w)
}

// StateDir is where this user's state is kept: LABEL_STATE_HOME, else label-state below
// XDG_STATE_HOME, else ~/.local/state/label-state. It need not exist.
func (e Environment) StateDir() (string, error) {
	switch dir := e.Getenv("LABEL_STATE_HOME"); {
	case filepath.IsAbs(dir):
		return dir, nil
	case dir != "": // another folder in every folder would forget what was recorded
		return "", unusable("LABEL_STATE_HOME", "", "%q is not an absolute path", dir)
	}

	if dir := e.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "label-state"), nil
	}

	if home := e.UserHome(); home != "" {
		return filepath.Join(home, ".local", "state", "label-state"), nil
	}

	return "", errors.New("find state folder: neither LABEL_STATE_HOME nor HOME is an absolute path")
}

// UserHome is the user's home folder; empty where no variable names one.
func (e Environment) UserHome() string {
	for _, variable := range []string{"HOME", "USERPROFILE"} {
		if dir := e.Getenv(variable); filepath.IsAbs(dir) {
			return dir
		}
	}
	return ""
}

// PausedHere reads this machine's own pause of a repository; nil means not paused, an error that
// nobody knows.
func (e Environment) PausedHere(r claim.Repo) (*lifecycle.Pause, error) {
	file, err := e.LocalPauses()
	if err != nil {
		return nil, err
	}

	p, err := file.Get(r.String())
	if err != nil || p == nil {
		return nil, err
	}

	return &lifecycle.Pause{
		Since:  p.Since,
		By:     p.By,
		Reason: p.Reason,
		Here:   true,
	}, nil
}

// LocalPauses is the list of repositories paused on this machine only.
func (e Environment) LocalPauses() (state.Pauses, error) {
	dir, err := e.StateDir()
	if err != nil {
		return state.Pauses{}, err
	}
	return state.Pauses{Dir: dir}, nil
}

// Holds is the store of the worktree that Dir is in, else that of Outside, or
// state.ErrNoRepository.
func (e Environment) Holds() (state.Holds, error) {
	dir, err := state.GitDir(e.Dir, e.Getenv("GIT_DIR"))
	if errors.Is(err, state.ErrNoRepository) && e.Outside != "" {
		return state.OpenHolds(e.Outside), nil
	}
	if err != nil {
		return state.Holds{}, err
	}

	return state.OpenHolds(dir), nil
}

// Path makes a path that a person wrote absolute.
func (e Environment) Path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(e.Dir, p)
}
