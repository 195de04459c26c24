package labelstate_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestSignatures: what others compile against names no type of ours that they cannot import.
func TestSignatures(t *testing.T) {
	seen := 0
	for _, name := range []string{"labelstate.go", "sweep.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		inner := map[string]bool{}
		for _, spec := range f.Imports {
			if _, last, ours := strings.Cut(strings.Trim(spec.Path.Value, `"`), "/internal/"); ours {
				inner[last] = true
			}
		}
		for _, d := range f.Decls {
			for _, part := range public(d) {
				seen++
				ast.Inspect(part, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok {
						if x, ok := s.X.(*ast.Ident); ok && inner[x.Name] {
							t.Errorf("%s shows %s.%s", name, x.Name, s.Sel.Name)
						}
					}
					return true
				})
			}
		}
	}
	if seen < 40 {
		t.Errorf("only %d types looked at", seen)
	}
}

// public returns the types that a declaration shows: of functions and methods, and of the fields of structs.
func public(d ast.Decl) (types []ast.Node) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() {
			types = append(types, d.Type)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			s, ok := spec.(*ast.TypeSpec)
			if !ok || !s.Name.IsExported() {
				continue
			}
			for _, field := range s.Type.(*ast.StructType).Fields.List {
				for _, n := range field.Names {
					if n.IsExported() {
						types = append(types, field.Type)
					}
				}
			}
		}
	}
	return types
}
