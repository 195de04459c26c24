package work

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Settings are one agent's work source, as configured.
type Settings struct {
	Type  string // github, folder, …
	Agent string // codename of who works
	Place string // what the source is opened on: owner/name, or a folder
}

// An Opener makes a source. It may ask whether the place exists; it changes nothing.
type Opener func(ctx context.Context, s Settings) (Source, error)

// A Registry names the kinds of sources a program has. The zero value has none. main fills it;
// nothing registers itself.
type Registry struct {
	mu    sync.RWMutex
	types map[string]Opener
}

// An UnknownTypeError is a type that is not registered.
type UnknownTypeError struct {
	Type  string
	Known []string
}

func (e *UnknownTypeError) Error() string {
	known := "none"
	if len(e.Known) > 0 {
		known = strings.Join(e.Known, ", ")
	}
	return fmt.Sprintf("unknown work source %q: known are %s", clip(e.Type, 80), known)
}

// Register adds a type. An empty name, no opener and a name that is taken are errors.
func (r *Registry) Register(name string, open Opener) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch _, taken := r.types[name]; {
	case strings.TrimSpace(name) == "" || open == nil:
		return fmt.Errorf("register work source %q: want a name and an opener", name)
	case taken:
		return fmt.Errorf("register work source %q: already registered", name)
	}
	if r.types == nil {
		r.types = map[string]Opener{}
	}
	r.types[name] = open
	return nil
}

// Get returns the opener of a type, or an *UnknownTypeError.
func (r *Registry) Get(name string) (Opener, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	open, found := r.types[name]
	if !found {
		return nil, &UnknownTypeError{name, r.list()}
	}
	return open, nil
}

// Is reports whether a type is registered.
func (r *Registry) Is(name string) bool {
	_, err := r.Get(name)
	return err == nil
}

// List returns the types in alphabetical order.
func (r *Registry) List() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.list()
}

func (r *Registry) list() []string { return slices.Sorted(maps.Keys(r.types)) }

// Unregister removes a type and reports whether it was there.
func (r *Registry) Unregister(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, found := r.types[name]
	delete(r.types, name)
	return found
}

// Clear removes all types.
func (r *Registry) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.types)
}
