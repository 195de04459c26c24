package lifecycle_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/claim/claimtest"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A scenario is the input of one case of testdata/issues.txt.
type scenario struct {
	facts lifecycle.Facts
	rules lifecycle.Rules
	who   lifecycle.Seeker
	asks  []string // what is answered only where it is asked
}

var issue = claim.Issue{Owner: "o", Repo: "r", Number: 7}

func scenarios(t testing.TB) []claimtest.Case {
	t.Helper()
	text, err := os.ReadFile("testdata/issues.txt")
	if err != nil {
		t.Fatal(err)
	}

	cases, err := claimtest.Cases(string(text))
	if err != nil {
		t.Fatal(err)
	}

	return cases
}

func parseScene(t testing.TB, c claimtest.Case) scenario {
	t.Helper()
	s := scenario{rules: lifecycle.DefaultRules(), facts: lifecycle.Facts{Issue: issue, Open: true, Viewer: "bot"}}
	var log []claim.Comment
	for _, line := range append([]string{"now 10:00"}, c.In...) {
		word, rest, _ := strings.Cut(line, " ")
		var err error
		if line[0] >= '0' && line[0] <= '9' {
			var comment claim.Comment
			comment, err = claimtest.Comment(line)
			log = append(log, comment)
		} else {
			err = s.take(word, rest)
		}

		if err != nil {
			t.Fatalf("case of line %d: %q: %v", c.Line, line, err)
		}
	}

	s.facts.Log = claim.Replay(log)
	s.facts = s.facts.Lived()
	return s
}

// take reads one line that is not a comment.
func (s *scenario) take(word, rest string) (err error) {
	f := &s.facts
	switch word {
	case "labels":
		f.Labels = strings.Split(rest, ", ")
	case "closed":
		f.Open, f.StateReason = false, rest
	case "open":
		f.StateReason = rest
	case "is-pull-request":
		f.PullRequest = true
	case "missing":
		f.Missing = append(f.Missing, rest)
	case "doubt":
		f.Doubts = append(f.Doubts, rest)
	case "asks":
		s.asks = strings.Fields(rest)
	case "excessive":
		f.Excessive = append(f.Excessive,
			lifecycle.Excess{PR: lifecycle.PR{Repo: "o/r", URL: rest}, Issues: 21, Most: lifecycle.MostIssues})
	case "host-pause-unknown":
		f.PauseErr = errors.New("nobody knows")
	case "limit":
		f.Limit = rest
	case "unshown":
		f.Unshown, err = strconv.Atoi(rest)
	case "now":
		f.Now, err = claimtest.Time(rest)
	case "no-server-time":
		f.Now = time.Time{}
	case "reopened":
		f.ReopenedAt, err = claimtest.Time(rest)
	case "hold-label":
		text, by, _ := strings.Cut(rest, " ")
		var at time.Time
		at, err = claimtest.Time(text)
		f.Labelled(labels.Agent(), labels.Agent().Hold, at, by)
	case "assignees":
		f.Assignees = strings.Fields(rest)
	case "assigned":
		login, at, _ := strings.Cut(rest, " ")
		var since time.Time
		since, err = claimtest.Time(at)
		f.Assigned(login, since)
	case "viewer":
		f.Viewer = rest
	case "claimed-label":
		f.ClaimedAt, err = claimtest.Time(rest)
	case "blocked-label":
		f.BlockedAt, err = claimtest.Time(rest)
	case "pr":
		err = s.pull(strings.Fields(rest))
	case "blockers-read":
		f.BlockersRead = true
	case "blocker":
		err = s.blocker(rest)
	case "paused":
		f.Pause = &lifecycle.Pause{By: "ann", Reason: rest, Since: f.Now}
	case "who":
		s.who.Worker.Codename, s.who.Worker.FiringID, _ = strings.Cut(rest, ":")
	case "person":
		s.who.Person = true
	case "branch":
		s.who.Repo, s.who.Branch, _ = strings.Cut(rest, " ")
	case "rules":
		for _, setting := range strings.Fields(rest) {
			if err = s.rule(setting); err != nil {
				return err
			}
		}
	default:
		err = fmt.Errorf("unknown line")
	}

	return err
}

func (s *scenario) pull(words []string) error {
	if len(words) < 2 {
		return fmt.Errorf("want pr #N STATE")
	}
	n, err := strconv.Atoi(strings.TrimPrefix(words[0], "#"))
	if err != nil {
		return err
	}

	p := lifecycle.PR{
		Repo:        "o/r",
		HeadRepo:    "o/r",
		Number:      n,
		State:       lifecycle.PRState(words[1]),
		Base:        "main",
		DefaultBase: true,
	}

	for _, w := range words[2:] {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "draft":
			p.Draft = true
		case "recorded":
			p.Recorded = true
		case "base":
			p.Base, p.DefaultBase = value, false
		case "head":
			p.Head = value
		case "from":
			p.HeadRepo = value
		case "author":
			p.Author = value
		case "chain":
			p.Chain = value
		case "sibling":
			p.Chain, p.Sibling = value, true
		case "in":
			p.Repo, p.HeadRepo = value, value
		case "bare":
			p.Bare = true
		case "stranger":
			p.Stranger = true
		case "named":
			at, id, _ := strings.Cut(value, "/")
			if p.Named.Created, err = claimtest.Time(at); err == nil && id != "" {
				p.Named.ID, err = strconv.ParseInt(id, 10, 64)
			}
		case "merged":
			p.MergedAt, err = claimtest.Time(value)
		case "closed":
			p.ClosedAt, err = claimtest.Time(value)
		default:
			err = fmt.Errorf("unknown word %q", w)
		}

		if err != nil {
			return err
		}
	}

	s.facts.PRs = append(s.facts.PRs, p)
	return nil
}

func (s *scenario) blocker(text string) error {
	number, state, _ := strings.Cut(strings.TrimPrefix(text, "#"), " ")
	n, err := strconv.Atoi(number)
	s.facts.BlockersRead = true
	s.facts.Blockers = append(s.facts.Blockers,
		lifecycle.Blocker{Issue: claim.Issue{Owner: "o", Repo: "r", Number: n}, Open: state == "open"})
	return err
}

func (s *scenario) rule(setting string) (err error) {
	name, value, _ := strings.Cut(setting, "=")
	switch name {
	case "ignore-assignees":
		s.rules.Unassigned = true
	case "assignees":
		s.rules.AssigneeTTL, err = time.ParseDuration(value)
	case "requeue":
		s.rules.Requeue = true
	case "attempts":
		s.rules.MaxAttempts, err = strconv.Atoi(value)
	case "exclude":
		s.rules.Exclude = strings.Split(value, ",")
	case "stray":
		s.rules.Stray, err = time.ParseDuration(value)
	case "nudge":
		s.rules.Nudge, err = time.ParseDuration(value)
	case "rest":
		s.rules.Rest = nil
		for d := range strings.SplitSeq(value, ",") {
			rest, err := time.ParseDuration(d)
			if err != nil {
				return err
			}
			s.rules.Rest = append(s.rules.Rest, rest)
		}

	case "preset":
		s.rules.Scheme = labels.Ready()
		if value == "stages" {
			s.rules.Scheme = staged()
		}
	default:
		err = fmt.Errorf("unknown rule %q", setting)
	}

	return err
}

// staged is the preset of stages that the vectors name.
func staged() labels.Scheme {
	return labels.Agent().Pipeline([]labels.Stage{
		{Name: "ready", Label: "stage:ready"},
		{Name: "review", Label: "stage:review"},
		{Name: "done", Label: "done"},
	})
}

func TestIssueVectors(t *testing.T) {
	cases := scenarios(t)
	if len(cases) < 120 {
		t.Fatalf("read %d cases, want all of them", len(cases))
	}

	reasons, notes, texts := map[lifecycle.Code]bool{}, map[lifecycle.Code]bool{}, map[string]bool{}
	for _, c := range cases {
		t.Run(c.Title, func(t *testing.T) {
			s := parseScene(t, c)
			if got := s.answer(); !slices.Equal(got, c.Want) {
				t.Errorf("line %d\n got:\n-> %s\nwant:\n-> %s", c.Line, strings.Join(got, "\n-> "),
					strings.Join(c.Want, "\n-> "))
			}

			v := s.rules.Verdict(s.facts, s.who)
			for _, r := range v.Reasons {
				reasons[r.Code] = true
				if unknown := v.Answer == lifecycle.Unknown; unknown != (r.Code.Meaning().Where == lifecycle.WithoutOther) {
					t.Errorf("line %d: the answer is %s, and %s is a reason", c.Line, v.Answer, r.Code)
				}
			}

			for _, n := range v.Notes {
				notes[n.Code] = true
			}

			for _, text := range s.texts(v) {
				texts[text] = true
			}
		})
	}

	golden.Check(t, "testdata/texts.txt", strings.Join(slices.Sorted(maps.Keys(texts)), "\n")+"\n")

	for _, m := range lifecycle.Meanings() {
		if m.Where == lifecycle.ToContributors {
			continue
		}
		if note := m.Where == lifecycle.AmongNotes; reasons[m.Code] == note || note && !notes[m.Code] {
			t.Errorf("code %s: a vector has it as a reason: %t, as a note: %t", m.Code, reasons[m.Code], notes[m.Code])
		}
		delete(reasons, m.Code)
		delete(notes, m.Code)
	}

	if len(reasons)+len(notes) > 0 {
		t.Errorf("codes without a row in Meanings: %v %v", reasons, notes)
	}
}

// number is what differs from case to case in a text.
var number = regexp.MustCompile(`\d+`)

// texts are the words for people of a case, which are no part of the contract.
func (s scenario) texts(v lifecycle.Verdict) (out []string) {
	for _, r := range slices.Concat(v.Reasons, v.Notes) {
		out = append(out, fmt.Sprintf("%s: %s", r.Code, r.Text))
	}

	projection, _ := s.rules.Label(s.facts)
	if c := s.rules.Scheme.Change(s.facts.Labels, projection); !c.Empty() {
		out = append(out, "change: "+s.rules.Explain(s.facts, c))
	}

	if why := s.rules.Stranded(s.facts); why != "" {
		out = append(out, "stranded: "+why)
	}

	for n := range out {
		out[n] = number.ReplaceAllString(out[n], "N")
	}

	return out
}

// TestMeanings: every reason has words for the queue, and no row stands twice.
func TestMeanings(t *testing.T) {
	seen := map[lifecycle.Code]bool{}
	for _, m := range lifecycle.Meanings() {
		if seen[m.Code] {
			t.Errorf("two rows of %s", m.Code)
		}
		seen[m.Code] = true
		if (m.Passed == "") != (m.Where == lifecycle.AmongNotes) || m.Alert && m.Mark == "" {
			t.Errorf("the row of %s is %+v", m.Code, m)
		}
	}

	text, err := os.ReadFile("reason.go")
	if err != nil {
		t.Fatal(err)
	}

	constants := regexp.MustCompile(`(?m)^\tCode\w+ +Code = "([a-z-]+)"`).FindAllSubmatch(text, -1)
	for _, c := range constants {
		if !seen[lifecycle.Code(c[1])] {
			t.Errorf("code %s has no row", c[1])
		}
	}

	if len(constants) != len(seen) {
		t.Errorf("%d constants for %d rows", len(constants), len(seen))
	}

	if m := lifecycle.Code("tomorrow").Meaning(); m != (lifecycle.Meaning{Code: "tomorrow"}) {
		t.Errorf("a code that is none has the row %+v", m)
	}
}

// answer writes the projection and the verdict as the vectors do.
func (s scenario) answer() []string {
	projection, why := s.rules.Label(s.facts)
	show := "show " + projection.State.String()
	if projection.Keep {
		show = "keep"
	}

	out := []string{signed(signed(show, "+", projection.Set), "-", projection.Clear) + "  # " + why}
	if c := s.rules.Scheme.Change(s.facts.Labels, projection); !c.Empty() {
		out = append(out, signed(signed("change", "+", c.Add), "-", c.Remove))
	}

	handed, p, delivered := s.rules.Delivered(s.facts)
	if delivered {
		out = append(out, fmt.Sprintf("delivered %s #%d", handed.Record.Worker, p.Number))
	}

	unsure := s.facts.Open || len(s.facts.Missing)+len(s.facts.Doubts) > 0
	for _, c := range s.rules.Over(s.facts) {
		if unsure || !c.Live() || delivered && c.Record.Worker == handed.Record.Worker {
			continue
		}
		out = append(out, fmt.Sprintf("ends %s %s", c.Record.Worker, s.facts.ExpiryOutcome(c)))
	}

	v := s.rules.Verdict(s.facts, s.who)
	verdict := "verdict " + v.Answer.String()
	for _, r := range v.Reasons {
		verdict += " " + reason(r)
	}

	out = append(out, verdict)
	for _, n := range v.Notes {
		out = append(out, "note "+reason(n))
	}

	if slices.Contains(s.asks, "stuck") {
		out = append(out, fmt.Sprintf("stuck %t", s.rules.Stuck(s.facts)))
	}

	if slices.Contains(s.asks, "unlinks") {
		f := s.facts
		f.PRs = slices.Clone(f.PRs)
		for n := range f.PRs {
			f.PRs[n].URL = fmt.Sprintf("https://h/%s/pull/%d", f.PRs[n].Repo, f.PRs[n].Number)
		}

		for _, c := range f.Unlinked() {
			out = append(out, "unlinks "+c.Record.Worker.String())
		}
	}

	if slices.Contains(s.asks, "notices") {
		for _, n := range s.rules.Due(s.facts) {
			out = append(out, fmt.Sprintf("notice %s %s", n.Kind, n.Key))
		}
	}

	return out
}

func signed(line, sign string, names []string) string {
	for _, n := range names {
		line += " " + sign + n
	}
	return line
}

func reason(r lifecycle.Reason) string {
	out := string(r.Code)
	if r.Claim != nil {
		out += ":" + r.Claim.Record.Worker.String()
	}

	if r.PR != nil {
		out += fmt.Sprintf("#%d", r.PR.Number)
	}

	if !r.Until.IsZero() {
		out += "@" + claimtest.Clock(r.Until)
	}

	return out
}
