package cli

import (
	"time"
)

// Between two tries --wait rests for retryFirst, then twice as long each time up to retryMost.
const (
	RetryFirst = time.Second
	RetryMost  = 15 * time.Second
)
