package ledger_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A fleet is several repositories with one issue each, which bundles are made of.
type fleet []*world

func newFleet(seed uint64, f faults, shown ...[]string) fleet {
	out := make(fleet, len(shown))
	for n := range out {
		out[n] = newWorld(seed+uint64(n)<<32, f)
		out[n].shown = shown[n]
	}
	return out
}

func implement(n int) [][]string { return slices.Repeat([][]string{{"agent:implement"}}, n) }

func (f fleet) issue(n int) claim.Issue {
	return claim.Issue{Owner: "o", Repo: fmt.Sprintf("r%d", n), Number: 7}
}

// parts are the issues of the repositories with these numbers, for a new client of each. A life, if
// there is one, is shared by all of them.
func (f fleet) parts(l *life, numbers ...int) []ledger.Part {
	var out []ledger.Part
	for _, n := range numbers {
		s := ledger.DefaultSettings()
		s.Rules.MaxAttempts, s.Rules.Rest = 3, nil
		own := &forge{world: f[n], calls: map[string]int{}}
		led := ledger.New(over(mortal{own, l}), virtual{}, f[n].words(), s)
		out = append(out, ledger.Part{Issue: f.issue(n), Ledger: led})
	}

	return out
}

func bundle(t *testing.T, parts []ledger.Part) ledger.Bundle {
	t.Helper()
	b, err := ledger.NewBundle("checkout", parts)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A life ends at a request: before it is sent, or when it has been carried out. 0 is a long one.
type life struct {
	left  int
	after bool
	when  func() // called instead of dying
}

func (l *life) end(after bool) {
	if l == nil || after != l.after || l.left == 0 {
		return
	}
	l.left--
	if l.left > 0 {
		return
	}
	if l.when != nil {
		l.when()
		return
	}

	runtime.Goexit()
}

// mortal is a connection whose process is killed at some request.
type mortal struct {
	*forge
	life *life
}

func (m mortal) Facts(ctx context.Context, i claim.Issue) (lifecycle.Facts, error) {
	m.life.end(false)
	defer m.life.end(true)
	return m.forge.Facts(ctx, i)
}

func (m mortal) Comment(ctx context.Context, i claim.Issue, body string) (claim.Comment, error) {
	m.life.end(false)
	defer m.life.end(true)
	return m.forge.Comment(ctx, i, body)
}

func (m mortal) EditComment(ctx context.Context, i claim.Issue, id int64, body string) (claim.Comment, error) {
	m.life.end(false)
	defer m.life.end(true)
	return m.forge.EditComment(ctx, i, id, body)
}

func (m mortal) AddLabel(ctx context.Context, i claim.Issue, name string) error {
	m.life.end(false)
	defer m.life.end(true)
	return m.forge.AddLabel(ctx, i, name)
}

func (m mortal) RemoveLabel(ctx context.Context, i claim.Issue, name string) error {
	m.life.end(false)
	defer m.life.end(true)
	return m.forge.RemoveLabel(ctx, i, name)
}
