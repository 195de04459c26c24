package main

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/board"
	"github.com/label-state/label-state/internal/setup"
	"github.com/urfave/cli/v2"
)

func boardCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "board", Usage: "who holds what, in columns by state",
		Description: "In a terminal the board stays, and keys claim, release, filter and open; \"?\" tells them. Elsewhere it is a table, " +
			"or with --json one object a card. It shows every issue with a lifecycle label; what is done it shows for two days after the last change.\n\n" +
			"Repositories: --repo, else this clone's.\n\n" +
			"   label-state board\n" +
			"   label-state board --repo acme/app --repo acme/web --watch --every 1m",
		Flags: answering(
			&cli.BoolFlag{Name: "watch", Usage: "read again every so often"},
			&cli.DurationFlag{Name: "every", Usage: "how often --watch reads, 5s at least (default: 30s)", Value: 30 * time.Second, DefaultText: "30s"},
			&cli.StringSliceFlag{Name: "repo", Aliases: []string{"R"}, Usage: "repository `OWNER/NAME` (default: this clone's); may be repeated"},
		),
		Action: t.board,
	}
}

// A cardView is the JSON of a card.
type cardView struct {
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
	Circle   []string `json:"circle,omitempty"`
	Stuck    bool     `json:"stuck"`
	Pulls    []string `json:"pull_requests"`
	TakenAt  string   `json:"server_time"`
	ByPerson bool     `json:"person"`
}

func viewCard(c board.Card, now time.Time) cardView {
	v := cardView{
		Issue: c.Issue.String(), Title: c.Title, URL: c.URL, State: c.Lane.String(), Why: c.Why, Holder: c.Worker, Author: c.Login,
		Since: stamp(c.Since), Renewed: stamp(c.Seen), Branch: c.Branch, Marks: []string{}, Circle: c.Circle, Stuck: c.Stuck(),
		Pulls: []string{}, TakenAt: stamp(now), ByPerson: c.Person,
	}
	if c.Lease > 0 {
		v.Until = stamp(c.Seen.Add(c.Lease))
	}
	for _, p := range c.Pulls {
		v.Pulls = append(v.Pulls, p.URL)
	}
	for _, m := range c.Marks {
		v.Marks = append(v.Marks, m.Text)
	}
	return v
}

func (t terminal) board(cc *cli.Context) error {
	c := &call{Context: cc, terminal: t, subject: reply{Repo: typed(strings.Join(cc.StringSlice("repo"), " "))}}
	alive := t.live(cc) && t.env.Getenv("TERM") != "dumb" // which cannot move its cursor
	switch {
	case cc.Args().Present():
		return wrong("board", "board takes no arguments; name repositories with --repo")
	case cc.IsSet("every") && (!cc.Bool("watch") || cc.Duration("every") < 5*time.Second):
		return wrong("board", "--every goes with --watch, and is 5s at least")
	case cc.Bool("watch") && !alive:
		return wrong("board", "--watch wants a terminal, and no --json")
	}
	if alive {
		return t.liveBoard(cc)
	}
	ctx, cancel := deadline(cc)
	defer cancel()
	d, err := t.boardDesk(ctx, cc)
	if err != nil {
		return c.failed(ctx, err)
	}
	reading, err := d.Read(ctx)
	if err != nil {
		return c.failed(ctx, err)
	}
	return c.showCards(reading)
}

// live reports whether a person sits at both ends.
func (t terminal) live(cc *cli.Context) bool {
	in, typed := t.in.(io.Writer) // a file; only its descriptor is looked at
	return !cc.Bool("json") && typed && t.env.IsTerminal(in) && t.env.IsTerminal(t.out)
}

func (t terminal) liveBoard(cc *cli.Context) error {
	quiet := t
	quiet.err, quiet.env.Stderr = io.Discard, io.Discard // the screen is the board's
	d, err := quiet.boardDesk(cc.Context, cc)
	if err != nil {
		c := &call{Context: cc, terminal: t}
		return c.failed(cc.Context, err)
	}
	o := board.Options{Name: d.name()}
	if cc.Bool("watch") {
		o.Every = cc.Duration("every")
	}
	screen := board.Screen{In: t.in, Out: t.out, NoColor: cc.Bool("no-color") || !t.env.Color(t.out)}
	return board.Program(cc.Context, board.New(cc.Context, d, o), screen)
}

func (c *call) showCards(r board.Reading) error {
	if !c.Bool("json") {
		text := board.Table(r.Cards, r.Now)
		if len(r.Cards) == 0 {
			text = "no issue is part of the lifecycle\n"
		}
		for _, ring := range r.Circles {
			text += circled(ring) + "\n"
		}
		if r.Paused != "" {
			text = r.Paused + "\n" + text
		}
		return c.answer(nil, text)
	}
	c.answered = true
	if r.Paused != "" {
		warn(c.err, "%s", r.Paused)
	}
	for _, card := range r.Cards {
		if err := c.answer(viewCard(card, r.Now), ""); err != nil {
			return err
		}
	}
	return nil
}

// boardDesk opens a session for every repository of the board.
func (t terminal) boardDesk(ctx context.Context, cc *cli.Context) (*boardDesk, error) {
	names := cc.StringSlice("repo")
	if len(names) == 0 {
		names = []string{""}
	}
	d := &boardDesk{timeout: cc.Duration("timeout")}
	for _, name := range names {
		o := setup.Options{Repo: name, Config: cc.String("config"), Verbose: cc.Bool("verbose")}
		c := &call{Context: cc, terminal: t}
		if err := c.open(ctx, o); err != nil {
			return nil, err
		}
		d.repos = append(d.repos, c)
	}
	return d, nil
}

func (d *boardDesk) name() string {
	all := make([]string, len(d.repos))
	for i, c := range d.repos {
		all[i] = c.Repo.String()
	}
	return strings.Join(all, " ")
}
