// Package workflow reads what a GitHub Actions workflow lets the Action do. It performs no I/O.
package workflow

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Workflow is what matters here of a workflow.
type Workflow struct {
	On   map[string][]string // the events that start it, with their types; nil types are GitHub's default
	Jobs []Job               // that run the Action, sorted by name
	Runs bool                // one of them does, or calls a workflow that may
}

// A Job is a job of a workflow that runs the Action.
type Job struct {
	Name      string
	Uses      string      // as the step names the Action
	Guard     bool        // it only guards: it moves no label
	Foreign   bool        // its token is not the run's own, so the run's permissions say nothing of it
	Stated    bool        // the workflow states its permissions; otherwise they are the repository's default
	Has       Permissions // what is stated
	Variables []string    // environment variables that the workflow, the job or the step sets, sorted
}

// Permissions are permissions of a run's token by their names in a workflow; each is read, write or
// none.
type Permissions map[string]string

// Needs returns what the Action needs. refs says that leases are git references, which ending a
// hold moves.
func Needs(guard, refs bool) Permissions {
	switch {
	case guard:
		return Permissions{"contents": "read", "issues": "read", "pull-requests": "read"}
	case refs:
		return Permissions{"contents": "write", "issues": "write", "pull-requests": "write"}
	}

	return Permissions{"contents": "read", "issues": "write", "pull-requests": "write"}
}

// Lacks lists what is needed and not stated, as "contents: write", sorted by name. It is empty
// where nothing is stated.
func (j Job) Lacks(needed Permissions) []string {
	if !j.Stated || j.Foreign {
		return nil
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		want := needed[name]
		have, stated := j.Has[name]
		if !stated {
			have = j.Has[all]
		}

		if have != want && have != "write" {
			out = append(out, name+": "+want)
		}
	}

	return out
}

// all is the name under which read-all and write-all are kept.
const all = "*"

// namesAction reports whether uses names the Action, or a workflow with it: one of that name, or
// one of the workflow's own repository.
func namesAction(uses string) bool {
	return strings.Contains(uses, "label-state") || strings.HasPrefix(uses, "./")
}

type file struct {
	On          yaml.Node
	Permissions yaml.Node
	Env         map[string]yaml.Node
	Jobs        map[string]struct {
		Uses        string // a workflow that it calls
		Permissions yaml.Node
		Env         map[string]yaml.Node
		Steps       []struct {
			Uses string
			With map[string]yaml.Node
			Env  map[string]yaml.Node
		}
	}
}

// Parse reads a workflow. The error is of YAML that is none, or no workflow.
func Parse(text []byte) (Workflow, error) {
	var f file
	if err := yaml.Unmarshal(text, &f); err != nil {
		return Workflow{}, fmt.Errorf("read workflow: %w", err)
	}

	w := Workflow{On: events(f.On)}
	for _, name := range slices.Sorted(maps.Keys(f.Jobs)) {
		job := f.Jobs[name]
		w.Runs = w.Runs || namesAction(job.Uses)
		for _, step := range job.Steps {
			if !namesAction(step.Uses) {
				continue
			}
			w.Runs = true
			mode, token := step.With["mode"].Value, step.With["token"].Value
			variables := maps.Clone(f.Env)
			if variables == nil {
				variables = map[string]yaml.Node{}
			}

			maps.Copy(variables, job.Env)
			maps.Copy(variables, step.Env)

			j := Job{
				Name:  name,
				Uses:  step.Uses,
				Guard: mode == "guard",
				Foreign: token != "" && !strings.Contains(token, "github.token") &&
					!strings.Contains(token, "secrets.GITHUB_TOKEN"),
				Variables: slices.Sorted(maps.Keys(variables)),
			}
			j.Has, j.Stated = stated(job.Permissions, f.Permissions)
			w.Jobs = append(w.Jobs, j)
		}
	}

	return w, nil
}

// events are what a workflow runs on: one name, a list of names, or names with what belongs to
// each.
func events(on yaml.Node) map[string][]string {
	out := map[string][]string{}
	switch on.Kind {
	case yaml.ScalarNode:
		out[on.Value] = nil
	case yaml.SequenceNode:
		for _, name := range on.Content {
			out[name.Value] = nil
		}

	case yaml.MappingNode:
		for k := 0; k+1 < len(on.Content); k += 2 {
			var event struct{ Types yaml.Node }
			_ = on.Content[k+1].Decode(&event) // a schedule is a list, which has no types
			out[on.Content[k].Value] = typesOf(event.Types)
		}
	}

	return out
}

// typesOf are the types of an event: one, or a list.
func typesOf(node yaml.Node) []string {
	if node.Kind == yaml.ScalarNode && node.Tag != "!!null" {
		return []string{node.Value}
	}
	var all []string
	for _, one := range node.Content {
		all = append(all, one.Value)
	}

	return all
}

// stated is the first that states permissions: the job, then the workflow.
func stated(nodes ...yaml.Node) (Permissions, bool) {
	for _, n := range nodes {
		switch {
		case n.Kind == 0 || n.Tag == "!!null":
		case n.Kind == yaml.ScalarNode:
			level, _ := strings.CutSuffix(n.Value, "-all")
			return Permissions{all: level}, true
		default:
			p := Permissions{}
			return p, n.Decode(&p) == nil
		}
	}

	return nil, false
}
