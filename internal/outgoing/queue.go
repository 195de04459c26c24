package outgoing

// A queue is a heap of commits, the first by rank on top.
type queue []*node

func (q *queue) push(n *node) {
	h := append(*q, n)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !h[i].rank.before(h[parent].rank) {
			break
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
	*q = h
}

func (q *queue) pop() *node {
	h := *q
	top := h[0]
	last := len(h) - 1
	h[0], h[last] = h[last], nil
	h = h[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].rank.before(h[child].rank) {
			child++
		}
		if !h[child].rank.before(h[i].rank) {
			break
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
	*q = h
	return top
}
