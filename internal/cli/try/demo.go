// Package try shows the program without an account: demo and sim.
package try

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
)

type demoParams struct {
	Keep   string `flag:"keep" value:"DIR" text:"run in DIR and keep everything there"`
	Docker bool   `flag:"docker" text:"run the Action from its image, built from this clone (Linux)"`
	Image  string `flag:"image" value:"IMAGE" text:"with --docker: run IMAGE instead of building one"`
}

// Demo runs a complete example.
func Demo() cli.Verb {
	return cli.Do(cli.Verb{
		Name:    "demo",
		Summary: "run a complete example on an embedded GitHub; needs only Go and git",
		About: "Two agents race for an issue, a push is refused, the holder's goes through, a pull request and a " +
			"sweep move the labels, and a contributor takes an issue by a comment. Every step is a real process, and checked.",
	}, runDemo)
}

func runDemo(ctx context.Context, c *cli.Call, p *demoParams) error {
	t := c.Terminal
	if _, err := exec.LookPath("git"); err != nil {
		return cli.Advise(errors.New("git is not on PATH"), answer.Call("install git, then", "demo"))
	}

	if err := unused(c, p.Keep); err != nil {
		return err
	}
	action, err := image(ctx, c, p)
	if err != nil {
		return err
	}

	dir, cleanup, err := folder(p.Keep)
	if err != nil {
		return err
	}

	defer cleanup()
	fmt.Fprintln(t.Out, "label-state demo: building the hook and the Action …")
	programs, err := demoPrograms(ctx, filepath.Join(dir, "bin"))
	if err != nil {
		return cli.Advise(err, answer.Advice("run it in a clone of the project, or install all three programs"))
	}

	programs.Image = action
	stage := Stage{
		Out:      t.Out,
		Programs: programs,
		Environ:  t.Env.Inherited(),
		Dir:      dir,
		Paint:    c.Paint,
	}

	if err := Play(ctx, stage); err != nil {
		return cli.Declined(err.Error())
	}

	return nil
}

// unused refuses a folder to keep the run in that has anything in it, such as an earlier run.
func unused(c *cli.Call, dir string) error {
	found, err := os.ReadDir(dir)
	switch {
	case dir == "" || errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return c.Usagef("--keep: %s", err)
	case len(found) == 0:
		return nil
	}

	return cli.Advise(c.Usagef("--keep %s: the folder is not empty", cli.OneLine(dir)),
		answer.Call("keep this run in another one", "demo", "--keep", strings.TrimRight(dir, "/")+"-2"))
}

// builtImage is the name of the image that --docker builds.
const builtImage = "label-state-action:demo"

// image is the image that the Action is to be run from; none is asked for without --docker.
func image(ctx context.Context, c *cli.Call, p *demoParams) (string, error) {
	switch {
	case !p.Docker && p.Image != "":
		return "", c.Usagef("--image goes with --docker")
	case !p.Docker || p.Image != "":
		return p.Image, nil
	}

	root := sources(ctx)
	if root == "" {
		return "", c.Usagef("--docker: there is nothing to build here; run it in a clone of the project, or name an --image")
	}

	cmd := exec.CommandContext(ctx, "docker", "build", "--quiet", "--tag", builtImage, root)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", cli.Advise(fmt.Errorf("build the image: %w%s", err, said(text)),
			answer.Shell("does Docker answer? See", "docker", "version"))
	}

	return builtImage, nil
}

// demoPrograms finds the Action: built from the sources of this clone, else beside this program,
// else on PATH. The hook is this program.
func demoPrograms(ctx context.Context, dir string) (Programs, error) {
	self, err := os.Executable()
	if err != nil {
		return Programs{}, err
	}

	p := Programs{CLI: self, Hook: self}
	if root := sources(ctx); root != "" {
		p.Action = cli.Binary(dir, "label-state-action")
		return p, build(ctx, root, p.Action, "./cmd/action")
	}

	p.Action, err = installed(self, "label-state-action", "action")
	return p, err
}

const module = "github.com/label-state/label-state"

// sources returns the folder of this module when the working directory is inside it, and Go is
// there.
func sources(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Path}} {{.Dir}}").Output()
	if err != nil {
		return ""
	}

	path, dir, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if path != module {
		return ""
	}

	return dir
}

func build(ctx context.Context, root, out, pkg string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", out, pkg)
	cmd.Dir = root
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w%s", pkg, err, said(text))
	}
	return nil
}

// said is what a program printed, behind its error.
func said(text []byte) string {
	if words := cli.OneLine(string(text)); words != "" {
		return ": " + words
	}
	return ""
}

func installed(self string, names ...string) (string, error) {
	for _, name := range names {
		beside := cli.Binary(filepath.Dir(self), name)
		if _, err := os.Stat(beside); err == nil {
			return beside, nil
		}
		if found, err := exec.LookPath(name); err == nil {
			return found, nil
		}
	}

	return "", fmt.Errorf("%s is neither next to label-state nor on PATH", names[0])
}
