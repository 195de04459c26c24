package outgoing

import "math"

// A settling is the last part of a walk: nothing is left to find, but a colour may still be wrong.
type settling struct {
	*walk
	floor    int64   // date of the oldest outgoing commit that matters
	extra    int     // steps behind that date
	doubtful []*node // taken out of the queue without a step
}

// settle walks until the colours are final as far as ranks can be trusted, and extra steps further.
func (w *walk) settle(extra int) error {
	s := settling{walk: w, floor: w.oldest(), extra: extra}
	for w.queue.len() > 0 {
		over, passed := s.pass()
		if over {
			break
		}
		if passed {
			continue
		}
		if err := w.step(); err != nil {
			return err
		}
	}
	for _, n := range s.doubtful {
		w.enqueue(n)
	}
	for _, n := range w.found {
		if err := w.recall(n); err != nil {
			return err
		}
	}
	return nil
}

// pass takes the next commit out of the queue when it needs no step. Over says that no step matters any more.
func (s *settling) pass() (over, passed bool) {
	if s.open > 0 || s.stale > 0 {
		return false, false
	}
	if s.moved {
		s.floor = s.oldest()
	}
	top := s.queue.top()
	switch {
	case s.floor == math.MaxInt64:
		return true, false // whatever colours are still to come, nothing that matters leaves
	case s.harmless(top):
		s.pop()
	case top.rank.date >= s.floor:
		return false, false
	case s.extra > 0:
		s.extra--
		return false, false
	default:
		s.doubtful = append(s.doubtful, s.pop())
	}
	return false, true
}

// harmless reports whether a commit that the remote has cannot contain an outgoing one, because it is an ancestor of all of
// them, which is sure when they are one line of single parents.
func (w *walk) harmless(n *node) bool {
	return len(w.sent) == 1 && !w.forks && n.paint&local != 0
}

// oldest returns the date of the oldest outgoing commit that matters.
func (w *walk) oldest() int64 {
	w.moved = false
	oldest := int64(math.MaxInt64)
	for _, n := range w.found {
		if n.outgoing() && (!n.judged || n.wanted) {
			oldest = min(oldest, n.rank.date)
		}
	}
	return oldest
}
