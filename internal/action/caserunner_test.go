package action_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/prchain"
)

// A caseRunner plays one case.
type caseRunner struct {
	*world
	way  way
	line string
	last step
	look bool     // whether the words of the last run are to be checked
	cost []string // of each run: its exit code, its requests, and how many of them wrote
	cmd  int64

	commits []string // of the next pull request: their messages
	files   map[string]string
}

func play(t *testing.T, script string, way way) (cost []string) {
	t.Helper()
	p := &caseRunner{world: newWorld(t, elsewhere()...), way: way}
	if way.start != nil {
		way.start(p.world)
	}

	for line := range strings.Lines(script) {
		p.line = strings.TrimSpace(line)
		if p.line == "" || strings.HasPrefix(p.line, "#") {
			continue
		}

		p.play()
		if t.Failed() {
			t.Fatalf("played %s, at: %s", way.name, p.line)
		}
		if p.over {
			break
		}
	}

	return p.cost
}

// elsewhere is another repository, which the workflow's token may read, and a stranger's fork.
func elsewhere() []githubsim.SeedRepo {
	return []githubsim.SeedRepo{
		{Name: "acme/lib", DefaultBranch: "main", Issues: []githubsim.SeedIssue{
			{
				Number: 1,
				Title:  "In the library",
				Author: "olga",
				Labels: []string{"agent:implement"},
			},
		}},
		{Name: "stranger/app", DefaultBranch: "main", ForkOf: app},
	}
}

func (p *caseRunner) play() {
	head, text, _ := strings.Cut(p.line, ": ")
	words := strings.Fields(strings.TrimSuffix(head, ":"))
	verb, args := words[0], words[1:]
	do := map[string]func([]string, string){
		"graphql": func([]string, string) {},
		"set":     p.settings, "issue": p.addIssue, "issues": p.addIssues, "sleep": p.sleep,
		"claim": p.claims, "fail": p.fails, "release": p.releases, "plan": p.plans, "renew": p.renews,
		"commit": p.commit, "proposes": p.proposes, "merging": p.merging,
		"open": p.opens, "edit": p.edits, "base": p.rebases, "title": p.retitles, "draft": p.drafts, "ready": p.readies,
		"merge": p.merges, "enqueue": p.enqueues, "close": p.closes, "reopen": p.reopens, "transfer": p.transfers,
		"delete": p.deletes,
		"label":  p.label, "unlabel": p.unlabel, "comment": p.comment, "amend": p.amend, "erase": p.erase, "block": p.block, "child": p.child,
		"react": p.reacts, "lock": p.lock, "pause": p.pause, "assign": p.assign, "unassign": p.unassign, "chatter": p.chatter,
		"on": p.on, "payload": p.payload, "sweep": p.sweeps,
		"exit": p.exit, "says": p.says, "silent": p.silent, "moved": p.moved, "unmoved": p.unmoved, "asks": p.asks,
		"labels": p.wantLabels, "assignees": p.wantAssignees, "comments": p.wantComments, "last": p.wantLast, "never": p.wantNever,
		"guard": p.wantGuard, "reaction": p.wantReaction,
	}[verb]

	if do == nil {
		p.Fatalf("no such line: %s", p.line)
	}
	do(args, text)
}

func (p *caseRunner) number(s string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(s, "#"))
	p.must(err)
	return n
}

func at(args []string, n int, otherwise string) string {
	if n < len(args) {
		return args[n]
	}
	return otherwise
}

// set guard warn · set requeue · set approvers olga
func (p *caseRunner) settings(args []string, _ string) {
	switch args[0] {
	case "guard":
		p.world.guard = args[1]
	case "requeue":
		p.set.Rules.Requeue = true
	case "contributors":
		p.contributors = config.Default().Contributors
		p.contributors.Claim = args[1]
		for _, a := range args[2:] {
			p.contributor(a)
		}
		p.set.Rules.ContributorTTL = p.contributors.TTL
	case "people":
		p.set.Rules.PersonTTL, p.set.Rules.Nudge = p.duration(args[1]), p.duration(args[2])
	case "assignees":
		p.set.Rules.AssigneeTTL, p.set.Rules.Unassign = p.duration(args[1]), slices.Contains(args, "unassign")
	case "limits":
		p.set.Rules.Limits = lifecycle.Limits{PullRequests: p.number(args[1])}
	case "assign":
		p.set.Assign = map[string]ledger.Assign{"people": ledger.AssignPeople, "none": ledger.AssignNone}[args[1]]
	case "approvers":
		p.set.Rules.Approvers = args[1:]
	default:
		p.Fatalf("no such setting: %s", p.line)
	}
}

// contributor takes in ttl=24h, limit=2, age=24h, hourly=3, pulls=claim or labels=starter,easy.
func (p *caseRunner) contributor(setting string) {
	name, value, _ := strings.Cut(setting, "=")
	switch to := &p.contributors; name {
	case "labels":
		to.Labels = strings.Split(value, ",")
	case "ttl":
		to.TTL = p.duration(value)
	case "age":
		to.AccountAge = p.duration(value)
	case "limit":
		to.Limit = p.number(value)
	case "hourly":
		to.Hourly = p.number(value)
	case "pulls":
		to.PullRequests = value
	default:
		p.Fatalf("no such setting: %s", p.line)
	}
}

func (p *caseRunner) duration(s string) time.Duration {
	d, err := time.ParseDuration(s)
	p.must(err)
	return d
}

// issue 1 agent:implement : body
func (p *caseRunner) addIssue(args []string, body string) {
	n, err := p.server.AddIssue(app, "olga", "Work "+args[0], body, args[1:]...)
	p.must(err)
	if n != p.number(args[0]) {
		p.Fatalf("issue is #%d: %s", n, p.line)
	}
}

// issues 300 agent:implement
func (p *caseRunner) addIssues(args []string, _ string) {
	for range p.number(args[0]) {
		p.issue("Work", args[1:]...)
	}
}

func (p *caseRunner) sleep(args []string, _ string) {
	d, err := time.ParseDuration(args[0])
	p.must(err)
	time.Sleep(d)
}

// claim 1 agents lucius branch
func (p *caseRunner) claims(args []string, _ string) {
	p.claim(p.number(args[0]), args[1], args[2], at(args, 3, ""))
	time.Sleep(2 * time.Second) // so that what follows is later on a clock of whole seconds
}

// enqueue 2: into the merge queue
func (p *caseRunner) enqueues(args []string, _ string) {
	_, err := p.server.Enqueue(app, p.number(args[0]), "olga")
	p.must(err)
}

// fail 1 3: so many failed attempts
func (p *caseRunner) fails(args []string, _ string) {
	for range p.number(args[1]) {
		l, _ := p.ledger("tok-agents")
		h, err := l.Claim(p.Context(), ref(p.number(args[0])),
			ledger.Request{Worker: claim.Worker{Codename: "hapless"}})
		p.must(err)
		_, err = l.Release(p.Context(), h.Issue, ledger.Ending{Worker: h.Record.Worker, Outcome: claim.OutcomeFailure})
		p.must(err)
		time.Sleep(3 * time.Hour)
	}
}

// release lucius success 2: the last, if given, is the pull request that it names
func (p *caseRunner) releases(args []string, _ string) {
	h := p.holds[args[0]]
	l, _ := p.ledger("tok-agents")
	e := ledger.Ending{Worker: h.Record.Worker, Outcome: args[1]}
	if len(args) > 2 {
		e.PR = fmt.Sprintf("https://github.com/%s/pull/%s", app, args[2])
	}

	_, err := l.Release(p.Context(), h.Issue, e)
	p.must(err)
	time.Sleep(2 * time.Second)
}

func (p *caseRunner) renews(args []string, _ string) {
	h := p.holds[args[0]]
	l, _ := p.ledger("tok-agents")
	_, err := l.Renew(p.Context(), h.Issue, h.Record.Worker, h.Token)
	p.must(err)
}

// plan lucius: words
func (p *caseRunner) plans(args []string, text string) {
	h := p.holds[args[0]]
	l, _ := p.ledger("tok-agents")
	_, err := l.Plan(p.Context(), h.Issue, h.Record.Worker, ledger.Draft{Text: text})
	p.must(err)
	time.Sleep(2 * time.Second)
}

// open 2 agents branch draft base=develop in=acme/lib : Closes #1
func (p *caseRunner) opens(args []string, body string) {
	repo, pull := app, githubsim.Pull{
		Title:   "Work",
		Body:    chained(body),
		Head:    args[2],
		Commits: p.commits,
		Files:   p.files,
	}
	p.commits, p.files = nil, nil

	for _, a := range args[3:] {
		if base, ok := strings.CutPrefix(a, "base="); ok {
			pull.Base = base
		} else if name, ok := strings.CutPrefix(a, "in="); ok {
			repo = name
		} else if a == "draft" {
			pull.Draft = true
		} else {
			p.Fatalf("no such option: %s", p.line)
		}
	}

	n, err := p.server.OpenPull(repo, args[1], pull)
	p.must(err)
	if n != p.number(args[0]) {
		p.Fatalf("pull request is #%d: %s", n, p.line)
	}

	time.Sleep(2 * time.Second)
}

// commit [N]: message of a commit of the next pull request, or of so many
func (p *caseRunner) commit(args []string, message string) {
	times := 1
	if len(args) > 0 {
		times = p.number(args[0])
	}
	for range times {
		p.commits = append(p.commits, strings.ReplaceAll(message, `\n`, "\n"))
	}
}

// proposes: what the next pull request has in the configuration
func (p *caseRunner) proposes(_ []string, text string) {
	p.files = map[string]string{config.Path: strings.ReplaceAll(text, `\n`, "\n")}
}

// merging commit squash=PR_TITLE/BLANK rebase
func (p *caseRunner) merging(args []string, _ string) {
	var m githubsim.SeedMerge
	for _, word := range args {
		method, words, _ := strings.Cut(word, "=")
		title, message, _ := strings.Cut(words, "/")
		switch method {
		case "commit":
			m.Commit, m.CommitTitle, m.CommitMessage = true, title, message
		case "squash":
			m.Squash, m.SquashTitle, m.SquashMessage = true, title, message
		case "rebase":
			m.Rebase = true
		}
	}

	p.must(p.server.SetMerge(app, m))
}

// place reads 2 or acme/lib#2.
func (p *caseRunner) place(s string) (repo string, number int) {
	name, digits, elsewhere := strings.Cut(s, "#")
	if !elsewhere || name == "" {
		return app, p.number(s)
	}
	return name, p.number(digits)
}

var chainWords = regexp.MustCompile(`\{(\S+) (\d) of (\S+) for (\d+) closes (\d)\}`)

// chained puts the region of a chain where a text has {retry 2 of acme/lib#2,acme/app#3 for 1
// closes 2}.
func chained(text string) string {
	return chainWords.ReplaceAllStringFunc(text, func(words string) string {
		m := chainWords.FindStringSubmatch(words)
		number := func(s string) int { n, _ := strconv.Atoi(s); return n }
		r := prchain.Region{
			Feature: m[1],
			Part:    number(m[2]),
			Parent:  ref(number(m[4])),
			Closes:  number(m[5]),
		}

		for name := range strings.SplitSeq(m[3], ",") {
			where, digits, _ := strings.Cut(name, "#")
			owner, repo, _ := strings.Cut(where, "/")
			r.PRs = append(r.PRs, claim.Issue{Owner: owner, Repo: repo, Number: number(digits)})
		}

		return r.String()
	})
}

func (p *caseRunner) patch(args []string, body map[string]any) {
	repo, n := p.place(args[0])
	p.send(at(args, 1, "olga"), "PATCH", fmt.Sprintf("/repos/%s/pulls/%d", repo, n), body)
}

func (p *caseRunner) edits(args []string, body string) {
	p.patch(args, map[string]any{"body": chained(body)})
}

func (p *caseRunner) retitles(args []string, to string) { p.patch(args, map[string]any{"title": to}) }

func (p *caseRunner) rebases(args []string, to string) { p.patch(args, map[string]any{"base": to}) }

func (p *caseRunner) drafts(args []string, _ string) { p.mutate(args, "convertPullRequestToDraft") }
func (p *caseRunner) readies(args []string, _ string) {
	p.mutate(args, "markPullRequestReadyForReview")
}

func (p *caseRunner) mutate(args []string, mutation string) {
	i, err := p.server.Issue(app, p.number(args[0]))
	p.must(err)
	var found struct{ NodeID string }
	_, err = p.client("tok-olga").Do(p.Context(), "GET", fmt.Sprintf("repos/%s/pulls/%d", app, i.Number), nil, &struct {
		NodeID *string `json:"node_id"`
	}{&found.NodeID})
	p.must(err)
	p.send("olga", "POST", "/graphql", map[string]string{
		"query": fmt.Sprintf(`mutation{%s(input:{pullRequestId:%q}){pullRequest{id}}}`, mutation, found.NodeID),
	})
}

func (p *caseRunner) merges(args []string, _ string) {
	repo, n := p.place(args[0])
	p.must(p.server.MergePull(repo, n, at(args, 1, "olga")))
	time.Sleep(2 * time.Second)
}

// close 1 olga not_planned
func (p *caseRunner) closes(args []string, _ string) {
	login := at(args, 1, "olga")
	repo, n := p.place(args[0])
	if len(args) < 3 {
		p.must(p.server.Close(repo, n, login))
	} else {
		p.send(login, "PATCH", fmt.Sprintf("/repos/%s/issues/%d", repo, n),
			map[string]string{"state": "closed", "state_reason": args[2]})
	}

	time.Sleep(2 * time.Second)
}

func (p *caseRunner) reopens(args []string, _ string) {
	p.must(p.server.Reopen(app, p.number(args[0]), at(args, 1, "olga")))
	time.Sleep(2 * time.Second)
}

func (p *caseRunner) transfers(args []string, _ string) {
	_, err := p.server.TransferIssue(app, p.number(args[0]), "olga", "acme/lib")
	p.must(err)
}

func (p *caseRunner) deletes(args []string, _ string) {
	p.must(p.server.DeleteIssue(app, p.number(args[0]), "olga"))
}

// label 1 olga agent:done
func (p *caseRunner) label(args []string, _ string) {
	p.must(p.server.AddLabels(app, p.number(args[0]), args[1], args[2:]...))
	time.Sleep(2 * time.Second)
}

func (p *caseRunner) unlabel(args []string, _ string) {
	for _, name := range args[2:] {
		p.must(p.server.RemoveLabel(app, p.number(args[0]), args[1], name))
	}
	time.Sleep(2 * time.Second)
}

// comment 1 olga : /claim
func (p *caseRunner) comment(args []string, text string) {
	id, err := p.server.AddComment(app, p.number(args[0]), args[1], strings.ReplaceAll(text, `\n`, "\n"))
	p.must(err)
	p.cmd = id
	time.Sleep(2 * time.Second)
}

// amend rob: /claim: the newest comment of anybody says something else
func (p *caseRunner) amend(args []string, text string) {
	p.must(p.server.EditComment(app, p.cmd, args[0], text))
	time.Sleep(2 * time.Second)
}

// erase rob: the newest comment of anybody is gone
func (p *caseRunner) erase(args []string, _ string) {
	p.must(p.server.DeleteComment(app, p.cmd, args[0]))
}

// chatter 301 1 newcomer: so many comments that are not commands
func (p *caseRunner) chatter(args []string, _ string) {
	for n := range p.number(args[0]) {
		_, err := p.server.AddComment(app, p.number(args[1]), args[2], fmt.Sprint("me too ", n))
		p.must(err)
	}
}

func (p *caseRunner) assign(args []string, _ string) {
	p.must(p.server.Assign(app, p.number(args[0]), args[1], args[2:]...))
	time.Sleep(2 * time.Second)
}

func (p *caseRunner) unassign(args []string, _ string) {
	p.must(p.server.Unassign(app, p.number(args[0]), args[1], args[2:]...))
	time.Sleep(2 * time.Second)
}

// block 1 2: 1 waits for 2
func (p *caseRunner) block(args []string, _ string) {
	p.must(p.server.Block(app, p.number(args[0]), p.number(args[1]), "olga"))
}

// child 1 2: 2 is a sub-issue of 1
func (p *caseRunner) child(args []string, _ string) {
	var below struct{ ID int64 }
	_, err := p.client("tok-olga").Do(p.Context(), "GET", fmt.Sprintf("repos/%s/issues/%s", app, args[1]), nil, &below)
	p.must(err)
	p.send("olga", "POST", fmt.Sprintf("/repos/%s/issues/%s/sub_issues", app, args[0]),
		map[string]int64{"sub_issue_id": below.ID})
}

// react 1 olga -1: to the newest plan
func (p *caseRunner) reacts(args []string, _ string) {
	all := p.thread(p.number(args[0]))
	slices.Reverse(all)
	n := slices.IndexFunc(all, func(c githubsim.Comment) bool { return strings.HasPrefix(c.Body, "<!-- agent-plan:") })
	p.send(args[1], "POST", fmt.Sprintf("/repos/%s/issues/comments/%d/reactions", app, all[n].ID),
		map[string]string{"content": args[2]})
	time.Sleep(2 * time.Second)
}

func (p *caseRunner) pause(_ []string, reason string) {
	p.must(p.client("tok-olga").SetPause(p.Context(), claim.Repo{Owner: "acme", Name: "app"},
		lifecycle.Pause{Since: time.Now(), By: "olga", Reason: reason}))
}

func (p *caseRunner) lock(args []string, _ string) {
	p.must(p.server.Lock(app, p.number(args[0]), "olga"))
}

// on pull_request opened token=tok-fork guard=warn
func (p *caseRunner) on(args []string, _ string) {
	about := ""
	if args[0] == "issue_comment" {
		about = fmt.Sprintf(`"id":%d,`, p.cmd)
	}
	e := p.world.last(args[0], args[1], about)
	p.act(run{name: e.Name, event: e.Payload}, args[2:])
}

// payload pull_request : {"number":2}
func (p *caseRunner) payload(args []string, text string) {
	p.act(run{name: args[0], event: []byte(text)}, args[1:])
}

func (p *caseRunner) sweeps(args []string, _ string) {
	p.act(run{name: "schedule", event: []byte("{}")}, args)
}

func (p *caseRunner) act(r run, options []string) {
	r.token, r.inputs = tokActions, map[string]string{}
	for _, o := range options {
		k, v, _ := strings.Cut(o, "=")
		if k == "token" {
			r.token = v
		} else {
			r.inputs[k] = v
		}
	}

	p.last, p.look = p.way.run(p.world, r)
	p.cost = append(p.cost, fmt.Sprintf("%d/%d/%d", p.last.code, p.last.requests, p.last.writes))
	time.Sleep(2 * time.Second)
}
