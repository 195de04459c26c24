package main

import (
	"time"

	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/localpause"
)

// PausedHere reads this host's own pause of a repository; nil means not paused, an error that nobody knows.
func (c *call) PausedHere(r ledger.Repo) (*lifecycle.Pause, error) {
	file, err := c.env.LocalPauses()
	if err != nil {
		return nil, err
	}
	p, err := file.Get(r.String())
	if err != nil || p == nil {
		return nil, err
	}
	return &lifecycle.Pause{Since: p.Since, By: p.By, Reason: p.Reason}, nil
}

// PauseHere pauses a repository for whoever works on this host.
func (c *call) PauseHere(r ledger.Repo, p lifecycle.Pause) error {
	file, err := c.env.LocalPauses()
	if err != nil {
		return err
	}
	return file.Set(localpause.Pause{Repo: r.String(), Since: time.Now(), By: p.By, Reason: p.Reason})
}

// ResumeHere ends this host's own pause.
func (c *call) ResumeHere(r ledger.Repo) error {
	file, err := c.env.LocalPauses()
	if err != nil {
		return err
	}
	return file.Clear(r.String())
}
