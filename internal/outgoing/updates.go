package outgoing

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Bounds of what is read from git: a mirror of 100,000 references stays far below.
const (
	maxLine  = 1 << 20
	maxInput = 256 << 20
)

// An Update is one line that git writes to a pre-push hook (githooks(5)): LocalRef at LocalOID goes
// to RemoteRef, which is at RemoteOID now. LocalRef is whatever the user typed, "HEAD^{/fix the}"
// for instance, or "(delete)".
type Update struct{ LocalRef, LocalOID, RemoteRef, RemoteOID string }

// Delete reports whether the update removes RemoteRef, so that no commit leaves with it.
func (u Update) Delete() bool { return zero(u.LocalOID) }

// ReadUpdates reads what git gives a pre-push hook until the end. Empty lines are skipped. A line
// that is not an update is an error that names it.
func ReadUpdates(r io.Reader) ([]Update, error) { return readUpdates(r, maxInput) }

// readUpdates is ReadUpdates of input shorter than most bytes.
func readUpdates(r io.Reader, most int64) ([]Update, error) {
	limited := &io.LimitedReader{R: r, N: most}
	lines := bufio.NewScanner(limited)
	lines.Buffer(make([]byte, 0, 4096), maxLine)

	var updates []Update
	n := 0
	for lines.Scan() {
		n++
		text := lines.Text() // without a carriage return, too
		if text == "" {
			continue
		}

		u, reason := parseUpdate(text)
		if reason != "" {
			return nil, fmt.Errorf("read line %d from git: %s", n, reason)
		}

		updates = append(updates, u)
	}

	err := lines.Err()
	if errors.Is(err, bufio.ErrTooLong) || limited.N <= 0 {
		return nil, fmt.Errorf("read line %d from git: too long", n+1)
	}
	if err != nil {
		return nil, fmt.Errorf("read line %d from git: %w", n+1, err)
	}

	return updates, nil
}

// parseUpdate splits a line from the right, since only its first field may hold spaces. reason says
// why it is not an update.
func parseUpdate(line string) (u Update, reason string) {
	fields, rest := [3]string{}, line
	for i := 2; i >= 0; i-- {
		at := strings.LastIndexByte(rest, ' ')
		if at < 0 {
			return u, "fewer than four fields"
		}
		rest, fields[i] = rest[:at], rest[at+1:]
	}

	u = Update{
		LocalRef:  rest,
		LocalOID:  fields[0],
		RemoteRef: fields[1],
		RemoteOID: fields[2],
	}

	if u.LocalRef == "" || u.RemoteRef == "" {
		return u, "a reference without a name"
	}
	if !isOID(u.LocalOID) || !isOID(u.RemoteOID) || len(u.LocalOID) != len(u.RemoteOID) {
		return u, "an object id is not 40 or 64 hexadecimal digits"
	}

	return u, ""
}

// isOID accepts full SHA-1 and SHA-256 ids in lower case, as git prints them.
func isOID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

func zero(oid string) bool { return strings.Trim(oid, "0") == "" }
