package app

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/cli/local"
	"github.com/label-state/label-state/internal/setup"
)

// A switchboard answers for GitHub where the embedded one is silent: that there is a workflow, and in what state it is.
type switchboard struct {
	http.RoundTripper
	status int
	state  string
	text   string        // of the workflow
	ahead  time.Duration // by which its clock is ahead of ours
}

func (s switchboard) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := 0, ""
	switch {
	case strings.HasSuffix(r.URL.Path, "/contents/"+local.WorkflowPath):
		status, body = 200, `{"type":"file","encoding":"base64","content":"`+base64.StdEncoding.EncodeToString([]byte(s.text))+`"}`
	case strings.HasSuffix(r.URL.Path, "/actions/workflows/label-state.yml"):
		status, body = s.status, `{"state":"`+s.state+`","message":"Resource not accessible by integration"}`
	default:
		res, err := s.RoundTripper.RoundTrip(r)
		if err == nil {
			res.Header.Set("Date", time.Now().Add(s.ahead).UTC().Format(http.TimeFormat))
		}
		return res, err
	}
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}, nil
}

// TestDoctorAround: a workflow that GitHub has switched off is a failure, one that could not be asked for is not said to run,
// and one that does something else is found out; so is a clock.
func TestDoctorAround(t *testing.T) {
	const action = "steps: [{uses: label-state/label-state@v1}]\n"
	for _, c := range []struct {
		github switchboard
		code   int
		want   string
	}{
		{switchboard{status: 200, state: "active", text: action}, cli.ExitYes, "ok    workflow     .github/workflows/label-state.yml, switched on\n"},
		{switchboard{status: 200, state: "disabled_inactivity", text: action}, cli.ExitNo, "fail  workflow     .github/workflows/label-state.yml is there and switched off (disabled_inactivity)\n" +
			"                   -> gh workflow enable label-state.yml --repo acme/app\n"},
		{switchboard{status: 200, state: `\u001b[31m`, text: action}, cli.ExitNo, "switched off ([31m)\n"},
		{switchboard{status: 403, text: action}, cli.ExitYes, "warn  workflow     .github/workflows/label-state.yml; whether GitHub still runs it was not told: "},
		{switchboard{status: 200, state: "active", text: "# label-state\non: push\nuses: actions/stale@v9\n"}, cli.ExitYes, "warn  workflow     .github/workflows/label-state.yml does not run the Action\n"},
		{switchboard{status: 200, state: "active", text: "uses: './.github/actions/ours'\n"}, cli.ExitYes, "ok    workflow "},
		{
			switchboard{status: 200, state: "active", text: "permissions: {issues: write}\njobs: {tend: {steps: [{uses: label-state/label-state@v1}]}}\n"},
			cli.ExitNo,
			"fail  workflow     .github/workflows/label-state.yml: job tend lacks contents: read, pull-requests: write\n" +
				"                   -> give the job these permissions in .github/workflows/label-state.yml on the default branch\n",
		},
		{switchboard{ahead: 3*time.Hour + 30*time.Second, status: 403}, cli.ExitYes, "warn  clock        3h behind GitHub's\n                   -> set the clock; claims are judged by GitHub's time"},
		{switchboard{ahead: -10*time.Minute - 30*time.Second, status: 403}, cli.ExitYes, "warn  clock        10m 30s ahead of GitHub's\n"},
	} {
		w, err := newWorld("")
		if err != nil {
			t.Fatal(err)
		}
		c.github.RoundTripper = w.Transport()
		vars := map[string]string{"GH_TOKEN": "tok-agents", "HOME": t.TempDir()}
		var out bytes.Buffer
		env := setup.OS()
		env.Getenv, env.Dir, env.HTTP = func(name string) string { return vars[name] }, t.TempDir(), c.github
		code := cli.Run(t.Context(), []string{"label-state", "doctor", "acme/app"}, cli.Terminal{Commands: commands, In: strings.NewReader(""), Out: &out, Err: io.Discard, Env: env})
		if code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("%+v: exit code %d, want %d and %q in\n%s", c.github, code, c.code, c.want, out.String())
		}
	}
}

// TestOnPath: go install names the hook's programs after their folders, and the remedy is the command that makes the other names.
func TestOnPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my programs")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pre-push", "pre-push-check"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho "+name+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", local.OnPath(filepath.Join(dir, "pre-push"))).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range []string{"pre-push", "pre-push-check"} {
		out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "label-state-"+name)).Output()
		if err != nil || string(out) != name+"\n" {
			t.Errorf("label-state-%s: %q, %v", name, out, err)
		}
	}
	for _, beside := range []string{"", "/opt/bin/label-state-pre-push"} {
		if got := local.OnPath(beside); !strings.HasPrefix(got, "put label-state-pre-push and ") {
			t.Errorf("%q: %s", beside, got)
		}
	}
}
