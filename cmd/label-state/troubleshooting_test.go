package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const troubleshooting = "../../docs/troubleshooting.md"

// unseen are the types of errors that no trial meets, and why.
var unseen = map[string]string{
	"internal/lease.DeniedError":       "of a strict store; testdata/lease and internal/ledger meet it",
	"internal/lease.Error":             "of a strict store; testdata/lease and internal/ledger meet it",
	"internal/ledger.StoreError":       "of a strict store; testdata/lease and internal/ledger meet it",
	"internal/slackgate.BusyError":     "Slack's: internal/slackgate waits as long as it says",
	"internal/ledger.BarredError":      "plan.go makes its text an answer no; a trial hears it",
	"internal/prchain.MismatchError":   "chain.txtar plays it",
	"internal/prchain.NoChainError":    "chain.txtar plays it",
	"internal/prchain.PlanError":       "chain.txtar plays it",
	"internal/prchain.UnreadableError": "chain.txtar plays it",
	"internal/prchain.BusyError":       "chain.txtar plays it",
	"internal/migrate.FileError":       "migrate.go makes its text a usage error; a trial hears it",
	"internal/action.InputError":       "the Action's: the runner shows it, docs/action.md has the inputs",
	"internal/outgoing.LineError":      "the hook's: git would have to send nonsense",
	"internal/github.DryRunError":      "a dry run prints what it would do",
	"internal/hookfile.RefusedError":   "hook.go makes its text an answer no; a trial hears it",
	"internal/host.NotGitHubError":     "such a remote is as good as none; a trial hears that",
	"internal/labels.IllegalMoveError": "no command moves labels: they follow the log",
	"internal/lease/gitref.ChainError": "of a strict store; docs/spec.md",
	"internal/lease.HeldError":         "of a strict store; the ledger makes it a ledger.HeldError",
	"internal/ledger.LabelsError":      "printed as a warning; a trial hears it",
	"internal/localpause.NameError":    "the name was read as a reference before",
	"internal/work.UnknownTypeError":   "no command takes the type of a source",
}

// checkTypes wants every exported type of error of the packages below internal to have been met.
func checkTypes(t *testing.T, seen map[string]bool) {
	t.Helper()
	for _, file := range parsed(t, "../../internal") {
		pkg := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(file.name), "../../"))
		for name := range file.errorTypes() {
			switch name = pkg + "." + name; {
			case !seen[name] && unseen[name] == "":
				t.Errorf("%s: no trial of %s meets it", name, errorsGolden)
			case seen[name] && unseen[name] != "":
				t.Errorf("%s: a trial meets it; take it out of unseen", name)
			}
		}
	}
}

// A sourceFile is one file of the product, parsed.
type sourceFile struct {
	name string
	*ast.File
}

// parsed are the files of the product below dir, but for the simulator and what only tests use.
func parsed(t *testing.T, dir string) (all []sourceFile) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"githubsim", "testdata", "leasetest", "claimtest"}, d.Name()):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		all = append(all, sourceFile{name, f})
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("%d files below %s: %v", len(all), dir, err)
	}
	return all
}

// errorTypes are the exported types named Error or …Error.
func (f sourceFile) errorTypes() map[string]bool {
	found := map[string]bool{}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, s := range g.Specs {
			if name := s.(*ast.TypeSpec).Name; name.IsExported() && strings.HasSuffix(name.Name, "Error") {
				found[name.Name] = true
			}
		}
	}
	return found
}

// unheard are the beginnings of texts that no trial hears, and why.
var unheard = map[string]string{
	"stop work on it; see where it stands: label-state status ":                   "needs an answer while the plan waits: plan.txtar",
	"correct plan.slack, or leave --slack out: a plan can be answered on GitHub":  "needs a Slack that refuses: slack.txtar",
	"--file has the whole plan; leave --feature, --parent, --pr and --closes out": "a chain's: chain.txtar plays the commands",
	"--closes %q: want last, none, or 1 to %d":                                    "a chain's: chain.txtar plays the commands",
	"read plan: %s": "a chain's: chain.txtar plays the commands",
	"what is planned? Give --parent and --pr, or --file":            "a chain's: chain.txtar plays the commands",
	"%s: unexpected argument %q; pull requests are given with --pr": "a chain's: chain.txtar plays the commands",
	"--interval %s: want more than nothing, such as 15s":            "a chain's: chain.txtar plays the commands",
	"the checks of ":                "a chain's: chain.txtar plays the commands",
	"label-state chain plan --help": "a chain's: chain.txtar plays the commands",
	"go on with that one: label-state chain execute --feature ":                                                         "a chain's: chain.txtar plays the commands",
	"begin it: label-state chain execute --feature ":                                                                    "a chain's: chain.txtar plays the commands",
	" --parent owner/repo#7 --pr owner/repo:branch":                                                                     "a chain's: chain.txtar plays the commands",
	"do not begin anew, its pull requests would not be known; restore the file, or move it away once they are closed: ": "a chain's: chain.txtar plays the commands",
	"wait for the other one, then: label-state chain execute --feature ":                                                "a chain's: chain.txtar plays the commands",
	"is the branch pushed, with commits that its base lacks? Then: label-state chain execute --feature ":                "a chain's: chain.txtar plays the commands",
	"see to them, then: label-state chain execute --feature ":                                                           "a chain's: chain.txtar plays the commands",
	"see which: label-state chain status --feature ":                                                                    "a chain's: chain.txtar plays the commands",
	"use the configuration of the default branch: git pull, and leave --config and LABEL_STATE_CONFIG out":              "needs a strict store, or a bundle that fails midway: no test compares these words",
	"git pull, and leave --config and LABEL_STATE_CONFIG out":                                                           "needs a strict store, or a bundle that fails midway: no test compares these words",
	"use the label-state program itself":                                                                                "needs a strict store, or a bundle that fails midway: no test compares these words",
	"nothing is claimed while the lease store cannot be asked; see whether it answers: ":                                "needs a strict store, or a bundle that fails midway: no test compares these words",
	"--token %d: want the number that claim printed":                                                                    "needs a strict store, or a bundle that fails midway: no test compares these words",
	"what is left lapses within ten minutes, or at once with: label-state bundle release ":                              "needs a strict store, or a bundle that fails midway: no test compares these words",
	"nothing is held; run it again":                                                                                     "needs a strict store, or a bundle that fails midway: no test compares these words",
	"what was made before stays; run it again":                                                                          "needs a folder that cannot be written: init_test.go",
	"what was brought over stays; run it again":                                                                         "GitHub's errors have hints of their own",
	"it changed while you looked; nothing was done":                                                                     "needs keys in a terminal: board_test.go",
	"nothing was done": "needs an answer in a terminal: init_test.go",
	"label-state init --dry-run shows the same again":                 "needs an answer in a terminal: init_test.go",
	"start it from a client: docs/mcp.md":                             "needs a client that breaks off: mcp_process_test.go",
	" is archived: nothing can be written":                            "only a seed can archive a repository",
	"issues are switched off in ":                                     "only a seed can switch them off",
	"install git, then run it again":                                  "the tests themselves need git",
	"run it in a clone of the project, or install all three programs": "the tests run in a clone of the project",
	"remove the rest later with: label-state worktree prune":          "git would have to fail twice: internal/worktree tests it",
}

// checkTexts wants every hint and every text of trouble that this package writes to be in the trials.
func checkTexts(t *testing.T, trials []trial) {
	t.Helper()
	said := ""
	for _, tr := range trials {
		for _, q := range tr.asked {
			said += strings.Join(q.answer, "\n") + "\n"
		}
	}
	used := map[string]bool{}
	for _, file := range parsed(t, ".") {
		for _, text := range file.troubles() {
			if !pattern(text).MatchString(said) {
				if _, excused := unheard[text]; !excused {
					t.Errorf("%s: %q: no trial of %s hears it", file.name, text, errorsGolden)
				}
				used[text] = true
			}
		}
	}
	for text := range unheard {
		if !used[text] {
			t.Errorf("%q is heard, or nobody says it; take it out of unheard", text)
		}
	}
}

// pattern matches what a format prints.
func pattern(format string) *regexp.Regexp {
	return regexp.MustCompile(regexp.MustCompile(`%(\\?[+#])?[a-z]`).ReplaceAllString(regexp.QuoteMeta(format), `.*`))
}

// troubles are the texts with which a file tells of trouble: what hint functions return, hints of failures,
// texts of answers no, and formats of wrong.
func (f sourceFile) troubles() (texts []string) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ReturnStmt:
				if strings.HasPrefix(fn.Name.Name, "hint") && len(n.Results) == 1 {
					texts = append(texts, literals(n.Results[0])...)
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "hint" {
					texts = append(texts, literals(n.Value)...)
				}
			case *ast.CompositeLit:
				if name, ok := n.Type.(*ast.Ident); ok && name.Name == "answerNo" && len(n.Elts) > 0 {
					texts = append(texts, literals(n.Elts[0])...)
				}
			case *ast.CallExpr:
				if name, ok := n.Fun.(*ast.Ident); ok && name.Name == "wrong" && len(n.Args) > 1 {
					texts = append(texts, literals(n.Args[1])...)
				}
			}
			return true
		})
	}
	return texts
}

// literals are the words that an expression is made of: those long enough to be told from others.
func literals(e ast.Expr) (texts []string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && len(text) > len("label-state ") {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}

// pageOf is docs/troubleshooting.md.
func pageOf(trials []trial) string {
	var b strings.Builder
	b.WriteString("# When something is wrong\n\n" +
		"Everything that label-state says when it cannot do what it was asked, by what you were doing. A test runs each of these\n" +
		"command lines and compares; this page is made from `cmd/" + "label-state/" + errorsGolden + "`.\n\n" +
		"Every error is a line *verb object: reason* and a `hint:` with the next command. The exit code tells no (1) from called or\n" +
		"configured wrongly (2), could not find out (3) and no work (4). When nothing here fits: `label-state doctor`, then the\n" +
		"same command with `--verbose`. For runs of the workflow see [the Action](action.md#when-something-is-wrong).\n")
	group := ""
	for _, tr := range trials {
		if tr.group != group {
			b.WriteString("\n## " + tr.group + "\n")
			group = tr.group
		}
		b.WriteString("\n### " + tr.title + "\n\n" + fill(tr.cause, 0, 125) + "\n```console\n")
		for _, q := range tr.asked {
			b.WriteString(q.shown())
		}
		b.WriteString("```\n\n" + fill(tr.remedy, 0, 125))
	}
	return b.String()
}

// shown is what a person sees.
func (q question) shown() string {
	if q.mark == "=" {
		return strings.Join(q.answer, "\n") + "\n"
	}
	last := len(q.answer) - 1
	return "$ " + q.line + "\n" + strings.Join(q.answer[:last], "\n") + "\n(" + strings.Replace(q.answer[last], "exit", "exit code", 1) + ")\n"
}

// checkHints wants a next command behind every failure.
func checkHints(t *testing.T, trials []trial) {
	t.Helper()
	for _, tr := range trials {
		for _, q := range tr.asked {
			n := len(q.answer)
			if q.mark == "=" {
				continue
			}
			if n < 2 || q.answer[n-1] != "exit 0" && !strings.HasPrefix(q.answer[n-2], "hint: ") {
				t.Errorf("$ %s\n%s\nno hint", q.line, strings.Join(q.answer, "\n"))
			}
		}
	}
}

// checkPage compares a page with what it has to be; -update writes it.
func checkPage(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s is not up to date (%v); run this package's tests with -update", path, err)
	}
}
