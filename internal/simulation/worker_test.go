package simulation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/ledger"
)

// A laborer is one machine that works on issues, process after process.
type laborer struct {
	*actor
	*ledger.Ledger
	hold ledger.Hold
}

// labor is a machine's day: a process that ends, by itself or not, is followed by another.
func (a *actor) labor() {
	for time.Now().Before(a.until) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			l, _ := a.start()
			p := &laborer{actor: a, Ledger: l}
			defer p.dead()
			for range 1 + a.rng.IntN(6) {
				p.job()
			}
		}()

		<-done
		a.rest(5 * time.Minute)
	}
}

func (a *actor) idle(d time.Duration) { _ = a.sleep(context.Background(), span(a.rng, d)) } // it has no end but its own

// rest is some time between two looks at GitHub. In a rush everybody looks at the same time.
func (a *actor) rest(d time.Duration) {
	if a.rush {
		const bell = 20 * time.Second
		now := time.Now()
		_ = a.sleep(context.Background(), now.Truncate(bell).Add(bell).Sub(now))
		d = time.Second
	}

	a.idle(d)
}

// job is one issue: claim it, work on it while renewing, release it or die.
func (p *laborer) job() {
	if time.Now().After(p.until) {
		return
	}
	i := ref(1 + p.rng.IntN(p.issues))
	req := ledger.Request{Worker: claim.Worker{Codename: p.name}, TTL: p.ttls[p.rng.IntN(len(p.ttls))]}
	if p.twin { // the twins have one run after the other, both the same
		req.Worker = claim.Worker{
			Codename: "twins",
			FiringID: fmt.Sprint("run-", time.Now().Truncate(10*time.Minute).Unix()),
		}
		req.Resume = p.rng.IntN(3) == 0
	}

	h, err := p.Claim(context.Background(), i, req)
	var late *ledger.LabelsError
	if err != nil && !errors.As(err, &late) {
		p.note("claim of %s: %v", i, err)
		p.rest(4 * time.Minute)
		return
	}

	p.note("holds %s with token %d until %s", i, h.Token, h.Until.Format(time.TimeOnly))
	p.have(h)
	p.took(h, func() bool { return p.Owns(p.hold) })
	if p.work() {
		p.finish()
	}

	p.dead()
	p.rest(3 * time.Minute)
}

// have notes what the worker holds; others look at it.
func (p *laborer) have(h ledger.Hold) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold = h
}

// work renews the hold as long as the work takes, and reports whether the worker still believes in
// it.
func (p *laborer) work() bool {
	step := p.hold.Until.Sub(p.hold.Since) / 3
	for range p.rng.IntN(p.renewals() + 1) {
		p.rest(step + step/2)
		next, err := p.Keep(context.Background(), p.hold)
		var lost *ledger.LostError
		switch {
		case errors.As(err, &lost):
			p.note("lost %s: %v", p.hold.Issue, err)
			return false
		case err != nil:
			p.note("could not renew %s: %v", p.hold.Issue, err)
		default:
			p.have(next)
			p.alone(processOf(p.hold))
		}
	}

	return p.Owns(p.hold)
}

// finish ends the hold, or forgets to.
func (p *laborer) finish() {
	e := ledger.Ending{Worker: p.hold.Record.Worker, Token: p.hold.Token}
	switch p.rng.IntN(6) {
	case 0:
		e.Outcome = claim.OutcomeFailure
	case 1:
		e.Outcome = claim.OutcomeRateLimit
	case 2:
		if p.people {
			e.PR = p.pull()
		}

	case 3:
		p.note("forgets %s", p.hold.Issue)
		return
	}

	p.dead() // who releases does not work on
	_, err := p.Release(context.Background(), p.hold.Issue, e)
	p.note("released %s: %v", p.hold.Issue, err)
}

// pull opens the pull request that closes the issue.
func (p *laborer) pull() string {
	n, err := p.server.OpenPull(app, p.token, githubsim.Pull{
		Title: "Work", Body: fmt.Sprintf("Closes #%d", p.hold.Issue.Number),
		Head: fmt.Sprintf("%s-%d", p.name, p.processes),
	})
	p.note("opens #%d: %v", n, err)
	if err != nil {
		return ""
	}

	return fmt.Sprintf("https://github.com/%s/pull/%d", app, n)
}

// dead is a process that does nothing more under its hold.
func (p *laborer) dead() {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.holds, processOf(p.hold))
}
