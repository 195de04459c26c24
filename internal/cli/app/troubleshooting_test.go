package app

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
)

const troubleshooting = "../../../docs/troubleshooting.md"

// unseen are the types of errors that no trial meets, and why.
var unseen = map[string]string{
	"internal/cli/local.KeptError": "between a step and what shows the steps",
	"internal/lease.HeldError":     "between a lease store and the ledger, which makes it a ledger.HeldError",
}

// told are the types of errors that people hear of in words alone, as a warning or from another
// program, and the words.
var told = map[string]string{
	"internal/action.InputError":  `input mode: "guess"; allowed: `,
	"internal/ledger.LabelsError": "labels are late: ",
}

// checkTypes wants every exported type of error of the packages below internal to have been met.
func checkTypes(t *testing.T, said string, seen map[string]bool) {
	t.Helper()
	for name, words := range told {
		if seen[name] = strings.Contains(said, words); !seen[name] {
			t.Errorf("%s: no trial of %s hears %q", name, errorsGolden, words)
		}
	}

	for _, file := range parsed(t, "../../../internal") {
		pkg := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(file.name), "../../../"))
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
			spec := s.(*ast.TypeSpec)
			alias := spec.Assign.IsValid() // another package's
			if name := spec.Name; name.IsExported() && strings.HasSuffix(name.Name, "Error") && !alias {
				found[name.Name] = true
			}
		}
	}

	return found
}

// unheard are the beginnings of texts that no trial hears, and why.
var unheard = map[string]string{
	"it changed in the meantime; nothing was done": "on the board's screen: board_test.go",
	"the answer could not be written: ":            "TestAnswerUnwritten",
	"; what was done is not undone":                "TestAnswerUnwritten",
	"give it more time":                            "doctor says it of a check, on standard output: doctor.txtar",
	"create this agent's queue label":              "only next of an agent with a label of its own: agents.txtar",
	"make the labels":                              "status, next, board and init say it where nothing has failed",
}

// heard is all that the trials hear.
func heard(trials []trial) string {
	var said strings.Builder
	for _, tr := range trials {
		for _, q := range tr.asked {
			said.WriteString(strings.Join(q.answer, "\n") + "\n")
		}
	}

	return said.String()
}

// checkTexts wants every hint and every text of trouble that the commands write to be in the
// trials.
func checkTexts(t *testing.T, said string) {
	t.Helper()
	used := map[string]bool{}
	for _, file := range parsed(t, "..") {
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

// troubles are the texts with which a file tells of trouble: what is done about it, texts of
// answers no, and formats of Usagef.
func (f sourceFile) troubles() (texts []string) {
	for _, d := range f.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if called(n.Type) == "Problem" {
					texts = append(texts, whyOf(n)...)
				}
			case *ast.CallExpr:
				if at, words := spoken[called(n.Fun)]; words && len(n.Args) > at {
					texts = append(texts, literals(n.Args[at])...)
				}
			}

			return true
		})
	}

	return texts
}

// called is the name of a function or type, of this package or of another.
func called(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}

	return ""
}

// whyOf are the words of a problem.
func whyOf(problem *ast.CompositeLit) []string {
	for _, e := range problem.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok && called(pair.Key) == "Why" {
			return literals(pair.Value)
		}
	}
	return nil
}

// spoken are the functions that word trouble and what to do about it, with the argument that has
// the words.
var spoken = map[string]int{"Usagef": 1, "Declined": 0, "Call": 0, "Advice": 0, "Shell": 0, "doctor": 0}

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

// pageOf is docs/troubleshooting.md, made from the list of codes.
func pageOf() string {
	var b strings.Builder
	b.WriteString("# When something is wrong\n\n" +
		"For people who read an error of label-state: a line *verb object: reason*, and a `hint:` with the next command. With `--json` the answer has the\n" +
		"`code` of the table and, in `next`, the same commands. If the hint does not help, run `label-state doctor`, then the same command with `--verbose`.\n" +
		"For runs of the workflow see [the Action](action.md#when-something-is-wrong). The reasons why an issue is held are in [the command line](cli.md#json).\n")

	about := map[int]string{
		answer.ExitNo:      "No",
		answer.ExitWrong:   "Called or configured wrongly",
		answer.ExitUnknown: "Could not find out",
		answer.ExitNoWork:  "No work",
	}
	exit := answer.ExitYes
	for _, m := range answer.Meanings() {
		if m.Exit != exit {
			exit = m.Exit
			fmt.Fprintf(&b, "\n## %s (exit code %d)\n\n| code | means | usually next |\n|---|---|---|\n",
				about[exit], exit)
		}

		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m.Code, m.Text,
			strings.ReplaceAll(inGeneral(m.Next), "|", "\\|"))
	}

	return b.String()
}

// inGeneral words what to do about a code, with the placeholders of the list.
func inGeneral(next []answer.Command) string {
	parts := make([]string, len(next))
	for n, c := range next {
		line := ""
		switch {
		case c.Verb == answer.Again:
			line = "the same command"
		case c.Verb == answer.AgainNewID:
			line = "the same command without `--firing-id`"
		case c.Verb == answer.AgainLonger:
			line = "the same command with a longer `--timeout`"
		case c.Verb+c.Program != "":
			when := c.When
			c.When = ""
			line = "`" + strings.Replace(cli.Words([]answer.Command{c}), " "+answer.TheVerb+" ", " COMMAND ", 1) + "`"
			c.When = when
		}

		parts[n] = strings.Trim(c.When+": "+line, ": ")
	}

	return strings.Join(parts, "; ")
}

// checkHints wants each answer to say first what was wrong, then what to do next, in four lines at
// most. The hook and the Action do so in their own words, git's lines do not count, and a refused
// push has four lines for each issue besides. A newcomer's mistake needs something to type.
func checkHints(t *testing.T, trials []trial) {
	t.Helper()
	var (
		wrong     = regexp.MustCompile(`^(label-state|::error::).+ .+`)
		next      = regexp.MustCompile(`(?m)^hint: .+$|push anyway: repeat your push with --no-verify|^usage: `)
		command   = regexp.MustCompile(`(?m)(^hint|warning): .*((label-state|git|gh|ls|export|unset|cd) \S|owner/repo#7|https://)`)
		gits      = regexp.MustCompile(`(?m)^(fatal: .*|error: failed .*|Please make sure .*|and the repository .*)?\n`)
		block     = regexp.MustCompile(`(?ms)^  #\d.*?^    https://[^\n]*\n`)
		usage     = regexp.MustCompile(`^usage: `)
		newcomers = 0
	)

	for _, tr := range trials {
		for _, q := range tr.asked {
			all, last := strings.Join(q.answer, "\n"), len(q.answer)-1
			said := gits.ReplaceAllString(strings.Join(q.answer[:max(last, 0)], "\n")+"\n", "")
			said = block.ReplaceAllString(said, "")
			switch lines := strings.Count(said, "\n"); {
			case usage.MatchString(said):
			case !wrong.MatchString(said):
				t.Errorf("$ %s\n%s\ndoes not say what was wrong", q.line, all)
			case q.answer[last] != "exit 0" && !next.MatchString(said):
				t.Errorf("$ %s\n%s\nno hint", q.line, all)
			case lines > 4:
				t.Errorf("$ %s\n%s\n%d lines, want at most 4", q.line, all, lines)
			}

			if q.mark == "?" {
				newcomers++
				if !command.MatchString(said) {
					t.Errorf("$ %s\n%s\na newcomer does not know what to type", q.line, all)
				}
			}
		}
	}

	if newcomers < 60 {
		t.Errorf("%d mistakes of newcomers, want 60", newcomers)
	}
}
