package app

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/workflow"
)

// A switchboard answers for GitHub where the embedded one is silent: that there is a workflow, and
// in what state it is.
type switchboard struct {
	http.RoundTripper
	status int
	state  string
	text   string        // of the workflow
	ahead  time.Duration // by which its clock is ahead of ours
	action int           // status of the answer about a commit of the Action; 0 is 200
}

func (s switchboard) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := 0, ""
	switch {
	case strings.HasSuffix(r.URL.Path, "/contents/"+cli.WorkflowPath):
		status, body = 200, `{"type":"file","encoding":"base64","content":"`+
			base64.StdEncoding.EncodeToString([]byte(s.text))+`"}`
	case strings.HasSuffix(r.URL.Path, "/actions/workflows/label-state.yml"):
		status, body = s.status, `{"state":"`+s.state+`","message":"Resource not accessible by integration"}`
	case strings.Contains(r.URL.Path, "/repos/label-state/label-state/commits/"):
		status, body = s.action, `{"sha":"`+actionCommit+`","message":"No commit found for SHA: v1"}`
		if status == 0 {
			status = 200
		}

	default:
		res, err := s.RoundTripper.RoundTrip(r)
		if err == nil {
			res.Header.Set("Date", time.Now().Add(s.ahead).UTC().Format(http.TimeFormat))
		}
		return res, err
	}

	return &http.Response{
		StatusCode:    status,
		Proto:         "HTTP/1.1",
		Header:        http.Header{"Content-Type": {"application/json; charset=utf-8"}},
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       r,
	}, nil
}

// actionCommit is the commit that every reference to the Action means.
const actionCommit = "afba77611fa3521dd12279de084e49ed486e70ce"

// TestDoctorAround: a workflow that GitHub has switched off is a failure, one that could not be
// asked for is not said to run, and one that does something else is found out; so is a clock.
func TestDoctorAround(t *testing.T) {
	const action = "jobs: {tend: {steps: [{uses: label-state/label-state@v1}]}}\n"
	for _, c := range []struct {
		github switchboard
		code   int
		want   string
	}{
		{
			switchboard{status: 200, state: "active", text: action},
			answer.ExitYes,
			"ok    workflow     .github/workflows/label-state.yml, switched on\n",
		},
		{
			switchboard{status: 200, state: "disabled_inactivity", text: action},
			answer.ExitNo,
			"fail  workflow     .github/workflows/label-state.yml exists but is disabled (disabled_inactivity)\n" +
				"                   -> gh workflow enable label-state.yml --repo acme/app\n",
		},
		{switchboard{status: 200, state: `\u001b[31m`, text: action}, answer.ExitNo, "is disabled ([31m)\n"},
		{
			switchboard{status: 403, text: action},
			answer.ExitYes,
			"warn  workflow     .github/workflows/label-state.yml; could not check whether it is enabled: ",
		},
		{
			switchboard{status: 200, state: "active", text: "# label-state\non: push\njobs: {tend: {steps: [{uses: actions/stale@v9}]}}\n"},
			answer.ExitYes, "warn  workflow     .github/workflows/label-state.yml does not run the Action\n",
		},
		{
			switchboard{status: 200, state: "active", text: "jobs: {tend: {uses: './.github/workflows/ours.yml'}}\n"},
			answer.ExitYes,
			"ok    workflow ",
		},
		{
			switchboard{status: 200, state: "active", text: "jobs: {tend: ["},
			answer.ExitYes,
			"ok    workflow     .github/workflows/label-state.yml, switched on\nok    queue ",
		},
		{
			switchboard{
				status: 200, state: "active",
				text: "permissions: {issues: write}\njobs: {tend: {steps: [{uses: label-state/label-state@v1}]}}\n",
			},
			answer.ExitNo,
			"fail  workflow     .github/workflows/label-state.yml: job tend lacks contents: read, pull-requests: write\n" +
				"                   -> add the missing permissions to the job in " +
				".github/workflows/label-state.yml on the default branch\n",
		},
		{
			switchboard{status: 200, state: "active", text: workflow.Text(workflow.Options{})},
			answer.ExitYes,
			"ok    workflow     .github/workflows/label-state.yml, switched on\n" +
				"ok    events       the workflow runs on every event that it needs\n" +
				"ok    action       label-state/label-state@main exists\n",
		},
		{
			switchboard{
				status: 200, state: "active",
				text: strings.Replace(workflow.Text(workflow.Options{}),
					"  issue_comment: # /claim, /release and the other commands\n    types: [created]\n", "", 1),
			},
			answer.ExitYes,
			"warn  events       the workflow does not run on issue_comment (neither /claim nor any other command is carried out)\n" +
				"                   -> add them under on: in .github/workflows/label-state.yml, unless they were left out on purpose\n",
		},
		{
			switchboard{
				status: 200,
				state:  "active",
				action: 422,
				text:   workflow.Text(workflow.Options{Ref: "v1"}),
			},
			answer.ExitNo,
			"fail  action       label-state/label-state@v1 does not exist, so the workflow cannot start\n" +
				"                   -> name a commit of label-state/label-state in .github/workflows/label-state.yml\n",
		},
		{
			switchboard{
				status: 200,
				state:  "active",
				action: 404,
				text:   workflow.Text(workflow.Options{Ref: "v1"}),
			},
			answer.ExitYes,
			"warn  action       label-state/label-state@v1 was not found here: this token sees no repository label-state/label-state\n",
		},
		{
			switchboard{
				status: 200,
				state:  "active",
				action: 403,
				text:   workflow.Text(workflow.Options{Ref: "v1"}),
			},
			answer.ExitYes,
			"warn  action       could not check whether label-state/label-state@v1 exists: ",
		},
		{
			switchboard{status: 200, state: "active", text: workflow.Text(workflow.Options{Ref: "afba776"})},
			answer.ExitNo,
			"fail  action       label-state/label-state@afba776: a workflow takes no shortened commit\n" +
				"                   -> name label-state/label-state@" + actionCommit +
				" in .github/workflows/label-state.yml\n",
		},
		{
			switchboard{
				status: 200, state: "active",
				text: strings.ReplaceAll("jobs: {a: {steps: [{uses: X@afba776}]}, b: {steps: [{uses: X@v1}]}, "+
					"c: {steps: [{uses: X@afba776}]}}", "X", workflow.Action),
			},
			answer.ExitNo,
			" in .github/workflows/label-state.yml\nok    action       label-state/label-state@v1 exists\nok    queue ",
		},
		{
			switchboard{ahead: 90 * time.Second, status: 403},
			answer.ExitYes,
			" behind GitHub's\n                   -> set the clock; claims are judged by GitHub's time",
		},
		{
			switchboard{ahead: -10*time.Minute - 30*time.Second, status: 403},
			answer.ExitYes,
			"warn  clock        10m ahead of GitHub's\n",
		},
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
		code := cli.Run(t.Context(), []string{"label-state", "doctor", "acme/app"}, cli.Terminal{
			Verbs: Verbs(),
			In:    strings.NewReader(""),
			Out:   &out,
			Err:   io.Discard,
			Env:   env,
		})

		if code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("%+v: exit code %d, want %d and %q in\n%s", c.github, code, c.code, c.want, out.String())
		}
	}
}

// unplugged is a network in which nobody answers.
type unplugged struct{}

func (unplugged) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, syscall.ECONNREFUSED
}

// TestDoctorWithoutGitHub: a GitHub that is not there is asked several times, and then it is said.
func TestDoctorWithoutGitHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		vars := map[string]string{"GH_TOKEN": "tok-agents", "HOME": t.TempDir()}
		var out, said bytes.Buffer
		env := setup.OS()
		env.Getenv, env.Dir, env.HTTP = func(name string) string { return vars[name] }, t.TempDir(), unplugged{}
		terminal := cli.Terminal{Verbs: Verbs(), In: strings.NewReader(""), Out: &out, Err: &said, Env: env}
		code := cli.Run(t.Context(), []string{"label-state", "doctor", "acme/app", "--timeout", "2s"}, terminal)

		failed := "connection refused\n" +
			"                   -> check the network and LABEL_STATE_API_URL, then: label-state doctor acme/app --timeout 2s\n"
		problem := "label-state: doctor: 1 check could not be carried out\nhint: do what the arrows say, then: "
		if code != answer.ExitUnknown || !strings.Contains(out.String(), "fail  setup ") ||
			!strings.Contains(out.String(), failed) || !strings.Contains(said.String(), problem) {
			t.Errorf("exit code %d\n%s%s", code, out.String(), said.String())
		}
	})
}

// TestDoctorWithoutGit: a machine without git is told so first.
func TestDoctorWithoutGit(t *testing.T) {
	var out bytes.Buffer
	terminal := quiet(t, t.TempDir(), embedded(t).Transport(), nil)
	terminal.Out = &out
	terminal.Env.Exec = func(context.Context, git.Command) ([]byte, error) { return nil, exec.ErrNotFound }
	code := cli.Run(t.Context(), []string{"label-state", "doctor", "acme/app"}, terminal)
	want := "fail  git          git does not run: "
	if code != answer.ExitNo || !strings.HasPrefix(out.String(), want) ||
		!strings.Contains(out.String(), "-> install git\n") {
		t.Errorf("exit code %d, want %q in\n%s", code, want, &out)
	}
}

// oldServer answers for a GitHub whose GraphQL has no updateRefs.
type oldServer struct{ http.RoundTripper }

func (s oldServer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		return s.RoundTripper.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if !bytes.Contains(body, []byte("UpdateRefsInput")) {
		r.Body = io.NopCloser(bytes.NewReader(body))
		return s.RoundTripper.RoundTrip(r)
	}

	return &http.Response{
		StatusCode: http.StatusOK,
		Proto:      "HTTP/1.1",
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(strings.NewReader(`{"data":{"input":null}}`)),
		Request:    r,
	}, nil
}

// TestDoctorOldServer: leases in references cannot be kept on a server without updateRefs.
func TestDoctorOldServer(t *testing.T) {
	w, err := newWorldWith(t.TempDir(), func(seed *githubsim.Seed) {
		seed.Repos[0].Files = map[string]string{config.Path: "version: 1\nclaim: {lease: refs}\n"}
	})
	if err != nil {
		t.Fatal(err)
	}

	for name, c := range map[string]struct {
		github http.RoundTripper
		code   int
		want   string
	}{
		"with updateRefs":    {w.Transport(), answer.ExitYes, "ok    leases       refs: it can be written\n"},
		"without updateRefs": {oldServer{w.Transport()}, answer.ExitNo, "-> set claim.lease to comments"},
	} {
		vars := map[string]string{"GH_TOKEN": "tok-agents", "HOME": t.TempDir()}
		var out bytes.Buffer
		env := setup.OS()
		env.Getenv, env.Dir, env.HTTP = func(name string) string { return vars[name] }, t.TempDir(), c.github
		terminal := cli.Terminal{Verbs: Verbs(), In: strings.NewReader(""), Out: &out, Err: io.Discard, Env: env}
		if code := cli.Run(t.Context(), []string{"label-state", "doctor", "acme/app"}, terminal); code != c.code ||
			!strings.Contains(out.String(), c.want) {
			t.Errorf("%s: exit code %d, want %d and %q in\n%s", name, code, c.code, c.want, out.String())
		}
	}
}

// TestDoctorCannotSee: what GitHub refuses to show is said of the check that has asked, and the
// checks after it go on. What an answer lacks is not made up.
func TestDoctorCannotSee(t *testing.T) {
	refused := githubsim.Fault{
		Status: http.StatusForbidden,
		Body:   `{"message":"Resource not accessible by integration"}`,
	}
	shown := func(body string) githubsim.Fault {
		return githubsim.Fault{
			Status: http.StatusOK,
			Header: http.Header{
				"Content-Type": {"application/json"},
				"Date":         {time.Now().UTC().Format(http.TimeFormat)},
			},
			Body: `{"full_name":"acme/app","default_branch":"main",` + body + `}`,
		}
	}

	for _, c := range []struct {
		method, path string // the end of the path
		n            int    // of such requests this one
		answer       githubsim.Fault
		blocked      int // issues that are
		code         int
		want         string
		on           bool // the checks after it go on
	}{
		{"POST", "/graphql", 1, refused, 0, answer.ExitNo, "fail  token ", false},
		{"GET", "/acme/app", 1, refused, 0, answer.ExitNo, "fail  repository ", false},
		{"GET", "/labels", 1, refused, 0, answer.ExitNo, "fail  labels ", true},
		{"POST", "/graphql", 2, refused, 0, answer.ExitNo, "fail  pause ", true},
		{"POST", "/graphql", 3, refused, 0, answer.ExitNo, "fail  blockers ", true},
		{"POST", "/graphql", 4, refused, 2, answer.ExitNo, "fail  blockers ", true},
		{"GET", "/workflows/label-state.yml", 1, refused, 0, answer.ExitYes, "warn  workflow ", true},
		{"POST", "/graphql", 4, refused, 0, answer.ExitNo, "fail  queue ", true},
		{"GET", "/acme/app", 3, refused, 0, answer.ExitYes, "warn  clock        not compared: ", true},
		{
			"GET", "/acme/app", 3,
			githubsim.Fault{Status: http.StatusOK, Body: `{"full_name":"acme/app"}`},
			0, answer.ExitYes, "ok    clock        not compared: the answer had no date\n", true,
		},
		{
			"GET", "/acme/app", 1, shown(`"has_issues":true`), 0, answer.ExitYes,
			"warn  permission   unknown\n                   -> GitHub does not show it to this token; ", true,
		},
		{
			"GET", "/acme/app", 1, shown(`"permissions":{"push":true},"fork":true,"parent":{"full_name":"acme/web"}`),
			0, answer.ExitNo, "-> issues are switched off there; ", true,
		},
		{"", "", 0, refused, 2, answer.ExitYes, "ok    blockers     2 issues wait for others, none in a ", true},
		{"", "", 0, refused, 50, answer.ExitYes, "ok    blockers     50 issues wait for others, none in a ", true},
		{"", "", 0, refused, 51, answer.ExitYes, "ok    blockers     no cycle among 50 of the 51 issues ", true},
	} {
		w, err := newWorldWith(t.TempDir(), func(s *githubsim.Seed) {
			for k := range c.blocked {
				s.Repos[0].Issues = append(s.Repos[0].Issues, githubsim.SeedIssue{
					Number: 100 + k,
					Title:  "Later",
					Author: "olga",
					Labels: []string{"agent:blocked"},
				})
			}
		})
		if err != nil {
			t.Fatal(err)
		}

		seen := 0
		fault := func(r *http.Request) *githubsim.Fault {
			if r.Method != c.method || !strings.HasSuffix(r.URL.Path, c.path) {
				return nil
			}
			if seen++; seen != c.n {
				return nil
			}
			return &c.answer
		}
		w.fault.Store(&fault)

		var out bytes.Buffer
		terminal := quiet(t, t.TempDir(), w.Transport(), nil)
		terminal.Out = &out
		code := cli.Run(t.Context(), []string{"label-state", "doctor", "acme/app"}, terminal)
		if code != c.code || !strings.Contains(out.String(), c.want) ||
			strings.Contains(out.String(), " clock ") != c.on {
			t.Errorf("%s %s, request %d: exit code %d, want %d and %q in\n%s",
				c.method, c.path, c.n, code, c.code, c.want, &out)
		}
	}
}
