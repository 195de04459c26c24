package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/stats"
	"github.com/urfave/cli/v2"
)

func statsCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "stats", Usage: "how long work takes, and what becomes of it", ArgsUsage: "[OWNER/NAME]",
		Description: "Counted from the logs of every issue that changed in that time, or that goes on. What happened before an issue's first " +
			"record no log tells.\n\n" +
			"   label-state stats acme/app\n   label-state stats --since 12w --plot stats.svg",
		Flags: common(
			&cli.StringFlag{Name: "since", Usage: "`HOW LONG` back: days, weeks or hours, such as 12w or 36h (default: 30d)", Value: "30d"},
			&cli.StringFlag{Name: "plot", Usage: "also draw them into `FILE`, an SVG picture"},
		),
		Action: t.inRepo(showStats),
	}
}

// A statsView is the JSON of stats. Lengths of time are in seconds.
type statsView struct {
	Repo      string          `json:"repo"`
	From      string          `json:"from"`
	To        string          `json:"to"`
	Issues    int             `json:"issues"`
	Holds     int             `json:"holds"`
	Delivered int             `json:"delivered"`
	Failed    int             `json:"failed"`
	Lapsed    int             `json:"lapsed"`
	Forced    int             `json:"forced"`
	Returned  int             `json:"returned"`
	Yielded   int             `json:"yielded"`
	Merged    int             `json:"merged"`
	States    []stayView      `json:"states"`
	Days      []dayView       `json:"days"`
	Workers   []workerFigures `json:"workers"`
}

type stayView struct {
	State  string `json:"state"`
	Ended  int    `json:"ended"`
	Now    int    `json:"now"`
	Median int    `json:"median"`
	P90    int    `json:"p90"`
}

type dayView struct {
	Date      string `json:"date"`
	Holds     int    `json:"holds"`
	Delivered int    `json:"delivered"`
	Troubled  int    `json:"troubled"`
}

type workerFigures struct {
	Codename  string `json:"codename"`
	Holds     int    `json:"holds"`
	Delivered int    `json:"delivered"`
	Failed    int    `json:"failed"`
	Lapsed    int    `json:"lapsed"`
	Forced    int    `json:"forced"`
	Yielded   int    `json:"yielded"`
	Median    int    `json:"median"`
}

func showStats(ctx context.Context, c *call) error {
	back, err := longAgo(c.String("since"))
	if err != nil {
		return err
	}
	plot, err := c.plotFile()
	if err != nil {
		return err
	}
	facts, err := c.scan(ctx, time.Now().Add(-back))
	if err != nil {
		return err
	}
	now := time.Now() // only until a reading tells GitHub's
	for n, f := range facts {
		if n == 0 || f.Now.After(now) {
			now = f.Now
		}
	}
	figures := stats.Of(facts, now.Add(-back), now.Add(time.Second))
	if plot != "" {
		if err := os.WriteFile(plot, []byte(figures.Plot(c.Repo.String())), 0o644); err != nil {
			return fmt.Errorf("draw plot: %w", err)
		}
	}
	return c.tell(viewStats(c.Repo.String(), figures), c.charted(figures.Text(c.Repo.String())))
}

// plotFile is where to draw; a place where nothing can be is found out before GitHub is asked.
func (c *call) plotFile() (string, error) {
	name := c.String("plot")
	if !c.IsSet("plot") {
		return "", nil
	}
	if filepath.Ext(name) != ".svg" {
		return "", wrong("stats", "--plot %q: want the name of a file that ends in .svg", oneLine(name))
	}
	file := name
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.env.Dir, file)
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return "", wrong("stats", "--plot %s: there is no such folder", oneLine(name))
	}
	return file, nil
}

// longAgo reads 36h, 30d or 12w, at most ten years.
func longAgo(text string) (time.Duration, error) {
	const most = 3650 * 24 * time.Hour
	unit := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	if len(text) > 1 && unit[text[len(text)-1]] > 0 {
		n, err := strconv.ParseUint(text[:len(text)-1], 10, 20)
		if d := time.Duration(n) * unit[text[len(text)-1]]; err == nil && d > 0 && d <= most {
			return d, nil
		}
	}
	return 0, wrong("stats", "--since %q: want days, weeks or hours such as 30d, 12w or 36h", oneLine(strings.TrimSpace(text)))
}

func viewStats(repo string, f stats.Figures) statsView {
	t := f.Totals
	v := statsView{
		Repo: repo, From: stamp(f.From), To: stamp(f.To), Issues: f.Issues, Holds: t.Holds, Delivered: t.Delivered, Failed: t.Failed,
		Lapsed: t.Lapsed, Forced: t.Forced, Returned: t.Returned, Yielded: t.Yielded, Merged: t.Merged,
		States: []stayView{}, Days: []dayView{}, Workers: []workerFigures{},
	}
	for _, s := range f.States {
		v.States = append(v.States, stayView{s.State.String(), s.Ended, s.Now, seconds(s.Median), seconds(s.P90)})
	}
	for _, d := range f.Days {
		v.Days = append(v.Days, dayView{d.Date.Format(time.DateOnly), d.Holds, d.Delivered, d.Troubled})
	}
	for _, w := range f.Workers {
		v.Workers = append(v.Workers, workerFigures{oneLine(w.Codename), w.Holds, w.Delivered, w.Failed, w.Lapsed, w.Forced, w.Yielded, seconds(w.Median)})
	}
	return v
}

func seconds(d time.Duration) int { return int(d / time.Second) }
