package leasetest

import (
	"errors"
	"slices"
	"sync"
)

// A Fault is what happens to one request.
type Fault int

// The faults of the model AMB (guarantees.md#the-search): what a client sees is the same for all
// three.
const (
	Lost    Fault = iota // carried out, and the answer does not arrive
	Dropped              // not carried out
	Late                 // carried out when Deliver says so
)

// Faults are all of them.
var Faults = []Fault{Lost, Dropped, Late}

// String names the fault.
func (f Fault) String() string { return [...]string{"lost", "dropped", "late"}[f] }

// ErrCut is what a client sees of a spoiled request.
var ErrCut = errors.New("connection reset by test")

// A Wire is what lies between all clients of a store and its server. The zero Wire spoils nothing.
type Wire struct {
	mu    sync.Mutex
	armed []*shot
	late  []func()
}

// A shot is a fault that waits for its request.
type shot struct {
	fault Fault
	skip  int // requests to let pass before
	hit   bool
}

// Break spoils the request that comes after n others, once. hit reports whether it has come, and
// disarms the fault.
func (w *Wire) Break(f Fault, n int) (hit func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &shot{fault: f, skip: n}
	w.armed = append(w.armed, s)

	return func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.armed = slices.DeleteFunc(w.armed, func(o *shot) bool { return o == s })
		return s.hit
	}
}

// Calm disarms every fault that is still waiting.
func (w *Wire) Calm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed = nil
}

// Next returns what happens to the request that is about to be sent.
func (w *Wire) Next() (f Fault, spoiled bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.armed {
		if s.skip > 0 {
			s.skip--
			continue
		}

		s.hit = true
		w.armed = slices.DeleteFunc(w.armed, func(o *shot) bool { return o == s })
		return s.fault, true
	}

	return 0, false
}

// Carry sends a request as its fault will have it, for stores whose client calls a function for
// each request. do must work after Carry has returned, too.
func (w *Wire) Carry(do func() error) error {
	fault, spoiled := w.Next()
	switch {
	case !spoiled:
		return do()
	case fault == Late:
		w.Postpone(func() { _ = do() }) // nobody waits for the answer
	case fault == Lost:
		_ = do() // its answer is what gets lost
	}

	return ErrCut
}

// Postpone keeps a late request for Deliver.
func (w *Wire) Postpone(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.late = append(w.late, do)
}

// Deliver carries out the late requests, in their order.
func (w *Wire) Deliver() {
	w.mu.Lock()
	late := w.late
	w.late = nil
	w.mu.Unlock()
	for _, do := range late {
		do()
	}
}
