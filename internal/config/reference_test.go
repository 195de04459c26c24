package config_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/golden"
)

var reference = filepath.Join("..", "..", "docs", "configuration.md")

const referenceHead = `# Configuration

A repository's settings are in ` + "`.github/label-state.yml`" + ` on its default branch, and apply to everybody. Every key may be left out, and so may the file. This page is made
from the [schema](label-state.schema.json), which editors read as well: begin the file with

` + "```yaml" + `
# yaml-language-server: $schema=https://raw.githubusercontent.com/label-state/label-state/main/docs/label-state.schema.json
version: 1
` + "```" + `

A checked-out file that differs changes nothing, and one line reports the difference; ` + "`label-state doctor`" + ` checks it before you push it. If the file cannot be read,
nothing is claimed (exit code 3). If it is invalid, a program names file, line, key and the key that was probably meant (exit code 2), and does nothing else. ` + "`status`, `log`" + `,
` + "`stats`, `board`, `next --list`, `next --no-claim`" + `, the hook and the Action's guard leave out the entries that have a problem, use the rest of the file, and say so in one line.

A file of your own, ` + "`--config FILE`" + ` or the variable ` + "`LABEL_STATE_CONFIG`" + `, sets only keys that affect nobody else: ` + "`hook`, `claim.settle`, `sweep`, `defaults`," + `
` + "`agents` and `plan.slack.token_env`" + `. Every other key in it must have the value of the default branch. A duration has the form ` + "`90s`, `30m`, `4h` or `7d`" + `.
`

// TestReference: docs/configuration.md has every key of the schema with its default, what it means
// and what it may be.
func TestReference(t *testing.T) {
	want := referenceHead
	top := load(t).object("properties")
	plain, nested := map[string]schema{}, []string{}
	for name, s := range sorted(top) {
		if s["properties"] == nil {
			plain[name] = s
		} else {
			nested = append(nested, name)
		}
	}

	want += "\n## At the top\n\n" + keyTable("", plain)
	for _, name := range nested {
		s := schema(top[name].(map[string]any))
		want += "\n## " + name + "\n\n" + s.text1("description") + "\n\n" + keyTable(name+".", s.flat(""))
	}

	golden.Check(t, reference, want)
}

func (s schema) object(key string) map[string]any {
	m, _ := s[key].(map[string]any)
	return m
}

func (s schema) text1(key string) string {
	text, _ := s[key].(string)
	return text
}

// sorted goes through properties by name.
func sorted(properties map[string]any) func(yield func(string, schema) bool) {
	return func(yield func(string, schema) bool) {
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if !yield(name, schema(properties[name].(map[string]any))) {
				return
			}
		}
	}
}

// flat are the keys below s, with dots between.
func (s schema) flat(path string) map[string]schema {
	all := map[string]schema{}
	for name, p := range sorted(s.object("properties")) {
		if p["properties"] == nil {
			all[path+name] = p
		} else {
			maps.Copy(all, p.flat(path+name+"."))
		}
	}

	return all
}

func keyTable(prefix string, keys map[string]schema) string {
	table := "| key | default | means |\n|---|---|---|\n"
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		s := keys[name]
		means := strings.TrimSpace(s.text1("description") + " " + s.allowed())
		table += fmt.Sprintf("| `%s%s` | %s | %s |\n", prefix, name, s.usual(), strings.ReplaceAll(means, "|", `\|`))
	}

	return table
}

// usual is the default, as it would stand in the file.
func (s schema) usual() string {
	switch d := s["default"].(type) {
	case nil:
		return ""
	case []any:
		texts := make([]string, len(d))
		for n, one := range d {
			texts[n] = fmt.Sprint(one)
		}
		return "`[" + strings.Join(texts, ", ") + "]`"
	default:
		return fmt.Sprintf("`%v`", d)
	}
}

// allowed is what a value may be, as a sentence, where the default does not show it.
func (s schema) allowed() string {
	isDuration := strings.Contains(s.text1("pattern"), "ms|s|m|h")
	switch {
	case s["enum"] != nil:
		texts := []string{}
		for _, one := range s["enum"].([]any) {
			texts = append(texts, fmt.Sprintf("`%v`", one))
		}
		return "One of " + strings.Join(texts, ", ") + "."
	case s["type"] == "integer" && s["minimum"] != s["maximum"]:
		return fmt.Sprintf("From %v to %v.", s["minimum"], s["maximum"])
	case isDuration && s["default"] == "none":
		return "A duration, or `none`."
	case s["default"] != nil:
		return ""
	case s["type"] == "array":
		return "A list."
	case isDuration:
		return "A duration."
	}

	return ""
}

// TestCallersKeys: a file of the caller's own decides these keys and no others. Each of the rest
// has to be what the default branch says.
func TestCallersKeys(t *testing.T) {
	want := []string{
		"claim.settle",
		"plan.slack.token_env",
		"hook.on_unknown", "hook.pull_requests", "hook.timeout",
		"sweep.repos",
		"defaults.work_source.type", "defaults.work_source.repo", "defaults.work_source.labels.ready",
		"defaults.work_source.labels.in_progress",
		"defaults.work_source.exclude_labels", "defaults.work_source.cleanup_on_failure",
		"defaults.work_source.auth.token_env",
		"agents",
	}

	if got := config.CallersKeys(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
