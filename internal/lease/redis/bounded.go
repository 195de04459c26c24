package redis

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strconv"
)

// What a store asks for is small: a lease, or a page of a thousand keys. The client library
// believes what a server announces and makes room for it, so a server that announces two gigabytes
// would get them.
const (
	mostBytes  = 1 << 20 // of one answer
	mostValues = 1 << 16 // in the lists of one answer, together
	mostLine   = 4 << 10 // of what announces a value
)

// errTooLarge is an answer that no store has asked for.
var errTooLarge = errors.New("the server announces a larger answer than any lease or list of leases has")

// A bounded connection ends an answer that announces, or holds, more than a store asks for. It
// reads the protocol only as far as lengths (Redis, "Redis serialization protocol").
type bounded struct {
	net.Conn
	read, values int    // of the answer, so far
	line         []byte // that announces what follows, as far as it is there
	skip         int    // bytes that follow
}

// Write sends a request, after which another answer begins.
func (b *bounded) Write(p []byte) (int, error) {
	b.read, b.values = 0, 0
	return b.Conn.Write(p)
}

// Read returns what the server sends until it is too much.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if b.read += n; b.read > mostBytes {
		return 0, errTooLarge
	}
	if over := b.follow(p[:n]); over != nil {
		return 0, over
	}

	return n, err
}

// follow reads lengths, and passes over what they are the lengths of.
func (b *bounded) follow(p []byte) error {
	for len(p) > 0 {
		if b.skip > 0 {
			n := min(b.skip, len(p))
			p, b.skip = p[n:], b.skip-n
			continue
		}

		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			b.line = append(b.line, p...)
			p = nil
		} else {
			b.line = append(b.line, p[:end]...)
			p = p[end+1:]
		}

		if len(b.line) > mostLine {
			return errTooLarge
		}

		if end >= 0 {
			if err := b.announced(string(bytes.TrimSuffix(b.line, []byte("\r")))); err != nil {
				return err
			}
			b.line = b.line[:0]
		}
	}

	return nil
}

// announced takes a whole line: $LENGTH is before a text, *LENGTH before a list.
func (b *bounded) announced(line string) error {
	if line == "" || line[0] != '$' && line[0] != '*' {
		return nil
	}
	n, err := strconv.Atoi(line[1:])
	switch {
	case err != nil:
		return fmt.Errorf("read answer: %w", err)
	case n < 0: // there is none
	case line[0] == '$':
		if n > mostBytes {
			return errTooLarge
		}
		b.skip = n + len("\r\n")

	default:
		if n > mostValues-b.values {
			return errTooLarge
		}
		b.values += n
	}

	return nil
}
