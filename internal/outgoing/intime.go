package outgoing

import (
	"context"
	"fmt"
)

// InTime returns what read returns, or the cause of ctx when that ends first: a read of standard
// input cannot be broken off, and goes on then. A panic of read is an error.
func InTime[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- result{err: fmt.Errorf("internal error: %v", p)}
			}
		}()
		value, err := read()
		done <- result{value, err}
	}()

	select {
	case got := <-done:
		return got.value, got.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
