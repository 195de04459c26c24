package app

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/work"
)

// TestAllowedValues: the values that a parameter's tag allows are those that the code knows.
func TestAllowedValues(t *testing.T) {
	known := map[string][]string{
		"outcome":       claim.WorkerOutcomes(),
		"priority":      {},
		"toolset":       {},
		"host":          {},
		"transition-to": {},
	}
	for p := work.Critical; p <= work.Low; p++ {
		known["priority"] = append(known["priority"], p.String())
	}

	for _, set := range cli.Toolsets() {
		known["toolset"] = append(known["toolset"], string(set))
	}

	known["toolset"] = append(known["toolset"], "all")
	for _, h := range agenthost.Hosts() {
		known["host"] = append(known["host"], string(h))
	}

	for _, s := range []labels.State{labels.Available, labels.PROpen, labels.Done} { // a release leads to these
		known["transition-to"] = append(known["transition-to"], labels.Agent().Name(s))
	}

	seen := map[string]bool{}
	for _, v := range Verbs() {
		for _, p := range v.Params() {
			if want, is := known[p.Name]; is && p.Only != nil {
				seen[p.Name] = true
				if !slices.Equal(p.Only, want) {
					t.Errorf("%s, %s: expected %q, want %q", v.Name, p.Name, p.Only, want)
				}
			}
		}
	}

	if len(seen) != len(known) {
		t.Errorf("only %v have a list of values", seen)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"claim", "release", "log", "repo", "status", "dedup-check"}
	for name, want := range map[string]string{
		"clam": "claim", "claims": "claim", "relase": "release", "lgo": "log", "lo": "log", "foo": "", "x": "",
		"stauts": "status", "": "",
		"rel": "release", "re": "", "check": "dedup-check", "heck": "",
	} {
		if got := printable.Nearest(known, name); got != want {
			t.Errorf("nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

// FuzzRead: every command line is one verb, or help, or an error of use; its arguments are those
// that are not options, in their order.
func FuzzRead(f *testing.F) {
	for _, line := range []string{
		"", "claim", "claim 12 --ttl 2h", "--json status 1", "repo --local pause acme/app", "claim 1 -- --json",
		"claim --codename",
		"-R acme/app status 1", "help claim", "claim -h", "--version", "repo puase --x", "claim --ttl=2h -",
		"sweep --repo a --repo b",
	} {
		f.Add(line)
	}

	term := cli.Terminal{Verbs: Verbs()}
	f.Fuzz(func(t *testing.T, line string) {
		read := 0
		err := term.Read(strings.Split(line, " "), func(v cli.Verb, params any) error {
			read++
			for _, p := range cli.Params(params) {
				words, many := p.Field().(*[]string)
				for n := 0; many && p.Arg != "" && n < len(*words); n++ {
					if !strings.Contains(" "+line+" ", " "+(*words)[n]+" ") {
						t.Errorf("%q: %s has %q", line, p.Arg, *words)
					}
				}
			}
			return nil
		})
		use := &answer.Problem{}
		if wrong := errors.As(err, &use) && use.Code == answer.Usage; wrong == (read == 1) || !wrong && err != nil {
			t.Fatalf("%q: read %d times, %v", line, read, err)
		}
	})
}
