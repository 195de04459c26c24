package outgoing

import (
	"bytes"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// commit reads a commit for the walk, from the commit-graph if it can.
func (n *native) commit(oid plumbing.Hash) (commitFacts, error) {
	if n.graph != nil {
		if facts, ok, err := n.graph.commit(oid); ok || err != nil {
			return facts, err
		}
	}
	kind, data, err := n.objects.object(oid)
	switch {
	case err != nil:
		return commitFacts{}, err
	case kind == plumbing.TagObject:
		line, _, _ := bytes.Cut(data, []byte("\n"))
		value, ok := bytes.CutPrefix(line, []byte("object "))
		target, valid := parseHash(string(value))
		if !ok || !valid {
			return commitFacts{}, fmt.Errorf("%w: tag without an object", errDamaged)
		}
		return commitFacts{}, &tagError{target}
	case kind != plumbing.CommitObject:
		return commitFacts{}, fmt.Errorf("%s: %w", oid, errNotCommit)
	}
	raw, err := parseCommit(data)
	return commitFacts{parents: raw.parents, rank: rank{date: raw.date}, message: raw.message, cut: raw.cut, hasMessage: true}, err
}

// message reads the message of a commit that the walk knows from elsewhere.
func (n *native) message(oid plumbing.Hash) (rawCommit, error) {
	_, data, err := n.objects.object(oid)
	if err != nil {
		return rawCommit{}, err
	}
	return parseCommit(data)
}

func hashes(oids []string) []plumbing.Hash {
	list := make([]plumbing.Hash, 0, len(oids))
	for _, oid := range oids {
		list = append(list, plumbing.NewHash(oid))
	}
	return list
}

func texts(oids []plumbing.Hash) []string {
	list := make([]string, 0, len(oids))
	for _, oid := range oids {
		list = append(list, oid.String())
	}
	return list
}
