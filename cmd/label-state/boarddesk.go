package main

import (
	"cmp"
	"context"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/board"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// patience is how long the board waits for GitHub, without --timeout.
const patience = time.Minute

// A boardDesk does what the board's keys ask for, each repository by its own configuration.
type boardDesk struct {
	repos   []*call
	timeout time.Duration
}

func (d *boardDesk) Read(ctx context.Context) (board.Reading, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(d.timeout, patience))
	defer cancel()
	var out board.Reading
	var all []lifecycle.Facts
	for _, c := range d.repos {
		facts, err := c.scan(ctx, time.Now().Add(-ledger.Lookback))
		if err != nil {
			return out, err
		}
		out.Cards, all = append(out.Cards, board.Deal(c.Ledger.Rules(), facts)...), append(all, facts...)
		out.Now = latest(out.Now, facts)
		if err := c.pausedFor(ctx, facts, &out); err != nil {
			return out, err
		}
	}
	out.Circles = board.Encircle(out.Cards, all)
	if out.Now.IsZero() {
		out.Now = time.Now() // nothing was read: there is no age to show
	}
	return out, nil
}

// latest is the server's time at the last of the readings, or t when they are older.
func latest(t time.Time, all []lifecycle.Facts) time.Time {
	for _, f := range all {
		if t.Before(f.Now) {
			t = f.Now
		}
	}
	return t
}

// scan reads what a sweep looks at, but for what has been done for long. One issue that cannot be read makes the reading incomplete, and so an error.
func (c *call) scan(ctx context.Context, since time.Time) (all []lifecycle.Facts, err error) {
	for f, err := range c.Client.Current(ctx, c.Repo, since) {
		if err != nil {
			return nil, err
		}
		f.Log = f.Log.ByToken() // a lease store is not asked for every issue at every look
		all = append(all, f)
	}
	return all, nil
}

// pausedFor says that the repository is paused. The readings tell; only where there are none is it asked for.
func (c *call) pausedFor(ctx context.Context, facts []lifecycle.Facts, out *board.Reading) (err error) {
	var p *lifecycle.Pause
	if len(facts) > 0 {
		p = facts[0].Pause
	} else if p, err = c.Client.Pause(ctx, c.Repo); err != nil {
		return err
	}
	if p != nil {
		out.Paused = strings.TrimPrefix(out.Paused+"; "+strings.TrimSpace(viewPause(c.Repo.String(), p, false).line()), "; ")
	}
	return nil
}

// of is the session of the card's repository.
func (d *boardDesk) of(i claim.Issue) *call {
	for _, c := range d.repos {
		if strings.EqualFold(c.Repo.String(), i.Slug()) {
			return c
		}
	}
	return d.repos[0]
}

// Claim takes the issue as "claim REF" does, with --force when the person saw who holds it.
func (d *boardDesk) Claim(ctx context.Context, card board.Card) error {
	return d.write(ctx, card, func(ctx context.Context, c *call, v lifecycle.Verdict) error {
		if stops := without(c.stopsPerson(v), lifecycle.CodeInFlight); len(stops.Reasons) > 0 {
			return &ledger.HeldError{Issue: card.Issue, Verdict: stops}
		}
		return c.holdAsPerson(ctx, card.Issue, v)
	})
}

// Release takes the person's label off, else ends the hold that the person saw by force.
func (d *boardDesk) Release(ctx context.Context, card board.Card) error {
	return d.write(ctx, card, func(ctx context.Context, c *call, _ lifecycle.Verdict) error {
		if card.Person {
			return c.Client.RemoveLabel(ctx, card.Issue, c.Ledger.Rules().Scheme.Hold)
		}
		return c.force(ctx, card.Issue)
	})
}

// write looks again first: a yes to what the person saw is no yes to what has become of it.
func (d *boardDesk) write(ctx context.Context, card board.Card, do func(context.Context, *call, lifecycle.Verdict) error) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(d.timeout, patience))
	defer cancel()
	c := d.of(card.Issue)
	f, v, err := c.Ledger.Check(ctx, card.Issue, lifecycle.Seeker{})
	if err == nil {
		h, _ := f.Log.Holder()
		if holder := strings.TrimPrefix(oneLine(h.Record.Worker.String()), ":"); holder != card.Worker {
			err = &answerNo{"it changed while you looked; nothing was done"}
		}
	}
	if err == nil {
		err = do(ctx, c, v)
	}
	if err != nil {
		return &failure{doing: "board", object: card.Issue.String(), err: err}
	}
	return nil
}

func (d *boardDesk) Hint(err error) string { return hintFor(err) }

// Open starts the browser and does not wait for it.
func (d *boardDesk) Open(url string) bool {
	name, args := d.browser()
	if name == "" || !strings.HasPrefix(url, "http") {
		return false
	}
	cmd := exec.Command(name, append(args, url)...)
	if cmd.Start() != nil {
		return false
	}
	go cmd.Wait()
	return true
}

// browser is what opens an address here: $BROWSER, else the desktop's own way, if there is a desktop.
func (d *boardDesk) browser() (name string, args []string) {
	getenv := d.repos[0].env.Getenv
	if own := getenv("BROWSER"); own != "" {
		return own, nil
	}
	switch runtime.GOOS {
	case "darwin":
		return "open", nil
	case "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler"}
	}
	if getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "" {
		return "", nil
	}
	return "xdg-open", nil
}
