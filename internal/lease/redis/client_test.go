package redis

import (
	"context"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/label-state/label-state/internal/claim"
)

var one = claim.Issue{Owner: "acme", Repo: "app", Number: 1}

// TestAskedAgain: what got no answer is asked once more; a server that says no has answered.
func TestAskedAgain(t *testing.T) {
	for answer, want := range map[string]int32{"*0\r\n": 1, "-ERR no\r\n": 1, "": 2} {
		var asked atomic.Int32
		host := listen(t, func(c net.Conn) {
			_, _ = c.Read(make([]byte, 4096)) // what is asked matters nothing
			asked.Add(1)
			_, _ = io.WriteString(c, answer) // the client sees what is missing
		})
		s, err := Open(nil, "redis://"+host)
		if err != nil {
			t.Fatal(err)
		}

		_, _, err = s.Look(t.Context(), one)
		if _ = s.Close(); asked.Load() != want || (err == nil) != (answer == "*0\r\n") {
			t.Errorf("%q: asked %d times, want %d; %v", answer, asked.Load(), want, err)
		}
	}
}

// TestEndlessPages: a server whose list of keys has no end ends somewhere.
func TestEndlessPages(t *testing.T) {
	pages := 0
	s := New(clientFunc(func(context.Context, string, ...any) (any, error) {
		pages++
		return []any{[]byte("1"), []any{}}, nil
	}))
	if _, err := s.Known(t.Context(), one); err == nil || pages != mostPages {
		t.Errorf("%v after %d pages", err, pages)
	}
}

// TestLogins: what a URL says of who connects, as redis-cli reads it.
func TestLogins(t *testing.T) {
	for user, want := range map[string]string{
		"": "", "secret@": "AUTH secret", ":secret@": "AUTH secret",
		"ann:secret@": "AUTH ann secret",
	} {
		heard := make(chan string, 10)
		host := listen(t, func(c net.Conn) {
			p := make([]byte, 1000)
			n, _ := c.Read(p) // what came is compared
			heard <- strings.Join(words(string(p[:n])), " ")
		})
		s, err := Open(nil, "redis://"+user+host+"/0")
		if err != nil {
			t.Fatal(err)
		}

		_, _, _ = s.Look(t.Context(), one) // the server hangs up
		if got := <-heard; want == "" && strings.HasPrefix(got, "AUTH") || want != "" && got != want {
			t.Errorf("%q: %q, want %q", user, got, want)
		}

		_ = s.Close()
	}
}

// words are those of a command on the wire.
func words(text string) (all []string) {
	lines := strings.Split(text, "\r\n")
	for n := 2; n < len(lines); n += 2 {
		all = append(all, lines[n])
	}
	return all
}

type clientFunc func(context.Context, string, ...any) (any, error)

func (f clientFunc) Do(ctx context.Context, command string, args ...any) (any, error) {
	return f(ctx, command, args...)
}

func (clientFunc) Close() error { return nil }

// listen serves each connection, and returns where.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}

			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()

	return l.Addr().String()
}
