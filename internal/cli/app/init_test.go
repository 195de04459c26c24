package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/cli/local"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/lease"
)

// TestStart: every setting that the file of init names is what it is anyway.
func TestStart(t *testing.T) {
	uncommented := regexp.MustCompile(`(?m)^#([a-z_]+:)`).ReplaceAllString(local.StartConfig, "$1")
	for _, text := range []string{local.StartConfig, uncommented} {
		got, err := config.Parse("start", []byte(text))
		if err != nil {
			t.Fatal(err)
		}

		if want := config.Default(); got.Claim != want.Claim || !reflect.DeepEqual(got.Labels, want.Labels) ||
			got.Plan.Timeout != want.Plan.Timeout || got.Hook != want.Hook ||
			!reflect.DeepEqual(got.Trust, want.Trust) ||
			got.Recovery.MaxAttempts != want.Recovery.MaxAttempts || got.Guard != want.Guard ||
			got.OnReopen != want.OnReopen || !reflect.DeepEqual(got.Contributors, want.Contributors) || len(got.Exclude) != len(want.Exclude) {
			t.Errorf("not the defaults: %+v", got)
		}
	}

	if uncommented == local.StartConfig {
		t.Error("no setting is named")
	}
}

// TestConfigFor: the settings that init writes for an App have the line without which its claims do
// not count.
func TestConfigFor(t *testing.T) {
	got, err := config.Parse("start", []byte(local.ConfigFor(&github.OutsiderError{Login: "fleet[bot]"})))
	if err != nil || !slices.Equal(got.Trust.Apps, []string{"github-actions", "fleet"}) {
		t.Errorf("%q, %v", got.Trust.Apps, err)
	}

	for _, o := range []*github.OutsiderError{nil, {Login: "rob", Role: "read"}} {
		if text := local.ConfigFor(o); text != local.StartConfig {
			t.Errorf("%v: %s", o, text)
		}
	}
}

// TestRefsTip: what init says of the refs lease is what docs/speed.md says.
func TestRefsTip(t *testing.T) {
	page, err := os.ReadFile(speedPage)
	if err != nil {
		t.Fatal(err)
	}

	cost := func(kind string) []string {
		row := regexp.MustCompile(`(?m)^\| ` + kind + ` \| ([0-9.]+) \| ([0-9]+) \|`).FindStringSubmatch(string(page))
		if row == nil {
			t.Fatalf("no row on %s", kind)
		}
		return row[1:]
	}

	refs, comments := cost(lease.Refs), cost(lease.Comments)
	if want := fmt.Sprintf("takes %s s and %s requests instead of %s s and %s;", refs[0], refs[1], comments[0],
		comments[1]); !strings.Contains(local.RefsTip, want) {
		t.Errorf("%q, want in it %q", local.RefsTip, want)
	}
}

// TestCreate: a file that has come in the meantime stays as it is.
func TestCreate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a", "b.yml")
	if err := local.Create(file, "ours\n", 0o644); err != nil {
		t.Fatal(err)
	}

	var kept *local.KeptError
	if err := local.Create(file, "theirs\n", 0o644); !errors.As(err, &kept) {
		t.Errorf("%v, want it kept", err)
	}

	if got, err := os.ReadFile(file); err != nil || string(got) != "ours\n" {
		t.Errorf("%q, %v", got, err)
	}
}
