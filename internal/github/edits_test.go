package github

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
)

// TestHealed: a record that somebody else has edited stays void though its author edits it again.
// Who edited is asked by one query more, once for each revision, and only where a record says that
// it was edited.
func TestHealed(t *testing.T) {
	server, i := court(t), issue("app", 1)
	record := "<!-- agent-claim:codename=lucius firing_id=f1 nonce=7f3a9c1e ttl=none state=held -->"
	for login, text := range map[string]string{"tia": "Soon.", "mal": record} { // of these nobody asks
		id, err := server.AddComment("acme/app", 1, login, text)
		if err == nil {
			err = server.EditComment("acme/app", id, login, text+"\nOr later.")
		}
		if err != nil {
			t.Fatal(err)
		}
	}

	id, err := server.AddComment("acme/app", 1, "tia", record)
	if err != nil {
		t.Fatal(err)
	}

	sent := watched(server.Transport())
	c := connect(t, sent, as("tok-wes"), trusting(RoleTriage))
	for _, step := range []struct {
		by, more string
		held     bool
		requests int
	}{
		{"", "", true, 2}, // the issue and a role
		{"tia", "renewed", true, 2},
		{"", "", true, 1},
		{"olga", "meddled with", false, 1},
		{"tia", "renewed again", false, 2},
	} {
		if step.by != "" {
			if err := server.EditComment("acme/app", id, step.by, record+"\n"+step.more); err != nil {
				t.Fatal(err)
			}
		}

		before := len(sent.sent)
		f, err := c.Facts(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}

		if _, held := f.Log.Holder(); held != step.held || len(sent.sent)-before != step.requests {
			t.Errorf("after %q by %q: held %t by %d requests, want %t by %d", step.more, step.by, held,
				len(sent.sent)-before, step.held, step.requests)
		}
	}

	holders := connect(t, server.Transport(), as("tok-wes"), trusting(RoleTriage)).HoldersOf(t.Context(),
		[]claim.Issue{i})
	if _, held := holders[0].Facts.Log.Holder(); held || holders[0].Err != nil {
		t.Errorf("for the hook it is held: %t, %v", held, holders[0].Err)
	}
}

// TestEditsUnread: who edited a record cannot be found out, so that nobody knows whether it counts.
// Nobody asks that about records of their own.
func TestEditsUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, i := court(t), issue("app", 1)
		record := "<!-- agent-claim:codename=lucius firing_id=f1 nonce=7f3a9c1e ttl=none state=held -->"
		id, err := server.AddComment("acme/app", 1, "tia", record)
		if err == nil {
			err = server.EditComment("acme/app", id, "tia", record+"\nrenewed")
		}

		if err != nil {
			t.Fatal(err)
		}

		broken := roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Body == nil {
				return server.Transport().RoundTrip(r)
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			if bytes.Contains(body, []byte("userContentEdits")) {
				return &http.Response{
					StatusCode: http.StatusBadGateway,
					Header:     http.Header{},
					Body:       http.NoBody,
					Request:    r,
				}, nil
			}

			r.Body = io.NopCloser(bytes.NewReader(body))
			return server.Transport().RoundTrip(r)
		})

		if f, err := connect(t, broken, as("tok-wes"), trusting(RoleTriage)).Facts(t.Context(), i); err == nil {
			t.Errorf("%d live claims, and no error", len(f.Log.Live()))
		}
		f, err := connect(t, broken, as("tok-tia"), trusting(RoleTriage)).Facts(t.Context(), i)
		if err != nil || len(f.Log.Live()) != 1 {
			t.Errorf("for the author: %d live claims, %v", len(f.Log.Live()), err)
		}
	})
}

// TestEditorNotTold: an edit of which GitHub does not say who made it is the author's, for the
// author and for everybody else.
func TestEditorNotTold(t *testing.T) {
	seed := githubsim.Seed{
		Users: []githubsim.SeedUser{
			{Login: "tia", Token: "tok-tia", Permissions: map[string]string{"acme/app": "triage"}},
			{Login: "wes", Token: "tok-wes", Permissions: map[string]string{"acme/app": "write"}},
		},
		Repos: []githubsim.SeedRepo{{Name: "acme/app", Issues: []githubsim.SeedIssue{{
			Number: 1,
			Title:  "Held",
			Author: "wes",
			Comments: []githubsim.SeedComment{{
				Author:    "tia",
				Editor:    "ghost",
				CreatedAt: day("10:00:00"),
				UpdatedAt: day("10:20:00"),
				Body:      "<!-- agent-claim:codename=lucius firing_id=f1 nonce=7f3a9c1e ttl=none state=held -->",
			}},
		}}}},
	}
	server, err := githubsim.New(seed, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	for _, token := range []string{"tok-tia", "tok-wes"} {
		f, err := connect(t, server.Transport(), as(token)).Facts(t.Context(), issue("app", 1))
		if err != nil {
			t.Fatal(err)
		}

		if h, held := f.Log.Holder(); !held || h.Author != "tia" || len(f.Log.Ignored) > 0 {
			t.Errorf("%s: held %t, ignored %v", strings.TrimPrefix(token, "tok-"), held, f.Log.Ignored)
		}
	}
}
