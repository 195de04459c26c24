package outgoing

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const oneUpdate = "refs/heads/x 0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f refs/heads/x 0000000000000000000000000000000000000000\n"

func TestCommitsSurviveHandOver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		commits := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Commit {
			oid := rapid.SampledFrom([]string{strings.Repeat("0f", 20), strings.Repeat("a1", 32)}).Draw(t, "oid")
			return Commit{
				OID: oid, Message: rapid.SliceOf(rapid.Byte()).Draw(t, "message"),
				Cut: rapid.Bool().Draw(t, "cut"),
			}
		}), 0, 5).Draw(t, "commits")
		exact := rapid.Bool().Draw(t, "exact")
		whole := HandOver([]byte(oneUpdate), commits, exact)
		got, err := ReadInput(bytes.NewReader(whole))
		same := func(a, b Commit) bool { return a.OID == b.OID && a.Cut == b.Cut && bytes.Equal(a.Message, b.Message) }
		if err != nil || !got.Read || got.Exact != exact || len(got.Updates) != 1 || !slices.EqualFunc(got.Commits, commits, same) {
			t.Fatalf("%+v, %v; want %v", got, err, commits)
		}

		cut := rapid.IntRange(len(oneUpdate)+1, len(whole)-1).Draw(t, "cut")
		if got, err := ReadInput(bytes.NewReader(whole[:cut])); !errors.Is(err, errHandOver) {
			t.Fatalf("%d of %d bytes were read as %+v, %v", cut, len(whole), got, err)
		}
	})
}

func TestInputWithoutHandOver(t *testing.T) {
	in, err := ReadInput(strings.NewReader(oneUpdate))
	if err != nil || in.Read || len(in.Updates) != 1 {
		t.Errorf("%+v, %v", in, err)
	}

	large := []Commit{{OID: strings.Repeat("0f", 20), Message: make([]byte, maxHandOver+1)}}
	if got := HandOver([]byte(oneUpdate), large, true); string(got) != oneUpdate {
		t.Errorf("%d bytes are handed over", len(got))
	}
	large[0].Message = large[0].Message[:maxHandOver]
	if got := HandOver([]byte(oneUpdate), large, true); len(got) < maxHandOver {
		t.Errorf("of as much as is handed over, only %d bytes are", len(got))
	}

	large[0].Message, large[0].Cut = large[0].Message[:maxMessage], true // as a longer one is read
	if in, err := ReadInput(bytes.NewReader(HandOver([]byte(oneUpdate), large, true))); err != nil || len(in.Commits) != 1 {
		t.Errorf("a message as long as any that is read: %v", err)
	}

	large[0].Message = large[0].Message[:maxMessage+1]
	if _, err := ReadInput(bytes.NewReader(HandOver([]byte(oneUpdate), large, true))); !errors.Is(err, errHandOver) {
		t.Errorf("a message longer than any that is read: %v", err)
	}
}

func TestInTime(t *testing.T) {
	n, err := InTime(t.Context(), func() (int, error) { return 7, errHandOver })
	if n != 7 || !errors.Is(err, errHandOver) {
		t.Errorf("%d, %v", n, err)
	}

	if _, err := InTime(t.Context(), func() (int, error) { panic("x") }); err == nil || err.Error() != "internal error: x" {
		t.Error(err)
	}
}

func FuzzReadInput(f *testing.F) {
	for _, list := range []string{"exact\n", strings.Repeat("0f", 20) + " 3\nabc\nlikely\n", strings.Repeat("0f", 20) +
		" -1\n\nexact\n", "x 99999999999\n"} {
		f.Add([]byte(oneUpdate + "\x00" + list))
	}

	f.Fuzz(func(t *testing.T, text []byte) {
		in, err := ReadInput(bytes.NewReader(text))
		if err != nil || !in.Read {
			return
		}

		lines, _, _ := bytes.Cut(text, []byte{0})
		again, err := ReadInput(bytes.NewReader(HandOver(lines, in.Commits, in.Exact)))
		if err != nil || len(again.Commits) != len(in.Commits) {
			t.Fatalf("%q is read as %+v and then as %+v, %v", text, in, again, err)
		}
	})
}
