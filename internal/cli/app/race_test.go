package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/sample"
)

// TestRace has fifty processes, or ten in an ordinary run, claim one issue of a GitHub that is a
// process as well, all with the default settings: one wins, the others learn it and leave no trace
// but one comment each. GitHub takes its time with new comments, so that many ask before the first
// has been heard.
func TestRace(t *testing.T) {
	t.Parallel()
	contenders := sample.Size(10, 50)
	a := newArena(t)
	a.serve("--fault", "delay=2s:mutation:addComment")
	a.check(a.race(contenders))
}

// TestRaceAtOnce lets nobody's claim through before everybody has asked, so that all have seen the
// issue free.
func TestRaceAtOnce(t *testing.T) {
	t.Parallel()
	const contenders = 8
	w, err := newWorld("")
	if err != nil {
		t.Fatal(err)
	}

	var asked sync.WaitGroup
	asked.Add(contenders)
	var posts atomic.Int64
	together := func(r *http.Request) *githubsim.Fault {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/comments") && posts.Add(1) <= contenders {
			asked.Done()
			asked.Wait()
		}
		return nil
	}

	w.fault.Store(&together)
	a := newArena(t)
	base, stop, err := w.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(stop)
	a.at(base, w.Requests)
	winner := a.race(contenders)
	if got := a.check(winner); got != contenders {
		t.Errorf("%d asked, want all %d", got, contenders)
	}
}

// An arena is the compiled program and a GitHub to race on.
type arena struct {
	*testing.T
	program, url string
	requests     func() []githubsim.Request
	env          []string
}

const contested = "acme/app#1"

func newArena(t *testing.T) *arena {
	t.Helper()
	dir := t.TempDir()
	a := &arena{T: t, program: cli.Binary(dir, "label-state")}
	copyProgram(t, "label-state", a.program)
	a.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" +
			filepath.Dir(dir),
		"LABEL_STATE_TOKEN=tok-agents",
	}

	return a
}

func (a *arena) at(url string, requests func() []githubsim.Request) {
	a.url, a.requests = url, requests
	a.env = append(a.env, "LABEL_STATE_API_URL="+url)
}

// serve runs the embedded GitHub as a process until the test ends.
func (a *arena) serve(args ...string) {
	a.Helper()
	dir := filepath.Dir(a.program)
	urlFile, log := filepath.Join(dir, "url"), filepath.Join(dir, "requests.log")
	sim := a.command(a.Context(), append([]string{"sim", "--url-file", urlFile, "--log", log}, args...)...)
	if err := sim.Start(); err != nil {
		a.Fatal(err)
	}

	gone := make(chan error, 1)
	go func() { gone <- sim.Wait() }()
	a.Cleanup(func() {
		_ = sim.Process.Kill() // it may be gone already
		<-gone
	})

	for range 1500 {
		if url, err := os.ReadFile(urlFile); err == nil {
			a.at(strings.TrimSpace(string(url)), func() []githubsim.Request { return a.logged(log) })
			return
		}

		select {
		case err := <-gone:
			gone <- err
			a.Fatalf("sim ended: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
	}

	a.Fatal("sim does not say where it is")
}

func (a *arena) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, a.program, args...)
	cmd.Env, cmd.Dir = a.env, filepath.Dir(a.program)
	return cmd
}

// race returns the codename that won.
func (a *arena) race(contenders int) string {
	a.Helper()
	codes, outputs := make([]int, contenders), make([]bytes.Buffer, contenders)
	start := make(chan struct{})
	var running sync.WaitGroup
	for n := range contenders {
		cmd := a.command(a.Context(), "claim", contested, "--codename", codename(n))
		cmd.Stdout, cmd.Stderr = &outputs[n], &outputs[n]
		running.Go(func() {
			<-start
			codes[n] = exitOf(cmd.Run())
		})
	}

	close(start)
	running.Wait()
	var winners []string
	for n, code := range codes {
		switch code {
		case answer.ExitYes:
			winners = append(winners, codename(n))
		case answer.ExitNo:
		default:
			a.Errorf("%s: exit code %d\n%s", codename(n), code, &outputs[n])
		}
	}

	if len(winners) != 1 {
		a.Fatalf("%d of %d won: %q", len(winners), contenders, winners)
	}

	return winners[0]
}

func codename(n int) string { return fmt.Sprintf("worker-%d", n) }

// exitOf is a process's exit code, or -1 when there was none.
func exitOf(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}

	return -1
}

func (a *arena) status() cli.StatusView {
	a.Helper()
	out, err := a.command(a.Context(), "status", contested, "--json").Output()
	if err != nil {
		a.Fatal(err)
	}

	var s cli.StatusView
	if err := json.Unmarshal(out, &s); err != nil {
		a.Fatal(err)
	}

	return s
}

// check looks at what the race has left behind and returns how many asked before they knew.
func (a *arena) check(winner string) (asked int) {
	a.Helper()
	s := a.status()
	if s.Holder == nil || s.Holder.Codename != winner || !s.Holder.Confirmed {
		a.Errorf("%s won, and the holder is %+v", winner, s.Holder)
	}

	if len(s.Labels) != 1 || s.Labels[0] != "agent:in-flight" || s.Drift != nil {
		a.Errorf("labels %q, drift %+v; want agent:in-flight alone", s.Labels, s.Drift)
	}
	a.checkLabelWrites()
	asked = a.checkComments(winner)
	a.Logf("%s won; %d asked before they knew", winner, asked)

	return asked
}

// checkComments reads the comments as GitHub has them: one claim stands, the winner's, and
// everybody else's has become its end.
func (a *arena) checkComments(winner string) (asked int) {
	a.Helper()
	written, ended := map[string]int{}, map[string]int{}
	for _, body := range a.comments() {
		r, ok, err := claim.Decode(body)
		if err != nil || !ok {
			a.Fatalf("%q is not a record: %v", body, err)
		}

		written[r.Worker.Codename]++
		if r.Kind == claim.KindRelease {
			ended[r.Worker.Codename]++
		}
	}

	for who, n := range written {
		want := 1
		if who == winner {
			want = 0
		}

		if ended[who] != want || n != 1 {
			a.Errorf("%s wrote %d comments, %d of them ends; want %d", who, n, ended[who], want)
		}
	}

	if written[winner] == 0 {
		a.Errorf("%s won without a word", winner)
	}

	return len(written)
}

// comments are the bodies of all comments.
func (a *arena) comments() (bodies []string) {
	a.Helper()
	for page := 1; ; page++ {
		url := fmt.Sprintf("%s/repos/acme/app/issues/1/comments?per_page=100&page=%d", a.url, page)
		req, err := http.NewRequestWithContext(a.Context(), http.MethodGet, url, nil)
		if err != nil {
			a.Fatal(err)
		}

		req.Header.Set("Authorization", "Bearer tok-agents")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			a.Fatal(err)
		}

		var got []struct{ Body string }
		err = errors.Join(json.NewDecoder(resp.Body).Decode(&got), resp.Body.Close())
		if err != nil {
			a.Fatal(err)
		}

		for _, c := range got {
			bodies = append(bodies, c.Body)
		}

		if len(got) < 100 {
			return bodies
		}
	}
}

// checkLabelWrites counts who edited a comment or touched the labels: the winner, once each.
func (a *arena) checkLabelWrites() {
	a.Helper()
	var writes []string
	for _, r := range a.requests() {
		switch {
		case r.GraphQL != "" && r.Writes():
			writes = append(writes, r.GraphQL)
		case r.Writes() && strings.HasPrefix(r.Path, "/repos/acme/app/issues/1/labels"):
			writes = append(writes, r.Method+" "+r.Path)
		}
	}

	byOne := []string{"mutation Write", "mutation Write"} // the first edits the claim's comment
	byTwo := []string{"mutation Write", "POST /repos/acme/app/issues/1/labels", "DELETE /repos/acme/app/issues/1/labels/agent:implement"}

	// the second way once a first snapshot was overtaken
	if !slices.Equal(writes, byOne) && !slices.Equal(writes, byTwo) {
		a.Errorf("label writes %q, want the winner's %q or %q", writes, byOne, byTwo)
	}
}

// logged reads the request log of a process.
func (a *arena) logged(file string) (all []githubsim.Request) {
	a.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		a.Fatal(err)
	}

	for line := range bytes.Lines(data) {
		var r githubsim.Request
		if err := json.Unmarshal(line, &r); err != nil {
			a.Fatal(err)
		}
		all = append(all, r)
	}

	return all
}
