package gitref

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
)

var seven = claim.Issue{Owner: "acme", Repo: "app", Number: 7}

const ttl = 30 * time.Minute

func who(name string) claim.Worker { return claim.Worker{Codename: name, FiringID: "f-" + name} }

func askOf(name string) lease.Ask { return lease.Ask{Issue: seven, Worker: who(name), TTL: ttl} }

// TestMatrixVectors: every state of a chain against every step, with a current and with a stale
// view (guarantees.md#evidence).
func TestMatrixVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/matrix.txt")
	if err != nil {
		t.Fatal(err)
	}

	cells := map[string]int{}
	for n, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		column := strings.Split(line, "|")
		if len(column) != 4 {
			t.Fatalf("line %d: %q", n+1, line)
		}

		cell := strings.Fields(column[0])
		cells[strings.Join(cell, " ")]++
		t.Run(fmt.Sprintf("line %d %s", n+1, strings.Join(cell, " ")), func(t *testing.T) {
			play(t, cell[1], column[1], strings.TrimSpace(column[2]), strings.TrimSpace(column[3]))
		})
	}

	if len(cells) != 4*4*2 {
		t.Errorf("%d cells, want all 32", len(cells))
	}
}

func play(t *testing.T, step, history, want, holder string) {
	h := newHub()
	s := h.store()
	mine := lease.Lease{Issue: seven, Worker: who("ann"), TTL: ttl}
	leases, mark := map[string]lease.Lease{}, -1
	for event := range strings.SplitSeq(history, ";") {
		word := strings.Fields(event)
		switch {
		case len(word) == 0:
		case word[0] == "pass":
			h.advance(ttl + DefaultGrace)
		case word[0] == "delete":
			h.moves[RefName(seven)] = append(h.moves[RefName(seven)], "")
		case word[0] == "mark":
			mark, mine = len(h.moves[RefName(seven)]), leases["ann"]
		default:
			leases[word[0]] = happen(t, s, word, leases[word[0]])
		}
	}

	if mark < 0 {
		mark, mine = len(h.moves[RefName(seven)]), leases["ann"]
	}
	first := true
	h.late = func() int {
		late := len(h.moves[RefName(seven)]) - mark
		if !first {
			late = 0
		}
		first = false
		return late
	}

	if got := outcome(t, s, step, mine); got != want {
		t.Errorf("answer = %q, want %q", got, want)
	}
	h.late = nil
	l, held, err := s.Look(t.Context(), seven)
	if got := l.Worker.Codename; err != nil || held != (holder != "-") || held && got != holder {
		t.Errorf("held by %q (%t, %v), want %s", got, held, err, holder)
	}
}

// happen is what somebody does before ann's step.
func happen(t *testing.T, s *Store, word []string, have lease.Lease) (l lease.Lease) {
	t.Helper()
	var err error
	switch word[1] {
	case "claims":
		l, err = s.Acquire(t.Context(), askOf(word[0]))
	case "renews":
		l, err = s.Renew(t.Context(), have)
	case "releases":
		l, err = have, s.Release(t.Context(), have)
	default:
		t.Fatalf("unknown happening %q", word)
	}

	if err != nil {
		t.Fatalf("%v: %v", word, err)
	}

	return l
}

func outcome(t *testing.T, s *Store, step string, mine lease.Lease) string {
	t.Helper()
	var l lease.Lease
	var err error
	switch step {
	case "claim", "steal":
		l, err = s.Acquire(t.Context(), askOf("ann"))
	case "renew":
		l, err = s.Renew(t.Context(), mine)
	case "release":
		if err = s.Release(t.Context(), mine); err == nil {
			return "done"
		}
	default:
		t.Fatalf("unknown step %q", step)
	}

	var held *lease.HeldError
	switch {
	case err == nil:
		return fmt.Sprint("ok ", l.Token)
	case errors.As(err, &held):
		return "held by " + held.Lease.Worker.Codename
	case errors.Is(err, lease.ErrLost):
		return "lost"
	}

	return "unsure"
}
