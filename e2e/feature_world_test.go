//go:build e2e && unix

package e2e

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
)

// places are the repositories of the feature, in the order of its chain. acme/app has the parent.
var places = [...]string{"lib", "app", "web"}

// A feature is the world of one feature in three repositories: an embedded GitHub with real git,
// one machine with an agent's clones, and the programs.
type feature struct {
	*testing.T
	server *githubsim.Server
	bin    string // folder of the programs
	dir    string // everything is below it
	url    string
	deadly bool // whether every command is killed at many of its requests, and begun anew
	kills  int

	mu     sync.Mutex
	victim *victim
	asked  int // requests so far
}

// A victim is a process that is killed, with its children, at its n-th request: before it is
// applied, or after.
type victim struct {
	pid, left int
	applied   bool
	dead      bool
}

// programs builds every program into a folder.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "../cmd/...")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}

	return dir
}

func newFeature(t *testing.T, bin string, deadly bool) *feature {
	t.Helper()
	f := &feature{
		T:      t,
		bin:    bin,
		dir:    t.TempDir(),
		deadly: deadly,
	}
	write, admin := map[string]string{}, map[string]string{}
	var seed githubsim.Seed
	for _, name := range places {
		write["acme/"+name], admin["acme/"+name] = "write", "admin"
		seed.Repos = append(seed.Repos, githubsim.SeedRepo{
			Name:          "acme/" + name,
			DefaultBranch: "main",
			Files:         map[string]string{"README.md": name + "\n"},
			Issues: []githubsim.SeedIssue{{
				Number: 1,
				Title:  "Retry in " + name,
				Author: "olga",
				Labels: []string{implt},
			}},
		})
	}

	seed.Users = []githubsim.SeedUser{
		{Login: "agents", Token: "tok-agents", Permissions: write},
		{Login: "olga", Token: "tok-olga", Permissions: admin},
		{Login: "github-actions[bot]", Token: tokAct, Permissions: write},
	}
	var err error
	if f.server, err = githubsim.New(seed, githubsim.Options{Dir: filepath.Join(f.dir, "server")}); err != nil {
		t.Fatal(err)
	}

	f.server.Fault = f.strike
	url, stop, err := f.server.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(stop)
	f.url = url
	f.write("quick.yml", "version: 1\nclaim: {settle: 0s}\n")

	for _, login := range []string{"agents", "olga"} {
		secret := base64.StdEncoding.EncodeToString([]byte("x:tok-" + login))
		f.write("home-"+login+"/gitconfig",
			fmt.Sprintf("[http %q]\n\textraHeader = Authorization: Basic %s\n", url, secret))
	}

	return f
}

func (f *feature) write(name, text string) string {
	f.Helper()
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.dir, name)
	}

	f.must(os.MkdirAll(filepath.Dir(path), 0o755))
	f.must(os.WriteFile(path, []byte(text), 0o644))
	return path
}

func (f *feature) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// strike is asked at every request: it kills the victim when its time has come. What a dead process
// had still sent does not arrive.
func (f *feature) strike(*http.Request) *githubsim.Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	v := f.victim
	if v == nil {
		return nil
	}

	v.left--
	switch {
	case v.left > 0:
		return nil
	case v.left < 0:
		return &githubsim.Fault{Reset: true}
	}

	v.dead = true
	_ = syscall.Kill(-v.pid, syscall.SIGKILL) // it may have ended by itself
	if v.applied {
		return &githubsim.Fault{ApplyThenFail: true}
	}

	return &githubsim.Fault{Reset: true}
}

// environ is that of somebody with a token; times of commits stand still, so that their ids are the
// same in every play.
func (f *feature) environ(login string) []string {
	home := filepath.Join(f.dir, "home-"+login)
	return []string{
		"PATH=" + f.bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME=" + home, "LABEL_STATE_HOME=" +
			home, "NO_COLOR=1",
		"LABEL_STATE_API_URL=" + f.url, "LABEL_STATE_TOKEN=tok-" + login, "LABEL_STATE_CONFIG=" +
			filepath.Join(f.dir, "quick.yml"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + filepath.Join(home, "gitconfig"), "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=" + login, "GIT_AUTHOR_EMAIL=" + login + "@acme.example",
		"GIT_AUTHOR_DATE=2026-05-01T12:00:00Z",
		"GIT_COMMITTER_NAME=" + login, "GIT_COMMITTER_EMAIL=" + login + "@acme.example",
		"GIT_COMMITTER_DATE=2026-05-01T12:00:00Z",
	}
}

// A deed is one command of the story.
type deed struct {
	dir    string
	env    []string
	args   []string
	repair []string // what somebody runs after a kill, before the command is begun anew; may be empty
	over   string   // a pattern of what the command says, with exit 1, when a killed run had done everything
	code   int      // the exit code that is wanted
}

// by is a command of somebody's in a folder.
func (f *feature) by(login, dir string, args ...string) deed {
	return deed{dir: dir, env: f.environ(login), args: args}
}

// do carries a deed out and returns what it prints. In a deadly play it is killed before its first
// request, begun anew and killed after that was applied, and so on with the second, third, fifth,
// eighth … until it comes to its end.
func (f *feature) do(d deed) string {
	f.Helper()
	for n, next := 1, 2; f.deadly; n, next = next, n+next {
		for _, applied := range []bool{false, true} {
			out, code, dead := f.run(d, &victim{left: n, applied: applied})
			if !dead {
				return f.accept(d, out, code)
			}

			f.kills++
			if len(d.repair) > 0 {
				_, _, _ = f.run(deed{dir: d.dir, env: d.env, args: d.repair}, nil)
			}
		}
	}

	return f.quietly(d)
}

// quietly carries a deed out that belongs to the scenery: nobody is killed.
func (f *feature) quietly(d deed) string {
	f.Helper()
	out, code, _ := f.run(d, nil)
	return f.accept(d, out, code)
}

func (f *feature) accept(d deed, out string, code int) string {
	f.Helper()
	over := f.deadly && d.over != "" && code == 1 && regexp.MustCompile(d.over).MatchString(out)
	if code != d.code && !over {
		f.Fatalf("%s: exit %d, want %d\n%s", strings.Join(d.args, " "), code, d.code, out)
	}
	return out
}

// run starts a process in a group of its own and waits for it. v, unless nil, is to be killed.
func (f *feature) run(d deed, v *victim) (out string, code int, dead bool) {
	f.Helper()
	var text bytes.Buffer
	cmd := exec.CommandContext(f.Context(), "env", d.args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = d.dir, d.env, &text, &text
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	f.mu.Lock() // no request is looked at before the victim is known
	err := cmd.Start()
	if v != nil && err == nil {
		v.pid = cmd.Process.Pid
		f.victim = v
	}

	f.mu.Unlock()
	f.must(err)
	err = cmd.Wait()
	f.settle()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.victim = nil
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		f.Fatal(err)
	}

	return text.String(), cmd.ProcessState.ExitCode(), v != nil && v.dead
}

// settle waits until the server has done what it was asked: what a dead process has sent may still
// be under way.
func (f *feature) settle() {
	f.Helper()
	for range 6000 {
		f.mu.Lock()
		asked := f.asked
		f.mu.Unlock()
		if len(f.server.Requests()) >= asked {
			return
		}

		time.Sleep(10 * time.Millisecond)
	}

	f.Fatal("the server does not come to rest")
}

// act runs the Action in a repository on the newest event of that name and action, or on its
// schedule.
func (f *feature) act(name, event, action string) {
	f.Helper()
	payload := []byte("{}")
	events, err := f.server.Events()
	f.must(err)

	for _, e := range events {
		if e.Repo == "acme/"+name && e.Name == event && e.Action == action {
			payload = e.Payload
		}
	}

	if event != "schedule" && len(payload) == 2 {
		f.Fatalf("acme/%s had no event %s %s", name, event, action)
	}
	d := f.by("agents", f.dir, "action")
	d.env = append(d.env,
		"GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME="+event, "GITHUB_EVENT_PATH="+f.write("event.json", string(payload)),
		"GITHUB_REPOSITORY=acme/"+name, "GITHUB_OUTPUT="+f.write("output", ""), "GITHUB_STEP_SUMMARY="+
			f.write("summary.md", ""),
		"GITHUB_API_URL="+f.url, "GITHUB_SERVER_URL="+f.url, "GITHUB_GRAPHQL_URL="+f.url+"/graphql",
		"INPUT_TOKEN="+tokAct, "INPUT_MODE=auto", "INPUT_API-URL="+f.url)
	f.do(d)
}

// shows wants the issue of a repository to have that label and no other.
func (f *feature) shows(name, label string) {
	f.Helper()
	got, err := f.server.Labels("acme/"+name, 1)
	f.must(err)
	var lifecycle []string
	for _, l := range got {
		if !strings.HasPrefix(l, "agent:bundle:") {
			lifecycle = append(lifecycle, l)
		}
	}

	if strings.Join(lifecycle, " ") != label {
		f.Fatalf("acme/%s#1 shows %q, want %s", name, got, label)
	}
}

// log is what the records of a repository's issue mean.
func (f *feature) log(name string) claim.State {
	f.Helper()
	comments, err := f.server.Comments("acme/"+name, 1)
	f.must(err)
	var all []claim.Comment
	for _, c := range comments {
		all = append(all, claim.Comment{
			ID:      c.ID,
			Created: c.CreatedAt,
			Updated: c.UpdatedAt,
			Author:  c.Author,
			Body:    c.Body,
			Trusted: true,
		})
	}

	return claim.Replay(all)
}
