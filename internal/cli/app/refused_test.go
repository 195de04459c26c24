package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/sample"
)

// stories are what happens, in the words of bringOne, and last a command.
func stories() [][]string {
	const (
		plans    = "label-state plan acme/app#1 --codename lucius --firing-id l1 --body-file /home/me/plan.md"
		bundles  = "label-state bundle claim checkout acme/app#1 acme/web#1 --codename bee --firing-id b1"
		chains   = "label-state chain execute --feature cut --parent acme/app#1 --pr acme/web:cut --pr acme/app:cut"
		releases = "label-state release acme/app#1 --codename lucius --firing-id l1"
		rex      = "label-state claim acme/app#1 --codename rex"
	)

	session := func(then ...string) []string {
		return append([]string{
			"in-clone", "event start",
			"env CLAUDE_CODE_SESSION_ID 5f2c", "label-state claim 1", "env CLAUDE_CODE_SESSION_ID",
		}, then...)
	}
	chain := func(then ...string) []string {
		return append([]string{"branch acme/web cut", "branch acme/app cut", chains}, then...)
	}

	return [][]string{
		session("later 11m", "event edit"),
		session("later 33m", "event edit"),
		session("later 33m", "event edit", "event edit --expired"),
		session("later 33m", "event edit", "label acme/app#1 olga do-not-pickup", "event edit --expired"),
		session("event push"),
		session("later 11m", "event push"),
		{claimAsL1, "label-state status acme/app#1"},
		{"opens mallory 1", "label-state status acme/app#1"},
		{"opens trent 1 2", "label-state status acme/app#1"},
		{claimAsL1, "label-state status --mine --repo acme/app"},
		{claimAsL1, "label-state log acme/app#1"},
		{claimAsL1, "label-state dedup-check acme/app#1"},
		{"opens mallory 1", "label-state dedup-check acme/app#1"},
		{"opens drake 1", "label-state dedup-check acme/app#1"},
		{claimAsL1, "label-state next --list -R acme/app"},
		{"opens mallory 1", "label-state next --list -R acme/app"},
		{"block", "label-state next --list -R acme/app"},
		{claimAsL1, "later 32m", "label-state board acme/app"},
		{"opens mallory 1", "label-state board acme/app"},
		{claimAsL1, "label-state stats acme/app"},
		{"label-state next -R acme/app --codename rex"},
		{rex},
		{"opens mallory 1", rex},
		{claimAsL1, rex},
		{claimAsL1, "later 32m", rex},
		{"block", rex},
		{"label-state repo pause acme/app", rex},
		{"label-state claim acme/app#1"},
		{claimAsL1, "label-state renew acme/app#1 --codename lucius --firing-id l1"},
		{
			claimAsL1, "label acme/app#1 olga do-not-pickup",
			"label-state renew acme/app#1 --codename lucius --firing-id l1",
		},
		{claimAsL1, releases + " --outcome failure"},
		{claimAsL1, "label-state release acme/app#1 --force"},
		{claimAsL1, plans},
		{claimAsL1, plans, "as olga label-state approve acme/app#1"},
		{claimAsL1, plans, "as olga label-state reject acme/app#1 --reason no"},
		{claimAsL1, "later 5h", "label-state sweep-claims -R acme/app"},
		{claimAsL1, "close acme/app#1 olga", "label-state sweep-claims -R acme/app"},
		{"opens mallory 1", "label-state reconcile acme/app#1"},
		{"opens drake 1", "label-state reconcile acme/app#1"},
		{"label-state repo pause acme/app"},
		{"label-state repo pause acme/app", "label-state repo resume acme/app"},
		{"label-state labels check acme/app"},
		{"label-state labels sync acme/app"},
		{"label-state bundle claim checkout acme/app#1 acme/web#1 --codename bee"},
		{bundles, "label-state bundle status checkout"},
		{bundles, "label-state bundle release checkout --codename bee"},
		chain(),
		chain(chains),
		chain("status acme/web#2 olga ci success", "label-state chain status --feature cut"),
		chain("merge acme/web#2 olga", "label-state chain status --feature cut"),
		chain("close acme/web#2 olga", chains),
		{claimAsL1, "opens agents 1", releases + " --pr https://github.com/acme/app/pull/5"},
		{claimAsL1, releases + " --done"},
		{claimAsL1, "label-state release acme/app#1 --ask"},
		{claimAsL1, "label-state release acme/app#1 --ask", "label-state renew acme/app#1 --codename lucius --firing-id l1"},
		{claimAsL1, "later 32m", releases},
		{claimAsL1, rex + " --force"},
		{"label acme/app#1 olga do-not-pickup", rex + " --force"},
		{"assign acme/app#1 olga olga", rex + " --force"},
		{claimAsL1, "as olga label-state claim acme/app#1 --force"},
		{"as olga label-state claim acme/app#1", "as olga label-state release acme/app#1"},
		{"as olga label-state claim acme/app#1", "as olga label-state claim acme/app#1"},
		{claimAsL1, "later 32m", "label-state sweep-claims acme/app acme/web"},
		{"label-state next --no-claim -R acme/app"},
		{"label-state next -R acme/app --label agent:implement --codename rex"},
	}
}

// TestOneRefusedRequest: while GitHub does not answer one request of a command, nor a number of
// tries to repeat it, the command answers what it would have answered, or that it could not find
// out, or says on standard error what was not done. What could not be found out comes to the same
// end when it is repeated. An ordinary run plays an eighth of the stories.
func TestOneRefusedRequest(t *testing.T) {
	for _, conf := range []string{"configuration claim: {lease: comments}", "configuration claim: {lease: refs}"} {
		for _, story := range stories() {
			name := strings.Join(append(slices.Clone(story), conf), "; ")
			if !sample.Plays(name, 0, 8) {
				continue
			}

			t.Run(name, func(t *testing.T) {
				want := refuseOne(t, story, conf, 0, 0)
				for n := 1; n <= want.asked; n++ {
					for _, tries := range []int{4, 8, 16} { // of one query, and of its halves
						r := refuseOne(t, story, conf, n, tries)
						r.hold(t, want)
						if r.refused < tries { // it gave up before, as it would with more
							break
						}
					}
				}
			})
		}
	}
}

// A refusal is what came of a command of which one request was refused.
type refusal struct {
	request   string
	asked     int // requests
	refused   int
	code      int
	out, told string
	end       string // what is there in the end
}

// again reports whether it says that it could not find out, as a command or as an agent's event.
func (r refusal) again() bool {
	return r.code == answer.ExitUnknown || strings.Contains(r.told, "work goes on")
}

func (r refusal) hold(t *testing.T, want refusal) {
	t.Helper()
	switch {
	case r.code != want.code && r.code != answer.ExitUnknown:
		t.Errorf("exit code %d, want %d, without an answer to %s\n%s%s", r.code, want.code, r.request, r.out, r.told)
	case r.code == want.code && r.out != want.out && !strings.Contains(r.told, "HTTP 502"):
		t.Errorf("without an answer to %s it says without a warning\n%swant\n%s", r.request, r.out, want.out)
	case r.end != want.end && (r.again() || !strings.Contains(r.told, "HTTP 502")):
		t.Errorf("without an answer to %s it ends as\n%s\nwant\n%s\n%s", r.request, r.end, want.end, r.told)
	}
}

// passing are moments, lengths of time, and words that are made up for each run.
var passing = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?( UTC|Z)?|\d{8}-\d{6}-[0-9a-f]{8}|\b(\d+[dhms])+\b`)

// refuseOne plays a story, and refuses the n-th request of its command and what is asked at the same
// place until so many were refused; 0 refuses none.
func refuseOne(t *testing.T, story []string, conf string, n, tries int) (r refusal) {
	t.Helper()
	s := answering(t, conf)
	synctest.Test(t, func(t *testing.T) {
		s.open(t)
		for _, line := range story[:len(story)-1] {
			line = s.fed(line)
			if err := s.bringOne(event{line: line}); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}

		var mu sync.Mutex
		place := ""
		s.world.Fault = func(q *http.Request) *githubsim.Fault {
			mu.Lock()
			defer mu.Unlock()
			at := fmt.Sprintf("%s %s", q.Method, q.URL)
			if r.asked++; r.asked == n {
				place, r.request = at, at+" "+bodyOf(q)
			}

			if n == 0 || at != place || r.refused == tries {
				return nil
			}
			r.refused++

			return &githubsim.Fault{Status: http.StatusBadGateway}
		}

		line := s.fed(strings.ReplaceAll(story[len(story)-1], "/home/me", s.home))
		token := "tok-agents"
		if rest, olgas := strings.CutPrefix(line, "as olga "); olgas {
			token, line = "tok-olga", rest
		}

		var out bytes.Buffer
		s.out = &out
		r.told, r.code, _ = s.run(t.Context(), token, words(line))
		r.out = passing.ReplaceAllString(out.String(), "")
		s.world.Fault = nil
		if r.again() {
			time.Sleep(time.Minute)
			_, _, _ = s.run(t.Context(), token, words(line)) // which may be refused, because all is done
		}
		r.end = s.end()
		s.close()
	})

	return r
}

// bodyOf is the body of a request, which is still to be read.
func bodyOf(q *http.Request) string {
	if q.Body == nil {
		return ""
	}
	body, _ := io.ReadAll(q.Body)
	q.Body = io.NopCloser(bytes.NewReader(body))

	return string(body)
}

// end is who holds the issues of a story, what their labels are, and how often they failed; and what
// its pull requests say.
func (s *trialWorld) end() string {
	var out []string
	for _, i := range []string{"acme/app#1", "acme/app#2", "acme/web#1"} {
		var text bytes.Buffer
		s.out = &text
		_, _, err := s.run(s.Context(), "tok-agents", []string{"label-state", "status", i, "--json"})
		var v struct {
			Answer, State string
			Labels        []string
			Holder        struct{ Codename string }
			Attempts      []any
		}

		if err := json.Unmarshal(text.Bytes(), &v); err != nil {
			s.Errorf("%s: %v", i, err)
		}
		out = append(out, fmt.Sprint(i, v.Answer, v.State, v.Labels, v.Holder.Codename, len(v.Attempts), err))
	}

	for _, repo := range []string{"acme/app", "acme/web"} {
		for n := 2; n < 7; n++ {
			if i, err := s.world.Issue(repo, n); err == nil && i.Pull {
				out = append(out, fmt.Sprint(repo, n, i.State, i.Labels, passing.ReplaceAllString(i.Body, "")))
			}
		}
	}

	return strings.Join(out, "\n")
}

// fed is a line of a story as it is run: "event KIND OPTION..." is an event of an agent's session,
// which stands on the input.
func (s *trialWorld) fed(line string) string {
	rest, is := strings.CutPrefix(line, "event ")
	s.typed = ""
	if !is {
		return line
	}

	kind, options, _ := strings.Cut(rest, " ")
	s.typed = `{"session_id":"5f2c","transcript_path":"/t","cwd":".",` + map[string]string{
		"start": `"hook_event_name":"SessionStart","source":"startup"}`,
		"edit":  `"hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"a.txt"}}`,
		"push":  `"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push origin x"}}`,
	}[kind]

	return "label-state agent event claude-code " + options
}
