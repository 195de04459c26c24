package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFormula fills the Homebrew formula from sums, and refuses those of half a release.
func TestFormula(t *testing.T) {
	var sums strings.Builder
	for n, platform := range []string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64"} {
		fmt.Fprintf(&sums, "%s  label-state_1.2.3_%s.tar.gz\n", strings.Repeat(fmt.Sprint(n), 64), platform)
		fmt.Fprintf(&sums, "%s  label-state_1.2.3_%s.sbom.json\n", strings.Repeat("f", 64), platform)
	}

	whole, half := filepath.Join(t.TempDir(), "SHA256SUMS"), filepath.Join(t.TempDir(), "SHA256SUMS")
	for file, text := range map[string]string{
		whole: sums.String(),
		half:  strings.ReplaceAll(sums.String(), "linux_arm64", "linux_arm"),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	got, err := tool(t, "..", "../packaging/homebrew/formula", "v1.2.3", whole)
	if err != nil {
		t.Fatal(err)
	}

	for _, want := range []string{
		`version "1.2.3"`, `releases/download/v1.2.3/label-state_1.2.3_darwin_arm64.tar.gz"` + "\n" + `      sha256 "` +
			strings.Repeat("1", 64),
		`label-state_1.2.3_linux_amd64.tar.gz"` + "\n" + `      sha256 "` + strings.Repeat("2", 64),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the formula has no\n%s\nbut is\n%s", want, got)
		}
	}

	if strings.Contains(got, "@") {
		t.Errorf("something was not filled in:\n%s", got)
	}

	for _, args := range [][]string{{"v1.2.3", half}, {"v1.2.4", whole}, {"1.2.3", whole}, {"v1.2.3/x", whole}} {
		if got, err := tool(t, "..", "../packaging/homebrew/formula", args...); err == nil {
			t.Errorf("formula %q = %s", args, got)
		}
	}
}

// TestFormulaIsRuby has Ruby read the formula.
func TestFormulaIsRuby(t *testing.T) {
	ruby, err := exec.LookPath("ruby")
	need(t, "ruby", err)
	if out, err := exec.CommandContext(t.Context(), ruby, "-c",
		"../packaging/homebrew/label-state.rb").CombinedOutput(); err != nil {
		t.Errorf("ruby -c: %v\n%s", err, out)
	}
}
