package redis

import (
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

var one = claim.Issue{Owner: "acme", Repo: "app", Number: 1}

// TestAnnouncedSizes: a server that announces more than a store asks for, at once or bit by bit, is
// not believed, and gets no memory for it.
func TestAnnouncedSizes(t *testing.T) {
	for name, answer := range map[string]string{
		"two gigabytes":       "$2147483647\r\n",
		"a long list":         "*2147483647\r\n",
		"lists in lists":      strings.Repeat("*60000\r\n", 1000),
		"a line without end":  "+" + strings.Repeat("x", 1<<22),
		"values without end":  "*60000\r\n" + strings.Repeat("$100\r\n"+strings.Repeat("x", 100)+"\r\n", 20_000),
		"deep":                strings.Repeat("*1\r\n", 300_000),
		"no number":           "$9999999999999999999999\r\n",
		"in a second message": "*2\r\n$1\r\nx\r\n$2147483647\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := at(t, answer)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			l, held, err := s.Look(t.Context(), one)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Errorf("%+v, %t: want an error", l, held)
			}

			if made := after.TotalAlloc - before.TotalAlloc; made > 200<<20 {
				t.Errorf("%d MB were allocated", made>>20)
			}

			if took > answerTime/2 {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// TestSizesThatAreAsked: what a store asks for passes, however it is cut into packets.
func TestSizesThatAreAsked(t *testing.T) {
	page := "*2\r\n$1\r\n0\r\n*1000\r\n"
	for n := range 1000 {
		key := fmt.Sprintf("label-state:{acme/app#%d}", n+1)
		page += fmt.Sprintf("$%d\r\n%s\r\n", len(key), key)
	}

	found, err := at(t, page).Known(t.Context(), one)
	if err != nil || len(found) != 1000 || found[999] != 1000 {
		t.Errorf("%d leases, %v, want 1000", len(found), err)
	}

	value := "7 1800000 ann:1"
	whole := fmt.Sprintf("*2\r\n$%d\r\n%s\r\n$13\r\n1777640400000\r\n", len(value), value)
	if l, held, err := at(t, whole).Look(t.Context(), one); err != nil || !held || l.Token != 7 {
		t.Errorf("%+v, %t, %v, want the lease", l, held, err)
	}

	for text, want := range map[string]bool{
		whole:                        true,
		"\r\n":                       true,
		"$-1\r\n*-1\r\n":             true,
		"$4\r\n\r\n$x\r\n$0\r\n\r\n": true, // a text that looks like a length
		"$x\r\n":                     false,
		"*65536\r\n":                 true,
		"*65537\r\n":                 false,
		"*65535\r\n*1\r\n":           true,
		"*65535\r\n*2\r\n":           false,
		"+" + strings.Repeat("x", mostLine-1) + "\n": true,
		"+" + strings.Repeat("x", mostLine) + "\n":   false,
	} {
		here, there := net.Pipe()
		go io.Copy(io.Discard, there)
		b := &bounded{Conn: here}
		for range 2 { // each request begins another answer
			_, err := b.Write([]byte("x"))
			for n := 0; n < len(text) && err == nil; n++ {
				err = b.follow([]byte(text[n : n+1]))
			}
			if (err == nil) != want {
				t.Errorf("%.30q: %v", text, err)
			}
		}
		_ = here.Close()
	}
}

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

// at is a store at a server that gives one answer to everything.
func at(t *testing.T, answer string) *Store {
	t.Helper()
	host := listen(t, func(c net.Conn) {
		p := make([]byte, 4096)
		for {
			if _, err := c.Read(p); err != nil {
				return
			}
			if _, err := io.WriteString(c, answer); err != nil {
				return
			}
		}
	})
	opened, err := Open(nil, "redis://"+host)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = opened.Close() })
	s, ok := opened.(*Store)
	if !ok {
		t.Fatalf("%T", opened)
	}

	return s
}

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
