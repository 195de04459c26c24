package hookfile

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/label-state/label-state/internal/testmain"
)

// TestMain lets the scripts run this package as a program.
func TestMain(m *testing.M) {
	testscript.Main(testmain.Tests{Play: m.Run}, map[string]func(){"hookfile": program})
}

// program is hookfile install|uninstall|status [-global] [-force] [-hook PATH]. It prints what was
// done and what there is now; a refusal exits 1 with the reason and the hint on stderr.
func program() {
	var o Options
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	flags.BoolVar(&o.Global, "global", false, "")
	flags.BoolVar(&o.Force, "force", false, "")
	flags.StringVar(&o.Hook, "hook", "", "")
	if err := flags.Parse(os.Args[2:]); err != nil {
		os.Exit(2)
	}

	o.Home = os.Getenv("LABEL_STATE_HOME")
	var err error
	o.Git.Env = os.Environ()
	if o.Git.Dir, err = os.Getwd(); err != nil {
		os.Exit(2)
	}

	if err := act(flags.Name(), o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		var refused *RefusedError
		if errors.As(err, &refused) && refused.Hint != "" {
			fmt.Fprintln(os.Stderr, "hint:", refused.Hint)
		}
		os.Exit(1)
	}
}

func act(verb string, o Options) error {
	ctx := context.Background()
	var s State
	var err error
	var change Change
	switch verb {
	case "install":
		s, change, err = Install(ctx, o)
	case "uninstall":
		s, change, err = Uninstall(ctx, o)
	default:
		change = "status"
		s, err = Status(ctx, o)
	}

	if err == nil {
		fmt.Printf("%s: %s v%d installed=%t hook=%q kept=%q scope=%q global=%t hint=%q\n", change, s.Kind, s.Version,
			s.Installed(), s.Hook, filepath.Base(s.Kept), s.Scope, s.Global, s.Hint)
	}

	return err
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", home)
			e.Setenv("LABEL_STATE_HOME", filepath.Join(home, "label-state"))
			e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			e.Setenv("GIT_TERMINAL_PROMPT", "0")
			e.Setenv("SAW", filepath.Join(e.WorkDir, "saw"))
			config := "[maintenance]\n\tauto = false\n[user]\n\tname = A\n\temail = a@example.com\n[init]\n\tdefaultBranch = main\n[advice]\n\tignoredHook = false\n"
			if err := os.MkdirAll(home, 0o755); err != nil {
				return err
			}

			return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o644)
		},
	})
}

// TestScriptInTheWay: where a script cannot be written, nothing is left behind.
func TestScriptInTheWay(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "pre-push"), 0o755); err != nil {
		t.Fatal(err)
	}

	err := writeScript(filepath.Join(dir, "pre-push"), "true\n")
	if left, _ := os.ReadDir(dir); err == nil || len(left) != 1 {
		t.Errorf("%v, and there is %v", err, left)
	}
}
