// Package operate looks after whole repositories: board, stats, sweep-claims, reconcile, repo and
// labels.
package operate

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/printable"

	"github.com/label-state/label-state/internal/board"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
	urfave "github.com/urfave/cli/v2"
)

// NewBoardCommand makes the command board.
func NewBoardCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name:      "board",
		Usage:     "who holds what, in columns by state",
		ArgsUsage: "[OWNER/NAME]...",
		Description: "In a terminal the board stays and reads again by itself. Keys claim, release, approve, reject, pause, filter and open; \"?\" lists them. " +
			"Elsewhere, and with --once, it is a table; with --json one object a card. It shows every issue with a lifecycle label; what is done it shows for two " +
			"days after the last change.\n\n" +
			"Repositories: the arguments and --repo, else this clone's, else the fleet's: LABEL_STATE_SWEEP_REPOS (comma separated), else sweep.repos of the " +
			"configuration.\n\n" +
			"   label-state board\n" +
			"   label-state board acme/app acme/web --every 1m\n" +
			"   label-state board --fleet --once",
		Flags: cli.AnswerFlags(
			&urfave.BoolFlag{Name: "once", Usage: "print a table and end, in a terminal, too"},
			&urfave.DurationFlag{
				Name:        "every",
				Usage:       "how often it reads again, 5s at least (default: 30s)",
				Value:       30 * time.Second,
				DefaultText: "30s",
			},
			&urfave.BoolFlag{Name: "fleet", Usage: "the fleet's repositories, also inside a clone"},
			&urfave.StringSliceFlag{
				Name: "repo", Aliases: []string{"R"},
				Usage: "repository `OWNER/NAME` (default: this clone's); may be repeated",
			},
		),
		Action: func(cc *urfave.Context) error { return runBoard(t, cc) },
	}
}

// A CardView is the JSON of a card.
type CardView struct {
	Issue    string   `json:"issue"`
	Title    string   `json:"title"`
	URL      string   `json:"url"`
	State    string   `json:"state"`
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

func runBoard(t cli.Terminal, cc *urfave.Context) error {
	c := &cli.Call{
		Flags: cc, Terminal: t,
		Subject: answer.Answer{Repo: cli.WithoutURL(strings.Join(cli.NamedRepos(cc), " "))},
	}
	alive := t.Live(cc) && t.Env.Getenv("TERM") != "dumb" && !cc.Bool("once") // a dumb terminal cannot move its cursor
	switch {
	case cc.IsSet("every") && cc.Duration("every") < 5*time.Second:
		return cli.Usagef("board", "--every %s: want 5s at least", cc.Duration("every"))
	case cc.IsSet("every") && !alive:
		return cli.Usagef("board", "--every is for the board that stays: in a terminal, without --once and --json")
	case cc.Bool("fleet") && len(cli.NamedRepos(cc)) > 0:
		return cli.Usagef("board", "--fleet names the repositories; leave the others out")
	case alive:
		return runLiveBoard(t, cc)
	}

	ctx, cancel := cli.Deadline(cc)
	defer cancel()
	d, err := OpenBoardDesk(ctx, t, cc, true)
	if err != nil {
		return c.Fail(ctx, err)
	}

	defer d.close()
	snapshot, err := d.Read(ctx)
	if err != nil {
		return c.Fail(ctx, err)
	}

	return showCards(c, snapshot)
}

func runLiveBoard(t cli.Terminal, cc *urfave.Context) error {
	quiet := t
	quiet.Err, quiet.Env.Stderr = io.Discard, io.Discard // the screen is the board's
	quiet.Env.Waiting = nil
	d, err := OpenBoardDesk(cc.Context, quiet, cc, false) // it claims and releases, too
	if err != nil {
		c := &cli.Call{Flags: cc, Terminal: t}
		return c.Fail(cc.Context, err)
	}

	defer d.close()
	for _, c := range d.repos {
		if bad := c.Session.Unusable; bad != nil {
			cli.Warnf(t.Err, "%s; claims and releases are refused", bad.Brief())
		}
	}

	name := strings.Join(d.names(), " ")
	if len(d.repos) > 2 {
		name = printable.Count(len(d.repos), "repository", "repositories")
	}

	o := board.Options{Name: name, Every: cc.Duration("every"), Gone: func() bool { return !t.Env.IsTerminal(t.Out) }}
	screen := board.Screen{In: t.In, Out: t.Out, NoColor: cc.Bool("no-color") || !t.Env.Color(t.Out)}
	return board.Program(cc.Context, board.New(cc.Context, d, o), screen)
}

// showCards prints the cards, and where nothing can be taken what to do about it.
func showCards(c *cli.Call, r board.Snapshot) error {
	if !c.Flags.Bool("json") {
		text := ""
		for _, p := range r.Pauses {
			text += p.Text + "\n"
		}

		if len(r.Cards) == 0 {
			text += "no issue is part of the lifecycle\n"
		} else {
			text += cli.Columns(board.Rows(r.Cards, r.Now, c.Terminal.Env.Width(c.Terminal.Out)))
		}

		for _, ring := range r.Cycles {
			text += lifecycle.InCycle(lifecycle.Path(ring)) + "; " + cli.CycleRemedy + "\n"
		}

		for _, line := range r.Next {
			text += line + "\n"
		}

		return c.Tell(nil, text)
	}

	c.Answered = true
	for _, p := range r.Pauses {
		cli.Warnf(c.Terminal.Err, "%s", p.Text)
	}

	for _, card := range r.Cards {
		if err := c.Answer(viewCard(card, r.Now), ""); err != nil {
			return err
		}
	}

	return nil
}

// OpenBoardDesk opens a session for every repository of the board, side by side. A view only shows.
func OpenBoardDesk(ctx context.Context, t cli.Terminal, cc *urfave.Context, view bool) (*BoardDesk, error) {
	names, err := boardRepos(ctx, t, cc)
	if err != nil {
		return nil, err
	}

	d := &BoardDesk{repos: make([]*boardRepo, len(names)), Terminal: t, flags: cc}
	err = sideBySide(len(names), func(n int) error {
		o := setup.Options{
			Repo:     names[n],
			Config:   cc.String("config"),
			Verbose:  cc.Bool("verbose"),
			View:     view,
			Tolerant: true,
		}
		o.First = setup.First{Since: time.Now().Add(-ledger.Lookback), Live: true}
		c := &cli.Call{Flags: cc, Terminal: t}
		d.repos[n] = &boardRepo{Call: c}

		return c.Open(ctx, o)
	})
	if err != nil {
		d.close()
		return nil, err
	}

	return d, nil
}

// boardRepos are the repositories of the board, as they were written; one empty name is this
// clone's.
func boardRepos(ctx context.Context, t cli.Terminal, cc *urfave.Context) ([]string, error) {
	if names := cli.NamedRepos(cc); len(names) > 0 {
		return names, nil
	}
	home, err := t.Env.Home(ctx)
	if err == nil && home != (host.Remote{}) && !cc.Bool("fleet") {
		return []string{""}, nil
	}

	fleet, err := fleetRepos(ctx, t, cc)
	switch {
	case err != nil:
		return nil, err
	case len(fleet) > 0:
		return fleet, nil
	case cc.Bool("fleet"):
		return nil, cli.Usagef("board",
			"no fleet is known; set LABEL_STATE_SWEEP_REPOS or sweep.repos of the configuration")
	}

	return []string{""}, nil
}
