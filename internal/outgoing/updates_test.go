package outgoing

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

const (
	oidA   = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	oidB   = "0123456789012345678901234567890123456789"
	zeroID = "0000000000000000000000000000000000000000"
	long   = oidA + "bbbbbbbbbbbbbbbbbbbbbbbb"
)

func TestReadUpdates(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []Update
		line     int // of the error
	}{
		{name: "nothing", in: ""},
		{
			name: "a branch", in: "refs/heads/x " + oidA + " refs/heads/y " + oidB + "\n",
			want: []Update{{"refs/heads/x", oidA, "refs/heads/y", oidB}},
		},
		{
			name: "spaces in the source", in: "HEAD^{/fix the} " + oidA + " refs/heads/y " + zeroID + "\n",
			want: []Update{{"HEAD^{/fix the}", oidA, "refs/heads/y", zeroID}},
		},
		{
			name: "deletion", in: "(delete) " + zeroID + " refs/heads/y " + oidB + "\n",
			want: []Update{{"(delete)", zeroID, "refs/heads/y", oidB}},
		},
		{
			name: "two lines, the last without an end", in: "a " + oidA + " r " + oidB + "\n\nb " + oidA + " s " + oidB,
			want: []Update{{"a", oidA, "r", oidB}, {"b", oidA, "s", oidB}},
		},
		{name: "carriage returns", in: "a " + oidA + " r " + oidB + "\r\n", want: []Update{{"a", oidA, "r", oidB}}},
		{
			name: "SHA-256", in: "a " + long + " r " + strings.Repeat("0", 64) + "\n",
			want: []Update{{"a", long, "r", strings.Repeat("0", 64)}},
		},
		{name: "three fields", in: "a " + oidA + " r " + oidB + "\n" + oidA + " r " + oidB + "\n", line: 2},
		{name: "no source", in: " " + oidA + " r " + oidB + "\n", line: 1},
		{name: "no target", in: "a " + oidA + "  " + oidB + "\n", line: 1},
		{name: "short id", in: "a " + oidA[1:] + " r " + oidB + "\n", line: 1},
		{name: "capitals", in: "a " + strings.ToUpper(oidA) + " r " + oidB + "\n", line: 1},
		{name: "ids of two kinds", in: "a " + long + " r " + oidB + "\n", line: 1},
		{name: "an option", in: "a --help-" + oidA[7:] + " r " + oidB + "\n", line: 1},
		{name: "no end", in: "\n" + strings.Repeat("x", maxLine+1), line: 2},
	} {
		got, err := ReadUpdates(strings.NewReader(c.in))
		if (err != nil) != (c.line > 0) ||
			err != nil && !strings.Contains(err.Error(), fmt.Sprintf(" line %d from git: ", c.line)) || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v, error in line %d", c.name, got, err, c.want, c.line)
		}
	}
}

// TestReadUpdatesOfTooMuch: more than is read is an error, also where what is read ends with a line.
func TestReadUpdatesOfTooMuch(t *testing.T) {
	const line = "a " + oidA + " r " + oidB + "\n"
	for most, want := range map[int]bool{len(line): false, 2 * len(line): false, 2*len(line) + 1: true} {
		updates, err := readUpdates(strings.NewReader(line+line), int64(most))
		if (err == nil) != want || want && len(updates) != 2 {
			t.Errorf("%d bytes: %d updates, %v", most, len(updates), err)
		}
	}
}

func TestReadUpdatesPassesErrorsOn(t *testing.T) {
	if _, err := ReadUpdates(iotest.ErrReader(io.ErrClosedPipe)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("err = %v", err)
	}
}

func TestUpdateDeletes(t *testing.T) {
	for _, c := range []struct {
		u    Update
		want bool
	}{
		{Update{"a", oidA, "r", oidB}, false},
		{Update{"a", oidA, "r", zeroID}, false},
		{Update{"(delete)", zeroID, "r", oidB}, true},
	} {
		if got := c.u.Delete(); got != c.want {
			t.Errorf("%v: Delete = %v, want %v", c.u, got, c.want)
		}

		c.u.RemoteRef = "refs/heads/r"
		if pushed := len(Branches([]Update{c.u})) == 1; pushed == c.want {
			t.Errorf("%v: its branch is pushed: %v", c.u, pushed)
		}
	}
}

func FuzzReadUpdates(f *testing.F) {
	f.Add("refs/heads/x " + oidA + " refs/heads/y " + oidB + "\n")
	f.Add("HEAD^{/fix the} " + oidA + " refs/heads/y " + zeroID + "\n(delete) " + zeroID + " r " + oidB)
	f.Add(" \r\n\x00")
	f.Fuzz(func(t *testing.T, in string) {
		updates, err := ReadUpdates(strings.NewReader(in))
		if err != nil {
			return
		}

		var again strings.Builder
		for _, u := range updates {
			fmt.Fprintln(&again, u.LocalRef, u.LocalOID, u.RemoteRef, u.RemoteOID)
		}

		same, err := ReadUpdates(strings.NewReader(again.String()))
		if err != nil || !slices.Equal(updates, same) {
			t.Errorf("%q reads as %v, and that as %v, %v", in, updates, same, err)
		}
	})
}
