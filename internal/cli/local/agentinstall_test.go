package local

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/label-state/label-state/internal/cli"
)

// TestFileFailure: the hint is about the file where that is wrong, and about the folder where the
// system does not allow what was tried.
func TestFileFailure(t *testing.T) {
	denied := func(why error) error {
		return fmt.Errorf("write: %w", &fs.PathError{Op: "write", Path: "/etc/host/settings.json", Err: why})
	}
	for want, err := range map[string]error{
		"fix that file, then run: label-state agent install":                            errors.New("settings.json: it is not valid JSON"),
		"make room there: df /etc/host; then: label-state agent install":                denied(syscall.ENOSPC),
		"see what may be done there: ls -ld /etc/host; then: label-state agent install": denied(syscall.EACCES),
	} {
		term := cli.Terminal{Typed: strings.Fields("label-state agent install")}
		if got := term.Hint(fileFailure(err)); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}
