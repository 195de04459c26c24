package outgoing

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
)

// A headerReader reads what git rev-list --header prints: "OID LF COMMIT NUL" for each commit. Git
// indents the lines of a message, drops blanks at their ends, and ends a message at a NUL.
type headerReader struct {
	in     *bufio.Reader
	record []byte
	digest [2]hash.Hash // of ids: SHA-1, SHA-256
	buffer []byte
}

func newHeaderReader(in *bufio.Reader) *headerReader {
	return &headerReader{in: in, digest: [2]hash.Hash{sha1.New(), sha256.New()}}
}

// next returns the next commit, with a message that is valid until the next call, or io.EOF. exact
// says that the message is the commit's, byte for byte.
func (r *headerReader) next() (c Commit, exact bool, err error) {
	if err := r.read(); err != nil {
		return c, false, err
	}

	line, text, _ := bytes.Cut(r.record, []byte("\n"))
	oid := string(line)
	if !isOID(oid) {
		return c, false, fmt.Errorf("unexpected answer %.100q", r.record)
	}

	header := bytes.Index(text, []byte("\n\n")) + len("\n\n")
	if header < len("\n\n") { // git has dropped the line breaks before an empty message
		text = append(text, '\n')
		header = len(text)
	}

	text = append(text[:header], unindent(text[header:])...)
	length, exact := r.original(oid, text)
	return newCommit(oid, text[min(header, length):length], false), exact, nil
}

// read reads up to the next NUL, but keeps no more than maxObject bytes. The error is io.EOF when
// there is nothing more.
func (r *headerReader) read() error {
	r.record = r.record[:0]
	for {
		part, err := r.in.ReadSlice(0)
		if err == io.EOF && len(part)+len(r.record) == 0 {
			return io.EOF
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return cutOff(err)
		}

		ended := err == nil
		if ended {
			part = part[:len(part)-1]
		}

		r.record = append(r.record, part[:min(len(part), maxObject-len(r.record))]...)
		if ended {
			return nil
		}
	}
}

// original reports whether a commit that git has printed has its id, and how many bytes of the text
// do: with or without the line break at its end.
func (r *headerReader) original(oid string, text []byte) (length int, ok bool) {
	digest := r.digest[len(oid)/64]
	for _, length := range []int{len(text), len(text) - 1} {
		r.buffer = append(r.buffer[:0], "commit "...)
		r.buffer = strconv.AppendInt(r.buffer, int64(length), 10)
		r.buffer = append(r.buffer, 0)

		digest.Reset()
		_, _ = digest.Write(r.buffer) // it never fails
		_, _ = digest.Write(text[:length])
		sum := digest.Sum(r.buffer[:0])
		if r.buffer = hex.AppendEncode(sum, sum); string(r.buffer[len(sum):]) == oid {
			return length, true
		}
	}

	return len(text), false
}

// unindent takes away, in place, the four blanks with which git begins each line of a message.
func unindent(message []byte) []byte {
	text := message[:0]
	for line := range bytes.Lines(message) {
		text = append(text, bytes.TrimPrefix(line, []byte("    "))...)
	}
	return text
}
