package labelstate_test

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	labelstate "github.com/label-state/label-state"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/labels"
)

// importable are the packages that others import.
func importable(t *testing.T) []string {
	t.Helper()
	stores, err := filepath.Glob("lease/*")
	if err != nil || len(stores) == 0 {
		t.Fatalf("no package in lease: %v", err)
	}
	return append([]string{".", "answer", "work"}, stores...)
}

// sources are the parsed files of a package, without its tests, by name.
func sources(t *testing.T, fset *token.FileSet, dir string) (names []string, files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}

	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	for _, name := range names {
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}

	if len(files) == 0 {
		t.Fatalf("%s has no files", dir)
	}

	return names, files
}

// TestAPI: what others compile against changes on purpose only.
func TestAPI(t *testing.T) {
	var out strings.Builder
	for _, dir := range importable(t) {
		fset := token.NewFileSet()
		_, files := sources(t, fset, dir)
		var lines []string
		for _, f := range files {
			ast.FileExports(f)
			for _, d := range f.Decls {
				lines = append(lines, declared(t, fset, d)...)
			}
		}

		slices.Sort(lines)
		fmt.Fprintf(&out, "package %s\n\n%s\n", dir, strings.Join(lines, ""))
	}

	golden.Check(t, "testdata/api.txt", out.String())
}

// declared are the declarations in one, as Go writes them and without bodies.
func declared(t *testing.T, fset *token.FileSet, d ast.Decl) (lines []string) {
	t.Helper()
	show := func(prefix string, node ast.Node) {
		var b strings.Builder
		if err := format.Node(&b, fset, node); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, prefix+strings.ReplaceAll(b.String(), "\n\n", "\n")+"\n")
	}

	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || ofExported(d.Recv) {
			d.Body = nil
			show("", d)
		}

	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if d.Tok != token.IMPORT {
				show(d.Tok.String()+" ", spec)
			}
		}
	}

	return lines
}

// TestDocComments: everything that others can name says what it is.
func TestDocComments(t *testing.T) {
	for _, dir := range importable(t) {
		fset := token.NewFileSet()
		pkg, err := doc.NewFromFiles(fset, parsed(t, fset, dir), "p")
		if err != nil {
			t.Fatal(err)
		}

		if pkg.Doc == "" {
			t.Errorf("%s has no package comment", dir)
		}

		for _, f := range pkg.Funcs {
			commented(t, dir, f.Name, f.Doc)
		}

		for _, of := range pkg.Types {
			commented(t, dir, of.Name, of.Doc)
			for _, f := range slices.Concat(of.Funcs, of.Methods) {
				if f.Name != "Error" {
					commented(t, dir, f.Name, f.Doc)
				}
			}
		}
	}
}

func parsed(t *testing.T, fset *token.FileSet, dir string) (files []*ast.File) {
	t.Helper()
	names, _ := sources(t, token.NewFileSet(), dir)
	for _, name := range names {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}

	return files
}

// commented wants the name in the first sentence of what is said of it.
func commented(t *testing.T, dir, name, text string) {
	t.Helper()
	first, _, _ := strings.Cut(text, ". ")
	if !regexp.MustCompile(`\b` + name + `\b`).MatchString(first) {
		t.Errorf("%s: the comment of %s begins %q", dir, name, first)
	}
}

// TestExamples: each function that asks or tells GitHub something has an example that is run.
func TestExamples(t *testing.T) {
	text := readPage(t, "example_test.go")
	_, files := sources(t, token.NewFileSet(), ".")
	for _, f := range files {
		for _, d := range f.Decls {
			fn, is := d.(*ast.FuncDecl)
			if !is || fn.Recv == nil || !fn.Name.IsExported() || !ofExported(fn.Recv) ||
				fn.Type.Params.NumFields() == 0 {
				continue
			}

			name := fn.Name.Name
			shown := strings.Contains(text, "\nfunc ExampleClient_"+name+"()") || strings.Contains(text, "."+name+"(")
			if !shown {
				t.Errorf("no example calls %s", name)
			}
		}
	}
}

// TestSignatures: what others compile against names no type of ours that they cannot import.
func TestSignatures(t *testing.T) {
	seen := 0
	for _, dir := range importable(t) {
		names, files := sources(t, token.NewFileSet(), dir)
		for n, f := range files {
			found, shown := signatures(f)
			seen += found
			for _, inner := range shown {
				t.Errorf("%s shows %s", names[n], inner)
			}
		}
	}

	if seen < 40 {
		t.Errorf("only %d types looked at", seen)
	}
}

// TestSignaturesCanFail: every way in which an internal type could be shown is seen.
func TestSignaturesCanFail(t *testing.T) {
	const head = "package p\nimport (\n\t\"github.com/label-state/label-state/internal/claim\"\n\tother \"github.com/label-state/label-state/internal/ledger\"\n)\n"
	for code, want := range map[string]int{
		"func F(claim.Issue) {}":                            1,
		"func F() (int, *other.Ledger) { panic() }":         1,
		"func (c *Client) F(map[string][]claim.Issue) {}":   1,
		"func (c client) F(claim.Issue) {}":                 0, // nobody can name client
		"type T struct{ A claim.Issue; b other.Ledger }":    1,
		"type T struct{ *other.Ledger }":                    1,
		"type T struct{ a, b other.Ledger }":                0,
		"type T = claim.Issue":                              1,
		"type T interface{ F(claim.Issue) }":                1,
		"type T func(claim.Issue)":                          1,
		"type T[P claim.Issue] struct{}":                    1,
		"type t struct{ A claim.Issue }":                    0,
		"var V claim.Issue":                                 1,
		"const C claim.Kind = claim.KindClaim":              1,
		"var v claim.Issue":                                 0,
		"func f(claim.Issue) {}":                            0,
		"func F() { var i claim.Issue; _ = i }":             0,
		"type T struct{ A func(b claim.Issue) claim.Issue}": 2,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "p.go", head+code, 0)
		if err != nil {
			t.Fatal(err)
		}

		if _, shown := signatures(f); len(shown) != want {
			t.Errorf("%s shows %v, want %d", code, shown, want)
		}
	}
}

// signatures returns how many types a file shows, and which of them are internal.
func signatures(f *ast.File) (seen int, shown []string) {
	inner := map[string]bool{}
	for _, spec := range f.Imports {
		_, last, ours := strings.Cut(strings.Trim(spec.Path.Value, `"`), "/internal/")
		if spec.Name != nil {
			last = spec.Name.Name
		}
		inner[last] = ours
	}

	for _, d := range f.Decls {
		for _, part := range public(d) {
			seen++
			ast.Inspect(part, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && inner[x.Name] {
						shown = append(shown, x.Name+"."+s.Sel.Name)
					}
				}
				return true
			})
		}
	}

	return seen, shown
}

// public returns the types that a declaration shows.
func public(d ast.Decl) (types []ast.Node) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || ofExported(d.Recv)) {
			types = append(types, d.Type)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			types = append(types, publicSpec(spec)...)
		}
	}

	return types
}

// ofExported reports whether a method's type can be named.
func ofExported(receiver *ast.FieldList) bool {
	x := receiver.List[0].Type
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	name, ok := x.(*ast.Ident)
	return !ok || name.IsExported()
}

func publicSpec(spec ast.Spec) (types []ast.Node) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, n := range s.Names {
			if n.IsExported() && s.Type != nil {
				types = append(types, s.Type)
			}
		}

	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return nil
		}

		if s.TypeParams != nil {
			types = append(types, s.TypeParams)
		}

		if fields, ok := s.Type.(*ast.StructType); ok {
			return append(types, publicFields(fields)...)
		}
		types = append(types, s.Type)
	}

	return types
}

// publicFields are the types of fields that can be named, and of all that are embedded.
func publicFields(s *ast.StructType) (types []ast.Node) {
	for _, field := range s.Fields.List {
		if len(field.Names) == 0 {
			types = append(types, field.Type)
		}

		for _, n := range field.Names {
			if n.IsExported() {
				types = append(types, field.Type)
			}
		}
	}

	return types
}

// TestLabels: the package's names are those of the default preset, all of them.
func TestLabels(t *testing.T) {
	got := labels.Scheme{
		Available:    labelstate.LabelImplement,
		Claimed:      labelstate.LabelInFlight,
		PlanPending:  labelstate.LabelPlanPending,
		PROpen:       labelstate.LabelPROpen,
		Done:         labelstate.LabelDone,
		Hold:         labelstate.LabelDoNotPickup,
		NeedsScope:   labelstate.LabelNeedsScope,
		Blocked:      labelstate.LabelBlocked,
		Authored:     labelstate.LabelAuthored,
		LargeFeature: labelstate.LabelLargeFeature,
		BundlePrefix: labelstate.LabelBundlePrefix,
		Paused:       labelstate.LabelPaused,
	}

	if !reflect.DeepEqual(got, labels.Agent()) {
		t.Errorf("the package says %+v, the preset %+v", got, labels.Agent())
	}
}
