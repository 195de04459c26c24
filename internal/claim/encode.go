package claim

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxRecord bounds an encoded record in bytes; a comment may hold 65,536 characters.
const maxRecord = 8 << 10

// ErrUnwritable is returned for a record that Decode would not return
// (spec-writing.md#writing-a-record).
var ErrUnwritable = errors.New("record cannot be written")

// Encode returns the record as one HTML comment. It refuses, with ErrUnwritable, whatever
// Decode would not return unchanged; times and ttl have one second of resolution. It does not ask
// Worker.Validate: a claim that older software wrote under an unusual name must be possible to end.
func Encode(r Record) (string, error) {
	var b strings.Builder
	b.WriteString(open + string(r.Kind) + ":")
	for i, f := range r.fields() {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(f.Key + "=" + escape(f.Value))
	}

	b.WriteString(" " + closer)
	if b.Len() > maxRecord {
		return "", fmt.Errorf("%w: %d bytes, at most %d", ErrUnwritable, b.Len(), maxRecord)
	}

	want := r // as it reads back: seconds of precision, UTC
	want.At, want.NotBefore = r.At.UTC().Truncate(time.Second), r.NotBefore.UTC().Truncate(time.Second)
	if r.TTL > 0 {
		want.TTL = r.TTL.Truncate(time.Second)
	}

	if len(r.Extra) == 0 {
		want.Extra = nil
	}
	if back, _, _ := Decode(b.String()); !reflect.DeepEqual(back, want) {
		return "", fmt.Errorf("%w: a value would not be read back", ErrUnwritable)
	}

	return b.String(), nil
}

// Body returns a whole comment: the record, then one sentence for people on its own line.
func Body(r Record, sentence string) (string, error) {
	line, err := Encode(r)
	if err != nil || sentence == "" {
		return line, err
	}
	return line + "\n" + sentence, nil
}

// fields lists what is written, in the order of spec.md#fields. Of most keys the zero value says as
// much as no key.
func (r Record) fields() []Field {
	out := []Field{{"codename", r.Worker.Codename}, {"firing_id", r.Worker.FiringID}}
	add := func(key, value string) {
		if value != "" {
			out = append(out, Field{key, value})
		}
	}

	number := func(key string, n int64) {
		if n != 0 {
			add(key, strconv.FormatInt(n, 10))
		}
	}

	moment := func(key string, t time.Time) {
		if !t.IsZero() {
			add(key, t.UTC().Format(time.RFC3339))
		}
	}

	add("outcome", r.Outcome)
	add("by", r.By)
	add("reason", r.Reason)
	add("pr", r.PR)
	if r.Closes {
		add("link", "closes")
	}

	if r.Restart {
		add("restart", "yes")
	}
	add("stage", r.Stage)
	moment("ts", r.At)
	add("nonce", r.Nonce)
	add("resumes", r.Resumes)
	if r.TTL == NoExpiry {
		add("ttl", "none")
	} else {
		number("ttl", int64(r.TTL/time.Second))
	}

	number("attempt", int64(r.Attempt))
	moment("not_before", r.NotBefore)
	if r.Held {
		add("state", "held")
	}

	if r.Held || r.Heartbeat != 0 {
		add("hb", strconv.FormatInt(r.Heartbeat, 10))
	}
	number("token", r.Token)
	add("lease", r.Lease)
	add("branch", r.Branch)
	add("bundle", r.Bundle)
	add("was", r.Was)
	add("person", r.Person)
	add("assignee", r.Assignee)
	add("forced", r.Forced)

	return append(out, r.Extra...)
}

// escape percent-encodes what would end a value or the comment, and whatever a terminal or
// another language's idea of white space could trip over.
func escape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		part := s[i : i+size]
		broken := r == utf8.RuneError && size == 1
		if broken || strings.ContainsRune("%<>", r) || !unicode.IsPrint(r) || unicode.IsSpace(r) {
			part = "%" + strings.ReplaceAll(fmt.Sprintf("% X", part), " ", "%")
		}

		b.WriteString(part)
		i += size
	}

	return b.String()
}

// unescape undoes escape and leaves a "%" that starts no pair of hexadecimal digits alone.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}

		b.WriteByte(s[i])
	}

	return b.String()
}
