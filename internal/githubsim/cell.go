package githubsim

import (
	"math"
	"time"
)

// A view is the past of the store that one read sees.
type view struct {
	upTo uint64         // later changes are not seen
	gap  map[int64]bool // comments with these ids are not seen, whatever their age
}

// present is the view that misses nothing.
func present() view { return view{upTo: math.MaxUint64} }

// A version is what a cell held from one change to the next.
type version[T any] struct {
	seq   uint64
	value T
	gone  bool
}

// A cell keeps every value that one thing ever had, oldest first. Values are copied in and out;
// slices inside them are replaced, never written to.
type cell[T any] struct{ past []version[T] }

// at returns the value in that view; false if the thing did not exist then.
func (c *cell[T]) at(v view) (T, bool) {
	for i := len(c.past) - 1; i >= 0; i-- {
		if c.past[i].seq <= v.upTo {
			return c.past[i].value, !c.past[i].gone
		}
	}

	var zero T
	return zero, false
}

// now returns the newest value, which is the zero value once the thing is gone.
func (c *cell[T]) now() T {
	value, _ := c.at(present())
	return value
}

func (c *cell[T]) put(seq uint64, value T) {
	c.past = append(c.past, version[T]{seq: seq, value: value})
}

func (c *cell[T]) remove(seq uint64) {
	c.past = append(c.past, version[T]{seq: seq, gone: true})
}

// A journal numbers the changes of the store and remembers when each was made.
type journal struct {
	times   []time.Time // times[i] is the moment of change i+1
	at      time.Time   // of the transaction under way
	open    bool        // the transaction under way has its number already
	started bool
}

// start ends the time before all changes, which has the number 0.
func (j *journal) start() { j.started = true }

// begin starts a transaction; all its changes become visible together.
func (j *journal) begin(at time.Time) { j.at, j.open = at, false }

// setBack moves the moments of all changes with the clock, so that they are as long ago as before.
// What was written with a moment keeps it.
func (j *journal) setBack(d time.Duration) {
	for n := range j.times {
		j.times[n] = j.times[n].Add(d)
	}
}

// change returns the number of the transaction under way.
func (j *journal) change() uint64 {
	if !j.started {
		return 0
	}
	if !j.open {
		j.times = append(j.times, j.at)
		j.open = true
	}

	return uint64(len(j.times))
}

// before returns the number of the last change that was made before the moment.
func (j *journal) before(t time.Time) uint64 {
	n := len(j.times)
	for n > 0 && !j.times[n-1].Before(t) {
		n--
	}
	return uint64(n)
}

// without returns the number of the last change that is seen when the newest n are hidden.
func (j *journal) without(n int) uint64 {
	return uint64(max(0, len(j.times)-n))
}
