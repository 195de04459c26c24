package config_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v3"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/golden"
)

var published = filepath.Join("..", "..", "docs", "label-state.schema.json")

func TestSchemaIsPublished(t *testing.T) {
	want, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, published, string(want))
}

// TestSchemaHasEverySetting holds the schema against the Go structs: each setting of Config has
// one leaf, with the setting's default where it has one, and there are no others.
func TestSchemaHasEverySetting(t *testing.T) {
	leaves := map[string]schema{}
	load(t).leaves("", leaves)
	delete(leaves, "version")   // it has one value
	delete(leaves, "stage_ttl") // is part of stages

	for _, l := range lines(config.Default()) {
		leaf, ok := leaves[l.key]
		delete(leaves, l.key)
		if !ok {
			t.Errorf("setting %s is not in the schema", l.key)
		} else if d, ok := leaf["default"]; ok && !sameDefault(d, l.value) {
			t.Errorf("%s: default %v in the schema, %s in Go", l.key, d, l.value)
		}
	}

	if len(leaves) > 0 {
		t.Errorf("the schema also has %v", slices.Sorted(maps.Keys(leaves)))
	}
}

// sameDefault compares as people would: 4h is 4h0m0s.
func sameDefault(d any, value string) bool {
	var c yaml.Node
	if err := c.Encode(d); err != nil {
		return false
	}

	texts := []string{c.Value}
	if c.Kind == yaml.SequenceNode {
		texts = nil
		for _, el := range c.Content {
			texts = append(texts, el.Value)
		}
	}

	long := func(s string) string {
		s = regexp.MustCompile(`(\d+h)$`).ReplaceAllString(s, "${1}0m")
		return regexp.MustCompile(`(\d+m)$`).ReplaceAllString(s, "${1}0s")
	}

	for i, s := range texts {
		texts[i] = long(s)
	}

	return strings.Join(texts, " ") == strings.Trim(value, "[]")
}

// TestSchemaAcceptsWhatTheReaderAccepts: no editor complains about a good file.
func TestSchemaAcceptsWhatTheReaderAccepts(t *testing.T) {
	s := load(t)
	for _, f := range archive(t, "testdata/accepted.txtar") {
		if complaint := s.complaint(f.Name, decode(t, f.Data)); complaint != "" {
			t.Error(complaint)
		}
	}
}

// TestSchemaRefuses: an editor sees most of what the reader refuses; for the rest of them it takes
// the reader, because they are about two values at once, the size of a duration, or YAML itself.
func TestSchemaRefuses(t *testing.T) {
	beyond := []string{
		"alias", "bundle-like-label", "agents-equal-labels", "agents-exclude", "contributors-no-label",
		"contributors-pulls",
		"default-ttl-above-max", "duration-overflows",
		"duration-zero", "excluded-available",
		"excluded-available-by-name", "excluded-claimed", "excluded-plan-by-name",
		"key-not-a-word", "label-control", "label-equals-default", "label-like-bundle",
		"max-attempts-octal",
		"lease-redis-nowhere", "lease-unused", "merge-key", "not-yaml", "own-tag", "ready-equals-in-progress",
		"recursive", "ready-preset-collision",
		"slack-incomplete", "stages-labels", "stages-missing", "stages-short", "stages-too-few", "stages-twice",
		"stages-without-preset", "tab", "tab-first",
		"ttl-above-max", "ttl-unsettled", "ttl-unsettled-long", "twice", "two-documents",
	}
	s := load(t)
	for _, f := range archive(t, "testdata/refused.txtar") {
		name := strings.TrimSuffix(f.Name, ".yml")
		var v any
		seen := yaml.Unmarshal(f.Data, &v) == nil && s.complaint(name, v) != ""
		if needs := slices.Contains(beyond, name); seen == needs {
			t.Errorf("the schema refuses %s: %v; it takes the reader: %v", name, seen, needs)
		}
	}
}

func archive(t *testing.T, path string) []txtar.File {
	t.Helper()
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(a.Files, func(f txtar.File) bool { return !strings.HasSuffix(f.Name, ".yml") })
}

func decode(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}

	if v == nil {
		return map[string]any{}
	}

	return v
}

// A schema is as much of JSON schema as the published one uses.
type schema map[string]any

func load(t *testing.T) schema {
	t.Helper()
	data, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}

	var s schema
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}

	return s
}

// leaves collects what is neither a mapping nor refused altogether.
func (s schema) leaves(path string, into map[string]schema) {
	switch {
	case s["not"] != nil:
	case s["properties"] == nil:
		into[strings.TrimPrefix(path, ".")] = s
	default:
		for name, p := range s["properties"].(map[string]any) {
			schema(p.(map[string]any)).leaves(path+"."+name, into)
		}
	}
}

// complaint says what is wrong with a value, or nothing.
func (s schema) complaint(path string, v any) string {
	if s["not"] != nil {
		return path + " is not allowed"
	}

	switch v := v.(type) {
	case map[string]any:
		return s.mapping(path, v)
	case []any:
		return s.list(path, v)
	case string:
		return s.text(path, v)
	case bool:
		return s.typed(path, "boolean")
	case int:
		if float64(v) < s.number("minimum", -1e9) || float64(v) > s.number("maximum", 1e9) {
			return path + " is out of range"
		}
		return s.typed(path, "integer")
	}

	return path + " is of no known type"
}

func (s schema) typed(path, kind string) string {
	if s["type"] != kind {
		return path + " is " + kind
	}
	return ""
}

func (s schema) number(key string, otherwise float64) float64 {
	if n, ok := s[key].(float64); ok {
		return n
	}
	return otherwise
}

func (s schema) mapping(path string, v map[string]any) string {
	if of, ok := s["additionalProperties"].(map[string]any); ok {
		for key, value := range v {
			if c := schema(of).complaint(path+"."+key, value); c != "" {
				return c
			}
		}
		return ""
	}

	properties, ok := s["properties"].(map[string]any)
	if !ok || s["additionalProperties"] != false {
		return path + " is a mapping"
	}

	for key, value := range v {
		p, ok := properties[key].(map[string]any)
		if !ok {
			return path + "." + key + " is unknown"
		}
		if c := schema(p).complaint(path+"."+key, value); c != "" {
			return c
		}
	}

	return ""
}

func (s schema) list(path string, v []any) string {
	items, ok := s["items"].(map[string]any)
	if !ok {
		return path + " is a list"
	}

	for _, el := range v {
		if c := schema(items).complaint(path+"[]", el); c != "" {
			return c
		}
	}

	return ""
}

func (s schema) text(path, v string) string {
	if pattern, ok := s["pattern"].(string); ok && !regexp.MustCompile(pattern).MatchString(v) {
		return path + " does not fit " + pattern
	}
	if float64(utf8.RuneCountInString(v)) > s.number("maxLength", 1e9) {
		return path + " is too long"
	}
	if words, ok := s["enum"].([]any); ok && !slices.Contains(words, any(v)) {
		return path + " is not one of the words"
	}

	return s.typed(path, "string")
}
