package main

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"github.com/label-state/label-state/internal/config"
)

// TestStart: what init writes is what the documentation shows, and every setting it names is what it is anyway.
func TestStart(t *testing.T) {
	example, err := os.ReadFile("../../examples/single-repository.yml")
	if err != nil {
		t.Fatal(err)
	}
	if startWorkflow != string(example) {
		t.Error("start/workflow.yml differs from examples/single-repository.yml; copy it")
	}
	uncommented := regexp.MustCompile(`(?m)^#([a-z_]+:)`).ReplaceAllString(startConfig, "$1")
	for _, text := range []string{startConfig, uncommented} {
		got, err := config.Parse("start", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if want := config.Default(); got.Claim != want.Claim || !reflect.DeepEqual(got.Labels, want.Labels) || got.Plan.Timeout != want.Plan.Timeout || got.Hook != want.Hook ||
			got.Recovery.MaxAttempts != want.Recovery.MaxAttempts || got.Guard != want.Guard || got.OnReopen != want.OnReopen || len(got.Exclude) != len(want.Exclude) {
			t.Errorf("not the defaults: %+v", got)
		}
	}
	if uncommented == startConfig {
		t.Error("no setting is named")
	}
}

// TestCreate: a file that has come in the meantime stays as it is.
func TestCreate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a", "b.yml")
	if err := create(file, "ours\n"); err != nil {
		t.Fatal(err)
	}
	var kept *keptError
	if err := create(file, "theirs\n"); !errors.As(err, &kept) {
		t.Errorf("%v, want it kept", err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "ours\n" {
		t.Errorf("%q, %v", got, err)
	}
}
