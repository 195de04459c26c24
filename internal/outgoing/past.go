package outgoing

import "github.com/go-git/go-git/v5/plumbing"

// A past is what the remote has of a commit-graph: some tips and all their ancestors. It knows commits by their positions
// and follows them no further down than it is asked, so that a walk over a hundred thousand commits costs little more than
// looking at them.
type past struct {
	graph *commitGraph // nil when there is none
	known []uint64     // a bit for each position: the remote has it
	queue []pastCommit // known, and the parents perhaps not; a heap by generation
	list  []uint32     // for parents
}

type pastCommit struct {
	generation uint64
	position   uint32
}

// hide takes a commit that the remote has and reports whether it is in the graph.
func (p *past) hide(oid plumbing.Hash) (bool, error) {
	if p.graph == nil {
		return false, nil
	}
	position, ok := p.graph.find(oid)
	if !ok {
		return false, nil
	}
	if p.known == nil {
		p.known = make([]uint64, p.graph.size()/64+1)
	}
	return true, p.learn(position)
}

// hidden reports whether a commit of the graph is one of those, or an ancestor of one.
func (p *past) hidden(oid plumbing.Hash) (bool, error) {
	if p.known == nil {
		return false, nil
	}
	position, ok := p.graph.find(oid)
	if !ok {
		return false, nil
	}
	rank, err := p.graph.rank(position)
	for err == nil && len(p.queue) > 0 && p.queue[0].generation > rank.generation {
		p.list, err = p.graph.parents(p.pop().position, p.list[:0])
		for k := 0; err == nil && k < len(p.list); k++ {
			err = p.learn(p.list[k])
		}
	}
	return p.known[position/64]&(1<<(position%64)) != 0, err
}

func (p *past) learn(position uint32) error {
	word, bit := &p.known[position/64], uint64(1)<<(position%64)
	if *word&bit != 0 {
		return nil
	}
	*word |= bit
	rank, err := p.graph.rank(position)
	c := pastCommit{rank.generation, position}
	q := append(p.queue, c)
	i := len(q) - 1
	for i > 0 && q[(i-1)/2].generation < c.generation {
		q[i] = q[(i-1)/2]
		i = (i - 1) / 2
	}
	q[i] = c
	p.queue = q
	return err
}

func (p *past) pop() pastCommit {
	q := p.queue
	top, last := q[0], q[len(q)-1]
	q = q[:len(q)-1]
	p.queue = q
	for i := 0; len(q) > 0; {
		child := 2*i + 1
		if child+1 < len(q) && q[child+1].generation > q[child].generation {
			child++
		}
		if child >= len(q) || q[child].generation <= last.generation {
			q[i] = last
			break
		}
		q[i] = q[child]
		i = child
	}
	return top
}
