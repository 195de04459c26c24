package githubsim_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
)

const comments = "/repos/acme/app/issues/2/comments"

// once makes the fault happen to the first request and to no other.
func once(f githubsim.Fault) func(*http.Request) *githubsim.Fault {
	used := false
	return func(*http.Request) *githubsim.Fault {
		if used {
			return nil
		}
		used = true
		return &f
	}
}

// bodies are the comments of issue 2 as the store has them now.
func bodies(t *testing.T, s *githubsim.Server) string {
	t.Helper()
	list, err := s.Comments("acme/app", 2)
	if err != nil {
		t.Fatal(err)
	}

	var text []string
	for _, c := range list {
		text = append(text, c.Body)
	}

	return strings.Join(text, " ")
}

// TestWriteFaults says, for each way of failing, what the client sees and whether the comment is
// there.
func TestWriteFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		fault  githubsim.Fault
		status int // 0: the connection was reset
		stays  bool
	}{
		{"none", githubsim.Fault{}, 201, true},
		{"status", githubsim.Fault{Status: 502}, 502, false},
		{"reset", githubsim.Fault{Reset: true}, 0, false},
		{"answer lost", githubsim.Fault{ApplyThenFail: true}, 0, true},
		{"answer lost behind a 502", githubsim.Fault{ApplyThenFail: true, Status: 502}, 502, true},
		{"held back", githubsim.Fault{ApplyHeld: true}, 0, false},
		{"later", githubsim.Fault{ApplyLate: time.Hour, Status: 504}, 504, false},
		{"secondary limit", githubsim.SecondaryLimit(60), 403, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t)
			s.Fault = once(c.fault)
			got, err := try(s, "tok-wes", "POST "+comments, `{"body":"mine"}`)
			if c.status == 0 != errors.Is(err, syscall.ECONNRESET) || got.status != c.status {
				t.Errorf("answer %d, error %v; want %d", got.status, err, c.status)
			}

			if there := bodies(t, s) == "mine"; there != c.stays {
				t.Errorf("comment there: %v, want %v", there, c.stays)
			}

			if log := s.Requests(); len(log) != 1 || log[0].Status != c.status || !log[0].Writes() ||
				log[0].Login != "wes" {
				t.Errorf("request log: %+v", log)
			}
		})
	}
}

func TestSecondaryLimitHeaders(t *testing.T) {
	s := newServer(t)
	s.Fault = once(githubsim.SecondaryLimit(30))
	got := send(t, s, "tok-wes", "GET "+comments, "")
	if got.header.Get("Retry-After") != "30" || !strings.Contains(got.text, "secondary rate limit") {
		t.Errorf("header %v, body %s", got.header, got.text)
	}
}

// TestHeldWrite: what was kept back is applied when it is released, at that time.
func TestHeldWrite(t *testing.T) {
	s := newServer(t)
	s.Fault = once(githubsim.Fault{ApplyHeld: true})
	_, _ = try(s, "tok-wes", "POST "+comments, `{"body":"late"}`)
	send(t, s, "tok-wes", "POST "+comments, `{"body":"soon"}`)
	s.ReleaseLate()
	if got := bodies(t, s); got != "soon late" {
		t.Errorf("comments %q, want the held one last", got)
	}
}

// TestLateWrite runs on virtual time: the request is applied when it is due and carries that time.
func TestLateWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		began := time.Now()
		s.Fault = once(githubsim.Fault{ApplyLate: 5 * time.Second})
		_, _ = try(s, "tok-wes", "POST "+comments, `{"body":"late"}`)
		time.Sleep(4 * time.Second)
		if got := bodies(t, s); got != "" {
			t.Errorf("after 4 s: %q", got)
		}

		time.Sleep(6 * time.Second)
		send(t, s, "tok-wes", "POST "+comments, `{"body":"next"}`)
		list, _ := s.Comments("acme/app", 2)
		if bodies(t, s) != "late next" || list[0].CreatedAt.Sub(began) != 5*time.Second ||
			list[1].CreatedAt.Sub(began) != 10*time.Second {
			t.Errorf("comments: %+v", list)
		}
	})
}

// TestVirtualTime: an hour passes for the server when it passes for the bubble, and a delay of ten
// minutes costs nothing.
func TestVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		began := time.Now()
		first := send(t, s, "tok-wes", "GET /user", "")
		time.Sleep(time.Hour)
		s.Fault = once(githubsim.Fault{Delay: 10 * time.Minute})
		second := send(t, s, "tok-wes", "GET /user", "")
		date := func(r result) time.Time {
			at, err := http.ParseTime(r.header.Get("Date"))
			if err != nil {
				t.Fatal(err)
			}
			return at
		}

		if got := date(second).Sub(date(first)); got != 70*time.Minute {
			t.Errorf("Date moved by %v", got)
		}

		if got := time.Since(began); got != 70*time.Minute {
			t.Errorf("the bubble's clock moved by %v", got)
		}
	})
}

// TestSkip: the server's clock can be put forward alone; what it dates and what it calls the past
// go with it.
func TestSkip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		send(t, s, "tok-wes", "POST "+comments, `{"body":"a"}`)
		s.Skip(5 * time.Hour)
		s.Fault = once(githubsim.Fault{StaleFor: time.Hour})
		if past := send(t, s, "tok-wes", "GET "+comments, "").list(t); len(past) != 1 {
			t.Errorf("an hour ago: %v", past)
		}

		if got := send(t, s, "tok-wes", "POST "+comments,
			`{"body":"b"}`).json(t)["created_at"]; got != "2000-01-01T05:00:00Z" {
			t.Errorf("created at %v", got)
		}

		if log := s.Requests(); log[2].Time.Sub(log[0].Time) != 5*time.Hour {
			t.Errorf("log: %+v", log)
		}
	})
}

// TestDeadline: a client that gives up during the delay has written nothing; one that gives up on a
// slow answer has.
func TestDeadline(t *testing.T) {
	for _, c := range []struct {
		fault githubsim.Fault
		want  string
	}{
		{githubsim.Fault{Delay: 5 * time.Second}, ""},
		{githubsim.Fault{DelayAnswer: 5 * time.Second}, "mine"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t)
			s.Fault = once(c.fault)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, "POST", "https://api.github.com"+comments,
				strings.NewReader(`{"body":"mine"}`))
			if err != nil {
				t.Fatal(err)
			}

			req.Header.Set("Authorization", "token tok-wes")
			if _, err := s.Client().Do(req); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want the deadline", err)
			}

			if got := bodies(t, s); got != c.want {
				t.Errorf("comments %q, want %q", got, c.want)
			}
		})
	}
}

func TestTruncatedAnswer(t *testing.T) {
	s := newServer(t)
	s.Fault = once(githubsim.Fault{Truncate: 10})
	got, err := try(s, "tok-wes", "GET /repos/acme/app", "")
	if !errors.Is(err, io.ErrUnexpectedEOF) || len(got.text) != 10 || got.status != 200 {
		t.Errorf("read %q with status %d and error %v", got.text, got.status, err)
	}
}

// TestStaleReads: three changes a second apart, then reads from the past by REST and by GraphQL.
func TestStaleReads(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault func(began time.Time, ids []int64) githubsim.Fault
		want  string
	}{
		{"present", func(time.Time, []int64) githubsim.Fault { return githubsim.Fault{} }, "a b c"},
		{"before the third", func(began time.Time, _ []int64) githubsim.Fault {
			return githubsim.Fault{StaleBefore: began.Add(2 * time.Second)}
		}, "a b"},
		{"before all", func(began time.Time,
			_ []int64,
		) githubsim.Fault {
			return githubsim.Fault{StaleBefore: began}
		}, ""},
		{"as it was 1.5 s ago", func(time.Time,
			[]int64,
		) githubsim.Fault {
			return githubsim.Fault{StaleFor: 1500 * time.Millisecond}
		}, "a b"},
		{"newest hidden", func(time.Time, []int64) githubsim.Fault { return githubsim.Fault{StalePrefix: 1} }, "a b"},
		{"all hidden", func(time.Time, []int64) githubsim.Fault { return githubsim.Fault{StalePrefix: 99} }, ""},
		{"gap", func(_ time.Time, ids []int64) githubsim.Fault { return githubsim.Fault{StaleGap: ids[1:2]} }, "a c"},
		{"gap and prefix", func(_ time.Time, ids []int64) githubsim.Fault {
			return githubsim.Fault{StaleGap: ids[:1], StalePrefix: 1}
		}, "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t)
				began := time.Now()
				var ids []int64
				for _, body := range []string{"a", "b", "c"} {
					id, err := s.AddComment("acme/app", 2, "wes", body)
					if err != nil {
						t.Fatal(err)
					}
					ids = append(ids, id)
					time.Sleep(time.Second)
				}

				f := c.fault(began, ids)
				s.Fault = func(*http.Request) *githubsim.Fault { return &f }
				var rest []string
				for _, o := range send(t, s, "tok-wes", "GET "+comments, "").list(t) {
					rest = append(rest, o["body"].(string))
				}

				if got := strings.Join(rest, " "); got != c.want {
					t.Errorf("REST: %q, want %q", got, c.want)
				}
				var graph []string
				data := query(t, s, "tok-wes",
					`{repository(owner:"acme",name:"app"){issue(number:2){comments(first:9){nodes{body}}}}}`)
				nodes, _ := field(data, "data.repository.issue.comments.nodes").([]any)
				for _, n := range nodes {
					graph = append(graph, field(n.(map[string]any), "body").(string))
				}

				if got := strings.Join(graph, " "); got != c.want {
					t.Errorf("GraphQL: %q, want %q", got, c.want)
				}
			})
		})
	}
}

// TestStaleLabels: labels are read from the same past as everything else, and a new issue is not
// there yet.
func TestStaleLabels(t *testing.T) {
	s := newServer(t)
	if err := s.AddLabels("acme/app", 1, "wes", "ready"); err != nil {
		t.Fatal(err)
	}

	number, err := s.AddIssue("acme/app", "wes", "new", "")
	if err != nil {
		t.Fatal(err)
	}

	s.Fault = func(*http.Request) *githubsim.Fault { return &githubsim.Fault{StalePrefix: 2} }
	if got := send(t, s, "tok-wes", "GET /repos/acme/app/issues/1/labels", "").list(t); len(got) != 1 ||
		got[0]["name"] != "bug" {
		t.Errorf("labels: %v", got)
	}

	if got := send(t, s, "tok-wes", "GET /repos/acme/app/issues/5", ""); number != 5 || got.status != 404 {
		t.Errorf("new issue %d: %d", number, got.status)
	}
}

func TestParseFault(t *testing.T) {
	for _, c := range []struct{ rules, requests, want string }{
		{"delay=80ms", "GET /a", "delay"},
		{"status=502:POST:/comments", "GET /x/comments|POST /x|POST /x/comments", "-|-|502"},
		{"lose=POST:/comments:1", "POST /comments|POST /comments", "lose|-"},
		{"lose:POST:/comments:1", "POST /comments|POST /comments", "lose|-"},
		{"reset:DELETE", "DELETE /|GET /", "reset|-"},
		{"lose=*::%3", "GET /|GET /|GET /|GET /", "-|-|lose|-"},
		{"reset", "GET /", "reset"},
		{"reset=DELETE, status=429", "DELETE /|GET /", "reset|429"},
		{"secondary=60:POST;stale=3s:GET", "POST /|GET /", "403|stale"},
		{"late=5s truncate=10", "GET /", "late"},
		{"secondary=60/429 too-quickly=POST", "POST /|GET /", "429|429"},
		{"too-quickly=POST:/comments", "POST /comments|POST /", "422|-"},
		{"limit=600", "POST /graphql|GET /repos", "200|-"},
		{"unseen=POST:/git/commits", "POST /git/commits|GET /git/commits", "unseen|-"},
		{"nodes=100:POST:/graphql:1 connections=9", "POST /graphql|POST /graphql", "nodes|connections"},
		{"timeout=50:*:/graphql;timeout=50/504", "POST /graphql|GET /", "timeout 502|timeout 504"},
		{
			"status=502:mutation:addLabels", `POST /graphql {"query":"mutation { addLabels }"}|POST /graphql {"query":"mutation { updateRefs }"}|` +
				`POST /graphql {"query":"{ addLabels }"}|POST /addLabels {"query":"mutation { addLabels }"}|POST /graphql`, "502|-|-|-|-",
		},
		{"", "GET /", "-"},
	} {
		fault, err := githubsim.ParseFault(c.rules)
		if err != nil {
			t.Errorf("%q: %v", c.rules, err)
			continue
		}

		var got []string
		for line := range strings.SplitSeq(c.requests, "|") {
			method, path, _ := strings.Cut(line, " ")
			path, body, _ := strings.Cut(path, " ")
			req, _ := http.NewRequest(method, "http://h"+path, strings.NewReader(body))
			got = append(got, kind(fault(req)))
		}

		if strings.Join(got, "|") != c.want {
			t.Errorf("%q on %s: %v, want %s", c.rules, c.requests, got, c.want)
		}
	}

	for _, bad := range []string{
		"boom", "delay", "delay:80ms", ":POST", "delay=", "delay=x", "delay=-1s", "status=5", "status=x", "truncate=0",
		"lose=POST:/c:0", "lose=POST:/c:x", "lose=3", "delay=80ms:3",
		"lose=POST:/c:%", "status=502:POST:/a:1:2", "late=1", "nodes=0", "connections=x", "timeout=0", "timeout=9/5",
		"timeout=/504", "secondary=0", "secondary=9/5", "too-quickly=POST:/a:0", "limit=0", "limit=soon",
		"unseen=POST:/a:0",
	} {
		if _, err := githubsim.ParseFault(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func kind(f *githubsim.Fault) string {
	switch {
	case f == nil:
		return "-"
	case f.Delay > 0:
		return "delay"
	case f.QueryTimeout > 0:
		return fmt.Sprint("timeout ", f.Status)
	case f.QueryNodes > 0:
		return "nodes"
	case f.QueryConnections > 0:
		return "connections"
	case f.Status != 0:
		return map[int]string{502: "502", 429: "429", 422: "422", 403: "403", 200: "200"}[f.Status]
	case f.ApplyThenFail:
		return "lose"
	case f.Unseen:
		return "unseen"
	case f.Reset:
		return "reset"
	case f.ApplyLate > 0:
		return "late"
	case f.StaleFor > 0:
		return "stale"
	}

	return "?"
}
