package github

import (
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/gitref"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
	"github.com/label-state/label-state/internal/sample"
)

// recorded posts a comment, and wants a snapshot along.
func recorded(t *testing.T, c *Client, i claim.Issue, body string) (claim.Comment, *lifecycle.Facts, error) {
	got := written(t, c, i, protocol.Write{Kind: protocol.WritePost, Body: body})
	return got.Results[0].Comment, got.After, got.Results[0].Err
}

// written sends writes about an issue, and wants a snapshot along.
func written(t *testing.T, c *Client, i claim.Issue, writes ...protocol.Write) ledger.Written {
	return c.Write(t.Context(), []ledger.Batch{{Issue: i, Writes: writes, Read: true}})[0]
}

// TestRecord: a comment is posted and the issue is read again in one request, and the snapshot is
// the one that Facts returns.
func TestRecord(t *testing.T) {
	sent := watched(simulated(t).Transport())
	c := connect(t, sent)
	i := issue("app", 1)
	if _, err := c.Facts(t.Context(), i); err != nil {
		t.Fatal(err)
	}

	asked := len(sent.sent)
	const body = "<!-- agent-claim:codename=ann firing_id=a1 nonce=0123456789 -->\nann begins"
	posted, got, err := recorded(t, c, i, body)
	if err != nil || got == nil || len(sent.sent) != asked+1 {
		t.Fatalf("%v, %v after %q", got, err, sent.sent[asked:])
	}

	want, err := c.Facts(t.Context(), i)
	if err != nil {
		t.Fatal(err)
	}

	got.Now, want.Now = time.Time{}, time.Time{}
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("\n got %+v\nwant %+v", *got, want)
	}

	if k := len(got.Log.Claims); k != 1 || got.Log.Claims[0].Comment != posted.ID || posted.Body != body ||
		posted.Author != "bot" || !posted.Trusted || posted.Created.IsZero() {
		t.Errorf("%d claims, comment %+v", k, posted)
	}
}

// TestRecordRefused: what was certainly not posted is posted by REST, which says why not; of
// anything else nobody knows, and the caller looks before it posts again.
func TestRecordRefused(t *testing.T) {
	lock := func(s *githubsim.Server) error { return s.Lock("acme/app", 1, "bot") }
	for name, c := range map[string]struct {
		before   func(*githubsim.Server) error
		change   func(*Options)
		unread   bool
		spoil    [2]string
		rejected bool
		posted   int
	}{
		"never read": {unread: true, posted: 1},
		"locked":     {before: lock, rejected: true, change: as("tok-rob")},
		"a part of the payload": {
			spoil: [2]string{
				`"data":{"record0":{`,
				`"errors":[{"type":"FORBIDDEN","message":"no","path":["record0","subject"]}],"data":{"record0":null,"x":{`,
			},
			posted: 1,
		},
		"out of resources": {spoil: [2]string{
			`"data":{`,
			`"errors":[{"type":"RESOURCE_LIMITS_EXCEEDED","message":"no","path":["record0"]}],"data":{`,
		}, posted: 1},
		"no payload": {spoil: [2]string{`"record0":{`, `"y":{`}, posted: 1},
		"no comment": {spoil: [2]string{`"commentEdge":{`, `"commentEdge":null,"x":{`}, posted: 1},
	} {
		t.Run(name, func(t *testing.T) {
			server := simulated(t)
			changes := []func(*Options){}
			if c.change != nil {
				changes = append(changes, c.change)
			}

			client := connect(t, server.Transport(), changes...)
			i := issue("app", 1)
			if !c.unread {
				if _, err := client.Facts(t.Context(), i); err != nil {
					t.Fatal(err)
				}
			}

			if c.before != nil {
				if err := c.before(server); err != nil {
					t.Fatal(err)
				}
			}

			if c.spoil[0] != "" {
				client.transport.o.HTTP = spoiled(client.transport.o.HTTP, c.spoil[0], c.spoil[1])
			}
			_, _, err := recorded(t, client, i, "hello")
			if (err == nil) != c.unread || lease.Rejected(err) != c.rejected {
				t.Errorf("%v, want rejected: %t", err, c.rejected)
			}

			all, err := server.Comments("acme/app", 1)
			posted := 0
			for _, m := range all {
				if m.Body == "hello" {
					posted++
				}
			}

			if err != nil || posted != c.posted {
				t.Errorf("%d comments, want %d: %v", posted, c.posted, err)
			}
		})
	}
}

// TestRecordUnread: a comment that was posted is not an error when the snapshot is missing
// something: it is read then.
func TestRecordUnread(t *testing.T) {
	for _, spoil := range [][2]string{
		{`"labels":{`, `"labels":null,"x":{`},
		{`"repository":{`, `"repository":null,"x":{`},
		{`"comments":{`, `"comments":null,"x":{`},
	} {
		c := connect(t, simulated(t).Transport())
		if _, err := c.Facts(t.Context(), issue("app", 1)); err != nil {
			t.Fatal(err)
		}

		c.transport.o.HTTP = spoiled(c.transport.o.HTTP, spoil[0], spoil[1])
		posted, got, err := recorded(t, c, issue("app", 1), "hello")
		if err != nil || got != nil || posted.ID == 0 {
			t.Errorf("%s: %+v, %v, %v", spoil[0], posted, got, err)
		}
	}
}

// TestRecordPaced: comments of mutations count against the limits for content like those of REST.
func TestRecordPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, simulated(t).Transport())
		i := issue("app", 1)
		comments := sample.Size(100, 200)
		start := time.Now()

		for range comments {
			if _, err := c.Facts(t.Context(), i); err != nil {
				t.Fatal(err)
			}
			if _, _, err := recorded(t, c, i, "hello"); err != nil {
				t.Fatal(err)
			}
		}

		if took := time.Since(start); took < time.Minute {
			t.Errorf("%d comments in %s", comments, took)
		}
	})
}

// TestShownRef: a snapshot shows the reference of its issue's lease, until something is written, or
// for a while.
func TestShownRef(t *testing.T) {
	i := issue("app", 1)
	name := gitref.RefName(i)
	comment := func(t *testing.T, c *Client) {
		if _, err := c.Comment(t.Context(), i, "hello"); err != nil {
			t.Fatal(err)
		}
	}

	facts := func(t *testing.T, c *Client) {
		if _, err := c.Facts(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}

	for title, row := range map[string]struct {
		between func(t *testing.T, c *Client)
		known   bool
	}{
		"at once":              {func(*testing.T, *Client) {}, true},
		"at the last moment":   {func(*testing.T, *Client) { time.Sleep(fresh) }, true},
		"much later":           {func(*testing.T, *Client) { time.Sleep(fresh + time.Second) }, false},
		"after a write":        {comment, false},
		"read after a write":   {func(t *testing.T, c *Client) { comment(t, c); facts(t, c) }, true},
		"shown with a comment": {func(t *testing.T, c *Client) { _, _, _ = recorded(t, c, i, "hello") }, true},
	} {
		for _, there := range []bool{true, false} {
			server, err := githubsim.New(world(), githubsim.Options{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}

			play := func(t *testing.T) {
				c := connect(t, server.Transport())
				c.ShowLeases()
				if there {
					before, err := c.GetRef(t.Context(), i, name)
					if err != nil {
						t.Fatal(err)
					}

					made, err := c.CreateCommit(t.Context(), i, "", "label-state: claim\n")
					if err == nil {
						err = c.SwapRefs(t.Context(), i,
							gitref.Swap{Name: name, After: made.OID, RepoID: before.RepoID})
					}

					if err != nil {
						t.Fatal(err)
					}
				}

				facts(t, c)
				row.between(t, c)
				got, known := c.ShownRef(i, name)
				want, err := c.GetRef(t.Context(), i, name)
				if err != nil || known != row.known {
					t.Fatalf("known: %t, want %t; %v", known, row.known, err)
				}

				got.Now = want.Now
				if known && got != want {
					t.Errorf("%+v, want %+v", got, want)
				}
			}

			t.Run(title, func(t *testing.T) { synctest.Test(t, play) })
		}
	}
}

// TestShownRefUnknown: a reference that may not be read is not known, and keeps nobody from the
// rest.
func TestShownRefUnknown(t *testing.T) {
	for _, spoil := range [][2]string{
		{`"data":{`, `"errors":[{"type":"FORBIDDEN","message":"no","path":["r0","t0"]}],"data":{`},
		{`"t0":`, `"x0":`},
	} {
		server := simulated(t)
		c := connect(t, spoiled(server.Transport(), spoil[0], spoil[1]))
		c.ShowLeases()
		f, err := c.Facts(t.Context(), issue("app", 1))
		if _, known := c.ShownRef(issue("app", 1), gitref.RefName(f.Issue)); known || err != nil {
			t.Errorf("%s: %t, %v", spoil[0], known, err)
		}
	}
}

// TestScanShowsRefs: where references decide, a scan shows those of fifty issues that may be held
// by one query; a list of what goes on does without.
func TestScanShowsRefs(t *testing.T) {
	for _, leases := range []bool{true, false} {
		sent := watched(crowd(t, 60).Transport())
		c := connect(t, sent)
		if leases {
			c.ShowLeases()
		}

		known := 0
		for f, err := range c.Scan(t.Context(), repoOf("lib"), time.Time{}) {
			if err != nil {
				t.Fatal(err)
			}
			if tip, shown := c.ShownRef(f.Issue, gitref.RefName(f.Issue)); shown && tip.OID == "" && tip.RepoID != "" {
				known++
			}
		}

		if want := map[bool]int{true: 60, false: 0}[leases]; known != want {
			t.Errorf("%d references shown, want %d", known, want)
		}

		if n, want := len(sent.sent), map[bool]int{true: 3, false: 1}[leases]; n != want {
			t.Errorf("%d requests, want %d", n, want)
		}

		before := len(sent.sent)
		for _, err := range c.Current(t.Context(), repoOf("lib"), time.Time{}) {
			if err != nil {
				t.Fatal(err)
			}
		}

		if n := len(sent.sent) - before; n != 1 {
			t.Errorf("a list of what goes on took %d requests, want 1", n)
		}
	}

	free := crowd(t, 0)
	if _, err := free.AddIssue("acme/lib", "bot", "Work", "", "agent:pr-open"); err != nil {
		t.Fatal(err)
	}
	sent, found := watched(free.Transport()), 0
	c := connect(t, sent)
	c.ShowLeases()
	for range c.Scan(t.Context(), repoOf("lib"), time.Time{}) {
		found++
	}
	if n := len(sent.sent); found != 1 || n != 2 {
		t.Errorf("where nothing is held, %d issues were found in %d requests, want 1 in 2", found, n)
	}
}
