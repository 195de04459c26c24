package config

import (
	"time"

	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
)

const (
	second = time.Second
	day    = 24 * time.Hour
	year   = 365 * day
)

// A file is what is read besides the settings themselves: what is only checked, and the labels
// that differ from the preset's.
type file struct {
	c        *Config
	version  int
	labels   labels.Scheme
	stages   []string
	ttls     map[string]time.Duration // of stages
	defaults *agent
	agents   map[string]*agent
}

// newFile returns what is to be read into c, with the defaults of what is only checked.
func newFile(c *Config) *file {
	return &file{
		c:        c,
		version:  1,
		ttls:     map[string]time.Duration{},
		defaults: newAgent(),
		agents:   map[string]*agent{},
	}
}

// written returns a file that says what c does, so that its keys have the values of c.
func written(c *Config) *file {
	f := newFile(c)
	f.labels = c.Labels
	for _, s := range c.Labels.Stages {
		f.stages = append(f.stages, s.Name)
		if s.TTL > 0 {
			f.ttls[s.Name] = s.TTL
		}
	}

	return f
}

// Keys are the keys that have a value, by their paths, and what each means, in their order.
func Keys() [][2]string {
	c := Default()
	return newFile(&c).keys().described("")
}

// keys is the whole format (the CLI's manual, "Configuration").
func (f *file) keys() rule {
	c := f.c
	var names []key
	for _, l := range named(&f.labels) {
		names = append(names, key{l.key, l.about, text(l.name, label())})
	}

	return object(
		key{"version", "Version of this format.", count(&f.version, 1, 1)},
		key{"preset", "Label names to start from.", word(&c.Preset, "agent", "ready", "stages")},
		key{"labels", "Label names that differ from the preset's.", object(names...)},
		key{"exclude_labels", "Labels that keep an issue from being taken.", texts(&c.Exclude, label())},
		key{"claim", "How long a hold lasts, and how a race is decided.", object(
			key{"ttl", "Lease of a claim that does not name one.", span(&c.Claim.TTL, second, year)},
			key{"max_ttl", "Longest lease that may be asked for.", span(&c.Claim.MaxTTL, second, year)},
			key{
				"settle",
				"Wait between a claim's post and the read that decides.",
				own(span(&c.Claim.Settle, 0, 30*second)),
			},
			key{"lease", "What decides a race.", word(&c.Claim.Lease, lease.Comments, lease.Refs, lease.Redis)},
			key{
				"assignees",
				"Whether an assignment to somebody else keeps workers off an issue.",
				word(&c.Claim.Assignees, "respect", "ignore"),
			},
			key{
				"assign",
				"Whose winning claims assign their login, until they release. Apps cannot be assigned.",
				word(&c.Claim.Assign, "people", "all", "none"),
			},
			key{
				"comments",
				"Whether a claim that lost a race posts its end, or turns its own comment into it, which notifies " +
					"nobody.",
				word(&c.Claim.Comments, "all", "quiet"),
			},
		)},
		key{"lease", "Where the lease store is, if claim.lease names one that is a separate server.", object(
			key{lease.Redis, "A Redis server, for claim.lease: redis.", object(
				key{
					"url_env",
					"Variable that holds its redis:// or rediss:// URL.",
					text(&c.Lease.RedisURLEnv, variable()),
				},
			)},
		)},
		key{"trust", "Whose records count, besides the repository owner's. A claim by anybody else is refused before " +
			"anything is written.", object(
			key{
				"permission",
				"Lowest role of a collaborator that counts.",
				word(&c.Trust.Permission, "triage", "write", "maintain", "admin"),
			},
			key{"logins", "Users, whatever their role.", texts(&c.Trust.Logins, login())},
			key{
				"apps",
				"GitHub Apps, by slug. GitHub shows no role for an App, so the records of an App that is not " +
					"listed do not count.",
				texts(&c.Trust.Apps, slug()),
			},
		)},
		key{"lifecycle", "What may move an issue, and what becomes of its comments.", object(
			key{
				"outsider_issues",
				"How many issues a pull request may move if its author's records do not count, and how many all " +
					"open ones of that author may move together. One that would move more moves none. For all other " +
					"authors it is 20 each.",
				count(&c.Lifecycle.OutsiderIssues, 1, lifecycle.MostIssues),
			},
			key{
				"minimize",
				"Whether a sweep minimizes the comments of ended holds as outdated. They count as before.",
				truth(&c.Lifecycle.Minimize),
			},
		)},
		key{"recovery", "What happens after failed attempts.", object(
			key{
				"max_attempts",
				"Failed attempts before a person must look; 0 never asks.",
				count(&c.Recovery.MaxAttempts, 0, 1000),
			},
			key{
				"rest",
				"How long to back off, ±25 %, after the first, second, … failed attempt; the last repeats.",
				list(&c.Recovery.Rest, func(d *time.Duration) rule { return span(d, 0, year) }),
			},
		)},
		key{"plan", "The approval gate.", object(
			key{"timeout", "How long a plan may wait for its answer.", span(&c.Plan.Timeout, second, year)},
			key{
				"approvers",
				"Who may approve; empty is everybody whose records count, except the plan's own author.",
				texts(&c.Plan.Approvers, login()),
			},
			key{"slack", "A Slack channel where plans are shown and answered as well.", after(object(
				key{
					"channel",
					"Id of the channel.",
					text(&c.Plan.Slack.Channel, slackID("a channel's id, such as C0123ABC", "CG")),
				},
				key{
					"token_env",
					"Environment variable with the bot's token.",
					own(text(&c.Plan.Slack.TokenEnv, variable())),
				},
				key{
					"approvers",
					"Ids of the users who may answer; at least one.",
					texts(&c.Plan.Slack.Approvers, slackID("a user's id, such as U0123ABC", "UW")),
				},
			), func(r *reader, path string) { // what only makes sense together
				s := c.Plan.Slack
				if s.Channel == "" && !r.has(path+".channel") {
					r.at(path+".channel", "is missing", "the id of a channel")
				}

				if len(s.Approvers) == 0 {
					r.at(path+".approvers", "is empty: nobody could answer", "ids of users")
				}
			})},
		)},
		key{"blockers", "Where dependencies are read from.", object(
			key{"native", "GitHub's own \"blocked by\".", truth(&c.Blockers.Native)},
			key{"text", "Lines such as \"Blocked by #7\" in the issue's text.", truth(&c.Blockers.Text)},
		)},
		key{"hook", "The pre-push hook.", own(object(
			key{
				"on_unknown",
				"What happens to a push that could not be checked.",
				word(&c.Hook.OnUnknown, "allow", "refuse"),
			},
			key{
				"pull_requests",
				"Whether a push of a branch is checked against holds on its open pull requests. It costs one " +
					"request for each push.",
				truth(&c.Hook.PullRequests),
			},
			key{"timeout", "The hook's whole budget.", span(&c.Hook.Timeout, 100*time.Millisecond, time.Minute)},
		))},
		key{"sessions", "Interactive sessions of agent hosts, such as Claude Code.", object(
			key{
				"ttl",
				"Lease of a session's claim that does not name one, where the host's hooks renew it.",
				span(&c.Sessions.TTL, time.Minute, year),
			},
			key{
				"require_claim",
				"Whether a session's tools for edits work only in a worktree that holds an issue; commands always do. " +
					"Events go by the default branch as the clone last fetched it.",
				truth(&c.Sessions.RequireClaim),
			},
		)},
		key{"people", "How long a person's hold lasts.", object(
			key{
				"ttl",
				"How long it lasts without a sign of life: a comment on the issue, or an open pull request for it.",
				spanOr(&c.People.TTL, time.Hour, year, none),
			},
			key{
				"nudge",
				"After how long without a sign of life a person is asked once, in a comment, about a hold that has no end.",
				spanOr(&c.People.Nudge, time.Hour, year, none),
			},
		)},
		key{"assignees", "How long an assignment alone keeps others off an issue: without a hold, an open pull " +
			"request or a comment by the person assigned.", object(
			key{"ttl", "How long a person's assignment does.", spanOr(&c.Assignees.TTL, time.Hour, year, none)},
			key{
				"bots",
				"How long a bot's assignment does, such as that of a cloud agent that opens no pull request.",
				spanOr(&c.Assignees.Bots, time.Minute, year, none),
			},
			key{
				"unassign",
				"Whether the sweep then takes the assignment off. It says so in a comment in any case.",
				truth(&c.Assignees.Unassign),
			},
		)},
		key{"limits", "How much may be in progress at once; 0 is no limit. A person may go beyond it with --force.", object(
			key{
				"holds",
				"Holds of one login, and of one codename, in the repository. A bundle counts as one.",
				count(&c.Limits.Holds, 0, 10000),
			},
			key{
				"pull_requests",
				"Open pull requests of agents in the repository, with the label of agents, by a login that has claimed the issue, or named by " +
					"a release. Beyond it no worker gets an issue.",
				count(&c.Limits.PullRequests, 0, 10000),
			},
		)},
		key{"contributors", "What people whose records do not count may do through the Action.", object(
			key{
				"claim",
				"Which issues they may take with /claim.",
				word(&c.Contributors.Claim, ContributorsOff, ContributorsLabelled, ContributorsAll),
			},
			key{"labels", "With labelled, an issue has one of these.", texts(&c.Contributors.Labels, label())},
			key{
				"ttl",
				"How long a hold lasts without a sign of life. It does not end while a pull request of theirs is open, and " +
					"without one it ends after three times as long.",
				span(&c.Contributors.TTL, time.Hour, year),
			},
			key{"limit", "Holds that one login may have in the repository.", count(&c.Contributors.Limit, 1, 100)},
			key{"account_age", "Minimum age of an account.", span(&c.Contributors.AccountAge, 0, 10*year)},
			key{
				"hourly",
				"How many of their commands are carried out in an hour; later ones wait for the sweep.",
				count(&c.Contributors.Hourly, 1, 1000),
			},
			key{
				"pull_requests",
				"What the guard does with a pull request of theirs that closes an issue which its author does not hold: " +
					"gives the author the hold where they may take it, says so, or fails the check.",
				word(&c.Contributors.PullRequests, PullsOff, PullsClaim, PullsWarn, PullsFail),
			},
		)},
		key{
			"sweep",
			"What a sweep looks at.",
			own(object(key{"repos", "Repositories to sweep when none is named.", texts(&c.Sweep, repository())})),
		},
		key{
			"guard",
			"What the Action's check does when a pull request closes somebody else's issue.",
			word(&c.Guard, "fail", "warn", "off"),
		},
		key{"on_reopen", "What becomes of a done issue that is reopened.", word(&c.OnReopen, "none", "requeue")},
		key{
			"stages",
			"Stages of a pipeline, in order, with preset stages: two or more, the last one is done.",
			texts(&f.stages, stageName()),
		},
		key{
			"stage_ttl", "Lease of a claim that does not name one, by stage.",
			each(&f.ttls, stageName(), func(name string) rule {
				ttl := new(time.Duration)
				return after(span(ttl, second, year), func(*reader, string) { f.ttls[name] = *ttl })
			}),
		},
		key{"defaults", "Settings every agent starts from.", own(f.defaults.keys())},
		key{"agents", "A fleet: settings by codename.", own(each(&f.agents, codename(), func(name string) rule {
			a := *f.defaults
			if name != "" {
				f.agents[name] = &a
			}
			return a.keys()
		}))},
	)
}

// A named label is one name of the scheme.
type namedLabel struct {
	key, about string
	name       *string
}

// named are the label names of a scheme that a file can set, in the order of its keys.
func named(s *labels.Scheme) []namedLabel {
	return []namedLabel{
		{"available", "Eligible for autonomous pickup.", &s.Available},
		{"claimed", "A worker holds it.", &s.Claimed},
		{"plan_pending", "A plan waits for go or no-go.", &s.PlanPending},
		{"pr_open", "A pull request exists for it.", &s.PROpen},
		{"done", "Closed and shipped.", &s.Done},
		{"hold", "A person holds it.", &s.Hold},
		{"needs_scope", "Too vague, or failed too often.", &s.NeedsScope},
		{"blocked", "Has open blockers.", &s.Blocked},
		{"authored", "Pull request written by an agent.", &s.Authored},
		{"large_feature", "Parent of work in several repositories.", &s.LargeFeature},
		{"bundle_prefix", "How labels of bundles begin.", &s.BundlePrefix},
		{"paused", "Its existence pauses the repository.", &s.Paused},
	}
}
