package github

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/protocol"
)

// TestFieldsOfOneRequest: of a record and the labels that follow it in one request, each is known by
// its own field. What was applied without being shown is not told as done.
func TestFieldsOfOneRequest(t *testing.T) {
	post := protocol.Write{Kind: protocol.WritePost, Body: "hello"}
	relabel := protocol.Write{
		Kind:   protocol.WriteRelabel,
		Labels: labels.Change{Add: []string{"agent:implement"}, Remove: []string{"bug"}},
	}
	for name, c := range map[string]struct {
		spoil    [2]string
		results  string // a sign for each: . applied, ! not known
		snapshot bool
	}{
		"all":            {[2]string{"?", "?"}, "..", true},
		"one is refused": {[2]string{`"add0":{`, `"add0":null,"x":{`}, ".!", false},
		"the last is refused": {
			[2]string{`"remove0":{`, `"remove0":null,"x":{`},
			".!", false,
		},
		"no record": {[2]string{`"record0":{`, `"record0":null,"x":{`}, "!", false},
		"no snapshot": {
			[2]string{`"data":{`, `"errors":[{"type":"FORBIDDEN","message":"x","path":["remove0","labelable"]}],"data":{`},
			"..", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c2 := connect(t, simulated(t).Transport())
			i := issue("app", 1)
			if _, err := c2.Facts(t.Context(), i); err != nil {
				t.Fatal(err)
			}

			c2.transport.o.HTTP = spoiled(c2.transport.o.HTTP, c.spoil[0], c.spoil[1])
			got := written(t, c2, i, post, relabel)
			if signs := signsOf(got); signs != c.results || (got.After != nil) != c.snapshot {
				t.Errorf("%s, snapshot %t: %+v", signs, got.After != nil, got.Results)
			}
		})
	}
}

// bodyOf is what a request sends.
func bodyOf(r *http.Request) string {
	if r.Body == nil {
		return ""
	}
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return string(body)
}

func signsOf(w ledger.Written) (out string) {
	for _, r := range w.Results {
		if r.Err == nil {
			out += "."
		} else {
			out += "!"
		}
	}
	return out
}

// TestWrittenTogether: labels of several issues of a repository are one request, with a snapshot of
// each. Where that is too much, or one of them cannot be written, each is by itself.
func TestWrittenTogether(t *testing.T) {
	for name, c := range map[string]struct {
		spoil    [2]string
		requests int
		after    int
	}{
		"one request": {[2]string{"?", "?"}, 1, 2},
		"too much": {
			[2]string{`"data":{`, `"errors":[{"message":"Something went wrong while executing your query"}],"x":{`},
			-1, 2,
		},
		"one cannot": {
			[2]string{`"remove1":{`, `"remove1":null,"x":{`},
			2, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			sent := watched(simulated(t).Transport())
			client := connect(t, sent)
			issues := []claim.Issue{issue("app", 1), issue("app", 2)}
			var batches []ledger.Batch
			for n, s := range client.FactsOf(t.Context(), issues) {
				if s.Err != nil {
					t.Fatal(s.Err)
				}
				batches = append(batches, ledger.Batch{
					Issue: issues[n],
					Writes: []protocol.Write{{
						Kind:   protocol.WriteRelabel,
						Labels: labels.Change{Remove: []string{"bug"}},
					}},
					Read: true,
				})
			}

			asked := len(sent.sent)
			client.transport.o.HTTP = roundTrip(func(r *http.Request) (*http.Response, error) {
				if !strings.Contains(bodyOf(r), "remove1: ") { // of one issue
					return sent.RoundTrip(r)
				}
				return spoiled(sent, c.spoil[0], c.spoil[1]).RoundTrip(r)
			})

			after := 0
			for _, w := range client.Write(t.Context(), batches) {
				if signsOf(w) != "." {
					t.Errorf("%+v", w.Results)
				}
				if w.After != nil && !labels.Has(w.After.Labels, "bug") {
					after++
				}
			}

			if n := len(sent.sent) - asked; c.requests > 0 && n != c.requests || after != c.after {
				t.Errorf("%d requests and %d snapshots: %q", n, after, sent.sent[asked:])
			}
		})
	}
}

// TestNeverBare: labels are put on before others are taken off, in one request and one by one: an
// issue is never without a label in between.
func TestNeverBare(t *testing.T) {
	change := labels.Change{Add: []string{"agent:implement"}, Remove: []string{"bug"}}
	for _, together := range []bool{true, false} {
		var asked []string
		server := simulated(t)
		client := connect(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.Method+" "+r.URL.Path+" "+bodyOf(r))
			return server.Transport().RoundTrip(r)
		}))
		if _, err := client.Facts(t.Context(), issue("app", 1)); err != nil {
			t.Fatal(err)
		}

		got := client.Write(t.Context(), []ledger.Batch{{
			Issue:  issue("app", 1),
			Writes: []protocol.Write{{Kind: protocol.WriteRelabel, Labels: change}},
			Read:   together,
		}})
		sent := strings.Join(asked, "\n")
		puts, takes := strings.Index(sent, "addLabelsToLabelable"), strings.Index(sent, "removeLabelsFromLabelable")
		if !together {
			puts, takes = strings.Index(sent, "POST /repos/acme/app/issues/1/labels"), strings.Index(sent, "DELETE ")
		}
		if signsOf(got[0]) != "." || puts < 0 || takes < puts {
			t.Errorf("together %t: %s", together, sent)
		}
	}
}

// TestPostsApart: new comments on several issues are a request each.
func TestPostsApart(t *testing.T) {
	sent := watched(simulated(t).Transport())
	client := connect(t, sent)
	issues := []claim.Issue{issue("app", 1), issue("app", 2)}
	var batches []ledger.Batch
	for n := range client.FactsOf(t.Context(), issues) {
		batches = append(batches, ledger.Batch{
			Issue:  issues[n],
			Writes: []protocol.Write{{Kind: protocol.WritePost, Body: "hello"}},
			Read:   true,
		})
	}

	asked := len(sent.sent)
	client.Write(t.Context(), batches)
	if n := len(sent.sent) - asked; n != 2 {
		t.Errorf("%d requests: %q", n, sent.sent[asked:])
	}
}
