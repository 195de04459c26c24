package main

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/setup"
)

// A switchboard answers for GitHub where the embedded one is silent: that there is a workflow, and in what state it is.
type switchboard struct {
	http.RoundTripper
	status int
	state  string
}

func (s switchboard) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := 0, ""
	switch {
	case strings.HasSuffix(r.URL.Path, "/contents/"+workflowPath):
		status, body = 200, `{"type":"file","encoding":"base64","content":"b246IHB1c2gK"}`
	case strings.HasSuffix(r.URL.Path, "/actions/workflows/label-state.yml"):
		status, body = s.status, `{"state":"`+s.state+`","message":"Resource not accessible by integration"}`
	default:
		return s.RoundTripper.RoundTrip(r)
	}
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}, nil
}

// TestDoctorWorkflow: a workflow that GitHub has switched off is a failure, and one that could not be asked for is not said to run.
func TestDoctorWorkflow(t *testing.T) {
	for _, c := range []struct {
		status int
		state  string
		code   int
		want   string
	}{
		{200, "active", exitYes, "ok    workflow     .github/workflows/label-state.yml, switched on\n"},
		{200, "disabled_inactivity", exitNo, "fail  workflow     .github/workflows/label-state.yml is there and switched off (disabled_inactivity)\n" +
			"                   -> gh workflow enable label-state.yml --repo acme/app\n"},
		{200, "\x1b[31m", exitNo, "switched off ([31m)\n"},
		{403, "", exitYes, "warn  workflow     .github/workflows/label-state.yml; whether GitHub still runs it was not told: "},
	} {
		w, err := newWorld("")
		if err != nil {
			t.Fatal(err)
		}
		vars := map[string]string{"GH_TOKEN": "tok-agents", "HOME": t.TempDir()}
		var out bytes.Buffer
		env := setup.OS()
		env.Getenv, env.Dir, env.HTTP = func(name string) string { return vars[name] }, t.TempDir(), switchboard{w.Transport(), c.status, strings.ReplaceAll(c.state, "\x1b", `\u001b`)}
		code := run(t.Context(), []string{"label-state", "doctor", "acme/app"}, terminal{in: strings.NewReader(""), out: &out, err: io.Discard, env: env})
		if code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: exit code %d, want %d and %q in\n%s", c.state, code, c.code, c.want, out.String())
		}
	}
}
