package board

import (
	"time"

	"github.com/label-state/label-state/internal/printable"
)

// spent is how much of the lease has gone since the last heartbeat, 0 to 1.
func (c Card) spent(now time.Time) float64 {
	if c.Lease <= 0 {
		return 0
	}
	return min(max(float64(now.Sub(c.Seen))/float64(c.Lease), 0), 1)
}

// age is how long ago the last heartbeat was beside the lease, as in 1h10m/4h.
func (c Card) age(now time.Time) string {
	if c.Lease <= 0 {
		return printable.Span(now.Sub(c.Since)) + ", no end"
	}
	return printable.Span(now.Sub(c.Seen)) + "/" + printable.Span(c.Lease)
}
