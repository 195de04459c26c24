package github

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
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
	const whole = `{"data":{"repository":{"id":"R_1","ref":{"target":{"oid":"abc","message":"m","committedDate":"2026-05-01T10:00:00Z"}}}}}`
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
}

// TestSwapRefAnswers: what GitHub may say to updateRefs, and what it means.
func TestSwapRefAnswers(t *testing.T) {
	for _, c := range []struct {
		name, body      string
		moved, rejected bool
	}{
		{"conflict", `{"data":{"updateRefs":null},"errors":[{"type":"UNPROCESSABLE","path":["updateRefs"],"message":"no"}]}`, true, false},
		{"stale", `{"data":null,"errors":[{"type":"STALE_DATA","path":["updateRefs"],"message":"no"}]}`, true, false},
		{"forbidden", `{"data":{"updateRefs":null},"errors":[{"type":"FORBIDDEN","path":["updateRefs"],"message":"no"}]}`, false, true},
		{"unknown trouble", `{"data":{"updateRefs":null},"errors":[{"message":"Something went wrong"}]}`, false, false},
		{"nothing said", `{"data":{"updateRefs":null}}`, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			next, _ := answering(c.body)
			swap := gitref.Swap{Name: leaseRef, Before: "a", After: "b", RepoID: "R_1"}
			err := connect(t, next, as("tok")).SwapRef(t.Context(), issue("app", 1), swap)
			var r interface{ Rejected() bool }
			if err == nil || errors.Is(err, gitref.ErrMoved) != c.moved || !c.moved && (errors.As(err, &r) && r.Rejected()) != c.rejected {
				t.Errorf("%v; want moved %t, rejected %t", err, c.moved, c.rejected)
			}
		})
	}
}

// TestRefsEitherWay: by GraphQL and by REST a reference lives the same life.
func TestRefsEitherWay(t *testing.T) {
	for name, change := range map[string]func(*Options){"GraphQL": func(*Options) {}, "REST": byREST} {
		t.Run(name, func(t *testing.T) {
			server, err := githubsim.New(world(), githubsim.Options{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			c := connect(t, server.Transport(), change)
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
				return c.SwapRef(ctx, one, gitref.Swap{Name: leaseRef, Before: before, After: after, RepoID: none.RepoID})
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
				moved         bool
			}{{first.OID, second.OID, true}, {"", first.OID, false}, {"", first.OID, true}, {first.OID, second.OID, false}, {first.OID, rival.OID, true}} {
				if err := swap(step.before, step.after); errors.Is(err, gitref.ErrMoved) != step.moved || !step.moved && err != nil {
					t.Errorf("from %q to %q: %v, want moved %t", step.before, step.after, err, step.moved)
				}
			}
			tip, err := c.GetRef(ctx, one, leaseRef)
			if err != nil || tip.OID != second.OID || tip.Message != "second" || !tip.Date.Equal(second.Date) || tip.Now.Before(tip.Date) {
				t.Errorf("after: %+v, %v, want %+v", tip, err, second)
			}
			// A reference whose name only begins like it is not it.
			if err := c.SwapRef(ctx, one, gitref.Swap{Name: "refs/label-state/lease/20", After: first.OID, RepoID: none.RepoID}); err != nil {
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
			if _, err := connect(t, server.Transport(), change, as("tok-rob")).CreateCommit(ctx, one, "", "x"); !errors.As(err, &denied) {
				t.Errorf("commit by a reader: %v", err)
			}
			if err := connect(t, server.Transport(), change, as("tok-rob")).SwapRef(ctx, one, gitref.Swap{Name: leaseRef, After: first.OID, RepoID: none.RepoID}); !errors.As(err, &denied) {
				t.Errorf("swap by a reader: %v", err)
			}
		})
	}
}

// TestTreeOfItsOwn: where GitHub refuses a tree that nobody stored, one is stored, and remembered.
func TestTreeOfItsOwn(t *testing.T) {
	server, err := githubsim.New(world(), githubsim.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	next := roundTrip(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/git/commits") {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			if bytes.Contains(body, []byte(emptyTree)) {
				refused++
				return reply(422, `{"message":"Tree SHA does not exist"}`), nil
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		return server.Transport().RoundTrip(r)
	})
	c := connect(t, next)
	for range 2 {
		made, err := c.CreateCommit(t.Context(), issue("app", 1), "", "m")
		if err != nil || made.OID == "" {
			t.Fatalf("%+v, %v", made, err)
		}
	}
	if refused != 1 {
		t.Errorf("asked %d times for the empty tree, want once", refused)
	}
	if _, err := c.CreateCommit(t.Context(), issue("app", 1), strings.Repeat("1", 40), "m"); err == nil {
		t.Error("committed on a parent that does not exist")
	}
}

// TestHiddenRepository: GitHub answers 404 to a write that a token may not make.
func TestHiddenRepository(t *testing.T) {
	c := connect(t, roundTrip(func(*http.Request) (*http.Response, error) { return reply(404, "json"), nil }), byREST)
	var denied *PermissionError
	if _, err := c.CreateCommit(t.Context(), issue("app", 1), "", "m"); !errors.As(err, &denied) {
		t.Errorf("commit: %v", err)
	}
	if err := c.SwapRef(t.Context(), issue("app", 1), gitref.Swap{Name: leaseRef, Before: "a", After: "b"}); !errors.As(err, &denied) {
		t.Errorf("swap: %v", err)
	}
	var gone *NotFoundError
	if _, err := c.GetRef(t.Context(), issue("app", 1), leaseRef); !errors.As(err, &gone) {
		t.Errorf("get: %v", err)
	}
	if _, err := c.GetRef(t.Context(), issue("app", 1), "refs/../../x"); !errors.As(err, &gone) {
		t.Errorf("name that is none: %v", err)
	}
}
