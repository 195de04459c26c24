package action

import (
	"bytes"
	"errors"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sethvargo/go-githubactions"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// evil is the worst that people have written so far.
var evil = []string{
	"", " ", "Retry the upload", "::set-output name=x::y", "  ::error::owned", "\u00a0::error::owned",
	"a\n::error::owned", "a\r::error::owned",
	"##[error]owned", "x ##[command]y", "##\x00[error]", "#\u200b#[error]", "\x1b[31mred\x1b[0m",
	"<img src=x onerror=y>", "<!-- hidden", "--> shown",
	"@everyone", "a@b.example", "#7", "GH-7", "www.evil.example", "https://evil.example", "[x](javascript:y)",
	"![x](y)", "`a` ``b``", "a | b", "a \\| b",
	"- item", "1. item", "12) item", "+ item", "=====", "# head", "> quote", "*b* _i_ ~s~ $m$", "&lt;b&gt;", "a&b",
	"\xff\xfe", "\u202eright to left", "\u2028line",
	"EOF\nswept=9", "label-state-0000000100000002", "<!-- agent-claim:codename=x firing_id=y -->",
	strings.Repeat("long ", 20000),
}

func seeds(f *testing.F) {
	for _, s := range evil {
		f.Add(s)
	}
}

// isCommand is how the runner finds a command in a line of a log (its ActionCommand and
// OutputManager).
func isCommand(line string) bool {
	return strings.HasPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::") || strings.Contains(line, "##[")
}

// FuzzLine: no text is a command, or more than a line, in the log.
func FuzzLine(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		var log bytes.Buffer
		c := NewConsole(githubactions.New(githubactions.WithWriter(&log)), &log)
		c.line("%s", text)
		c.line("acme/app#1: %s", text)
		lines := strings.SplitAfter(log.String(), "\n")
		if len(lines) != 3 || lines[2] != "" {
			t.Fatalf("lines: %q", lines)
		}

		for _, l := range lines {
			if isCommand(l) || strings.ContainsFunc(strings.TrimSuffix(l, "\n"),
				func(r rune) bool { return !unicode.IsPrint(r) && r != '\u200b' }) {
				t.Errorf("line: %q", l)
			}
		}

		log.Reset()
		if n, err := c.Write([]byte(text + "\r\n  shown\n")); n != len(text)+10 || err != nil {
			t.Errorf("wrote %d bytes: %v", n, err)
		}
		if !strings.HasSuffix("\n"+log.String(), "\n  shown\n") || strings.Contains(log.String(), "\r") {
			t.Errorf("log: %q", log.String())
		}

		c.fail("%s", text)
		c.group(text, []string{text})

		for _, l := range strings.Split(strings.TrimSuffix(log.String(), "\n"), "\n") {
			ours := slices.ContainsFunc([]string{"::error::", "::group::", "::endgroup::"},
				func(p string) bool { return strings.HasPrefix(l, p) })
			if isCommand(l) && !ours || strings.Contains(l, "##[") {
				t.Errorf("line: %q", l)
			}
		}
	})
}

var mention = regexp.MustCompile(`[@#][A-Za-z0-9]|(?i)www\.[a-z0-9]|gh-\d`)

// FuzzMarkdown: text shows as what it is and is nothing else, wherever on a line it stands.
func FuzzMarkdown(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		got := markdown(text)
		bare := entity.ReplaceAllString(got, "\x01")
		if strings.ContainsAny(bare, "\\`*_{}[]()<>!|~&$:\n\r\t") || mention.MatchString(bare) ||
			listMark.MatchString(bare) {
			t.Errorf("%q becomes %q", text, got)
		}

		shown := strings.ReplaceAll(html.UnescapeString(got), unseen, "")
		if want := strings.ReplaceAll(plain(printable.Short(text, cellLimit)), unseen, ""); shown != want {
			t.Errorf("%q shows as %q, want %q", text, shown, want)
		}
	})
}

// FuzzLink: only a plain web address becomes a link.
func FuzzLink(f *testing.F) {
	for _, s := range append(evil, "https://github.com/acme/app/issues/1#issuecomment-7",
		"http://127.0.0.1:8080/a?b=c&d=%20") {
		f.Add(s, s)
	}

	shape := regexp.MustCompile(`^\[[^\[\]]*\]\(https?://[^\s()<>"'\\|` + "`" + `]+\)$`)
	f.Fuzz(func(t *testing.T, text, url string) {
		if got := link(text, url); got != markdown(text) && !shape.MatchString(got) {
			t.Errorf("link %q", got)
		}
	})
}

// parseOutputs reads an output file as the runner does.
func parseOutputs(t *testing.T, text string) map[string]string {
	out := map[string]string{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for n := 0; n < len(lines); n++ {
		name, end, heredoc := strings.Cut(lines[n], "<<")
		if !heredoc || strings.Contains(name, "=") {
			t.Fatalf("line %q", lines[n])
		}

		var value []string
		for n++; n < len(lines) && lines[n] != end; n++ {
			value = append(value, lines[n])
		}

		out[name] = strings.Join(value, "\n")
	}

	return out
}

// FuzzOutputs: no value ends its own block and starts another output.
func FuzzOutputs(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		var file, summary bytes.Buffer
		words := 0
		s := &Step{
			Output: &file, Summary: &summary,
			Word: func() string { words++; return "1234567" + string(rune('0'+words)) },
		}
		r := forged(text)
		if err := s.writeOutputs(r); err != nil {
			if strings.Contains(text, "1234567") {
				return // and then nothing was written
			}
			t.Fatal(err)
		}

		out := parseOutputs(t, file.String())
		if len(out) != 9 || out["swept"] != "1" || out["examined"] != "3" || out["incomplete"] != "true" {
			t.Errorf("outputs: %q", out)
		}
	})
}

// forged is a result with the text wherever other people's text goes.
func forged(text string) result {
	i := claim.Issue{Owner: "acme", Repo: "app", Number: 1}
	c := claim.Claim{
		Record: claim.Record{Worker: claim.Worker{Codename: text, FiringID: text}}, URL: text,
		Updated: time.Unix(0, 0),
	}
	person := c
	person.Person = text
	reason := lifecycle.Reason{
		Code:  lifecycle.CodeInFlight,
		Text:  text,
		URL:   text,
		Claim: &c,
	}

	return result{
		mode:   modeSweep,
		left:   []string{text},
		notes:  []string{text},
		labels: []neededLabel{{repo: claim.Repo{Owner: "acme", Name: "app"}, name: text, status: text}},
		refused: []refusal{
			{pull: "acme/app#2", issue: lifecycle.Facts{Issue: i, Title: text, URL: text}, reason: reason},
			{
				pull:   "acme/app#2",
				issue:  lifecycle.Facts{Issue: i, Title: text, URL: text},
				reason: reason,
				lands:  true,
			},
		},
		unjudged: []unjudged{{text, errors.New(text), text}},
		proposed: &config.Error{
			File:    text,
			Path:    text,
			Problem: text,
			Allowed: text,
			More:    []*config.Error{{File: text, Problem: text}},
		},
		report: ledger.Report{
			Examined: []claim.Issue{i, i, i},
			Lanes:    map[claim.Issue]lifecycle.Lane{i: lifecycle.LaneInFlight},
			Skipped:  []string{text},
			Holds: []ledger.Aged{{
				Issue: i,
				Title: text,
				URL:   text,
				Claim: c,
				Late:  true,
			}, {Issue: i, Title: text, URL: text, Claim: person}},
			Waiting:      []ledger.Strand{{Issue: i, Title: text, URL: text, Why: text}},
			Stranded:     []ledger.Strand{{Issue: i, Title: text, URL: text, Why: text}},
			Unshown:      []ledger.Unshown{{Issue: i, Comments: 2}},
			Minimized:    2,
			NotMinimized: errors.New(text),
			Failed:       1,
			Findings: []ledger.Finding{{
				Repair: ledger.Repair{
					Issue: i, Title: text, URL: text, Was: []string{text}, Is: []string{text},
					Why: text,
				},
				Ended: []claim.Claim{c}, Swept: 1,
			}, {
				Repair: ledger.Repair{Issue: i, Title: text, URL: text, Was: []string{text}, Is: []string{text}},
				Err:    errors.New(text),
			}},
		},
	}
}

var (
	ourLine = regexp.MustCompile(`^(## label-state: sweep|### [A-Z][a-z :A-Z]+|\*\*3\*\* examined .*|\| .* \||\| --- .*|-{0}- .*|` +
		"Minimized 2 comments of ended holds\\.|Comments of ended holds stay as they are: .*|```mermaid|```|pie showData|  \"in flight\" : 1|%%.*%%|)$")
	codeSpan = regexp.MustCompile("`[^`]*`")
	ourLink  = regexp.MustCompile(`\[[^\[\]]*\]\([^()\s]*\)`)
	entity   = regexp.MustCompile(`&#\d+;`)
)

// FuzzSummary: the summary has our lines only, its tables their columns, and no markup but ours.
func FuzzSummary(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		var out bytes.Buffer
		s := &Step{Summary: &out}
		if err := s.writeSummary(forged(text)); err != nil {
			t.Fatal(err)
		}

		columns := 0
		for _, l := range strings.Split(out.String(), "\n") {
			if !ourLine.MatchString(l) {
				t.Errorf("line %q", l)
			}
			bare := ourLink.ReplaceAllString(entity.ReplaceAllString(codeSpan.ReplaceAllString(l, "c"), "e"), "l")
			if n := strings.Count(bare, "|"); n > 0 {
				if columns == 0 {
					columns = n
				}
				if n != columns {
					t.Errorf("%d bars, want %d: %q", n, columns, l)
				}
			} else {
				columns = 0
			}

			if !strings.HasPrefix(l, "```") && strings.ContainsAny(bare, "<>`[]") {
				t.Errorf("markup in %q", l)
			}
		}

		if !utf8.ValidString(out.String()) || out.Len() > 1<<20 {
			t.Errorf("%d bytes", out.Len())
		}
	})
}

// TestSummaryFits: three thousand changes stay under the runner's megabyte, and say that there are
// more.
func TestSummaryFits(t *testing.T) {
	r := forged(strings.Repeat("<long> & \"wide\" | ", 14))
	r.report.Findings = slices.Repeat(r.report.Findings, 3000)
	r.report.Skipped = slices.Repeat(r.report.Skipped, 3000)
	var summary, output bytes.Buffer
	s := &Step{Summary: &summary, Output: &output, Word: func() string { return "0badcafe" }}
	if err := errors.Join(s.writeSummary(r), s.writeOutputs(r)); err != nil {
		t.Fatal(err)
	}

	if n := summary.Len(); n > 1<<20 || n < 800<<10 ||
		!strings.Contains(summary.String(), "### Not examined\n\n- and 3000 more; the log has them all\n") {
		t.Errorf("summary of %d bytes", n)
	}

	if n := output.Len(); n > 1<<20 || n < 500<<10 {
		t.Errorf("outputs of %d bytes", n)
	}
}

// FuzzComments: what the Action writes under issues and pull requests is never a record, mentions
// nobody, and fits.
func FuzzComments(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, body := range []string{
			guardComment(slices.Repeat(forged(text).refused, 60), nil, ""),
			guardComment(nil, slices.Repeat(forged(text).refused, 60), ""), replyBody(replyMark(7), "/reject", "olga",
				no{text}),
		} {
			if _, ok, err := claim.Decode(body); ok || err != nil {
				t.Errorf("a record: %v, %q", err, body)
			}

			if !strings.HasPrefix(body, "<!-- label-state:") || strings.Count(body, "<!--") != 1 ||
				mention.MatchString(entity.ReplaceAllString(ourLink.ReplaceAllString(body, ""), "e")) {
				t.Errorf("comment: %q", body)
			}

			if utf8.RuneCountInString(body) > 65536 {
				t.Errorf("%d characters", utf8.RuneCountInString(body))
			}
		}
	})
}

// FuzzCommand: a command is one of ours with a short, plain text, and never a record.
func FuzzCommand(f *testing.F) {
	for _, s := range append(evil, "/claim", "/reject no\nway", " /hold", "/approve\u2028x", "/claimant", "//claim",
		"\ufeff/claim") {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, body string) {
		c, ok := parseCommand(body)
		_, record, _ := claim.Decode(body)
		switch {
		case !ok:
			return
		case record:
			t.Errorf("record and command: %q", body)
		case c.do == nil:
			t.Errorf("verb %q", c.name)
		case c.text != plain(c.text) || utf8.RuneCountInString(c.text) > wordsLimit:
			t.Errorf("text %q", c.text)
		}

		r := claim.Record{
			Kind: claim.KindReject, Worker: claim.Worker{Codename: "a", FiringID: "b"}, By: "olga",
			Reason: c.text,
		}
		if _, err := claim.Encode(r); err != nil {
			t.Errorf("reason %q: %v", c.text, err)
		}
	})
}

// TestRefusalsThatFit: a comment of the guard lists fifty issues and says how many more there are.
func TestRefusalsThatFit(t *testing.T) {
	for n, more := range map[int]string{50: "", 51: "- and 1 more\n", 60: "- and 10 more\n"} {
		refusals := slices.Repeat(forged("x").refused[:1], n)
		for kind, text := range map[string]string{
			"held":      guardComment(refusals, nil, ""),
			"unclaimed": guardComment(nil, refusals, ""),
		} {
			if listed := strings.Count(text, "\n- acme"); listed != 50 || strings.Contains(text, " more\n") != (more != "") ||
				!strings.Contains(text, more) {
				t.Errorf("%d that are %s: %d are listed:\n%s", n, kind, listed, text)
			}
		}
	}
}
