package action_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sethvargo/go-githubactions"

	"github.com/label-state/label-state/internal/action"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/ledger"
)

const app = "acme/app"

// A bench is one repository on the embedded GitHub, on virtual time.
type bench struct {
	*testing.T
	server *githubsim.Server
	words  int
}

// step is what one run of the Action left behind.
type step struct {
	code                 int
	log, summary, output string
}

func try(t *testing.T, story func(*bench)) {
	synctest.Test(t, func(t *testing.T) {
		seed := githubsim.Seed{
			Users: []githubsim.SeedUser{
				{Login: "agents", Token: "tok-agents", Permissions: map[string]string{app: "write"}},
				{Login: "olga", Token: "tok-olga", Permissions: map[string]string{app: "admin"}},
				{Login: "stranger", Token: "tok-stranger"},
				{Login: "github-actions[bot]", Token: "tok-actions", Permissions: map[string]string{app: "write"}},
				{Login: "github-actions[bot]", Token: "tok-fork", ReadOnly: true, Permissions: map[string]string{app: "write"}},
			},
			Repos: []githubsim.SeedRepo{{Name: app, DefaultBranch: "main"}},
		}
		server, err := githubsim.New(seed, githubsim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		story(&bench{T: t, server: server})
	})
}

func (b *bench) word() string {
	b.words++
	return fmt.Sprintf("%08x", b.words)
}

func (b *bench) ledger(token string) (*ledger.Ledger, *github.Client) {
	client, err := github.New(github.Options{
		REST: "https://api.github.com/", GraphQL: "https://api.github.com/graphql", Web: "https://github.com",
		Token: github.NewSecret(token), HTTP: b.server.Transport(),
	})
	b.must(err)
	return ledger.New(client, clock{}, b.word, ledger.DefaultSettings()), client
}

type clock struct{}

func (clock) Now() time.Time { return time.Now() }

func (clock) Sleep(_ context.Context, d time.Duration) error {
	time.Sleep(d)
	return nil
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) issue(title string) int {
	n, err := b.server.AddIssue(app, "olga", title, "", "agent:implement")
	b.must(err)
	return n
}

func ref(n int) claim.Issue { return claim.Issue{Owner: "acme", Repo: "app", Number: n} }

func (b *bench) claim(n int, codename, branch string) ledger.Hold {
	l, _ := b.ledger("tok-agents")
	h, err := l.Claim(b.Context(), ref(n), ledger.Request{Worker: claim.Worker{Codename: codename}, Branch: branch})
	b.must(err)
	return h
}

func (b *bench) labels(n int, want string) {
	b.Helper()
	got, err := b.server.Labels(app, n)
	b.must(err)
	if strings.Join(got, " ") != want {
		b.Errorf("labels of #%d: %q, want %q", n, strings.Join(got, " "), want)
	}
}

// run plays the Action on the newest event of that name and action; an empty name is the schedule.
func (b *bench) run(token, name, what string) step {
	e := githubsim.Event{Name: "schedule", Payload: []byte("{}")}
	if name != "" {
		events, err := b.server.Events()
		b.must(err)
		for _, one := range events {
			if one.Name == name && one.Action == what {
				e = one
			}
		}
	}
	return b.deliver(token, e.Name, e.Payload, nil)
}

func (b *bench) deliver(token, name string, payload []byte, change func(*action.Step)) step {
	b.Helper()
	event, err := action.ParseEvent(name, payload)
	b.must(err)
	var log, summary, output bytes.Buffer
	gh := githubactions.New(githubactions.WithWriter(&log), githubactions.WithGetenv(func(string) string { return "" }))
	l, client := b.ledger(token)
	s := &action.Step{
		Inputs: action.Inputs{Mode: "auto", FailOnIncomplete: true}, Event: event, Repo: ledger.Repo{Owner: "acme", Name: "app"},
		Host: "github.com", Guard: "fail", Ledger: l, Hub: client, Console: action.NewConsole(gh, &log),
		Summary: &summary, Output: &output, Now: time.Now(), Word: b.word,
	}
	if change != nil {
		change(s)
	}
	code := action.Run(b.Context(), s)
	return step{code, log.String(), summary.String(), output.String()}
}

func (s step) expect(t *bench, code int, parts ...string) {
	t.Helper()
	if s.code != code {
		t.Errorf("exit %d, want %d\n%s", s.code, code, s.log)
	}
	for _, p := range parts {
		if !strings.Contains(s.log+s.summary+s.output, p) {
			t.Errorf("nothing says %q\nlog:\n%s\nsummary:\n%s\noutput:\n%s", p, s.log, s.summary, s.output)
		}
	}
}

func (b *bench) open(login, head, body string) int {
	n, err := b.server.OpenPull(app, login, githubsim.Pull{Title: "Work", Body: body, Head: head})
	b.must(err)
	return n
}

// TestLifeOfAPull follows the holder's pull request from opening to merge.
func TestLifeOfAPull(t *testing.T) {
	try(t, func(b *bench) {
		n := b.issue("Retry the upload")
		b.claim(n, "lucius", "fix")
		b.labels(n, "agent:in-flight")
		pr := b.open("agents", "fix", fmt.Sprintf("Closes #%d", n))
		b.run("tok-actions", "pull_request", "opened").expect(b, 0, "agent:in-flight -> agent:pr-open")
		b.labels(n, "agent:pr-open")
		b.run("tok-actions", "pull_request", "opened").expect(b, 0, "0 repaired")
		b.must(b.server.MergePull(app, pr, "olga"))
		b.run("tok-actions", "pull_request", "closed").expect(b, 0, "agent:pr-open -> agent:done")
		b.labels(n, "agent:done")
	})
}

func TestPullClosedUnmerged(t *testing.T) {
	try(t, func(b *bench) {
		n := b.issue("Retry the upload")
		b.claim(n, "lucius", "fix")
		pr := b.open("agents", "fix", fmt.Sprintf("Fixes #%d", n))
		b.run("tok-actions", "pull_request", "opened").expect(b, 0)
		b.must(b.server.Close(app, pr, "olga"))
		b.run("tok-actions", "pull_request", "closed").expect(b, 0)
		b.labels(n, "agent:implement")
	})
}

// TestMissedEvents is the sweep doing what no event did: hand over, give back, mark done.
func TestMissedEvents(t *testing.T) {
	try(t, func(b *bench) {
		delivered, dead, merged := b.issue("Delivered"), b.issue("Dead"), b.issue("Merged")
		b.claim(delivered, "lucius", "one")
		b.claim(dead, "drake", "")
		b.claim(merged, "vera", "two")
		b.open("agents", "one", fmt.Sprintf("Closes #%d", delivered))
		b.must(b.server.MergePull(app, b.open("agents", "two", fmt.Sprintf("Closes #%d", merged)), "olga"))
		time.Sleep(5 * time.Hour)
		b.run("tok-actions", "", "").expect(b, 0, "3 examined", "3 given back", "swept<<")
		b.labels(delivered, "agent:pr-open")
		b.labels(dead, "agent:implement")
		b.labels(merged, "agent:done")
		b.run("tok-actions", "", "").expect(b, 0, "0 given back, 0 repaired, 0 failed")
	})
}

func TestGuard(t *testing.T) {
	try(t, func(b *bench) {
		n := b.issue("Retry the upload")
		b.claim(n, "lucius", "fix")
		b.open("olga", "mine", fmt.Sprintf("Closes #%d", n))
		b.run("tok-actions", "pull_request", "opened").expect(b, 1, "::error::", "held by lucius", "refused<<")
		b.labels(n, "agent:in-flight")
		for guard, code := range map[string]int{"warn": 0, "off": 0} {
			events, err := b.server.Events()
			b.must(err)
			last := events[len(events)-1]
			b.deliver("tok-actions", last.Name, last.Payload, func(s *action.Step) { s.Guard = guard }).expect(b, code)
		}
	})
}

// TestReadOnly is a token that may not write: one notice, green, nothing changed.
func TestReadOnly(t *testing.T) {
	try(t, func(b *bench) {
		n := b.issue("Retry the upload")
		b.open("agents", "fix", fmt.Sprintf("Closes #%d", n))
		b.deliver("tok-fork", "pull_request", forked(n), nil).expect(b, 0, "::notice::", "may only read")
		b.labels(n, "agent:implement")
	})
}

func forked(issue int) []byte {
	return fmt.Appendf(nil, `{"action":"opened","number":%d,"pull_request":{"number":%d,"head":{"repo":{"full_name":"someone/app"}}},
		"repository":{"full_name":"acme/app"},"sender":{"login":"someone","type":"User"}}`, issue+1, issue+1)
}

func TestThinPayloads(t *testing.T) {
	try(t, func(b *bench) {
		n := b.issue("Retry the upload")
		pr := b.open("agents", "fix", fmt.Sprintf("Closes #%d", n))
		b.deliver("tok-actions", "pull_request", fmt.Appendf(nil, `{"action":"opened","number":%d}`, pr), nil).expect(b, 0)
		b.labels(n, "agent:pr-open")
		b.deliver("tok-actions", "pull_request", []byte(`{}`), nil).expect(b, 0, "names no pull request")
		b.deliver("tok-actions", "push", []byte(`{}`), nil).expect(b, 0, "nothing to do")
		b.deliver("tok-actions", "pull_request", []byte(`{"number":99}`), nil).expect(b, 3, "::error::")
	})
}

// TestNothingForged puts the worst text people can write where the Action repeats it.
func TestNothingForged(t *testing.T) {
	const evil = "x\n::set-output name=swept::9\n##[error]owned | <img src=x> @everyone `a` \x1b[31m\nEOF\nlabel-state-"
	try(t, func(b *bench) {
		n, err := b.server.AddIssue(app, "stranger", evil, evil, "agent:implement")
		b.must(err)
		b.claim(n, "lucius", "")
		time.Sleep(5 * time.Hour)
		s := b.run("tok-actions", "", "")
		s.expect(b, 0, "1 given back")
		for line := range strings.Lines(s.log) {
			if strings.HasPrefix(strings.TrimSpace(line), "::set-output") || strings.Contains(line, "##[") {
				b.Errorf("forged command in the log: %q", line)
			}
		}
		for _, bad := range []string{"<img", "@everyone", "\x1b", "`a`"} {
			if strings.Contains(s.summary+s.log, bad) {
				b.Errorf("%q got through", bad)
			}
		}
		if strings.Count(s.output, "swept<<") != 1 || strings.Contains(s.output, "\nEOF\n") {
			b.Errorf("outputs:\n%s", s.output)
		}
	})
}

func TestSweepStopsCleanly(t *testing.T) {
	try(t, func(b *bench) {
		for range 3 {
			b.claim(b.issue("Work"), "lucius", "")
		}
		time.Sleep(5 * time.Hour)
		posts := 0
		b.server.Fault = func(r *http.Request) *githubsim.Fault {
			if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/comments") {
				return nil
			}
			if posts++; posts == 1 {
				return nil
			}
			return &githubsim.Fault{
				Status: http.StatusForbidden, Body: `{"message":"API rate limit exceeded"}`,
				Header: http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {fmt.Sprint(time.Now().Add(time.Hour).Unix())}},
			}
		}
		b.run("tok-actions", "", "").expect(b, 1, "incomplete", "not examined", "rate limit")
		b.server.Fault = nil
		time.Sleep(2 * time.Hour)
		b.run("tok-actions", "", "").expect(b, 0, "2 given back")
	})
}

func TestInputs(t *testing.T) {
	for name, bad := range map[string]string{"mode": "guess", "guard": "maybe", "max-age-hours": "-5", "dry-run": "perhaps", "fail-on-incomplete": "1"} {
		_, err := action.ReadInputs(func(n string) string {
			if n == name {
				return bad
			}
			return ""
		})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v", name, bad, err)
		}
	}
	for _, hours := range []string{"0", "NaN", "Inf", "1e99", "four"} {
		if _, err := action.ReadInputs(func(n string) string { return map[string]string{"max-age-hours": hours}[n] }); err == nil {
			t.Errorf("max-age-hours %s was accepted", hours)
		}
	}
}
