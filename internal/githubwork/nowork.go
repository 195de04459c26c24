package githubwork

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/work"
)

// What keeps an issue of the queue from an agent besides the reasons of the predicate.
const (
	NotWanted lifecycle.Code = "not-asked-for" // by the filters of the search
	lostRace  lifecycle.Code = "lost-race"     // somebody else was faster
	// its own kind of worker has released it as success a moment ago, without a pull request
	unproven lifecycle.Code = "unproven"
)

// pass notes why an issue of the queue was passed over.
func (s *Source) pass(number int, why lifecycle.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue[number] = why
}

// noteLimit notes what keeps the agent from the queue.
func (s *Source) noteLimit(limit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = limit
}

// NoWork says how many issues the last search passed over, and why; the most frequent reason first.
func (s *Source) NoWork() *work.NoWorkError {
	s.mu.Lock()
	defer s.mu.Unlock()
	queues := s.o.Queues
	out := &work.NoWorkError{Queue: len(s.queue), Label: queues[0], More: queues[1:]}
	count := map[lifecycle.Code]int{}
	for _, why := range s.queue {
		count[cmp.Or(why, lostRace)]++ // it was free, and yet there is no work
	}

	own := map[lifecycle.Code]string{
		lostRace:            "taken by somebody faster",
		NotWanted:           "without the label or priority asked for" + s.nowhere(),
		lifecycle.CodeLimit: "not offered: " + s.limit,
		unproven:            "released as success without a pull request by this kind of worker a moment ago",
	}

	for why, n := range count {
		text := cmp.Or(own[why], why.Meaning().Passed, "not free ("+string(why)+")")
		out.Passed = append(out.Passed, work.PassedOver{Reason: string(why), Text: text, Items: n})
	}

	slices.SortFunc(out.Passed, func(a, b work.PassedOver) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

// nowhere names the labels asked for that no issue of the queue has: they may be misspelt.
func (s *Source) nowhere() string {
	if len(s.rare) == 0 {
		return ""
	}
	named := make([]string, len(s.rare))
	for n, l := range s.rare {
		named[n] = strconv.Quote(l)
	}
	return " (no open issue of the queue has the label " + strings.Join(named, " or ") + ")"
}
