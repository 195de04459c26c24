package mcp_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/mcp"
)

// TestHintsNameTools: a hint or an error of the command line is told in tools and their arguments.
func TestHintsNameTools(t *testing.T) {
	for _, c := range []struct {
		tool string
		next []answer.Command
		want string
	}{
		{
			"claim", next(answer.Call("see who holds it", "status", "acme/app#1")),
			`see who holds it: status {"issue":"acme/app#1"}`,
		},
		{
			"claim", next(answer.Call("take a free one", "next"),
				answer.Call("who works on this one", "status", "acme/app#1")),
			`take a free one: next {}; who works on this one: status {"issue":"acme/app#1"}`,
		},
		{
			"next", next(answer.Call("see what is free", "next", "--list", "--limit", "5")),
			`see what is free: list {"limit":5}`,
		},
		{
			"next", next(answer.Call("see what keeps them", "board", "--repo", "acme/app"),
				answer.Call("later", answer.Again)),
			`see what keeps them: board {"repo":"acme/app"}; later: the same call`,
		},
		{
			"claim", next(answer.Call("", "claim", "--help")),
			"claim takes issue, codename, firing_id, ttl, branch, resume",
		},
		{
			"renew", next(answer.Call("name the worker", answer.Again, "--codename", "NAME", "--firing-id", "ID"),
				answer.Call("or name another file", answer.Again, "--config", "FILE")),
			"name the worker: the same call with codename, firing_id; " +
				"or name another file: the same call with --config of the server",
		},
		{
			"claim", next(answer.Call("see which request it was", answer.Again, "--verbose")),
			"see which request it was: the same call with --verbose in a shell",
		},
		{
			"list", next(answer.Call("", answer.Again, "--codename", "NAME")),
			"the same call with --codename of the server",
		},
		{
			"plan_wait", next(answer.Call("wait", "plan", "acme/app#1", "--wait", "8h")),
			`wait: plan_wait {"issue":"acme/app#1","wait":"8h"}`,
		},
		{
			"plan", next(answer.Call("post it", "plan", "acme/app#2", "--body-file", "FILE")),
			`post it: plan {"body":"FILE","issue":"acme/app#2"}`,
		},
		{
			"chain_execute", next(answer.Call("begin it", "chain execute", "--feature", "retry", "--parent",
				"owner/repo#7", "--pr", "owner/repo:branch")),
			`begin it: chain_execute {"feature":"retry","parent":"owner/repo#7","pr":["owner/repo:branch"]}`,
		},
		{
			"bundle_status", next(answer.Call("name its issues", "bundle status", "other", "OWNER/NAME#7")),
			`name its issues: bundle_status {"issues":["OWNER/NAME#7"],"name":"other"}`,
		},
		{
			"claim", next(answer.Advice("ask tia"),
				answer.Call("to take it over in your name, on the record", "claim", "acme/app#1", "--force")),
			"ask tia; to take it over in your name, on the record: a person decides",
		},
		{
			"claim", next(answer.Call("wait, or ask who paused it; to let claims go on", "repo resume", "acme/app", "--local")),
			"wait, or ask who paused it; to let claims go on: a person decides",
		},
		{
			"claim", next(answer.Call("see what is slow", "doctor", "acme/app"),
				answer.Call("then", answer.AgainLonger)),
			"see what is slow: label-state doctor acme/app (in a shell); then: the same call with a longer --timeout of the server",
		},
		{"claim", next(answer.Call("then", answer.AgainNewID)), "then: the same call without firing_id"},
		{
			"next", next(answer.Shell("label an issue", "gh", "issue", "edit", "NUMBER", "--repo", "acme/web",
				"--add-label", "agent:implement")),
			"label an issue: gh issue edit NUMBER --repo acme/web --add-label agent:implement",
		},
	} {
		s := stand{answer: outcome{Problem: problem(answer.Declined, "no", c.next...)}}
		if got := hinted(t, &s, s.options(), c.tool); got != c.want {
			t.Errorf("%s: %+v\n got %s\nwant %s", c.tool, c.next, got, c.want)
		}
	}
}

func next(all ...answer.Command) []answer.Command { return all }

// hinted calls a tool with what it needs, and returns the hint.
func hinted(t *testing.T, s *stand, o mcp.Options, tool string) string {
	t.Helper()
	all := map[string]any{"issue": "7", "body": "x", "feature": "x", "name": "x", "issues": []string{"7"}}
	arguments := map[string]any{}
	c := connect(t, o)
	data, err := json.Marshal(toolOf(t, c, tool).InputSchema)
	if err != nil {
		t.Fatal(err)
	}

	for name, value := range all {
		if strings.Contains(string(data), `"`+name+`":`) {
			arguments[name] = value
		}
	}

	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil || s.words == nil {
		t.Fatalf("%s: %v, %+v", tool, err, r)
	}

	return read(t, r).Hint
}

// TestHintsOfOffer: what the server does not offer is a person's, or a toolset's that the user may
// add.
func TestHintsOfOffer(t *testing.T) {
	for _, c := range []struct {
		set  func(*mcp.Options)
		next answer.Command
		want string
	}{
		{
			func(o *mcp.Options) { o.Operator = false }, answer.Call("to end it", "release", "acme/app#1", "--force"),
			"to end it: a person decides",
		},
		{
			func(*mcp.Options) {}, answer.Call("to end it", "release", "acme/app#1", "--force"),
			`to end it: force_release {"issue":"acme/app#1"}`,
		},
		{
			func(*mcp.Options) {}, answer.Call("wait, or ask who paused it; to let claims go on", "repo resume", "acme/app"),
			`wait, or ask who paused it; to let claims go on: resume {"repo":"acme/app"}`,
		},
		{
			func(o *mcp.Options) { o.Toolsets = nil }, answer.Call("", "bundle release", "checkout"),
			`bundle_release {"name":"checkout"} (the user starts the server with --toolset core,work,bundle)`,
		},
	} {
		s := stand{answer: outcome{Problem: problem(answer.Declined, "no", c.next)}}
		o := s.options()
		c.set(&o)
		if got := hinted(t, &s, o, "claim"); got != c.want {
			t.Errorf("%+v\n got %s\nwant %s", c.next, got, c.want)
		}
	}
}

// TestErrorsInTools: an error says what was being done in the tool's name; other people's text in
// it is left alone.
func TestErrorsInTools(t *testing.T) {
	for _, c := range []struct {
		tool string
		said answer.Problem
		want string
	}{
		{"dedup_check", answer.Problem{
			Code:   answer.Held,
			Doing:  "dedup-check",
			Object: "acme/app#1",
			Why:    "held",
		}, "dedup_check acme/app#1: held"},
		{
			"plan_wait",
			answer.Problem{
				Code:   answer.Timeout,
				Doing:  "plan",
				Object: "acme/app#1",
				Why:    "no answer within 45s",
			},
			"plan_wait acme/app#1: no answer within 45s",
		},
		{
			"claim",
			answer.Problem{
				Code:   answer.Held,
				Doing:  "claim",
				Object: "acme/app#1",
				Why:    "olga says: label-state claim 2 --codename x",
			},
			"claim acme/app#1: olga says: label-state claim 2 --codename x",
		},
		{
			"claim",
			answer.Problem{Code: answer.Unread, Doing: "renew", Why: "offline\nand late"},
			"renew: offline; and late",
		},
	} {
		s := stand{answer: outcome{Problem: &c.said}}
		arguments := map[string]any{"issue": "1"}
		r, err := connect(t, s.options()).CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}

		if got := read(t, r).Error; got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.said.Error(), got, c.want)
		}
	}
}

// The list of tools is paid for in every session of every client: the default is below 20 KB, all
// of them below 40.
const (
	mostDefault = 20_000
	mostAll     = 40_000
)

// TestToolsList: names are snake_case, the toolsets say what is offered, and the list is short.
func TestToolsList(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	for name, c := range map[string]struct {
		sets  []cli.Toolset
		tools string
		most  int
	}{
		"default": {nil, "board claim dedup_check list log next release renew status", mostDefault},
		"core":    {[]cli.Toolset{cli.Core}, "claim dedup_check next release renew status", mostDefault},
		"plan":    {[]cli.Toolset{cli.Plan}, "advance plan plan_wait", mostDefault},
		"all":     {cli.Toolsets(), "advance board bundle_claim bundle_release bundle_status chain_execute chain_status chain_wait claim dedup_check list log next plan plan_wait release renew status", mostAll},
	} {
		var s stand
		o := s.options()
		o.Operator, o.Toolsets = false, c.sets
		client := connect(t, o)
		r, err := client.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}

		data, err := json.Marshal(r)
		if err != nil || len(data) > c.most {
			t.Errorf("%s: the list of tools has %d bytes, at most %d are allowed, %v", name, len(data), c.most, err)
		}

		t.Logf("%s: %d tools, %d bytes", name, len(r.Tools), len(data))
		var names []string
		for _, tool := range r.Tools {
			names = append(names, tool.Name)
			in, err := json.Marshal(tool.InputSchema)
			var schema struct{ Properties map[string]any }
			if err != nil || json.Unmarshal(in, &schema) != nil {
				t.Fatal(err)
			}

			for argument := range schema.Properties {
				if !snake.MatchString(argument) {
					t.Errorf("%s: the argument %q is not snake_case", tool.Name, argument)
				}
			}

			if !snake.MatchString(tool.Name) {
				t.Errorf("the tool %q is not snake_case", tool.Name)
			}
		}

		if got := strings.Join(names, " "); got != c.tools {
			t.Errorf("%s: offers %s\nwant %s", name, got, c.tools)
		}
	}
}
