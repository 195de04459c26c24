package dedup

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/lifecycle"
)

func at(hour, minute int) time.Time { return time.Date(2026, 5, 1, hour, minute, 0, 0, time.UTC) }

func held(w claim.Worker, since time.Time) lifecycle.Reason {
	c := claim.Claim{
		Record:  claim.Record{Worker: w, TTL: 4 * time.Hour, Held: true},
		Author:  "bot",
		Created: since,
		Updated: since,
		URL:     "https://github.com/acme/app/issues/42#issuecomment-991",
	}

	return lifecycle.Reason{
		Code:  lifecycle.CodeInFlight,
		Text:  "held by lucius",
		URL:   c.URL,
		Claim: &c,
		Until: since.Add(4 * time.Hour),
	}
}

// refusal is the one that HOOK shows.
func refusal() Refusal {
	return Refusal{
		Named: Named{
			Issue:   issue42,
			Commits: []Commit{{"3f2c91a08d4b1c5e7f90a1b2c3d4e5f60718293a", "Retry uploads"}},
		},
		Title: "Retry the upload on 503",
		URL:   "https://github.com/acme/app/issues/42",
		Reasons: []lifecycle.Reason{held(claim.Worker{Codename: "lucius", FiringID: "20260501-194217-643a"},
			at(14, 5))},
		Terms: claim.DefaultTerms(),
		Now:   fourPM,
	}
}

func open57() lifecycle.Reason {
	p := lifecycle.PR{
		Repo:   "acme/app",
		Number: 57,
		Title:  "Retry",
		Author: "bot",
		Head:   "agent/retry",
		URL:    "https://github.com/acme/app/pull/57",
		State:  lifecycle.PROpened,
	}

	return lifecycle.Reason{
		Code: lifecycle.CodePROpen,
		Text: "pull request acme/app#57 is open for it",
		URL:  p.URL,
		PR:   &p,
	}
}

// several has everything that a report can say.
func several() Report {
	lost := refusal()
	lost.Reasons[0].Claim.Created = at(14, 5).Add(-24 * time.Hour)
	own := *held(claim.Worker{Codename: "drake", FiringID: "d1"}, at(9, 0)).Claim
	own.End = &claim.Release{Outcome: claim.OutcomeStaleSwept, By: "sweep-1", At: at(13, 30)}
	lost.Lost = &own
	lost.Reasons = append(lost.Reasons, open57())

	pull := refusal()
	pull.Issue = claim.Issue{Owner: "acme", Repo: "web", Number: 7}
	pull.Reasons = []lifecycle.Reason{open57()}
	pull.Commits = slices.Repeat(pull.Commits, 5)
	pull.Guess = true

	return Report{
		Home:     "Acme/App",
		Refusals: []Refusal{lost, pull},
		Notes: []Note{
			{Issue: issue42, Text: "labelled agent:pr-open, but no open pull request closes it", URL: pull.URL},
			{Text: "about no issue"},
		},
		Unknown: []Unchecked{
			{claim.Issue{Owner: "acme", Repo: "app", Number: 8}, "offline"},
			{claim.Issue{Owner: "acme", Repo: "app", Number: 9}, "no token"},
			{claim.Issue{Owner: "acme", Repo: "app", Number: 10}, "bad gateway"},
			{claim.Issue{Owner: "acme", Repo: "app", Number: 11}, "no token"},
		},
	}
}

// holders is an issue with every kind of holder and pull request that a reason can name.
func holders() Report {
	r := refusal()
	r.Reasons = nil
	for _, change := range []func(*lifecycle.Reason){
		func(h *lifecycle.Reason) { h.Claim.Person = "ann" },
		func(h *lifecycle.Reason) { h.Claim.Record.Held, h.Claim.Created = false, time.Time{} },
		func(h *lifecycle.Reason) { h.Until = time.Time{} },
		func(h *lifecycle.Reason) { h.Claim.Plan = &claim.Plan{} },
		func(h *lifecycle.Reason) { *h = open57(); h.PR.Draft, h.PR.Author, h.PR.Head = true, "", "" },
	} {
		one := held(claim.Worker{Codename: "lucius", FiringID: "l1"}, at(14, 5))
		change(&one)
		r.Reasons = append(r.Reasons, one)
	}

	return Report{Home: "acme/app", Refusals: []Refusal{r}}
}

// pulls is a push of two branches whose pull requests somebody else holds, and of a commit that
// closes an issue.
func pulls() Report {
	one, two := refusal(), refusal()
	one.Named = Named{Issue: claim.Issue{Owner: "acme", Repo: "app", Number: 57}, Branch: "agent/retry"}
	two.Named = Named{Issue: claim.Issue{Owner: "acme", Repo: "app", Number: 58}, Branch: "agent/\x1b[31mred"}
	two.Reasons[0].URL = "http://github.example/acme/app/issues/58"
	return Report{Home: "acme/app", Refusals: []Refusal{refusal(), one, two}}
}

func TestText(t *testing.T) {
	for name, r := range map[string]Report{
		"refused.txt":  {Home: "acme/app", Refusals: []Refusal{refusal()}},
		"pulls.txt":    pulls(),
		"holders.txt":  holders(),
		"open.txt":     {Home: "acme/web", Refusals: several().Refusals[1:]},
		"several.txt":  several(),
		"allowed.txt":  {Home: "acme/app", Unknown: []Unchecked{{issue42, "offline"}}},
		"careful.txt":  {Home: "acme/app", Policy: Refuse, Unknown: []Unchecked{{issue42, "offline"}}},
		"careful2.txt": {Policy: Refuse, Unknown: []Unchecked{{Reason: "no token"}}},
	} {
		t.Run(name, func(t *testing.T) { golden.Check(t, "testdata/"+name, Text(r, Style{})) })
	}
}

func TestTextInColor(t *testing.T) {
	golden.Check(t, "testdata/color.txt", Text(several(), Style{Color: true}))
}

func TestJSON(t *testing.T) {
	var indented strings.Builder
	var any map[string]any
	text := JSON(several())
	if err := json.Unmarshal([]byte(text), &any); err != nil || strings.Count(text, "\n") != 1 {
		t.Fatalf("want one object on one line (%v):\n%s", err, text)
	}

	e := json.NewEncoder(&indented)
	e.SetIndent("", "  ")
	if err := e.Encode(any); err != nil {
		t.Fatal(err)
	}

	golden.Check(t, "testdata/several.json", indented.String())
}

// TestTakeOver: text and JSON offer the same, and only where a worker holds it whose issue the
// pusher may claim.
func TestTakeOver(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Refusal)
		want   bool
	}{
		"a worker's":        {func(*Refusal) {}, true},
		"a person's":        {func(r *Refusal) { r.Reasons[0].Claim.Person = "ann" }, false},
		"without roles":     {func(r *Refusal) { r.Guess = true }, false},
		"an open PR":        {func(r *Refusal) { r.Reasons = []lifecycle.Reason{open57()} }, false},
		"a worker's and PR": {func(r *Refusal) { r.Reasons = append(r.Reasons, open57()) }, true},
	} {
		one := refusal()
		c.change(&one)
		r := Report{Home: "acme/app", Refusals: []Refusal{one}}
		text := strings.Contains(Text(r, Style{}), "take it over (label-state claim acme/app#42 --force)")
		object := strings.Contains(JSON(r), `"take_over":"label-state claim acme/app#42 --force"`)
		if text != c.want || object != c.want {
			t.Errorf("%s: the text offers it %t, the JSON %t, want %t", name, text, object, c.want)
		}
	}
}

func TestSilence(t *testing.T) {
	if got := Text(Report{Home: "acme/app"}, Style{Color: true}) + JSON(Report{}); got != "" {
		t.Errorf("an empty report says %q", got)
	}
}

func TestStops(t *testing.T) {
	unknown := []Unchecked{{issue42, "offline"}}
	for _, c := range []struct {
		name string
		r    Report
		want bool
	}{
		{"nothing", Report{Policy: Refuse}, false},
		{"note", Report{Policy: Refuse, Notes: []Note{{Text: "x"}}}, false},
		{"unknown", Report{Unknown: unknown}, false},
		{"unknown, careful", Report{Unknown: unknown, Policy: Refuse}, true},
		{"refusal", Report{Refusals: []Refusal{refusal()}}, true},
	} {
		if got := c.r.Stops(); got != c.want {
			t.Errorf("%s: Stops = %t, want %t", c.name, got, c.want)
		}
	}
}

func TestManyIssues(t *testing.T) {
	r := Report{Home: "acme/app", Refusals: slices.Repeat([]Refusal{refusal()}, 500)}
	got := Text(r, Style{})
	if !strings.Contains(got, "push refused, 500 issues are someone else's work") ||
		!strings.Contains(got, "\n  and 480 more\n") {
		t.Errorf("the count is missing:\n%s", got)
	}

	r.Refusals = r.Refusals[:mostIssues]
	if strings.Contains(Text(r, Style{}), " more\n") {
		t.Error("it leaves issues out of as many as it shows")
	}

	if n := strings.Count(got, "\n"); n > 150 {
		t.Errorf("%d lines", n)
	}
}

// TestOthersText puts hostile text everywhere: what comes out has no control character, no
// overlong line, and no line that does not begin as ours do.
func TestOthersText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hostile := rapid.OneOf(
			rapid.String(),
			rapid.SampledFrom([]string{
				"\x1b[31mred\x1b]0;title\a", "a\r\n::set-output name=x::y", "\u202egnp.exe", "\u0085next\u2028line",
				"\xff\xfe\x00",
				strings.Repeat("x", 1<<20), strings.Repeat("\u0301", 5000), "##[command]rm",
			}),
		)
		r := several()
		lost, pull := &r.Refusals[0], &r.Refusals[1]
		lost.Title, lost.Commits[0].Subject, lost.Lost.End.Outcome, lost.Lost.End.By = hostile.Draw(t,
			"title"), hostile.Draw(t, "subject"), hostile.Draw(t, "outcome"), hostile.Draw(t, "by")
		lost.Reasons[0].Claim.Record.Worker = claim.Worker{
			Codename: hostile.Draw(t, "codename"),
			FiringID: hostile.Draw(t, "firing"),
		}
		lost.Reasons[0].URL, pull.Reasons[0].PR.Head, pull.Reasons[0].PR.Author = hostile.Draw(t,
			"url"), hostile.Draw(t, "head"), hostile.Draw(t, "author")
		r.Notes[0].Text, r.Unknown[0].Reason = hostile.Draw(t, "note"), hostile.Draw(t, "reason")

		for line := range strings.SplitSeq(strings.TrimSuffix(Text(r, Style{}), "\n"), "\n") {
			checkLine(t, line)
			if n := utf8.RuneCountInString(line); n > 400 {
				t.Fatalf("a line of %d characters", n)
			}
		}

		var any map[string]any
		text := JSON(r)
		if err := json.Unmarshal([]byte(text), &any); err != nil || len(text) > 64<<10 {
			t.Fatalf("%d bytes of JSON: %v", len(text), err)
		}

		checkLine(t, "    "+strings.TrimSuffix(text, "\n"))
	})
}

func checkLine(t *rapid.T, line string) {
	if line != "" && !strings.HasPrefix(line, "label-state: ") && !strings.HasPrefix(line, "  ") {
		t.Fatalf("line %q is not ours", line)
	}

	if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		t.Fatalf("line %q has a control character at %d", line, i)
	}

	if body := strings.TrimSpace(line); strings.HasPrefix(body, "::") || strings.HasPrefix(body, "##[") {
		t.Fatalf("line %q is a workflow command", line)
	}
}

func TestName(t *testing.T) {
	message := func(oid, text string) Message { return Message{Commit: Commit{oid, "subject of " + oid}, Text: text} }
	home := claim.Repo{Owner: "acme", Name: "app"}
	got := Name([]Message{
		message("c1", "Fixes #9\n\nCloses #7, closes acme/web#1"),
		message("c2", "nothing"),
		message("c3", "closes ACME/App#9, closes Acme/Web#1 and resolves https://github.com/acme/app/issues/9"),
	}, home, "github.com")
	var lines []string
	for _, n := range got {
		line := n.Issue.String()
		for _, c := range n.Commits {
			line += " " + c.OID
		}
		lines = append(lines, line)
	}

	want := []string{"acme/app#7 c1", "acme/app#9 c1 c3", "acme/web#1 c1 c3"}
	if !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
}
