package prchain_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
	"github.com/label-state/label-state/internal/prchain"
)

func issue(repo string, n int) claim.Issue { return claim.Issue{Owner: "acme", Repo: repo, Number: n} }

func region() prchain.Region {
	return prchain.Region{
		Feature: "retry",
		Parent:  parent,
		Closes:  3,
		Part:    2,
		PRs:     []claim.Issue{issue("lib", 4), issue("app", 12), issue("web", 0)},
	}
}

const regionText = `<!-- label-state:chain feature=retry part=2/3 parent=acme/app#1 closes=3 prs=acme/lib#4,acme/app#12,acme/web#0 -->
Part 2 of 3 of ` + "`retry`" + `, for acme/app#1:

1. acme/lib#4
2. acme/app#12 (this PR)
3. acme/web (not open yet)
<!-- /label-state:chain -->`

func TestRegion(t *testing.T) {
	r := region()
	if got := r.String(); got != regionText {
		t.Errorf("region is\n%s\nwant\n%s", got, regionText)
	}

	r.Part = 3
	if got := r.String(); !strings.HasSuffix(got,
		"3. acme/web (this PR)\n\nCloses acme/app#1\n<!-- /label-state:chain -->") {
		t.Errorf("the closing part's region is\n%s", got)
	}
}

func TestReplaceTable(t *testing.T) {
	other := strings.Replace(regionText, "feature=retry", "feature=other", 1)
	for _, c := range []struct{ name, body, want, err string }{
		{"empty", "", regionText, ""},
		{"text", "Why", "Why\n\n" + regionText, ""},
		{"text with a line end", "Why\n", "Why\n\n" + regionText, ""},
		{"text of another system", "Why\r\n", "Why\r\n\n" + regionText, ""},
		{"up to date", "A\n" + regionText + "\nB", "A\n" + regionText + "\nB", ""},
		{"out of date", "A\n" + strings.Replace(regionText, "lib#4", "lib#0", 1) + "\nB\r\n", "A\n" + regionText +
			"\nB\r\n", ""},
		{"rewritten inside", strings.Replace(regionText, "1. acme/lib#4", "mine", 1), regionText, ""},
		{"no end", beginOf(regionText), "", "damaged"},
		{"no beginning", "A\n<!-- /label-state:chain -->", "", "damaged"},
		{"two", regionText + "\n" + regionText, "", "damaged"},
		{"two ends", regionText + "\n<!-- /label-state:chain -->", "", "damaged"},
		{"the wrong way round", "<!-- /label-state:chain -->\n" + beginOf(regionText), "", "damaged"},
		{"unreadable facts", strings.Replace(regionText, "part=2/3", "part=2/4", 1), "", "damaged"},
		{"another chain", other, "", "part of chain other"},
		{"a mark inside a line is text", "See " + beginOf(regionText), "See " + beginOf(regionText) + "\n\n" +
			regionText, ""},
	} {
		got, err := prchain.Replace(c.body, region())
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, error %v; want %q, error %q", c.name, got, err, c.want, c.err)
		}
	}
}

func beginOf(region string) string {
	line, _, _ := strings.Cut(region, "\n")
	return line
}

// TestReplaceProperty: whatever people write around a region stays, byte for byte, and what was put
// in is found again.
func TestReplaceProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.OneOf(rapid.String(),
			rapid.SampledFrom([]string{"", "\n", "a\r\n", "```\n", "<!-- ", "Closes #2\n", "\x00\xff"}))
		before, after := texts.Draw(t, "before"), texts.Draw(t, "after")
		if before != "" && !strings.HasSuffix(before, "\n") {
			before += "\n"
		}

		if after != "" {
			after = "\n" + after
		}
		old, r := draw(t), region()
		old.Feature, old.Parent = r.Feature, r.Parent
		got, err := prchain.Replace(before+old.String()+after, r)
		if err != nil || got != before+r.String()+after {
			t.Fatalf("%q, %v", got, err)
		}

		found, ok, err := prchain.Find(got)
		if err != nil || !ok || found.String() != r.String() {
			t.Fatalf("found %+v, %v, %v", found, ok, err)
		}

		appended, err := prchain.Replace(before, r)
		if err != nil || !strings.HasPrefix(appended, before) || !strings.HasSuffix(appended, r.String()) {
			t.Fatalf("appended %q, %v", appended, err)
		}
	})
}

func draw(t *rapid.T) prchain.Region {
	r := prchain.Region{
		Feature: rapid.StringMatching(`[a-z0-9][a-z0-9-]{0,20}`).Draw(t, "feature"),
		Parent:  issue("app", rapid.IntRange(1, 1e6).Draw(t, "parent")),
	}
	for n := range rapid.IntRange(1, 6).Draw(t, "parts") {
		r.PRs = append(r.PRs, issue(fmt.Sprint("repo.", n), rapid.IntRange(0, 1e6).Draw(t, "number")))
	}

	r.Part = rapid.IntRange(1, len(r.PRs)).Draw(t, "part")
	r.Closes = rapid.IntRange(0, len(r.PRs)).Draw(t, "closes")
	return r
}

// TestClosesProperty: only the part that is to close the parent has a keyword, and it closes
// nothing else.
func TestClosesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := draw(t)
		if rapid.Bool().Draw(t, "a keyword for a name") {
			r.Feature = rapid.SampledFrom([]string{"fixes", "closes", "resolved"}).Draw(t, "keyword")
		}

		got := closing.InDescription(r.String(), claim.Repo{Owner: "acme", Name: "lib"}, "github.com")
		if r.Part != r.Closes {
			if len(got) > 0 {
				t.Fatalf("part %d closes %v", r.Part, got)
			}
			return
		}

		if len(got) != 1 || !got[0].Same(r.Parent) {
			t.Fatalf("the closing part closes %v", got)
		}
	})
}

func TestFindHostile(t *testing.T) {
	for _, line := range []string{
		"<!-- label-state:chain -->",
		"<!-- label-state:chain feature=retry part=1/1 parent=acme/app#0 closes=1 prs=acme/app#2 -->",
		"<!-- label-state:chain feature=retry part=2/1 parent=acme/app#1 closes=1 prs=acme/app#2 -->",
		"<!-- label-state:chain feature=retry part=0/1 parent=acme/app#1 closes=1 prs=acme/app#2 -->",
		"<!-- label-state:chain feature=../x part=1/1 parent=acme/app#1 closes=1 prs=acme/app#2 -->",
		"<!-- label-state:chain feature=retry part=1/1 parent=acme/app#1 closes=2 prs=acme/app#2 -->",
		"<!-- label-state:chain feature=retry part=1/1 parent=acme/app#1 closes=1 prs=acme/..#2 -->",
		"<!-- label-state:chain feature=retry part=1/1 parent=acme/app#1 closes=1 prs=acme/app#99999999999 -->",
		"<!-- label-state:chain feature=retry part=1/1 parent=acme/app#1 closes=1 prs=acme/app#02 -->",
		"<!-- label-state:chain feature=retry part=1/1 parent=acme/app#1 closes=1 prs=acme/app#2  -->",
	} {
		if _, ok, err := prchain.Find(line + "\n<!-- /label-state:chain -->"); ok ||
			!errors.Is(err, prchain.ErrDamaged) {
			t.Errorf("%s: found %v, error %v", line, ok, err)
		}
	}
}

func TestNames(t *testing.T) {
	lib, app, web := issue("lib", 4), issue("app", 12), issue("web", 9)
	whole := []claim.Issue{lib, app, web}
	at := func(part int, change func(*prchain.Region)) prchain.Region {
		r := region()
		r.Part, r.PRs = part, append([]claim.Issue{}, whole...)
		if change != nil {
			change(&r)
		}
		return r
	}

	for _, c := range []struct {
		name string
		r    prchain.Region // of web
		o    prchain.Region // of lib
		want bool
	}{
		{"both say so", at(3, nil), at(1, nil), true},
		{"the other does not know it yet", at(3, func(r *prchain.Region) { r.PRs[0].Number = 0 }), at(1, nil), true},
		{"another number", at(3, func(r *prchain.Region) { r.PRs[0].Number = 5 }), at(1, nil), false},
		{"another repository's", at(3, func(r *prchain.Region) { r.PRs[0] = issue("x", 0) }), at(1, nil), false},
		{"not listed back", at(3, nil), at(1, func(r *prchain.Region) { r.PRs[2].Number = 8 }), false},
		{"another feature", at(3, func(r *prchain.Region) { r.Feature = "x" }), at(1, nil), false},
		{"another parent", at(3, func(r *prchain.Region) { r.Parent.Number = 2 }), at(1, nil), false},
		{"the same part", at(1, nil), at(1, nil), false},
		{"another part closes", at(3, func(r *prchain.Region) { r.Closes = 1 }), at(1, nil), false},
	} {
		if got := c.r.Names(web, c.o, lib); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestPlanTable(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*prchain.Plan)
		want string
	}{
		{"fine", func(*prchain.Plan) {}, ""},
		{"no feature", func(p *prchain.Plan) { p.Feature = "" }, `feature name ""`},
		{"a path for a feature", func(p *prchain.Plan) { p.Feature = "../../evil" }, "expected a-z, 0-9 and -"},
		{"a flag for a feature", func(p *prchain.Plan) { p.Feature = "-x" }, "beginning with a letter or digit"},
		{"a long feature", func(p *prchain.Plan) { p.Feature = strings.Repeat("a", 64) }, "at most 63"},
		{"no parent", func(p *prchain.Plan) { p.Parent = claim.Issue{} }, "parent"},
		{"a path for a parent", func(p *prchain.Plan) { p.Parent.Repo = ".." }, "parent"},
		{"the longest branch", func(p *prchain.Plan) { p.Parts[0].Branch = strings.Repeat("a", 200) }, ""},
		{"no parts", func(p *prchain.Plan) { p.Parts = nil }, "no pull request"},
		{"too many", func(p *prchain.Plan) { p.Parts = make([]prchain.Part, 51) }, "at most 50"},
		{"closes what is not there", func(p *prchain.Plan) { p.Closes = 4 }, "part 4 is to close"},
		{
			"one twice", func(p *prchain.Plan) { p.Parts[1] = p.Parts[0]; p.Parts[1].Repo = "ACME/lib" },
			"is part 1 already",
		},
		{"no repository", func(p *prchain.Plan) { p.Parts[0].Repo = "lib" }, "expected owner/name"},
		{"a path for a repository", func(p *prchain.Plan) { p.Parts[0].Repo = "acme/.." }, "expected owner/name"},
		{
			"a branch that git refuses", func(p *prchain.Plan) { p.Parts[0].Branch = "a..b" },
			"not a name that git accepts",
		},
		{"a branch that shows as another", func(p *prchain.Plan) { p.Parts[0].Branch = "a\u202eb" }, "not a name that git accepts"},
		{"a flag for a branch", func(p *prchain.Plan) { p.Parts[0].Branch = "--force" }, "not a name that git accepts"},
		{
			"a long branch, which is cut between two characters",
			func(p *prchain.Plan) { p.Parts[0].Branch = "-" + strings.Repeat("ü", 60) },
			`branch "-` + strings.Repeat("ü", 39) + `…": not a name that git accepts`,
		},
		{"a base that git refuses", func(p *prchain.Plan) { p.Parts[1].Base = "a..b" }, `base "a..b": not a name that git accepts`},
		{"onto itself", func(p *prchain.Plan) { p.Parts[1].Base = p.Parts[1].Branch }, "the branch itself"},
		{"a title of two lines", func(p *prchain.Plan) { p.Parts[1].Title = "a\nb" }, "one line"},
		{"an escape in a title", func(p *prchain.Plan) { p.Parts[1].Title = "a\x1b[31m" }, "one line"},
		{"a body with marks", func(p *prchain.Plan) { p.Parts[1].Body = regionText }, "mark the chain's own part"},
		{"a long body", func(p *prchain.Plan) { p.Parts[1].Body = strings.Repeat("a", 60001) }, "60001 bytes"},
	} {
		p := plan()
		c.edit(&p)
		err := p.Check()
		if (err == nil) != (c.want == "") || err != nil && (!wrong(err) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func TestParsePartTable(t *testing.T) {
	for _, c := range []struct {
		text string
		want prchain.Part
		err  string
	}{
		{"acme/lib:fix", prchain.Part{Repo: "acme/lib", Branch: "fix"}, ""},
		{"acme/lib:a/b:main", prchain.Part{Repo: "acme/lib", Branch: "a/b", Base: "main"}, ""},
		{"acme/lib:fix=Retry: a=b", prchain.Part{Repo: "acme/lib", Branch: "fix", Title: "Retry: a=b"}, ""},
		{"acme/lib:fix:main=T", prchain.Part{
			Repo:   "acme/lib",
			Branch: "fix",
			Base:   "main",
			Title:  "T",
		}, ""},
		{"acme/lib", prchain.Part{}, "expected owner/repo:branch"},
		{"acme/lib:fix:", prchain.Part{}, "the base is empty"},
		{"acme/lib:a:b:c", prchain.Part{}, "expected owner/repo:branch"},
		{"https://github.com/acme/lib:fix", prchain.Part{}, "expected owner/name"},
	} {
		got, err := prchain.ParsePart(c.text)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %+v, error %v", c.text, got, err)
		}
	}
}

func TestPlanFile(t *testing.T) {
	data, err := plan().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}

	whole := strings.NewReplacer(`"lucius/`, `"refs/heads/lucius/`, `"main"`, `"refs/heads/main"`).Replace(string(data))
	for _, text := range []string{string(data), whole} {
		got, err := prchain.ReadPlan([]byte(text))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(plan()) {
			t.Errorf("read %+v, error %v", got, err)
		}
	}

	for bad, want := range map[string]string{
		"":                                 "EOF",
		"{}":                               `parent ""`,
		`{"feature": "x", "oops": 1}`:      `unknown field "oops"`,
		string(data) + "{}":                "unexpected data after it",
		`{"feature": "x", "parent": "#1"}`: `parent "#1"`,
	} {
		if _, err := prchain.ReadPlan([]byte(bad)); !wrong(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", bad, err, want)
		}
	}
}

func TestJudgeTable(t *testing.T) {
	for _, c := range []struct {
		states string
		want   prchain.Colour
	}{
		{"", prchain.Pending},
		{"success", prchain.Green},
		{"success neutral skipped", prchain.Green},
		{"success queued", prchain.Pending},
		{"success failure in_progress", prchain.Red},
		{"error", prchain.Red},
		{"cancelled", prchain.Red},
		{"timed_out", prchain.Red},
		{"action_required", prchain.Red},
		{"startup_failure", prchain.Red},
		{"success stale", prchain.Pending},
		{"success waiting", prchain.Pending},
		{"success requested", prchain.Pending},
		{"success pending", prchain.Pending},
		{"success expected", prchain.Pending},
		{"success completed", prchain.Pending},
		{"success something_new", prchain.Pending},
		{"success SUCCESS", prchain.Pending}, // the reader makes it lower case
	} {
		var checks []prchain.Check
		for n, s := range strings.Fields(c.states) {
			checks = append(checks, prchain.Check{Name: fmt.Sprint("check ", n), State: s})
		}

		if got, why := prchain.Judge(checks); got != c.want || why == "" {
			t.Errorf("%s: %s (%s), want %s", c.states, got, why, c.want)
		}
	}

	red := []prchain.Check{{Name: "a", State: "error"}, {Name: "b", State: "error"}, {Name: "c", State: "error"}, {Name: "d", State: "error"}}
	for n, want := range map[int]string{3: "a error, b error, c error", 4: "a error, b error, c error and 1 more"} {
		if _, why := prchain.Judge(red[:n]); why != want {
			t.Errorf("%d red checks: %q, want %q", n, why, want)
		}
	}
}

// A watched is a chain whose checks change with time.
type watched struct {
	start  time.Time
	state  string
	checks func(after time.Duration) ([]prchain.Check, error)
}

func (w watched) ReadPull(_ context.Context, i claim.Issue) (prchain.Pull, error) {
	return prchain.Pull{ID: i, State: w.state, SHA: "abc"}, nil
}

func (w watched) Checks(context.Context, string, string) ([]prchain.Check, error) {
	return w.checks(time.Since(w.start))
}

func TestWait(t *testing.T) {
	build := func(state string) []prchain.Check { return []prchain.Check{{Name: "build", State: state}} }
	offline := errors.New("offline")
	for _, c := range []struct {
		name   string
		state  string
		checks func(time.Duration) ([]prchain.Check, error)
		want   prchain.Colour
		after  time.Duration
		err    error
	}{
		{"green later", prchain.Open, func(d time.Duration) ([]prchain.Check, error) {
			if d < time.Minute {
				return build("in_progress"), nil
			}
			return build("success"), nil
		}, prchain.Green, time.Minute, nil},
		{
			"red at once", prchain.Open, func(time.Duration) ([]prchain.Check, error) { return build("failure"), nil },
			prchain.Red, 0, nil,
		},
		{
			"never", prchain.Open, func(time.Duration) ([]prchain.Check, error) { return build("queued"), nil },
			prchain.Pending, time.Hour, context.DeadlineExceeded,
		},
		{
			"nothing reads as nothing", prchain.Open, func(time.Duration) ([]prchain.Check, error) { return nil, nil },
			prchain.Pending, time.Hour, context.DeadlineExceeded,
		},
		{
			"an error is an error", prchain.Open, func(time.Duration) ([]prchain.Check, error) { return nil, offline },
			prchain.Pending, 0, offline,
		},
		{"the time ends while it looks", prchain.Open, func(d time.Duration) ([]prchain.Check, error) {
			if d == 0 {
				return build("queued"), nil
			}
			time.Sleep(time.Hour)
			return nil, offline
		}, prchain.Pending, time.Hour + 15*time.Second, context.DeadlineExceeded},
		{"green when the time has ended", prchain.Open, func(d time.Duration) ([]prchain.Check, error) {
			if d == 0 {
				return build("queued"), nil
			}
			time.Sleep(time.Hour)
			return build("success"), nil
		}, prchain.Green, 3*time.Hour + 15*time.Second, nil},
		{"merged", prchain.Merged, nil, prchain.Green, 0, nil},
		{"closed by hand", prchain.Closed, nil, prchain.Red, 0, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			s := prchain.State{Plan: plan(), Parts: []prchain.Progress{{Number: 1}, {Number: 2}, {Number: 3}}}
			load := func() (prchain.State, error) { return s, nil }
			r, err := prchain.Wait(ctx, watched{start, c.state, c.checks}, load, 15*time.Second)
			if !errors.Is(err, c.err) || err == nil && r.Colour() != c.want || time.Since(start) != c.after {
				t.Errorf("%s: %s after %s, error %v", c.name, r.Colour(), time.Since(start), err)
			}

			if c.err == offline && !strings.HasPrefix(err.Error(), "look at part 1 of 3: ") {
				t.Errorf("%s: error %v", c.name, err)
			}

			if errors.Is(err, context.DeadlineExceeded) && len(r.Parts) != 3 {
				t.Errorf("%s: what was seen last is %+v", c.name, r.Parts)
			}
		})
	}
}

// TestWaitForParts: a part that is opened meanwhile is looked at, and a state that cannot be read
// ends the wait.
func TestWaitForParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone, looks := errors.New("gone"), 0
		load := func() (prchain.State, error) {
			looks++
			s := prchain.State{
				Plan:  plan(),
				Parts: []prchain.Progress{{Number: 1}, {Number: 2}, {Number: max(0, looks-2)}},
			}
			return s, nil
		}

		w := watched{state: prchain.Merged}
		if r, err := prchain.Wait(t.Context(), w, load, time.Second); err != nil || r.Colour() != prchain.Green ||
			looks != 3 {
			t.Errorf("%s after %d looks, error %v", r.Colour(), looks, err)
		}

		if _, err := prchain.Wait(t.Context(), w, func() (prchain.State, error) { return prchain.State{}, gone },
			time.Second); !errors.Is(err, gone) {
			t.Errorf("error %v, want %v", err, gone)
		}
	})
}

// TestNotOpenYet: a part without its pull request keeps a chain from being green, and a later one
// that is red is not waited for.
func TestNotOpenYet(t *testing.T) {
	s := prchain.State{Plan: plan(), Parts: []prchain.Progress{{}, {Number: 2}, {Number: 3}}}
	for state, want := range map[string]prchain.Colour{prchain.Merged: prchain.Pending, prchain.Closed: prchain.Red} {
		r, err := prchain.Look(t.Context(), watched{state: state}, s)
		if err != nil || r.Colour() != want {
			t.Errorf("%s: %s, want %s, error %v", state, r.Colour(), want, err)
		}
	}
}

// wrong reports whether an error is a wrong call.
func wrong(err error) bool {
	p, is := errors.AsType[*answer.Problem](err)
	return is && p.Code == answer.Usage
}
