package hookfile

import (
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// withScript is a lefthook.yml with a script of that name for pre-push, which gets git's input.
// Lines are added and none is changed. It is empty where that cannot be done for certain: then a
// person has to edit the file.
func withScript(text, name string) string {
	var document yaml.Node
	reader := yaml.NewDecoder(strings.NewReader(text))
	err := reader.Decode(&document)
	empty := errors.Is(err, io.EOF)
	if err != nil && !empty || !errors.Is(reader.Decode(new(yaml.Node)), io.EOF) {
		return "" // no YAML, or several documents
	}

	lines := slices.Collect(strings.Lines(text))
	at, added := len(lines), under("", "pre-push:", "scripts:", name+":", "use_stdin: true")
	if !empty {
		var able bool
		if at, added, able = placeOf(document.Content[0], len(lines), name); !able {
			return ""
		}
	}

	end := "\n"
	if strings.Contains(text, "\r\n") {
		end = "\r\n"
	}

	for k, line := range added {
		added[k] = line + end
	}

	if last := len(lines) - 1; at == len(lines) && last >= 0 && !strings.HasSuffix(lines[last], "\n") {
		lines[last] += end
	}
	edited := strings.Join(slices.Insert(lines, at, added...), "")

	if !adds(text, edited, name) {
		return ""
	}

	return edited
}

// under indents each line two spaces deeper than the one before it.
func under(indent string, lines ...string) []string {
	for k := range lines {
		lines[k] = indent + strings.Repeat("  ", k) + lines[k]
	}
	return lines
}

// placeOf is after how many lines of the file something has to be added, and what. It is not able
// to say where the file is not written in blocks.
func placeOf(root *yaml.Node, all int, name string) (at int, added []string, able bool) {
	missing := []string{"pre-push:", "scripts:", name + ":", "use_stdin: true"}
	in, at, indent := root, all, ""
	for k, wanted := range missing {
		key, value := keyOf(in, strings.TrimSuffix(wanted, ":"))
		switch {
		case key == nil:
			return at, under(indent, missing[k:]...), true
		case value.Kind == yaml.ScalarNode && value.Tag == "!!null" && value.Value == "":
			return key.Line, under(indent+"  ", missing[k+1:]...), true
		case value.Kind != yaml.MappingNode, value.Style&yaml.FlowStyle != 0, value.Line == key.Line:
			return 0, nil, false
		}

		in, at, indent = value, key.Line, strings.Repeat(" ", value.Column-1)
	}

	return 0, nil, false
}

// keyOf finds a key of a mapping and its value; nil when it is not there.
func keyOf(mapping *yaml.Node, name string) (key, value *yaml.Node) {
	for k := 0; k+1 < len(mapping.Content); k += 2 {
		if mapping.Content[k].Value == name {
			return mapping.Content[k], mapping.Content[k+1]
		}
	}
	return nil, nil
}

// adds reports whether the edited file says the same as the old one, and the script besides.
func adds(text, edited, name string) bool {
	var before, after map[string]any
	if yaml.Unmarshal([]byte(text), &before) != nil || yaml.Unmarshal([]byte(edited), &after) != nil {
		return false
	}

	if before == nil {
		before = map[string]any{}
	}
	in := before
	for _, key := range []string{"pre-push", "scripts", name} {
		next, is := in[key].(map[string]any)
		if !is {
			next = map[string]any{}
			in[key] = next
		}
		in = next
	}

	in["use_stdin"] = true
	return reflect.DeepEqual(before, after)
}
