package try_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/label-state/label-state/internal/cli/try"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/programs"
)

// build makes the programs once for all tests.
func build(t *testing.T) try.Programs {
	t.Helper()
	dir := t.TempDir()
	p := try.Programs{
		CLI: filepath.Join(dir, "label-state"), Hook: filepath.Join(dir, "label-state-pre-push"),
		Action: filepath.Join(dir, "label-state-action"),
	}
	second := filepath.Join(dir, "label-state-pre-push-check") // the hook starts it when a commit names an issue
	for to, name := range map[string]string{
		p.CLI: "label-state", p.Hook: "pre-push", second: "pre-push-check",
		p.Action: "action",
	} {
		if err := programs.Copy(name, to); err != nil {
			t.Fatal(err)
		}
	}

	return p
}

func play(t *testing.T, p try.Programs) (string, error) {
	t.Helper()
	var out bytes.Buffer
	paint := func(ink, text string) string { return "\x1b[" + ink + "m" + text + "\x1b[0m" }
	err := try.Play(t.Context(), try.Stage{
		Out:      &out,
		Programs: p,
		Environ:  os.Environ(),
		Dir:      t.TempDir(),
		Paint:    paint,
	})

	for _, want := range []string{
		"\n\x1b[1m1. An embedded GitHub", "olga$ \x1b[36mlabel-state status 1\x1b[0m\n",
		"   \x1b[32mok  \x1b[0m issue 1 is free\n",
	} {
		if err == nil && !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}

	return ansi.Strip(out.String()), err
}

// TestStory plays the demo, and plays it with one program broken at a time: a story that cannot
// fail proves nothing.
func TestStory(t *testing.T) {
	whole := build(t)
	deaf, idle, bare := whole, whole, whole
	answers := `test "$3" != --try || echo '{"version": "dev"}'`
	deaf.Hook, idle.Action = script(t, answers), script(t, "exit 0")
	bare.CLI = script(t, `test "$1" != hook && exec "`+whole.CLI+`" "$@"`)

	for name, c := range map[string]struct {
		programs try.Programs
		want     string // in the error; empty for success
	}{
		"whole":                       {whole, ""},
		"a hook that lets all pass":   {deaf, "git push failed"},
		"an Action that does nothing": {idle, "acme/app#1 shows agent:in-flight"},
		"no hook can be installed":    {bare, "hook install"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := play(t, c.programs)
			if c.want == "" {
				golden.Check(t, "testdata/demo.golden", skeleton(out))
			}

			switch {
			case c.want == "" && (err != nil || strings.Contains(out, "FAIL")):
				t.Errorf("%v\n%s", err, out)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %q\n%s", err, c.want, out)
			}
		})
	}
}

func script(t *testing.T, body string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "label-state-broken")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

// skeleton keeps the lines that every run has, steps and checks, as if lucius had won.
func skeleton(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if step.MatchString(line) {
			b.WriteString(winners.ReplaceAllString(strings.TrimRight(line, " \n"), "lucius") + "\n")
		}
	}

	return b.String()
}

var (
	step    = regexp.MustCompile(`^(\d\. |   ok  |   FAIL)`)
	winners = regexp.MustCompile(`lucius|drake`)
)
