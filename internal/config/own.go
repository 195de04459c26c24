package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/printable"
)

// A repository's configuration decides who counts, and must be the same for everybody: it is the one on the default branch. What
// concerns nobody but the caller may come from a file of theirs: how long their claims and their hook wait, where their agents take work from, which
// repositories they sweep, which variable holds a token (docs/decisions/2026-11-22-hostile-repositories.md).

// An Own is a configuration that the caller named.
type Own struct {
	Config
	File  string // its name; empty for the zero value
	lines map[string]int
}

// ParseOwn reads the file of a caller. The error is an *Error.
func ParseOwn(name string, data []byte) (Own, error) {
	r := &reader{file: name, lines: map[string]int{}}
	own := Own{Config: Default(), File: name, lines: r.lines}
	if top := r.document(data); top != nil {
		f := newFile(&own.Config)
		f.keys().read(r, "", top)
		f.finish(r)
	}
	if err := r.err(); err != nil {
		own.Config = Config{}
		return own, err
	}
	return own, nil
}

// Has reports whether the file sets a key or anything below it.
func (o Own) Has(path string) bool {
	for set := range o.lines {
		if rest, is := strings.CutPrefix(set, path); is && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// Over lays what is the caller's own over the configuration of the repository. Whatever else the file sets has to be what the
// repository says; repo names it in errors. The error is an *Error.
func (o Own) Over(c Config, repo string) (Config, error) {
	r := &reader{file: o.File, lines: o.lines}
	for _, s := range shared() {
		mine, theirs := s.of(o.Config), s.of(c)
		if o.Has(s.path) && !reflect.DeepEqual(mine, theirs) {
			r.at(s.path, "is "+written(mine)+", and on the default branch of "+repo+" it is "+written(theirs), "what the default branch says, for everybody must go by the same")
		}
	}
	for _, p := range r.problems {
		p.Everybodys = true
	}
	if err := r.err(); err != nil {
		return Config{}, err
	}
	for _, p := range callers() {
		if o.Has(p.path) {
			p.take(&c, o.Config)
		}
	}
	return c, nil
}

// Differences are the keys that two configurations have different values for, but for those that are each caller's own.
func Differences(a, b Config) []string {
	var out []string
	for _, s := range shared() {
		if s.path != "preset" && !reflect.DeepEqual(s.of(a), s.of(b)) {
			out = append(out, s.path)
		}
	}
	return out
}

// A setting is a key that everybody must go by.
type setting struct {
	path string
	of   func(Config) any
}

// shared are the keys that the default branch decides.
func shared() []setting {
	all := []setting{
		{"preset", func(c Config) any { return c.Preset }},
		{"exclude_labels", func(c Config) any { return c.Exclude }},
		{"claim.ttl", func(c Config) any { return c.Claim.TTL }},
		{"claim.max_ttl", func(c Config) any { return c.Claim.MaxTTL }},
		{"claim.assign", func(c Config) any { return c.Claim.Assign }},
		{"claim.assignees", func(c Config) any { return c.Claim.Assignees }},
		{"claim.comments", func(c Config) any { return c.Claim.Comments }},
		{"claim.lease", func(c Config) any { return c.Store() }},
		{"lease", func(c Config) any { return c.Store() }},
		{"trust.permission", func(c Config) any { return c.Trust.Permission }},
		{"trust.logins", func(c Config) any { return c.Trust.Logins }},
		{"trust.apps", func(c Config) any { return c.Trust.Apps }},
		{"recovery.max_attempts", func(c Config) any { return c.Recovery.MaxAttempts }},
		{"recovery.rest", func(c Config) any { return c.Recovery.Rest }},
		{"plan.timeout", func(c Config) any { return c.Plan.Timeout }},
		{"plan.approvers", func(c Config) any { return c.Plan.Approvers }},
		{"plan.slack.channel", func(c Config) any { return c.Plan.Slack.Channel }},
		{"plan.slack.approvers", func(c Config) any { return c.Plan.Slack.Approvers }},
		{"blockers.native", func(c Config) any { return c.Blockers.Native }},
		{"blockers.text", func(c Config) any { return c.Blockers.Text }},
		{"guard", func(c Config) any { return c.Guard }},
		{"lifecycle.outsider_issues", func(c Config) any { return c.Lifecycle.OutsiderIssues }},
		{"lifecycle.minimize", func(c Config) any { return c.Lifecycle.Minimize }},
		{"on_reopen", func(c Config) any { return c.OnReopen }},
		{"stages", func(c Config) any { return c.Labels.Stages }},
		{"stage_ttl", func(c Config) any { return c.Labels.Stages }},
		{"compat", func(c Config) any { return c.Compat }},
		{"sessions.ttl", func(c Config) any { return c.Sessions.TTL }},
		{"sessions.require_claim", func(c Config) any { return c.Sessions.RequireClaim }},
	}
	for n, l := range named(&labels.Scheme{}) {
		all = append(all, setting{"labels." + l.key, func(c Config) any { return *named(&c.Labels)[n].name }})
	}
	return all
}

// A part is a key that is the caller's own.
type part struct {
	path string
	take func(to *Config, from Config)
}

// callers are the keys that a caller's own file decides.
func callers() []part {
	fleet := func(to *Config, from Config) { to.Work, to.Agents = from.Work, from.Agents } // as a whole: an agent's entry has the defaults in it
	return []part{
		{"claim.settle", func(to *Config, from Config) { to.Claim.Settle = from.Claim.Settle }},
		{"hook.on_unknown", func(to *Config, from Config) { to.Hook.OnUnknown = from.Hook.OnUnknown }},
		{"hook.pull_requests", func(to *Config, from Config) { to.Hook.PullRequests = from.Hook.PullRequests }},
		{"hook.timeout", func(to *Config, from Config) { to.Hook.Timeout = from.Hook.Timeout }},
		{"sweep", func(to *Config, from Config) { to.Sweep = slices.Clone(from.Sweep) }},
		{"defaults", fleet},
		{"agents", fleet},
		{"plan.slack.token_env", func(to *Config, from Config) { to.Plan.Slack.TokenEnv = from.Plan.Slack.TokenEnv }},
	}
}

// written is a value as an error prints it.
func written(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case time.Duration:
		return printable.Exact(v)
	}
	return printable.Short(fmt.Sprint(v), 100)
}
