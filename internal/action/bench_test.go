package action_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
)

// roundTrip is what a request takes in these comparisons, and so in virtual time.
const roundTrip = 80 * time.Millisecond

// A cost is what one way of sweeping takes.
type cost struct {
	requests int
	wall     time.Duration
}

// BenchmarkSweep sweeps a thousand held issues with twelve comments each, nothing to change: by the
// Action; by REST, a list of a hundred issues and one request for the comments of each; and as a
// script does that starts a command-line client for every issue, which asks twice. Times are
// virtual, at 80 ms a request; ns/op is the real time of the Action's own work, the embedded GitHub
// included.
func BenchmarkSweep(b *testing.B) {
	var ours cost
	for b.Loop() {
		ours = virtual(b, func(w *world) { w.said(w.sweep(), 0, "1000 examined, 0 released, 0 repaired") })
	}

	rest := virtual(b, func(w *world) { w.byREST() })
	cli := virtual(b, func(w *world) { w.byCommandLine() })
	b.ReportMetric(float64(ours.requests), "requests")
	b.ReportMetric(ours.wall.Seconds(), "virtual-s")

	for name, way := range map[string]cost{"rest": rest, "cli": cli} {
		b.ReportMetric(float64(way.requests), name+"-requests")
		b.ReportMetric(way.wall.Seconds(), name+"-virtual-s")
		b.ReportMetric(float64(way.requests)/float64(ours.requests), name+"/ours-requests")
		b.ReportMetric(float64(way.wall)/float64(ours.wall), name+"/ours-wall")
	}
}

// virtual plays a way of sweeping in a bubble of virtual time, which only a test can have.
func virtual(b *testing.B, sweep func(*world)) (c cost) {
	b.Helper()
	play := func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := planted(t, many(app, 1000, 11))
			w.server.Fault = func(*http.Request) *githubsim.Fault { return &githubsim.Fault{Delay: roundTrip} }
			start := time.Now()
			sweep(w)
			c = cost{len(w.server.Requests()), time.Since(start)}
		})
	}

	all := func(string, string) (bool, error) { return true, nil }
	if !testing.RunTests(all, []testing.InternalTest{{Name: "virtual", F: play}}) {
		b.Fatal("the way of sweeping failed")
	}

	return c
}

// ask makes a request as the workflow does and returns the answer.
func (w *world) ask(method, path string, body any) []byte {
	w.Helper()
	text, err := json.Marshal(body)
	w.must(err)
	req, err := http.NewRequestWithContext(w.Context(), method, "https://api.github.com"+path, bytes.NewReader(text))
	w.must(err)
	req.Header.Set("Authorization", "Bearer tok-olga")
	resp, err := w.server.Client().Do(req)
	w.must(err)
	answer, err := io.ReadAll(resp.Body)
	w.must(err)
	if resp.StatusCode != http.StatusOK || strings.HasPrefix(string(answer), `{"errors"`) {
		w.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, answer)
	}

	return answer
}

// byREST lists the issues with the label and reads the comments of each, one after the other.
func (w *world) byREST() {
	seen := 0
	for page := 1; ; page++ {
		var issues []struct{ Number int }
		w.must(json.Unmarshal(w.ask("GET",
			fmt.Sprintf("/repos/%s/issues?labels=agent:in-flight&state=open&per_page=100&page=%d", app,
				page), nil), &issues))

		for _, i := range issues {
			w.ask("GET", fmt.Sprintf("/repos/%s/issues/%d/comments?per_page=100", app, i.Number), nil)
			seen++
		}

		if len(issues) < 100 {
			break
		}
	}

	if seen != 1000 {
		w.Fatalf("saw %d issues", seen)
	}
}

// byCommandLine lists the issues and has a client view each, which asks for the issue and then for
// its comments.
func (w *world) byCommandLine() {
	const repo = `{repository(owner:"acme",name:"app"){`
	for n := 1; n <= 1000; n++ {
		issue := fmt.Sprintf(`%sissue(number:%d){`, repo, n)
		w.ask("POST", "/graphql", map[string]string{"query": issue +
			`number title state labels(first:100){nodes{name}} comments(first:100){totalCount}}}}`})
		w.ask("POST", "/graphql", map[string]string{"query": issue +
			`comments(first:100){nodes{body createdAt author{login}}}}}}`})
	}

	w.ask("GET", "/repos/"+app+"/issues?labels=agent:in-flight&per_page=100", nil)
}
