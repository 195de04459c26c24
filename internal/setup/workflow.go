package setup

import (
	"io"
	"sync"
)

// Logged returns w as it has to be where the runner of GitHub Actions reads what is written: other
// people's titles and names must not give it commands ("::error::" at the start of a line,
// "##[error]" anywhere in one). Elsewhere it is w itself. A line of JSON keeps its meaning.
func (e Environment) Logged(w io.Writer) io.Writer {
	if w == nil || e.Getenv("GITHUB_ACTIONS") == "" {
		return w
	}
	return &workflowLog{to: w, blank: true}
}

// A workflowLog puts something unseen into whatever would be a command.
type workflowLog struct {
	mu     sync.Mutex
	to     io.Writer
	blank  bool // nothing of the line is to be seen yet, but perhaps one colon
	colon  bool // it was that colon that came last
	json   bool // the line began with a brace
	sharps int  // number signs at the end of what came last
}

// unseen is a space of no width.
const unseen = "\u200b"

// Write writes the text; n counts what was given.
func (l *workflowLog) Write(p []byte) (n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]byte, 0, len(p))
	for _, b := range p {
		if b == '\n' || b == '\r' {
			l.blank, l.colon, l.json, l.sharps = true, false, false, 0
			out = append(out, b)
			continue
		}

		switch {
		case b == '[' && l.sharps >= 2 && l.json:
			l.sharps = 0
			out = append(out, `\u005b`...)
			continue
		case b == '[' && l.sharps >= 2, b == ':' && l.blank && l.colon:
			out = append(out, unseen...)
		}

		out = append(out, b)
		visible := b > ' ' && b < 0x7f
		if l.blank {
			l.json = b == '{'
		}

		l.colon = l.blank && b == ':' && !l.colon
		l.blank = l.blank && (!visible || l.colon)
		if b == '#' {
			l.sharps++
		} else {
			l.sharps = 0
		}
	}

	if _, err := l.to.Write(out); err != nil {
		return 0, err
	}

	return len(p), nil
}
