package setup

import (
	"sync"
	"time"

	"github.com/label-state/label-state/internal/clock"
)

// Waits returns a teller that says in one line what is waited for and until when: "waiting for
// WHAT, until 15:04:05 UTC". Requests that wait side by side for one thing are one line, until that
// time is over; a wait for what the line before has named, and that is over for less than a minute,
// goes on. The zero time is no end.
func Waits(say func(text string)) clock.Teller {
	var mu sync.Mutex
	last := map[string]time.Time{} // until when, by what
	named := ""

	return func(what string, until time.Time) {
		mu.Lock()
		defer mu.Unlock()
		if time.Now().Before(last[what]) {
			return
		}

		text := "waiting for " + what
		if what == named && time.Since(last[what]) < time.Minute {
			text = "still waiting"
		}

		last[what], named = until, what
		if !until.IsZero() {
			text += ", until " + until.UTC().Format("15:04:05 UTC")
		}
		say(text)
	}
}
