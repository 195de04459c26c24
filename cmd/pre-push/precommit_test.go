package main

import (
	"os"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestPreCommitHooks holds the manifest to what pre-commit will find: "go install ./..." names the
// program after this folder.
func TestPreCommitHooks(t *testing.T) {
	data, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}

	var hooks []struct {
		ID, Entry, Language string
		Stages              []string
		AlwaysRun           bool `yaml:"always_run"`
		PassFilenames       bool `yaml:"pass_filenames"`
		RequireSerial       bool `yaml:"require_serial"`
	}

	if err := yaml.Unmarshal(data, &hooks); err != nil || len(hooks) != 1 {
		t.Fatalf("%d hooks (%v), want 1", len(hooks), err)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}

	h := hooks[0]
	if h.Entry != filepath.Base(dir) || h.Language != "golang" || len(h.Stages) != 1 || h.Stages[0] != "pre-push" {
		t.Errorf("%+v: pre-commit would not run this folder's program before a push", h)
	}

	if !h.AlwaysRun || h.PassFilenames || !h.RequireSerial {
		t.Errorf("%+v: it must run once for every push, without file names", h)
	}
}
