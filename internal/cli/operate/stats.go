package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/smallfile"
	"github.com/label-state/label-state/internal/stats"
)

type statsParams struct {
	Name  string `arg:"[OWNER/NAME]"`
	Since string `flag:"since" value:"TIME" text:"so far back: days, weeks or hours, such as 12w or 36h (default: 30d)"`
	Plot  string `flag:"plot" value:"FILE" text:"also draw them into FILE, as SVG"`
	cli.OneRepo
}

// Stats shows figures.
func Stats() cli.Verb {
	return cli.Do(cli.Verb{
		Name:    "stats",
		Summary: "how long work takes, and what becomes of it",
		About: "Counted from the logs of every issue that changed in that time, or that goes on. No log shows " +
			"what happened before an issue's first record.",
		Examples: "label-state stats acme/app\nlabel-state stats --since 12w --plot stats.svg\n",
		Shows:    true,
	}, showStats)
}

// A StatsView is the JSON of stats. Lengths of time are in seconds.
type StatsView struct {
	Repo   string `json:"repo"`
	From   string `json:"from"`
	To     string `json:"to"`
	Issues int    `json:"issues"`
	stats.Totals
	Before  PeriodView     `json:"before"`
	Merges  []stats.Merge  `json:"ready_to_merged"`
	States  []stats.Stay   `json:"states"`
	Days    []stats.Day    `json:"days"`
	Workers []stats.Worker `json:"workers"`
	Guessed string         `json:"guessed,omitempty"` // that whose records count is a guess, and why
}

// A PeriodView is the JSON of as much time before.
type PeriodView struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Issues int    `json:"issues"`
	stats.Totals
	Median stats.Length `json:"ready_to_merged"` // median
}

// charts finds the filled part of a bar, the rest of one, and a heading.
var charts = regexp.MustCompile(`(?m)[▏▎▍▌▋▊▉█▁▂▃▄▅▆▇]+|░+|^[A-Z][A-Z0-9 ]+\b`)

func showStats(ctx context.Context, c *cli.Call, p *statsParams) error {
	if p.Name != "" && p.Repo != "" {
		return c.Usagef("the repository is given twice, as an argument and by --repo; give it once")
	}
	o := c.Options()
	o.Repo = cmp.Or(p.Name, p.Repo)
	c.Subject.Repo = cli.WithoutURL(o.Repo)
	back, err := longAgo(c, cmp.Or(p.Since, "30d"))
	if err != nil {
		return err
	}

	plot, err := plotFile(c, p.Plot)
	if err != nil {
		return err
	}

	if err := c.Open(ctx, o); err != nil {
		return err
	}

	here := time.Now()
	facts, err := scanIssues(ctx, c, here.Add(-2*back)) // the time before is for comparison
	now := cmp.Or(latest(facts), here)
	if err == nil && here.Sub(now) > time.Minute { // with its clock ahead, this machine left something out
		facts, err = scanIssues(ctx, c, now.Add(-2*back))
	}
	if err != nil {
		return err
	}

	figures := stats.Compared(facts, now.Add(-back), now.Add(time.Second))
	if plot != "" {
		if err := draw(plot, figures.Plot(c.Session.Repo.String())); err != nil {
			return fmt.Errorf("draw plot: %w", err)
		}
	}

	view := viewStats(c.Session.Repo.String(), figures)
	view.Guessed = c.Session.Client.Guessed()
	text := charts.ReplaceAllStringFunc(figures.Text(c.Session.Repo.String(), c.Env.Width(c.Out)),
		func(part string) string {
			switch {
			case part[0] < utf8.RuneSelf:
				return c.Paint(cli.InkBold, part)
			case strings.HasPrefix(part, "░"):
				return c.Paint(cli.InkFaint, part)
			}

			return c.Paint(cli.InkCyan, part)
		})

	if figures.Issues == 0 && !c.JSON {
		next, _ := c.LabelsFirst(ctx) // only what to say
		text += "\nnobody has claimed anything in that time; " +
			cmp.Or(cli.Words(next), "take an issue: label-state next --codename NAME") + "\n"
	}

	return c.Tell(view, text)
}

// draw writes a picture, with the mode that files have here, or that the file has already. Where it
// cannot be written whole, what was there stays.
func draw(file, picture string) error {
	_, known := os.Stat(file)
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o666)
	if err == nil {
		err = f.Close()
	}

	if err == nil {
		err = smallfile.RewriteLinked(file, []byte(picture), 0)
	}
	if err != nil && errors.Is(known, fs.ErrNotExist) {
		err = errors.Join(err, os.Remove(file))
	}

	return err
}

// plotFile is where to draw; a place where nothing can be is found out before GitHub is asked.
func plotFile(c *cli.Call, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	if filepath.Ext(name) != ".svg" {
		return "", c.Usagef("--plot %q: expected the name of a file that ends in .svg", cli.OneLine(name))
	}

	file := c.Env.Path(name)
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return "", c.Usagef("--plot %s: there is no such folder", cli.OneLine(name))
	}

	return file, nil
}

// longAgo reads 36h, 30d or 12w, at most ten years; not the empty text.
func longAgo(c *cli.Call, text string) (time.Duration, error) {
	const most = 3650 * 24 * time.Hour
	unit := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	if unit[text[len(text)-1]] > 0 {
		n, err := strconv.ParseUint(text[:len(text)-1], 10, 20)
		if d := time.Duration(n) * unit[text[len(text)-1]]; err == nil && d > 0 && d <= most {
			return d, nil
		}
	}

	return 0, c.Usagef("--since %q: expected days, weeks or hours such as 30d, 12w or 36h, and ten years at most",
		cli.OneLine(strings.TrimSpace(text)))
}

func viewStats(repo string, f stats.Figures) StatsView {
	b := f.Before
	v := StatsView{
		Repo:    repo,
		From:    cli.Stamp(f.From),
		To:      cli.Stamp(f.To),
		Issues:  f.Issues,
		Totals:  f.Totals,
		Before:  PeriodView{cli.Stamp(b.From), cli.Stamp(b.To), b.Issues, b.Totals, 0},
		Merges:  append([]stats.Merge{}, f.Merges...),
		States:  append([]stats.Stay{}, f.States...),
		Days:    append([]stats.Day{}, f.Days...),
		Workers: append([]stats.Worker{}, f.Workers...),
	}

	if len(b.Merges) > 0 {
		v.Before.Median = b.Merges[0].Median
	}

	return v
}
