package ledger

import (
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// Extended returns this machine's time before the request that last extended the lease: from then on the lease runs. It is zero for a
// hold that did not come from this process.
func (h Hold) Extended() time.Time { return h.start }

// Lease returns how long the hold lasts from then on; claim.NoExpiry for one that never expires.
func (h Hold) Lease() time.Duration {
	if h.Until.IsZero() {
		return claim.NoExpiry
	}
	return h.lease
}
