// Package operate looks after whole repositories: board, stats, sweep-claims, reconcile, repo and
// labels.
package operate

import (
	"cmp"
	"context"
	"io"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/printable"

	"github.com/label-state/label-state/internal/board"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
)

type boardParams struct {
	cli.SomeRepos
	Once  bool          `flag:"once" text:"print a table and end, in a terminal, too"`
	Every time.Duration `flag:"every" text:"how often it reads again, 5s at least (default: 30s)"`
	Fleet bool          `flag:"fleet" text:"the fleet's repositories, also inside a clone"`
}

// Board shows who holds what.
func Board() cli.Verb {
	return cli.Do(cli.Verb{
		Name:    "board",
		Summary: "who holds what, in columns by state",
		About: "In a terminal the board stays open and refreshes itself. Keys claim, release, approve, reject, " +
			"pause, filter and open; \"?\" lists them. " +
			"Elsewhere, and with --once, it is a table. It shows every issue with a lifecycle label; a done " +
			"issue stays for two days after its last change.\n\n" +
			"Repositories: the arguments and --repo, else this clone's, else the fleet's: LABEL_STATE_SWEEP_REPOS (comma separated), else sweep.repos of the " +
			"configuration.",
		Examples: "label-state board\n" +
			"label-state board acme/app acme/web --every 1m\n" +
			"label-state board --fleet --once\n",
		Stays: true,
		Tools: []cli.Tool{{
			Name:  "board",
			Title: "The board of a repository",
			Set:   cli.Work,
			Takes: "repo",
			Reads: true,
			Many:  true,
			About: "Lists every issue that is part of the lifecycle, one card each: its column and why, who has held it since when and until when, what is stranded. " +
				"Done issues are listed for two days.",
			Untrusted: "title why holder author branch",
		}},
	}, showBoard)
}

// A CardView is the JSON of a card.
type CardView struct {
	Issue    string   `json:"issue"`
	Title    string   `json:"title"`
	URL      string   `json:"url"`
	State    string   `json:"state"` // its column, which for a held issue may be pr-open
	Why      string   `json:"why"`
	Holder   string   `json:"holder,omitempty"`
	Author   string   `json:"author,omitempty"`
	Since    string   `json:"since,omitempty"`
	Renewed  string   `json:"renewed,omitempty"`
	Until    string   `json:"until,omitempty"`
	Branch   string   `json:"branch,omitempty"`
	Marks    []string `json:"marks"`
	Cycle    []string `json:"cycle,omitempty"`
	Stranded bool     `json:"stranded"`
	Pulls    []string `json:"pull_requests"`
	TakenAt  string   `json:"server_time"`
	ByPerson bool     `json:"person"`
	Request  bool     `json:"pull_request,omitempty"`
}

func viewCard(c board.Card, now time.Time) CardView {
	v := CardView{
		Issue:    c.Issue.String(),
		Title:    c.Title,
		URL:      c.URL,
		State:    c.Lane.String(),
		Why:      c.Why,
		Holder:   c.Named(),
		Author:   c.Login,
		Since:    cli.Stamp(c.Since),
		Renewed:  cli.Stamp(c.Seen),
		Until:    cli.Stamp(c.Until),
		Branch:   c.Branch,
		Marks:    []string{},
		Cycle:    c.Cycle,
		Stranded: c.Stranded,
		Pulls:    []string{},
		TakenAt:  cli.Stamp(now),
		ByPerson: c.Person,
		Request:  c.Request,
	}

	for _, p := range c.Pulls {
		v.Pulls = append(v.Pulls, p.URL)
	}

	for _, m := range c.Marks {
		v.Marks = append(v.Marks, m.Text)
	}

	return v
}

func showBoard(ctx context.Context, c *cli.Call, p *boardParams) error {
	c.Subject.Repo = cli.WithoutURL(strings.Join(c.Named(), " "))
	env := c.Env
	stays := c.Live() && env.Getenv("TERM") != "dumb" && !p.Once // a dumb terminal cannot move its cursor
	switch {
	case p.Every > 0 && p.Every < 5*time.Second:
		return c.Usagef("--every %s: expected 5s at least", p.Every)
	case p.Every > 0 && !stays:
		return c.Usagef("--every is for the interactive board: in a terminal, without --once and --json")
	case p.Fleet && len(c.Named()) > 0:
		return c.Usagef("--fleet names the repositories; leave the others out")
	case stays:
		return showLiveBoard(ctx, c, p)
	}

	ctx, cancel := c.Deadline(ctx)
	defer cancel()
	d, err := OpenBoardDesk(ctx, c, p.Fleet, true)
	if err != nil {
		return c.Timed(ctx, err)
	}

	defer d.close()
	snapshot, errs := d.readAll(ctx)
	var unread []error
	for n, err := range errs {
		if err != nil {
			unread = append(unread, cli.At("board", snapshot.Repos[n], err))
		}
	}

	if unread != nil {
		return c.Missing(ctx, append(snapshot.Unread, unread...))
	}

	if err := showCards(c, snapshot); err != nil {
		return err
	}

	return c.Missing(ctx, snapshot.Unread)
}

func showLiveBoard(ctx context.Context, c *cli.Call, p *boardParams) error {
	quiet, t := *c, c.Terminal
	quiet.Err, quiet.Env.Stderr = io.Discard, io.Discard // the screen is the board's
	quiet.Env.Waiting = nil
	d, err := OpenBoardDesk(ctx, &quiet, p.Fleet, false) // it claims and releases, too
	if err != nil {
		return err
	}

	defer d.close()
	for _, repo := range d.repos {
		if bad := repo.Session.Unusable; bad != nil {
			t.Warnf("%s; claims and releases are refused", bad.Brief())
		}
	}

	name := strings.Join(d.names(), " ")
	if len(d.repos) > 2 {
		name = printable.Count(len(d.repos), "repository", "repositories")
	}

	o := board.Options{
		Name:  name,
		Every: cmp.Or(p.Every, 30*time.Second),
		Gone:  func() bool { return !t.Env.IsTerminal(t.Out) },
	}
	screen := board.Screen{In: t.In, Out: t.Out, NoColor: c.NoColor || !t.Env.Color(t.Out)}

	return board.Program(ctx, board.New(ctx, d, o), screen)
}

// showCards prints the cards, and where nothing can be taken what to do about it.
func showCards(c *cli.Call, r board.Snapshot) error {
	text := ""
	for _, p := range r.Pauses {
		text += p.Text + "\n"
		if c.JSON || c.Take != nil {
			c.Warnf("%s", p.Text)
		}
	}

	if len(r.Cards) == 0 {
		text += "no issue is part of the lifecycle\n"
	} else {
		text += cli.Columns(board.Rows(r.Cards, r.Now, c.Env.Width(c.Out)))
	}

	for _, ring := range r.Cycles {
		text += lifecycle.InCycle(lifecycle.Path(ring)) + "; " + cli.CycleRemedy + "\n"
	}

	for _, line := range r.Next {
		text += line + "\n"
	}

	for _, card := range r.Cards {
		if err := c.Answer(viewCard(card, r.Now), ""); err != nil {
			return err
		}
	}

	return c.Tell(nil, text)
}

// OpenBoardDesk opens a session for every repository of the board, side by side. One that cannot be
// opened is left out: unread says why. Where that leaves none, the error says it of each. A view
// only shows.
func OpenBoardDesk(ctx context.Context, c *cli.Call, fleet, view bool) (*BoardDesk, error) {
	names, err := c.ReposToRead(ctx, fleet)
	if err != nil {
		return nil, err
	}

	d := &BoardDesk{Call: c}
	repos := make([]*boardRepo, len(names))
	errs := sideBySide(len(names), func(n int) error {
		o := setup.Options{
			Repo:     names[n],
			Config:   c.Config,
			Verbose:  c.Verbose,
			View:     view,
			Tolerant: true,
		}
		o.First = setup.First{Since: time.Now().Add(-ledger.Lookback), Live: true}
		repos[n] = &boardRepo{Call: c.Part()}

		return repos[n].Open(ctx, o)
	})

	for n, err := range errs {
		if err == nil {
			d.repos = append(d.repos, repos[n])
			continue
		}

		d.unread = append(d.unread, cli.At("board", cli.WithoutURL(names[n]), err))
	}

	if len(d.repos) == 0 {
		return nil, c.Missing(ctx, d.unread)
	}

	return d, nil
}
