package app

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/setup"
)

func TestRound(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{12 * time.Second, "12s"},
		{90 * time.Second, "1m 30s"},
		{time.Hour, "1h"},
		{time.Hour + 10*time.Second, "1h"},
		{4*time.Hour + 5*time.Minute + 6*time.Second, "4h 5m"},
		{76 * time.Hour, "3d 4h"},
		{9000 * time.Hour, "375d"},
	} {
		if got := cli.Round(c.d); got != c.want {
			t.Errorf("round(%s) = %q, want %q", c.d, got, c.want)
		}
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

// FuzzArrange: every command line becomes one in which flags come first and no argument is lost, or
// is an error of use.
func FuzzArrange(f *testing.F) {
	for _, line := range []string{
		"", "claim", "claim 12 --ttl 2h", "--json status 1", "repo --local pause acme/app", "claim 1 -- --json",
		"claim --codename",
		"-R acme/app status 1", "help claim", "claim -h", "--version", "repo puase --x", "claim --ttl=2h -",
		"sweep --repo a --repo b",
	} {
		f.Add(line)
	}

	app := cli.NewApp(cli.Terminal{Commands: commands, Env: setup.OS()})
	f.Fuzz(func(t *testing.T, line string) {
		args := append([]string{"label-state"}, strings.Split(line, " ")...)
		got, err := cli.Arrange(app.Commands, args)
		use := &answer.Problem{}
		switch {
		case err != nil && !(errors.As(err, &use) && use.Code == answer.Usage):
			t.Fatalf("%q: %v", line, err)
		case err != nil, slices.Contains(got, "help"), slices.Contains(got, "version"):
			return
		case len(got) != len(args):
			t.Fatalf("%q became %q", line, got)
		}

		again, err := cli.Arrange(app.Commands, got)
		if err != nil || !slices.Equal(again, got) {
			t.Fatalf("%q became %q, and that %q, %v", line, got, again, err)
		}
	})
}
