package prchain_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/prchain"
	"github.com/label-state/label-state/internal/state"
)

// TestCrash kills a run at each of its points, before and after each request and each step of each
// write, and begins it anew: the end is always the same, byte for byte, and no pull request is open
// twice.
func TestCrash(t *testing.T) {
	clean := newWorld(t)
	_, err := clean.executor().Begin(t.Context(), plan())
	clean.must(err)
	want := clean.all()
	if strings.Count(want, "agent:authored") != 3 || strings.Count(want, "this PR") != 3 {
		t.Fatalf("a clean run left\n%s", want)
	}

	points, said := 0, ""
	for blown := true; blown; points++ {
		w := newWorld(t)
		f := &fuse{left: points}
		_, err := w.fused(f).Begin(t.Context(), plan())
		if blown = f.blown; blown != (err != nil) {
			t.Fatalf("point %d: blown %v, error %v", points, blown, err)
		}
		said += fmt.Sprintln(err)

		r, err := w.executor().Begin(t.Context(), plan())
		if err != nil || !r.Settled() {
			t.Fatalf("point %d: begun anew: %v", points, err)
		}

		if got := w.all(); got != want {
			t.Fatalf("point %d: left\n%s\nwant\n%s", points, got, want)
		}
	}

	if points < 55 {
		t.Errorf("only %d points: something is not counted", points)
	}

	for _, where := range []string{"\nopen part 2 of 3, branch lucius/retry-app: ", "\nrefresh part 2 of 3: "} {
		if !strings.Contains(said, where) {
			t.Errorf("no run says %q\n%s", where, said)
		}
	}
}

// TestCrashTwice: the run that goes on may be killed too, wherever the first one was.
func TestCrashTwice(t *testing.T) {
	clean := newWorld(t)
	_, err := clean.executor().Begin(t.Context(), plan())
	clean.must(err)
	want := clean.all()
	for first := 3; first < 60; first += 11 {
		for second := 0; second < 40; second += 6 {
			w := newWorld(t)
			_, _ = w.fused(&fuse{left: first}).Begin(t.Context(), plan())
			_, _ = w.fused(&fuse{left: second}).Begin(t.Context(), plan())
			_, err := w.executor().Begin(t.Context(), plan())
			w.must(err)
			if got := w.all(); got != want {
				t.Fatalf("killed at %d and %d: left\n%s\nwant\n%s", first, second, got, want)
			}
		}
	}
}

// TestLostAnswer: one answer is lost after its request was applied, and the process lives.
func TestLostAnswer(t *testing.T) {
	for n, reached := 1, true; reached; n++ {
		w := newWorld(t)
		seen, opens := 0, false
		w.server.Fault = func(r *http.Request) *githubsim.Fault {
			if seen++; seen == n {
				opens = r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/pulls")
				return &githubsim.Fault{ApplyThenFail: true}
			}
			return nil
		}

		x := w.executor()
		if _, err := x.Begin(t.Context(), plan()); opens && err != nil {
			t.Errorf("request %d opened a pull request, which is there to be found: %v", n, err)
		}

		reached = seen >= n
		if _, err := x.Begin(t.Context(), plan()); err != nil {
			t.Fatalf("request %d: %v", n, err)
		}

		for _, repo := range repos {
			if again, err := w.server.Issue(repo, 2); err == nil && (repo != "acme/app" || !again.Pull) {
				t.Fatalf("request %d: %s has a second pull request", n, repo)
			}
		}
	}
}

// TestIntent: that a part is about to be opened, and against which branch, is on the disk before
// GitHub is asked to open it, and that the part before it has its label by then.
func TestIntent(t *testing.T) {
	w := newWorld(t)
	asked := false
	w.server.Fault = func(r *http.Request) *githubsim.Fault {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/pulls") {
			return nil
		}

		asked = true
		s, err := prchain.Load(w.book(), "retry")
		if err != nil || !s.Parts[0].Intent || s.Parts[0].Base == "" {
			t.Errorf("on the disk is %+v, %v", s.Parts, err)
		}
		if i, _ := w.server.Issue("acme/lib", 1); i.Pull && !slices.Contains(i.Labels, "agent:authored") {
			t.Error("the next part is opened before this one has its label")
		}
		return nil
	}

	if _, err := w.executor().Begin(t.Context(), plan()); err != nil || !asked {
		t.Errorf("asked %t: %v", asked, err)
	}

	for _, status := range []int{http.StatusBadGateway, http.StatusUnprocessableEntity} {
		doubtful, refused := newWorld(t), false // after a refusal GitHub cannot say what is open
		doubtful.server.Fault = func(r *http.Request) *githubsim.Fault {
			switch {
			case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/pulls"):
				refused = status == http.StatusUnprocessableEntity
				return &githubsim.Fault{Status: status}
			case refused:
				return &githubsim.Fault{Status: http.StatusBadGateway}
			}
			return nil
		}
		other := plan()
		other.Parts[0].Branch = "elsewhere"
		_, err := doubtful.executor().Begin(t.Context(), plan())
		if _, again := doubtful.executor().Begin(t.Context(), other); err == nil || !wrong(again) {
			t.Errorf("%v, then another plan than one that may be open: %v", err, again)
		}
	}
}

// TestClosingPartIsLast: the body of the part that closes the parent is written when all others are
// up to date.
func TestClosingPartIsLast(t *testing.T) {
	for closes := 1; closes <= 3; closes++ {
		w := newWorld(t)
		var edited []string
		w.server.Fault = func(r *http.Request) *githubsim.Fault {
			if r.Method == http.MethodPatch {
				edited = append(edited, r.URL.Path)
			}
			return nil
		}

		p := plan()
		p.Closes = closes
		_, err := w.executor().Begin(t.Context(), p)
		w.must(err)
		if len(edited) < 2 || !strings.Contains(edited[len(edited)-1], p.Parts[closes-1].Repo) {
			t.Errorf("part %d closes the parent; bodies were edited in the order %q", closes, edited)
		}
		if words := "\nCloses " + p.Parent.String() + "\n"; strings.Count(w.all(), words) != 1 {
			t.Errorf("part %d closes the parent; want %q once\n%s", closes, words, w.all())
		}
	}
}

// TestTwoMachines: two hosts carry out one plan at the same time, and GitHub has every pull request
// once.
func TestTwoMachines(t *testing.T) {
	w := newWorld(t)
	var both sync.WaitGroup
	for range 4 {
		other := world{t, w.server, t.TempDir()}
		both.Go(func() { _, _ = other.executor().Begin(t.Context(), plan()) })
	}

	both.Wait()
	_, err := w.executor().Begin(t.Context(), plan())
	w.must(err)
	if n := strings.Count(w.all(), " true open "); n != 3 {
		t.Errorf("%d pull requests, want 3\n%s", n, w.all())
	}
}

func TestPeopleKeepTheirText(t *testing.T) {
	w := newWorld(t)
	_, err := w.executor().Begin(t.Context(), plan())
	w.must(err)
	before, err := w.server.Issue("acme/lib", 1)
	w.must(err)
	start := strings.Index(before.Body, "<!-- label-state:chain")
	own := before.Body[start:]
	edited := "Edited.\r\n\r\n" + strings.ReplaceAll(own, "acme/web#1", "acme/web#7") + "\r\n\r\nMore\t\n"
	w.edit("acme/lib", 1, edited)
	r, err := w.executor().Resume(t.Context(), "retry")
	w.must(err)
	after, err := w.server.Issue("acme/lib", 1)
	w.must(err)
	if want := "Edited.\r\n\r\n" + own + "\r\n\r\nMore\t\n"; after.Body != want || !r.Parts[0].Changed {
		t.Errorf("body %q, want %q", after.Body, want)
	}

	before = after
	w.edit("acme/lib", 1, strings.ReplaceAll(after.Body, "\n", "\r\n"))
	if r, err = w.executor().Resume(t.Context(), "retry"); err != nil || r.Parts[0].Changed {
		t.Errorf("line ends of a web editor: changed %v, error %v", r.Parts[0].Changed, err)
	}
}

func (w world) edit(repo string, n int, body string) {
	w.Helper()
	i := parent
	i.Owner, i.Repo, _ = strings.Cut(repo, "/")
	i.Number = n
	w.must(w.client(w.server.Transport()).EditPullBody(w.Context(), i, body))
}

// TestDamage: marks that a person has damaged keep that body from being touched, and no other.
func TestDamage(t *testing.T) {
	w := newWorld(t)
	_, err := w.executor().Begin(t.Context(), plan())
	w.must(err)
	const broken = "Oops <!-- x\n<!-- /label-state:chain -->\n"
	w.edit("acme/lib", 1, broken)
	w.edit("acme/app", 2, "All gone.")
	r, err := w.executor().Resume(t.Context(), "retry")
	w.must(err)
	if !errors.Is(r.Parts[0].Err, prchain.ErrDamaged) || r.Settled() || !r.Parts[1].Changed {
		t.Errorf("outcome %+v", r.Parts)
	}

	if i, err := w.server.Issue("acme/lib", 1); err != nil || i.Body != broken {
		t.Errorf("the damaged body was changed to %q", i.Body)
	}
}

// TestClosedByHand: it is reported, not opened again, and the others stay as they are.
func TestClosedByHand(t *testing.T) {
	w := newWorld(t)
	_, err := w.executor().Begin(t.Context(), plan())
	w.must(err)
	w.must(w.server.Close("acme/app", 2, "olga"))
	w.must(w.server.RemoveLabel("acme/app", 2, "olga", "agent:authored"))
	want := w.all()
	r, err := w.executor().Resume(t.Context(), "retry")
	w.must(err)
	if r.Settled() || r.Parts[1].Pull.State != prchain.Closed || w.all() != want {
		t.Errorf("outcome %+v\n%s", r.Parts, w.all())
	}

	w.must(os.Remove(w.book().File("retry"))) // another host knows nothing of it
	if r, err = w.executor().Preview(t.Context(), plan()); err != nil || r.Parts[1].Opened || r.Parts[1].Pull.ID.Number != 2 {
		t.Errorf("preview: %v, outcome %+v", err, r.Parts)
	}

	if r, err = w.executor().Begin(t.Context(), plan()); err != nil || r.Parts[1].Pull.State != prchain.Closed ||
		w.all() != want {
		t.Errorf("anew: %v, outcome %+v\n%s", err, r.Parts, w.all())
	}

	w.must(os.Remove(w.book().File("retry")))
	another, err := w.server.AddIssue("acme/app", "olga", "Another", "")
	w.must(err)
	for _, edit := range []func(*prchain.Plan){
		func(p *prchain.Plan) { p.Feature = "other" },
		func(p *prchain.Plan) { p.Parent.Number = another },
	} {
		p := plan()
		edit(&p)
		if r, err = w.executor().Preview(t.Context(), p); err != nil || !r.Parts[1].Opened {
			t.Errorf("another chain: %v, outcome %+v", err, r.Parts)
		}
	}

	w.must(w.server.RemoveLabel("acme/lib", 1, "olga", "agent:authored"))
	w.server.Fault = func(r *http.Request) *githubsim.Fault {
		if strings.HasSuffix(r.URL.Path, "/labels") {
			return &githubsim.Fault{Status: http.StatusForbidden}
		}
		return nil
	}
	if _, err := w.executor().Begin(t.Context(), plan()); err == nil || !strings.HasPrefix(err.Error(), "refresh part 1 of 3: ") {
		t.Errorf("without its label: %v", err)
	}
}

// chainState is the text of a page with a plan of the feature, from its key "closes" on.
func chainState(rest, feature string) string {
	return `{"format": 1, "state": {"plan": {"feature": "` + feature + `", "parent": "acme/app#1", ` + rest + `}}`
}

func TestState(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"cut short", `{"format": 1, "state": {"plan": {`, "unexpected EOF"},
		{"empty", "", "EOF"},
		{"newer", `{"format": 2, "state": []}`, "format 2, this version reads 1"},
		{"no format", `{}`, "format 0"},
		{"unknown key", chainState(`"closes": 0, "parts": []}, "parts": [], "more": 1`, "retry"), "unknown field"},
		{"plan that cannot be", chainState(`"closes": 0, "parts": []}, "parts": []`, "retry"), "no pull request"},
		{"parts of another plan", chainState(`"closes": 0, "parts": [{"repo": "a/b", "branch": "c"}]}, "parts": []`,
			"retry"), "0 parts of a plan of 1"},
		{"another feature", chainState(`"closes": 0, "parts": [{"repo": "a/b", "branch": "c"}]}, "parts": [{}]`,
			"other"), `belongs to feature "other"`},
		{"a number below zero", chainState(`"closes": 0, "parts": [{"repo": "a/b", "branch": "c"}]},
			"parts": [{"number": -1}]`, "retry"), "pull request -1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			file := w.book().File("retry")
			w.must(os.MkdirAll(filepath.Dir(file), 0o700))
			w.must(os.WriteFile(file, []byte(c.file), 0o600))
			_, err := w.executor().Begin(t.Context(), plan())
			var unreadable *state.UnreadableJournalError
			if !errors.As(err, &unreadable) || unreadable.File != file || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want an unreadable state with %q", err, c.want)
			}

			if sent := len(w.server.Requests()); sent > 0 {
				t.Errorf("%d requests were sent", sent)
			}

			if data, err := os.ReadFile(file); err != nil || string(data) != c.file {
				t.Errorf("the state was changed to %q", data)
			}
		})
	}
}

func TestAnotherPlan(t *testing.T) {
	w := newWorld(t)
	_, err := w.executor().Begin(t.Context(), plan())
	w.must(err)
	for what, edit := range map[string]func(*prchain.Plan){
		"parent": func(p *prchain.Plan) { p.Parent.Number++ },
		"closes": func(p *prchain.Plan) { p.Closes = 1 },
		"fewer":  func(p *prchain.Plan) { p.Closes, p.Parts = 0, p.Parts[:2] },
		"repo":   func(p *prchain.Plan) { p.Parts[0].Repo = "acme/web" },
		"branch": func(p *prchain.Plan) { p.Parts[0].Branch = "elsewhere" },
		"base":   func(p *prchain.Plan) { p.Parts[1].Base = "" },
		"title":  func(p *prchain.Plan) { p.Parts[2].Title = "Mine" },
		"body":   func(p *prchain.Plan) { p.Parts[0].Body = "" },
	} {
		other := plan()
		edit(&other)
		if _, err := w.executor().Begin(t.Context(), other); !wrong(err) {
			t.Errorf("another %s: error %v, want a mismatch", what, err)
		}
	}

	same := plan()
	same.Parts[0].Repo, same.Parts[2].Title = "ACME/lib", "retry (3/3)"
	r, err := w.executor().Preview(t.Context(), same)
	if err != nil || len(r.Parts) != 3 || r.Parts[2].Opened || r.Parts[2].Pull.ID.Number != 1 {
		t.Errorf("preview of what is open: %+v, %v", r, err)
	}

	if _, err := w.executor().Resume(t.Context(), "../retry"); !wrong(err) {
		t.Errorf("error %v, want a wrong call", err)
	}

	if _, err := w.executor().Resume(t.Context(), "other"); !errors.Is(err, prchain.ErrNoChain) {
		t.Errorf("error %v, want no chain", err)
	}
}

func TestBusy(t *testing.T) {
	w := newWorld(t)
	page, err := w.book().Open("retry")
	w.must(err)
	var busy *state.BusyError
	if _, err := w.executor().Begin(t.Context(), plan()); !errors.As(err, &busy) {
		t.Errorf("error %v, want busy", err)
	}

	w.must(page.Close())
	_, err = w.executor().Begin(t.Context(), plan())
	w.must(err)
}
