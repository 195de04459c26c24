// Package try shows the program without an account: demo and sim.
package try

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	urfave "github.com/urfave/cli/v2"
)

// NewDemoCommand makes the command demo.
func NewDemoCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name:  "demo",
		Usage: "run a complete example on an embedded GitHub; needs only Go and git",
		Description: "Two agents race for an issue, a push is refused, the holder's goes through, a pull request and a\n" +
			"sweep move the labels. Every step is a real process, and checked.",
		Flags: []urfave.Flag{
			&urfave.StringFlag{Name: "keep", Usage: "run in `DIR` and keep everything there"},
			&urfave.BoolFlag{Name: "docker", Usage: "run the Action from its image, built from this clone (Linux)"},
			&urfave.StringFlag{Name: "image", Usage: "with --docker: run `IMAGE` instead of building one"},
		},
		Action: func(cc *urfave.Context) error { return runDemo(t, cc) },
	}
}

func runDemo(t cli.Terminal, cc *urfave.Context) error {
	if cc.Args().Present() {
		return cli.Usagef("demo", "demo takes no arguments")
	}
	if _, err := exec.LookPath("git"); err != nil {
		return cli.At("demo", "", cli.Advise(errors.New("git is not on PATH"),
			answer.Call("install git, then", "demo")))
	}

	action, err := image(cc)
	if err != nil {
		return err
	}

	dir, cleanup, err := folder(cc.String("keep"))
	if err != nil {
		return err
	}

	defer cleanup()
	fmt.Fprintln(t.Out, "label-state demo: building the hook and the Action …")
	programs, err := demoPrograms(cc.Context, t, filepath.Join(dir, "bin"))
	if err != nil {
		return cli.At("demo", "", cli.Advise(err,
			answer.Advice("run it in a clone of the project, or install all three programs")))
	}

	programs.Image = action
	c := &cli.Call{Flags: cc, Terminal: t}
	inks := map[Part]string{
		Title: cli.InkBold, Typed: cli.InkCyan, Fact: cli.InkGreen,
		Failure: cli.InkAlarm,
	}
	stage := Stage{
		Out:      t.Out,
		Programs: programs,
		Environ:  t.Env.Inherited(),
		Dir:      dir,
		Paint:    func(p Part, text string) string { return c.Paint(inks[p], text) },
	}

	if err := Play(cc.Context, stage); err != nil {
		return cli.At("demo", "", cli.Declined(err.Error()))
	}

	return nil
}

// builtImage is the name of the image that --docker builds.
const builtImage = "label-state-action:demo"

// image is the image that the Action is to be run from; none is asked for without --docker.
func image(cc *urfave.Context) (string, error) {
	name := cc.String("image")
	switch {
	case !cc.Bool("docker") && name != "":
		return "", cli.Usagef("demo", "--image goes with --docker")
	case !cc.Bool("docker") || name != "":
		return name, nil
	}

	root := sources(cc.Context)
	if root == "" {
		return "", cli.Usagef("demo", "--docker: there is nothing to build here; run it in a clone of the project, or name an --image")
	}

	cmd := exec.CommandContext(cc.Context, "docker", "build", "--quiet", "--tag", builtImage, root)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", cli.At("demo", "", cli.Advise(fmt.Errorf("build the image: %w%s", err, said(text)),
			answer.Shell("does Docker answer? See", "docker", "version")))
	}

	return builtImage, nil
}

// demoPrograms finds the Action: built from the sources of this clone, else beside this program,
// else on PATH. The hook is this program.
func demoPrograms(ctx context.Context, t cli.Terminal, dir string) (Programs, error) {
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

	return "", fmt.Errorf("%s is neither beside label-state nor on PATH", names[0])
}
