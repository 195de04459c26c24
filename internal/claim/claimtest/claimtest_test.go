package claimtest_test

import (
	"testing"

	"github.com/label-state/label-state/internal/claim/claimtest"
)

func TestUnquoteReadsWhatQuoteWrites(t *testing.T) {
	for _, s := range []string{"", "plain", "a\nb\r\tc", `"\`, "\x00\x1b\xff", "é🙂"} {
		got, err := claimtest.Unquote(claimtest.Quote(s))
		if err != nil || got != s {
			t.Errorf("Unquote(%s) = %q, %v, want %q", claimtest.Quote(s), got, err, s)
		}
	}
}

func TestUnquoteRefuses(t *testing.T) {
	for _, s := range []string{
		``, `"`, `x`, `"\`, `"\"`, `"\q"`, `"\x1"`, `"\xzz"`, `"\{3:x"`, `"\{x:3}"`,
		`"\{-1:x}"`,
	} {
		if got, err := claimtest.Unquote(s); err == nil {
			t.Errorf("Unquote(%s) = %q, want an error", s, got)
		}
	}
}

func TestClockWritesWhatTimeReads(t *testing.T) {
	for _, s := range []string{"0:00", "0:00:01", "4:01", "23:59:59", "27:00"} {
		at, err := claimtest.Time(s)
		if err != nil || claimtest.Clock(at) != s {
			t.Errorf("Clock(Time(%s)) = %s, %v", s, claimtest.Clock(at), err)
		}
	}

	for _, s := range []string{"", "1", "1:2:3:4", "a:00", "-1:00"} {
		if at, err := claimtest.Time(s); err == nil {
			t.Errorf("Time(%q) = %v, want an error", s, at)
		}
	}
}

func TestCommentRefuses(t *testing.T) {
	for _, line := range []string{
		"", "1", "1 0:00 ann", "x 0:00 ann claim a:1", "1 x ann claim a:1",
		"1 0:00~x ann claim a:1", "1 0:00 ann claim", "1 0:00 ann claim a",
	} {
		if c, err := claimtest.Comment(line); err == nil {
			t.Errorf("Comment(%q) = %+v, want an error", line, c)
		}
	}
}

func TestCasesRefuses(t *testing.T) {
	for _, text := range []string{"stray line", "== a\n== a"} {
		if cases, err := claimtest.Cases(text); err == nil {
			t.Errorf("Cases(%q) = %v, want an error", text, cases)
		}
	}
}
