package outgoing

import "math"

// settle walks until the colours are final as far as ranks can be trusted, and extra steps further.
func (w *walk) settle(extra int) error {
	floor := w.oldest()
	var doubtful []*node // taken out of the queue without a step
	for len(w.queue) > 0 {
		if w.open == 0 && w.stale == 0 { // nothing is left to find, but a colour may still be wrong
			if w.moved {
				floor = w.oldest()
			}
			if floor == math.MaxInt64 {
				break // whatever colours are still to come, nothing that matters leaves
			}
			top := w.queue[0]
			// A commit that the remote has cannot contain an outgoing one when it is an ancestor of all of them, which is sure when they are
			// one line of single parents.
			harmless := len(w.sent) == 1 && !w.forks && top.paint&local != 0
			switch {
			case harmless:
				w.pop()
				continue
			case top.rank.date >= floor:
			case extra > 0:
				extra--
			default:
				doubtful = append(doubtful, w.pop())
				continue
			}
		}
		if err := w.step(); err != nil {
			return err
		}
	}
	for _, n := range doubtful {
		w.enqueue(n)
	}
	for _, n := range w.found {
		if err := w.recall(n); err != nil {
			return err
		}
	}
	return nil
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
