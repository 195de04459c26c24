package hookfile

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestProgram: what a push starts is found as the scripts find it.
func TestProgram(t *testing.T) {
	shim := State{File: "/r/.git/hooks/pre-push", Version: 1, Looks: "label-state-pre-push label-state"}
	for name, c := range map[string]struct {
		state State
		hook  string
		there string // programs, with spaces between; without a slash on PATH
		want  string
	}{
		"label-state alone": {
			shim, "/go/bin/label-state", "/go/bin/label-state",
			"/go/bin/label-state",
		},
		"the small one beside it": {
			shim, "/go/bin/label-state",
			"/go/bin/label-state /go/bin/label-state-pre-push", "/go/bin/label-state-pre-push",
		},
		"another one on PATH does not count": {
			shim, "/go/bin/label-state", "/go/bin/label-state label-state-pre-push",
			"/go/bin/label-state",
		},
		"the small one by its path": {shim, "/x/pre-push", "/x/pre-push", "/x/pre-push"},
		"gone, and one on PATH": {
			shim, "/go/bin/label-state", "label-state",
			"/path/label-state",
		},
		"gone, and both on PATH": {
			shim, "/go/bin/label-state", "label-state label-state-pre-push",
			"/path/label-state-pre-push",
		},
		"nowhere": {shim, "/go/bin/label-state", "", ""},
		"by git's setting": {State{
			File:    "/r/pre-push",
			Version: 1,
			Looks:   "label-state-pre-push label-state",
			Setting: "/opt/label-state",
		}, "", "/opt/label-state", "/opt/label-state"},
		"under another name": {
			shim, "/gh/gh-label-state", "/gh/gh-label-state",
			"/gh/gh-label-state",
		},
		"Windows": {
			shim, "/go/bin/label-state.exe",
			"/go/bin/label-state.exe /go/bin/label-state-pre-push.exe", "/go/bin/label-state-pre-push.exe",
		},
		"a manager's script": {
			State{Kind: Delegated, Looks: "label-state"},
			"", "label-state",
			"/path/label-state",
		},
		"a manager's script, the small one beside it": {
			State{Kind: Delegated, Looks: "label-state"},
			"", "label-state /path/label-state-pre-push",
			"/path/label-state",
		},
		"a manager's script with a path": {State{Kind: Delegated}, "/opt/label-state-pre-push", "label-state", ""},
		"a manager's script, the small one": {
			State{Kind: Delegated, Looks: "label-state-pre-push"},
			"",
			"label-state", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.state.Hook = c.hook
			p, ok := c.state.Program(func(name string) (string, error) {
				if !slices.Contains(strings.Fields(c.there), name) {
					return "", errors.New("not there")
				}
				if !strings.Contains(name, "/") {
					name = "/path/" + name
				}

				return name, nil
			})

			if p != c.want || ok != (c.want != "") {
				t.Errorf("%q, %t, want %q", p, ok, c.want)
			}
		})
	}
}
