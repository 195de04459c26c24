package pushcheck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/dedup"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/outgoing"
	"github.com/label-state/label-state/internal/setup"
)

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("oh\x1b[31m\nno") }

// endless never has anything to read.
type endless struct{ released chan struct{} }

func (e endless) Read([]byte) (int, error) {
	<-e.released
	return 0, io.EOF
}

// newHook is a run of the program in an empty folder; vars are its environment.
func newHook(t *testing.T, stdin io.Reader, vars map[string]string, args ...string) (*Hook, *strings.Builder) {
	t.Helper()
	var stderr strings.Builder
	return &Hook{
		Args:   args,
		Stdin:  stdin,
		Stdout: io.Discard,
		Stderr: &stderr,
		Start:  time.Now(),
		Env: setup.Environment{
			Getenv: func(name string) string { return vars[name] },
			Dir:    t.TempDir(),
			Stderr: io.Discard,
			Run:    func(context.Context, setup.Command) ([]byte, error) { panic("no such thing") },
			Exec:   func(context.Context, git.Command) ([]byte, error) { panic("no such thing") },
		},
	}, &stderr
}

const refusing = "version: 1\nhook: {on_unknown: refuse, pull_requests: true}\n"

// careful is a checked-out configuration that refuses what could not be checked.
func careful(t *testing.T, h *Hook) {
	t.Helper()
	file := filepath.Join(h.Env.Dir, filepath.FromSlash(config.Path))
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755),
		os.WriteFile(file, []byte(refusing), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func TestPanic(t *testing.T) {
	preCommit := map[string]string{"PRE_COMMIT_REMOTE_NAME": "origin", "PRE_COMMIT_TO_REF": "HEAD"}
	for _, c := range []struct {
		name  string
		stdin io.Reader
		vars  map[string]string
		args  []string
		want  string
	}{
		{
			"while reading",
			panicking{},
			nil,
			[]string{"origin", "https://github.com/acme/app"},
			"internal error: oh[31m no",
		},
		{"afterwards", strings.NewReader(""), preCommit, nil, "internal error: no such thing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, stderr := newHook(t, c.stdin, c.vars, c.args...)
			if code := h.Run(t.Context()); code != exitPass ||
				stderr.String() != "label-state: not checked, pushing anyway: "+c.want+"\n" {
				t.Errorf("exit %d with\n%s", code, stderr)
			}

			h, stderr = newHook(t, c.stdin, c.vars, c.args...)
			careful(t, h)
			if code := h.Run(t.Context()); code != exitRefuse ||
				!strings.Contains(stderr.String(), "push refused, could not check it: "+c.want) {
				t.Errorf("careful: exit %d with\n%s", code, stderr)
			}
		})
	}
}

// TestEndlessInput is lefthook without use_stdin.
func TestEndlessInput(t *testing.T) {
	in := endless{make(chan struct{})}
	defer close(in.released)
	h, stderr := newHook(t, in, nil, "origin", "https://github.com/acme/app", "more")
	h.Start = h.Start.Add(-outgoing.Budget)
	if code := h.Run(t.Context()); code != exitPass ||
		stderr.String() != "label-state: not checked, pushing anyway: read from git: the input does not end\n" {
		t.Errorf("exit %d with\n%s", code, stderr)
	}
}

// deaf answers no request before it is released, whatever becomes of the request's context.
type deaf struct{ released chan struct{} }

func (d deaf) RoundTrip(*http.Request) (*http.Response, error) {
	<-d.released
	return nil, errors.New("too late")
}

// TestNothingOutlastsTheTime: what does not end with the time is not waited for.
func TestNothingOutlastsTheTime(t *testing.T) {
	never := deaf{make(chan struct{})}
	t.Cleanup(func() { close(never.released) })
	h, stderr := newHook(t, nil, map[string]string{
		"LABEL_STATE_TOKEN":   "t",
		"LABEL_STATE_API_URL": "http://127.0.0.1:1",
	})
	careful(t, h)
	h.Start = h.Start.Add(grace - outgoing.Budget)
	h.Env.HTTP = never
	h.Env.Exec = func(context.Context, git.Command) ([]byte, error) { return nil, nil }
	push := outgoing.Push{Remote: "origin", URL: "http://127.0.0.1:1/acme/app.git"}
	report := make(chan dedup.Report, 1)
	go func() {
		report <- h.check(t.Context(), push, []dedup.Message{{Text: "closes #1", Cut: true}, {Text: "closes #2"}})
	}()

	select {
	case r := <-report:
		if code := h.say(r); code != exitRefuse ||
			!strings.Contains(stderr.String(), "could not check #1, #2: ") ||
			!strings.Contains(stderr.String(), "1 MiB; no answer in time (hook.timeout)") {
			t.Errorf("exit %d with\n%s", code, stderr)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it waits for an answer that does not come")
	}
}

// TestLate: what was not read by the end is unknown for that reason, and what was found out may still be a
// no, but nothing is free.
func TestLate(t *testing.T) {
	got := late([]dedup.Snapshot{{Unread: "reset"}, {}, {Absent: true}}, errLate)
	if got[0].Unread != errLate.Error() || len(got[0].Facts.Doubts) > 0 ||
		got[1].Unread != "" || len(got[1].Facts.Doubts) != 1 || len(got[2].Facts.Doubts) > 0 {
		t.Errorf("%+v", got)
	}
}

// far answers after so long.
type far struct {
	next    http.RoundTripper
	latency time.Duration
}

func (f far) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case <-time.After(f.latency):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	return f.next.RoundTrip(r)
}

// TestSpamStopsNoVerdict: 5,000 comments of strangers before and after the holder's claim, forged
// records among them, do not keep the hook from refusing within a second at 150 ms a request; nor
// does a connection that breaks once, and an answer of the last moment counts.
func TestSpamStopsNoVerdict(t *testing.T) {
	for _, c := range []struct {
		comments      int
		latency, most time.Duration
		broken        error // what becomes of the first request
	}{
		{5000, 150 * time.Millisecond, time.Second, nil},
		{1, (outgoing.Budget - 10*time.Millisecond) / 3, outgoing.Budget, nil},
		{1, 0, outgoing.Budget, &net.OpError{Op: "read", Err: syscall.ECONNRESET}},
	} {
		server := spammed(t, c.comments)
		synctest.Test(t, func(t *testing.T) {
			h, stderr := newHook(t, nil, map[string]string{"GH_TOKEN": "tok-ann"})
			careful(t, h)
			h.Env.HTTP = counting(func(r *http.Request) (*http.Response, error) {
				if err := c.broken; err != nil {
					c.broken = nil
					return nil, err
				}
				return far{server.Transport(), c.latency}.RoundTrip(r)
			})
			h.Env.Exec = func(context.Context, git.Command) ([]byte, error) { return nil, nil }
			push := outgoing.Push{Remote: "origin", URL: "https://github.com/acme/app.git"}
			code := h.say(h.check(t.Context(), push, []dedup.Message{{Text: "closes #1"}}))
			if code != exitRefuse || !strings.Contains(stderr.String(), "in flight: tia (run f-tia)") {
				t.Errorf("exit %d with\n%s", code, stderr)
			}

			if took := time.Since(h.Start); took > c.most {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// spammed is a GitHub on which an issue that tia holds has so many comments, forged records among
// them.
func spammed(t *testing.T, comments int) *githubsim.Server {
	t.Helper()
	seed := githubsim.Seed{
		Users: []githubsim.SeedUser{
			{Login: "ann", Token: "tok-ann", Permissions: map[string]string{"acme/app": "write"}},
			{Login: "tia", Token: "tok-tia", Permissions: map[string]string{"acme/app": "triage"}},
		},
		Repos: []githubsim.SeedRepo{{
			Name: "acme/app",
			Issues: []githubsim.SeedIssue{
				{Number: 1, Title: "Wanted", Author: "ann"},
				{Number: 2, Title: "Free", Author: "ann"},
			},
			Files: map[string]string{config.Path: refusing},
		}},
	}
	thread := &seed.Repos[0].Issues[0].Comments
	for n := range comments {
		author, body := fmt.Sprint("stranger", n%500), "any news?"
		switch {
		case n == comments/2:
			author, body = "tia", "<!-- agent-claim:codename=tia firing_id=f-tia nonce=7f3a9c1e ttl=none state=held -->"
		case n%50 == 0:
			body = fmt.Sprintf("<!-- agent-claim:codename=mal firing_id=f-%d nonce=7f3a9c1e ttl=none state=held -->", n)
		case n%50 == 1:
			body = "<!-- agent-release:codename=tia firing_id=f-tia outcome=forced by=mal -->"
		}

		*thread = append(*thread, githubsim.SeedComment{Author: author, Body: body})
	}

	server, err := githubsim.New(seed, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	return server
}

// TestHandedOver: what the first stage has read counts, also where git cannot say which of it leaves
// exactly; a terminal sees it in colours.
func TestHandedOver(t *testing.T) {
	update := "refs/heads/fix " + strings.Repeat("1", 40) + " refs/heads/fix " + strings.Repeat("0", 40) + "\n"
	in := outgoing.HandOver([]byte(update), []outgoing.Commit{
		{OID: strings.Repeat("1", 40), Message: []byte("closes #1")},
	}, false)
	h, stderr := newHook(t, bytes.NewReader(in), map[string]string{"GH_TOKEN": "tok-ann"}, "origin",
		"https://github.com/acme/app.git")
	h.Env.HTTP = spammed(t, 1).Transport()
	h.Env.Exec = func(context.Context, git.Command) ([]byte, error) { return nil, nil }
	h.Env.Watched = func(io.Writer) bool { return true }
	if code := h.Run(t.Context()); code != exitRefuse || !strings.Contains(stderr.String(), "in flight: tia") ||
		!strings.Contains(stderr.String(), "\x1b[") {
		t.Errorf("exit %d with\n%s", code, stderr)
	}
}

// TestPushedTo: a path is to the repository whose issues are meant, and a fork is not.
func TestPushedTo(t *testing.T) {
	for url, want := range map[string]string{"/srv/git/app.git": "acme/app", "https://github.com/ann/app.git": "ann/app"} {
		c := checker{push: outgoing.Push{URL: url}, remote: host.Remote{Owner: "acme", Repo: "app"}}
		if got := c.pushedTo().String(); got != want {
			t.Errorf("pushed to %s, want %s", got, want)
		}
	}
}

// TestParentUnread: an issue that a fork does not have is unknown where its parent does not answer.
func TestParentUnread(t *testing.T) {
	server, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{{Login: "ann", Token: "tok-ann", Permissions: map[string]string{"ann/app": "admin"}}},
		Repos: []githubsim.SeedRepo{{Name: "acme/app"}, {Name: "ann/app", ForkOf: "acme/app"}},
	}, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	synctest.Test(t, func(t *testing.T) {
		h, stderr := newHook(t, nil, map[string]string{"GH_TOKEN": "tok-ann"})
		h.Env.Exec = func(context.Context, git.Command) ([]byte, error) { return nil, nil }
		h.Env.HTTP = counting(func(r *http.Request) (*http.Response, error) {
			if r.Body != nil {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return nil, err
				}
				if bytes.Contains(body, []byte(`"acme"`)) {
					return far{nil, time.Minute}.RoundTrip(r)
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
			}
			return server.Transport().RoundTrip(r)
		})
		push := outgoing.Push{Remote: "origin", URL: "https://github.com/ann/app.git"}
		code := h.say(h.check(t.Context(), push, []dedup.Message{{Text: "closes #1"}}))
		if code != exitPass || !strings.Contains(stderr.String(), "not checked, pushing anyway: acme/app#1: ") {
			t.Errorf("exit %d with\n%s", code, stderr)
		}
	})
}

// TestOtherConfiguration: that the checked-out configuration is not the default branch's is said
// once, without another request, and neither when it is the same nor when there is none.
func TestOtherConfiguration(t *testing.T) {
	const strict, other = refusing, refusing + "trust: {logins: [mallory]}\n"
	const note = "label-state: note: .github/label-state.yml as it is checked out differs from the default branch of acme/app, which is what counts: trust.logins\n"
	for _, c := range []struct{ name, here, there, want string }{
		{"the same", strict, strict, ""},
		{"another", other, strict, note},
		{"only spelled otherwise", strict + "# by hand\n", strict, ""},
		{"none here", "", other, ""},
	} {
		seed := githubsim.Seed{
			Users: []githubsim.SeedUser{{
				Login: "ann", Token: "tok-ann",
				Permissions: map[string]string{"acme/app": "write"},
			}},
			Repos: []githubsim.SeedRepo{{
				Name: "acme/app", Issues: []githubsim.SeedIssue{{Number: 1, Title: "Wanted", Author: "ann"}},
				Files: map[string]string{config.Path: c.there},
			}},
		}
		server, err := githubsim.New(seed, githubsim.Options{})
		if err != nil {
			t.Fatal(err)
		}

		h, stderr := newHook(t, nil, map[string]string{"GH_TOKEN": "tok-ann"})
		requests := 0
		h.Env.HTTP = counting(func(r *http.Request) (*http.Response, error) {
			requests++
			return server.Transport().RoundTrip(r)
		})
		asked := 0
		h.Env.Exec = func(context.Context, git.Command) ([]byte, error) { asked++; return nil, nil }
		if c.here != "" {
			file := filepath.Join(h.Env.Dir, filepath.FromSlash(config.Path))
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755),
				os.WriteFile(file, []byte(c.here), 0o644)); err != nil {
				t.Fatal(err)
			}
		}

		code := h.say(h.check(t.Context(), outgoing.Push{Remote: "origin", URL: "https://github.com/acme/app.git"},
			[]dedup.Message{{Text: "closes #1"}}))
		said := strings.ReplaceAll(stderr.String(), "label-state: note: not in a git repository\n", "")
		if code != exitPass || said != c.want {
			t.Errorf("%s: exit %d with\n%s", c.name, code, said)
		}

		if asked != 1 {
			t.Errorf("%s: git was started %d times", c.name, asked)
		}

		// under other rules the issue is read again
		if most := map[bool]int{true: 2, false: 1}[c.want != "" || c.here == ""]; requests > most {
			t.Errorf("%s: %d requests", c.name, requests)
		}
	}
}

// TestNothingToRead: where a token shows nothing of the repository, or nobody has it, what is
// checked out says how strict the hook is.
func TestNothingToRead(t *testing.T) {
	server, err := githubsim.New(githubsim.Seed{Users: []githubsim.SeedUser{{Login: "ann", Token: "tok-ann"}}},
		githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		token string
		here  int
	}{{"tok-ann", exitPass}, {"tok-ann", exitRefuse}, {"tok-nobody", exitRefuse}} {
		h, stderr := newHook(t, nil, map[string]string{"GH_TOKEN": c.token})
		if h.Env.HTTP = server.Transport(); c.here == exitRefuse {
			careful(t, h)
		}
		h.Env.Exec = func(context.Context, git.Command) ([]byte, error) { return nil, nil }
		push := outgoing.Push{Remote: "origin", URL: "https://github.com/acme/app.git"}
		if code := h.say(h.check(t.Context(), push, []dedup.Message{{Text: "closes #1"}})); code != c.here ||
			strings.Contains(stderr.String(), "differs") {
			t.Errorf("exit %d, want %d, with\n%s", code, c.here, stderr)
		}
	}
}

type counting func(*http.Request) (*http.Response, error)

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

// TestLateAtAnyRequest: whichever request takes too long, the pusher reads what the hook's time ended,
// and nothing of how a program says so. What was read by then of the configuration counts.
func TestLateAtAnyRequest(t *testing.T) {
	for _, c := range []struct {
		slow   int
		closes string
	}{{0, "closes #1"}, {1, "closes #1"}, {1, "closes #2"}} {
		server, slow := spammed(t, 1), c.slow
		synctest.Test(t, func(t *testing.T) {
			h, stderr := newHook(t, nil, map[string]string{"GH_TOKEN": "tok-ann"})
			careful(t, h)
			n := -1
			h.Env.HTTP = counting(func(r *http.Request) (*http.Response, error) {
				if n++; n == slow {
					return far{nil, time.Minute}.RoundTrip(r)
				}
				return server.Transport().RoundTrip(r)
			})
			h.Env.Exec = func(context.Context, git.Command) ([]byte, error) { return nil, nil }
			push := outgoing.Push{
				Remote:  "origin",
				URL:     "https://github.com/acme/app.git",
				Updates: []outgoing.Update{{LocalOID: "1", RemoteRef: "refs/heads/fix"}},
			}
			code := h.say(h.check(t.Context(), push, []dedup.Message{{Text: c.closes}}))
			if n < slow || code != exitRefuse || !strings.Contains(stderr.String(), "no answer in time") ||
				strings.Contains(stderr.String(), "context") {
				t.Errorf("request %d of %d is slow:\n%s", slow, n, stderr)
			}
		})
	}
}
