// Command hook measures the pre-push hook beside git itself, on repositories that it makes: a small
// one, one in which every change is a merge, one with a million commits, and one with 50,000
// branches of the remote.
//
//	go -C bench run ./hook
//
// The repositories are made once and kept in a cache folder. The network takes no part: what asks
// GitHub meets a port where nobody listens.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Options are what the flags say.
type options struct {
	small, commits, refs int
	rounds               int
	limit                time.Duration
	cache, source        string
	only                 string
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	if len(os.Args) > 2 && os.Args[1] == peakCommand {
		if err := printPeak(os.Args[2:], os.Stdin, os.Stdout); err != nil {
			log.Fatal(err)
		}
		return
	}

	var o options
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}

	flag.IntVar(&o.small, "small", 17_000, "commits of the small repository")
	flag.IntVar(&o.commits, "commits", 1_000_000, "commits of the large repository")
	flag.IntVar(&o.refs, "refs", 50_000,
		"branches of the remote in the third repository, which has twice as many commits")
	flag.IntVar(&o.rounds, "rounds", 21, "rounds of each comparison")
	flag.DurationVar(&o.limit, "limit", 10*time.Second,
		"time for one comparison, after which there are no more than five rounds")
	flag.StringVar(&o.cache, "cache", filepath.Join(cache, "label-state-bench"), "`folder` that keeps the repositories")
	flag.StringVar(&o.source, "source", "..", "`folder` of the module whose hook is measured")
	flag.StringVar(&o.only, "only", "", "measure only rows that match, as \"REPOSITORY: PUSH\"")
	flag.Parse()
	if err := run(o, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(o options, out io.Writer) (err error) {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}

	cache, err := filepath.Abs(o.cache)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}

	scratch, err := os.MkdirTemp(cache, "programs-") // on the disk, as git is
	if err != nil {
		return err
	}

	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	programs, err := build(o.source, scratch)
	if err != nil {
		return err
	}

	fmt.Fprint(out, header)
	b := bench{o, only, programs, place{cache, scratch}, out}
	for _, p := range o.repositories() {
		if err := b.repository(p); err != nil {
			return err
		}
	}

	return nil
}

// A bench measures and prints.
type bench struct {
	options
	rows     *regexp.Regexp // "REPOSITORY: PUSH" of what is measured
	programs binaries
	place    place
	out      io.Writer
}

func (o options) repositories() []plan {
	var all []plan
	for _, p := range []plan{
		{"small", small, shape{commits: o.small, branches: 20}},
		{"merges", merges, shape{commits: o.small, branches: 20, merges: true}},
		{"large", large, shape{commits: o.commits, branches: 500}},
		{"many refs", manyRefs, shape{commits: 2 * o.refs, branches: o.refs}},
	} {
		all = append(all, p)
		p.name, p.shape.graph = p.name+", graph", true
		all = append(all, p)
	}

	return all
}

// repository measures the pushes of one repository, which it makes if need be.
func (b bench) repository(p plan) error {
	var rows []scenario
	for _, s := range scenarios() {
		if b.rows.MatchString(p.name + ": " + s.name) {
			rows = append(rows, s)
		}
	}

	if len(rows) == 0 {
		return nil
	}
	r, err := open(b.place, p)
	if err != nil {
		return err
	}

	printHead(b.out, r)
	for _, s := range rows {
		if err := b.row(s, r); err != nil {
			return fmt.Errorf("%s: %s: %w", p.name, s.name, err)
		}
	}

	_, err = fmt.Fprintln(b.out)
	return err
}

// row measures one push and prints what came of it.
func (b bench) row(s scenario, r *repository) error {
	programs, err := s.programs(r, b.programs)
	if err != nil {
		return err
	}
	if err := s.check(programs[0]); err != nil {
		return err
	}

	m, err := compare(programs, b.rounds, b.limit)
	if err != nil {
		return err
	}

	printRow(b.out, s, s.limits[r.kind], m)
	return nil
}

// build compiles the hook below dir as "make build" does, and puts down what it is measured with.
func build(source, dir string) (binaries, error) {
	b := binaries{filepath.Join(dir, "whole"), filepath.Join(dir, "stage")}
	if err := errors.Join(os.Mkdir(b.whole, 0o755), os.Mkdir(b.stage, 0o755)); err != nil {
		return b, err
	}

	empty := filepath.Join(dir, "nothing.go")
	err := errors.Join(
		os.WriteFile(empty, []byte("package main\n\nfunc main() {}\n"), 0o644),
		compile(source, b.whole+"/", "./cmd/pre-push", "./cmd/pre-push-check"),
		compile(dir, b.stage+"/", empty),
	)
	if err != nil {
		return b, err
	}
	standIn, err := exec.LookPath("true")
	if err != nil {
		return b, err
	}

	return b, errors.Join(
		os.Link(filepath.Join(b.whole, "pre-push"), b.firstStage()),
		os.Symlink(standIn, filepath.Join(b.stage, "pre-push-check")),
	)
}

// compile builds programs into a folder and then writes each of them once more, as an installer
// does: the linker leaves a file in single pages, from which a program starts slower than git does
// from its own.
func compile(dir, to string, packages ...string) error {
	cmd := exec.Command("go", append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", to}, packages...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", strings.Join(packages, " "), err, said)
	}

	for _, name := range packages {
		file := filepath.Join(to, strings.TrimSuffix(filepath.Base(name), ".go"))
		program, err := os.ReadFile(file)
		if err := errors.Join(err, os.Remove(file), os.WriteFile(file, program, 0o755)); err != nil {
			return err
		}
	}

	return nil
}
