package githubsim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// An executor answers GraphQL documents with the methods and fields of Go values. One field is
// resolved after the other, in the order of the document, and a document that was validated once is
// kept: clients send the same few again and again.
type executor struct {
	schema *ast.Schema
	rules  *rules.Rules
	root   reflect.Value
	roots  map[ast.Operation]*gqlType

	mu        sync.Mutex // guards what follows
	documents map[string]*gqlDocument
}

// A gqlDocument is what a client sent, parsed and validated.
type gqlDocument struct {
	operations ast.OperationList
	cost       int // points
	wrong      []execError
}

// operation is the operation that the request names, or the only one; nil if there is none.
func (d *gqlDocument) operation(name string) *ast.OperationDefinition {
	return d.operations.ForName(name)
}

// maxDocuments is how many validated documents an executor keeps.
const maxDocuments = 200

// A gqlType is a type of the schema as one Go type shows it.
type gqlType struct {
	definition *ast.Definition
	fields     map[string]*gqlField
	kinds      []gqlKind // of an interface or a union: what the value may be
}

// A gqlKind is an object type behind an interface or a union.
type gqlKind struct {
	as int // the method that returns the object, if it is of that type
	of *gqlType
}

// A gqlField is how a Go type resolves one field: by a method, or by a field of the struct.
type gqlField struct {
	method    int
	path      []int // of the struct's field; nil where a method resolves it
	context   bool
	arguments reflect.Type // nil: the method takes none
	fails     bool         // the method returns an error as well
	of        *gqlType     // nil: a scalar or an enum
}

// newExecutor reads a schema, and refuses one with a field that the root's methods, or what they
// return, cannot resolve.
func newExecutor(schema string, root any) (*executor, error) {
	parsed, err := validator.LoadSchema(validator.Prelude, &ast.Source{Name: "schema.graphql", Input: schema})
	if err != nil {
		return nil, err
	}

	b := binder{parsed, map[bound]*gqlType{}}
	x := &executor{
		schema:    parsed,
		rules:     rules.NewDefaultRules(),
		root:      reflect.ValueOf(root),
		roots:     map[ast.Operation]*gqlType{},
		documents: map[string]*gqlDocument{},
	}
	x.rules.AddRule("Scalars", literals)
	for operation, definition := range map[ast.Operation]*ast.Definition{ast.Query: parsed.Query, ast.Mutation: parsed.Mutation} {
		if x.roots[operation], err = b.bind(definition, x.root.Type()); err != nil {
			return nil, err
		}
	}

	return x, nil
}

// A binder finds the methods and fields that resolve a schema's fields.
type binder struct {
	schema *ast.Schema
	known  map[bound]*gqlType
}

type bound struct {
	definition *ast.Definition
	by         reflect.Type
}

func (b binder) bind(definition *ast.Definition, by reflect.Type) (*gqlType, error) {
	if t := b.known[bound{definition, by}]; t != nil {
		return t, nil
	}

	t := &gqlType{definition: definition, fields: map[string]*gqlField{}}
	b.known[bound{definition, by}] = t
	for _, field := range definition.Fields {
		f, result, err := resolver(by, field.Name)
		if err != nil && (strings.HasPrefix(field.Name, "__") || strings.HasPrefix(definition.Name, "__")) {
			continue // what a schema tells of itself
		}
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", definition.Name, field.Name, err)
		}

		for result.Kind() == reflect.Slice || result.Kind() == reflect.Pointer && result.Elem().Kind() == reflect.Slice {
			result = result.Elem()
		}
		if of := b.schema.Types[field.Type.Name()]; of.IsCompositeType() {
			if f.of, err = b.bind(of, result); err != nil {
				return nil, err
			}
		}

		t.fields[field.Name] = f
	}

	if !definition.IsAbstractType() {
		return t, nil
	}

	for _, kind := range b.schema.GetPossibleTypes(definition) {
		as, ok := by.MethodByName("To" + kind.Name)
		if !ok {
			return nil, fmt.Errorf("%s: %s has no method To%s", definition.Name, by, kind.Name)
		}
		of, err := b.bind(kind, as.Type.Out(0))
		if err != nil {
			return nil, err
		}
		t.kinds = append(t.kinds, gqlKind{as.Index, of})
	}

	return t, nil
}

// resolver finds what resolves the field of that name, and of which type it is. Neither case nor
// the underscores that start GraphQL's own names count.
func resolver(by reflect.Type, name string) (*gqlField, reflect.Type, error) {
	name = strings.TrimLeft(name, "_")
	for m := range by.Methods() {
		if !strings.EqualFold(m.Name, name) {
			continue
		}

		f := &gqlField{method: m.Index, fails: m.Type.NumOut() > 1}
		for n := 1; n < m.Type.NumIn(); n++ {
			if in := m.Type.In(n); in == reflect.TypeFor[context.Context]() {
				f.context = true
			} else {
				f.arguments = in
			}
		}

		return f, m.Type.Out(0), nil
	}

	of := by
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}

	if of.Kind() == reflect.Struct {
		same := func(field string) bool { return strings.EqualFold(field, name) }
		if field, ok := of.FieldByNameFunc(same); ok && field.IsExported() {
			return &gqlField{path: field.Index}, field.Type, nil
		}
	}

	return nil, nil, fmt.Errorf("%s has neither a method nor a field for it", by)
}

// An execError is an error of a document, or of one of its fields.
type execError struct {
	at   []gqlerror.Location
	path []any
	text string
	err  error // what the resolver returned; nil of a fault of the document
}

// document parses and validates a document, and counts what it costs.
func (x *executor) document(text string) *gqlDocument {
	x.mu.Lock()
	defer x.mu.Unlock()
	if known := x.documents[text]; known != nil {
		return known
	}

	doc := &gqlDocument{cost: 1}
	parsed, err := parser.ParseQuery(&ast.Source{Input: text})
	if err != nil {
		doc.wrong = faults(gqlerror.WrapIfUnwrapped(err))
	} else if wrong := validator.ValidateWithRules(x.schema, parsed, x.rules); len(wrong) > 0 {
		doc.wrong = faults(wrong...)
	} else {
		doc.operations, doc.cost = parsed.Operations, cost(parsed)
	}

	if len(x.documents) >= maxDocuments {
		clear(x.documents)
	}
	x.documents[text] = doc

	return doc
}

// literals is the rule for numbers and GitHub's scalars in a document; the library checks the rest.
func literals(on *core.Events, wrong core.AddErrFunc) {
	on.OnValue(func(_ *core.Walker, v *ast.Value) {
		list := v.Kind == ast.ListValue && v.ExpectedType != nil && v.ExpectedType.Elem != nil
		open := list || v.Kind == ast.NullValue || v.Kind == ast.Variable
		if open || v.Definition == nil || v.Definition.Kind != ast.Scalar {
			return
		}
		value, err := v.Value(nil)
		if v.Definition.BuiltIn && (err != nil || v.Kind != ast.IntValue) {
			return
		}
		if err != nil || !fits(v.Definition, value) {
			wrong(core.Message("Expected value of type %q, found %s.", v.Definition.Name, v), core.At(v.Position))
		}
	})
}

// fits reports whether a value may be of an enum, of Int or of a scalar of GitHub's own, which are
// strings. The library lets more pass, and checks the other types.
func fits(of *ast.Definition, value any) bool {
	switch text, isText := value.(string); {
	case of.Kind == ast.Enum:
		return of.EnumValues.ForName(text) != nil
	case of.Name == "Int":
		n, isWhole := value.(int64)
		if f, is := value.(float64); is { // of a variable, as JSON has it
			n, isWhole = int64(f), f == math.Trunc(f) && math.Abs(f) <= math.MaxUint32
		}
		return isWhole && n == int64(int32(n))
	case of.Kind == ast.Scalar && !of.BuiltIn:
		return isText
	}

	return true
}

// fits is the function of that name for the value of a variable.
func (x *executor) fits(of *ast.Type, value any) bool {
	definition := x.schema.Types[of.Name()]
	switch value := value.(type) {
	case nil:
		return true // which the library checks
	case []any:
		return of.Elem == nil && fits(definition, value) ||
			of.Elem != nil && !slices.ContainsFunc(value, func(one any) bool { return !x.fits(of.Elem, one) })
	case map[string]any:
		for name, one := range value {
			if field := definition.Fields.ForName(name); field != nil && !x.fits(field.Type, one) {
				return false
			}
		}
	}

	return fits(definition, value)
}

// cost is how many points a document costs: its connections by the hundred, at least one.
func cost(doc *ast.QueryDocument) int {
	connections := 0
	for _, operation := range doc.Operations {
		connections += connectionsIn(operation.SelectionSet)
	}
	for _, fragment := range doc.Fragments {
		connections += connectionsIn(fragment.SelectionSet)
	}

	return max(1, int(math.Round(float64(connections)/100)))
}

func connectionsIn(set ast.SelectionSet) (connections int) {
	for _, one := range set {
		switch one := one.(type) {
		case *ast.Field:
			if one.Arguments.ForName("first") != nil || one.Arguments.ForName("last") != nil {
				connections++
			}
			connections += connectionsIn(one.SelectionSet)
		case *ast.InlineFragment:
			connections += connectionsIn(one.SelectionSet)
		}
	}

	return connections
}

// faults are the errors of a document that is not executed.
func faults(list ...*gqlerror.Error) (out []execError) {
	for _, e := range list {
		out = append(out, execError{at: e.Locations, text: e.Message})
	}
	return out
}

// execute answers one document: its data, null where a fault of a field reaches the top, and what
// went wrong. No data: it was not executed.
func (x *executor) execute(ctx context.Context, doc *gqlDocument, sent gqlQuery) (data []byte, wrong []execError) {
	if doc.wrong != nil {
		return nil, doc.wrong
	}
	operation := doc.operation(sent.OperationName)
	if operation == nil {
		return nil, []execError{{text: fmt.Sprintf("No operation named %q", sent.OperationName)}}
	}
	for _, v := range operation.VariableDefinitions {
		if !x.fits(v.Type, sent.Variables[v.Variable]) {
			return nil, []execError{{
				at:   []gqlerror.Location{{Line: v.Position.Line, Column: v.Position.Column}},
				text: fmt.Sprintf("Variable $%s of type %s was provided invalid value", v.Variable, v.Type),
			}}
		}
	}
	variables, err := validator.VariableValues(x.schema, operation, sent.Variables)
	if err != nil {
		return nil, faults(gqlerror.WrapIfUnwrapped(err))
	}

	e := &execution{ctx: ctx, schema: x.schema, variables: variables}
	e.object(x.roots[operation.Operation], x.root, []ast.SelectionSet{operation.SelectionSet}, nil)
	return e.out.Bytes(), e.wrong
}

// An execution is what one document has been answered so far.
type execution struct {
	ctx       context.Context
	schema    *ast.Schema
	variables map[string]any
	out       bytes.Buffer
	wrong     []execError
}

// A gqlPath is where in the answer a value stands.
type gqlPath struct {
	above *gqlPath
	key   any // string or int
}

func (p *gqlPath) list() (keys []any) {
	for ; p != nil; p = p.above {
		keys = append(keys, p.key)
	}
	slices.Reverse(keys)
	return keys
}

// selected are the fields that a selection has under one key of the answer.
type selected struct {
	key    string
	fields []*ast.Field
}

// collect adds a selection's fields of an object of that type, in their order.
func (e *execution) collect(found []selected, of *ast.Definition, set ast.SelectionSet) []selected {
	for _, one := range set {
		switch one := one.(type) {
		case *ast.Field:
			if !e.wanted(one.Directives) {
				continue
			}
			n := slices.IndexFunc(found, func(s selected) bool { return s.key == one.Alias })
			if n < 0 {
				n, found = len(found), append(found, selected{key: one.Alias})
			}
			found[n].fields = append(found[n].fields, one)
		case *ast.InlineFragment:
			if e.wanted(one.Directives) && e.isA(of, one.TypeCondition) {
				found = e.collect(found, of, one.SelectionSet)
			}
		case *ast.FragmentSpread:
			if e.wanted(one.Directives) && e.isA(of, one.Definition.TypeCondition) {
				found = e.collect(found, of, one.Definition.SelectionSet)
			}
		}
	}

	return found
}

// wanted says what @skip and @include say.
func (e *execution) wanted(directives ast.DirectiveList) bool {
	for _, d := range directives {
		if on, ok := d.ArgumentMap(e.variables)["if"].(bool); ok && on == (d.Name == "skip") {
			return false
		}
	}
	return true
}

// isA reports whether an object of that type is of the named type as well.
func (e *execution) isA(of *ast.Definition, name string) bool {
	return name == "" || name == of.Name || slices.Contains(e.schema.PossibleTypes[name], of)
}

// object writes an object. It returns false, and has written null, where a field failed that
// cannot be null.
func (e *execution) object(t *gqlType, v reflect.Value, sets []ast.SelectionSet, at *gqlPath) bool {
	start := e.out.Len()
	var fields []selected
	for _, set := range sets {
		fields = e.collect(fields, t.definition, set)
	}

	e.out.WriteByte('{')
	for n, one := range fields {
		if n > 0 {
			e.out.WriteByte(',')
		}
		fmt.Fprintf(&e.out, "%q:", one.key)
		if !e.field(t, v, one.fields, &gqlPath{at, one.key}) {
			e.out.Truncate(start)
			e.out.WriteString("null")
			return false
		}
	}
	e.out.WriteByte('}')

	return true
}

// field resolves one field and writes what it is. It returns false where that cannot be null and
// is.
func (e *execution) field(t *gqlType, v reflect.Value, asked []*ast.Field, at *gqlPath) bool {
	first := asked[0]
	if first.Name == "__typename" {
		fmt.Fprintf(&e.out, "%q", t.definition.Name)
		return true
	}

	f := t.fields[first.Name]
	if f == nil {
		return e.failed(first, at, errors.New("the embedded GitHub does not tell that"))
	}
	result, err := e.resolve(f, v, first)
	if err != nil {
		return e.failed(first, at, err)
	}

	var sets []ast.SelectionSet
	for _, one := range asked {
		sets = append(sets, one.SelectionSet)
	}

	return e.value(f, result, first.Definition.Type, sets, at)
}

// failed notes the error of a field and writes null.
func (e *execution) failed(field *ast.Field, at *gqlPath, err error) bool {
	e.wrong = append(e.wrong, execError{
		at:   []gqlerror.Location{{Line: field.Position.Line, Column: field.Position.Column}},
		path: at.list(),
		text: err.Error(),
		err:  err,
	})
	e.out.WriteString("null")

	return !field.Definition.Type.NonNull
}

func (e *execution) resolve(f *gqlField, v reflect.Value, field *ast.Field) (reflect.Value, error) {
	if f.path != nil {
		return reflect.Indirect(v).FieldByIndex(f.path), nil
	}

	values := field.ArgumentMap(e.variables)
	for _, a := range field.Definition.Arguments {
		if a.Type.NonNull && values[a.Name] == nil { // of a variable, as the library has checked the rest
			why := "Argument '%s' on Field '%s' has an invalid value (null). Expected type '%s'."
			return reflect.Value{}, &gqlFault{message: fmt.Sprintf(why, a.Name, field.Name, a.Type)}
		}
	}

	var in []reflect.Value
	if f.context {
		in = append(in, reflect.ValueOf(e.ctx))
	}
	if f.arguments != nil {
		arguments := reflect.New(f.arguments).Elem()
		if err := input(arguments, values); err != nil {
			return reflect.Value{}, err
		}
		in = append(in, arguments)
	}

	out := v.Method(f.method).Call(in)
	if f.fails {
		err, _ := out[1].Interface().(error)
		return out[0], err
	}

	return out[0], nil
}

// value writes what a field is: a list, an object, a scalar or null.
func (e *execution) value(f *gqlField, v reflect.Value, of *ast.Type, sets []ast.SelectionSet, at *gqlPath) bool {
	if of.Elem != nil && v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}

	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice:
		if v.IsNil() && (of.Elem == nil || v.Kind() != reflect.Slice) {
			e.out.WriteString("null")
			if of.NonNull {
				e.wrong = append(e.wrong, execError{path: at.list(), text: "null, and must not be"})
			}
			return !of.NonNull
		}
	}

	switch {
	case of.Elem != nil:
		return e.list(f, v, of, sets, at)
	case f.of != nil:
		return e.composite(f.of, v, sets, at) || !of.NonNull
	}

	text, err := json.Marshal(v.Interface())
	if err != nil {
		text = []byte("null") // no scalar of ours fails
	}
	e.out.Write(text)

	return true
}

func (e *execution) list(f *gqlField, v reflect.Value, of *ast.Type, sets []ast.SelectionSet, at *gqlPath) bool {
	start := e.out.Len()
	e.out.WriteByte('[')
	for n := range v.Len() {
		if n > 0 {
			e.out.WriteByte(',')
		}
		if !e.value(f, v.Index(n), of.Elem, sets, &gqlPath{at, n}) {
			e.out.Truncate(start)
			e.out.WriteString("null")
			return !of.NonNull
		}
	}
	e.out.WriteByte(']')

	return true
}

// composite writes an object, also one of which the schema says only what it may be.
func (e *execution) composite(t *gqlType, v reflect.Value, sets []ast.SelectionSet, at *gqlPath) bool {
	if t.kinds == nil {
		return e.object(t, v, sets, at)
	}

	for _, kind := range t.kinds {
		if out := v.Method(kind.as).Call(nil); out[1].Bool() {
			return e.object(kind.of, out[0], sets, at)
		}
	}
	e.out.WriteString("null")

	return false
}

// input puts a value of the document or of its variables into a Go value.
func input(to reflect.Value, value any) error {
	if value == nil {
		return nil
	}

	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		return input(to.Elem(), value)
	}

	if at, ok := to.Addr().Interface().(*dateTime); ok {
		var err error
		at.Time, err = time.Parse(time.RFC3339, fmt.Sprint(value))
		return err
	}

	switch to.Kind() {
	case reflect.String:
		to.SetString(fmt.Sprint(value))
		return nil
	case reflect.Slice:
		return inputs(to, reflect.ValueOf(value))
	}

	switch value := value.(type) {
	case map[string]any:
		for name, one := range value {
			same := func(field string) bool { return strings.EqualFold(field, name) }
			if field := to.FieldByNameFunc(same); field.IsValid() {
				if err := input(field, one); err != nil {
					return err
				}
			}
		}
	case bool:
		to.SetBool(value)
	case int64:
		to.SetInt(value)
	case float64: // of a variable
		to.SetInt(int64(value))
	}

	return nil
}

// inputs puts values into a list; one value stands for a list of it.
func inputs(to, values reflect.Value) error {
	if values.Kind() != reflect.Slice {
		item := reflect.New(to.Type().Elem()).Elem()
		to.Set(reflect.Append(to, item))
		return input(to.Index(0), values.Interface())
	}

	to.Set(reflect.MakeSlice(to.Type(), values.Len(), values.Len()))
	for n := range values.Len() {
		if err := input(to.Index(n), values.Index(n).Interface()); err != nil {
			return err
		}
	}

	return nil
}
