package outgoing

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/git"
)

// TestCutMessages: both readers say which messages they have not read to the end, and report those
// commits whatever Keep says of the rest.
func TestCutMessages(t *testing.T) {
	for _, c := range []struct {
		name, message string
		header        int // bytes of it
		wanted, cut   bool
	}{
		{"short", "nothing", 0, false, false},
		{"full", strings.Repeat("x", maxMessage), 0, false, false},
		{"longer", strings.Repeat("x", maxMessage) + "y", 0, true, true},
		{"long header", "closes #1", maxObject, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSandbox(t)
			s.pair()
			tree := strings.TrimSpace(s.git("w", "rev-parse", "HEAD^{tree}"))
			parent := strings.TrimSpace(s.git("w", "rev-parse", "HEAD"))
			oid := s.raw("w", "tree "+tree+"\nparent "+parent+
				"\nauthor a <a@b> 1700000000 +0000\ncommitter a <a@b> 1700000000 +0000\nx "+
				strings.Repeat("x", c.header)+"\n\n"+c.message)
			at, p := s.push("w", "push", "origin", oid+":refs/heads/new")
			p.Keep = func(message []byte) bool {
				return bytes.Contains(message, []byte("closes")) || len(message) > maxMessage
			}

			for reader, read := range map[string]func(context.Context, git.Git, Push) ([]Commit, error){
				"native": leaving,
				"git":    askGit,
			} {
				got, err := read(t.Context(), at, p)
				switch {
				case err != nil || (len(got) == 1) != c.wanted:
					t.Errorf("%s: %d commits, %v", reader, len(got), err)
				case c.wanted && (got[0].Cut != c.cut || len(got[0].Message) > maxMessage):
					t.Errorf("%s: cut %v, %d bytes", reader, got[0].Cut, len(got[0].Message))
				}
			}
		})
	}
}
