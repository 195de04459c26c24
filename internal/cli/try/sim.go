package try

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/githubsim"
	urfave "github.com/urfave/cli/v2"
)

// NewSimCommand makes the command sim.
func NewSimCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name:  "sim",
		Usage: "run the embedded GitHub, to try things without an account",
		Description: "Serves REST, GraphQL and git until interrupted. Point LABEL_STATE_API_URL at it.\n\n" +
			"A fault is KIND=VALUE[:METHOD[:PATH[:COUNT]]], several with spaces between: delay=80ms, status=502, secondary=60 " +
			"(rate limit, seconds; secondary=60/429 with that status), limit=600 (GraphQL's, seconds), late=5s (applied later), stale=3s (answers from the past), nodes=5000 and connections=200 (GraphQL's " +
			"resource limits), timeout=5000 (nodes, more is a 502), truncate=100 (bytes), and without a value unseen (what was just stored is not there yet), too-quickly (422, content too fast), lose (applied, answer lost) and reset. METHOD may be *, PATH is a part of the path, COUNT a number (only the first so many) or % and a number (every so manyth). The first fault that matches a request decides.\n\n" +
			"   label-state sim --addr 127.0.0.1:8080 --seed seed.json\n" +
			"   label-state sim --fault 'status=502:POST:/comments:1 delay=80ms'",
		Flags: []urfave.Flag{
			&urfave.StringFlag{
				Name: "addr", Usage: "`HOST:PORT` on loopback (default: 127.0.0.1 and a free port)",
				Value: "127.0.0.1:0",
			},
			&urfave.StringFlag{
				Name:  "seed",
				Usage: "JSON `FILE` with users and repositories (default: acme/app with three issues)",
			},
			&urfave.StringFlag{Name: "url-file", Usage: "write the base URL to `FILE` once it answers"},
			&urfave.StringFlag{Name: "dir", Usage: "keep the git repositories in `DIR` (default: a temporary one)"},
			&urfave.StringFlag{Name: "fault", Usage: "misbehave as `FAULTS` say"},
			&urfave.StringFlag{Name: "log", Usage: "append one JSON object a request to `FILE`"},
			&urfave.BoolFlag{Name: "control", Usage: "follow standard input: \"later 2h\" puts GitHub's clock forward"},
		},
		Action: func(cc *urfave.Context) error { return runSim(t, cc) },
	}
}

// defaultSeed is what sim serves when it is given nothing: enough to try every command.
const defaultSeed = `{
  "users": [
    {"login": "agents", "token": "tok-agents", "permissions": {"acme/app": "write"}},
    {"login": "olga", "token": "tok-olga", "permissions": {"acme/app": "admin"}},
    {"login": "github-actions[bot]", "token": "tok-actions", "permissions": {"acme/app": "write"}}
  ],
  "repos": [{"name": "acme/app", "default_branch": "main", "labels": [{"name": "agent:implement", "color": "0e8a16"}], "issues": [
    {"number": 1, "title": "Retry the upload on 503", "author": "olga", "labels": ["agent:implement"], "state": "open"},
    {"number": 2, "title": "Say which file was too large", "author": "olga", "labels": ["agent:implement"], "state": "open"},
    {"number": 3, "title": "Document the retry policy", "author": "olga", "labels": ["agent:implement"], "state": "open"}
  ]}]
}`

func runSim(t cli.Terminal, cc *urfave.Context) error {
	if cc.Args().Present() {
		return cli.Usagef("sim", "sim takes no arguments")
	}
	if !loopback(cc.String("addr")) {
		return cli.Usagef("sim", "--addr %q: want HOST:PORT on loopback, such as 127.0.0.1:8080",
			cli.OneLine(cc.String("addr")))
	}

	dir, cleanup, err := folder(cc.String("dir"))
	if err != nil {
		return err
	}

	defer cleanup()
	seed, err := readSeed(cc.String("seed"))
	if err != nil {
		return err
	}

	server, closeLog, err := openServer(t, cc, dir, seed)
	if err != nil {
		return err
	}

	defer closeLog()
	url, stop, err := server.Listen(cc.String("addr"))
	if err != nil {
		return cli.Usagef("sim", "%s", err)
	}

	defer stop()
	if err := announce(cc.Context, t, url, seed, cc.String("url-file")); err != nil {
		return err
	}

	if cc.Bool("control") {
		go followControl(t, server)
	}
	<-cc.Context.Done()

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

func openServer(t cli.Terminal, cc *urfave.Context, dir string,
	seed githubsim.Seed,
) (*githubsim.Server, func(), error) {
	nothing := func() {}
	opts := githubsim.Options{Dir: dir}
	closeLog := nothing
	if name := cc.String("log"); name != "" {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, nothing, cli.Usagef("sim", "--log: %s", err)
		}
		opts.RequestLog, closeLog = f, func() { f.Close() }
	}

	server, err := githubsim.New(seed, opts)
	if err != nil {
		return nil, closeLog, cli.Usagef("sim", "--seed: %s", err)
	}

	if text := cc.String("fault"); text != "" {
		if server.Fault, err = githubsim.ParseFault(text); err != nil {
			return nil, closeLog, cli.Usagef("sim", "--fault: %s", err)
		}
	}

	return server, closeLog, nil
}

func readSeed(name string) (githubsim.Seed, error) {
	var r io.Reader = strings.NewReader(defaultSeed)
	if name != "" {
		f, err := os.Open(name)
		if err != nil {
			return githubsim.Seed{}, cli.Usagef("sim", "--seed: %s", err)
		}
		defer f.Close()
		r = f
	}

	seed, err := githubsim.LoadSeed(r)
	if err != nil {
		return seed, cli.Usagef("sim", "--seed %s: %s", name, err)
	}

	return seed, nil
}
