// Package config reads .github/label-state.yml strictly: every key it does not know, every value
// that makes no sense, and everything this version could only ignore is an error.
//
// It is pure: text goes in, settings or one *Error with all problems come out. The published
// schema, docs/label-state.schema.json, is made from the very table the reader works from.
package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// Path is where a repository keeps its configuration.
const Path = ".github/label-state.yml"

// Unread is a name that people give the file, and nobody reads.
const Unread = ".github/label-state.yaml"

// A Config is a repository's settings, complete: what the file leaves out has its default.
type Config struct {
	Preset       string        // agent, ready or stages
	Labels       labels.Scheme // the preset's names with the file's changes
	Exclude      []string      // labels that keep an issue from being taken
	Claim        Claim
	Lease        Lease
	Trust        Trust
	Lifecycle    Lifecycle
	Recovery     Recovery
	Plan         Plan
	Blockers     Blockers
	Hook         Hook
	Sessions     Sessions
	People       People
	Assignees    Assignees
	Contributors Contributors
	Limits       lifecycle.Limits
	Guard        string                // fail, warn or off
	OnReopen     string                // none or requeue
	Sweep        []string              // owner/repo of every repository to sweep; empty when the file names none
	Work         WorkSource            // of agents without an entry
	Agents       map[string]WorkSource // by codename, complete
}

// Claim says how long a hold lasts and how carefully a race is decided.
type Claim struct {
	TTL    time.Duration // of a claim that does not name one
	MaxTTL time.Duration // longest that may be asked for
	Settle time.Duration // wait between the claim's post and the read that decides
	Lease  string        // what decides: lease.Comments, Refs or Redis

	Assignees string // respect or ignore: whether an issue that is assigned to somebody else is somebody else's
	Assign    string // people, all or none: whose winning claims assign their login
	Comments  string // all or quiet: whether a lost claim posts its end or edits it into its own comment
}

// Trust says whose records count, besides our own and the repository owner's
// (spec.md#which-records-count).
type Trust struct {
	Permission string   // least role of a collaborator: triage, write, maintain or admin
	Logins     []string // of users
	Apps       []string // slugs of GitHub Apps
}

// Lifecycle says what may move an issue.
type Lifecycle struct {
	OutsiderIssues int  // how many issues a pull request may move whose author's records do not count
	Minimize       bool // whether a sweep minimizes the comments of ended holds
}

// Recovery says how often a failed issue is tried again, and how soon (spec.md#attempts).
type Recovery struct {
	MaxAttempts int             // 0 never asks a person
	Rest        []time.Duration // after the first, second, … failed attempt; the last repeats
}

// Plan is the approval gate.
type Plan struct {
	Timeout   time.Duration // how long a plan may wait for its answer
	Approvers []string      // logins; empty is everybody whose records count, except the plan's own author
	Slack     Slack
}

// Slack is the gate where plans are shown and answered besides GitHub; without a channel there is
// none.
type Slack struct {
	Channel   string   // id
	TokenEnv  string   // environment variable with the bot's token
	Approvers []string // ids of users
}

// Blockers says where dependencies are read from (spec.md#further-labels).
type Blockers struct {
	Native bool // GitHub's own "blocked by"
	Text   bool // "Blocked by #7" in the issue's text
}

// Hook is what the pre-push hook does.
type Hook struct {
	OnUnknown    string        // allow or refuse, when it could not find out (hook.md)
	PullRequests bool          // whether a branch is checked against holds on its open pull requests
	Timeout      time.Duration // its whole budget
}

// Sessions is how interactive sessions of agent hosts work here.
type Sessions struct {
	TTL          time.Duration // lease of a session's claim that does not name one, where its hooks renew it
	RequireClaim bool          // whether an edit wants a hold of the worktree
}

// People says how long a person's hold lasts (spec.md#people).
type People struct {
	TTL   time.Duration // without a sign of life; 0 is without an end
	Nudge time.Duration // after which a hold without an end is asked about once; 0 is never
}

// Assignees says how long an assignment keeps others off an issue (spec.md#assignments).
type Assignees struct {
	TTL      time.Duration // of a person, without a sign of life; 0 is without an end
	Bots     time.Duration // the same of an App
	Unassign bool          // whether a sweep then takes the assignment off
}

// Contributors says what people may do whose records do not count.
type Contributors struct {
	Claim      string        // off, labelled or all: the issues that they may claim
	Labels     []string      // of those issues, with labelled
	TTL        time.Duration // of their holds, without a sign of life
	Limit      int           // holds that one login may have in the repository
	AccountAge time.Duration // that an account must have
	Hourly     int           // commands of theirs that are carried out in an hour

	// off, claim, warn or fail: what the guard does with one whose author does not hold what it
	// closes
	PullRequests string
}

// Open reports whether they may claim any issue at all. The zero value lets them claim none.
func (c Contributors) Open() bool {
	return c.Claim == ContributorsLabelled || c.Claim == ContributorsAll
}

// Queues are the labels of the issues that they may claim; nil where labels decide nothing.
func (c Contributors) Queues() []string {
	if c.Claim == ContributorsLabelled {
		return c.Labels
	}
	return nil
}

// Covers reports whether they may claim an issue with these labels, as far as labels decide.
func (c Contributors) Covers(have []string) bool {
	listed := slices.ContainsFunc(c.Labels, func(name string) bool { return labels.Has(have, name) })
	return c.Claim == ContributorsAll || c.Claim == ContributorsLabelled && listed
}

// TooYoung says that an account made at since may not claim yet at the moment; empty when it may.
func (c Contributors) TooYoung(since, moment time.Time) string {
	if !moment.Before(since.Add(c.AccountAge)) {
		return ""
	}
	return "accounts must be " + printable.Exact(c.AccountAge) + " old here"
}

// TooMany says that whoever holds these issues may claim no other one; empty when they may.
func (c Contributors) TooMany(held []int) string {
	if len(held) < c.Limit {
		return ""
	}

	names := make([]string, min(len(held), 5))
	for n := range names {
		names[n] = fmt.Sprintf("#%d", held[n])
	}

	return fmt.Sprintf("you hold %s already, and one login may hold %d here; comment /release there first",
		strings.Join(names, ", "), c.Limit)
}

// The values of Contributors.Claim.
const (
	ContributorsOff      = "off"
	ContributorsLabelled = "labelled"
	ContributorsAll      = "all"
)

// The values of Contributors.PullRequests.
const (
	PullsOff   = "off"
	PullsClaim = "claim"
	PullsWarn  = "warn"
	PullsFail  = "fail"
)

// Default returns what a repository without a file has.
func Default() Config {
	s := ledger.DefaultSettings()
	r := s.Rules
	return Config{
		Preset:  "agent",
		Labels:  labels.Agent(),
		Exclude: r.Exclude,
		Claim: Claim{
			TTL:       r.Terms.TTL,
			MaxTTL:    r.Terms.Max,
			Settle:    s.Settle,
			Lease:     lease.Comments,
			Assignees: "respect",
			Assign:    "people",
			Comments:  "quiet",
		},
		Trust:     Trust{Permission: "triage", Logins: []string{}, Apps: []string{"github-actions"}},
		Lifecycle: Lifecycle{OutsiderIssues: r.OutsiderIssues, Minimize: true},
		Recovery:  Recovery{MaxAttempts: r.MaxAttempts, Rest: r.Rest},
		Plan: Plan{
			Timeout:   r.Terms.Plan,
			Approvers: []string{},
			Slack:     Slack{TokenEnv: "SLACK_BOT_TOKEN", Approvers: []string{}},
		},
		Blockers: Blockers{Native: true, Text: true},
		Hook:     Hook{OnUnknown: "allow", Timeout: 3 * time.Second},
		Sessions: Sessions{TTL: 30 * time.Minute},
		People:   People{Nudge: r.Nudge},

		Assignees: Assignees{Bots: r.AssignedBotTTL},
		Contributors: Contributors{
			Claim:  ContributorsOff,
			Labels: []string{"good first issue", "help wanted"},
			TTL:    7 * day,
			Limit:  1,
			Hourly: 20,

			PullRequests: PullsOff,
		},
		Guard:    "fail",
		OnReopen: "none",
		Sweep:    []string{},
		Work:     WorkSource{Type: "github"},
	}
}

// Rules returns the settings as the predicate and the projection want them.
func (c Config) Rules() lifecycle.Rules {
	r := lifecycle.DefaultRules()

	r.Scheme = c.Labels
	r.Terms.TTL, r.Terms.Max, r.Terms.Plan = c.Claim.TTL, c.Claim.MaxTTL, c.Plan.Timeout
	r.Exclude = c.Exclude
	r.MaxAttempts, r.Rest = c.Recovery.MaxAttempts, c.Recovery.Rest
	r.Approvers = c.Plan.Approvers
	r.OutsiderIssues = c.Lifecycle.OutsiderIssues
	r.PersonTTL, r.Nudge = c.People.TTL, c.People.Nudge
	if c.Contributors.Open() {
		r.ContributorTTL = c.Contributors.TTL
	}
	r.AssigneeTTL, r.AssignedBotTTL, r.Unassign = c.Assignees.TTL, c.Assignees.Bots, c.Assignees.Unassign
	r.Limits = c.Limits
	r.Requeue = c.OnReopen == "requeue"
	r.Unassigned = c.Claim.Assignees == "ignore"

	return r
}

// Settings returns the settings as the ledger wants them.
func (c Config) Settings() ledger.Settings {
	s := ledger.DefaultSettings()
	s.Rules, s.Settle = c.Rules(), c.Claim.Settle
	s.Minimize = c.Lifecycle.Minimize
	s.Quiet = c.Claim.Comments == "quiet"
	s.Assign = map[string]ledger.Assign{
		"people": ledger.AssignPeople,
		"all":    ledger.AssignAll,
		"none":   ledger.AssignNone,
	}[c.Claim.Assign]

	return s
}
