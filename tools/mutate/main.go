// Command mutate changes one small thing after the other in a package, such as a condition, a
// result or a statement, and prints the changes that no test notices.
//
//	go -C tools run ./mutate -C .. -n 60 internal/claim
//
// All mutants of a package are compiled into one build of its tests, and a variable of the
// environment chooses one. Which are played is drawn by the seed and the mutant's own text, so a
// change elsewhere leaves the others in the draw. A mutant that no test reaches counts as not
// killed. equivalent.txt lists those that change nothing that anybody could see.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/build"
	"io"
	"maps"
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

//go:embed equivalent.txt
var equivalentText string

// holders are the tests that hold a package beside its own: a package and the tests to run. A name
// that ends in a slash is of all packages below it, and the first that fits counts. A pattern says
// which tests, as go test -run has it: they are played one by one, at its depth. Those of the
// package itself may have one, too.
var holders = []struct {
	pkg   string
	tests []string
}{
	{"internal/claim", []string{"internal/lifecycle", "internal/protocol"}},
	{"internal/lifecycle", []string{"internal/protocol", "internal/dedup", "internal/ledger=^TestVotes$", "internal/board=^TestDeal$"}},
	{"internal/protocol", []string{
		"internal/ledger=" + oneOrder,
		"internal/action=^TestVectors$/^(sweep|contributors)/^(missed|a_third|people)",
	}},
	{"internal/git", []string{"internal/state=GitDir|WorkTrees", "internal/gitpush=^Test(There|Refused)$"}},
	{"internal/gitpush", []string{commands + "=^TestLeases$/^refs$/^push$"}},
	{"internal/hookfile", []string{"internal/cli/app=^TestScripts$/^(hook|init|doctor)$"}},
	{"internal/pushcheck", []string{"cmd/pre-push=^TestPush$/.", "internal/cli/app=^TestScripts$/^(hook|hook-pre-push|dedup-check|agent-fence|agent-mine)$"}},
	{"internal/state", []string{"internal/cli/app=^TestScripts$/^(renew|run|one-key|agent-session|agent-two|worktree|repo)$"}},
	{"internal/ledger", []string{
		"internal/action=^TestVectors$/^(sweep|commands)/.", "internal/action=^Test(Summary|Told)",
		commands + "=^TestScripts$/^(bundle|claim-.*|dry-run|foreign-key|limits|one-key|plan|pull-request|release.*|run.*|slack|stages|sweep|transition)$",
		commands + "=^TestLeases$/^refs$/^(bundle|mirror|push|story)$",
		commands + "=^TestRequests$",
	}},
	{"internal/github", []string{commands + "=^TestRequests$", "internal/lease/gitref", "internal/githubwork"}},
	{"internal/lease", []string{"internal/lease/gitref", "internal/lease/redis", "internal/setup"}},
	{"internal/cli/app", []string{commands + "="}},
	{"internal/cli/queue", []string{
		commands + "=^Test(AnswerUnwritten|Errors|Help.*|Manual|ManualOfTools|Requests|Tool(Board|Day|Life|Stages))$",
		commands + "=^TestScripts$/^(agents|dry-run|limits|next|outage|plan|ready|refused|release-done|run|slack|stages|status|transition)$",
	}},
	{"internal/cli/hold", []string{
		commands + "=^Test(AnswerUnwritten|Errors|Help.*|Manual|ManualOfTools|Requests|Tool(Day|sHoldPulls|sOutsideClone))$",
		commands + "=^TestScripts$/^(agent-again|agent-fence|agents|agent-mine|agent-two|claim-.*|dedup-check|dry-run|flags|newcomer|one-key|refused|release.*|renew|run.*|says|status)$",
		commands + "=^TestLeases$/refs/^(gone|push)$",
	}},
	{"internal/cli/local", []string{
		commands + "=^Test(AgentEvents.*|AnswerUnwritten|BeatIsBusy|ClaimedAgain.*|ConfigFor|Create|Doctor.*|EndWithout.*|Errors|EventGoesOn|Heartbeat.*|Help.*|HookEnded.*|Man.*|PushAfter.*|RefsTip|ReleasedWhile.*|Requests|SessionFleet|Taken.*|TerminalInit|ToolProcess|ToolRace|Variables)$",
		commands + "=^TestScripts$/^(agent.*|board|branches|clock|completion.*|cycle|dedup-check|doctor.*|dry-run|flags|hook.*|init|labels|late|lost-here|mcp|misconfigured|newcomer|next|outage|pipes|program|refused|repo|says|settings-labels|unwritten|worktree)$",
	}},
	{"internal/cli/operate", []string{
		commands + "=^Test(AnswerUnwritten|Board.*|Errors|FindingLine|Help.*|Manual|ManualOfTools|Operators|OperatorTools|Requests|ToolBoard)$",
		commands + "=^TestScripts$/^(board|claim-person|cycle|dry-run|flags|labels|limits|misconfigured|one-answer|outage|pull-request|ready|recovery|refused|release-pr|repo|says|settings-labels|stages|stats|status|sweep)$",
		commands + "=^TestTerminalBoard$/.",
		commands + "=^TestTerminal(BoardRefresh|Colours)$",
	}},
	{"internal/cli/", []string{
		commands + "=^Test(Errors|Manual|Requests|FindingLine|AnswerUnwritten|Help.*|ManPage|ManualOfTools|Board.*|Operators|ToolsAreVerbs|ToolStages)$",
		commands + "=^TestScripts$/.",
	}},
	{"internal/action", []string{"internal/action=^TestVectors$/./.", "internal/action=^(Test[^V]|Fuzz)"}},
	{"internal/agenthost", []string{commands + "=^TestScripts$/^agent-"}},
	{"internal/agentsetup", []string{commands + "=^TestScripts$/^(agent-install|doctor|init)$"}},
	{"internal/board", []string{commands + "=^TestBoard.*$", commands + "=^TestScripts$/^board$"}},
	{"internal/githubwork", []string{commands + "=^TestScripts$/^(next|plan|ready|limits|dry-run)$"}},
	{"internal/mcp", []string{commands + "=^Test(Tool.*|ManualOfTools)$"}},
	{"internal/prchain", []string{commands + "=^TestScripts$/^(chain|feature)$"}},
	{"internal/setup", []string{commands + "=^TestScripts$/^(clock|doctor|hook|misconfigured|program|agent-again|agent-session|claim-person)$"}},
	{"internal/stats", []string{commands + "=^TestScripts$/^stats$"}},
	{"internal/trouble", []string{commands + "=^TestErrors$"}},
	{"internal/workflow", []string{commands + "=^TestScripts$/^(doctor|init)$"}},
	{"internal/worktree", []string{"internal/worktree=^Test([^K]|Kept$)", commands + "=^TestScripts$/^feature$"}},
	{"answer", []string{"internal/mcp", commands + "=^TestErrors$"}},
	{"cmd/action", []string{"internal/action"}},
	{"work", []string{"internal/githubwork"}},
}

// oneOrder are the tests of internal/ledger but those that try many orders of requests, which take
// ten times as long as all others.
const oneOrder = "^Test([^BIOS]|B[^u]|Bundle($|[^R]|R[^a])|I[^n]|O[^n]|On[^e]|One[EKP]|S[^t]|St[^a]|Sta[^g]|Stage[^s])"

// commands tests the families of commands, most of all by its scripts.
const commands = "internal/cli/app"

// whole are the packages whose tests are mostly cases of which an ordinary run plays a sample: here
// all of them are played.
var whole = []string{"internal/gitpush", "internal/pushcheck", "internal/worktree"}

// unplayed are the packages that only tests use.
var unplayed = regexp.MustCompile(`^(e2e|examples/.*|internal|internal/(githubsim.*|golden|sample|simulation|testmain)|.*test)$`)

type options struct {
	root       string
	seed       uint64
	most, jobs int
	budget     time.Duration
	least      int
	edges      bool
	equivalent map[string][]string // by package
}

func main() {
	var o options
	flag.StringVar(&o.root, "C", "..", "the module's root")
	flag.Uint64Var(&o.seed, "seed", 1, "draws the mutants")
	flag.IntVar(&o.most, "n", 0, "play so many of each package; 0 plays all")
	flag.DurationVar(&o.budget, "budget", 5*time.Minute, "begin no mutant of a package after that time")
	flag.IntVar(&o.jobs, "j", runtime.NumCPU(), "play so many side by side")
	flag.IntVar(&o.least, "least", 0, "fail if fewer percent of all are killed")
	flag.BoolVar(&o.edges, "edges", false, "play the mutants of comparisons that differ for equal values, or for names in another case")
	check := flag.Bool("check", false, "play nothing, only look whether each line of equivalent.txt still fits the code")
	flag.Parse()

	err := o.read(equivalentText)
	switch {
	case err == nil && *check:
		err = o.fit()
	case err == nil:
		err = o.run(flag.Args(), os.Stdout)
	}

	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// read takes the mutants that change nothing: a package, a space and a mutant's key on a line, and
// the reason on the next, after a tab.
func (o *options) read(text string) error {
	o.equivalent = map[string][]string{}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line == "" || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "#") {
			continue
		}

		pkg, key, _ := strings.Cut(line, " ")
		if i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "\t") {
			return fmt.Errorf("equivalent.txt:%d: no reason below it", i+1)
		}
		o.equivalent[pkg] = append(o.equivalent[pkg], key)
	}

	return nil
}

// fit returns an error for each line of equivalent.txt that is not a mutant of its package.
func (o *options) fit() error {
	var err error
	for _, pkg := range slices.Sorted(maps.Keys(o.equivalent)) {
		keys := map[string]bool{}
		for _, edges := range []bool{false, true} {
			all := *o
			all.edges = edges
			p, err := all.open(pkg)
			if err != nil {
				return err
			}
			for _, m := range p.mutants {
				keys[m.key()] = true
			}
		}

		for _, key := range o.equivalent[pkg] {
			if !keys[key] {
				err = errors.Join(err, fmt.Errorf("equivalent.txt: %s has no mutant %s", pkg, key))
			}
		}
	}

	return err
}

// run plays the packages, or all of the product, and prints a table of their scores.
func (o *options) run(pkgs []string, out io.Writer) error {
	if len(pkgs) == 0 {
		list, err := o.command("go", "list", "-f", "{{.Dir}}", "./...").Output()
		if err != nil {
			return fmt.Errorf("list the packages: %w", err)
		}

		root, err := filepath.Abs(o.root)
		if err != nil {
			return err
		}
		for dir := range strings.FieldsSeq(string(list)) {
			pkg, err := filepath.Rel(root, dir)
			if err != nil {
				return err
			}
			if pkg = filepath.ToSlash(pkg); !unplayed.MatchString(pkg) {
				pkgs = append(pkgs, pkg)
			}
		}
	}

	table := "\n| package | killed | of drawn | % | seed |\n|---|---|---|---|---|\n"
	var sum score
	for _, pkg := range pkgs {
		pkg = filepath.ToSlash(filepath.Clean(pkg)) // ./internal/claim is internal/claim
		s, err := o.play(pkg, out)
		if err != nil {
			return fmt.Errorf("%s: %w", pkg, err)
		}

		sum.killed, sum.played = sum.killed+s.killed, sum.played+s.played
		table += fmt.Sprintf("| `%s` | %d | %d | %d | %d |\n", pkg, s.killed, s.played, s.percent(), o.seed)
	}

	if len(pkgs) > 1 {
		fmt.Fprintf(out, "%s\nall: %v\n", table, sum)
	}
	if sum.percent() < o.least {
		return fmt.Errorf("%v, want %d %%", sum, o.least)
	}

	return nil
}

// A score is how many mutants were killed of those that were played.
type score struct{ killed, played int }

func (s score) percent() int { return 100 * s.killed / max(1, s.played) }
func (s score) String() string {
	return fmt.Sprintf("%d of %d killed (%d %%)", s.killed, s.played, s.percent())
}

// A subject is a package that is mutated.
type subject struct {
	*options
	pkg, name string
	files     map[string][]byte
	mutants   []mutant
	dir       string // for the builds
}

func (o *options) open(pkg string) (*subject, error) {
	p := &subject{options: o, pkg: pkg, files: map[string][]byte{}}
	paths, err := filepath.Glob(filepath.Join(o.root, pkg, "*.go"))
	for _, path := range paths {
		dir, file := filepath.Split(path)
		if here, err := build.Default.MatchFile(dir, file); err != nil || !here || strings.HasSuffix(file, "_test.go") {
			continue
		}

		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}

		name, found, err := find(file, text, 1+len(p.mutants), o.edges)
		if err != nil {
			return nil, err
		}
		p.name, p.files[file] = name, text
		p.mutants = append(p.mutants, found...)
	}

	if err == nil && p.name == "" {
		err = errors.New("no Go files there")
	}
	return p, err
}

// A tests is one test of the package or of one that uses it, compiled.
type tests struct {
	program, dir string
	args, env    []string
	reached      map[string]bool
	took         time.Duration
}

// play draws mutants of a package, prints those that survive, and returns the score.
func (o *options) play(pkg string, out io.Writer) (score, error) {
	p, err := o.open(pkg)
	if err != nil {
		return score{}, err
	}

	p.dir, err = os.MkdirTemp("", "mutate")
	if err != nil {
		return score{}, err
	}

	defer os.RemoveAll(p.dir)
	overlay, err := p.compile()
	if err != nil {
		return score{}, err
	}

	var all []tests
	for i, holder := range p.holders() {
		prepared, err := p.prepare(holder, overlay, strconv.Itoa(i))
		if err != nil {
			return score{}, fmt.Errorf("tests of %s: %w", holder, err)
		}
		all = append(all, prepared...)
	}

	drawn := p.draw()
	killed := make([]bool, len(drawn)) // each worker writes its own
	next, left := make(chan int), sync.WaitGroup{}
	for range o.jobs {
		left.Go(func() {
			for i := range next {
				killed[i] = p.killed(drawn[i], all, overlay)
			}
		})
	}

	var s score
	for end := time.Now().Add(o.budget); s.played < len(drawn) && time.Now().Before(end); s.played++ {
		next <- s.played
	}
	close(next)
	left.Wait()

	var lived []mutant
	for i, m := range drawn[:s.played] {
		if killed[i] {
			s.killed++
		} else {
			lived = append(lived, m)
		}
	}

	slices.SortFunc(lived, func(a, b mutant) int { return cmp.Compare(a.id, b.id) })
	for _, m := range lived {
		fmt.Fprintf(out, "%s/%s:%d %s\n", pkg, m.file, m.line, m.key())
	}
	fmt.Fprintf(out, "%s: %v, seed %d, %d mutants in all\n", pkg, s, o.seed, len(p.mutants))
	return s, nil
}

func (p *subject) holders() []string {
	for _, h := range holders {
		if p.pkg == h.pkg || strings.HasSuffix(h.pkg, "/") && strings.HasPrefix(p.pkg+"/", h.pkg) {
			if strings.HasPrefix(h.tests[0], p.pkg+"=") {
				return h.tests
			}
			return append([]string{p.pkg}, h.tests...)
		}
	}
	return []string{p.pkg}
}

var (
	compileError = regexp.MustCompile(`(?m)^\S*?(\w+\.go):(\d+):(\d+)`)
	choice       = regexp.MustCompile(`mutant[A-Z]\w*\((\d+)`)
)

// compile writes an overlay of the package with its mutants, without those that do not compile.
func (p *subject) compile() (overlay string, err error) {
	root, err := filepath.Abs(filepath.Join(p.root, p.pkg))
	if err != nil {
		return "", err
	}

	here := fmt.Sprintf("package "+p.name+helper, 1+len(p.mutants))
	for {
		texts := map[string][]byte{"mutants_here.go": []byte(here)}
		for file, text := range p.files {
			texts[file] = mutated(file, text, p.mutants)
		}

		replace := map[string]string{}
		for file, text := range texts {
			replace[filepath.Join(root, file)] = filepath.Join(p.dir, file)
			if err := os.WriteFile(filepath.Join(p.dir, file), text, 0o600); err != nil {
				return "", err
			}
		}

		list, err := json.Marshal(map[string]any{"Replace": replace})
		if err != nil {
			return "", err
		}
		overlay = filepath.Join(p.dir, "overlay.json")
		if err := os.WriteFile(overlay, list, 0o600); err != nil {
			return "", err
		}

		said, err := p.command("go", "build", "-o", os.DevNull, "-overlay", overlay, "-gcflags=-e",
			"./"+p.pkg).CombinedOutput()
		if err == nil {
			return overlay, nil
		}

		bad := map[int]bool{}
		for _, at := range compileError.FindAllStringSubmatch(string(said), -1) {
			line, _ := strconv.Atoi(at[2])
			column, _ := strconv.Atoi(at[3])
			if lines := strings.Split(string(texts[at[1]]), "\n"); line <= len(lines) {
				bad[culprit(lines[line-1], column)] = true
			}
		}

		before := len(p.mutants)
		p.mutants = slices.DeleteFunc(p.mutants, func(m mutant) bool { return bad[m.id] })
		if len(p.mutants) == before {
			return "", fmt.Errorf("it does not compile: %s", said)
		}
	}
}

// culprit is the mutant that an error in a column is about: the last that begins before, or the
// first of the line.
func culprit(line string, column int) (id int) {
	for _, at := range choice.FindAllStringSubmatchIndex(line, -1) {
		if id == 0 || at[0] < column {
			id, _ = strconv.Atoi(line[at[2]:at[3]])
		}
	}
	return id
}

// prepare builds tests with all mutants and sees which each of them reaches, so that a mutant meets
// no others. The tests that reach the least come first: they fail sooner.
func (p *subject) prepare(holder, overlay, name string) ([]tests, error) {
	pkg, only, _ := strings.Cut(holder, "=")
	t := tests{
		program: filepath.Join(p.dir, name+".test"),
		dir:     filepath.Join(p.root, pkg),
		took:    10 * time.Minute,
	}
	if slices.Contains(whole, p.pkg) {
		t.env = []string{"LABEL_STATE_TEST=all"}
	}

	said, err := p.command("go", "test", "-c", "-overlay", overlay, "-o", t.program, "./"+pkg).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, said)
	}

	if _, err := os.Stat(t.program); errors.Is(err, os.ErrNotExist) {
		return nil, nil // the package has no tests of its own
	}

	t.args = []string{"-test.v", "-test.run=" + only}
	said, err = t.run(overlay, "0")
	if err != nil {
		return nil, fmt.Errorf("they fail without a mutant: %w: %s", err, said)
	}

	var all []tests
	depth := strings.Count(only, "/")
	for _, found := range begun.FindAllStringSubmatch(string(said), -1) {
		if strings.Count(found[1], "/") != depth {
			continue
		}

		only := "^" + strings.ReplaceAll(regexp.QuoteMeta(found[1]), "/", "$/^") + "$"
		one, err := t.reach(only, overlay)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}

	slices.SortStableFunc(all, func(a, b tests) int { return cmp.Compare(len(a.reached), len(b.reached)) })
	return all, nil
}

var begun = regexp.MustCompile(`(?m)^=== RUN +(\S+)$`)

// reach returns the tests of a pattern with the mutants that they reach.
func (t tests) reach(only, overlay string) (tests, error) {
	t.args = []string{"-test.failfast", "-test.run=" + only}
	list := filepath.Join(t.folder("0"), "reached")
	if err := os.RemoveAll(list); err != nil {
		return t, err
	}

	begin := time.Now()
	if said, err := t.run(overlay, "0"); err != nil {
		return t, fmt.Errorf("they fail without a mutant: %w: %s", err, said)
	}
	t.took = time.Since(begin)

	reached, err := os.ReadFile(list)
	if errors.Is(err, os.ErrNotExist) {
		return t, nil
	}

	t.reached = map[string]bool{}
	for id := range strings.FieldsSeq(string(reached)) {
		t.reached[id] = true
	}

	return t, err
}

// folder is where a run's temporary files are: tests that fail leave some.
func (t tests) folder(mutant string) string {
	return filepath.Join(filepath.Dir(t.program), "MUTANT="+mutant)
}

// run runs the tests, within five times what they took while they noted what they reach.
func (t tests) run(overlay, mutant string) ([]byte, error) {
	if err := os.MkdirAll(t.folder(mutant), 0o700); err != nil {
		return nil, err
	}

	limit := 5*t.took + 5*time.Second
	ctx, cancel := context.WithTimeout(context.Background(), limit+10*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, t.program, append(t.args, "-test.timeout="+limit.String())...)
	c.Dir = t.dir
	c.Env = append(os.Environ(), "GOFLAGS=-overlay="+overlay, "RAPID_SEED=1", "RAPID_NOFAILFILE=1",
		"TMPDIR="+t.folder(mutant), "MUTANT="+mutant)
	c.Env = append(c.Env, t.env...)
	c.WaitDelay = time.Second
	said, err := c.CombinedOutput()
	if mutant != "0" {
		_ = os.RemoveAll(t.folder(mutant)) // what is left goes with all the rest
	}

	return said, err
}

// draw returns the mutants to play, in an order that the seed decides.
func (p *subject) draw() []mutant {
	order := func(m mutant) []byte {
		sum := sha256.Sum256(fmt.Append(nil, p.seed, m.file, m.key()))
		return sum[:]
	}
	drawn := slices.DeleteFunc(slices.Clone(p.mutants),
		func(m mutant) bool { return slices.Contains(p.equivalent[p.pkg], m.key()) })
	slices.SortStableFunc(drawn, func(a, b mutant) int { return bytes.Compare(order(a), order(b)) })
	if p.most > 0 && p.most < len(drawn) {
		drawn = drawn[:p.most]
	}

	return drawn
}

// killed reports whether a test fails with the mutant.
func (p *subject) killed(m mutant, all []tests, overlay string) bool {
	id := strconv.Itoa(m.id)
	return slices.ContainsFunc(all, func(t tests) bool {
		if !t.reached[id] {
			return false
		}
		_, err := t.run(overlay, id)
		return err != nil
	})
}

func (o *options) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = o.root
	return c
}
