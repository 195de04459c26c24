// Package internal has no code of its own: this test is the wall between the packages below it.
package internal

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/label-state/label-state"

// mayImport is who may import whom (docs/design.md, "The packages"): for each package, the
// packages of ours that its code may import; tests may import what they like. A package that is not
// here fails the test. Changing a row is a design decision.
var mayImport = map[string][]string{
	"answer":             {},
	"internal/labels":    {},
	"internal/claim":     {},
	"internal/lifecycle": {"internal/claim", "internal/labels", "internal/printable"},
	"internal/closing":   {"internal/claim"},
	"internal/host":      {"answer", "internal/claim", "internal/closing"},
	"internal/dedup": {
		"internal/claim", "internal/labels", "internal/lifecycle", "internal/closing",
		"internal/printable",
	},

	"internal/printable": {},
	"internal/clock":     {},

	"internal/smallfile": {}, // files that others may have made
	// the one way to run it and to find its directories
	"internal/git": {"internal/printable", "internal/smallfile"},

	"internal/outgoing": {"internal/git", "internal/smallfile"},
	"internal/hookfile": {"internal/git", "internal/printable", "internal/smallfile"},

	"internal/golden":   {}, // of tests only
	"internal/sample":   {}, // of tests only
	"internal/testmain": {}, // of tests only
	"internal/programs": {}, // of tests only
	"internal/process":  {},
	"internal/state": { // what this machine remembers
		"answer",
		"internal/agenthost", "internal/claim", "internal/git", "internal/printable", "internal/process",
		"internal/smallfile",
	},
	"internal/workflow": {},
	"internal/worktree": {"answer", "internal/labels", "internal/state", "internal/printable", "internal/git"},
	"internal/gitpush":  {"answer", "internal/git"},

	"internal/agenthost":  {"internal/claim"},
	"internal/agentsetup": {"internal/agenthost", "internal/printable", "internal/state", "internal/smallfile"},

	"internal/lease":           {"internal/claim", "internal/clock"},
	"internal/lease/leasetest": {"internal/claim", "internal/lease", "internal/clock"}, // the exam of every store
	"internal/lease/gitref":    {"answer", "internal/claim", "internal/lease", "internal/clock", "internal/printable"},
	"internal/lease/redis":     {"internal/claim", "internal/lease"},

	"internal/slackgate": {"internal/printable"},

	"internal/protocol": {
		"answer",
		"internal/claim", "internal/labels", "internal/lifecycle", "internal/lease",
		"internal/printable",
	},
	"internal/ledger": {
		"answer",
		"internal/claim", "internal/labels", "internal/lifecycle", "internal/lease", "internal/protocol",
		"internal/clock",
	},
	"internal/github": {
		"answer",
		"internal/claim", "internal/labels", "internal/lifecycle", "internal/closing", "internal/ledger", "internal/protocol",
		"internal/clock", "internal/printable",
		"internal/lease/gitref", // whose refs it serves
		"internal/prchain",      // whose pull requests it opens and reads
	},
	"internal/config": {
		"internal/claim", "internal/labels", "internal/lifecycle", "internal/lease", "internal/ledger",
		"internal/printable",
	},

	"internal/prchain": {"answer", "internal/claim", "internal/labels", "internal/closing", "internal/state"},

	"internal/keep": {"internal/claim", "internal/ledger", "internal/lifecycle", "internal/clock"},

	"internal/stats": {"internal/claim", "internal/labels", "internal/lifecycle", "internal/printable"},
	"internal/board": {
		"internal/claim", "internal/labels", "internal/lifecycle", "internal/printable",
		"work", // the order of a queue, and what labels say of urgency
	},

	"internal/githubwork": {
		"answer",
		"internal/claim", "internal/labels", "internal/lifecycle", "internal/ledger", "internal/github",
		"internal/printable", "work",
		"internal/lease", // whether a write was certainly refused
	},

	"internal/mcp": {"answer", "internal/cli", "internal/printable", "internal/setup"}, // the verbs as tools

	"internal/githubsim":         {"internal/githubsim/gitrepo"},
	"internal/githubsim/gitrepo": {},
	"internal/simulation":        {}, // its tests import the product

	"internal/claim/claimtest": {"internal/claim"}, // logs for tests

	"internal/setup": {
		"answer",
		"internal/claim", "internal/labels", "internal/lifecycle", "internal/host", "internal/config",
		"internal/ledger", "internal/github", "internal/state", "internal/clock", "internal/printable",
		"internal/git", "internal/smallfile",
		"internal/agenthost", "internal/process",
		"internal/lease", "internal/lease/gitref", // no client but GitHub's; main gives it the others
	},
	"internal/action": {
		"answer",
		"internal/claim", "internal/labels", "internal/lifecycle", "internal/closing", "internal/host",
		"internal/ledger", "internal/github", "internal/prchain", "internal/printable", "internal/setup",
		"internal/config",
	},

	// What others import beside the package at the root: the client of Redis, so that only who
	// names it is linked with it, and sources of work.
	"lease/redis": {".", "internal/lease", "internal/lease/redis"},
	"work":        {"answer", "internal/printable"},

	"examples/folder": {"work"}, // no more than a program outside this module can import

	"cmd/pre-push": {"internal/closing", "internal/git", "internal/outgoing"},
	"internal/pushcheck": {
		"internal/claim", "internal/labels", "internal/lifecycle", "internal/closing", "internal/host",
		"internal/dedup", "internal/outgoing", "internal/config", "internal/ledger", "internal/github",
		"internal/state", "internal/setup", "internal/agenthost", "internal/lease", "internal/smallfile", "internal/git",
	},
	"cmd/pre-push-check": {"internal/pushcheck", "internal/setup"},
	"cmd/action": {
		"internal/action", "internal/claim", "internal/config", "internal/ledger", "internal/github",
		"internal/setup", "internal/lease", "internal/lease/redis", "internal/git",
	},
	"cmd/label-state": {"internal/cli/app", "internal/lease", "internal/lease/redis", "internal/setup"},
	"internal/cli/app": {
		"internal/cli", "internal/setup",
		"internal/cli/hold", "internal/cli/queue", "internal/cli/feature", "internal/cli/operate", "internal/cli/local",
		"internal/cli/try",
	},
	"internal/trouble": { // which problem an error comes to, for the command line and the Go package
		"answer", "internal/claim", "internal/config", "internal/github", "internal/host", "internal/lease",
		"internal/ledger",
		"internal/lifecycle", "internal/printable", "internal/setup", "internal/state", "work",
	},
	"internal/cli": {
		"answer", "internal/trouble", "internal/clock", "internal/agenthost",
		"internal/claim", "internal/config", "internal/git", "internal/github", "internal/gitpush",
		"internal/hookfile", "internal/host", "internal/keep", "internal/labels", "internal/lease", "internal/ledger",
		"internal/lifecycle", "internal/prchain", "internal/printable", "internal/setup",
		"internal/slackgate", "internal/smallfile", "internal/state", "internal/worktree", "work",
	},
	"internal/cli/hold": {
		"answer",
		"internal/claim", "internal/cli", "internal/git", "internal/gitpush", "internal/host", "internal/labels",
		"internal/ledger", "internal/lifecycle", "internal/setup", "internal/trouble",
	},
	"internal/cli/queue": {
		"answer",
		"internal/claim", "internal/cli", "internal/config", "internal/githubwork", "internal/labels",
		"internal/ledger",
		"internal/lifecycle", "internal/printable", "internal/setup", "internal/slackgate", "internal/trouble", "work",
	},
	"internal/cli/feature": {
		"answer", "internal/trouble",
		"internal/claim", "internal/cli", "internal/github", "internal/host", "internal/labels",
		"internal/ledger",
		"internal/lifecycle", "internal/prchain", "internal/printable", "internal/setup", "internal/state",
		"internal/worktree",
	},
	"internal/cli/operate": {
		"answer", "internal/trouble",
		"internal/board", "internal/claim", "internal/cli", "internal/github", "internal/host", "internal/labels",
		"internal/ledger",
		"internal/lifecycle", "internal/printable", "internal/setup", "internal/smallfile", "internal/state",
		"internal/stats",
	},
	"internal/cli/local": {
		"answer",
		"internal/agenthost", "internal/agentsetup", "internal/claim", "internal/cli", "internal/config",
		"internal/git", "internal/github", "internal/gitpush", "internal/hookfile", "internal/keep", "internal/lease",
		"internal/ledger",
		"internal/lifecycle", "internal/mcp", "internal/printable", "internal/process", "internal/pushcheck",
		"internal/setup",
		"internal/smallfile", "internal/state", "internal/workflow",
	},
	"internal/cli/try": {
		"answer",
		"internal/cli", "internal/config", "internal/githubsim", "internal/workflow",
	},
}

// ofTests are the packages whose code is for tests.
var ofTests = []string{"internal/golden", "internal/lease/leasetest"}

// pure are the packages that compute and do nothing else.
var pure = []string{
	"answer", "internal/labels", "internal/claim", "internal/lifecycle", "internal/protocol", "internal/closing",
	"internal/dedup",
	"internal/host", "internal/printable", "internal/stats", "internal/agenthost",
	"internal/workflow",
}

// impure is what a pure package never imports: whatever waits, reads, writes, logs or draws lots.
var impure = []string{
	"context", "io", "os", "net", "net/http", "sync", "log", "log/slog", "math/rand", "math/rand/v2",
	"crypto/rand",
}

// mayNotReach is what a program must not be linked with, through any number of imports: packages of
// ours by path, other modules by prefix.
var mayNotReach = map[string][]string{
	// To be linked with these costs a push time, whether it uses them or not (docs/speed.md).
	"cmd/pre-push": {
		"net", "net/http", "encoding/json", "text/template", "github.com/google/go-github", "go.yaml.in",
		"github.com/go-git/go-git/v5/config", "github.com/go-git/go-git/v5/plumbing/format/config",
		"github.com/go-git/go-git/v5/plumbing/object", "github.com/go-git/go-git/v5/storage",
	},
	"cmd/pre-push-check": {
		"internal/githubsim", "internal/claim/claimtest", "github.com/urfave/cli",
		"github.com/gomodule/redigo", "internal/mcp", "github.com/modelcontextprotocol", "github.com/slack-go",
		"internal/board", "charm.land", "internal/cli",
	},
	"cmd/action": {
		"internal/githubsim", "internal/claim/claimtest", "internal/mcp",
		"github.com/modelcontextprotocol",
		"github.com/slack-go", "internal/board", "charm.land",
	},
	"cmd/label-state": {"internal/claim/claimtest"},
	".": {
		"internal/githubsim", "internal/claim/claimtest", "internal/board", "internal/mcp",
		"github.com/gomodule/redigo",
		"google.golang.org", "github.com/go-git", "github.com/urfave/cli", "charm.land", "github.com/slack-go",
	},
}

// A source is the parsed code of one package: its files without the tests.
type source struct {
	dir   string
	files []*ast.File
}

func TestLayers(t *testing.T) {
	sources := parseTree(t, "..")
	if len(sources) == 0 {
		t.Fatal("no package found below the module root")
	}

	for _, complaint := range check(sources) {
		t.Error(complaint)
	}
}

// TestLayersCanFail feeds check one bad package at a time, so that a rule that no longer sees
// anything is found out.
func TestLayersCanFail(t *testing.T) {
	for _, c := range []struct {
		name, dir, code, want string
	}{
		{"package without a row", "internal/util", `package util`, "internal/util is not in mayImport"},
		{
			"import not allowed", "internal/claim", `package claim; import _ "` + module + `/internal/ledger"`,
			"imports internal/ledger",
		},
		{
			"simulator knows us", "internal/githubsim", `package githubsim; import _ "` + module + `/internal/claim"`,
			"imports internal/claim",
		},
		{
			"root package from inside", "internal/ledger", `package ledger; import _ "` + module + `"`,
			"imports the root package",
		},
		{
			"pure package with a context", "internal/labels", `package labels; import _ "context"`,
			`is pure and imports "context"`,
		},
		{
			"pure package with a clock", "internal/claim", `package claim; import "time"; var now = time.Now()`,
			"is pure and uses time.Now",
		},
		{
			"clock under another name", "internal/claim", `package claim; import t "time"; var now = t.Now`,
			"is pure and uses time.Now",
		},
		{
			"environment", "internal/github", `package github; import "os"; var v, _ = os.LookupEnv("X")`,
			"os.LookupEnv belongs",
		},
		{"exit", "internal/setup", `package setup; import "os"; func f() { os.Exit(1) }`, "os.Exit belongs"},
		{"dot import", "internal/github", `package github; import . "os"`, "dot import"},
		{"testing in the product", "internal/github", `package github; import _ "testing"`, `imports "testing"`},
		{"first stage with a network", "cmd/pre-push", `package main; import _ "net/http"`, "reaches net by"},
		{
			"root with a lease store's client", ".", `package labelstate; import _ "github.com/gomodule/redigo/redis"`,
			". reaches github.com/gomodule/redigo",
		},
		{
			"hook with the simulator", "cmd/pre-push-check", `package main; import _ "` + module + `/internal/githubsim"`,
			"reaches internal/githubsim",
		},
		{
			"hook with a CLI library", "cmd/pre-push-check", `package main; import _ "github.com/urfave/cli/v2"`,
			"reaches github.com/urfave/cli",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := check([]source{parseText(t, c.dir, c.code)})
			if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, c.want) }) {
				t.Errorf("check found %q, want a complaint with %q", got, c.want)
			}
		})
	}
}

func TestLayersFollowsImports(t *testing.T) {
	const code = `package p; import _ "` + module + `/internal/`
	sources := []source{
		parseText(t, "cmd/pre-push-check", code+`setup"`),
		parseText(t, "internal/setup", code+`github"`),
		parseText(t, "internal/github", `package github; import _ "github.com/gomodule/redigo/redis"`),
	}
	want := "cmd/pre-push-check reaches github.com/gomodule/redigo by cmd/pre-push-check → internal/setup → internal/github → github.com/gomodule/redigo/redis"
	if got := check(sources); !slices.Contains(got, want) {
		t.Errorf("check found %q, want %q", got, want)
	}
}

// check returns one complaint for each breach of the tables above.
func check(sources []source) []string {
	var complaints []string
	graph := make(map[string][]string, len(sources))
	for _, s := range sources {
		graph[s.dir] = s.imports()
		complaints = append(complaints, checkImports(s.dir, graph[s.dir])...)
		for _, f := range s.files {
			complaints = append(complaints, checkUses(s.dir, f)...)
		}
	}

	for _, program := range slices.Sorted(maps.Keys(mayNotReach)) {
		complaints = append(complaints, checkReach(graph, program)...)
	}

	return complaints
}

// checkImports holds one package's imports against its row.
func checkImports(dir string, imports []string) (complaints []string) {
	allowed, known := mayImport[dir]
	if !known && dir != "." {
		complaints = append(complaints, dir+" is not in mayImport: say what it may import")
	}

	for _, p := range imports {
		switch {
		case p == "." && !slices.Contains(allowed, p):
			complaints = append(complaints, dir+" imports the root package, which is for others")
		case known && isOurs(p) && !slices.Contains(allowed, p):
			complaints = append(complaints, fmt.Sprintf("%s imports %s, which its row does not allow", dir, p))
		case p == "testing" && !slices.Contains(ofTests, dir):
			complaints = append(complaints, dir+` imports "testing" outside its tests`)
		case slices.Contains(pure, dir) && slices.Contains(impure, p):
			complaints = append(complaints, fmt.Sprintf("%s is pure and imports %q", dir, p))
		}
	}

	return complaints
}

// checkUses looks for the functions that only some packages may use, called or passed on.
func checkUses(dir string, f *ast.File) (complaints []string) {
	names := map[string]string{} // the file's name of a package → its path
	for _, spec := range f.Imports {
		p, name := importPath(spec), ""
		if name = path.Base(p); spec.Name != nil {
			name = spec.Name.Name
		}

		if name == "." && !strings.Contains(p, ".") {
			complaints = append(complaints, fmt.Sprintf("%s hides uses of %q behind a dot import", dir, p))
		}
		names[name] = p
	}

	// two of tests only
	isMain, isSetup := strings.HasPrefix(dir,
		"cmd/"), slices.Contains([]string{"internal/setup", "internal/sample", "internal/testmain"}, dir)
	ast.Inspect(f, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}

		x, ok := selector.X.(*ast.Ident)
		if !ok {
			return true
		}

		switch use := names[x.Name] + "." + selector.Sel.Name; {
		case use == "time.Now" && slices.Contains(pure, dir):
			complaints = append(complaints, dir+" is pure and uses time.Now")
		case use == "os.Exit" && !isMain:
			complaints = append(complaints, "os.Exit belongs to main, not to "+dir)
		case (use == "os.Getenv" || use == "os.LookupEnv" || use == "os.Environ") && !isMain && !isSetup:
			complaints = append(complaints, use+" belongs to main and internal/setup, not to "+dir)
		}

		return true
	})

	return complaints
}

// checkReach walks the imports from program and complains once of each thing it must not be linked
// with.
func checkReach(graph map[string][]string, program string) (complaints []string) {
	way := map[string]string{program: program} // what was reached → how
	queue := []string{program}
	for len(queue) > 0 {
		from := queue[0]
		queue = queue[1:]
		for _, to := range graph[from] {
			if way[to] == "" {
				way[to] = way[from] + " → " + to
				queue = append(queue, to)
			}
		}
	}

	for _, banned := range mayNotReach[program] {
		reached := slices.Sorted(maps.Keys(way))
		i := slices.IndexFunc(reached, func(p string) bool { return p == banned || strings.HasPrefix(p, banned+"/") })
		if i >= 0 {
			complaints = append(complaints, fmt.Sprintf("%s reaches %s by %s", program, banned, way[reached[i]]))
		}
	}

	return complaints
}

// imports returns what the package imports, each once; packages of ours by their folder.
func (s source) imports() []string {
	var all []string
	for _, f := range s.files {
		for _, spec := range f.Imports {
			all = append(all, importPath(spec))
		}
	}

	slices.Sort(all)
	return slices.Compact(all)
}

// importPath returns the path of an import: the folder for packages of ours, "." for the root.
func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	if p == module {
		return "."
	}

	return strings.TrimPrefix(p, module+"/")
}

func isOurs(p string) bool {
	return strings.HasPrefix(p, "internal/") || strings.HasPrefix(p, "cmd/") || p == "answer" || p == "work" ||
		strings.HasPrefix(p, "examples/")
}

// parseTree parses every package below root, without tests. It reads the files itself: a test that
// asks "go list" is cached without them and passes when it should not.
func parseTree(t *testing.T, root string) []source {
	t.Helper()
	packages := map[string]*source{}
	set := token.NewFileSet()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return enter(root, name)
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}

		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}

		dir, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}

		dir = filepath.ToSlash(dir)
		if packages[dir] == nil {
			packages[dir] = &source{dir: dir}
		}

		packages[dir].files = append(packages[dir].files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sources := make([]source, 0, len(packages))
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		sources = append(sources, *packages[dir])
	}

	return sources
}

// enter says whether the walk goes into a folder: not where the go command would not go either.
func enter(root, name string) error {
	base := filepath.Base(name)
	if name == root {
		return nil
	}
	if base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
		return fs.SkipDir
	}

	return nil
}

func parseText(t *testing.T, dir, code string) source {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), dir+"/bad.go", code, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return source{dir: dir, files: []*ast.File{f}}
}
