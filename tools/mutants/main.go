// Command mutants breaks one rule of the protocol after the other, in a copy of the module, and
// runs the tests that are named to catch it. It prints a table: rule, place, what caught it. A rule
// that can be broken without a test failing, and a break that does not compile, end it with exit
// code 1.
//
// Breaks are read from mutants.txt beside this file; its first lines say how one is written.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed mutants.txt
var breaks string

// limit is how long the tests of one break may take. They end themselves then: go test, when it is
// killed, leaves them running.
const limit = 3 * time.Minute

func main() {
	root := flag.String("C", "..", "the module's root")
	only := flag.String("only", "", "break only rules that match this regular expression")
	check := flag.Bool("check", false, "break nothing, only look whether every break still fits the code")
	jobs := flag.Int("j", runtime.NumCPU(), "break so many rules side by side, each in a copy of the module")
	flag.Parse()
	var err error
	if *check {
		err = fit(*root)
	} else {
		err = run(*root, *only, max(1, *jobs), os.Stdout)
	}

	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(root, only string, jobs int, out io.Writer) error {
	list, err := parse(breaks)
	if err != nil {
		return err
	}

	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}

	list = slices.DeleteFunc(list, func(m mutant) bool { return !wanted.MatchString(m.rule) })
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}

	defer os.RemoveAll(dir)
	copies := make([]string, jobs)
	for i := range copies {
		copies[i] = filepath.Join(dir, strconv.Itoa(i))
		if err := copied(root, copies[i]); err != nil {
			return fmt.Errorf("copy the module: %w", err)
		}
	}

	return report(copies, list, out)
}

// fit looks whether every break still finds its place, which takes no time, unlike breaking it.
func fit(root string) error {
	list, err := parse(breaks)
	for _, m := range list {
		if _, _, misfit := m.place(root); misfit != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", m.rule, misfit))
		}
	}

	return err
}

// report breaks the rules, one at a time in each copy, and says in their order what came of them.
func report(copies []string, list []mutant, out io.Writer) error {
	fmt.Fprintf(out, "| rule | place | caught by |\n|---|---|---|\n")
	type outcome struct {
		caught, place string
		err           error
	}
	outcomes := make([]chan outcome, len(list))
	free := make(chan string, len(copies))
	for _, dir := range copies {
		free <- dir
	}

	whole := map[string]func(dir string) string{} // what the tests say of the module as it is, asked once
	for _, m := range list {
		if whole[m.tests()] == nil {
			once, caught := sync.Once{}, ""
			whole[m.tests()] = func(dir string) string {
				once.Do(func() { caught = m.test(dir) })
				return caught
			}
		}
	}

	for i := range list {
		outcomes[i] = make(chan outcome, 1)
	}

	go func() {
		for i, m := range list {
			dir := <-free
			go func() {
				defer func() { free <- dir }()
				if caught := whole[m.tests()](dir); caught != survived {
					outcomes[i] <- outcome{err: fmt.Errorf("the tests %s do not pass on the module as it is: %s",
						m.tests(), caught)}
					return
				}

				caught, place, err := m.play(dir)
				outcomes[i] <- outcome{caught, place, err}
			}()
		}
	}()

	bad := 0
	for i, m := range list {
		o := <-outcomes[i]
		if o.err != nil {
			return fmt.Errorf("%s: %w", m.rule, o.err)
		}

		if caughtNothing(o.caught) {
			bad++
		}
		fmt.Fprintf(out, "| %s | `%s` | %s |\n", m.rule, o.place, o.caught)
	}

	if bad > 0 {
		return fmt.Errorf("%d of %d broken rules were not caught", bad, len(list))
	}
	fmt.Fprintf(out, "\n%d rules broken, %d caught.\n", len(list), len(list))

	return nil
}

// What may become of a break that no test names itself.
const (
	survived   = "SURVIVED"
	uncompiled = "DOES NOT COMPILE"
)

func caughtNothing(what string) bool {
	return what == survived || strings.HasPrefix(what, uncompiled) || strings.HasPrefix(what, errMisplaced.Error())
}

// A mutant is one rule broken in one place.
type mutant struct {
	rule, file, pkg, run string
	old, new             string
}

func (m mutant) tests() string { return m.pkg + " -run " + m.run }

// errMisplaced says that the lines to break do not stand in their file exactly once.
var errMisplaced = errors.New("NOT FOUND")

// place returns the whole text of the file to break below dir, and the line at which the break
// begins.
func (m mutant) place(dir string) (text string, line int, err error) {
	whole, err := os.ReadFile(m.path(dir))
	if err != nil {
		return "", 0, err
	}

	text = string(whole)
	if n := strings.Count(text, m.old); n != 1 {
		return "", 0, fmt.Errorf("%w: %s: it stands there %d times", errMisplaced, m.file, n)
	}

	before, _, _ := strings.Cut(text, m.old)
	return text, 1 + strings.Count(before, "\n"), nil
}

func (m mutant) path(dir string) string { return filepath.Join(dir, filepath.FromSlash(m.file)) }

// play breaks the rule, runs the tests and mends it.
func (m mutant) play(dir string) (caught, place string, err error) {
	text, line, err := m.place(dir)
	if errors.Is(err, errMisplaced) {
		return err.Error(), m.file, nil
	}
	if err != nil {
		return "", "", err
	}

	place = fmt.Sprintf("%s:%d", m.file, line)
	if err := os.WriteFile(m.path(dir), []byte(strings.Replace(text, m.old, m.new, 1)), 0o600); err != nil {
		return "", "", err
	}

	caught = m.test(dir)
	return caught, place, os.WriteFile(m.path(dir), []byte(text), 0o600)
}

// test runs the tests and names the first that failed.
func (m mutant) test(dir string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-vet=off", "-trimpath", "-failfast", "-count=1", "-timeout",
		limit.String(), "-run", m.run, m.pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LABEL_STATE_TEST=all")
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil && strings.Contains(string(out), "no tests to run"):
		return "no such test"
	case err == nil:
		return survived
	case strings.Contains(string(out), "[build failed]") || strings.Contains(string(out), "[setup failed]"):
		return uncompiled + ": " + first(string(out))
	case strings.Contains(string(out), "panic: test timed out"), errors.Is(ctx.Err(), context.DeadlineExceeded):
		return m.run + " (does not end)"
	}

	return "`" + failed(string(out)) + "`"
}

var failure = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)

// failed is the first failing test by name, with the subtest that made it fail. Tests run beside
// one another, so which one fails first is chance.
func failed(out string) string {
	var names []string
	for _, f := range failure.FindAllStringSubmatch(out, -1) {
		names = append(names, f[1])
	}

	if len(names) == 0 {
		return "a panic"
	}
	slices.Sort(names)
	first := names[0]
	for _, name := range names {
		if strings.HasPrefix(name, first+"/") {
			first = name
		}
	}

	return first
}

// first is the first error of a compiler.
func first(out string) string {
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "#") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// parse reads the breaks.
func parse(text string) ([]mutant, error) {
	var list []mutant
	for block := range strings.SplitSeq(text, "\n\n") {
		var m mutant
		for line := range strings.Lines(block) {
			m.line(line)
		}

		if m == (mutant{}) {
			continue
		}
		if m.rule == "" || m.file == "" || m.pkg == "" || m.run == "" || m.old == m.new {
			return nil, fmt.Errorf("read mutants.txt: this is no break:\n%s", block)
		}

		list = append(list, m)
	}

	return list, nil
}

func (m *mutant) line(line string) {
	line = strings.TrimSuffix(line, "\n")
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case strings.HasPrefix(line, "-"):
		m.old += line[1:] + "\n"
	case strings.HasPrefix(line, "+"):
		m.new += line[1:] + "\n"
	case word == "rule":
		m.rule = rest
	case word == "in":
		m.file = rest
	case word == "run":
		m.pkg, m.run, _ = strings.Cut(rest, " ")
	}
}

// copied copies what git knows of, or would add, from root to dir.
func copied(root, dir string) error {
	list, err := exec.Command("git", "-C", root, "ls-files", "-z", "--cached", "--others",
		"--exclude-standard").Output()
	if err != nil {
		return err
	}

	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		info, err := os.Stat(filepath.Join(root, name))
		if errors.Is(err, os.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err != nil {
			return err
		}

		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}

		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(to, text, info.Mode().Perm()); err != nil {
			return err
		}
	}

	return nil
}
