package mcp

import (
	"bytes"
	"context"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// progress says to the client of a call what it waits for, as progress notifications. A client that
// asked for none hears nothing.
func progress(ctx context.Context, r *sdk.CallToolRequest) func(text string) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return func(string) {}
	}

	var mu sync.Mutex
	said := 0
	return func(text string) {
		mu.Lock()
		defer mu.Unlock()
		said++ // the protocol wants a number that grows
		_ = r.Session.NotifyProgress(ctx,
			&sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(said), Message: text})
	}
}

// Notes are what a call says besides its answer, written by several goroutines.
type notes struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write keeps p.
func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(p)
}

// lines are what was written, without the program's name.
func (n *notes) lines() (out []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for line := range strings.Lines(n.text.String()) {
		out = append(out, strings.TrimPrefix(strings.TrimRight(line, "\n"), "label-state: "))
	}
	return out
}
