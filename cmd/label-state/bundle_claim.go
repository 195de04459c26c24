package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/journal"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/setup"
	"github.com/urfave/cli/v2"
)

func (t terminal) claimBundle(cc *cli.Context) error {
	return t.onBundle(cc, func(ctx context.Context, p *pack, refs []string) error {
		if err := p.wanted(refs); err != nil {
			return err
		}
		if err := p.gather(ctx, refs, ""); err != nil {
			return err
		}
		b, err := p.bundle()
		if err != nil {
			return err
		}
		if err := p.permitted(ctx); err != nil {
			return err
		}
		if p.Bool("dry-run") {
			return p.wouldTake(ctx, b)
		}
		return p.holding(func(page journal.Page[bundlePage]) error { return p.take(ctx, page, b) })
	})
}

func (p *pack) wanted(refs []string) error {
	if len(refs) == 0 {
		return wrong(path(p.Context), "no issue is named; want one at least, as in acme/app#42")
	}
	p.Session = &setup.Session{Worker: p.env.Identity()}
	return p.asWorker()
}

func (p *pack) wouldTake(ctx context.Context, b ledger.Bundle) error {
	if _, err := b.Check(ctx, p.worker()); err != nil {
		return err
	}
	text := fmt.Sprintf("would claim bundle %s for %s:\n", p.slug, p.worker().Codename)
	for _, i := range b.Issues() {
		p.view.Issues = append(p.view.Issues, partView{Issue: i.String(), Answer: "free"})
		text += "  " + i.String() + "\n"
	}
	p.view.Answer = "dry-run"
	return p.answer(p.view, text)
}

// holding runs a step while no other process of this machine works on the bundle.
func (p *pack) holding(do func(journal.Page[bundlePage]) error) (err error) {
	book, err := p.bundles()
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
func (p *pack) take(ctx context.Context, page journal.Page[bundlePage], b ledger.Bundle) error {
	if err := p.recover(ctx, page); err != nil {
		return err
	}
	w := b.Worker(p.worker())
	note := bundlePage{Codename: w.Codename, Firing: w.FiringID, Begun: time.Now().UTC(), Host: p.calls[0].Endpoints.Host()}
	for _, i := range b.Issues() {
		note.Issues = append(note.Issues, i.String())
	}
	if err := page.Save(note); err != nil {
		return err
	}
	holds, err := b.Claim(ctx, ledger.Request{Worker: w, TTL: p.Duration("ttl")})
	var no *ledger.BundleError
	if errors.As(err, &no) {
		if no.Left == nil {
			err = errors.Join(err, page.Remove())
		}
		return err
	}
	p.warnLate(err)
	note.Taken = true
	for _, h := range holds {
		note.Holds = append(note.Holds, onPage(h))
	}
	if err := page.Save(note); err != nil {
		warn(p.err, "claimed, but the bundle could not be noted, so release it issue by issue: %s", err)
	}
	p.inform(ctx, note)
	return p.taken(holds)
}

// warnLate says of each issue that its labels are late.
func (p *pack) warnLate(err error) {
	var late *ledger.LabelsError
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range many.Unwrap() {
			p.warnLate(one)
		}
	} else if errors.As(err, &late) {
		_ = p.late(late)
	}
}

func (p *pack) taken(holds []ledger.Hold) error {
	w := holds[0].Record.Worker
	p.view.Answer, p.view.Codename, p.view.Firing, p.view.Whole = "won", w.Codename, w.FiringID, true
	text := fmt.Sprintf("claimed bundle %s for %s (run %s)\n", p.slug, w.Codename, w.FiringID)
	var rows [][2]string
	for _, h := range holds {
		p.view.Issues = append(p.view.Issues, partView{
			Issue: h.Issue.String(), Answer: "won", Holder: w.String(), Until: stamp(h.Until), Token: h.Token, URL: h.URL,
		})
		rows = append(rows, [2]string{"  " + h.Issue.String(), "until " + moment(h.Until) + "  " + oneLine(h.Title)})
	}
	return p.answer(p.view, text+table(rows))
}

// permitted refuses repositories in which a claim could not be seen through: paused here, archived, or
// with a login that may not label.
func (p *pack) permitted(ctx context.Context) error {
	seen := map[string]bool{}
	for _, c := range p.calls {
		if slug := strings.ToLower(c.Issue.Slug()); seen[slug] {
			continue
		} else {
			seen[slug] = true
		}
		if err := c.unpaused(c.Issue); err != nil {
			return err
		}
		r, err := c.Client.Repository(ctx, c.Repo)
		if err != nil {
			return err
		}
		if err := mayLabel(c.Issue, r); err != nil {
			return err
		}
	}
	return nil
}

func mayLabel(i claim.Issue, r github.Repository) error {
	switch {
	case r.Archived:
		return &failure{err: &answerNo{i.Slug() + " is archived: nothing can be written"}, hint: "leave its issues out, or: gh repo unarchive " + i.Slug()}
	case !r.HasIssues:
		return &failure{err: &answerNo{"issues are switched off in " + i.Slug()}, hint: "leave its issues out, or: gh repo edit " + i.Slug() + " --enable-issues"}
	case r.Role == "read":
		return &ledger.UnknownError{Issue: i, Err: &github.PermissionError{Message: "this login may not label " + i.Slug() + ", so others do not count its claims"}}
	}
	return nil
}
