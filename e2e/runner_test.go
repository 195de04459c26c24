//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A step is one use of the Action in a workflow run.
type step struct {
	event string            // the event's name
	file  json.RawMessage   // the event's payload
	with  map[string]string // the inputs that the workflow gives
	token string            // github.token
}

// A result is what the runner has in hand after a step.
type result struct {
	code    int
	log     string // both streams
	outputs map[string]string
	summary string
}

// A runner knows what is the same for all steps of a test.
type runner struct {
	meta metadata
	repo string // owner/name
	api  string // base URL
}

// run executes the image as the runner does for a Docker action without args: inputs and context in
// the environment, the runner's folders mounted, the values out of the process list.
func (r runner) run(t *testing.T, s step) result {
	t.Helper()
	name, err := image()
	if err != nil {
		t.Fatal(err)
	}

	dirs := r.folders(t, s)
	env := r.environment(s)
	args := []string{"run", "--rm", "--label", "label-state-e2e", "--workdir", "/github/workspace", "--network", "host"}
	for _, key := range slices.Sorted(maps.Keys(env)) {
		args = append(args, "-e", key)
	}

	for _, dir := range mounts {
		args = append(args, "-v", filepath.Join(dirs, dir)+":/github/"+dir)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	docker := exec.CommandContext(ctx, "docker", append(args, name)...)
	docker.Env = os.Environ()

	for key, value := range env {
		docker.Env = append(docker.Env, key+"="+value)
	}
	var log bytes.Buffer
	docker.Stdout, docker.Stderr = &log, &log
	err = docker.Run()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() >= 125) {
		t.Fatalf("docker run: %v\n%s", err, &log) // 125 and up is Docker's own failure
	}

	return result{
		code:    docker.ProcessState.ExitCode(),
		log:     log.String(),
		outputs: readOutputs(t, filepath.Join(dirs, outputFile)),
		summary: readText(t, filepath.Join(dirs, summaryFile)),
	}
}

// mounts are the folders that the runner mounts below /github.
var mounts = []string{"runner_temp", "home", "workflow", "file_commands", "workspace"}

const (
	outputFile  = "file_commands/set_output_1"
	summaryFile = "file_commands/step_summary_1"
)

// folders lays out the runner's folders with the event file and the empty command files.
func (r runner) folders(t *testing.T, s step) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range mounts {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}

	for _, name := range []string{
		outputFile, summaryFile, "file_commands/set_env_1", "file_commands/add_path_1",
		"file_commands/save_state_1",
	} {
		writeFile(t, filepath.Join(root, name), nil)
	}

	writeFile(t, filepath.Join(root, "workflow/event.json"), s.file)
	return root
}

// environment is the container's environment: INPUT_ for every input of action.yml, and the GITHUB_
// variables that the runner sets (docs.github.com, "Default environment variables").
func (r runner) environment(s step) map[string]string {
	owner, _, _ := strings.Cut(r.repo, "/")
	env := map[string]string{
		"CI": "true", "GITHUB_ACTIONS": "true", "HOME": "/github/home",
		"GITHUB_ACTION": "__self", "GITHUB_ACTOR": "dev", "GITHUB_TRIGGERING_ACTOR": "dev",
		"GITHUB_API_URL": r.api, "GITHUB_GRAPHQL_URL": r.api + "/graphql", "GITHUB_SERVER_URL": r.api,
		"GITHUB_EVENT_NAME": s.event, "GITHUB_EVENT_PATH": "/github/workflow/event.json",
		"GITHUB_REPOSITORY": r.repo, "GITHUB_REPOSITORY_OWNER": owner,
		"GITHUB_REF": "refs/heads/main", "GITHUB_REF_NAME": "main", "GITHUB_REF_TYPE": "branch",
		"GITHUB_SHA": strings.Repeat("a", 40), "GITHUB_JOB": "label-state", "GITHUB_WORKFLOW": "label-state",
		"GITHUB_RUN_ID": "1001", "GITHUB_RUN_NUMBER": "1", "GITHUB_RUN_ATTEMPT": "1",
		"GITHUB_WORKSPACE": "/github/workspace",
		"GITHUB_OUTPUT":    "/github/" + outputFile, "GITHUB_STEP_SUMMARY": "/github/" + summaryFile,
		"GITHUB_ENV": "/github/file_commands/set_env_1", "GITHUB_PATH": "/github/file_commands/add_path_1",
		"GITHUB_STATE": "/github/file_commands/save_state_1",
		"RUNNER_OS":    "Linux", "RUNNER_ARCH": "X64", "RUNNER_TEMP": "/github/runner_temp",
		"RUNNER_ENVIRONMENT": "github-hosted",
	}
	inputs := r.meta.defaults(s.token, r.api)
	maps.Copy(inputs, s.with)

	for name, value := range inputs {
		env["INPUT_"+strings.ToUpper(strings.ReplaceAll(name, " ", "_"))] = value
	}

	return env
}

// readOutputs parses an output file as the runner does: NAME=VALUE where the = comes first,
// NAME<<END otherwise.
func readOutputs(t *testing.T, path string) map[string]string {
	t.Helper()
	outputs := map[string]string{}
	lines := strings.Split(strings.TrimSuffix(readText(t, path), "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		equals, heredoc := strings.Index(line, "="), strings.Index(line, "<<")
		switch {
		case line == "":
		case equals >= 0 && (heredoc < 0 || equals < heredoc):
			outputs[line[:equals]] = line[equals+1:]
		case heredoc > 0:
			end := slices.Index(lines[i+1:], line[heredoc+2:])
			if end < 0 {
				t.Fatalf("output %q has no end", line)
			}
			outputs[line[:heredoc]] = strings.Join(lines[i+1:i+1+end], "\n")
			i += end + 1
		default:
			t.Fatalf("output line %q is neither NAME=VALUE nor NAME<<END", line)
		}
	}

	return outputs
}
