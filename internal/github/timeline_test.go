package github

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestTimelineIsNoOlderThanLabels: comments, timeline and issue are read side by side, and the list of comments falls short once, so that
// the issue is read again. A label that came meanwhile has its time.
func TestTimelineIsNoOlderThanLabels(t *testing.T) {
	server := simulated(t)
	if _, err := server.AddComment("acme/app", 1, "bot", "hello"); err != nil {
		t.Fatal(err)
	}
	timeline := make(chan struct{})
	var first sync.Once
	var told sync.Once
	trip := roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := server.Transport().RoundTrip(r)
		switch {
		case err != nil:
		case strings.HasSuffix(r.URL.Path, "/timeline"):
			told.Do(func() { close(timeline) })
		case strings.HasSuffix(r.URL.Path, "/issues/1/comments"):
			first.Do(func() {
				<-timeline
				_ = resp.Body.Close()
				resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader([]byte("[]"))), 2
				if err := server.AddLabels("acme/app", 1, "bot", "agent:in-flight"); err != nil {
					t.Error(err)
				}
			})
		}
		return resp, err
	})
	f, err := connect(t, trip, byREST).Facts(t.Context(), issue("app", 1))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(f.Labels, "agent:in-flight") || f.ClaimedAt.IsZero() {
		t.Errorf("labels %v, claimed at %v", f.Labels, f.ClaimedAt)
	}
}
