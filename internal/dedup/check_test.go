package dedup

import (
	"fmt"
	"os"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

var (
	issue42 = claim.Issue{Owner: "acme", Repo: "app", Number: 42}
	fourPM  = time.Date(2026, 5, 1, 16, 0, 0, 0, time.UTC)
)

func TestCheck(t *testing.T) {
	cases := readCases(t, "testdata/cases.txt")
	if len(cases) < 50 {
		t.Fatalf("read %d cases; the file has more", len(cases))
	}

	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			snapshot, rules := c.snapshot(), lifecycle.DefaultRules()
			r := Check(rules, c.pusher, []Snapshot{snapshot})
			if got := summary(r); !slices.Equal(got, c.want) {
				t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
			}

			for _, f := range r.Refusals {
				want := Refusal{
					Named:   snapshot.Named,
					Title:   c.facts.Title,
					URL:     c.facts.URL,
					Reasons: f.Reasons,
					Lost:    f.Lost,
					Guess:   f.Guess,
					Terms:   rules.Terms,
					Now:     fourPM,
				}
				if !reflect.DeepEqual(f, want) {
					t.Errorf("got %+v\nwant %+v", f, want)
				}
			}

			for _, n := range r.Notes {
				if n.Issue != issue42 {
					t.Errorf("the note %q is about %s", n.Text, n.Issue)
				}
			}
		})
	}
}

// summary writes a report in the words of the vectors.
func summary(r Report) []string {
	var out []string
	for _, f := range r.Refusals {
		text := "refuse"
		if f.Guess {
			text += " guess"
		}

		for _, reason := range f.Reasons {
			evidence := ""
			if reason.PR != nil {
				evidence = reason.PR.String()
			} else {
				evidence = reason.Claim.Record.Worker.String()
			}

			text += " " + string(reason.Code) + " " + evidence
		}

		if f.Lost != nil {
			text += " lost " + f.Lost.Record.Worker.String()
		}
		out = append(out, text)
	}

	for _, n := range r.Notes {
		out = append(out, "note "+n.Text+"; "+path.Base(n.URL))
	}

	for _, u := range r.Unknown {
		out = append(out, "unknown "+u.Reason)
	}

	if len(out) == 0 {
		out = []string{"pass"}
	}

	return out
}

// A vector is one paragraph of the file.
type vector struct {
	name     string
	facts    lifecycle.Facts
	comments []claim.Comment
	guesses  []claim.Comment
	absent   bool
	unread   string
	branch   string
	pusher   Pusher
	want     []string
}

func (v vector) snapshot() Snapshot {
	v.facts.Log = claim.Replay(v.comments)
	named := Named{Issue: issue42, Commits: []Commit{{OID: strings.Repeat("3f2c91a0", 5), Subject: "Retry uploads"}}}
	if v.branch != "" {
		named = Named{Issue: issue42, Branch: v.branch}
	}

	out := Snapshot{
		Named:  named,
		Facts:  v.facts,
		Absent: v.absent,
		Unread: v.unread,
	}

	if v.guesses != nil {
		guess := claim.Replay(append(v.comments, v.guesses...))
		out.Guess = &guess
	}

	return out
}

func readCases(t *testing.T, file string) []vector {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	var out []vector
	for n, line := range strings.Split(string(data), "\n") {
		key, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		if key == "" || strings.HasPrefix(key, "#") {
			continue
		}
		if key == "case" {
			out = append(out, newVector(rest))
			continue
		}

		if err := out[len(out)-1].set(key, rest); err != nil {
			t.Fatalf("%s:%d: %v", file, n+1, err)
		}
	}

	return out
}

func newVector(name string) vector {
	return vector{
		name:   name,
		pusher: Pusher{Repo: "acme/app", Branches: []string{"feature"}},
		facts: lifecycle.Facts{
			Issue:        issue42,
			Title:        "Retry the upload on 503",
			URL:          "https://github.com/acme/app/issues/42",
			Open:         true,
			BlockersRead: true,
			Now:          fourPM,
			Viewer:       "bot",
		},
	}
}

func (v *vector) set(key, rest string) error {
	switch key {
	case "issue":
		return v.setIssue(rest)
	case "labels":
		v.facts.Labels = strings.Split(rest, ", ")
	case "viewer":
		v.facts.Viewer = rest
	case "assignees":
		v.facts.Assignees = strings.Fields(rest)
	case "log":
		return v.addLog(rest)
	case "guess":
		before := v.comments
		err := v.addLog(rest)
		v.comments, v.guesses = before, append(v.guesses, v.comments[len(before):]...)
		v.guesses[len(v.guesses)-1].ID = int64(100 + len(v.guesses))
		v.facts.Doubts = []string{"whose records count is not known"}
		return err
	case "pull":
		return v.addPull(strings.Fields(rest))
	case "unshown":
		n, err := strconv.Atoi(rest)
		v.facts.Unshown = n
		return err
	case "missing":
		v.facts.Missing = append(v.facts.Missing, rest)
	case "unread":
		v.unread = rest
	case "worker":
		v.pusher.Worker = worker(rest)
	case "hold":
		key, shown, _ := strings.Cut(rest, " ")
		token, _ := strconv.ParseInt(shown, 10, 64)
		v.pusher.Holds = append(v.pusher.Holds,
			Hold{Issue: claim.Issue{Owner: "Acme", Repo: "App", Number: 42}, Worker: worker(key), Token: token})

	case "other":
		v.pusher.Holds = append(v.pusher.Holds,
			Hold{Issue: claim.Issue{Owner: "acme", Repo: "app", Number: 43}, Worker: worker(rest)})
	case "session":
		v.pusher.Made = func(w claim.Worker) bool { return strings.HasPrefix(w.FiringID, rest+"-") }
	case "head":
		v.branch, v.facts.PullRequest = rest, true
	case "push":
		words := strings.Fields(rest)
		v.pusher.Repo, v.pusher.Branches = words[0], words[1:]
	case "want":
		v.want = append(v.want, rest)
	default:
		return fmt.Errorf("unknown key %q", key)
	}

	return nil
}

func (v *vector) setIssue(what string) error {
	switch what {
	case "closed":
		v.facts.Open = false
	case "pull-request":
		v.facts.PullRequest = true
	case "absent":
		v.absent = true
	case "paused":
		v.facts.Pause = &lifecycle.Pause{Since: fourPM.Add(-time.Hour), By: "ann"}
	default:
		return fmt.Errorf("unknown issue %q", what)
	}

	return nil
}

func (v *vector) addLog(rest string) error {
	words := strings.SplitN(rest, " ", 3)
	if len(words) != 3 {
		return fmt.Errorf("log wants a time, a login and a record, not %q", rest)
	}

	created, updated, _ := strings.Cut(words[0], "/")
	if updated == "" {
		updated = created
	}

	c := claim.Comment{
		ID:      int64(len(v.comments) + 1),
		Author:  words[1],
		Trusted: words[1] != "stranger",
		Body:    words[2],
	}
	c.URL = fmt.Sprintf("%s#issuecomment-%d", v.facts.URL, c.ID)
	var err error
	if c.Created, err = onTheDay(created); err != nil {
		return err
	}
	if c.Updated, err = onTheDay(updated); err != nil {
		return err
	}

	v.comments = append(v.comments, c)
	return nil
}

func (v *vector) addPull(words []string) error {
	if len(words) < 5 {
		return fmt.Errorf("pull wants five words, not %q", words)
	}
	n, err := strconv.Atoi(words[0])
	p := lifecycle.PR{
		Repo:        "acme/app",
		Number:      n,
		Title:       "Retry",
		URL:         "https://github.com/acme/app/pull/" + words[0],
		State:       lifecycle.PRState(words[1]),
		HeadRepo:    words[2],
		Head:        words[3],
		Author:      words[4],
		Base:        "main",
		DefaultBase: true,
		Recorded:    len(words) > 5,
	}

	if p.State == lifecycle.PRMerged {
		p.MergedAt = fourPM.Add(-time.Hour)
	}
	v.facts.PRs = append(v.facts.PRs, p)

	return err
}

func onTheDay(clock string) (time.Time, error) {
	return time.Parse("2006-01-02 15:04", "2026-05-01 "+clock)
}

func worker(s string) claim.Worker {
	codename, firing, _ := strings.Cut(s, ":")
	return claim.Worker{Codename: codename, FiringID: firing}
}
