package app

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
)

// TestLostEverywhere: whatever asks under a hold that somebody has ended is told no, that the hold
// is lost, and who has the issue now; by the command line and by the tools of coding agents alike.
// A hold that its own worker has ended is lost to nobody.
func TestLostEverywhere(t *testing.T) {
	ends := map[string]struct {
		token string
		words []string
		has   string // who has it then
		lost  bool
	}{
		"a person takes it over": {
			"tok-olga",
			[]string{"claim", "acme/app#1", "--force"},
			"olga holds it", true,
		},
		"another worker takes it over": {
			"tok-olga",
			[]string{"claim", "acme/app#1", "--force", "--codename", "fox", "--firing-id", "f1"},
			"fox (run f1) holds it", true,
		},
		"a person ends it": {
			"tok-olga",
			[]string{"release", "acme/app#1", "--force"},
			"forced by olga", true,
		},
		"its own worker has released it": {
			"tok-agents",
			[]string{"release", "acme/app#1", "--codename", "lucius", "--firing-id", "l1", "--outcome", "failure"},
			"", false,
		},
	}
	holder := map[string]any{"issue": "acme/app#1", "codename": "lucius", "firing_id": "l1"}
	fronts := map[string]func(w lostWorld) lostAnswer{
		"renew": func(w lostWorld) lostAnswer {
			return w.types("renew", "acme/app#1", "--codename", "lucius", "--firing-id", "l1")
		},
		"release": func(w lostWorld) lostAnswer {
			return w.types("release", "acme/app#1", "--codename", "lucius", "--firing-id", "l1", "--outcome", "success")
		},
		"bundle release": func(w lostWorld) lostAnswer {
			return w.types("bundle", "release", "pack", "--outcome",
				"success")
		},
		"tool renew":   func(w lostWorld) lostAnswer { return w.calls("renew", holder) },
		"tool release": func(w lostWorld) lostAnswer { return w.calls("release", holder) },
		"tool bundle_release": func(w lostWorld) lostAnswer {
			return w.calls("bundle_release",
				map[string]any{"name": "pack"})
		},
	}

	for end, e := range ends {
		for front, ask := range fronts {
			t.Run(end+", "+front, func(t *testing.T) {
				github := embedded(t)
				term := quiet(t, t.TempDir(), github.Transport(), nil)
				w := lostWorld{t, term}
				w.types("bundle", "claim", "pack", "acme/app#1", "--codename", "lucius", "--firing-id", "l1")
				other := w
				other.term.Env.Getenv = func(name string) string {
					if name == "GH_TOKEN" {
						return e.token
					}
					return term.Env.Getenv(name)
				}

				if got := other.types(e.words...); got.code != answer.ExitYes {
					t.Fatalf("%v: %+v", e.words, got)
				}

				got := ask(w)

				if e.lost && (got.code != answer.ExitNo || got.answer != "lost" ||
					!strings.Contains(got.problem, e.has)) {
					t.Errorf("%+v; want a lost hold, and %q", got, e.has)
				}

				if !e.lost && strings.HasPrefix(front, "bundle") && got.code != answer.ExitYes {
					t.Errorf("%+v", got)
				}
			})
		}
	}
}

// A lostWorld asks by the command line and by tools.
type lostWorld struct {
	testing.TB
	term cli.Terminal
}

// A lostAnswer is what was answered.
type lostAnswer struct {
	code            int
	answer, problem string
}

func (w lostWorld) types(words ...string) lostAnswer {
	var out, told bytes.Buffer
	w.term.Out, w.term.Err, w.term.Env.Stderr = &out, &told, &told
	err := cli.Execute(context.Background(), append(append([]string{"label-state"}, words...), "--json"), w.term)
	var said struct{ Answer string }
	if json.Unmarshal(out.Bytes(), &said) != nil {
		w.Errorf("%v: %s", words, out.String())
	}

	cli.Report(w.term, err)
	return lostAnswer{cli.ExitCode(err), said.Answer, told.String()}
}

func (w lostWorld) calls(tool string, arguments map[string]any) lostAnswer {
	got := newAgent(w, w.term).call(tool, arguments)
	var said struct{ Answer string }
	if json.Unmarshal(got.Result, &said) != nil {
		w.Errorf("%s: %s", tool, got.Result)
	}
	return lostAnswer{got.Code, said.Answer, got.Error}
}
