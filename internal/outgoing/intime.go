package outgoing

import (
	"context"
	"fmt"
)

// InTime returns what read returns, or the cause of ctx when that ends first: a read of standard input cannot be broken off, and goes on
// then. A panic of read is an error.
func InTime[T any](ctx context.Context, read func() (T, error)) (T, error) {
	select {
	case got := <-start(read):
		return got.value, got.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// inBackground starts a read, and returns what waits for it. A panic of read is an error.
func inBackground[T any](read func() (T, error)) (wait func() (T, error)) {
	done := start(read)
	return func() (T, error) {
		got := <-done
		return got.value, got.err
	}
}

type result[T any] struct {
	value T
	err   error
}

func start[T any](read func() (T, error)) <-chan result[T] {
	done := make(chan result[T], 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- result[T]{err: fmt.Errorf("internal error: %v", p)}
			}
		}()
		value, err := read()
		done <- result[T]{value, err}
	}()
	return done
}
