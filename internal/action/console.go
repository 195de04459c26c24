package action

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sethvargo/go-githubactions"

	"github.com/label-state/label-state/internal/printable"
)

const (
	noticeLimit = 10   // annotations of one kind that the runner keeps for a step
	noticeClip  = 1000 // characters of one; the runner cuts at 4096
)

// A Console writes the workflow log. Nothing other people wrote reaches it undefused.
type Console struct {
	gh      *githubactions.Action
	out     io.Writer
	notices map[string]int
}

// NewConsole returns a console that writes plain lines and workflow commands to out.
func NewConsole(gh *githubactions.Action, out io.Writer) *Console {
	return &Console{gh: gh, out: out, notices: map[string]int{}}
}

// line prints one line.
func (c *Console) line(format string, args ...any) {
	fmt.Fprintln(c.out, plain(fmt.Sprintf(format, args...)))
}

// Write prints warnings of other parts as lines.
func (c *Console) Write(text []byte) (int, error) {
	for l := range strings.Lines(string(text)) {
		c.line("%s", strings.TrimRight(l, "\r\n"))
	}
	return len(text), nil
}

// group folds lines under a title; without lines there is no group.
func (c *Console) group(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	c.gh.Group(plain(title))

	for _, l := range lines {
		c.line("%s", l)
	}
	c.gh.EndGroup()
}

// at is the console whose annotations stand beside a line of a file of the repository.
func (c *Console) at(file string, line int) *Console {
	fields := map[string]string{"file": file, "line": strconv.Itoa(max(1, line))}
	return &Console{gh: c.gh.WithFieldsMap(fields), out: c.out, notices: c.notices}
}

func (c *Console) notice(format string, args ...any) {
	c.annotate("notice", c.gh.Noticef, format, args)
}

func (c *Console) warn(format string, args ...any) {
	c.annotate("warning", c.gh.Warningf, format, args)
}

func (c *Console) fail(format string, args ...any) { c.annotate("error", c.gh.Errorf, format, args) }

// annotate keeps to the runner's limit: what would be dropped becomes an ordinary line.
func (c *Console) annotate(kind string, say func(string, ...any), format string, args []any) {
	text := plain(fmt.Sprintf(format, args...))
	c.notices[kind]++
	if c.notices[kind] > noticeLimit {
		c.line("%s: %s", kind, text)
		return
	}

	say("%s", plain(printable.Short(text, noticeClip)))
}
