package setup

import (
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/host"
)

// A Queue names the labels of an agent's work, as its work source says; empty is the repository's.
type Queue struct{ Ready, InProgress string }

// inVariable reads the variable that a configuration names. Variables that are known to hold tokens
// are for their hosts; any other only counts if a person chose the configuration, because a
// repository must not pick what of the environment is sent.
func (s tokenSearch) inVariable(name string, chosen bool) (credential, error) {
	ours := slices.Contains(s.variables(), name)
	switch {
	case !ours && slices.Contains(tokenVariables, strings.ToUpper(name)):
		return credential{}, unusable("token_env "+name, "", "it is not for %s", s.at.Host())

	case !ours && !chosen:
		return credential{}, unusable("token_env "+name, "",
			"a repository's own configuration may only name %s; choose the file with --config or LABEL_STATE_CONFIG",
			strings.Join(s.variables(), ", "))

	case !ours && !s.at.encrypted() && !s.at.local():
		return credential{}, unusable("token_env "+name, "",
			"it would go unencrypted to %s", s.at.Host())
	}

	v := strings.TrimSpace(s.env.Getenv(name))
	if v == "" {
		return credential{}, unusable("token_env "+name, "export "+name+"=TOKEN",
			"the variable is not set")
	}

	return newToken(v, name)
}

// Signature is the variable by which a program that the session starts asks GitHub with the token
// of the session, where a work source names that: the program knows no work source. It is the first
// that is looked at for the host, and so goes to no other. Else it is nothing.
func (s *Session) Signature() []string {
	names := tokenSearch{s.env, s.origin}.variables()
	if s.options.TokenEnv == "" || len(names) == 0 {
		return nil
	}
	return []string{names[0] + "=" + strings.TrimSpace(s.env.Getenv(s.options.TokenEnv))}
}

// tokenVariables are all that are known to hold tokens.
var tokenVariables = slices.Concat([]string{"LABEL_STATE_TOKEN"}, host.TokenVariables("github.com"),
	host.TokenVariables("github.example.com"))

// queue lays an agent's label names over the configuration. Where the repository has a file
// they must agree with it: whoever reads a repository uses the same names.
func queue(o Options, conf *configuration) error {
	if o.Queue == (Queue{}) {
		return nil
	}
	c, err := conf.Config.Named(conf.Source, o.Queue.Ready, o.Queue.InProgress, conf.Unconfigured)
	if err == nil {
		conf.Config = c
	}

	return err
}

// SlackToken reads the variable that the configuration names for plans in Slack, and where Slack
// is: empty is the real one. No variable for a token of GitHub's goes there; a repository's own
// file may only name SLACK_BOT_TOKEN.
func (s *Session) SlackToken() (token, api string, err error) {
	e, name := s.env, s.Config.Plan.Slack.TokenEnv
	setting := "plan.slack.token_env " + name
	switch {
	case slices.Contains(tokenVariables, strings.ToUpper(name)):
		return "", "", unusable(setting, "", "it is not for Slack")
	// a repository's own file may hold what a stranger proposes
	case name != "SLACK_BOT_TOKEN" && !s.own.Has("plan.slack.token_env"):
		return "", "", unusable(setting, "",
			"a repository's own configuration may only name SLACK_BOT_TOKEN; "+
				"choose the file with --config or LABEL_STATE_CONFIG")
	}

	if token = strings.TrimSpace(e.Getenv(name)); token == "" {
		return "", "", unusable(setting, "export "+name+"=xoxb-TOKEN, or leave --slack out",
			"the variable is not set")
	}

	if api = e.Getenv("LABEL_STATE_SLACK_API_URL"); api != "" {
		at := origin{Endpoints: host.Endpoints{REST: api}}
		if !at.encrypted() && !at.local() {
			return "", "", unusable("LABEL_STATE_SLACK_API_URL", "unset LABEL_STATE_SLACK_API_URL",
				"expected https, or this machine")
		}
		api = strings.TrimRight(api, "/") + "/"
	}

	return token, api, nil
}
