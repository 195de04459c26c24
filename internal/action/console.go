package action

import (
	"fmt"
	"io"
	"strings"

	"github.com/sethvargo/go-githubactions"
)

// noticeLimit is how many annotations of one kind the runner keeps for a step.
const noticeLimit = 10

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

// group folds the lines that write prints.
func (c *Console) group(title string, write func()) {
	c.gh.Group(plain(title))
	write()
	c.gh.EndGroup()
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
	say("%s", clip(text, 1000))
}

// outputs writes the step's outputs in the runner's file format. The delimiter is random, so
// that no value can end its own block and start another output.
func outputs(w io.Writer, delimiter string, values [][2]string) error {
	var b strings.Builder
	for _, v := range values {
		if strings.Contains(v[1], delimiter) {
			return fmt.Errorf("write output %s: value contains the delimiter", v[0])
		}
		fmt.Fprintf(&b, "%s<<%s\n%s\n%s\n", v[0], delimiter, v[1], delimiter)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
