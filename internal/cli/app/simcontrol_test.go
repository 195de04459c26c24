package app

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/setup"
)

// TestSimControl lets time pass on the embedded GitHub by a line on standard input.
func TestSimControl(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	in, control := io.Pipe()
	said, out, err := os.Pipe() // takes what nobody has read yet
	if err != nil {
		t.Fatal(err)
	}

	defer func() { _ = errors.Join(out.Close(), said.Close()) }() // a pipe of this test
	done := make(chan int)
	go func() {
		done <- cli.Run(ctx, []string{"label-state", "sim", "--control"}, cli.Terminal{
			Verbs: Verbs(),
			In:    in,
			Out:   out,
			Err:   out,
			Env:   setup.OS(),
		})
	}()

	lines := bufio.NewScanner(said)
	url := strings.Fields(until(t, lines, "answers at "))[5]
	for _, c := range []struct{ line, answer string }{
		{"\nlater 1d24h", "48h0m0s later"},
		{"sooner 2h", `label-state: warning: sim: "sooner 2h": expected later and a duration, such as later 2h`},
		{"later -2h", `label-state: warning: sim: "later -2h": expected later and a duration, such as later 2h`},
	} {
		go func() { // what sim has to say first is read meanwhile
			if _, err := io.WriteString(control, c.line+"\n"); err != nil {
				t.Error(err)
			}
		}()

		if got := until(t, lines, "later"); got != c.answer {
			t.Errorf("%s: %q, want %q", c.line, got, c.answer)
		}
	}

	if ahead := time.Until(dateOf(t, url)).Round(time.Hour); ahead != 48*time.Hour {
		t.Errorf("GitHub is %s ahead", ahead)
	}
	stop()
	if code := <-done; code != answer.ExitYes {
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
