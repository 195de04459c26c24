package action_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/label-state/label-state/internal/action"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/sample"
)

// breakAfter lets n requests of the workflow's tokens through, and answers every later one with the
// fault. It reports how many there were.
func (w *world) breakAfter(n int, fault func() *githubsim.Fault) (asked func() int) {
	seen := 0
	w.server.Fault = func(r *http.Request) *githubsim.Fault {
		if !strings.Contains(r.Header.Get("Authorization"), "tok-") {
			return nil
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if seen++; seen <= n {
			return nil
		}

		return fault()
	}

	return func() int { return seen }
}

// TestGuardThatCouldNotJudgeIsRed: whatever may be written, and whichever request is the first that
// fails, a check of a pull request that closes somebody else's issue never passes. Where the guard
// could not judge, the run says that it could not find out and that a re-run is needed. An ordinary
// run plays half of the faults.
func TestGuardThatCouldNotJudgeIsRed(t *testing.T) {
	const fork = `{"action":"opened","number":2,"pull_request":{"number":2,"head":{"repo":{"full_name":"stranger/app"}}},` +
		`"repository":{"full_name":"acme/app"},"sender":{"login":"stranger","type":"User"}}`
	const own = `{"action":"opened","number":2,"pull_request":{"number":2,"head":{"repo":{"full_name":"acme/app"}}},` +
		`"repository":{"full_name":"acme/app"},"sender":{"login":"olga","type":"User"}}`
	faults := map[string]func() *githubsim.Fault{
		"502":   func() *githubsim.Fault { return &githubsim.Fault{Status: http.StatusBadGateway} },
		"reset": func() *githubsim.Fault { return &githubsim.Fault{Reset: true} },
		"spent": spent,
		"403": func() *githubsim.Fault {
			return &githubsim.Fault{
				Status: http.StatusForbidden,
				Body:   `{"message":"Resource not accessible by integration"}`,
			}
		},
	}

	for name, c := range map[string]struct {
		token, event string
		inputs       map[string]string
	}{
		"from a fork":                  {tokFork, fork, nil},
		"from a fork, the guard alone": {tokFork, fork, map[string]string{"mode": "guard"}},
		"from a fork that is gone": {
			tokFork,
			strings.Replace(fork, `{"full_name":"stranger/app"}`, "null", 1), nil,
		},
		"by Dependabot": {
			tokFork,
			strings.Replace(own, `"login":"olga"`, `"login":"dependabot[bot]"`, 1), nil,
		},
		"a job without permissions": {tokPoor, own, nil},
		"complete or not":           {tokActions, own, map[string]string{"fail-on-incomplete": "false"}},
		"complete or not, the guard alone": {
			tokActions, own,
			map[string]string{"fail-on-incomplete": "false", "mode": "guard"},
		},
		"a dry run": {
			tokActions, own,
			map[string]string{"fail-on-incomplete": "false", "dry-run": "true"},
		},
	} {
		for kind, fault := range faults {
			if !sample.Plays(name+", "+kind, 0, 2) {
				continue
			}
			t.Run(name+", "+kind, func(t *testing.T) {
				for n, asked := 0, 1; n <= asked && !t.Failed(); n++ {
					synctest.Test(t, func(t *testing.T) {
						w := newWorld(t, elsewhere()...)
						w.issue("Work")
						w.claim(1, "agents", "lucius", "fix")
						_, err := w.server.OpenPull(app, "stranger",
							githubsim.Pull{Title: "Work", Body: "Closes #1", Head: "stranger:fix"})
						w.must(err)
						count := w.breakAfter(n, fault)
						s := w.run(w.Context(), run{
							token:  c.token,
							name:   "pull_request",
							event:  []byte(c.event),
							inputs: c.inputs,
						})
						asked = count()

						switch refused := strings.Contains(s.log, "closes acme/app#1: held by lucius"); {
						case refused:
							w.said(s, 1)
						default:
							w.said(s, 3, "could not find out", "run this check again", "### Not judged", "incomplete<<")
							if strings.Contains(s.all(), "whether : ") {
								w.Errorf("of what is not said\n%s", s.short())
							}
						}

						if t.Failed() {
							t.Errorf("after %d requests", n)
						}
					})
				}
			})
		}
	}
}

// TestGuardThatMayNotFailStaysGreen: what the guard is told not to fail, it does not fail when it
// could not judge; it says so.
func TestGuardThatMayNotFailStaysGreen(t *testing.T) {
	const notice, doubt = "::notice::the token of this run may only read", "::warning::guard: could not find out"
	for name, c := range map[string]struct {
		guard, head, token string
		answers, code      int
		says               []string
	}{
		"warn":                                {"warn", "stranger:fix", tokFork, 2, 0, []string{notice, doubt}},
		"off":                                 {"off", "stranger:fix", tokFork, 2, 0, []string{notice}},
		"warn, and what it may write is left": {"warn", "fix", tokActions, 2, 3, []string{doubt}},
		"off, and what it may write is left":  {"off", "fix", tokActions, 2, 3, nil},
		"warn alone, and not all is examined": {"warn mode=guard", "fix", tokActions, 3, 1, []string{doubt, "not examined: "}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, elsewhere()...)
				w.issue("Work")
				_, err := w.server.OpenPull(app, "stranger",
					githubsim.Pull{Title: "Work", Body: "Closes #1", Head: c.head})
				w.must(err)
				e := w.last("pull_request", "opened", "")
				w.breakAfter(c.answers, func() *githubsim.Fault { return &githubsim.Fault{Status: http.StatusBadGateway} })

				guard, mode, _ := strings.Cut(c.guard, " mode=")
				s := w.run(w.Context(), run{
					token:  c.token,
					name:   e.Name,
					event:  e.Payload,
					inputs: map[string]string{"guard": guard, "mode": mode},
				})

				w.said(s, c.code, c.says...)
				if c.guard == "off" && strings.Contains(s.all(), "could not find out") {
					t.Errorf("a guard that is off speaks:\n%s", s.all())
				}
			})
		})
	}
}

// TestGuardJudgesWhatItCan: an issue that cannot be read does not hide the refusal of another, nor
// does another repository's that the token cannot see keep the guard from passing.
func TestGuardJudgesWhatItCan(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		code int
		says string
	}{
		"nobody has it":                     {"Closes #1", 0, ""},
		"not there":                         {"Closes #1, closes #99", 0, "acme/app#99"},
		"of a repository that is not shown": {"Closes #1, closes nobody/knows#1", 0, "nobody/knows#1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, elsewhere()...)
				w.issue("Work")
				_, err := w.server.OpenPull(app, "stranger",
					githubsim.Pull{Title: "Work", Body: c.body, Head: "stranger:fix"})
				w.must(err)
				e := w.last("pull_request", "opened", "")

				s := w.run(w.Context(), run{token: tokFork, name: e.Name, event: e.Payload})

				w.said(s, c.code, c.says)
				if strings.Contains(s.all(), "could not find out") {
					t.Errorf("%s\n%s", fmt.Sprint(name), s.all())
				}
			})
		})
	}
}

// TestCommentStays: whichever requests of a sweep fail, the guard's comment stays where its reason
// does.
func TestCommentStays(t *testing.T) {
	for _, wide := range []int{1, 2, 4, 8} { // one try, or all of a request
		for n, asked := 0, 1; n <= asked && !t.Failed(); n++ {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.issue("Work")
				w.claim(1, "agents", "lucius", "fix")
				_, err := w.server.OpenPull(app, "olga", githubsim.Pull{Title: "Work", Body: "Closes #1", Head: "mine"})
				w.must(err)
				w.said(w.deliver(tokActions, w.last("pull_request", "opened", "")), 1)

				broken := 0
				count := w.breakAfter(n, func() *githubsim.Fault {
					if broken++; broken > wide {
						return nil
					}
					return &githubsim.Fault{Status: http.StatusBadGateway}
				})
				w.sweep()
				asked = count()
				w.server.Fault = nil

				all, err := w.server.Comments(app, 2)
				w.must(err)
				if len(all) != 1 || !strings.Contains(all[0].Body, "lucius") {
					t.Errorf("%d of the requests after %d failed: %v", wide, n, all)
				}
			})
		}
	}
}

// TestFailedRunIsIncomplete: a run that could not look at anything says so in its output, also
// where it could not even open a list.
func TestFailedRunIsIncomplete(t *testing.T) {
	for n := range 3 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.issue("Work", "agent:implement")
			w.breakAfter(n, func() *githubsim.Fault { return &githubsim.Fault{Status: http.StatusBadGateway} })
			s := w.sweep()
			_, after, _ := strings.Cut(s.output, "\nincomplete<<")
			if lines := strings.Split(after, "\n"); s.code == 0 || len(lines) < 2 || lines[1] != "true" {
				t.Errorf("after %d requests: exit %d\n%s", n, s.code, s.output)
			}
		})
	}
}

// TestNothingRead: an event of whose issue nothing can be read ends with code 3; with 1 where that
// is so of an issue that waited for it.
func TestNothingRead(t *testing.T) {
	for code, path := range map[int]string{3: "", 1: "/collaborators/tia/permission"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.issue("Work")
			w.issue("Later")
			w.must(w.server.Block(app, 2, 1, "olga"))
			_, err := w.server.AddComment(app, 2, "tia",
				"<!-- agent-claim:codename=a firing_id=1 nonce=7f3a9c1e ttl=1800 state=held -->")
			w.must(err)
			w.must(w.server.Close(app, 1, "olga"))
			w.server.Fault = func(r *http.Request) *githubsim.Fault {
				if !strings.HasSuffix(r.URL.Path, path) {
					return nil
				}
				return &githubsim.Fault{Status: http.StatusBadGateway}
			}
			w.said(w.deliver(tokActions, w.last("issues", "closed", "")), code, "502")
		})
	}
}

// TestThousandIssues: who names more issues than are read is told so.
func TestThousandIssues(t *testing.T) {
	for name, c := range map[string]struct {
		named  int
		merged bool // named by the description of a pull request that is merged, else by a commit
		says   string
	}{
		"description": {closing.Limit, true, "names 1,000 issues or more"},
		"one less":    {closing.Limit - 1, true, ""},
		"commit":      {closing.Limit + 1, false, "its commits name more than 1000 issues"},
		"as many":     {closing.Limit, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				var text strings.Builder
				for n := range c.named {
					fmt.Fprintf(&text, "Closes #%d\n", n+2)
				}

				pull, what := githubsim.Pull{Title: "Work", Commits: []string{text.String()}, Head: "fix"}, "opened"
				if c.merged {
					pull.Body, pull.Commits = text.String(), nil
				}
				n, err := w.server.OpenPull(app, "olga", pull)
				w.must(err)
				if c.merged {
					w.must(w.server.Close(app, n, "olga"))
					what = "closed"
				}

				s := w.deliver(tokActions, w.last("pull_request", what, ""))
				if !strings.Contains(s.all(), c.says) || c.says == "" && strings.Contains(s.all(), " more") {
					t.Error(s.short())
				}
			})
		})
	}
}

// TestNoFailureIsSilent: whichever request is the first that fails, a run that leaves something to
// do says so. The vectors are played like this, too.
func TestNoFailureIsSilent(t *testing.T) {
	for _, script := range []string{
		"claim 1 agents lucius fix\nopen 2 olga mine: Closes #1\non pull_request opened\nrelease lucius failure\nsweep",
		"set contributors all pulls=claim\nopen 2 stranger fix: Closes #1\nsweep",
	} {
		for n, reached := 0, true; reached && !t.Failed(); n++ {
			synctest.Test(t, func(t *testing.T) {
				play(t, "issue 1 agent:implement\n"+script, failing(n, &reached))
			})
		}
	}
}

// TestThumbIsTrue: whichever request of a command fails, a thumb up says that it was carried out.
func TestThumbIsTrue(t *testing.T) {
	for n, asked := 0, 1; n <= asked && !t.Failed(); n++ {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.issue("Work")
			id, err := w.server.AddComment(app, 1, "olga", "/hold")
			w.must(err)
			refused := false
			count := w.breakAfter(n, func() *githubsim.Fault {
				if refused {
					return nil
				}
				refused = true
				return &githubsim.Fault{
					Status: http.StatusForbidden,
					Body:   `{"message":"Resource not accessible by integration"}`,
				}
			})
			s := w.deliver(tokActions, w.last("issue_comment", "created", ""))
			asked = count()
			w.server.Fault = nil

			labels, err := w.server.Labels(app, 1)
			w.must(err)
			thumbs, err := w.client("tok-olga").Reactions(w.Context(), ref(1).In(), id, "github-actions[bot]")
			w.must(err)
			if slices.Contains(thumbs, "+1") && !slices.Contains(labels, "do-not-pickup") {
				t.Errorf("after %d requests: labels %q\n%s", n, labels, s.short())
			}
		})
	}
}

// TestOwnerInAnotherCase: GitHub compares owners and names without case, and so does the Action.
func TestOwnerInAnotherCase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.issue("Work", "agent:implement")
		w.claim(1, "agents", "lucius", "fix")
		_, err := w.server.OpenPull(app, "olga", githubsim.Pull{Title: "Work", Body: "Closes Acme/App#1", Head: "mine"})
		w.must(err)
		e := w.last("pull_request", "opened", "")
		inCapitals := func(s *action.Step) { s.Repo = claim.Repo{Owner: "ACME", Name: "App"} }

		s := w.run(w.Context(), run{
			token:  tokActions,
			name:   e.Name,
			event:  e.Payload,
			change: inCapitals,
		})
		w.said(s, 1, "closes acme/app#1: held by lucius")
		if got := w.thread(2); len(got) != 1 {
			t.Errorf("%d comments of the guard", len(got))
		}

		l, _ := w.ledger("tok-agents")
		_, err = l.Release(t.Context(), ref(1), ledger.Ending{Worker: w.holds["lucius"].Record.Worker, Outcome: claim.OutcomeFailure})
		w.must(err)
		w.said(w.run(w.Context(), run{
			token:  tokActions,
			name:   "schedule",
			event:  []byte("{}"),
			inputs: map[string]string{"repos": "acme/APP, ACME/app"},
			change: inCapitals,
		}), 0, "examined")

		if got := w.thread(2); len(got) != 0 {
			t.Errorf("a comment of the guard stays: %v", got)
		}

		once, twice := w.sweep("repos=acme/APP"), w.sweep("repos=acme/APP, ACME/app")
		if twice.requests != once.requests {
			t.Errorf("named twice: %d requests, want %d", twice.requests, once.requests)
		}
	})
}

// TestClaimWithLateLabels: a claim by a command stands though its labels could not be written, and the answer says so.
func TestClaimWithLateLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.issue("Work", "agent:implement")
		_, err := w.server.AddComment(app, 1, "tia", "/claim")
		w.must(err)
		w.server.Fault = func(r *http.Request) *githubsim.Fault {
			body, err := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			w.must(err)
			if r.Method == http.MethodPost && (bytes.Contains(body, []byte("addLabels")) || strings.HasSuffix(r.URL.Path, "/labels")) {
				return &githubsim.Fault{Status: http.StatusForbidden}
			}
			return nil
		}

		w.said(w.deliver(tokActions, w.last("issue_comment", "created", "")), 1, "tia holds acme/app#1")
	})
}
