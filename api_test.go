package labelstate_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	labelstate "github.com/label-state/label-state"
	"github.com/label-state/label-state/internal/labels"
)

// The verbs of the package (issue "life of an issue", point 8), as others compile against them.
var (
	_ = labelstate.Open
	_ = (*labelstate.Client).Claim
	_ = (*labelstate.Client).Renew
	_ = (*labelstate.Client).Release
	_ = (*labelstate.Client).Check
	_ = (*labelstate.Client).StaleClaims
	_ = (*labelstate.Client).ForceRelease
	_ = (*labelstate.Client).Sweep
	_ = (*labelstate.Client).Pause
	_ = (*labelstate.Client).Resume
	_ = (*labelstate.Client).PausedRepos
)

// TestSignatures: what others compile against names no type of ours that they cannot import.
func TestSignatures(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		found, shown := signatures(f)
		seen += found
		for _, inner := range shown {
			t.Errorf("%s shows %s", name, inner)
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
		Available: labelstate.LabelImplement, Claimed: labelstate.LabelInFlight, PlanPending: labelstate.LabelPlanPending,
		PROpen: labelstate.LabelPROpen, Done: labelstate.LabelDone, Hold: labelstate.LabelDoNotPickup, NeedsScope: labelstate.LabelNeedsScope,
		Blocked: labelstate.LabelBlocked, Authored: labelstate.LabelAuthored, LargeFeature: labelstate.LabelLargeFeature,
		BundlePrefix: labelstate.LabelBundlePrefix, Paused: labelstate.LabelPaused,
	}
	if !reflect.DeepEqual(got, labels.Agent()) {
		t.Errorf("the package says %+v, the preset %+v", got, labels.Agent())
	}
}
