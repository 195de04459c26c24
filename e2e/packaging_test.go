package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFill fills what package managers and the MCP registry read from sums, and refuses those of
// half a release.
func TestFill(t *testing.T) {
	var sums strings.Builder
	for n, file := range []string{
		"darwin_amd64.tar.gz", "darwin_arm64.tar.gz", "linux_amd64.tar.gz", "linux_arm64.tar.gz", "windows_amd64.zip",
		"linux_arm64.cdx.json",
	} {
		fmt.Fprintf(&sums, "%s  label-state_1.2.3_%s\n", strings.Repeat(fmt.Sprint(n), 64), file)
	}

	whole, half := filepath.Join(t.TempDir(), "SHA256SUMS"), filepath.Join(t.TempDir(), "SHA256SUMS")
	writeFile(t, whole, []byte(sums.String()))
	writeFile(t, half, []byte(strings.NewReplacer("arm64.tar", "arm.tar", "64.zip", "32.zip").Replace(sums.String())))
	const download = "releases/download/v1.2.3/label-state_1.2.3_"
	for template, wants := range map[string][]string{
		"homebrew/label-state.rb": {
			`version "1.2.3"`, download + "darwin_arm64.tar.gz\"\n      sha256 \"" + strings.Repeat("1", 64),
			download + "linux_amd64.tar.gz\"\n      sha256 \"" + strings.Repeat("2", 64),
		},
		"scoop/label-state.json": {
			`"version": "1.2.3"`, download + "windows_amd64.zip\",\n            \"hash\": \"" + strings.Repeat("4", 64),
			`"extract_dir": "label-state_1.2.3_windows_amd64"`,
		},
		"mcp/server.json": {`"version": "1.2.3"`, `"ghcr.io/label-state/label-state/cli:v1.2.3"`},
	} {
		template = filepath.Join("packaging", template)
		got, err := tool(t, "..", "../packaging/fill", template, "v1.2.3", whole)
		if err != nil {
			t.Fatal(err)
		}

		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s has no\n%s\nbut is\n%s", template, want, got)
			}
		}

		if strings.Contains(got, "@") {
			t.Errorf("something was not filled in:\n%s", got)
		}

		refused := [][]string{{"1.2.3", whole}, {"v1.2.3/x", whole}}
		if strings.Contains(got, strings.Repeat("4", 64)) || strings.Contains(got, strings.Repeat("3", 64)) {
			refused = append(refused, []string{"v1.2.3", half}, []string{"v1.2.4", whole})
		}

		for _, args := range refused {
			if got, err := tool(t, "..", "../packaging/fill", append([]string{template}, args...)...); err == nil {
				t.Errorf("fill %s %q = %s", template, args, got)
			}
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
