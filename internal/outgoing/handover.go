package outgoing

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Budget is how long both stages of the hook may take together, unless the configuration, which the
// second one reads, says otherwise (hook.md).
const Budget = 3 * time.Second

// maxHandOver bounds the messages, in bytes, that one stage of the hook hands to the other; of
// more, the second stage reads the commits again.
const maxHandOver = 16 << 20

// cutMark says of a commit that there is more of its message.
const cutMark = " cut"

// ends are the last lines of a list of commits.
var ends = map[bool]string{true: "exact\n", false: "likely\n"}

// errHandOver: what follows git's input is not as HandOver writes it.
var errHandOver = errors.New("read from the first stage: the list of commits is cut or malformed")

// An Input is what the second stage of the hook finds on its standard input.
type Input struct {
	Updates []Update
	// Commits is what the first stage read: the commits that leave and may close an issue. It
	// counts when Read is set. Exact is as of Commits.
	Commits     []Commit
	Read, Exact bool
}

// HandOver returns the input of the second stage: git's own, then a NUL, which git's has not, then
// for each commit a line "OID SIZE" or "OID SIZE cut", SIZE bytes of message and a line feed, and
// at the end a line "exact" or "likely". Commits whose messages are larger than 16 MiB together are
// left out.
func HandOver(input []byte, commits []Commit, exact bool) []byte {
	size := 0
	for _, c := range commits {
		size += len(c.Message)
	}

	if size > maxHandOver {
		return input
	}

	out := bytes.NewBuffer(input[:len(input):len(input)])
	out.WriteByte(0)
	for _, c := range commits {
		cut := ""
		if c.Cut {
			cut = cutMark
		}
		fmt.Fprintf(out, "%s %d%s\n%s\n", c.OID, len(c.Message), cut, c.Message)
	}

	out.WriteString(ends[exact])
	return out.Bytes()
}

// ReadInput reads git's input, and what HandOver added to it, until the end. A line that is not an
// update is a *LineError.
func ReadInput(r io.Reader) (Input, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxInput+2*maxHandOver))
	if err != nil {
		return Input{}, fmt.Errorf("read from git: %w", err)
	}

	lines, list, handed := bytes.Cut(data, []byte{0})
	in := Input{Read: handed}
	if in.Updates, err = ReadUpdates(bytes.NewReader(lines)); err != nil || !handed {
		return in, err
	}

	for {
		if in.Exact = string(list) == ends[true]; in.Exact || string(list) == ends[false] {
			return in, nil
		}

		line, rest, _ := bytes.Cut(list, []byte("\n"))
		head, cut := strings.CutSuffix(string(line), cutMark)
		oid, length, _ := strings.Cut(head, " ")
		size, err := strconv.Atoi(length)
		if err != nil || !isOID(oid) || size < 0 || size > maxMessage || size >= len(rest) || rest[size] != '\n' {
			in.Commits = nil
			return in, errHandOver
		}

		in.Commits = append(in.Commits, Commit{OID: oid, Message: rest[:size:size], Cut: cut})
		list = rest[size+1:]
	}
}
