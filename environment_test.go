package labelstate_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	labelstate "github.com/label-state/label-state"
	"github.com/label-state/label-state/internal/state"
)

// surrounded puts the test into a clone of acme/app on a machine that has everything that the
// command line looks at: variables, a configuration, a pause of the repository, gh and git. ran is
// a file with a line for each program that was started in the clone; the embedded GitHub starts git
// elsewhere.
func surrounded(t *testing.T, d desk) (ran string) {
	t.Helper()
	clone, home, bin := t.TempDir(), t.TempDir(), t.TempDir()
	ran = filepath.Join(bin, "ran")
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}

	for _, args := range [][]string{{"init", "-q"}, {"remote", "add", "origin", d.url + "/acme/app.git"}} {
		if out, err := exec.Command(real, append([]string{"-C", clone}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}

	for name, then := range map[string]string{"git": `exec "` + real + `" "$@"`, "gh": "exit 1", "ssh": "exit 1"} {
		script := "#!/bin/sh\n[ -e here ] && echo " + name + " \"$@\" >>'" + ran + "'\n" + then + "\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}

	if err := os.WriteFile(filepath.Join(clone, "here"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	settings, err := filepath.Abs("testdata/label-state.yml")
	if err != nil {
		t.Fatal(err)
	}

	if err := (state.Pauses{Dir: home}).Set(state.Pause{
		Repo:   "acme/app",
		Since:  time.Now(),
		By:     "ada",
		Reason: "a test",
	}); err != nil {
		t.Fatal(err)
	}

	for name, value := range map[string]string{
		"PATH": bin + string(os.PathListSeparator) + os.Getenv("PATH"), "LABEL_STATE_HOME": home,
		"LABEL_STATE_API_URL": d.url, "LABEL_STATE_TOKEN": "tok-bot",
		"LABEL_STATE_CONFIG": settings, "LABEL_STATE_CODENAME": "drake", "GH_TOKEN": "tok-bot",
		"GITHUB_TOKEN": "tok-bot", "GH_ORG": "acme",
	} {
		t.Setenv(name, value)
	}

	t.Chdir(clone)
	return ran
}

// TestOpenReadsNothing: options alone decide; what the machine has is neither read nor asked.
func TestOpenReadsNothing(t *testing.T) {
	d := served(t)
	settings, err := filepath.Abs("testdata/label-state.yml")
	if err != nil {
		t.Fatal(err)
	}

	ran := surrounded(t, d)
	for _, c := range []struct {
		o    labelstate.Options
		want []string
	}{
		{labelstate.Options{}, []string{"Repo", "Token"}},
		{labelstate.Options{Repo: "acme/app", API: d.url}, []string{"Token"}},
		{labelstate.Options{Token: "tok-ada", API: d.url}, []string{"Repo"}},
	} {
		_, err := labelstate.Open(t.Context(), c.o)
		missing, is := errors.AsType[*labelstate.OptionsError](err)
		if !is || !slices.Equal(missing.Missing, c.want) || !errors.Is(err, labelstate.ErrInvalid) {
			t.Errorf("%+v: %v, want %q to be missing", c.o, err, c.want)
		}

		text := "open: empty Options." + strings.Join(c.want, " and Options.") + ": set it, "
		if !strings.HasPrefix(err.Error(), text) {
			t.Errorf("%+v: %v, want it to begin with %q", c.o, err, text)
		}
	}

	if _, err := labelstate.Open(t.Context(),
		labelstate.Options{Repo: "app", Token: "tok-ada", API: d.url}); !errors.Is(err, labelstate.ErrInvalid) {
		t.Errorf("a repository without an owner: %v", err)
	}

	if n := len(d.Requests()); n > 0 {
		t.Errorf("%d requests before everything was known", n)
	}

	c, err := labelstate.Open(t.Context(), labelstate.Options{
		Repo:   "acme/app",
		Token:  "tok-ada",
		API:    d.url,
		Config: settings,
	})
	if err != nil {
		t.Fatal(err)
	}

	// this host has paused the repository
	hold, err := c.Claim(t.Context(), 1, labelstate.ClaimOptions{Codename: "lucius"})
	if err != nil || hold.Codename != "lucius" {
		t.Errorf("%+v, %v", hold, err)
	}

	for _, r := range d.Requests() {
		if r.Login != "ada" {
			t.Errorf("a request of %s: %s", r.Login, r.Path)
		}
	}

	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("ran %s", text)
	}
}

// TestFromEnvironment: what options leave empty comes from where the command line takes it.
func TestFromEnvironment(t *testing.T) {
	d := served(t)
	ran := surrounded(t, d)
	c, err := labelstate.Open(t.Context(), labelstate.FromEnvironment())
	if err != nil {
		t.Fatal(err)
	}

	if c.Repo() != "acme/app" {
		t.Errorf("the repository is %s", c.Repo())
	}
	held, is := errors.AsType[*labelstate.Problem](c.Check(t.Context(), 1))
	if !is || held.Reasons[0].Code != labelstate.ReasonPaused {
		t.Errorf("this host's pause: %v", held)
	}

	for _, r := range d.Requests() {
		if r.Login != "bot" {
			t.Errorf("a request of %q: %s", r.Login, r.Path)
		}
	}

	if _, err := os.Stat(ran); err != nil {
		t.Error("git was not asked")
	}
	t.Setenv("LABEL_STATE_TOKEN", "")
	t.Setenv("GH_TOKEN", "")
	t.Setenv("GITHUB_TOKEN", "")
	_, err = labelstate.Open(t.Context(), labelstate.FromEnvironment())
	if missing, is := errors.AsType[*labelstate.OptionsError](err); !is ||
		!slices.Equal(missing.Missing, []string{"Token"}) || missing.Err == nil {
		t.Errorf("without a token: %v", err)
	}

	t.Setenv("LABEL_STATE_TOKEN", "tok-bot")
	t.Chdir(t.TempDir())
	_, err = labelstate.Open(t.Context(), labelstate.FromEnvironment())
	if missing, is := errors.AsType[*labelstate.OptionsError](err); !is ||
		!slices.Equal(missing.Missing, []string{"Repo"}) {
		t.Errorf("outside a clone: %v", err)
	}
}
