package feature

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/state"
)

func claimBundle(ctx context.Context, c *cli.Call, params *bundleClaimParams) error {
	if params.Name != "" && strings.Trim(params.Name, "0123456789") == "" {
		return c.Usagef("%s is a number, and the name of the bundle comes first: bundle claim NAME ISSUE...",
			cli.OneLine(params.Name))
	}

	return onBundle(c, params.Name, params.Issues, func(p *pack) error {
		if err := c.RequireWorker(); err != nil {
			return err
		}
		if err := p.gather(ctx, params.Issues, ""); err != nil {
			return err
		}

		parts := make([]ledger.Part, len(p.calls))
		for n, c := range p.calls {
			parts[n] = ofBundle(c)
		}

		b, err := ledger.NewBundle(p.slug, parts)
		if err != nil {
			return err
		}
		if err := p.permitted(ctx); err != nil {
			return err
		}
		if mine, err := p.alreadyMine(ctx, b); mine || err != nil {
			return err
		}

		if c.DryRun {
			one := ledger.Request{Worker: p.Claimant(), TTL: params.TTL}
			if _, err := b.Claim(ctx, one); !ledger.IsUnsent(err) {
				return err
			}

			text := fmt.Sprintf("would claim bundle %s for %s:\n", p.slug, p.Claimant().Codename)
			for _, i := range b.Issues() {
				p.view.Issues = append(p.view.Issues, PartView{Issue: i.String(), Answer: "free"})
				text += "  " + i.String() + "\n"
			}

			p.view.Answer = "dry-run"
			return p.Answer(&p.view, text)
		}

		return p.holding(func(page state.JournalPage[bundlePage]) error { return p.take(ctx, page, b, params.TTL) })
	})
}

// alreadyMine answers that the bundle is the asker's already, where a claim of the very same issues
// is repeated by the worker that made it, where it was made.
func (p *pack) alreadyMine(ctx context.Context, b ledger.Bundle) (yes bool, err error) {
	book, err := bundleJournal(p.Terminal)
	if err != nil {
		return false, err
	}
	note, known, err := book.Read(p.slug)
	if err != nil || !known || !note.Taken || p.another(note) || len(b.Issues()) != len(note.Issues) {
		return false, nil // what cannot be read, the claim says
	}

	note.Holds = nil
	places := p.places()
	for _, c := range p.calls {
		i := c.Session.Issue
		if !slices.ContainsFunc(note.Issues, func(name string) bool { return strings.EqualFold(name, i.String()) }) ||
			!p.recorded(places, note, i) {
			return false, nil
		}

		f, err := c.Session.Ledger.Look(ctx, i)
		if err != nil {
			return false, err
		}

		own, found := f.Log.Find(note.worker())
		if !found || !own.Held() || own.Overdue(c.Rules().Terms, f.Now) {
			return false, nil
		}

		until, _ := own.Until(c.Rules().Terms)
		note.Holds = append(note.Holds, pageHold{
			Issue: i.String(),
			Token: own.Record.Token,
			Until: until,
			Title: f.Title,
		})
	}

	p.view.Yours = true
	return true, p.answerWon(note, "bundle %s is yours already: %s (run %s)\n")
}

// answerWon answers with the holds of a bundle that was claimed, by a text that names bundle and
// worker.
func (p *pack) answerWon(note bundlePage, text string) error {
	p.view.Answer, p.view.Codename, p.view.Firing, p.view.Whole = "won", note.Codename, note.Firing, true
	var rows [][2]string
	for _, h := range note.Holds {
		p.view.Issues = append(p.view.Issues, PartView{
			Issue:  h.Issue,
			Answer: "won",
			Holder: note.worker().String(),
			Until:  cli.Stamp(h.Until),
			Token:  h.Token,
			URL:    h.URL,
		})
		rows = append(rows, [2]string{"  " + h.Issue, cli.Lasts(h.Until) + "  " + cli.OneLine(h.Title)})
	}

	return p.Answer(&p.view, fmt.Sprintf(text, p.slug, note.Codename, note.Firing)+cli.Table(rows))
}

// holding runs a step while no other process of this machine works on the bundle.
func (p *pack) holding(do func(state.JournalPage[bundlePage]) error) (err error) {
	book, err := bundleJournal(p.Terminal)
	if err != nil {
		return err
	}

	page, err := book.Open(p.slug)
	if err != nil {
		return err
	}

	defer func() { err = errors.Join(err, page.Close()) }()
	return do(page)
}

// take claims the bundle. Intent is written first, so that the next run can undo this one.
func (p *pack) take(ctx context.Context, page state.JournalPage[bundlePage], b ledger.Bundle,
	ttl time.Duration,
) error {
	if err := p.recover(ctx, page); err != nil {
		return err
	}
	w := b.Worker(p.Claimant())
	note := bundlePage{
		Codename: w.Codename,
		Firing:   w.FiringID,
		Nonce:    b.Nonce(),
		Begun:    time.Now().UTC(),
		Host:     p.calls[0].Session.Endpoints.Host(),
	}

	for _, i := range b.Issues() {
		note.Issues = append(note.Issues, i.String())
	}

	if err := page.Save(note); err != nil {
		return err
	}
	holds, err := b.Claim(ctx, ledger.Request{Worker: w, Nonce: note.Nonce, TTL: ttl})
	if len(holds) == 0 {
		var no *ledger.BundleError
		if !errors.As(err, &no) || no.Left == nil { // nothing is left that the next run would undo
			err = errors.Join(err, page.Remove())
		}
		return err
	}

	p.warnLate(err)
	note.Taken = true
	for _, h := range holds {
		note.Holds = append(note.Holds, pageHold{
			Issue:   h.Issue.String(),
			Comment: h.Comment,
			URL:     h.URL,
			Token:   h.Token,
			TTL:     int64(h.Record.TTL / time.Second),
			Until:   h.Until.UTC(),
			Title:   h.Title,
		})
	}

	if err := page.Save(note); err != nil {
		p.Warnf("claimed, but the bundle could not be recorded, so release its issues one by one: %s", err)
	}

	p.inform(ctx, note)
	return p.answerWon(note, "claimed bundle %s for %s (run %s)\n")
}

// warnLate says of each issue that its labels are late.
func (p *pack) warnLate(err error) {
	var late *ledger.LabelsError
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range many.Unwrap() {
			p.warnLate(one)
		}
	} else if errors.As(err, &late) {
		_ = p.WarnLate(late)
	}
}

// permitted refuses repositories in which a claim could not be seen through, and names each: those
// that are archived, or with a login that may not label.
func (p *pack) permitted(ctx context.Context) error {
	seen := map[string]bool{}
	var no []error
	for _, c := range p.calls {
		slug := c.Session.Issue.Slug()
		if folded := strings.ToLower(slug); !seen[folded] {
			seen[folded] = true
			no = append(no, seenThrough(ctx, c, slug))
		}
	}

	return errors.Join(no...)
}

// seenThrough refuses a repository in which a claim could not be.
func seenThrough(ctx context.Context, c *cli.Call, slug string) error {
	r, err := c.Session.Client.Repository(ctx, c.Session.Repo)
	switch {
	case err != nil:
		return err
	case r.Archived:
		return cli.Declined(slug+" is archived: nothing can be written",
			answer.Shell("leave its issues out, or", "gh", "repo", "unarchive", slug))
	case !r.HasIssues:
		return cli.Declined("issues are switched off in "+slug,
			answer.Shell("leave its issues out, or", "gh", "repo", "edit", slug, "--enable-issues"))
	}

	return c.Session.Ledger.Heard(ctx, c.Session.Issue)
}
