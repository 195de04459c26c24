package main

import (
	"bytes"
	"context"
	"os"
	"time"

	"github.com/label-state/label-state/internal/closing"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/outgoing"
)

// A stage is one run of the program.
type stage struct {
	args    []string
	environ []string
	start   time.Time
	input   []byte
	whole   bool              // input is all there was
	commits []outgoing.Commit // that leave and may close an issue
	exact   bool              // as of outgoing.Commits
	walked  bool              // commits is all of them
}

// quiet reports whether it is certain that there is nothing to say to the push.
func (s *stage) quiet(ctx context.Context) (quiet bool) {
	defer func() {
		if recover() != nil {
			quiet = false
		}
	}()

	if len(s.args) != 2 {
		return false
	}
	input, err := readInput(s.start.Add(outgoing.Budget))
	if err != nil { // the second stage has its say about an input that does not end
		return false
	}

	s.input, s.whole = input, true
	updates, err := outgoing.ReadUpdates(bytes.NewReader(s.input))
	if err != nil {
		return false
	}

	dir, err := os.Getwd()
	if err != nil {
		return false
	}

	err = s.walk(ctx, dir, updates)
	return err == nil && len(s.commits) == 0 &&
		!(len(outgoing.Branches(updates)) > 0 && outgoing.AsksForPulls(dir, os.Getenv("LABEL_STATE_CONFIG")))
}

// walk collects the commits that leave and may close an issue, in what is left of the budget.
func (s *stage) walk(ctx context.Context, dir string, updates []outgoing.Update) error {
	left := &deadline{Context: ctx, at: s.start.Add(outgoing.Budget)}
	defer left.end()
	var err error
	s.commits, s.exact, err = outgoing.Commits(left, git.Git{Dir: dir, Env: s.environ}, outgoing.Push{
		Remote:  s.args[0],
		URL:     s.args[1],
		Updates: updates,
		Keep:    func(message []byte) bool { return closing.Perhaps(string(message)) },
	})
	s.walked = err == nil

	return err
}
