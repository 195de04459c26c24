package operate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/board"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/trouble"
)

// patience is how long the board waits for GitHub, without --timeout.
const patience = time.Minute

// A BoardDesk reads for the board, each repository by its own configuration, and carries out
// commands.
type BoardDesk struct {
	*cli.Call // of the board
	repos     []*boardRepo
	unread    []error // why others are not among them
}

// A boardRepo is one repository of the board.
type boardRepo struct {
	*cli.Call
	labelled bool // its labels are there; once seen they are not asked for again
}

// A boardPart is one repository's part of a snapshot.
type boardPart struct {
	facts  []lifecycle.Facts
	cards  []board.Card
	pauses []board.Pause
	next   string
}

// sideBySide does n things at once, eight at a time, and returns the error of each.
func sideBySide(n int, do func(int) error) []error {
	errs, places := make([]error, n), make(chan struct{}, 8)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			places <- struct{}{}
			errs[i] = do(i)
			<-places
		})
	}

	all.Wait()

	return errs
}

func (d *BoardDesk) close() {
	for _, c := range d.repos {
		c.Close()
	}
}

// names are the repositories as GitHub spells them.
func (d *BoardDesk) names() []string {
	out := make([]string, len(d.repos))
	for n, c := range d.repos {
		out[n] = c.Session.Repo.String()
	}
	return out
}

func (d *BoardDesk) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, cmp.Or(d.Timeout, patience))
}

// Read implements board.Desk.
func (d *BoardDesk) Read(ctx context.Context) (board.Snapshot, error) {
	out, errs := d.readAll(ctx)
	return out, cmp.Or(errs...) // the line there has room for one
}

// readAll reads all repositories, side by side, with an error of each. One that is not there is
// left out, which the snapshot says. Any other that cannot be read makes the snapshot incomplete.
func (d *BoardDesk) readAll(ctx context.Context) (board.Snapshot, []error) {
	ctx, cancel := d.patience(ctx)
	defer cancel()
	parts := make([]boardPart, len(d.repos))
	out := board.Snapshot{Repos: d.names(), Unread: slices.Clone(d.unread)}
	errs := sideBySide(len(parts), func(n int) (err error) {
		parts[n], err = d.repos[n].read(ctx)
		return err
	})

	for n, err := range errs {
		if err != nil && len(parts) > 1 && cli.ProblemOf(err).Code == answer.NotFound {
			out.Unread, errs[n] = append(out.Unread, cli.At("board", out.Repos[n], err)), nil
		}
	}

	if cmp.Or(errs...) != nil {
		return out, errs
	}

	var all []lifecycle.Facts
	for _, p := range parts {
		all = append(all, p.facts...)
		out.Cards, out.Pauses = append(out.Cards, p.cards...), append(out.Pauses, p.pauses...)
		if p.next != "" {
			out.Next = append(out.Next, p.next)
		}
	}

	board.Sort(out.Cards)
	out.Cycles = board.MarkCycles(out.Cards, all)
	for _, f := range all {
		out.Viewer = cmp.Or(out.Viewer, f.Viewer)
	}

	out.Now = latest(all)
	out.Details = d.details(all, out.Cycles)

	return out, errs
}

// read reads the repository's part of a snapshot.
func (c *boardRepo) read(ctx context.Context) (p boardPart, err error) {
	if p.facts, err = scanIssues(ctx, c.Call, time.Now().Add(-ledger.Lookback)); err != nil {
		return boardPart{}, err
	}

	p.cards = board.Deal(c.Rules(), p.facts)
	if p.pauses, err = c.pauses(ctx, p.facts); err != nil {
		return boardPart{}, err
	}

	p.next, err = c.next(ctx, p)
	return p, err
}

// scanIssues reads what a sweep looks at, but for what has been done for long. One issue that
// cannot be read makes the snapshot incomplete, and so an error.
func scanIssues(ctx context.Context, c *cli.Call, since time.Time) (all []lifecycle.Facts, err error) {
	for f, err := range c.Session.Client.Current(ctx, c.Session.Repo, since) {
		if err != nil {
			return nil, err
		}
		f = c.Session.Ledger.Here(f)
		f.Log = f.Log.ByToken() // a lease store is not asked for every issue at every look
		all = append(all, f)
	}

	return all, nil
}

// latest is GitHub's time when the last of the snapshots was read; zero without any.
func latest(all []lifecycle.Facts) (now time.Time) {
	for _, f := range all {
		if f.Now.After(now) {
			now = f.Now
		}
	}

	return now
}

// pauses are the repository's own and this host's. The snapshots tell; only where there are none is
// it asked for.
func (c *boardRepo) pauses(ctx context.Context, facts []lifecycle.Facts) (out []board.Pause, err error) {
	var p *lifecycle.Pause
	if len(facts) > 0 {
		p = facts[0].Pause
	} else if p, err = c.Session.Client.Pause(ctx, c.Session.Repo); err != nil {
		return nil, err
	}

	if p == nil {
		p, err = c.Env.PausedHere(c.Session.Repo)
	}

	if p != nil {
		out = append(out, board.Pause{
			Repo: c.Session.Repo.String(),
			Text: strings.TrimSpace(cli.ViewPause(c.Session.Repo.String(), p, p.Here).Line()), Here: p.Here,
		})
	}

	return out, err
}

// next is what to do where no issue of the repository can be taken; empty where one can, or where
// only waiting helps.
func (c *boardRepo) next(ctx context.Context, p boardPart) (string, error) {
	ready := false
	for _, card := range p.cards {
		if card.Free {
			return "", nil
		}
		ready = ready || card.Lane == lifecycle.LaneReady
	}

	switch {
	case len(p.pauses) > 0:
		return cli.Words([]answer.Command{trouble.Resume(p.pauses[0].Repo, p.pauses[0].Here)}), nil
	case ready:
		return "", nil // the marks say what is in the way
	}

	if !c.labelled {
		first, err := c.LabelsFirst(ctx)
		if err != nil || first != nil {
			return cli.Words(first), err
		}
		c.labelled = true
	}

	return cli.Words([]answer.Command{c.FirstCommand()}), nil
}

// details are what status says of an issue, its text and its history, from a snapshot.
func (d *BoardDesk) details(all []lifecycle.Facts, rings [][]claim.Issue) func(claim.Issue, time.Time, int) []string {
	return func(i claim.Issue, now time.Time, width int) []string {
		for _, f := range all {
			if f.Issue != i {
				continue
			}
			c := d.of(i)
			f.Now = now
			rules := c.Rules()
			v := rules.Verdict(f, lifecycle.Seeker{})
			view := cli.StatusView{Status: trouble.Status(rules, f, v)}
			view.Store = c.Session.Config.Claim.Lease

			for _, ring := range rings {
				for _, one := range ring {
					if one.Same(i) {
						view.Cycle = &cli.CycleView{Path: lifecycle.Path(ring), Remedy: cli.CycleRemedy}
					}
				}
			}

			shown := cli.DescribeStatus(rules, f, v, view)
			history := cmp.Or(cli.History(f.Log), "no records\n")
			text := cli.Wrap(shown, width) + "\ndescription\n" + quoted(f.Body, width) +
				"\nhistory, oldest first\n" + cli.Wrap(history, width)

			return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		}

		return nil
	}
}

// quoted is somebody's text with a line at its left, so that none of it can be taken for ours.
func quoted(text string, width int) string {
	text = strings.ReplaceAll(strings.TrimSpace(printable.Lines(text)), "\t", "    ")
	var out strings.Builder
	for line := range strings.Lines(ansi.Wrap(text, max(width-2, 1), "")) {
		out.WriteString("│ " + strings.TrimRight(line, " \n") + "\n")
	}

	return cmp.Or(out.String(), "none\n")
}

// of is the session of the card's repository.
func (d *BoardDesk) of(i claim.Issue) *boardRepo {
	for _, c := range d.repos {
		if strings.EqualFold(c.Session.Repo.String(), i.Slug()) {
			return c
		}
	}
	return d.repos[0]
}

// Do carries out an order by the program's own command, in the name of the person and not of a
// worker.
func (d *BoardDesk) Do(ctx context.Context, o board.Order) (warnings []string, err error) {
	if err := d.unchanged(ctx, o); err != nil {
		return nil, cli.At("board", o.Card.Issue.String(), err)
	}
	var said bytes.Buffer
	t := d.Terminal
	t.In, t.Out, t.Err, t.Env.Stderr = strings.NewReader(""), io.Discard, &said, &said
	t.Env.Getenv = func(name string) string {
		if name == "LABEL_STATE_CODENAME" || name == "LABEL_STATE_FIRING_ID" {
			return ""
		}
		return d.Env.Getenv(name)
	}

	args := append(append([]string{"label-state"}, o.Args()...), "--timeout",
		cmp.Or(d.Timeout, patience).String())
	if d.Config != "" {
		args = append(args, "--config", d.Config)
	}

	err = cli.Execute(ctx, args, t)
	for line := range strings.Lines(said.String()) {
		warnings = append(warnings,
			cli.OneLine(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(line), "label-state: "), "warning: ")))
	}

	if err != nil {
		err = &orderError{err, args}
	}

	return warnings, err
}

// An orderError is the error of the command line that carried out an order.
type orderError struct {
	error
	line []string
}

func (e *orderError) Unwrap() error { return e.error }

// unchanged refuses to end a hold or to answer a plan that is not the one the person saw.
func (d *BoardDesk) unchanged(ctx context.Context, o board.Order) error {
	switch o.Act {
	case board.TakeOver, board.End, board.Approve, board.Reject:
	default:
		return nil
	}

	ctx, cancel := d.patience(ctx)
	defer cancel()
	l := d.of(o.Card.Issue).Session.Ledger
	f, err := l.Look(ctx, o.Card.Issue)
	if err != nil {
		return err
	}

	h, _ := l.Rules().Shown(f)
	if holder := strings.TrimPrefix(cli.OneLine(h.Record.Worker.String()), ":"); holder != o.Card.Worker ||
		h.Plan.Pending() != o.Card.Plan {
		return cli.Declined("it changed in the meantime; nothing was done")
	}

	return nil
}

// Hint is what a command would print below the error.
func (d *BoardDesk) Hint(err error) string {
	t := d.Terminal
	if o, ordered := errors.AsType[*orderError](err); ordered {
		t.Typed = o.line
	}
	return t.Hint(err)
}

// Open starts the browser and does not wait for it.
func (d *BoardDesk) Open(url string) bool {
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

// browser is what opens an address here: $BROWSER, else the desktop's own way, if there is a
// desktop.
func (d *BoardDesk) browser() (name string, args []string) {
	getenv := d.Env.Getenv
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
