package app

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/setup"
)

// TestJSONHidesNothing: what turns the direction of writing, or does not show, is written as \u in
// every command's JSON, which means the same as before.
func TestJSONHidesNothing(t *testing.T) {
	const title = "Retry \u202edaolpu\u2066 the\u200b upload\U000e0041\x7f"
	const label = "size\u202e: small"
	w, err := newWorldWith(t.TempDir(), func(seed *githubsim.Seed) {
		one := &seed.Repos[0].Issues[0]
		one.Title, one.Labels = title, append(one.Labels, label)
	})
	if err != nil {
		t.Fatal(err)
	}

	for line, shows := range map[string]bool{
		"status acme/app#1": true, "next --list -R acme/app": true, "board -R acme/app": false, "log acme/app#1": false,
		"claim acme/app#999": false,
	} {
		vars := map[string]string{"GH_TOKEN": "tok-agents", "HOME": t.TempDir()}
		var out bytes.Buffer
		env := setup.OS()
		env.Getenv, env.Dir, env.HTTP = func(name string) string { return vars[name] }, t.TempDir(), w.Transport()
		terminal := cli.Terminal{
			Verbs: Verbs(),
			In:    strings.NewReader(""),
			Out:   &out,
			Err:   io.Discard,
			Env:   env,
		}
		cli.Run(t.Context(), append([]string{"label-state"}, strings.Fields(line+" --json")...), terminal)

		if at := strings.IndexFunc(out.String(),
			func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); at >= 0 {
			t.Errorf("%s: %q", line, out.String()[at:])
		}

		found := false
		for one := range strings.Lines(out.String()) {
			var card struct{ Labels []string }
			if err := json.Unmarshal([]byte(one), &card); err != nil {
				t.Errorf("%s: %v in %q", line, err, one)
			}
			found = found || slices.Contains(card.Labels, label)
		}

		if shows && !found {
			t.Errorf("%s: no label %q in %s", line, label, out.String())
		}
	}
}
