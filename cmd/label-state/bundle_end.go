package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/journal"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
	"github.com/urfave/cli/v2"
)

// recover looks at what an earlier run has noted: what it left half-way is given back, what it holds is
// in the way, and what has ended since is forgotten.
func (p *pack) recover(ctx context.Context, page journal.Page[bundlePage]) error {
	note, ok, err := page.Load()
	if err != nil || !ok {
		return err
	}
	old := &pack{call: p.call, slug: p.slug}
	if err := old.gather(ctx, note.Issues, note.Host); err != nil {
		return fmt.Errorf("give back what a killed run has left: %w", err)
	}
	for _, c := range old.calls {
		if note.Taken {
			err = c.gone(ctx, note.worker())
		} else {
			err = ledger.Part{Issue: c.Issue, Ledger: c.Ledger}.Undo(ctx, note.worker())
		}
		if err != nil {
			return err
		}
	}
	if !note.Taken {
		warn(p.err, "bundle %s: gave back what a killed run of %s has left", p.slug, note.worker())
	}
	return page.Remove()
}

// gone is nil when w does not hold the issue any more.
func (c *call) gone(ctx context.Context, w claim.Worker) error {
	f, _, err := c.Ledger.Check(ctx, c.Issue, lifecycle.Seeker{Worker: w})
	if err != nil {
		return err
	}
	if own, ok := f.Log.Find(w); ok && own.Live() {
		return &heldHereError{fmt.Sprintf("%s holds %s for it already", w, c.Issue)}
	}
	return nil
}

// A heldHereError is a bundle that this machine has claimed and not given back.
type heldHereError struct{ text string }

func (e *heldHereError) Error() string { return e.text }

func (t terminal) releaseBundle(cc *cli.Context) error {
	return t.onBundle(cc, func(ctx context.Context, p *pack, rest []string) error {
		if len(rest) > 0 {
			return wrong(path(cc), "want the bundle's name alone, got also %s", count(len(rest), "argument", "arguments"))
		}
		if o := cc.String("outcome"); o != "" && !slices.Contains(claim.WorkerOutcomes(), o) {
			return wrong(path(cc), "--outcome %q: allowed are %s", oneLine(o), strings.Join(claim.WorkerOutcomes(), ", "))
		}
		p.Session = &setup.Session{Worker: p.env.Identity()}
		return p.holding(func(page journal.Page[bundlePage]) error { return p.release(ctx, page) })
	})
}

// release ends every hold. One that cannot be ended keeps the bundle on the page, for the next try.
func (p *pack) release(ctx context.Context, page journal.Page[bundlePage]) error {
	note, ok, err := page.Load()
	switch {
	case err != nil:
		return err
	case !ok:
		return &failure{err: &answerNo{"no bundle of this name was claimed on this machine"}, hint: "see who holds its issues: label-state bundle status " + p.slug + " --repo OWNER/NAME"}
	case p.another(note):
		return &failure{err: &answerNo{oneLine(note.worker().String()) + " claimed it"}, hint: "only the holder gives it back; see where it stands: label-state bundle status " + p.slug}
	}
	if err := p.gather(ctx, note.Issues, note.Host); err != nil {
		return err
	}
	p.view.Codename, p.view.Firing = note.Codename, note.Firing
	var left error
	text := ""
	for _, c := range p.calls {
		v, err := p.end(ctx, c, note)
		left = errors.Join(left, err)
		p.view.Issues = append(p.view.Issues, v)
		text += fmt.Sprintf("  %s  %s\n", v.Issue, v.Answer)
	}
	if left != nil {
		return left
	}
	if p.view.Answer = "released"; p.Bool("dry-run") {
		p.view.Answer = "dry-run"
		return p.answer(p.view, "would release bundle "+p.slug+":\n"+text)
	}
	p.disown(note)
	if err := page.Remove(); err != nil {
		return err
	}
	return p.answer(p.view, "released bundle "+p.slug+"\n"+text)
}

// another reports whether somebody else than whoever asks, if that is told, claimed the bundle (PRODUCT ruling 4). The
// firing id is no sign: it is made up when the bundle is claimed.
func (p *pack) another(note bundlePage) bool {
	name := p.worker().Codename
	return name != "" && name != note.Codename
}

// end ends one hold, unless it has ended already.
func (p *pack) end(ctx context.Context, c *call, note bundlePage) (partView, error) {
	v := partView{Issue: c.Issue.String(), Answer: "released"}
	if p.Bool("dry-run") {
		var lost *ledger.LostError
		err := c.holds(ctx, c.Issue, note.worker(), 0)
		if errors.As(err, &lost) {
			v.Answer, err = "ended", nil
		}
		return v, err
	}
	if !note.Taken {
		return v, ledger.Part{Issue: c.Issue, Ledger: c.Ledger}.Undo(ctx, note.worker())
	}
	rep, err := c.Ledger.Release(ctx, c.Issue, ledger.Ending{Worker: note.worker(), Outcome: p.String("outcome"), Reason: p.String("reason")})
	var lost *ledger.LostError
	if errors.As(err, &lost) {
		v.Answer = "ended"
		return v, nil
	}
	if err = c.late(err); err != nil {
		v.Answer = "unknown"
		return v, fmt.Errorf("%s: %w", c.Issue, err)
	}
	v.Labels = names(rep.Is)
	return v, nil
}

func (t terminal) bundleStatus(cc *cli.Context) error {
	return t.onBundle(cc, func(ctx context.Context, p *pack, refs []string) error {
		book, err := t.bundles()
		if err != nil {
			return err
		}
		note, known, err := book.Read(p.slug)
		if err != nil {
			return err
		}
		switch {
		case len(refs) > 0:
			err = p.gather(ctx, refs, "")
		case known:
			err = p.gather(ctx, note.Issues, note.Host)
		default:
			err = p.labelled(ctx)
		}
		if err != nil {
			return err
		}
		return p.show(ctx)
	})
}

// labelled finds the open issues that have the bundle's label.
func (p *pack) labelled(ctx context.Context) error {
	c := &call{Context: p.Context, terminal: p.terminal}
	if err := c.open(ctx, options(p.Context)); err != nil {
		return err
	}
	name, err := c.Ledger.Rules().Scheme.Bundle(p.slug)
	if err != nil {
		return wrong(path(p.Context), "bundle %s", err)
	}
	found, err := c.Client.OpenIssues(ctx, c.Repo, name)
	if err != nil {
		return err
	}
	for _, i := range found {
		s := *c.Session
		s.Issue = claim.Issue{Owner: c.Repo.Owner, Repo: c.Repo.Name, Number: i.Number}
		p.calls = append(p.calls, &call{Context: p.Context, terminal: p.terminal, Session: &s})
	}
	if len(found) == 0 {
		no := &answerNo{"no bundle of this name was claimed on this machine, and no open issue of " + c.Repo.String() + " has the label " + name}
		return &failure{err: no, hint: "name its issues: label-state bundle status " + p.slug + " OWNER/NAME#7"}
	}
	return nil
}

// show answers who holds what. The bundle is whole when one worker holds all of it.
func (p *pack) show(ctx context.Context) error {
	var rows [][2]string
	holders := map[string]int{}
	for _, c := range p.calls {
		f, v, err := c.Ledger.Check(ctx, c.Issue, lifecycle.Seeker{})
		if err != nil {
			return fmt.Errorf("%s: %w", c.Issue, err)
		}
		one := partView{Issue: c.Issue.String(), Answer: v.Answer.String(), Labels: names(c.Ledger.Rules().Scheme.Shown(f.Labels)), Reasons: reasons(v)}
		text := oneLine(strings.TrimPrefix(v.String(), "held: "))
		if h, held := f.Log.Holder(); held {
			one.Holder, one.URL = h.Record.Worker.String(), h.URL
			if end, limited := h.Until(c.Ledger.Rules().Terms); limited {
				one.Until = stamp(end)
			}
			holders[one.Holder]++
		}
		p.view.Issues = append(p.view.Issues, one)
		rows = append(rows, [2]string{c.Issue.String(), labelsOf(one.Labels) + text})
	}
	p.view.Answer = "partly held"
	for w, n := range holders {
		if n == len(p.calls) {
			p.view.Answer, p.view.Whole = "held", true
			p.view.Codename, p.view.Firing, _ = strings.Cut(w, ":")
		}
	}
	if len(holders) == 0 {
		p.view.Answer = "free"
	}
	return p.answer(p.view, fmt.Sprintf("bundle %s: %s\n", p.slug, p.view.Answer)+table(rows))
}

func labelsOf(have []string) string { return fmt.Sprintf("%-28s ", state(have)) }
