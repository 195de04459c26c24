package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/programs"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/testmain"
)

// TestMain has the tests cost little: package testmain says how.
func TestMain(m *testing.M) {
	os.Exit(testmain.Tests{Play: m.Run}.Run())
}

// TestBuild: a release says what the linker was told, by the names that .goreleaser.yaml uses.
func TestBuild(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "label-state")
	want := setup.Build{
		Version: "v1.2.3",
		Commit:  "1111111111111111111111111111111111111111",
		Date:    time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC),
	}
	flags := "-X main.version=" + want.Version + " -X main.commit=" + want.Commit + " -X main.date=2026-11-30T10:00:00+01:00"
	if err := programs.Copy("label-state", program, "-ldflags", flags); err != nil {
		t.Fatal(err)
	}

	out, err := exec.Command(program, "version", "--json").Output()
	var got setup.Build
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	if err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}
