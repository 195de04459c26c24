package action_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
)

func (p *caseRunner) exit(args []string, _ string) {
	if p.look && p.last.code != p.number(args[0]) {
		p.Errorf("exit %d\n%s", p.last.code, p.last.log)
	}
}

func (p *caseRunner) says(_ []string, text string) {
	if p.look && !strings.Contains(p.last.all(), text) {
		p.Errorf("nothing says %q\n%s", text, p.last.all())
	}
}

func (p *caseRunner) silent(_ []string, text string) {
	if p.look && strings.Contains(p.last.all(), text) {
		p.Errorf("something says %q\n%s", text, p.last.all())
	}
}

// asks 5: at most so many requests
func (p *caseRunner) asks(args []string, _ string) {
	if p.look && p.last.requests > p.number(args[0]) {
		p.Errorf("%d requests", p.last.requests)
	}
}

type move struct {
	Issue   string
	Was, Is []string
}

func (p *caseRunner) moves() []move {
	_, rest, _ := strings.Cut(p.last.output, "transitions<<")
	_, rest, _ = strings.Cut(rest, "\n")
	text, _, _ := strings.Cut(rest, "\n")
	var all []move
	if text != "" {
		p.must(json.Unmarshal([]byte(text), &all))
	}

	return all
}

// moved 1 : agent:implement -> agent:pr-open
func (p *caseRunner) moved(args []string, text string) {
	if !p.look {
		return
	}
	var got []string
	for _, m := range p.moves() {
		if m.Issue == ref(p.number(args[0])).String() {
			got = append(got, orNone(strings.Join(m.Was, " "))+" -> "+orNone(strings.Join(m.Is, " ")))
		}
	}

	if !slices.Equal(got, []string{text}) {
		p.Errorf("moves: %q\n%s", got, p.last.log)
	}
}

func (p *caseRunner) unmoved([]string, string) {
	if all := p.moves(); p.look && len(all) > 0 {
		p.Errorf("moves: %v\n%s", all, p.last.log)
	}
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

// assignees 1 : olga
func (p *caseRunner) wantAssignees(args []string, want string) {
	got, err := p.world.server.Issue(app, p.number(args[0]))
	if err != nil || strings.Join(got.Assignees, " ") != want {
		p.Errorf("assignees of #%s: %q, %v\n%s", args[0], got.Assignees, err, p.last.log)
	}
}

// labels 1 : agent:pr-open
func (p *caseRunner) wantLabels(args []string, want string) {
	if got := p.world.labels(p.number(args[0])); orNone(got) != want {
		p.Errorf("labels of #%s: %q\n%s", args[0], got, p.last.log)
	}
}

func (w *world) thread(n int) []githubsim.Comment {
	w.Helper()
	all, err := w.server.Comments(app, n)
	w.must(err)
	return all
}

// comments 1 2 : where two runs at once bid for one claim, each in a comment of its own, both count as one. Nor
// does the end of a claim count that was given up for want of an answer.
func (p *caseRunner) wantComments(args []string, _ string) {
	all := p.thread(p.number(args[0]))
	seen := map[string]bool{}
	count := 0
	for _, c := range all {
		key := claimKey.FindString(c.Body)
		switch {
		case seen[key] && key != "" && strings.HasPrefix(p.way.name, "twice"):
		case strings.Contains(c.Body, "outcome=abandoned") && strings.HasPrefix(p.way.name, "without"):
		default:
			count++
		}
		seen[key] = true
	}

	if count != p.number(args[1]) {
		p.Errorf("%d comments on #%s: %v", count, args[0], all)
	}
}

// claimKey finds the key of a claim's comment.
var claimKey = regexp.MustCompile(`^<!-- agent-claim:codename=\S+ firing_id=\S+`)

func (p *caseRunner) wantLast(args []string, want string) {
	all := p.thread(p.number(args[0]))
	if len(all) == 0 || !strings.Contains(all[len(all)-1].Body, want) {
		p.Errorf("comments of #%s: %v", args[0], all)
	}
}

func (p *caseRunner) wantNever(args []string, text string) {
	all := p.thread(p.number(args[0]))
	if p.look && slices.ContainsFunc(all, func(c githubsim.Comment) bool { return strings.Contains(c.Body, text) }) {
		p.Errorf("comments of #%s: %v", args[0], all)
	}
}

// guard 2 : words of the one comment · guard 2 none
func (p *caseRunner) wantGuard(args []string, want string) {
	var own []string
	for _, c := range p.thread(p.number(args[0])) {
		if strings.HasPrefix(c.Body, "<!-- label-state:guard -->") {
			own = append(own, c.Body)
		}
	}

	none := at(args, 1, "") == "none"
	if none != (len(own) == 0) || !none && (len(own) != 1 || !strings.Contains(own[0], want)) {
		p.Errorf("guard comments of #%s: %q", args[0], own)
	}
}

// reaction +1: to the last comment
func (p *caseRunner) wantReaction(args []string, _ string) {
	got, err := p.client("tok-olga").Reactions(p.Context(), claim.Repo{Owner: "acme", Name: "app"}, p.cmd,
		"github-actions[bot]")
	p.must(err)
	if want := args[0]; strings.Join(got, " ") != strings.TrimPrefix(want, "none") {
		p.Errorf("reactions: %q, want %s", got, want)
	}
}
