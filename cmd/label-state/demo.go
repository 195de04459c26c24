package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/label-state/label-state/internal/demo"
	"github.com/urfave/cli/v2"
)

func demoCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "demo", Usage: "play the whole story on an embedded GitHub; needs only Go and git",
		Description: "Two agents race for an issue, a push is refused, the holder's goes through, a pull request and a\n" +
			"sweep move the labels. Every step is a real process, and checked.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "keep", Usage: "play in `DIR` and leave everything there"},
			&cli.BoolFlag{Name: "docker", Usage: "run the Action from its image, built from this clone (Linux)"},
			&cli.StringFlag{Name: "image", Usage: "with --docker: run `IMAGE` instead of building one"},
		},
		Action: t.demo,
	}
}

func (t terminal) demo(cc *cli.Context) error {
	if cc.Args().Present() {
		return wrong("demo", "demo takes no arguments")
	}
	if _, err := exec.LookPath("git"); err != nil {
		return &failure{doing: "demo", err: errors.New("git is not on PATH"), hint: "install git, then run it again"}
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
	fmt.Fprintln(t.out, "label-state demo: building the hook and the Action …")
	programs, err := t.programs(cc.Context, filepath.Join(dir, "bin"))
	if err != nil {
		return &failure{doing: "demo", err: err, hint: "run it in a clone of the project, or install all three programs"}
	}
	programs.Image = action
	c := &call{Context: cc, terminal: t}
	inks := map[demo.Part]string{demo.Title: inkBold, demo.Typed: inkCyan, demo.Fact: inkGreen, demo.Failure: inkAlarm}
	stage := demo.Stage{
		Out: t.out, Programs: programs, Environ: os.Environ(), Dir: dir,
		Paint: func(p demo.Part, text string) string { return c.paint(inks[p], text) },
	}
	if err := demo.Play(cc.Context, stage); err != nil {
		return &failure{doing: "demo", err: &answerNo{err.Error()}}
	}
	return nil
}

// builtImage is the name of the image that --docker builds.
const builtImage = "label-state-action:demo"

// image is the image that the Action is to be run from; none is asked for without --docker.
func image(cc *cli.Context) (string, error) {
	name := cc.String("image")
	switch {
	case !cc.Bool("docker") && name != "":
		return "", wrong("demo", "--image goes with --docker")
	case !cc.Bool("docker") || name != "":
		return name, nil
	}
	root := sources(cc.Context)
	if root == "" {
		return "", wrong("demo", "--docker: there is nothing to build here; run it in a clone of the project, or name an --image")
	}
	cmd := exec.CommandContext(cc.Context, "docker", "build", "--quiet", "--tag", builtImage, root)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", &failure{doing: "demo", err: fmt.Errorf("build the image: %w%s", err, said(text)), hint: "does Docker answer? See: docker version"}
	}
	return builtImage, nil
}

// programs finds the hook and the Action: built from the sources of this clone, else beside
// this program, else on PATH.
func (t terminal) programs(ctx context.Context, dir string) (demo.Programs, error) {
	self, err := os.Executable()
	if err != nil {
		return demo.Programs{}, err
	}
	p := demo.Programs{CLI: self}
	if root := sources(ctx); root != "" {
		p.Hook, p.Action = binary(dir, "label-state-pre-push"), binary(dir, "label-state-action")
		return p, errors.Join(build(ctx, root, p.Hook, "./cmd/pre-push"), build(ctx, root, binary(dir, "label-state-pre-push-check"), "./cmd/pre-push-check"), build(ctx, root, p.Action, "./cmd/action"))
	}
	if p.Hook, err = installed(self, "label-state-pre-push", "pre-push"); err != nil {
		return p, err
	}
	p.Action, err = installed(self, "label-state-action", "action")
	return p, err
}

const module = "github.com/label-state/label-state"

// sources returns the folder of this module when the working directory is inside it, and Go is there.
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
	if words := oneLine(string(text)); words != "" {
		return ": " + words
	}
	return ""
}

func binary(dir, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name)
}

func installed(self string, names ...string) (string, error) {
	for _, name := range names {
		beside := binary(filepath.Dir(self), name)
		if _, err := os.Stat(beside); err == nil {
			return beside, nil
		}
		if found, err := exec.LookPath(name); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%s is neither beside label-state nor on PATH", names[0])
}
