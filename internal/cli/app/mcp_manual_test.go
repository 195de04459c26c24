package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/mcp"
)

// TestToolsAreVerbs: each tool with all of its arguments fills the parameters of a verb.
func TestToolsAreVerbs(t *testing.T) {
	var read string
	a := newAgent(t, cli.Terminal{Verbs: Verbs()}, func(o *mcp.Options) {
		o.Config, o.Repo = "x.yml", "acme/app"
		o.Do = func(_ context.Context, _ cli.Terminal, v cli.Verb, _ any) error {
			read = v.Name
			return nil
		}
	})
	seen := 0
	for tool, err := range a.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		seen++
		read = ""
		if a.call(tool.Name, everything(t, tool)); read == "" {
			t.Errorf("%s is no verb", tool.Name)
		}
	}

	if seen != 23 {
		t.Errorf("%d tools", seen)
	}
}

// everything is one value for each argument of a tool.
func everything(t *testing.T, tool *sdk.Tool) map[string]any {
	t.Helper()
	var s jsonschema.Schema
	data, err := json.Marshal(tool.InputSchema)
	if err = errors.Join(err, json.Unmarshal(data, &s)); err != nil {
		t.Fatal(err)
	}

	out := map[string]any{}
	for name, p := range s.Properties {
		switch {
		case name == "ttl", name == "wait":
			out[name] = "1h"
		case p.Type == "boolean":
			out[name] = true
		case p.Type == "integer":
			out[name] = 1
		case p.Type == "array" && p.Items.Enum != nil:
			out[name] = p.Items.Enum
		case p.Type == "array":
			out[name] = []string{"x"}
		case p.Enum != nil:
			out[name] = p.Enum[0]
		default:
			out[name] = "x"
		}
	}

	return out
}

// TestManualOfTools: the server's tools have the arguments and hints of tools.golden, and say of the
// same texts that others wrote them. docs/mcp.md names each tool.
func TestManualOfTools(t *testing.T) {
	page, err := os.ReadFile("../../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}

	rows := ""
	for tool, err := range newAgent(t, cli.Terminal{Verbs: Verbs()}).Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		rows += toolRow(t, tool)
		if !strings.Contains(string(page), "`"+tool.Name+"`") {
			t.Errorf("docs/mcp.md does not name the tool %s", tool.Name)
		}
	}

	for _, v := range Verbs() {
		for _, tool := range v.Tools {
			if tool.About == "" {
				t.Errorf("%s does not say what it does", tool.Name)
			}
			if tool.Many {
				rows += tool.Name + " answers with a list\n"
			}
			if tool.Untrusted != "" {
				rows += fmt.Sprintf("%s answers with other people's text: %s\n", tool.Name, tool.Untrusted)
			}
		}
	}

	golden.Check(t, "testdata/tools.golden", rows)
}

func toolRow(t *testing.T, tool *sdk.Tool) string {
	t.Helper()
	var in struct {
		Properties json.RawMessage
		Required   []string
	}
	data, err := json.Marshal(tool.InputSchema)
	if err = errors.Join(err, json.Unmarshal(data, &in)); err != nil {
		t.Fatal(err)
	}

	var names []string
	for name := range everything(t, tool) {
		if slices.Contains(in.Required, name) {
			name += "*"
		}
		names = append(names, name)
	}

	slices.Sort(names)
	return fmt.Sprintf("%s: %s (%s) [%s]\n", tool.Name, tool.Title, strings.Join(names, ", "), hints(tool.Annotations))
}

func hints(a *sdk.ToolAnnotations) string {
	var out []string
	if a.ReadOnlyHint {
		out = append(out, "read-only")
	}

	if *a.DestructiveHint {
		out = append(out, "destructive")
	}

	if a.IdempotentHint {
		out = append(out, "idempotent")
	}

	return strings.Join(out, ", ")
}

// TestHintsAreToolsOwn: of all hints that the program is known to give, a tool gives none in the
// words of the command line, as far as there is a tool for it.
func TestHintsAreToolsOwn(t *testing.T) {
	given := map[string]bool{}
	for _, tr := range readTrials(t, errorsGolden) {
		for _, q := range tr.asked {
			// what a server calls the same call (answer.Again)
			own, _, _ := strings.Cut(q.line, " -- ")
			again := regexp.MustCompile(regexp.QuoteMeta(own) + `(?: --verbose| --repo OWNER/NAME| --resume| --firing-id [a-z0-9]+)?(?: -- …)?(; |$)`)
			if before, _, timed := strings.Cut(q.line, " --timeout "); timed {
				again = regexp.MustCompile(regexp.QuoteMeta(before) + ` --timeout \w+(; |$)`)
			}

			for _, line := range q.answer {
				if hint, is := strings.CutPrefix(line, "hint: "); is {
					given[again.ReplaceAllString(hint, "the same call$1")] = true
				}
			}
		}
	}

	var hint string
	problem := answer.Problem{Code: answer.Declined}
	a := newAgent(t, cli.Terminal{Verbs: Verbs()}, func(o *mcp.Options) {
		o.Do = func(context.Context, cli.Terminal, cli.Verb, any) error { return &problem }
	})
	var commands []string
	for tool, err := range a.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		commands = append(commands, tool.Name)
	}

	ours := regexp.MustCompile(`label-state (?:` + strings.Join(commands, "|") +
		`|dedup-check|next|bundle [a-z]+|chain (?:execute|status|wait)|repo [a-z]+)\b|--(?:codename|firing-id|ttl|force|wait|feature|outcome)\b`)
	for hint = range given {
		problem.Next = commandsOf(hint)
		got := a.want("no", "claim", map[string]any{"issue": "1"}, nil).Hint
		shell := strings.ReplaceAll(got, "label-state status --mine (in a shell)", "") // a list, which no tool answers
		if ours.MatchString(shell) || got == "" {
			t.Errorf("%s\nis told to agents as\n%s", hint, got)
		}
	}

	if len(given) < 80 {
		t.Errorf("only %d hints", len(given))
	}
}

// commandsOf reads a hint of the command line as what it is made of.
func commandsOf(hint string) (next []answer.Command) {
	for part := range strings.SplitSeq(hint, "; ") {
		when, line, is := strings.Cut(part, "label-state ")
		if !is {
			next = append(next, answer.Advice(part))
			continue
		}

		words := strings.Fields(line)
		next = append(next, answer.Call(strings.TrimSuffix(when, ": "), words[0], words[1:]...))
	}

	return next
}

// TestAgentsPages: every command that the pages tell an agent is one that the program knows.
func TestAgentsPages(t *testing.T) {
	term := cli.Terminal{Verbs: Verbs()}
	for page, least := range map[string]int{"../../../examples/AGENTS.md": 10, "../../../docs/agents.md": 7} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}

		found := regexp.MustCompile("(?m)(?:^ +|`)(label-state [^`\n]+)").FindAllStringSubmatch(string(text), -1)
		for _, m := range found {
			line, _, _ := strings.Cut(m[1], "  ")
			err := term.Read(words(line)[1:], func(cli.Verb, any) error { return nil })
			if err != nil && !strings.Contains(err.Error(), ": want ") { // a page may name a command without its arguments
				t.Errorf("%s: %s: %v", page, line, err)
			}
		}

		if len(found) < least {
			t.Errorf("%s: only %d commands", page, len(found))
		}
	}
}
