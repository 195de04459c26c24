package ledger_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A search plays the stories of a scenario: it takes the first choice until the story ends, notes
// every choice it did not take, and begins again with one of those. A state that was met before is
// not played on from, so that each is left once in every direction.
type search struct {
	scenario scenario
	views    map[uint64]*snapshot
	met      map[uint64]struct{}
	rested   map[uint64]error
	todo     []branch
	stories  int // played to their end
	pruned   int // left at a state that was met before
	most     int // a scenario with more is too large for its place
}

// A branch is a choice that was not taken yet.
type branch struct {
	path []uint8 // shared with others; read only
	next uint8
}

func explore(s scenario) *search {
	bound := most
	if *deep {
		bound = nightMost
	}

	return &search{
		scenario: s,
		most:     bound,
		views:    map[uint64]*snapshot{},
		met:      map[uint64]struct{}{},
		rested:   map[uint64]error{},
	}
}

// all plays every story and returns the choices of the first one that breaks an invariant.
func (s *search) all() (trace []string, err error) {
	s.todo = []branch{{}}
	for first := true; len(s.todo) > 0; first = false {
		if s.stories+s.pruned > s.most {
			return nil, fmt.Errorf("more than %d stories: the scenario needs a tighter bound", s.most)
		}
		b := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		path := slices.Clone(b.path)
		if !first {
			path = append(path, b.next)
		}

		if path, err := s.story(path); err != nil {
			return s.retell(path), err
		}
	}

	return nil, nil
}

// story replays the path and goes on from there.
func (s *search) story(path []uint8) ([]uint8, error) {
	p := s.scenario.start(s.views)
	defer p.end()
	var options []choice
	for n := 0; ; n++ {
		options = p.choices(options)
		if len(options) == 0 {
			break
		}

		if n == len(path) {
			if !s.fresh(p) {
				s.pruned++
				return nil, nil
			}
			path = s.fork(path, len(options))
		}

		p.grant(options[path[n]])
		if p.broken != nil {
			return path[:n+1], p.broken
		}
	}

	s.stories++
	return path, s.rest(p)
}

func (s *search) fresh(p *exploration) bool {
	d := p.digest()
	if _, known := s.met[d]; known {
		return false
	}
	s.met[d] = struct{}{}
	return true
}

// fork notes the other choices and takes the first.
func (s *search) fork(path []uint8, options int) []uint8 {
	shared := slices.Clone(path)
	for n := options - 1; n > 0; n-- {
		s.todo = append(s.todo, branch{shared, uint8(n)})
	}
	return append(path, 0)
}

// retell names the choices of a path.
func (s *search) retell(path []uint8) []string {
	p := s.scenario.start(s.views)
	defer p.end()
	var trace []string
	for _, n := range path {
		options := p.choices(nil)
		trace = append(trace, p.name(options[n]))
		p.grant(options[n])
	}

	return trace
}

// shortest looks for the shortest story that breaks an invariant before its end, breadth first.
func (s *search) shortest() (trace []string, err error) {
	queue := [][]uint8{nil}
	for ; len(queue) > 0; queue = queue[1:] {
		path := queue[0]
		options, err := s.after(path)
		if err != nil {
			return s.retell(path), err
		}

		for n := range options {
			queue = append(queue, append(slices.Clone(path), uint8(n)))
		}
	}

	return nil, nil
}

// after replays a path and counts what may follow; nothing does from a state that was met before.
func (s *search) after(path []uint8) (options int, err error) {
	p := s.scenario.start(s.views)
	defer p.end()
	for _, n := range path {
		p.grant(p.choices(nil)[n])
	}

	if p.broken != nil {
		return 0, p.broken
	}
	next := p.choices(nil)
	if len(next) == 0 {
		return 0, s.rest(p)
	}
	if !s.fresh(p) {
		return 0, nil
	}

	return len(next), nil
}

// follow makes the choices of a text, one choice a line, and returns the exploration at its end.
func (s *search) follow(lines []string) (*exploration, error) {
	p := s.scenario.start(s.views)
	for n, line := range lines {
		if err := p.take(line); err != nil {
			p.end()
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
	}

	return p, nil
}

// take makes the choice of that name.
func (p *exploration) take(line string) error {
	options := p.choices(nil)
	names := make([]string, len(options))
	for n, c := range options {
		if names[n] = p.name(c); names[n] == line {
			p.grant(c)
			return nil
		}
	}

	return fmt.Errorf("%q is not among %q", line, names)
}

// rest lets the late writes land, every lease run out and one sweep pass; then the labels must be
// the projection and the issue must be free, unless a person keeps it.
func (s *search) rest(p *exploration) error {
	for len(p.server.late) > 0 {
		p.server.land(0)
	}

	if s.scenario.ends != nil {
		if err := s.scenario.ends(p); err != nil {
			return err
		}
	}

	key := p.server.digest()
	err, known := s.rested[key]
	if !known {
		err = p.settle()
		s.rested[key] = err
	}

	return err
}

func (p *exploration) settle() error {
	if !p.scenario.pull || p.look().open { // a pull request that has ended is swept while its leases still stand
		p.server.now = p.server.now.Add(time.Hour)
	}
	l := p.ledger(calm{p}, calm{p}, func() string { return "0123abcd" })
	r := l.Sweep(context.Background(), scan{calm{p}},
		ledger.Sweep{Repos: []claim.Repo{{Owner: "o", Name: "r"}}, By: "sweep-last"})
	if !r.Complete() {
		return fmt.Errorf("the last sweep is not complete: %+v", r)
	}

	p.server.now = p.server.now.Add(time.Hour)
	f := p.facts(p.look())
	if live := f.Log.Live(); len(live) > 0 {
		return fmt.Errorf("at rest %s is still live", live[0].Record.Worker)
	}

	want, why := l.Rules().Label(f)
	if c := l.Rules().Scheme.Change(f.Labels, want); !c.Empty() {
		return fmt.Errorf("labels at rest are %q, and %s: %+v", f.Labels, why, c)
	}
	if v := l.Rules().Verdict(f, lifecycle.Seeker{}); v.Answer != lifecycle.Free && !v.Has(lifecycle.CodeClosed) &&
		!v.Has(lifecycle.CodeHold) {
		return fmt.Errorf("at rest: %s", v)
	}

	return nil
}

// calm is a server without faults that answers at once.
type calm struct{ *exploration }

func (c calm) Facts(context.Context, claim.Issue) (lifecycle.Facts, error) {
	return c.facts(c.look()), nil
}

func (c calm) Comment(_ context.Context, _ claim.Issue, body string) (claim.Comment, error) {
	e := c.server.stamp("comment", 0, body)
	c.server.commit(e)
	return claim.Comment{ID: e.id, Created: e.at, Updated: e.at}, nil
}

func (c calm) EditComment(_ context.Context, _ claim.Issue, id int64, body string) (claim.Comment, error) {
	c.server.commit(c.server.stamp("edit", id, body))
	return claim.Comment{ID: id, Updated: c.server.now}, nil
}

func (c calm) AddLabel(_ context.Context, _ claim.Issue, name string) error {
	return c.label("add", name)
}

func (c calm) RemoveLabel(_ context.Context, _ claim.Issue, name string) error {
	return c.label("remove", name)
}

func (c calm) label(verb, name string) error {
	if c.scenario.labels {
		c.server.commit(c.server.stamp(verb, 0, name))
	} else {
		c.paint(verb, name)
	}
	return nil
}

func (c calm) Now() time.Time                                   { return c.server.now }
func (c calm) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// holds plays every story of a scenario and complains about the first that breaks an invariant.
func holds(t *testing.T, s scenario) *search {
	t.Helper()
	found := explore(s)
	begin := time.Now()
	trace, err := found.all()
	switch {
	case err != nil && trace == nil:
		t.Fatal(err)
	case err != nil:
		p, _ := found.follow(trace)
		defer p.end()
		t.Fatalf("%v\n%s\n\n%s", err, strings.Join(trace, "\n"), p.server)
	}

	t.Logf("%s: %d stories, %d states, %d met again (%.1fs)", t.Name(), found.stories, len(found.met), found.pruned,
		time.Since(begin).Seconds())
	return found
}
