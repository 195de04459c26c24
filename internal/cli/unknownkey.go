package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/label-state/label-state/internal/printable"
)

// UnknownKey is the error about a key of a JSON text that a value of that type has no place for:
// where it is, and the key that was probably meant, else all that are allowed. It is nil where
// there is none, and where the text is not JSON or not of the type, which a decoder says. A type
// that reads itself may have any keys.
func UnknownKey(data []byte, of any) error { return unknownKey("", data, reflect.TypeOf(of)) }

func unknownKey(path string, data []byte, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}

	switch t.Kind() {
	case reflect.Slice:
		var all []json.RawMessage
		_ = json.Unmarshal(data, &all)
		for n, one := range all {
			if err := unknownKey(path+strconv.Itoa(n)+".", one, t.Elem()); err != nil {
				return err
			}
		}
	case reflect.Struct:
		return unknownField(path, data, t)
	}

	return nil
}

// unknownField is unknownKey for an object.
func unknownField(path string, data []byte, t reflect.Type) error {
	types := map[string]reflect.Type{}
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && !f.Anonymous && name != "" && name != "-" {
			types[strings.ToLower(name)], names = f.Type, append(names, name)
		}
	}

	var object map[string]json.RawMessage
	_ = json.Unmarshal(data, &object)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		of, known := types[strings.ToLower(key)] // as encoding/json compares them
		if !known {
			return fmt.Errorf("%s: unknown key%s", printable.Line(path+key), instead(names, key))
		}
		if err := unknownKey(path+key+".", object[key], of); err != nil {
			return err
		}
	}

	return nil
}

// instead names the key that was probably meant, else all that are allowed.
func instead(names []string, key string) string {
	return cmp.Or(meant(printable.Nearest(names, key)), "; allowed: "+strings.Join(names, ", "))
}
