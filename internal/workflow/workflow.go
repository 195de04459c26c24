// Package workflow reads what a GitHub Actions workflow lets the Action do. It performs no I/O.
package workflow

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Job is a job of a workflow that runs the Action.
type Job struct {
	Name    string
	Guard   bool        // it only guards: it moves no label
	Foreign bool        // its token is not the run's own, so the run's permissions say nothing of it
	Stated  bool        // the workflow states its permissions; otherwise they are the repository's default
	Has     Permissions // what is stated
}

// Permissions are permissions of a run's token by their names in a workflow; each is read, write or none.
type Permissions map[string]string

// Needs returns what the Action needs. refs says that leases are git references, which ending a hold moves.
func Needs(guard, refs bool) Permissions {
	switch {
	case guard:
		return Permissions{"contents": "read", "issues": "read", "pull-requests": "read"}
	case refs:
		return Permissions{"contents": "write", "issues": "write", "pull-requests": "write"}
	}
	return Permissions{"contents": "read", "issues": "write", "pull-requests": "write"}
}

// Lacks lists what is needed and not stated, as "contents: write", sorted by name. It is empty where nothing is stated.
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

// Runs reports whether a step's uses names the Action: one of that name, or one of the workflow's own repository.
func Runs(uses string) bool {
	return strings.Contains(uses, "label-state") || strings.HasPrefix(uses, "./")
}

type file struct {
	Permissions yaml.Node
	Jobs        map[string]struct {
		Permissions yaml.Node
		Steps       []struct {
			Uses string
			With map[string]yaml.Node
		}
	}
}

// Parse lists the jobs that run the Action, sorted by name. The error is of YAML that is none, or no workflow.
func Parse(text []byte) ([]Job, error) {
	var f file
	if err := yaml.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("read workflow: %w", err)
	}
	var out []Job
	for _, name := range slices.Sorted(maps.Keys(f.Jobs)) {
		job := f.Jobs[name]
		for _, step := range job.Steps {
			if !Runs(step.Uses) {
				continue
			}
			mode, token := step.With["mode"].Value, step.With["token"].Value
			foreign := token != "" && !strings.Contains(token, "github.token") && !strings.Contains(token, "secrets.GITHUB_TOKEN")
			j := Job{Name: name, Guard: mode == "guard", Foreign: foreign}
			j.Has, j.Stated = stated(job.Permissions, f.Permissions)
			out = append(out, j)
		}
	}
	return out, nil
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
