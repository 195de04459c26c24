package feature

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/state"
	"github.com/label-state/label-state/internal/trouble"
)

// recover looks at what an earlier run has noted: what it left half-way is released, what it holds
// is in the way, and what has ended since is forgotten.
func (p *pack) recover(ctx context.Context, page state.JournalPage[bundlePage]) error {
	note, ok, err := page.Load()
	if err != nil || !ok {
		return err
	}

	old := &pack{Call: p.Call, slug: p.slug}
	defer old.close()
	if err := old.gather(ctx, note.Issues, note.Host); err != nil {
		return fmt.Errorf("release what a killed run has left: %w", err)
	}

	left := false
	for _, c := range old.calls {
		if note.Taken {
			var f lifecycle.Facts
			f, err = c.Session.Ledger.Look(ctx, c.Session.Issue)
			if own, ok := f.Log.Find(note.worker()); err == nil && ok && own.Live() {
				next := answer.Call("release it first", "bundle release", p.slug)
				if p.another(note) {
					next = answer.Call("take another name, or see how long it lasts", "bundle status", p.slug)
				}
				err = cli.Declined(fmt.Sprintf("%s holds %s for it already", note.worker(), c.Session.Issue), next)
			}
		} else {
			var was bool
			was, err = ofBundle(c).Undo(ctx, note.worker(), note.Nonce, false)
			left = left || was
		}

		if err != nil {
			return err
		}
	}

	if left {
		p.Warnf("bundle %s: released what a killed run of %s has left", p.slug, note.worker())
	}

	return page.Remove()
}

func releaseBundle(ctx context.Context, c *cli.Call, params *bundleReleaseParams) error {
	return onBundle(c, params.Name, nil, func(p *pack) error {
		p.outcome, p.reason = params.Outcome, params.Why()
		return p.holding(func(page state.JournalPage[bundlePage]) error { return p.release(ctx, page) })
	})
}

// release ends every hold. One that cannot be ended keeps the bundle on the page, for the next try.
func (p *pack) release(ctx context.Context, page state.JournalPage[bundlePage]) error {
	note, err := p.claimed(ctx, page, false)
	if err != nil {
		return err
	}

	var left, lost error // what could not be ended, and what was lost before
	text := ""
	for _, c := range p.calls {
		v, err := p.end(ctx, c, note)
		if v.Answer == partLost {
			lost, err = errors.Join(lost, err), nil
		}

		left = errors.Join(left, err)
		p.view.Issues = append(p.view.Issues, v)
		text += fmt.Sprintf("  %s  %s\n", v.Issue, v.Answer)
	}

	if left != nil {
		return errors.Join(left, lost)
	}

	if p.view.Answer = "released"; p.DryRun {
		p.view.Answer = "dry-run"
		return p.tell("would release bundle "+p.slug+":\n"+text, lost)
	}

	p.disown(note)
	if err := page.Remove(); err != nil {
		return err
	}

	return p.tell("released bundle "+p.slug+"\n"+text, lost)
}

// claimed opens the bundle that the page tells of, if who asks has claimed it: the whole of it, or
// also what a killed run has left.
func (p *pack) claimed(ctx context.Context, page state.JournalPage[bundlePage], whole bool) (bundlePage, error) {
	note, ok, err := page.Load()
	switch {
	case err != nil:
		return note, err
	case !ok || whole && !note.Taken:
		return note, cli.Declined("this machine has no record of a bundle of this name", p.otherBundles()...)
	case p.another(note):
		return note, cli.Declined(cli.OneLine(note.worker().String())+" claimed it",
			answer.Call("only the holder renews and releases it; see its state", "bundle status", p.slug))
	}

	p.view.Codename, p.view.Firing = note.Codename, note.Firing
	return note, p.gather(ctx, note.Issues, note.Host)
}

func renewBundle(ctx context.Context, c *cli.Call, params *bundleRenewParams) error {
	return onBundle(c, params.Name, nil, func(p *pack) error {
		return p.holding(func(page state.JournalPage[bundlePage]) error { return p.renew(ctx, page) })
	})
}

// renew extends every hold that has not ended by itself. It is an error where none is left.
func (p *pack) renew(ctx context.Context, page state.JournalPage[bundlePage]) error {
	note, err := p.claimed(ctx, page, true)
	if err != nil {
		return err
	}

	p.view.Answer = string(answer.Renewed)
	text, each := "renewed bundle "+p.slug+"\n", p.view.Answer
	if p.DryRun {
		p.view.Answer = "dry-run"
		text, each = "would renew bundle "+p.slug+":\n", "would be renewed"
	}

	var failed, ended error
	renewed := false
	for _, c := range p.calls {
		i := c.Session.Issue
		v, said := PartView{Issue: i.String(), Answer: each}, each
		h, err := c.Session.Ledger.Note(ctx, i, note.worker(), note.token(i), "")
		switch {
		case err == nil:
			c.RecordRenewal(h)
			v.Until, said, renewed = cli.Stamp(h.Until), cli.Lasts(h.Until), true
		case ledger.IsUnsent(err):
			renewed = true
		default:
			lost := c.NoteLost(i, note.worker(), err)
			if v, err = v.unlessEnded(lost); err == nil {
				ended = errors.Join(ended, lost)
			}
			failed, said = errors.Join(failed, err), v.Answer
		}

		p.view.Issues = append(p.view.Issues, v)
		text += fmt.Sprintf("  %s  %s\n", i, said)
	}

	if !renewed {
		failed = cmp.Or(failed, ended)
	}
	return p.tell(text, failed)
}

// otherBundles is the way on for a name that this machine does not know: another machine may have
// the bundle, or it has another name here.
func (p *pack) otherBundles() []answer.Command {
	next := trouble.Then(answer.Call("see who holds its issues", "bundle status", p.slug, "--repo", "OWNER/NAME"))
	var names []string
	if book, err := bundleJournal(p.Terminal); err == nil {
		names, _ = book.Names() // only what to say
	}

	if len(names) > 0 {
		all := printable.Short(strings.Join(names, ", "), 200)
		next = append(next, answer.Call("claimed on this machine: "+all+"; see one", "bundle status", names[0]))
	}
	return next
}

// tell answers with the bundle as it is, also where a hold was lost before, which is the answer.
func (p *pack) tell(text string, lost error) error {
	if lost != nil {
		return cmp.Or(p.Answer(nil, text), lost)
	}
	return p.Answer(&p.view, text)
}

// What bundle release answers about an issue.
const (
	partReleased = "released"
	partEnded    = "ended" // there was nothing to end, or its work is there
	partLost     = "lost"  // somebody or time has ended it
	partHeld     = "held"  // another login has claimed it, and only that one ends it
)

// another reports whether somebody else than whoever asks, if that is told, claimed the bundle
// (spec-writing.md#release). The firing id counts only where it is given: otherwise it was made up
// when the bundle was claimed.
func (p *pack) another(note bundlePage) bool {
	asked := claim.Worker{Codename: p.Claimant().Codename, FiringID: p.FiringID}
	return !cli.Fits(asked, note.worker())
}

// end ends one hold, unless it has ended already. With partLost the error is a *ledger.LostError.
func (p *pack) end(ctx context.Context, c *cli.Call, note bundlePage) (PartView, error) {
	v := PartView{Issue: c.Session.Issue.String(), Answer: partReleased}
	if p.DryRun {
		v.Answer = "would be released"
	}

	if !note.Taken {
		was, err := ofBundle(c).Undo(ctx, note.worker(), note.Nonce, false)
		switch {
		case ledger.IsUnsent(err):
			return v, nil
		case err == nil && !was:
			v.Answer = partEnded
		}

		return v.unlessEnded(err)
	}

	rep, err := c.Session.Ledger.Release(ctx, c.Session.Issue, ledger.Ending{
		Worker:  note.worker(),
		Token:   note.token(c.Session.Issue),
		Outcome: p.outcome,
		Reason:  p.reason,
	})
	if ledger.IsUnsent(err) {
		return v, nil
	}

	v, err = v.unlessEnded(c.NoteLost(c.Session.Issue, note.worker(), c.WarnLate(err)))
	if err != nil || v.Answer != partReleased {
		return v, err
	}

	if rep.Unproven {
		p.Warnf("%s: %s", v.Issue, cli.UnprovenWarning(c.Session.Issue, note.worker()))
	}
	v.Labels = trouble.LabelNames(rep.Is)

	return v, nil
}

// unlessEnded is the view with what a release of its issue failed with.
func (v PartView) unlessEnded(err error) (PartView, error) {
	var lost *ledger.LostError
	switch {
	case err == nil:
		return v, nil
	case errors.As(err, &lost) && lost.End.Own():
		v.Answer = partEnded
		return v, nil
	case errors.As(err, &lost) && lost.Foreign():
		v.Answer = partHeld
	case errors.As(err, &lost):
		v.Answer = partLost
	default:
		v.Answer = "unknown"
	}

	return v, fmt.Errorf("%s: %w", v.Issue, err)
}

func showBundle(ctx context.Context, c *cli.Call, params *bundleStatusParams) error {
	return onBundle(c, params.Name, params.Issues, func(p *pack) error {
		book, err := bundleJournal(c.Terminal)
		if err != nil {
			return err
		}

		note, known, err := book.Read(p.slug)
		if err != nil {
			return err
		}

		switch {
		case len(params.Issues) > 0:
			err = p.gather(ctx, params.Issues, "")
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
	c := p.Part()
	if err := c.Open(ctx, c.Options()); err != nil {
		return err
	}

	defer func() {
		if len(p.calls) == 0 { // else they share its session
			c.Close()
		}
	}()

	name, err := c.Rules().Scheme.Bundle(p.slug)
	if err != nil {
		return c.Usagef("bundle %s", err)
	}

	found, err := c.Session.Client.OpenIssues(ctx, c.Session.Repo, name)
	if err != nil {
		return err
	}

	for _, i := range found {
		p.calls = append(p.calls, p.part(*c.Session, c.Session.Repo.Issue(i.Number)))
	}

	if len(found) == 0 {
		no := "this machine has no record of a bundle of this name, and no open issue of " + c.Session.Repo.String() +
			" has the label " + name
		return cli.Declined(no, answer.Call("name its issues", "bundle status", p.slug, "OWNER/NAME#7"))
	}

	c.Warnf("bundle %s is not recorded on this machine: shown are the open issues of %s with its label, and it may "+
		"have others elsewhere", p.slug, c.Session.Repo)
	return nil
}

// show answers who holds what. The bundle is whole when one worker holds all of it.
func (p *pack) show(ctx context.Context) error {
	var rows [][2]string
	holders := map[string]int{}
	for _, c := range p.calls {
		f, err := c.Session.Ledger.Look(ctx, c.Session.Issue)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Session.Issue, err)
		}

		v := c.Rules().Verdict(c.Session.Ledger.Here(f), lifecycle.Seeker{})
		one := PartView{
			Issue:   c.Session.Issue.String(),
			Answer:  v.Answer.String(),
			Labels:  trouble.LabelNames(c.Rules().Scheme.Shown(f.Labels)),
			Reasons: trouble.Reasons(v),
		}
		text := cli.OneLine(strings.TrimPrefix(v.String(), "held: "))
		if h, shown := c.Rules().Shown(f); shown {
			one.Holder, one.URL, one.Token = h.Record.Worker.String(), h.URL, h.Record.Token
			if end, limited := h.Until(c.Rules().Terms); limited {
				one.Until = cli.Stamp(end)
			}

			if !h.Expired(c.Rules().Terms, f.Now) { // else anybody may have the issue
				holders[one.Holder]++
			}
		}

		p.view.Issues = append(p.view.Issues, one)
		rows = append(rows, [2]string{c.Session.Issue.String(), fmt.Sprintf("%-28s %s", cli.StateOf(one.Labels), text)})
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

	return p.Answer(&p.view, fmt.Sprintf("bundle %s: %s\n", p.slug, p.view.Answer)+cli.Table(rows))
}
