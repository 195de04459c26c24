package mcp

import (
	"context"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressKey is where the context of a call has its client's ear.
type progressKey struct{}

// Progress says to the client of the call that a Program runs for what it waits for, as progress
// notifications. A client that asked for none hears nothing.
func Progress(ctx context.Context) func(text string) {
	if say, ok := ctx.Value(progressKey{}).(func(string)); ok {
		return say
	}
	return func(string) {}
}

// withProgress is the context of a call's Program.
func withProgress(ctx context.Context, r *sdk.CallToolRequest) context.Context {
	token := r.Params.GetProgressToken()
	if token == nil {
		return ctx
	}

	var mu sync.Mutex
	said := 0
	return context.WithValue(ctx, progressKey{}, func(text string) {
		mu.Lock()
		defer mu.Unlock()
		said++ // the protocol wants a number that grows
		_ = r.Session.NotifyProgress(ctx,
			&sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(said), Message: text})
	})
}
