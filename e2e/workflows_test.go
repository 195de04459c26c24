package e2e

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A workflow is the part of a workflow file that decides what a run may do.
type workflow struct {
	On          map[string]any
	Permissions map[string]string
	Jobs        map[string]struct {
		Permissions map[string]string
		Timeout     int `yaml:"timeout-minutes"`
		Uses        string
		Steps       []struct {
			Uses, Run string
			With, Env map[string]string
		}
	}
}

func readWorkflow(t *testing.T, path string) workflow {
	t.Helper()
	var w workflow
	if err := yaml.Unmarshal([]byte(readText(t, path)), &w); err != nil {
		t.Fatalf("%s: %v", path, err)
	}

	if len(w.On) == 0 || len(w.Jobs) == 0 {
		t.Fatalf("%s has no events or no jobs", path)
	}

	return w
}

// workflows are our own and the examples.
func workflows(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, dir := range []string{"../.github/workflows", "../examples"} {
		found, err := filepath.Glob(dir + "/*.yml")
		if err != nil || len(found) == 0 {
			t.Fatalf("%d workflows in %s, %v", len(found), dir, err)
		}
		paths = append(paths, found...)
	}

	return paths
}

// pinned is a use of an action that cannot change under us: by commit, with the version for the
// reader.
var pinned = regexp.MustCompile(`^[a-z0-9-]+/[a-z0-9-]+(/[a-z]+)?@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)

// TestActionsArePinned wants every action of somebody else by its commit. Our own is by the branch
// or the tag in the examples, and the checkout's where we use it ourselves.
func TestActionsArePinned(t *testing.T) {
	for _, path := range workflows(t) {
		for n, line := range strings.Split(readText(t, path), "\n") {
			_, use, found := strings.Cut(line, "uses: ")
			switch {
			case !found, use == namedAction, strings.HasPrefix(use, "./"):
			case !pinned.MatchString(use):
				t.Errorf("%s:%d: %s", path, n+1, use)
			}
		}
	}
}

// TestImagesArePinned wants every image that ours are built from, and the one that builds them, by its
// digest, and a release compiled by the Go of that image.
func TestImagesArePinned(t *testing.T) {
	byDigest := regexp.MustCompile(`^[a-z/]+:v?[0-9.]+(-alpine)?@sha256:[0-9a-f]{64}$`)
	for _, path := range []string{"../Dockerfile", "../packaging/image/Dockerfile", "../.github/workflows/build.yml"} {
		found := regexp.MustCompile(`(?m)^FROM (?:--\S+ )?(\S+)|^ *BUILDKIT: (\S+)`).FindAllStringSubmatch(readText(t, path), -1)
		if len(found) == 0 {
			t.Errorf("%s names no image", path)
		}

		for _, m := range found {
			if image := m[1] + m[2]; image != "scratch" && !byDigest.MatchString(image) {
				t.Errorf("%s: %s", path, image)
			}
		}
	}

	version, err := tool(t, ".", "go-version")
	if want := " golang:" + strings.TrimSpace(version) + "-alpine@"; err != nil ||
		!strings.Contains(readText(t, "../Dockerfile"), want) {
		t.Errorf("go-version prints %q, %v", version, err)
	}
}

// TestDependenciesAreUpdated wants dependabot to look at every module, package, image and workflow.
func TestDependenciesAreUpdated(t *testing.T) {
	var file struct {
		Updates []struct {
			Ecosystem   string `yaml:"package-ecosystem"`
			Directories []string
		}
	}
	text := readText(t, "../.github/dependabot.yml")
	if err := yaml.Unmarshal([]byte(text), &file); err != nil || strings.Contains(text, "&") {
		t.Fatalf("dependabot.yml: %v, or an alias", err)
	}

	var got []string
	for _, update := range file.Updates {
		for _, dir := range update.Directories {
			got = append(got, update.Ecosystem+" "+dir)
		}
	}

	want := []string{"github-actions /"}
	for name, ecosystem := range map[string]string{
		"go.mod": "gomod", "package-lock.json": "npm", "Dockerfile": "docker",
	} {
		for path := range strings.FieldsSeq(git(t, "..", "ls-files", "--cached", "--others", "--exclude-standard", name, "**/"+name)) {
			if strings.Contains(readText(t, "../"+path), "FROM scratch\n") && !strings.Contains(readText(t, "../"+path), "@sha256:") {
				continue // nothing to update
			}
			want = append(want, ecosystem+" "+filepath.Dir("/"+path))
		}
	}

	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("dependabot looks at %q, want %q", got, want)
	}
}

// TestNobodyForgesProvenance wants every job that may sign to run no code of ours, and to take files
// by the id of their artifact: another job of the run can replace the artifact of a name.
func TestNobodyForgesProvenance(t *testing.T) {
	signs := false
	for _, path := range workflows(t) {
		for name, job := range readWorkflow(t, path).Jobs {
			if job.Permissions["id-token"] == "" || job.Uses == "./.github/workflows/build.yml" {
				continue
			}

			signs = true
			if filepath.Base(path) != "build.yml" || job.Uses != "" {
				t.Errorf("%s: job %s may sign; only build.yml should", path, name)
			}

			for _, step := range job.Steps {
				action, _, _ := strings.Cut(step.Uses, "@")
				_, byName := step.With["name"]
				if !slices.Contains([]string{
					"actions/attest-build-provenance", "actions/download-artifact", "actions/upload-artifact",
				}, action) || action == "actions/download-artifact" && byName {
					t.Errorf("%s: job %s may sign, and has the step %+v", path, name, step)
				}
			}
		}
	}

	if !signs {
		t.Error("no job signs")
	}
}

// TestWorkflowsAreSafe wants of every workflow what docs/security.md says of them.
func TestWorkflowsAreSafe(t *testing.T) {
	for _, path := range workflows(t) {
		w := readWorkflow(t, path)
		if _, target := w.On["pull_request_target"]; target {
			t.Errorf("%s runs on pull_request_target", path)
		}

		for name, level := range w.Permissions {
			if level != "read" {
				t.Errorf("%s grants every job %s: %s", path, name, level)
			}
		}

		for name, job := range w.Jobs {
			most := 30
			if filepath.Base(path) == "night.yml" { // nobody waits for it
				most = 240
			}

			if job.Uses == "" && (job.Timeout == 0 || job.Timeout > most) {
				t.Errorf("%s: job %s may run for %d minutes", path, name, job.Timeout)
			}

			for _, step := range job.Steps {
				if strings.Contains(step.Run, "${{") {
					t.Errorf("%s: job %s has an expression in a script, which a title could end: %s", path, name,
						step.Run)
				}

				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != "false" &&
					name != "publish" {
					t.Errorf("%s: job %s leaves the token in the checkout", path, name)
				}
			}
		}
	}
}

// TestExamplesAskForLittle wants of the examples no more permissions than docs/action.md gives
// reasons for.
func TestExamplesAskForLittle(t *testing.T) {
	for _, path := range workflows(t) {
		if !strings.Contains(path, "examples") {
			continue
		}
		w := readWorkflow(t, path)
		if w.Permissions == nil || len(w.Permissions) != 0 {
			t.Errorf("%s: permissions %v for every job, want {}", path, w.Permissions)
		}

		for name, job := range w.Jobs {
			for scope, level := range job.Permissions {
				if !slices.Contains([]string{
					"contents: read", "issues: read", "issues: write", "pull-requests: read",
					"pull-requests: write",
				}, scope+": "+level) {
					t.Errorf("%s: job %s asks for %s: %s", path, name, scope, level)
				}
			}

			for _, step := range job.Steps {
				if strings.HasPrefix(step.Uses, "actions/checkout@") || step.Run != "" {
					t.Errorf("%s: job %s checks out or runs code; the Action needs neither", path, name)
				}
			}
		}
	}
}
