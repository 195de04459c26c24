package setup_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/setup"
)

// TestTokenOfAWorkSource: a repository's own file picks nothing of the environment that is not a
// token for that host; a file that a person chose may name any variable, but none that is another
// host's.
func TestTokenOfAWorkSource(t *testing.T) {
	for name, c := range map[string]struct {
		variable, chosen, api, want string
	}{
		"its own":           {"GITHUB_TOKEN", "", "", "GITHUB_TOKEN"},
		"a secret":          {"AWS_SECRET", "", "", "error: a repository's own configuration may only name"},
		"a secret, chosen":  {"AWS_SECRET", "mine.yml", "", "AWS_SECRET"},
		"another host's":    {"GH_ENTERPRISE_TOKEN", "mine.yml", "", "error: it is not for github.com"},
		"in another case":   {"gh_enterprise_token", "mine.yml", "", "error: it is not for github.com"},
		"another address's": {"LABEL_STATE_TOKEN", "mine.yml", "", "error: it is not for github.com"},
		"unencrypted": {
			"AWS_SECRET", "mine.yml", "http://ghe.acme.example/api/v3",
			"error: it would go unencrypted",
		},
		"its own, unencrypted": {
			"LABEL_STATE_TOKEN", "", "http://ghes.acme.example/api/v3",
			"LABEL_STATE_TOKEN",
		},
		"named and loopback":  {"AWS_SECRET", "mine.yml", "http://127.0.0.1:1/", "AWS_SECRET"},
		"chosen, and not set": {"NOTHING", "mine.yml", "", "error: the variable is not set"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, map[string]string{
				"GITHUB_TOKEN": "a", "AWS_SECRET": "b", "GH_ENTERPRISE_TOKEN": "c", "gh_enterprise_token": "d",
				"LABEL_STATE_TOKEN": "e", "LABEL_STATE_API_URL": c.api,
			})
			m.write("mine.yml", "version: 1")
			s, err := setup.Open(t.Context(), m.environment(), setup.Options{
				Repo:     "acme/app",
				TokenEnv: c.variable,
				Config:   c.chosen,
				Chosen:   c.chosen != "",
			})
			got := ""
			if err != nil {
				got = "error: " + err.Error()
			} else {
				got = s.TokenFrom
			}

			if want, failed := strings.CutPrefix(c.want, "error: "); failed != (err != nil) ||
				!strings.Contains(got, want) {
				t.Errorf("%s, want %s", got, c.want)
			}

			if err != nil && !setup.Misconfigured(err) {
				t.Errorf("%v is no misconfiguration", err)
			}
		})
	}
}

// TestSignature: a program that a session starts gets the token that a work source names, by the
// first variable in which it looks for one; where none is named it has the session's variables.
func TestSignature(t *testing.T) {
	for _, c := range []struct {
		variable, api, host string
		want                []string
	}{
		{"AWS_SECRET", "", "", []string{"GH_TOKEN=b"}},
		{"", "", "", nil},
		{"AWS_SECRET", "http://127.0.0.1:1/", "", []string{"LABEL_STATE_TOKEN=b"}},
		{"AWS_SECRET", "", "127.0.0.1:1", nil}, // nobody has named that address
	} {
		m := newMachine(t, map[string]string{
			"GH_TOKEN": "a", "AWS_SECRET": " b ", "LABEL_STATE_TOKEN": "a", "LABEL_STATE_API_URL": c.api,
		})
		m.write("mine.yml", "version: 1")
		s, err := setup.Open(t.Context(), m.environment(), setup.Options{
			Repo:     "acme/app",
			Host:     c.host,
			TokenEnv: c.variable,
			Config:   "mine.yml",
			Chosen:   true,
		})
		if err != nil {
			t.Fatal(err)
		}

		if got := s.Signature(); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestQueueOfAWorkSource: a repository without a file takes the names; one with its own must agree.
func TestQueueOfAWorkSource(t *testing.T) {
	for name, c := range map[string]struct {
		published, chosen, want string
	}{
		"none":   {"", "", "todo/doing"},
		"agrees": {"labels: {available: Todo, claimed: doing}", "", "todo/doing"},
		"another": {
			"preset: ready", "",
			`error: acme/app:.github/label-state.yml: labels.available: is "ready", and the work source says "todo"`,
		},
		"chosen":   {"preset: ready", "preset: ready", `is "ready", and the work source says "todo"`},
		"excluded": {"exclude_labels: [todo]", "", `is "agent:implement", and the work source says "todo"`},
		"chosen, excluding": {
			"", "exclude_labels: [todo]",
			`mine.yml:1: exclude_labels: is [todo], and on the default branch of acme/app it is [blocked wip]`,
		},
		"in stages": {
			"{preset: stages, stages: [ready, done]}", "",
			`is "stage:ready", and the work source says "todo"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, map[string]string{"GH_TOKEN": "tok"})
			o := setup.Options{Repo: "acme/app", Queue: setup.Queue{Ready: "todo", InProgress: "doing"}}
			if c.published != "" {
				m.files["api.github.com acme/app"] = c.published
			}

			if c.chosen != "" {
				m.write("mine.yml", c.chosen)
				o.Config = "mine.yml"
			}

			s, err := setup.Open(t.Context(), m.environment(), o)
			got := ""
			if err != nil {
				got = "error: " + err.Error()
			} else {
				got = s.Config.Labels.Available + "/" + s.Config.Labels.Claimed
			}

			if !strings.Contains(got, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestSlackToken: no token of GitHub's goes to Slack, and a repository's own file names one variable
// only.
func TestSlackToken(t *testing.T) {
	for name, c := range map[string]struct {
		published, own, variables, want string
	}{
		"the usual one": {"", "", "SLACK_BOT_TOKEN", "tok-SLACK_BOT_TOKEN "},
		"at another address": {
			"", "", "SLACK_BOT_TOKEN LABEL_STATE_SLACK_API_URL=https://slack.example/api//",
			"tok-SLACK_BOT_TOKEN https://slack.example/api/",
		},
		"on this machine": {
			"", "", "SLACK_BOT_TOKEN LABEL_STATE_SLACK_API_URL=http://127.0.0.1:80",
			"tok-SLACK_BOT_TOKEN http://127.0.0.1:80/",
		},
		"unencrypted": {
			"", "", "SLACK_BOT_TOKEN LABEL_STATE_SLACK_API_URL=http://slack.example",
			"error: use LABEL_STATE_SLACK_API_URL: expected https",
		},
		"not set":          {"", "", "SLACK_BOT_TOKEN=", "error: use plan.slack.token_env SLACK_BOT_TOKEN: the variable is not set"},
		"GitHub's":         {"", "gh_token", "gh_token", "error: use plan.slack.token_env gh_token: it is not for Slack"},
		"another, by hand": {"", "MINE", "MINE", "tok-MINE "},
		"another, by the repository": {
			"MINE", "", "MINE",
			"error: use plan.slack.token_env MINE: a repository's own configuration may only name SLACK_BOT_TOKEN",
		},
	} {
		m := newMachine(t, assignments(c.variables))
		o := setup.Options{Repo: "acme/app", Token: "tok"}
		where := "plan: {slack: {channel: C0123456789, approvers: [U0123456789], token_env: %s}}"
		m.files["api.github.com acme/app"] = fmt.Sprintf(where, cmp.Or(c.published, "SLACK_BOT_TOKEN"))
		if c.own != "" {
			m.write("mine.yml", fmt.Sprintf(where, c.own))
			o.Config = "mine.yml"
		}

		s, err := setup.Open(t.Context(), m.environment(), o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		token, api, err := s.SlackToken()
		got := token + " " + api
		if err != nil {
			got = "error: " + err.Error()
		}
		if err == nil && got != c.want || !strings.HasPrefix(got, c.want) || err != nil && !setup.Misconfigured(err) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestOwn: the configuration that the caller named, without a token and without GitHub; what is
// checked out is not it.
func TestOwn(t *testing.T) {
	m := newMachine(t, nil)
	m.git("init", "-q")
	m.git("remote", "add", "origin", "https://github.com/acme/app")
	m.write(config.Path, "agents: {mallory: {}}")
	if own, err := m.environment().Own(setup.Options{}); own.Has("agents") || err != nil {
		t.Errorf("nothing is named: %v, %+v", err, own)
	}

	m.write("mine.yml", "agents: {lucius: {}}")
	own, err := m.environment().Own(setup.Options{Config: "mine.yml"})
	if _, known := own.Source("lucius"); !own.Has("agents") || own.Has("defaults") || !known || err != nil {
		t.Errorf("own: %v, %+v", err, own.Agents)
	}

	if len(m.sent) > 0 {
		t.Errorf("asked %v", m.sent)
	}
}
