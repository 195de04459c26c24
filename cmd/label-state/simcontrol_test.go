package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/setup"
)

// TestSimControl lets time pass on the embedded GitHub by a line on standard input.
func TestSimControl(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	in, control := io.Pipe()
	said, out := io.Pipe()
	done := make(chan int)
	go func() {
		done <- run(ctx, []string{"label-state", "sim", "--control"}, terminal{in: in, out: out, err: out, env: setup.OS()})
	}()
	lines := bufio.NewScanner(said)
	url := strings.Fields(until(t, lines, "answers at "))[5]
	for _, c := range []struct{ line, answer string }{
		{"\nlater 48h", "48h0m0s later"},
		{"sooner 2h", `label-state: warning: sim: "sooner 2h": want later and a duration, such as later 2h`},
		{"later -2h", `label-state: warning: sim: "later -2h": want later and a duration, such as later 2h`},
	} {
		go io.WriteString(control, c.line+"\n") // it is read when all that sim says first has been
		if got := until(t, lines, "later"); got != c.answer {
			t.Errorf("%s: %q, want %q", c.line, got, c.answer)
		}
	}
	if ahead := time.Until(dateOf(t, url)).Round(time.Hour); ahead != 48*time.Hour {
		t.Errorf("GitHub is %s ahead", ahead)
	}
	stop()
	if code := <-done; code != exitYes {
		t.Errorf("exit code %d", code)
	}
}

// until returns the next line with that text.
func until(t *testing.T, lines *bufio.Scanner, text string) string {
	t.Helper()
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			return lines.Text()
		}
	}
	t.Fatalf("no line with %q", text)
	return ""
}

func dateOf(t *testing.T, url string) time.Time {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/rate_limit", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		t.Fatal(err)
	}
	return date
}
