// Package e2e runs the Action's real image, built from the real Dockerfile, the way GitHub's runner
// runs a Docker action, against the embedded GitHub on loopback. What needs Docker has the build
// tag e2e.
package e2e

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/label-state/label-state/internal/action"
)

// metadata is the part of action.yml that the runner acts on.
type metadata struct {
	Inputs map[string]struct {
		Description string
		Default     string
		Required    bool
	}
	Outputs map[string]struct{ Description string }
	Runs    struct {
		Using, Image string
		Args         []string
	}
}

func readMetadata(t *testing.T) metadata {
	t.Helper()
	text, err := os.ReadFile("../action.yml")
	if err != nil {
		t.Fatal(err)
	}

	var m metadata
	if err := yaml.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}

	return m
}

// defaults returns the inputs of a workflow that gives none.
func (m metadata) defaults(token, api string) map[string]string {
	expressions := strings.NewReplacer("${{ github.token }}", token, "${{ github.api_url }}", api)
	values := make(map[string]string, len(m.Inputs))
	for name, input := range m.Inputs {
		values[name] = expressions.Replace(input.Default)
	}
	return values
}

// TestMetadata checks that the runner would accept action.yml, that every word in it is explained,
// and that the program asks for the inputs that it offers.
func TestMetadata(t *testing.T) {
	m := readMetadata(t)
	if m.Runs.Using != "docker" || m.Runs.Image != "Dockerfile" || m.Runs.Args != nil {
		t.Errorf("runs = %+v, want docker, Dockerfile and no args: text in args is not escaped", m.Runs)
	}

	for name, input := range m.Inputs {
		if input.Description == "" || input.Required {
			t.Errorf("input %s = %+v, want a description and no duty to give it", name, input)
		}
	}

	for name, output := range m.Outputs {
		if output.Description == "" {
			t.Errorf("output %s has no description", name)
		}
	}
}

func TestInputsMatchProgram(t *testing.T) {
	m := readMetadata(t)
	given := m.defaults("secret", "https://api.github.com")
	var asked []string
	in, err := action.ReadInputs(func(name string) string {
		asked = append(asked, name)
		return given[name]
	})
	if err != nil {
		t.Errorf("the defaults of action.yml are refused: %v", err)
	}
	slices.Sort(asked)
	if offered := slices.Sorted(maps.Keys(m.Inputs)); !slices.Equal(slices.Compact(asked), offered) {
		t.Errorf("action.yml offers %q, the program asks for %q", offered, asked)
	}

	if in.Token != "secret" || in.APIURL != "https://api.github.com" || in.DryRun || !in.FailOnIncomplete {
		t.Errorf("defaults are read as %+v", in)
	}
}
