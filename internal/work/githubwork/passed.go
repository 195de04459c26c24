package githubwork

import (
	"cmp"
	"slices"

	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/work"
)

// What keeps an issue of the queue from an agent besides the reasons of the predicate.
const (
	notWanted lifecycle.Code = "not-asked-for" // by the filters of the search
	lostRace  lifecycle.Code = "lost-race"     // somebody else was faster
)

// pass notes why an issue of the queue was passed over.
func (s *Source) pass(number int, why lifecycle.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue[number] = string(why)
}

// NoWork says how many issues the last search passed over, and why; the most frequent reason first.
func (s *Source) NoWork() *work.NoWorkError {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &work.NoWorkError{Queue: len(s.queue), Label: s.scheme().Queues()[0]}
	count := map[string]int{}
	for _, why := range s.queue {
		count[why]++
	}
	for why, n := range count {
		out.Passed = append(out.Passed, work.PassedOver{Reason: why, Text: passedText(lifecycle.Code(why)), Items: n})
	}
	slices.SortFunc(out.Passed, func(a, b work.PassedOver) int {
		if a.Items != b.Items {
			return b.Items - a.Items
		}
		if a.Reason < b.Reason {
			return -1
		}
		return 1
	})
	return out
}

func passedText(why lifecycle.Code) string {
	switch why {
	case lostRace:
		return "taken by somebody faster"
	case notWanted:
		return "not of the label or priority asked for"
	}
	return cmp.Or(why.Meaning().Passed, "not free ("+string(why)+")")
}
