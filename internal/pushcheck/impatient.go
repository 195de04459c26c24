package pushcheck

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
)

// impatient gives up on everything as soon as no connection can be made: whoever pushes while
// offline is not kept waiting for repetitions.
type impatient struct {
	next   http.RoundTripper
	hangUp context.CancelCauseFunc
}

// RoundTrip sends the request.
func (i impatient) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := i.next.RoundTrip(r)
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		i.hangUp(fmt.Errorf("no connection to %s: %w", r.URL.Hostname(), op.Err))
	}
	return resp, err
}
