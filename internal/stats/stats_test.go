package stats_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/stats"
)

var (
	to   = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	from = to.AddDate(0, 0, -10)
)

// snapshot makes an open issue from lines "HOURS-AGO KIND WORKER [OUTCOME [PR]]", where a success has
// a pull request unless that is "none", and pull requests
// merged so many hours ago from lines "HOURS-AGO merged".
func snapshot(t interface{ Fatal(...any) }, number int, lines ...string) lifecycle.Facts {
	f := lifecycle.Facts{Issue: claim.Issue{Owner: "acme", Repo: "app", Number: number}, Open: true, Now: to}
	var comments []claim.Comment
	for n, line := range lines {
		words := append(strings.Fields(line), "", "", "", "")
		ago, err := time.ParseDuration(words[0] + "h")
		if err != nil {
			t.Fatal(err)
		}

		at := to.Add(-ago)
		if words[1] == "merged" {
			f.PRs = append(f.PRs, lifecycle.PR{
				Repo:        "acme/app",
				Number:      100 + number,
				State:       lifecycle.PRMerged,
				MergedAt:    at,
				ClosedAt:    at,
				DefaultBase: true,
				Chain:       words[2],
			})
			f.Open = false
			continue
		}

		if words[1] == "closed" {
			f.PRs = append(f.PRs, lifecycle.PR{
				Repo:        "acme/app",
				Number:      200 + number,
				State:       lifecycle.PRClosed,
				ClosedAt:    at,
				DefaultBase: true,
			})
			continue
		}
		if words[1] == "ready" {
			f.ReadyAt = at
			continue
		}

		r := claim.Record{
			Kind:   claim.Kind(words[1]),
			Worker: claim.Worker{Codename: words[2], FiringID: fmt.Sprint("r", number)}, Outcome: words[3], PR: words[4],
		}
		if r.Kind == claim.KindClaim {
			r.Nonce, r.Held = "n", words[3] == ""
			r.Outcome = ""
		}
		author := "agents"
		if words[2] == "olga" { // a person
			author = "olga"
			if r.Kind == claim.KindClaim {
				r.Person, r.TTL = author, claim.NoExpiry
			}
		}

		if r.Kind == claim.KindApprove {
			r.By = "olga"
		}

		switch {
		case r.PR == "none":
			r.PR = ""
		case r.Outcome == claim.OutcomeSuccess:
			r.PR = "https://github.com/acme/app/pull/100"
		}
		body, err := claim.Encode(r)
		if err != nil {
			t.Fatal(err)
		}

		comments = append(comments, claim.Comment{
			ID:      int64(n + 1),
			Created: at,
			Updated: at,
			Author:  author,
			Trusted: true,
			Body:    body,
		})
	}

	f.Log = claim.Replay(comments)
	return f
}

func sample(t *testing.T) []lifecycle.Facts {
	t.Helper()
	return []lifecycle.Facts{
		snapshot(t, 1, "200 claim lucius", "199 release lucius success", "180 merged"),
		snapshot(t, 2, "150 claim lucius", "150 claim drake asked", "149.9 release drake race-yielded-to=lucius:r2",
			"148 release lucius failure", "120 claim drake", "118 release drake success", "100 merged"),
		snapshot(t, 3, "90 claim vera", "80 release vera stale-swept"),
		snapshot(t, 4, "70 claim lucius", "69 plan lucius", "60 approve lucius", "50 release lucius success"),
		snapshot(t, 5, "30 claim drake", "28 release drake forced"),
		snapshot(t, 6, "20 claim vera", "19 release vera cancelled"),
		snapshot(t, 7, "3 claim lucius"),
		snapshot(t, 8, "9 claim <b>&amp;\u202e", "8 release <b>&amp;\u202e already-implemented"),
		snapshot(t, 9, "400 claim lucius", "390 release lucius success"),
	}
}

func TestText(t *testing.T) {
	golden.Check(t, "testdata/stats.txt", stats.Of(sample(t), from, to).Text("acme/app", 0))
	golden.Check(t, "testdata/nothing.txt", stats.Of(nil, from, to).Text("acme/app", 0))
}

// compared is the sample with issues that were done twice, a person's, and some in the time before.
func compared(t *testing.T) []lifecycle.Facts {
	person := snapshot(t, 20, "60 ready")
	body, err := claim.Encode(claim.Record{
		Kind:   claim.KindClaim,
		Worker: claim.Worker{Codename: "olga", FiringID: "p1"},
		Nonce:  "n",
		Held:   true,
		Person: "olga",
		TTL:    claim.NoExpiry,
	})
	if err != nil {
		t.Fatal(err)
	}
	at := to.Add(-50 * time.Hour)
	person.Log = claim.Replay([]claim.Comment{{
		ID:      1,
		Created: at,
		Updated: at,
		Author:  "olga",
		Trusted: true,
		Body:    body,
	}})

	person.PRs = []lifecycle.PR{{
		Repo:        "acme/app",
		Number:      120,
		State:       lifecycle.PRMerged,
		MergedAt:    to.Add(-40 * time.Hour),
		DefaultBase: true,
	}}

	return append(sample(t), person,
		snapshot(t, 21, "110 ready", "100 claim lucius", "99 release lucius success", "95 closed", "90 merged"), // twice
		snapshot(t, 22, "80 claim drake", "70 merged x", "69 merged x"),                                         // one chain
		snapshot(t, 23, "300 closed", "260 merged"),                                                             // twice, before
		snapshot(t, 24, "300 closed", "100 closed"),                                                             // the second one now
		snapshot(t, 25, "60 release vera race-yielded-to=drake:r25", "61 claim drake"),                          // turned into its own end
		snapshot(t, 26, "420 ready", "400 claim drake", "395 release drake success", "390 merged"),
	)
}

// TestDeliverer: the last hold that began before the merge delivered it; neither a later one nor a claim that was
// never confirmed did.
func TestDeliverer(t *testing.T) {
	one := snapshot(t, 1, "60 claim drake", "55 release drake success", "50 claim lucius asked", "49 merged", "49 claim vera")
	merges := stats.Compared([]lifecycle.Facts{one}, from, to).Merges
	if len(merges) != 2 || merges[1].Who != "drake" {
		t.Errorf("%+v, want everybody and drake", merges)
	}

	at := snapshot(t, 2, "5 ready", "5 merged")
	if merges := stats.Of([]lifecycle.Facts{at}, from, to).Merges; len(merges) != 1 || merges[0].Median != 0 {
		t.Errorf("merged in the moment in which it was ready: %+v", merges)
	}
	again := snapshot(t, 3, "20 merged", "10 ready", "5 merged")
	if merges := stats.Of([]lifecycle.Facts{again}, from, to).Merges; len(merges) != 1 || merges[0].Median != stats.Length(5*time.Hour) {
		t.Errorf("ready again after a merge: %+v", merges)
	}
	twice := snapshot(t, 6, "12 claim drake asked", "10 claim lucius", "5 merged", "7 merged", "6 merged")
	if merges := stats.Of([]lifecycle.Facts{twice}, from, to).Merges; merges[0].Median != stats.Length(3*time.Hour) {
		t.Errorf("held since ten hours ago, and merged seven hours ago first: %+v", merges)
	}
	before := snapshot(t, 9, "12 claim lucius", "10 ready", "5 merged")
	if merges := stats.Of([]lifecycle.Facts{before}, from, to).Merges; merges[0].Median != stats.Length(7*time.Hour) {
		t.Errorf("held before it had the label: %+v, want from the hold on", merges)
	}
	failed, done := snapshot(t, 4, "5 claim a", "4 release a failure"), snapshot(t, 5, "5 claim b", "4 release b success")
	if workers := stats.Of([]lifecycle.Facts{failed, done}, from, to).Workers; workers[0].Codename != "b" {
		t.Errorf("of as many holds: %+v, want who has delivered first", workers)
	}
	person, namesake := snapshot(t, 7, "5 claim olga"), snapshot(t, 8, "5 claim olga")
	namesake.Log.Claims[0].Person = ""
	if workers := stats.Of([]lifecycle.Facts{person, namesake}, from, to).Workers; len(workers) != 2 ||
		workers[0].Person || !workers[1].Person {
		t.Errorf("a person and a worker of one name: %+v, want both, the worker first", workers)
	}
	person.Log.Claims[0].Person = strings.Repeat("o", 30)
	if text := stats.Of([]lifecycle.Facts{person}, from, to).Text("acme/app", 0); !strings.Contains(text, "oo… (a person)  ") {
		t.Errorf("a person with a long login:\n%s\nwant that it is a person", text)
	}
	if days := stats.Of(nil, from, to.Truncate(24*time.Hour)).Days; len(days) != 10 {
		t.Errorf("%d days up to a midnight, want 10", len(days))
	}
}

// TestCompared: work that was done twice, races that were lost, and the time from ready to merged,
// beside the time before.
func TestCompared(t *testing.T) {
	f := stats.Compared(compared(t), from, to)
	golden.Check(t, "testdata/compared.txt", f.Text("acme/app", 0))
	if f.Totals.Twice != 2 || f.Before.Totals.Twice != 1 {
		t.Errorf("twice: %d and %d before, want 2 and 1", f.Totals.Twice, f.Before.Totals.Twice)
	}

	parts := snapshot(t, 27, "80 merged", "70 merged")
	parts.PRs[1].Sibling = true // the one that another issue's worker has opened for the same feature
	if got := stats.Of([]lifecycle.Facts{parts}, from, to).Totals.Twice; got != 0 {
		t.Errorf("twice: %d with a pull request beside, want 0", got)
	}

	if f.Totals.Yielded != 2 {
		t.Errorf("%d claims lost, want one with its claim and one that is only its own end", f.Totals.Yielded)
	}
	took := map[string]stats.Length{}
	for _, m := range f.Merges {
		took[m.Who] = m.Median
		if m.Person != (m.Who == "olga") {
			t.Errorf("%s is a person: %t", m.Who, m.Person)
		}
	}

	for who, hours := range map[string]time.Duration{"": 20, "olga": 20, "lucius": 20, "drake": 10} {
		if took[who] != stats.Length(hours*time.Hour) {
			t.Errorf("%q took %s from ready to merged, want %dh", who, took[who], hours)
		}
	}

	for n, line := range strings.Split(f.Text("acme/app", 0), "\n") {
		if width := ansi.StringWidth(line); width > 80 {
			t.Errorf("line %d: %d columns: %s", n, width, line)
		}
	}

	narrow := f.Text("acme/app", 40)
	golden.Check(t, "testdata/narrow.txt", narrow)
	for n, line := range strings.Split(narrow, "\n") {
		if width := ansi.StringWidth(line); width > 40 && n != 0 && n != 2 { // those are sentences, and wrap
			t.Errorf("line %d: %d columns: %s", n, width, line)
		}
	}
}

// TestTouched: an issue counts where something was written, or renewed, or merged in the time.
func TestTouched(t *testing.T) {
	renewed := snapshot(t, 1, "300 claim a")
	renewed.Log.Log[0].Updated = to.Add(-time.Hour)
	for _, c := range []struct {
		name  string
		issue lifecycle.Facts
		want  int
	}{
		{"a claim", snapshot(t, 1, "5 claim a"), 1},
		{"an earlier claim", snapshot(t, 1, "300 claim a"), 0},
		{"an earlier claim with a heartbeat", renewed, 1},
		{"an earlier claim with a merge", snapshot(t, 1, "300 claim a", "5 merged"), 1},
		{"a merge before", snapshot(t, 1, "300 claim a", "290 merged"), 0},
	} {
		if got := stats.Of([]lifecycle.Facts{c.issue}, from, to).Issues; got != c.want {
			t.Errorf("%s: %d issues, want %d", c.name, got, c.want)
		}
	}
}

// TestClosed: a success without a pull request has brought something once the issue is closed.
func TestClosed(t *testing.T) {
	closed := snapshot(t, 1, "5 claim a", "4 release a success none")
	closed.Open = false
	if got := stats.Of([]lifecycle.Facts{closed}, from, to).Totals; got.Delivered != 1 || got.Returned != 0 {
		t.Errorf("%+v, want one delivered", got)
	}
}

// TestCancelledByItsMerge: the hold of a person ends with the issue, as cancelled. It has delivered
// what was merged while it was there.
func TestCancelledByItsMerge(t *testing.T) {
	for _, c := range []struct {
		events string
		open   bool
		want   int
	}{
		{"5 claim olga, 4 merged, 3 release olga cancelled none", false, 1},
		{"5 claim olga, 4 merged, 3 release olga cancelled none", true, 0},
		{"5 claim olga, 3 release olga cancelled none, 2 merged", false, 0},
		{"5 merged, 4 claim olga, 3 release olga cancelled none", false, 0},
		{"5 claim olga, 3 release olga cancelled none", false, 0},
		{"5 claim olga, 4 merged, 3 release olga failure none", false, 0},
		{"5 claim a, 4 merged, 3 release a cancelled none", false, 0},
	} {
		f := snapshot(t, 1, strings.Split(c.events, ", ")...)
		f.Open = c.open
		got := stats.Of([]lifecycle.Facts{f}, from, to).Totals
		if got.Delivered != c.want || got.Delivered+got.Returned+got.Failed != 1 {
			t.Errorf("%s, open %v: %+v, want %d delivered", c.events, c.open, got, c.want)
		}
	}
}

// TestIdleWorker: who has done nothing in the time is not listed.
func TestIdleWorker(t *testing.T) {
	idle := snapshot(t, 1, "300 claim a", "290 release a success")
	if workers := stats.Of([]lifecycle.Facts{idle}, from, to).Workers; len(workers) != 0 {
		t.Errorf("%+v, want none", workers)
	}
}

// TestManyDays: of more days than there is room for, the last are shown, and a heading says so; what
// happened in them is shown also where as many holds have ended as have begun.
func TestManyDays(t *testing.T) {
	one := []lifecycle.Facts{snapshot(t, 1, "5 claim a", "4 release a success")}
	for _, c := range []struct {
		days, width int
		want        string
	}{
		{59, 80, "\nA DAY\n"},
		{60, 80, "\nA DAY, the last 60\n"},
		{13, 40, "\nA DAY\n"},
		{14, 40, "\nA DAY, the last 14\n"},
	} {
		text := stats.Of(one, to.AddDate(0, 0, -c.days), to).Text("acme/app", c.width)
		if !strings.Contains(text, c.want) {
			t.Errorf("%d days and a part of one in %d columns: no %q in\n%s", c.days, c.width, c.want, text)
		}
	}
}

// TestManyWorkers: a picture shows twelve workers and says how many more there are, with room for
// that.
func TestManyWorkers(t *testing.T) {
	height := func(workers int) (height int) {
		var all []lifecycle.Facts
		for n := range workers {
			all = append(all, snapshot(t, n+1, fmt.Sprintf("5 claim worker%02d", n)))
		}

		plot := stats.Of(all, from, to).Plot("acme/app")
		if more := strings.Contains(plot, ">and 1 more<"); more != (workers == 13) {
			t.Errorf("%d workers: one more is said: %t", workers, more)
		}
		if _, err := fmt.Sscanf(plot[strings.Index(plot, "viewBox"):], `viewBox="0 0 860 %d"`, &height); err != nil {
			t.Fatal(err)
		}
		return height
	}

	eleven, twelve, thirteen := height(11), height(12), height(13)
	if thirteen-twelve != twelve-eleven || twelve == eleven {
		t.Errorf("heights %d, %d and %d, want as much for the last as for each before", eleven, twelve, thirteen)
	}
}

func TestPlot(t *testing.T) {
	busy := snapshot(t, 10, "47 claim lucius", "45 release lucius forced") // of the worker with the longest bar
	plot := stats.Of(append(sample(t), busy), from, to).Plot("acme/app <script>")
	golden.Check(t, "testdata/stats.svg", plot)
	wellFormed(t, plot)
	wellFormed(t, stats.Of(nil, from, from).Plot("acme/app"))
}

// wellFormed wants XML in which nobody but us made an element.
func wellFormed(t interface{ Fatalf(string, ...any) }, plot string) {
	d := xml.NewDecoder(strings.NewReader(plot))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}

		if err != nil {
			t.Fatalf("the plot is no XML: %v\n%s", err, plot)
		}

		if e, ok := token.(xml.StartElement); ok && e.Name.Local != "svg" && e.Name.Local != "rect" &&
			e.Name.Local != "text" {
			t.Fatalf("the plot has an element %s", e.Name.Local)
		}
	}
}

// TestEnds: what the end of a hold counts as, and when none does.
func TestEnds(t *testing.T) {
	for _, c := range []struct{ log, want string }{
		{"5 claim a", "holds 1"},
		{"5 claim a, 4 release a success", "holds 1 delivered 1"},
		{"5 claim a, 4 release a already-implemented", "holds 1 delivered 1"},
		{"5 claim a, 4 release a advanced", "holds 1 delivered 1"},
		{"5 claim a, 4 release a cancelled https://github.com/acme/app/pull/1", "holds 1 delivered 1"},
		{"5 claim a, 4 release a success none", "holds 1 returned 1"},
		{"5 claim a, 4 release a success none, 3 closed", "holds 1 delivered 1"},
		{"5 claim a, 4 release a failure", "holds 1 failed 1"},
		{"5 claim a, 4 release a max-turns", "holds 1 failed 1"},
		{"5 claim a, 4 release a stale-swept", "holds 1 expired 1"},
		{"5 claim a, 4 release a forced", "holds 1 forced 1"},
		{"5 claim a, 4 release a rate-limit", "holds 1 returned 1"},
		{"5 claim a, 4 release a tomorrow-perhaps", "holds 1 returned 1"},
		{"5 claim a asked, 4 release a race-yielded-to=b:r1", "yielded 1"},
		{"5 claim a asked, 4 release a abandoned", ""},
		{"5 plan a race-yielded-to=b:r1", ""}, // an end alone says that a claim has lost
		{"5 claim a, 2 merged", "holds 1 merged 1"},
		{"300 claim a, 4 release a success", "delivered 1"},
		{"5 claim a, 0 release a success", "holds 1"}, // the next span counts what ends when this one does
		{"300 claim a, 290 release a success, 280 merged", ""},
		{"240 claim a", "holds 1"}, // exactly when the time begins
		{"240.001 claim a", ""},
		{"0 claim a", ""}, // exactly when it ends
		{"0.001 claim a", "holds 1"},
		{"250 claim a, 240 merged", "merged 1"},
		{"5 claim a, 0 merged", "holds 1"},
	} {
		got := stats.Of([]lifecycle.Facts{snapshot(t, 1, strings.Split(c.log, ", ")...)}, from, to).Totals
		text := ""
		for _, n := range []struct {
			name string
			n    int
		}{{"holds", got.Holds}, {"delivered", got.Delivered}, {"failed", got.Failed}, {
			"expired",
			got.Expired,
		}, {"forced", got.Forced}, {"returned", got.Returned}, {"yielded", got.Yielded}, {"merged", got.Merged}} {
			if n.n > 0 {
				text += fmt.Sprintf(" %s %d", n.name, n.n)
			}
		}

		if strings.TrimSpace(text) != c.want {
			t.Errorf("%s: %q, want %q", c.log, strings.TrimSpace(text), c.want)
		}
	}
}

// TestStays: how long in which state, and in which one still.
func TestStays(t *testing.T) {
	for _, c := range []struct{ log, want string }{
		{"5 claim a", "claimed ended 0 now 1"},
		{"5 claim a, 3 release a success", "claimed ended 1 now 0 2h0m0s, pr-open ended 0 now 1"},
		{"5 claim a, 3 release a success, 2 merged", "claimed ended 1 now 0 2h0m0s, pr-open ended 1 now 0 1h0m0s"},
		{"5 claim a, 3 release a success none", "available ended 0 now 1, claimed ended 1 now 0 2h0m0s"},
		{"5 claim a, 3 release a advanced", "available ended 0 now 1, claimed ended 1 now 0 2h0m0s"},
		{"5 claim a, 3 release a failure", "available ended 0 now 1, claimed ended 1 now 0 2h0m0s"},
		{"5 claim a, 3 release a failure, 2 claim b", "available ended 1 now 0 1h0m0s, claimed ended 1 now 1 2h0m0s"},
		{"5 claim olga, 3 merged, 2 release olga cancelled none", "claimed ended 1 now 0 2h0m0s"},
		{"9 claim a, 8 plan a, 5 approve a", "claimed ended 1 now 1 1h0m0s, plan-pending ended 1 now 0 3h0m0s"},
		{"9 claim a, 8 plan a", "claimed ended 1 now 0 1h0m0s, plan-pending ended 0 now 1"},
		{"300 claim a, 2 release a success", "claimed ended 1 now 0 298h0m0s, pr-open ended 0 now 1"},
		{
			"300 claim a, 299 release a failure, 298 claim b, 297 release b success, 296 merged",
			"available ended 0 now 0, claimed ended 0 now 0, pr-open ended 0 now 0",
		},
		{"300 claim a, 240 release a success", "claimed ended 1 now 0 60h0m0s, pr-open ended 0 now 1"},
		{"5 claim a, 0 release a success", "claimed ended 0 now 0, pr-open ended 0 now 0"},
		{"5 merged, 5 claim a, 5 release a success", "claimed ended 1 now 0 0s, pr-open ended 0 now 0"},
	} {
		var got []string
		for _, s := range stats.Of([]lifecycle.Facts{snapshot(t, 1, strings.Split(c.log, ", ")...)}, from, to).States {
			text := fmt.Sprintf("%s ended %d now %d", s.State, s.Ended, s.Now)
			if s.Ended > 0 {
				text += " " + time.Duration(s.Median).String()
			}
			got = append(got, text)
		}

		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", c.log, strings.Join(got, ", "), c.want)
		}
	}
}

// TestQuantiles: of ten holds the fifth and the ninth.
func TestQuantiles(t *testing.T) {
	var all []lifecycle.Facts
	for n := range 10 {
		all = append(all, snapshot(t, n+1, fmt.Sprintf("%d claim a", 20+n), "19 release a success"))
	}

	s := stats.Of(all, from, to).States[0]
	if s.Median != stats.Length(5*time.Hour) || s.P90 != stats.Length(9*time.Hour) {
		t.Errorf("median %s and p90 %s, want 5h and 9h", s.Median, s.P90)
	}
}

// TestSums: whatever the logs say, the days and the workers add up to the totals, and the plot is
// well-formed.
func TestSums(t *testing.T) {
	outcomes := []string{"success", "failure", "stale-swept", "forced", "cancelled", "race-yielded-to=b:r1", "odd"}
	rapid.Check(t, func(t *rapid.T) {
		var all []lifecycle.Facts
		for n := range rapid.IntRange(0, 8).Draw(t, "issues") {
			worker := rapid.SampledFrom([]string{"a", "b", "<&>"}).Draw(t, "worker")
			start := rapid.IntRange(1, 400).Draw(t, "start")
			lines := []string{fmt.Sprintf("%d claim %s", start, worker)}
			if rapid.Bool().Draw(t, "ends") {
				lines = append(lines, fmt.Sprintf("%d release %s %s", rapid.IntRange(0, start).Draw(t, "end"), worker,
					rapid.SampledFrom(outcomes).Draw(t, "outcome")))
			}

			all = append(all, snapshot(t, n+1, lines...))
		}

		f := stats.Of(all, from, to)
		var days, workers stats.Totals
		for _, d := range f.Days {
			days.Holds, days.Delivered, days.Failed = days.Holds+d.Holds, days.Delivered+d.Delivered, days.Failed+
				d.Troubled
		}

		for _, w := range f.Workers {
			workers.Holds, workers.Delivered, workers.Yielded = workers.Holds+w.Holds, workers.Delivered+
				w.Delivered, workers.Yielded+w.Yielded
			workers.Failed += w.Failed + w.Expired
		}

		want := stats.Totals{Holds: f.Totals.Holds, Delivered: f.Totals.Delivered, Failed: f.Totals.Failed +
			f.Totals.Expired}
		if days != want {
			t.Fatalf("days add up to %+v, want %+v", days, want)
		}

		if want.Yielded = f.Totals.Yielded; workers != want {
			t.Fatalf("workers add up to %+v, want %+v", workers, want)
		}

		for _, s := range f.States {
			if s.Median > s.P90 || s.Median < 0 {
				t.Fatalf("%+v", s)
			}
		}

		wellFormed(t, f.Plot("acme/app"))
	})
}
