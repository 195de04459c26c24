package try

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/githubsim"
)

type simParams struct {
	Addr    string `flag:"addr" value:"HOST:PORT" text:"on loopback (default: 127.0.0.1 and a free port)"`
	Seed    string `flag:"seed" value:"FILE" text:"JSON with users and repositories (default: an example)"`
	URLFile string `flag:"url-file" value:"FILE" text:"write the base URL to FILE once it answers"`
	Dir     string `flag:"dir" value:"DIR" text:"keep the git repositories in DIR (default: a temporary one)"`
	Fault   string `flag:"fault" value:"FAULTS" text:"misbehave so"`
	Log     string `flag:"log" value:"FILE" text:"append one JSON object a request to FILE"`
	Action  string `flag:"action" value:"PROGRAM" text:"run cmd/action for events, so that /claim works"`
	Control bool   `flag:"control" text:"read standard input: \"later 2h\" moves GitHub's clock"`
}

// Sim serves the embedded GitHub.
func Sim() cli.Verb {
	return cli.Do(cli.Verb{
		Name:    "sim",
		Summary: "run the embedded GitHub, to try things without an account",
		About: "Serves REST, GraphQL and git until interrupted. Point LABEL_STATE_API_URL at it.\n\n" +
			"A fault is KIND=VALUE[:METHOD[:PATH[:COUNT]]], several apart by spaces: delay=80ms, " +
			"status=502, secondary=60, limit=600, late=5s, stale=3s, nodes=5000, connections=200, timeout=5000, " +
			"truncate=100, and without a value unseen, too-quickly, lose and reset (docs/cli.md). METHOD may be *, " +
			"PATH is a part of the path, COUNT the first so many, or %N every Nth. The first match decides.",
		Examples: "label-state sim --addr 127.0.0.1:8080 --seed seed.json\n" +
			"label-state sim --fault 'status=502:POST:/comments:1 delay=80ms'\n",
	}, runSim)
}

// defaultSeed is what sim serves when it is given nothing, and where the demo plays: enough to try
// every command.
const defaultSeed = `{
  "users": [
    {"login": "agents", "token": "tok-agents", "permissions": {"acme/app": "write"}},
    {"login": "olga", "token": "tok-olga", "permissions": {"acme/app": "admin"}},
    {"login": "rob", "token": "tok-rob", "permissions": {"rob/app": "admin"}},
    {"login": "github-actions[bot]", "token": "tok-actions", "permissions": {"acme/app": "write"}}
  ],
  "repos": [{"name": "acme/app", "default_branch": "main",
    "files": {".github/label-state.yml": "version: 1\ncontributors: {claim: labelled, pull_requests: claim}\n"},
    "labels": [{"name": "agent:implement", "color": "0e8a16"}, {"name": "good first issue", "color": "7057ff"}], "issues": [
    {"number": 1, "title": "Retry the upload on 503", "author": "olga", "labels": ["agent:implement"], "state": "open"},
    {"number": 2, "title": "Say which file was too large", "author": "olga", "labels": ["agent:implement"], "state": "open"},
    {"number": 3, "title": "Name the folder in the error", "author": "olga", "labels": ["agent:implement", "good first issue"], "state": "open"}
  ]}, {"name": "rob/app", "default_branch": "main", "fork_of": "acme/app"}]
}`

func runSim(ctx context.Context, c *cli.Call, p *simParams) error {
	addr := cmp.Or(p.Addr, "127.0.0.1:0")
	if !loopback(addr) {
		return c.Usagef("--addr %q: expected HOST:PORT on loopback, such as 127.0.0.1:8080", cli.OneLine(addr))
	}

	dir, cleanup, err := folder(p.Dir)
	if err != nil {
		return err
	}

	defer cleanup()
	seed, err := readSeed(c, p.Seed)
	if err != nil {
		return err
	}

	if p.Action != "" {
		seed = forWorkflow(seed)
	}
	opts := githubsim.Options{Dir: dir}
	if p.Log != "" {
		f, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return c.Usagef("--log: %s", err)
		}
		defer f.Close()
		opts.RequestLog = f
	}

	server, err := openServer(c, p, seed, opts)
	if err != nil {
		return err
	}

	url, stop, err := server.Listen(addr)
	if err != nil {
		return c.Usagef("%s", err)
	}

	defer stop()
	if p.Action != "" {
		w, err := workflowOf(c, p.Action, url, dir, seed)
		if err != nil {
			return err
		}
		go w.follow(ctx, server)
	}

	if err := announce(ctx, c, url, seed, p); err != nil {
		return err
	}

	if p.Control {
		go followControl(c.Terminal, server)
	}
	<-ctx.Done()

	return nil
}

// loopback reports whether addr is a port of this machine that others cannot reach.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

func folder(dir string) (string, func(), error) {
	if dir != "" {
		abs, err := filepath.Abs(dir)
		return abs, func() {}, err
	}
	dir, err := os.MkdirTemp("", "label-state-sim-")
	return dir, func() { os.RemoveAll(dir) }, err
}

func openServer(c *cli.Call, p *simParams, seed githubsim.Seed, opts githubsim.Options) (*githubsim.Server, error) {
	server, err := githubsim.New(seed, opts)
	if errors.Is(err, fs.ErrExist) {
		return nil, c.Usagef("--dir %s: it has repositories already, without the issues of that run; give an "+
			"empty folder", p.Dir)
	}
	if err != nil {
		return nil, c.Usagef("--seed: %s", err)
	}

	if p.Fault != "" {
		if server.Fault, err = githubsim.ParseFault(p.Fault); err != nil {
			return nil, c.Usagef("--fault: %s", err)
		}
	}

	return server, nil
}

func readSeed(c *cli.Call, name string) (githubsim.Seed, error) {
	var r io.Reader = strings.NewReader(defaultSeed)
	if name != "" {
		f, err := os.Open(name)
		if err != nil {
			return githubsim.Seed{}, c.Usagef("--seed: %s", err)
		}
		defer f.Close()
		r = f
	}

	text, err := io.ReadAll(r)
	if err == nil {
		err = cli.UnknownKey(text, githubsim.Seed{})
	}
	if err != nil {
		return githubsim.Seed{}, c.Usagef("--seed %s: read seed: %s", name, err)
	}

	seed, err := githubsim.LoadSeed(bytes.NewReader(text))
	switch {
	case err != nil:
		return seed, c.Usagef("--seed %s: %s", name, err)
	case len(seed.Users) == 0 || len(seed.Repos) == 0:
		return seed, cli.Advise(c.Usagef("--seed %s: expected at least one user and one repository", name),
			answer.Advice("an example is in docs/cli.md#sim"))
	}

	return seed, nil
}
