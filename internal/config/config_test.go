package config_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// vectors calls got for every NAME.yml of the archive and compares with NAME.want.
func vectors(t *testing.T, path string, got func(t *testing.T, yml []byte) string) {
	t.Helper()
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}

	if len(a.Files) == 0 || len(a.Files)%2 != 0 {
		t.Fatalf("%s has %d files, want pairs", path, len(a.Files))
	}

	for i := 0; i < len(a.Files); i += 2 {
		in, want := a.Files[i], &a.Files[i+1]
		name := strings.TrimSuffix(in.Name, ".yml")
		if want.Name != name+".want" {
			t.Fatalf("%s: %s is followed by %s", path, in.Name, want.Name)
		}

		t.Run(name, func(t *testing.T) {
			out := got(t, in.Data)
			if golden.Updating() {
				want.Data = []byte(out)
			}

			if out != string(want.Data) {
				t.Errorf("got\n%swant\n%s", out, want.Data)
			}
		})
	}

	if golden.Updating() {
		if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUsable: what is wrong with a file is left out, and the rest of it counts.
func TestUsable(t *testing.T) {
	vectors(t, "testdata/usable.txtar", func(t *testing.T, yml []byte) string {
		_, err := config.Parse("f", yml)
		var refused *config.Error
		if !errors.As(err, &refused) {
			t.Fatalf("Parse: %v", err)
		}
		return refused.Brief() + "\n" + difference(config.Usable("f", yml), config.Default())
	})
}

func TestAccepted(t *testing.T) {
	vectors(t, "testdata/accepted.txtar", func(t *testing.T, yml []byte) string {
		c, err := config.Parse("f", yml)
		if err != nil {
			t.Fatalf("Parse: %v", err)
		}
		return difference(c, config.Default())
	})
}

func TestRefused(t *testing.T) {
	vectors(t, "testdata/refused.txtar", func(t *testing.T, yml []byte) string {
		c, err := config.Parse("f", yml)
		var e *config.Error
		if !errors.As(err, &e) {
			t.Fatalf("Parse = %+v, %v; want a *config.Error", c, err)
		}

		if !reflect.DeepEqual(c, config.Config{}) {
			t.Errorf("Parse returned settings beside its error: %+v", c)
		}

		return err.Error() + "\n"
	})
}

// A line is one setting as the vectors spell it.
type line struct{ key, value string }

func lines(c config.Config) []line {
	l := c.Labels
	at := func(key string, v any) line { return line{key, fmt.Sprint(v)} }
	return []line{
		at("preset", c.Preset),
		at("labels.available", l.Available), at("labels.claimed", l.Claimed), at("labels.plan_pending", l.PlanPending),
		at("labels.pr_open", l.PROpen), at("labels.done", l.Done), at("labels.hold", l.Hold),
		at("labels.needs_scope", l.NeedsScope), at("labels.blocked", l.Blocked), at("labels.authored", l.Authored),
		at("labels.large_feature", l.LargeFeature), at("labels.bundle_prefix", l.BundlePrefix),
		at("labels.paused", l.Paused),
		at("exclude_labels", c.Exclude),
		at("claim.ttl", c.Claim.TTL), at("claim.max_ttl", c.Claim.MaxTTL), at("claim.settle", c.Claim.Settle),
		at("claim.lease", c.Claim.Lease),
		at("claim.assignees", c.Claim.Assignees), at("claim.assign", c.Claim.Assign),
		at("claim.comments", c.Claim.Comments),
		at("lease.redis.url_env", c.Lease.RedisURLEnv),
		at("trust.permission", c.Trust.Permission), at("trust.logins", c.Trust.Logins), at("trust.apps", c.Trust.Apps),
		at("lifecycle.outsider_issues", c.Lifecycle.OutsiderIssues), at("lifecycle.minimize", c.Lifecycle.Minimize),
		at("recovery.max_attempts", c.Recovery.MaxAttempts), at("recovery.rest", c.Recovery.Rest),
		at("plan.timeout", c.Plan.Timeout), at("plan.approvers", c.Plan.Approvers),
		at("plan.slack.channel", c.Plan.Slack.Channel),
		at("plan.slack.token_env", c.Plan.Slack.TokenEnv), at("plan.slack.approvers", c.Plan.Slack.Approvers),
		at("blockers.native", c.Blockers.Native), at("blockers.text", c.Blockers.Text),
		at("hook.on_unknown", c.Hook.OnUnknown), at("hook.timeout", c.Hook.Timeout),
		at("hook.pull_requests", c.Hook.PullRequests),
		at("sessions.ttl", c.Sessions.TTL), at("sessions.require_claim", c.Sessions.RequireClaim),
		at("people.ttl", spanOrNone(c.People.TTL)), at("people.nudge", spanOrNone(c.People.Nudge)),
		at("assignees.ttl", spanOrNone(c.Assignees.TTL)), at("assignees.bots", spanOrNone(c.Assignees.Bots)),
		at("assignees.unassign", c.Assignees.Unassign),
		at("limits.holds", c.Limits.Holds), at("limits.pull_requests", c.Limits.PullRequests),
		at("contributors.claim", c.Contributors.Claim), at("contributors.labels", c.Contributors.Labels),
		at("contributors.ttl", c.Contributors.TTL),
		at("contributors.limit", c.Contributors.Limit), at("contributors.account_age", c.Contributors.AccountAge),
		at("contributors.hourly", c.Contributors.Hourly), at("contributors.pull_requests", c.Contributors.PullRequests),
		at("sweep.repos", c.Sweep), at("guard", c.Guard), at("on_reopen", c.OnReopen),
		at("stages", l.Stages),
		at("defaults.work_source.type", c.Work.Type), at("defaults.work_source.repo", c.Work.Repo),
		at("defaults.work_source.labels.ready", c.Work.Ready),
		at("defaults.work_source.labels.in_progress", c.Work.InProgress),
		at("defaults.work_source.exclude_labels", c.Work.Exclude),
		at("defaults.work_source.cleanup_on_failure", !c.Work.KeepFailed),
		at("defaults.work_source.auth.token_env", c.Work.TokenEnv), at("agents", c.Agents),
	}
}

func spanOrNone(d time.Duration) string {
	if d == 0 {
		return "none"
	}
	return d.String()
}

func difference(c, from config.Config) string {
	var b strings.Builder
	base := lines(from)
	for i, l := range lines(c) {
		if l != base[i] {
			fmt.Fprintf(&b, "%s = %s\n", l.key, l.value)
		}
	}

	return b.String()
}

// TestLinesAreAll fails when a setting is added that the vectors cannot show.
func TestLinesAreAll(t *testing.T) {
	var count func(reflect.Type) int
	count = func(t reflect.Type) int {
		if t.Kind() != reflect.Struct {
			return 1
		}
		n := 0
		for i := range t.NumField() {
			n += count(t.Field(i).Type)
		}

		return n
	}

	if want := count(reflect.TypeFor[config.Config]()); len(lines(config.Default())) != want {
		t.Errorf("lines shows %d settings, Config has %d", len(lines(config.Default())), want)
	}
}

func TestErrorFields(t *testing.T) {
	_, err := config.Parse("some.yml", []byte("claim:\n  ttl: -4h\nguard: loud\n"))
	var e *config.Error
	if !errors.As(err, &e) || len(e.More) != 1 {
		t.Fatalf("err = %v", err)
	}

	want := config.Error{
		File:    "some.yml",
		Line:    2,
		Path:    "claim.ttl",
		Problem: `is "-4h"`,
		Allowed: e.Allowed,
		More:    e.More,
	}

	if !reflect.DeepEqual(*e, want) || !strings.Contains(e.Allowed, "1s to 8760h") {
		t.Errorf("got %+v, want %+v", *e, want)
	}

	if m := e.More[0]; m.Line != 3 || m.Path != "guard" || m.Allowed != "fail, warn, off" {
		t.Errorf("second problem = %+v", *m)
	}
}

func TestErrorIsShort(t *testing.T) {
	_, err := config.Parse("f", []byte("exclude_labels: ["+strings.Repeat("',',", 5000)+"]"))
	if err == nil || len(err.Error()) > 5000 || !strings.HasSuffix(err.Error(), "and 4980 more problems") {
		t.Errorf("err = %.200v", err)
	}
}

func TestTooLarge(t *testing.T) {
	if _, err := config.Parse("f", []byte(strings.Repeat("#", 1<<20))); err == nil {
		t.Error("a megabyte was accepted")
	}
}

func TestNotText(t *testing.T) {
	for text, want := range map[string]string{
		"guard: fail # \xff":                    "f:1: the file is not UTF-8 text",
		"guard: fail\n\n# \xff\n":               "f:3: the file is not UTF-8 text",
		"guard: fail\r\n# a\x01\n":              "f:2: the control character U+0001",
		"guard: fail\n# \uffff\n":               "f:2: the control character U+FFFF",
		"version: 1\nguard: fail\nlabels: *x\n": "f: not YAML: unknown anchor 'x' referenced",
		"guard: fail #\té\ufffd ✓\r\n":          "",
	} {
		_, err := config.Parse("f", []byte(text))
		if got := fmt.Sprint(err); got != cmp.Or(want, "<nil>") {
			t.Errorf("%q: %s, want %q", text, got, want)
		}
	}
}

func TestDefaultIsAccepted(t *testing.T) {
	c, err := config.Parse("f", nil)
	if err != nil || !reflect.DeepEqual(c, config.Default()) {
		t.Errorf("Parse of nothing = %+v, %v", c, err)
	}
}

// TestRulesAndSettings: every setting that the predicate or the ledger has reaches it.
func TestRulesAndSettings(t *testing.T) {
	c, err := config.Parse("f", []byte(`preset: ready
claim: {ttl: 1h, max_ttl: 5h, settle: 3s, assignees: ignore, assign: all, comments: quiet}
lifecycle: {minimize: true, outsider_issues: 2}
plan: {timeout: 7h, approvers: [ann]}
exclude_labels: [x]
recovery: {max_attempts: 9, rest: [1m]}
people: {ttl: 30h, nudge: 40h}
contributors: {claim: all, ttl: 60h}
assignees: {ttl: 50h, bots: 2h, unassign: true}
limits: {holds: 3, pull_requests: 4}
on_reopen: requeue
`))
	if err != nil {
		t.Fatal(err)
	}

	want := config.Default().Settings()
	want.Settle, want.Minimize, want.Quiet, want.Assign = 3*time.Second, true, true, ledger.AssignAll
	r := &want.Rules
	r.Scheme, r.Exclude, r.Approvers = c.Labels, []string{"x"}, []string{"ann"}
	r.Terms.TTL, r.Terms.Max, r.Terms.Plan = time.Hour, 5*time.Hour, 7*time.Hour
	r.OutsiderIssues, r.MaxAttempts, r.Rest = 2, 9, []time.Duration{time.Minute}
	r.PersonTTL, r.ContributorTTL, r.Nudge = 30*time.Hour, 60*time.Hour, 40*time.Hour
	r.AssigneeTTL, r.AssignedBotTTL, r.Unassign, r.Unassigned = 50*time.Hour, 2*time.Hour, true, true
	r.Limits = lifecycle.Limits{Holds: 3, PullRequests: 4}
	r.Requeue = true
	if s := c.Settings(); !reflect.DeepEqual(s, want) || reflect.DeepEqual(s, config.Default().Settings()) {
		t.Errorf("Settings = %+v, want %+v", s, want)
	}
}

// TestNamed: an agent's names for its queue are laid over a file that leaves them free, and must
// agree with one that decides them, in any case.
func TestNamed(t *testing.T) {
	for _, c := range []struct {
		ready, inProgress string
		free, fits        bool
		available         string
	}{
		{"todo", "doing", true, true, "todo"},
		{"todo", "doing", false, false, ""},
		{"", "", false, true, "agent:implement"},
		{"Agent:Implement", "agent:in-flight", false, true, "Agent:Implement"},
		{"doing", "doing", true, false, ""},
	} {
		got, err := config.Default().Named("f", c.ready, c.inProgress, c.free)
		if (err == nil) != c.fits || got.Labels.Available != c.available {
			t.Errorf("%+v: %q, %v", c, got.Labels.Available, err)
		}
	}

	own := config.Default()
	own.Claim.Settle = time.Second
	if all := config.Differences(own, config.Default()); len(all) > 0 {
		t.Errorf("a caller's own setting is a difference: %v", all)
	}
}

// TestEverySettingIsPlayed: testdata/played.txt names a test for each setting, and that test has
// it.
func TestEverySettingIsPlayed(t *testing.T) {
	text, err := os.ReadFile("testdata/played.txt")
	if err != nil {
		t.Fatal(err)
	}

	played := map[string]bool{}
	for row := range strings.Lines(string(text)) {
		f := strings.Fields(row)
		if f[0] == "#" {
			continue
		}
		shows := strings.Join(f[2:], " ")
		test, err := os.ReadFile(filepath.Join("../..", f[1]))
		if err != nil || !strings.Contains(string(test), shows) {
			t.Errorf("%s: %s has no %q, %v", f[0], f[1], shows, err)
		}
		played[f[0]] = true
	}

	for _, l := range lines(config.Default()) {
		if !played[l.key] {
			t.Errorf("no test plays %s away from its default: name one in testdata/played.txt", l.key)
		}
		delete(played, l.key)
	}
	for key := range played {
		t.Errorf("%s is no setting", key)
	}
}

// FuzzParse: no panic, one error type, and what is accepted holds the promises of Config.
func FuzzParse(f *testing.F) {
	for _, path := range []string{"testdata/accepted.txtar", "testdata/refused.txtar", "testdata/usable.txtar"} {
		a, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}

		for _, file := range a.Files {
			f.Add(file.Data)
		}
	}

	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := config.Parse("f", data)
		if err != nil {
			var e *config.Error
			if !errors.As(err, &e) {
				t.Fatalf("error of type %T", err)
			}

			if strings.ContainsFunc(strings.ReplaceAll(err.Error(), "\n", ""),
				func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Fatalf("control characters in %q", err)
			}

			sound(t, config.Usable("f", data))
			return
		}

		sound(t, c)
	})
}

func sound(t *testing.T, c config.Config) {
	t.Helper()
	l := c.Labels
	all := []string{
		l.Available, l.Claimed, l.PlanPending, l.PROpen, l.Done, l.Hold, l.NeedsScope, l.Blocked,
		l.Authored, l.LargeFeature, l.BundlePrefix, l.Paused,
	}
	seen := map[string]bool{}
	for _, name := range all {
		seen[strings.ToLower(name)] = true
		if name == "" || strings.Contains(name, ",") || len([]rune(name)) > 50 {
			t.Errorf("label %q", name)
		}
	}

	if len(seen) != len(all) {
		t.Errorf("labels are not distinct: %q", slices.Sorted(maps.Keys(seen)))
	}

	if c.Claim.TTL <= 0 || c.Claim.TTL > c.Claim.MaxTTL || c.Claim.Settle < 0 || c.Plan.Timeout <= 0 ||
		c.Hook.Timeout <= 0 || c.Recovery.MaxAttempts < 0 {
		t.Errorf("numbers of %+v", c)
	}
}

// TestOver: a caller's file may say what the repository says. Where it says something else, it
// decides its own keys and is refused for any other.
func TestOver(t *testing.T) {
	a, err := txtar.ParseFile("testdata/accepted.txtar")
	if err != nil {
		t.Fatal(err)
	}

	refused, taken := 0, 0
	for _, f := range a.Files {
		if !strings.HasSuffix(f.Name, ".yml") {
			continue
		}
		own, err := config.ParseOwn("mine.yml", f.Data)
		if err != nil {
			t.Fatal(err)
		}

		if got, err := own.Over(own.Config, "acme/app"); err != nil || !reflect.DeepEqual(got, own.Config) {
			t.Errorf("%s over itself: %v\n%s", f.Name, err, difference(got, own.Config))
		}

		got, err := own.Over(config.Default(), "acme/app")
		different := config.Differences(own.Config, config.Default())
		switch {
		case len(different) > 0:
			refused++
			var e *config.Error
			if !errors.As(err, &e) || !e.Everybodys || e.Line == 0 {
				t.Errorf("%s over the defaults: %v, want a refusal of %q", f.Name, err, different)
			}
		case err != nil || difference(got, own.Config) != "":
			t.Errorf("%s over the defaults: %v\n%s", f.Name, err, difference(got, own.Config))
		default:
			taken++
		}
	}

	if refused < 10 || taken < 4 {
		t.Errorf("%d were refused and %d taken: too few to tell", refused, taken)
	}

	// a key whose name begins as another's does not set that
	own, err := config.ParseOwn("mine.yml", []byte("claim: {assignees: respect}"))
	there := config.Default()
	there.Claim.Assign = "none"
	if err == nil {
		_, err = own.Over(there, "acme/app")
	}
	if err != nil {
		t.Errorf("a file that repeats claim.assignees, over claim.assign: %v", err)
	}
}

// TestOverLabels: a caller's file knows the labels of no repository: its fleet is checked by what it
// says itself.
func TestOverLabels(t *testing.T) {
	there := config.Default()
	there.Labels.Available = "robots"
	for source, want := range map[string]string{
		"exclude_labels: [agent:implement]":                             "",
		"exclude_labels: [robots]":                                      "",
		"exclude_labels: [bots], labels: {ready: bots, in_progress: b}": `label "bots" is available and excluded: no issue could be taken`,
	} {
		own, err := config.ParseOwn("mine.yml", fmt.Appendf(nil, "defaults: {work_source: {%s}}", source))
		var e *config.Error
		if is := errors.As(err, &e); is != (want != "") || is && (e.Problem != want || !e.Named || e.Everybodys) {
			t.Errorf("%s: %v", source, err)
		}

		if _, over := own.Over(there, "acme/app"); err == nil && over != nil {
			t.Errorf("%s: over the repository's: %v", source, over)
		}
	}
}

// TestPullsOfContributors: a caller's file may repeat what the repository says, and what does nothing
// while contributors claim nothing is no mistake.
func TestPullsOfContributors(t *testing.T) {
	if _, err := config.ParseOwn("mine.yml", []byte("contributors: {pull_requests: fail}")); err != nil {
		t.Errorf("a caller's own file: %v", err)
	}
	if _, err := config.Parse("there.yml", []byte("contributors: {pull_requests: claim}")); err != nil {
		t.Errorf("claim, by nobody: %v", err)
	}
	if _, err := config.Parse("there.yml", []byte("contributors: {pull_requests: fail}")); err == nil {
		t.Error("fail, with nobody who can claim")
	}
}

// FuzzConfig: whatever stands in a file, reading it ends, an error names file and line, and what is
// left of the file is read without one.
func FuzzConfig(f *testing.F) {
	for _, path := range []string{"testdata/accepted.txtar", "testdata/refused.txtar", "testdata/usable.txtar"} {
		a, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}

		for _, file := range a.Files {
			f.Add(file.Data)
		}
	}

	f.Fuzz(func(t *testing.T, yml []byte) {
		_, err := config.Parse("f", yml)
		var refused *config.Error
		if err != nil && !errors.As(err, &refused) {
			t.Fatalf("%T: %v", err, err)
		}

		if err != nil && !strings.HasPrefix(err.Error(), "f") {
			t.Errorf("%v: which file?", err)
		}
		config.Usable("f", yml)
	})
}

// TestContributorEdges: as old as asked for is old enough, and as many holds as allowed are enough.
func TestContributorEdges(t *testing.T) {
	c := config.Contributors{AccountAge: time.Hour, Limit: 2}
	joined := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	for age, young := range map[time.Duration]bool{time.Hour - time.Second: true, time.Hour: false, time.Hour + time.Second: false} {
		if why := c.TooYoung(joined, joined.Add(age)); (why != "") != young {
			t.Errorf("%s old: %q", age, why)
		}
	}
	for n, many := range []bool{false, false, true, true} {
		if why := c.TooMany([]int{1, 2, 3}[:n]); (why != "") != many {
			t.Errorf("%d holds: %q", n, why)
		}
	}
}
