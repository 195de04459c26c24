package try

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/cli"
)

// A player is somebody with a token and a clone.
type player struct {
	*Story
	name, token string
	dir         string // the clone; empty before there is one
	env         []string
}

// A Result is what a process did.
type Result struct {
	Code   int
	Output string // both streams, as a terminal would show them
}

func (s *Story) player(name, token string) *player {
	home := filepath.Join(s.Dir, "home-"+name)
	return &player{
		Story: s,
		name:  name,
		token: token,
		env: []string{
			"HOME=" + home, "XDG_STATE_HOME=" + home, "LABEL_STATE_HOME=" + home,
			"LABEL_STATE_API_URL=" + s.url, "LABEL_STATE_TOKEN=" + token,
			"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + filepath.Join(home, "gitconfig"), "GIT_TERMINAL_PROMPT=0",
			"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + name + "@acme.example",
			"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + name + "@acme.example", "NO_COLOR=1",
		},
	}
}

// passed are the variables of the surrounding process that players keep.
var passed = [...]string{
	"PATH", "TMPDIR", "SYSTEMROOT", "LANG", "GOCOVERDIR",
	"DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY",
}

// command prepares a process of the player's, in its clone.
func (p *player) command(ctx context.Context, out *bytes.Buffer, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = cmp.Or(p.dir, p.Dir)
	for _, kv := range p.Environ {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(passed[:], strings.ToUpper(name)) {
			cmd.Env = append(cmd.Env, kv)
		}
	}

	cmd.Env = append(cmd.Env, p.env...)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd
}

func (p *player) run(ctx context.Context, name string, args ...string) (Result, error) {
	var out bytes.Buffer
	err := p.command(ctx, &out, name, args...).Run()
	r := Result{Output: out.String()}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		r.Code = exit.ExitCode()
		err = nil
	}

	return r, err
}

// quiet runs a step of the scenery, which has to work.
func (p *player) quiet(ctx context.Context, name string, args ...string) error {
	r, err := p.run(ctx, name, args...)
	if err == nil && r.Code != 0 {
		err = fmt.Errorf("exit %d: %s", r.Code, strings.TrimSpace(r.Output))
	}

	if err != nil {
		return fmt.Errorf("%s: %s %s: %w", p.name, filepath.Base(name), strings.Join(args, " "), err)
	}

	return nil
}

// show runs a command in the open: prompt, command line, output.
func (p *player) show(ctx context.Context, name string, args ...string) (Result, error) {
	p.prompt(name, args)
	r, err := p.run(ctx, name, args...)
	p.quote(r.Output)
	return r, err
}

// prompt shows a command line as people type it; a test or "go run" may have built the program
// under another name.
func (p *player) prompt(name string, args []string) {
	line := strings.TrimSuffix(filepath.Base(name), ".exe")
	for _, a := range args {
		if strings.ContainsAny(a, " \n#") && !strings.HasPrefix(a, repo) {
			a = "'" + strings.ReplaceAll(a, "\n", "⏎") + "'"
		}
		line += " " + a
	}

	fmt.Fprintf(p.Out, "   %s$ %s\n", p.name, p.Paint(cli.InkCyan, strings.TrimSpace(line)))
}

// clone makes the player's clone and installs the hook in it.
func (p *player) clone(ctx context.Context) error {
	if err := p.cloneOf(ctx, repo); err != nil {
		return err
	}
	return p.quiet(ctx, p.Programs.CLI, "hook", "install", "--hook", p.Programs.Hook)
}

// cloneOf makes the player's clone of a repository over smart HTTP.
func (p *player) cloneOf(ctx context.Context, repo string) error {
	home := filepath.Join(p.Dir, "home-"+p.name)
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}

	secret := base64.StdEncoding.EncodeToString([]byte("x:" + p.token))
	config := fmt.Sprintf("[http %q]\n\textraHeader = Authorization: Basic %s\n", p.url, secret)
	if err := os.WriteFile(filepath.Join(home, "gitconfig"), []byte(config), 0o600); err != nil {
		return err
	}

	dir := filepath.Join(p.Dir, p.name)
	if err := p.quiet(ctx, "git", "clone", "-q", p.url+"/"+repo+".git", dir); err != nil {
		return err
	}

	p.dir = dir
	return nil
}

// commit writes a file and commits it on a new branch.
func (p *player) commit(ctx context.Context, branch, message string) error {
	if err := p.quiet(ctx, "git", "switch", "-q", "-c", branch); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(p.dir, branch+".txt"), []byte(message+"\n"), 0o644); err != nil {
		return err
	}
	if err := p.quiet(ctx, "git", "add", "."); err != nil {
		return err
	}

	p.prompt("git", []string{"commit", "-m", message})
	return p.quiet(ctx, "git", "commit", "-q", "-m", message)
}

// remoteHas reports whether the server has the branch.
func (p *player) remoteHas(ctx context.Context, branch string) bool {
	r, err := p.run(ctx, "git", "ls-remote", "--exit-code", "origin", "refs/heads/"+branch)
	return err == nil && r.Code == 0
}
