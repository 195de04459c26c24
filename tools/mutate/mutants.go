package main

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A mutant is one small change of a package. Its number chooses it when the tests run.
type mutant struct {
	id            int
	file          string
	line          int
	where         string // the function, and the type of a method
	before, after string
	edits         []edit
}

// key names a mutant wherever its lines move to.
func (m mutant) key() string { return m.where + ": " + m.before + " -> " + m.after }

// An edit inserts text at an offset in place of some bytes. Edits of one offset are in the order of
// their rank: what ends there, innermost first, then what begins, outermost first.
type edit struct {
	at, skip, rank int
	text           string
}

// helper is the file that each mutated package gets, with room for so many mutants. Which of them
// its tests reach is appended to a file, also by programs that they start. Those that get another
// environment read from the name of the folder for temporary files which mutant it is; 0 is to note
// what is reached.
const helper = `
import (
	"cmp"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

var mutantFolder, mutantRest, _ = strings.Cut(os.Getenv("TMPDIR"), "/MUTANT=")
var mutantName, _, _ = strings.Cut(mutantRest, "/")
var mutantChosen, _ = strconv.Atoi(cmp.Or(os.Getenv("MUTANT"), mutantName))
var mutantReached = map[string]string{"0": mutantFolder + "/MUTANT=0/reached"}[cmp.Or(os.Getenv("MUTANT"), mutantName)]
var mutantSeen [%d]atomic.Bool

func mutantOn(n int) bool {
	if mutantReached != "" && !mutantSeen[n].Load() && !mutantSeen[n].Swap(true) {
		f, err := os.OpenFile(mutantReached, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			f.WriteString(strconv.Itoa(n) + "\n")
			f.Close()
		}
	}
	return n == mutantChosen
}

func mutantPick[T any](n int, v, other T) T {
	if mutantOn(n) {
		return other
	}
	return v
}

type mutantNumber interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

func mutantZero[T any](n int, v T) T { var zero T; return mutantPick(n, v, zero) }
func mutantLess[T cmp.Ordered](n int, a, b T) bool { return mutantPick(n, a < b, a <= b) }
func mutantMost[T cmp.Ordered](n int, a, b T) bool { return mutantPick(n, a <= b, a < b) }
func mutantMore[T cmp.Ordered](n int, a, b T) bool { return mutantPick(n, a > b, a >= b) }
func mutantLeast[T cmp.Ordered](n int, a, b T) bool { return mutantPick(n, a >= b, a > b) }
func mutantPlus[T mutantNumber](n int, a, b T) T { return mutantPick(n, a+b, a-b) }
func mutantMinus[T mutantNumber](n int, a, b T) T { return mutantPick(n, a-b, a+b) }
`

// swaps has the function of helper that stands for an operator, and the operator that it may
// become.
var swaps = map[token.Token]struct{ function, other string }{
	token.LSS: {"mutantLess", "<="},
	token.LEQ: {"mutantMost", "<"},
	token.GTR: {"mutantMore", ">="},
	token.GEQ: {"mutantLeast", ">"},
	token.ADD: {"mutantPlus", "-"},
	token.SUB: {"mutantMinus", "+"},
}

// A finder collects the mutants of one file.
type finder struct {
	fset  *token.FileSet
	file  string
	text  []byte
	where string
	found []mutant
	next  int // the number of the next mutant
	edges bool
}

// find returns the package clause and the mutants of a file, numbered from first. With edges they
// are those of comparisons that differ only where both sides are equal, or names of another case.
func find(file string, text []byte, first int, edges bool) (string, []mutant, error) {
	f := finder{fset: token.NewFileSet(), file: file, text: text, next: first, edges: edges}
	tree, err := parser.ParseFile(f.fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		return "", nil, err
	}

	for _, d := range tree.Decls {
		f.where = filepath.Base(file)
		if d, ok := d.(*ast.FuncDecl); ok {
			f.where = d.Name.Name
			if d.Recv != nil {
				f.where = strings.Trim(f.code(d.Recv.List[0].Type), "*") + "." + f.where
			}
		}
		ast.Inspect(d, f.node)
	}

	return tree.Name.Name, f.found, nil
}

func (f *finder) offset(p token.Pos) int { return f.fset.Position(p).Offset }

// code is a node's text on one line.
func (f *finder) code(n ast.Node) string {
	return strings.Join(strings.Fields(string(f.text[f.offset(n.Pos()):f.offset(n.End())])), " ")
}

// add notes that a node changes to after: prefix and suffix are put around it, with # for the
// number.
func (f *finder) add(n ast.Node, before, after, prefix, suffix string, more ...edit) {
	begin, end := edit{at: f.offset(n.Pos()), rank: f.next}, edit{at: f.offset(n.End()), rank: -f.next, text: suffix}
	begin.text = strings.ReplaceAll(prefix, "#", strconv.Itoa(f.next))
	f.found = append(f.found, mutant{
		id:     f.next,
		file:   f.file,
		line:   f.fset.Position(n.Pos()).Line,
		where:  f.where,
		before: before,
		after:  after,
		edits:  append(more, begin, end),
	})
	f.next++
}

// node adds the mutants of a node, before those of its parts.
func (f *finder) node(n ast.Node) bool {
	if f.edges {
		f.edge(n)
		return true
	}

	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CaseClause:
		f.statements(n.Body)
	case *ast.CommClause:
		f.statements(n.Body)
	case *ast.IfStmt:
		if _, ok := n.Cond.(*ast.BinaryExpr); !ok {
			f.negate(n.Cond)
		}
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.KeyValueExpr:
		if _, ok := n.Key.(*ast.Ident); ok && hasValue(n.Value) {
			f.add(n.Value, f.code(n), f.code(n.Key)+": zero", "mutantZero(#, ", ")")
		}
	case *ast.ReturnStmt:
		f.results(n.Results)
	}

	return true
}

// statements adds the removal of each statement without which a function compiles.
func (f *finder) statements(list []ast.Stmt) {
	for _, s := range list {
		a, assigns := s.(*ast.AssignStmt)
		switch s.(type) {
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.AssignStmt:
			if !assigns || a.Tok != token.DEFINE && f.code(a.Lhs[0]) != "_" {
				f.add(s, f.code(s), "removed", "if !mutantOn(#) { ", " }")
			}
		}
	}
}

func (f *finder) negate(cond ast.Expr) {
	f.add(cond, f.code(cond), "!("+f.code(cond)+")", "(mutantOn(#) != (", "))")
}

func (f *finder) binary(n *ast.BinaryExpr) {
	before := f.code(n)
	switch n.Op {
	case token.LAND:
		f.add(n.X, before, f.code(n.Y), "(mutantOn(#) || ", ")")
		f.add(n.Y, before, f.code(n.X), "(mutantOn(#) || ", ")")
	case token.LOR:
		f.add(n.X, before, f.code(n.Y), "(!mutantOn(#) && (", "))")
		f.add(n.Y, before, f.code(n.X), "(!mutantOn(#) && (", "))")
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		f.negate(n)
	}

	f.swap(n)
}

// swap adds the mutant with the operator that an operator may become, if there is one.
func (f *finder) swap(n *ast.BinaryExpr) {
	if s := swaps[n.Op]; s.function != "" {
		comma := edit{at: f.offset(n.OpPos), skip: len(n.Op.String()), text: ","}
		f.add(n, f.code(n), f.code(n.X)+" "+s.other+" "+f.code(n.Y), s.function+"(#, ", ")", comma)
	}
}

// edge adds the mutant of a comparison of numbers, times or names.
func (f *finder) edge(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if n.Op != token.ADD && n.Op != token.SUB {
			f.swap(n)
		}
	case *ast.CallExpr:
		if after := f.otherCall(n); after != "" {
			f.add(n, f.code(n), after, "mutantPick(#, ", ", "+after+")")
		}
	}
}

// otherCall is what differs from a call only for equal times, or for names in another case; empty
// for other calls.
func (f *finder) otherCall(n *ast.CallExpr) string {
	called, of := f.code(n.Fun), ""
	if to, ok := n.Fun.(*ast.SelectorExpr); ok {
		called, of = to.Sel.Name, f.code(to.X)
	}

	var args []string
	for _, a := range n.Args {
		args = append(args, f.code(a))
	}

	switch called + "/" + strconv.Itoa(len(args)) {
	case "Before/1":
		return "!" + of + ".After(" + args[0] + ")"
	case "After/1":
		return "!" + of + ".Before(" + args[0] + ")"
	case "EqualFold/2", "SameLogin/2":
		return "(" + args[0] + " == " + args[1] + ")"
	case "ToLower/1":
		return args[0]
	}

	return ""
}

func (f *finder) results(list []ast.Expr) {
	texts := make([]string, len(list))
	for i, r := range list {
		texts[i] = f.code(r)
	}

	for i, r := range list {
		if hasValue(r) {
			after := slices.Clone(texts)
			after[i] = "zero"
			f.add(r, "return "+strings.Join(texts, ", "), "return "+strings.Join(after, ", "), "mutantZero(#, ", ")")
		}
	}
}

// hasValue is false for what is a zero value, or only text.
func hasValue(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit, *ast.FuncLit:
		return false
	case *ast.CompositeLit:
		return len(e.Elts) > 0
	case *ast.Ident:
		return e.Name != "nil" && e.Name != "false"
	}
	return true
}

// mutated is a file's text with the edits of its mutants.
func mutated(file string, text []byte, all []mutant) []byte {
	var edits []edit
	for _, m := range all {
		if m.file == file {
			edits = append(edits, m.edits...)
		}
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank)) })

	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		out.Write(text[at:e.at])
		out.WriteString(e.text)
		at = e.at + e.skip
	}

	out.Write(text[at:])
	return out.Bytes()
}
