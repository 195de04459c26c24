package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/host"
)

// gitTime is how long git may take to answer a question about the clone.
const gitTime = 5 * time.Second

// errNoGit: there is no git to ask.
var errNoGit = errors.New("git was not found on PATH")

// git asks git about the clone that Dir is in. The answer is without its last line break; it is
// empty where git says no, and in a bare repository that a clone has brought along. Where there is
// no git the error is errNoGit. A git that was cut short is another error.
func (e Environment) git(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	out, err := e.Git().Ask(ctx, args...)
	_, strange := errors.AsType[*git.EmbeddedError](err)
	switch {
	case strange || git.Code(err) > 0:
		return "", nil
	case errors.Is(err, exec.ErrNotFound):
		return "", errNoGit
	case err != nil:
		return "", fmt.Errorf("ask git about the clone: %w", err)
	}

	return out, nil
}

// settings are the lines of git's configuration that say where a clone belongs.
type settings struct {
	repo, host string              // label-state.repo, label-state.host
	remotes    map[string][]string // name → URLs as they are written
	unsure     bool                // what is written may not be what git goes by
}

// settings reads git's configuration. No repository, or nothing set, is the zero value. What git
// goes by is unsure where it takes some URLs for others (url.*.insteadOf), and where a URL is not
// in the clone's own file: git has no remote that only other files name.
func (e Environment) settings(ctx context.Context) (settings, error) {
	s := settings{remotes: map[string][]string{}}
	out, err := e.git(ctx, "config", "-z", "--show-origin", "--get-regexp",
		`^(label-state\.(repo|host)|remote\..*\.url|url\..*\.insteadof)$`)
	if errors.Is(err, errNoGit) {
		return s, nil
	}
	if err != nil {
		return s, err
	}

	words := strings.Split(out, "\x00")
	for n := 1; n < len(words); n += 2 { // a file, then a key and its value
		key, value, _ := strings.Cut(words[n], "\n")
		section, rest, _ := strings.Cut(key, ".")
		name := rest[:max(strings.LastIndexByte(rest, '.'), 0)]
		switch {
		case key == "label-state.repo":
			s.repo = value
		case key == "label-state.host":
			s.host = value
		case section == "remote":
			s.remotes[name] = append(s.remotes[name], value)
			file := strings.TrimPrefix(words[n-1], "file:")
			s.unsure = s.unsure || file != ".git/config" && !strings.HasSuffix(file, "/.git/config")
		case section == "url":
			s.unsure = true
		}
	}

	return s, nil
}

// unusable is something in the environment or in git's configuration that cannot be used:
// LABEL_STATE_API_URL, git config label-state.repo. An empty remedy is to correct it.
func unusable(setting, remedy, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &answer.Problem{
		Code:  answer.Config,
		Why:   "use " + setting + ": " + err.Error(),
		Next:  []answer.Command{answer.Advice(cmp.Or(remedy, "correct "+setting))},
		Cause: err,
	}
}

// override applies label-state.repo and label-state.host to what a URL means, or to the error that
// it means nothing: a repository named outright is on github.com unless something says otherwise.
func (s settings) override(r host.Remote, err error) (host.Remote, error) {
	if s.repo != "" {
		owner, name, bad := host.ParseRepo(s.repo, host.Defaults{})
		if bad != nil {
			return host.Remote{}, unusable("git config label-state.repo", "git config label-state.repo OWNER/NAME",
				"%s", bad) // wrapped it would add its own hint, which is about an argument
		}
		r, err = host.Remote{Host: cmp.Or(r.Host, "github.com"), Owner: owner, Repo: name}, nil
	}

	if s.host == "" || err != nil {
		return r, err
	}
	if r, err = r.On(s.host); err != nil {
		return host.Remote{}, unusable("git config label-state.host", "git config label-state.host HOST",
			"%s", err) // wrapped it would be that of the remote
	}

	return r, nil
}

// Remote returns the repository that the URL of a git remote means here: label-state.repo and
// label-state.host come first, and an alias of ssh's configuration stands for its host. The error
// is a *host.NotGitHubError or an answer.Config.
func (e Environment) Remote(ctx context.Context, url string) (host.Remote, error) {
	s, err := e.settings(ctx)
	if err != nil {
		return host.Remote{}, err
	}
	return s.override(e.parseRemote(ctx, url))
}

// sshTime is how long ssh may take to read its configuration.
const sshTime = time.Second

// parseRemote reads the URL and follows an ssh alias. What ssh cannot say is taken as it is
// written.
func (e Environment) parseRemote(ctx context.Context, url string) (host.Remote, error) {
	r, err := host.ParseRemote(url)
	if err != nil {
		return r, err
	}

	alias, ssh := host.SSHHost(url)
	if !ssh || isCloud(r.Host) {
		return r, nil
	}

	ctx, cancel := context.WithTimeout(ctx, sshTime)
	defer cancel()
	out, err := e.Run(ctx, Command{Name: "ssh", Args: []string{"-G", alias}, Dir: e.Dir})
	if err != nil {
		return r, nil
	}

	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "hostname "); ok {
			return r.On(name)
		}
	}

	return r, nil
}

// isCloud reports whether GitHub itself runs the host.
func isCloud(name string) bool { return name == "github.com" || strings.HasSuffix(name, ".ghe.com") }

// A clone is the worktree that Dir is in. Its remote is zero when it belongs to no GitHub.
type clone struct {
	top     string // of the worktree; empty in a bare repository and outside
	remote  host.Remote
	nowhere error // why its remote is zero
}

// clone finds out where we are. Outside a clone it is zero.
func (e Environment) clone(ctx context.Context) (clone, error) {
	if e.Dir == "" {
		return clone{}, nil
	}
	_, err := git.Find(e.Dir, e.Getenv("GIT_DIR"))
	if strange, is := errors.AsType[*git.EmbeddedError](err); is { // a bare repository that a clone has brought along
		return clone{nowhere: strange}, nil
	}

	top := ""
	if !errors.Is(err, git.ErrNone) {
		top, err = e.git(ctx, "rev-parse", "--show-toplevel")
		switch {
		case errors.Is(err, errNoGit):
			return clone{nowhere: err}, nil
		case err != nil:
			return clone{}, err
		case top == "":
			if err := e.closed(ctx); err != nil {
				return clone{nowhere: err}, nil
			}
		}
	}

	s, err := e.settings(ctx)
	if err != nil {
		return clone{}, err
	}

	url, err := e.remoteURL(ctx, s)
	if err != nil {
		return clone{}, err
	}

	r, err := s.override(e.parseRemote(ctx, url))
	if answer.Is(err, answer.Config) {
		return clone{}, err
	}

	switch {
	case url != "":
	case top != "" && r.Owner == "" && len(s.remotes) > 1 && len(s.belongs()) == 0:
		err = whichRemote()
	case top != "" && r.Owner == "":
		err = errNoRemote
	default:
		err = nil
	}

	return clone{top, r, err}, nil
}

// closed says why git will not use the clone, such as one that belongs to somebody else.
func (e Environment) closed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	_, err := e.Git().Ask(ctx, "rev-parse", "--git-dir")
	refused, is := errors.AsType[*git.Error](err)
	if !is || refused.Code == 0 {
		return nil
	}

	return &answer.Problem{
		Code:  answer.Usage,
		Why:   err.Error(),
		Next:  []answer.Command{AskGit(refused)},
		Cause: err,
	}
}

// AskGit is the command by which git says what is wrong with a clone, and what to do.
func AskGit(e *git.Error) answer.Command {
	return answer.Shell("see what git says of it", "git", "-C", e.Repository, "status")
}

// errNoRemote is why a clone belongs to no repository.
var errNoRemote = errors.New("this clone has no remote")

// whichRemote is why a clone with several remotes belongs to no repository.
func whichRemote() error {
	return &answer.Problem{
		Code: answer.Usage,
		Why:  "this clone has several remotes, and none named upstream or origin",
		Next: []answer.Command{answer.Shell("set its repository", "git", "config", "label-state.repo",
			"OWNER/NAME")},
	}
}

// Nowhere returns why the clone around Dir belongs to no repository; nil outside a clone.
func (e Environment) Nowhere(ctx context.Context) error {
	c, err := e.clone(ctx)
	return cmp.Or(err, c.nowhere)
}

// CheckRepo refuses what names no repository here. The error is an answer.Usage or answer.Config.
func (e Environment) CheckRepo(ctx context.Context, repo string) error {
	_, err := e.locate(ctx, Options{Repo: repo})
	return err
}

// belongs are the remotes that the clone may belong to; the first counts.
func (s settings) belongs() []string {
	if len(s.remotes) == 1 {
		return slices.Collect(maps.Keys(s.remotes))
	}
	return slices.DeleteFunc([]string{"upstream", "origin"}, func(name string) bool { return s.remotes[name] == nil })
}

// remoteURL is where the remote is that the clone belongs to, whatever branch is checked out:
// upstream, else origin, else the only one. It is empty when there is none. Git is asked only where
// its configuration does not say it.
func (e Environment) remoteURL(ctx context.Context, s settings) (string, error) {
	for _, name := range s.belongs() {
		if urls := s.remotes[name]; len(urls) == 1 && urls[0] != "" && !s.unsure {
			return urls[0], nil
		}
		if url, err := e.git(ctx, "remote", "get-url", name); url != "" || err != nil {
			return url, err
		}
	}

	return "", nil
}

// Home returns the repository that the clone around Dir belongs to: label-state.repo, else what its
// remote means. It is zero outside a clone, and for a clone of nothing on a GitHub.
func (e Environment) Home(ctx context.Context) (host.Remote, error) {
	c, err := e.clone(ctx)
	return c.remote, err
}
