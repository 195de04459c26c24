package outgoing

import (
	"bytes"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// A rawCommit is what a walk needs of a commit object: parents, committer date in seconds since 1970, and message.
type rawCommit struct {
	parents []plumbing.Hash
	date    int64
	message []byte
	cut     bool // there is more of it
}

// parseCommit reads a commit object in one pass. A date that cannot be read is 0, as for git.
func parseCommit(data []byte) (rawCommit, error) {
	c := rawCommit{cut: len(data) >= maxObject}
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		if len(line) == 0 {
			break
		}
		key, value, _ := bytes.Cut(line, []byte(" "))
		switch string(key) {
		case "parent":
			oid, ok := parseHash(string(value))
			if !ok {
				return c, fmt.Errorf("%w: parent %q", errDamaged, value)
			}
			c.parents = append(c.parents, oid)
		case "committer":
			c.date = signatureDate(value)
		}
	}
	c.cut = c.cut || len(data) > maxMessage
	c.message = data[:min(len(data), maxMessage)]
	return c, nil
}

// signatureDate reads the seconds in "NAME <EMAIL> SECONDS ZONE".
func signatureDate(signature []byte) int64 {
	digits := bytes.TrimLeft(signature[bytes.LastIndexByte(signature, '>')+1:], " ")
	seconds := int64(0)
	for _, c := range digits {
		if c < '0' || c > '9' || seconds > 1<<50 {
			break
		}
		seconds = seconds*10 + int64(c-'0')
	}
	return seconds
}
