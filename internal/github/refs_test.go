package github

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/gitref"
)

const leaseRef = "refs/label-state/lease/1"

// answering answers every query with one text and all else with 404, and counts the queries.
func answering(text string) (http.RoundTripper, *int) {
	n := 0
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if !strings.HasSuffix(r.URL.Path, "/graphql") {
			return reply(404, "json"), nil
		}
		n++
		return reply(200, text), nil
	}), &n
}

// TestGetRefAnswers: one query; only a whole answer says that there is no reference.
func TestGetRefAnswers(t *testing.T) {
	const whole = `{"data":{"repository":{"id":"R_1","ref":{"target":{"oid":"abc","message":"m","date":"2026-05-01T10:00:00Z"}}}}}`
	for _, c := range []struct {
		name, body string
		oid        string
		fails      bool
	}{
		{"there", whole, "abc", false},
		{"none", `{"data":{"repository":{"id":"R_1","ref":null}}}`, "", false},
		{"another kind of object", `{"data":{"repository":{"id":"R_1","ref":{"target":{"oid":"abc"}}}}}`, "abc", false},
		{"no repository", `{"data":{"repository":null},"errors":[{"type":"NOT_FOUND","path":["repository"],"message":"no"}]}`, "", true},
		{"part not answered", `{"data":{"repository":{"id":"R_1","ref":null}},"errors":[{"path":["repository","ref"],"message":"timeout"}]}`, "", true},
		{"nothing to point at", `{"data":{"repository":{"id":"R_1","ref":{"target":null}}}}`, "", true},
		{"no id", `{"data":{"repository":{"ref":null}}}`, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			next, n := answering(c.body)
			tip, err := connect(t, next, as("tok")).GetRef(t.Context(), issue("app", 1), leaseRef)
			if (err != nil) != c.fails || tip.OID != c.oid || *n != 1 {
				t.Errorf("%+v, %v after %d queries", tip, err, *n)
			}

			if !c.fails && (tip.Now.IsZero() || tip.RepoID != "R_1") {
				t.Errorf("%+v: without the server's time or the repository", tip)
			}
		})
	}

	undated := roundTrip(func(*http.Request) (*http.Response, error) {
		r := reply(200, whole)
		r.Header.Del("Date")
		return r, nil
	})

	if tip, err := connect(t, undated, as("tok")).GetRef(t.Context(), issue("app", 1), leaseRef); err == nil {
		t.Errorf("without a date: %+v, want an error", tip)
	}

	pathless, _ := answering(`{"data":{"repository":null},"errors":[{"type":"FORBIDDEN","message":"no"}]}`)
	if tip, err := connect(t, pathless).GetRef(t.Context(), issue("app", 1), leaseRef); !isDenied(err) {
		t.Errorf("an error of no part: %+v, %v, want that it is not permitted", tip, err)
	}
}

// TestSwapRefAnswers: what GitHub may say to updateRefs, and what it means.
func TestSwapRefAnswers(t *testing.T) {
	for _, c := range []struct {
		name, body      string
		moved, rejected bool
	}{
		{"stale", `{"data":null,"errors":[{"type":"STALE_DATA","path":["updateRefs"],"message":"no"}]}`, true, false},
		{"forbidden", `{"data":{"updateRefs":null},"errors":[{"type":"FORBIDDEN","path":["updateRefs"],"message":"no"}]}`, false, true},
		{"unknown trouble", `{"data":{"updateRefs":null},"errors":[{"message":"Something went wrong"}]}`, false, false},
		{"nothing said", `{"data":{"updateRefs":null}}`, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			next, _ := answering(c.body)
			swap := gitref.Swap{
				Name:   leaseRef,
				Before: "a",
				After:  "b",
				RepoID: "R_1",
			}
			err := connect(t, next, as("tok")).SwapRefs(t.Context(), issue("app", 1), swap)
			var r interface{ Rejected() bool }
			if err == nil || errors.Is(err, gitref.ErrMoved) != c.moved || !c.moved &&
				(errors.As(err, &r) && r.Rejected()) != c.rejected {
				t.Errorf("%v; want moved %t, rejected %t", err, c.moved, c.rejected)
			}
		})
	}

	next, _ := answering(`{"data":{"updateRefs":null},"errors":[{"type":"UNPROCESSABLE","path":["updateRefs"],"message":"a rule"}]}`)
	err := connect(t, next, as("tok")).SwapRefs(t.Context(), issue("app", 1), gitref.Swap{Name: leaseRef, RepoID: "R_1"})
	if !errors.Is(err, gitref.ErrRefused) || !strings.Contains(err.Error(), "a rule") {
		t.Errorf("unprocessable: %v, want a refusal with what the server said", err)
	}
}

// TestRefs: a reference is made, read and moved, each by a swap from where it is.
func TestRefs(t *testing.T) {
	server, err := githubsim.New(world(), githubsim.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}

	c := connect(t, server.Transport())
	ctx, one := t.Context(), issue("app", 1)
	first, err := c.CreateCommit(ctx, one, "", "first")
	if err != nil || first.Date.IsZero() {
		t.Fatalf("commit: %+v, %v", first, err)
	}

	none, err := c.GetRef(ctx, one, leaseRef)
	if err != nil || none.OID != "" || none.Now.IsZero() {
		t.Fatalf("before: %+v, %v", none, err)
	}

	swap := func(before, after string) error {
		return c.SwapRefs(ctx, one, gitref.Swap{
			Name:   leaseRef,
			Before: before,
			After:  after,
			RepoID: none.RepoID,
		})
	}

	second, err := c.CreateCommit(ctx, one, first.OID, "second")
	if err != nil {
		t.Fatal(err)
	}

	rival, err := c.CreateCommit(ctx, one, first.OID, "rival")
	if err != nil {
		t.Fatal(err)
	}

	for _, step := range []struct {
		before, after string
		stale         bool
	}{{first.OID, second.OID, true}, {"", first.OID, false}, {"", first.OID, true}, {
		first.OID, second.OID,
		false,
	}, {first.OID, rival.OID, true}} {
		err := swap(step.before, step.after)
		// What GitHub says of a stale swap may as well be a fault of its own: nobody knows by it
		// what was done.
		if fault := is[*QueryError](err) && !lease.Rejected(err); fault != step.stale || !step.stale && err != nil {
			t.Errorf("from %q to %q: %v, want stale %t", step.before, step.after, err, step.stale)
		}
	}

	tip, err := c.GetRef(ctx, one, leaseRef)
	if err != nil || tip.OID != second.OID || tip.Message != "second" || !tip.Date.Equal(second.Date) ||
		tip.Now.Before(tip.Date) {
		t.Errorf("after: %+v, %v, want %+v", tip, err, second)
	}

	// A reference whose name only begins like it is not it.
	if err := c.SwapRefs(ctx, one,
		gitref.Swap{Name: "refs/label-state/lease/20", After: first.OID, RepoID: none.RepoID}); err != nil {
		t.Fatal(err)
	}

	if tip, err := c.GetRef(ctx, one, "refs/label-state/lease/2"); err != nil || tip.OID != "" {
		t.Errorf("longer name: %+v, %v, want none", tip, err)
	}
	var gone *NotFoundError
	if _, err := c.GetRef(ctx, issue("nowhere", 1), leaseRef); !errors.As(err, &gone) {
		t.Errorf("no repository: %v", err)
	}

	var denied *PermissionError
	if _, err := connect(t, server.Transport(), as("tok-rob")).CreateCommit(ctx, one, "", "x"); !errors.As(err,
		&denied) {
		t.Errorf("commit by a reader: %v", err)
	}

	if err := connect(t, server.Transport(), as("tok-rob")).SwapRefs(ctx, one,
		gitref.Swap{Name: leaseRef, After: first.OID, RepoID: none.RepoID}); !errors.As(err, &denied) {
		t.Errorf("swap by a reader: %v", err)
	}
}

// TestNoSwapByREST: where updateRefs is refused, or the server is too old for it, no reference is
// made or moved in any other way: by REST a reference of a lease moves from wherever it is.
func TestNoSwapByREST(t *testing.T) {
	for name, refusal := range map[string]*http.Response{
		"404":     reply(404, "json"),
		"403":     reply(403, `{"message":"Resource not accessible"}`),
		"too old": reply(200, `{"errors":[{"message":"Field 'updateRefs' doesn't exist on type 'Mutation'","extensions":{"code":"undefinedField"}}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			server, err := githubsim.New(world(), githubsim.Options{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}

			sent := watched(roundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/graphql") && asks(t, r, "mutation") {
					return refusal, nil
				}
				return server.Transport().RoundTrip(r)
			}))
			c := connect(t, sent)
			ctx, one := t.Context(), issue("app", 1)

			none, err := c.GetRef(ctx, one, leaseRef)
			if err != nil {
				t.Fatal(err)
			}

			made, err := c.CreateCommit(ctx, one, "", "first")
			if err != nil {
				t.Fatal(err)
			}

			err = c.SwapRefs(ctx, one, gitref.Swap{Name: leaseRef, After: made.OID, RepoID: none.RepoID})
			var denied *PermissionError
			if !errors.Is(err, gitref.ErrNoSwap) && !(name == "403" && errors.As(err, &denied)) {
				t.Errorf("error = %v, want that this server cannot swap", err)
			}

			if n := sent.like("POST /repos/acme/app/git/refs") + sent.like("PATCH /repos/acme/app/git/refs"); n > 0 {
				t.Errorf("%d writes of references by REST: %q", n, sent.sent)
			}

			if tip, err := c.GetRef(ctx, one, leaseRef); err != nil || tip.OID != "" {
				t.Errorf("after: %+v, %v, want no reference", tip, err)
			}
		})
	}
}

// TestCanSwapRefs: a server is asked by its schema whether it has updateRefs.
func TestCanSwapRefs(t *testing.T) {
	if err := connect(t, simulated(t).Transport()).CanSwapRefs(t.Context()); err != nil {
		t.Errorf("with updateRefs: %v", err)
	}

	for name, answer := range map[string]string{"too old": `{"data":{"input":null}}`, "nothing": ""} {
		next, _ := answering(answer)
		if answer == "" {
			next = roundTrip(func(*http.Request) (*http.Response, error) { return reply(404, "json"), nil })
		}

		if err := connect(t, next, as("tok")).CanSwapRefs(t.Context()); !errors.Is(err, gitref.ErrNoSwap) {
			t.Errorf("%s: %v, want that it has none", name, err)
		}
	}
}

// TestTreeOfItsOwn: where GitHub refuses a tree that nobody stored, or fails on it, one is stored,
// and remembered.
func TestTreeOfItsOwn(t *testing.T) {
	for _, answer := range []struct {
		status int
		body   string
	}{{422, `{"message":"Tree SHA does not exist"}`}, {500, "json"}, {502, "html"}} {
		synctest.Test(t, func(t *testing.T) { treeOfItsOwn(t, answer.status, answer.body) })
	}
}

func treeOfItsOwn(t *testing.T, status int, body string) {
	server, err := githubsim.New(world(), githubsim.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}

	refused, late := 0, 2
	next := roundTrip(func(r *http.Request) (*http.Response, error) {
		if !strings.HasSuffix(r.URL.Path, "/git/commits") {
			return server.Transport().RoundTrip(r)
		}
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(sent, []byte(emptyTree)) {
			refused++
			return reply(status, body), nil
		}
		if late > 0 {
			late--
			return reply(422, `{"message":"Tree SHA does not exist"}`), nil
		}

		r.Body = io.NopCloser(bytes.NewReader(sent))
		return server.Transport().RoundTrip(r)
	})

	c := connect(t, next)
	start := time.Now()
	for range 2 {
		made, err := c.CreateCommit(t.Context(), issue("app", 1), "", "m")
		if err != nil || made.OID == "" {
			t.Fatalf("%d: %+v, %v", status, made, err)
		}
	}

	if refused != 1 || time.Since(start) != 3*time.Second {
		t.Errorf("%d: asked %d times for the empty tree in %s, want once; and to wait twice for the stored tree",
			status, refused, time.Since(start))
	}

	if _, err := c.CreateCommit(t.Context(), issue("app", 1), strings.Repeat("1", 40), "m"); err == nil {
		t.Errorf("%d: committed on a parent that does not exist", status)
	}
}

// TestHiddenRepository: GitHub answers 404 to a write that a token may not make.
func TestHiddenRepository(t *testing.T) {
	c := connect(t, roundTrip(func(*http.Request) (*http.Response, error) { return reply(404, "json"), nil }))
	var denied *PermissionError
	if _, err := c.CreateCommit(t.Context(), issue("app", 1), "", "m"); !errors.As(err, &denied) {
		t.Errorf("commit: %v", err)
	}
}
