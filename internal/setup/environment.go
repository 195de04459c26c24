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
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/holdfile"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/localpause"
)

// An Environment is everything outside the program that a session depends on. All fields but HTTP, Stores
// and Watched are required.
type Environment struct {
	Getenv func(string) string
	Dir    string    // working directory, absolute
	Stderr io.Writer // for warnings, and for --verbose
	Run    func(context.Context, Command) (stdout []byte, err error)
	HTTP   http.RoundTripper       // nil is http.DefaultTransport
	Stores map[string]lease.Opener // by what claim.lease says; those that the program was built with

	Watched func(io.Writer) bool // whether it is a terminal; nil is no for all
}

// A Command is a subprocess: git, or gh.
type Command struct {
	Name  string
	Args  []string
	Dir   string
	Env   []string // NAME=value, besides what the program itself has
	Stdin string
}

// String returns the command line without its input, which may be a secret.
func (c Command) String() string { return strings.Join(append([]string{c.Name}, c.Args...), " ") }

// OS returns the environment of this process.
func OS() Environment {
	dir, err := os.Getwd()
	if err != nil {
		dir = string(filepath.Separator)
	}
	return Environment{Getenv: os.Getenv, Dir: dir, Stderr: os.Stderr, Run: run, HTTP: http.DefaultTransport, Watched: isTerminal}
}

// afterKill is how long a killed subprocess may keep its pipes open.
const afterKill = 200 * time.Millisecond

// run starts the command and returns what it prints. What it says on its standard error is dropped:
// a credential helper may print anything there.
func run(ctx context.Context, c Command) ([]byte, error) {
	cmd := exec.CommandContext(ctx, c.Name, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Stdin = strings.NewReader(c.Stdin)
	cmd.WaitDelay = afterKill
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("run %s: %w", c.Name, errors.Join(err, ctx.Err()))
	}
	return out.Bytes(), nil
}

// Identity is who LABEL_STATE_CODENAME and LABEL_STATE_FIRING_ID say is working; either may be empty.
func (e Environment) Identity() claim.Worker {
	return claim.Worker{Codename: e.Getenv("LABEL_STATE_CODENAME"), FiringID: e.Getenv("LABEL_STATE_FIRING_ID")}
}

// SweepRepos is LABEL_STATE_SWEEP_REPOS, a list with commas; nil when it names nothing.
func (e Environment) SweepRepos() []string {
	var out []string
	for name := range strings.SplitSeq(e.Getenv("LABEL_STATE_SWEEP_REPOS"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
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

func isTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

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

// Color reports whether w may be coloured: a terminal that can, and NO_COLOR (no-color.org) is not set.
func (e Environment) Color(w io.Writer) bool {
	return e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb" && e.IsTerminal(w)
}

// StateDir is where this user's state is kept: LABEL_STATE_HOME, else label-state below
// XDG_STATE_HOME, else ~/.local/state/label-state. It need not exist.
func (e Environment) StateDir() (string, error) {
	if dir := e.Getenv("LABEL_STATE_HOME"); dir != "" {
		return e.path(dir), nil
	}
	if dir := e.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "label-state"), nil
	}
	for _, variable := range []string{"HOME", "USERPROFILE"} {
		if dir := e.Getenv(variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, ".local", "state", "label-state"), nil
		}
	}
	return "", errors.New("find state folder: neither LABEL_STATE_HOME nor HOME is set")
}

// LocalPauses is the list of repositories paused on this machine only.
func (e Environment) LocalPauses() (localpause.File, error) {
	dir, err := e.StateDir()
	if err != nil {
		return localpause.File{}, err
	}
	return localpause.In(dir), nil
}

// Holds is the store of the work tree that Dir is in, or holdfile.ErrNoRepository.
func (e Environment) Holds() (holdfile.Store, error) {
	dir, err := holdfile.GitDir(e.Dir, e.Getenv("GIT_DIR"))
	if err != nil {
		return holdfile.Store{}, err
	}
	return holdfile.Open(dir), nil
}

// path makes a path that a person wrote absolute.
func (e Environment) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(e.Dir, p)
}
