package outgoing

import (
	"bytes"
	"errors"
	"fmt"
)

// maxObject bounds what is read of a commit, in bytes: its header, and the message as far as it is
// looked at.
const maxObject = maxMessage + 1<<20

// errDamaged: an object is not what its format says.
var errDamaged = errors.New("damaged object")

// parseCommit returns a commit and its parents. Of content that is longer than maxObject, that much
// is enough.
func parseCommit(oid string, content []byte) (c Commit, parents []string, err error) {
	header, message, _ := bytes.Cut(content, []byte("\n\n"))
	for line := range bytes.Lines(header) {
		parent, ok := bytes.CutPrefix(bytes.TrimSuffix(line, []byte("\n")), []byte("parent "))
		if !ok {
			continue
		}
		if !isOID(string(parent)) {
			return c, nil, fmt.Errorf("read object %s: %w: parent %q", oid, errDamaged, parent)
		}

		parents = append(parents, string(parent))
	}

	c = newCommit(oid, message, len(content) >= maxObject)
	return c, parents, nil
}

// newCommit is a commit with as much of the message as is looked at. cut says that the message goes
// on.
func newCommit(oid string, message []byte, cut bool) Commit {
	return Commit{
		OID:     oid,
		Message: message[:min(len(message), maxMessage)],
		Cut:     cut || len(message) > maxMessage,
	}
}
