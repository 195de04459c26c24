package work

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/printable"
)

// Settings are one agent's work source, as configured.
type Settings struct {
	Type  string // github, folder, …
	Agent string // codename of the worker
	Place string // what the source is opened on: owner/name, or a folder
}

// An Opener makes a source. It may ask whether the place exists; it changes nothing.
type Opener func(ctx context.Context, s Settings) (Source, error)

// Openers are the kinds of sources a program has, by type. The program names them; nothing
// registers itself. nil is none.
type Openers map[string]Opener

// An UnknownTypeError is a type that is not among them.
type UnknownTypeError struct {
	Type  string
	Known []string
}

func (e *UnknownTypeError) Error() string {
	known := "none"
	if len(e.Known) > 0 {
		known = strings.Join(e.Known, ", ")
	}
	return fmt.Sprintf("unknown work source %q; supported: %s", printable.Clip(e.Type, 80), known)
}

// Get returns the opener of a type, or an *UnknownTypeError.
func (o Openers) Get(name string) (Opener, error) {
	open, found := o[name]
	if !found {
		return nil, &UnknownTypeError{name, slices.Sorted(maps.Keys(o))}
	}
	return open, nil
}
