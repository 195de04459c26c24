package clock

import (
	"sync"
	"time"
)

// Silence is how long something may take before somebody is told what is waited for.
const Silence = 3 * time.Second

// A Teller is told what is waited for, and until when at the latest.
type Teller func(what string, until time.Time)

// A Vigil stands over something that may take long. Each time that Silence has passed since it last
// told of something, and something else is waited for by then, it tells of that. It may be used
// from any goroutine; nil tells nothing.
type Vigil struct {
	tell  Teller
	timer *time.Timer

	mu    sync.Mutex
	told  bool // of what is waited for now
	ended bool
	what  string
	until time.Time
}

// Watch begins a vigil. Without anybody to tell it is nil.
func Watch(tell Teller) *Vigil {
	if tell == nil {
		return nil
	}
	v := &Vigil{tell: tell}
	v.timer = time.AfterFunc(Silence, v.say)
	return v
}

// For says what is waited for from now on.
func (v *Vigil) For(what string, until time.Time) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.what, v.until = what, until
	if v.told && !v.ended {
		v.told = false
		v.timer.Reset(Silence)
	}
}

func (v *Vigil) say() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.told = true
	if v.what != "" && !v.ended {
		v.tell(v.what, v.until)
	}
}

// End ends it: nothing is told from then on.
func (v *Vigil) End() {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ended = true
	v.timer.Stop()
}
