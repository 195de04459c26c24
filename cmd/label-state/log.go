package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/urfave/cli/v2"
)

func logCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "log", Usage: "the records of an issue, oldest first", ArgsUsage: "REF",
		Description: "One line a record, in the order that decides; what does not count is told with the reason." + refForms + "   label-state log 42\n   label-state log acme/app#42 --json",
		Flags:       common(),
		Action:      t.on(showLog),
	}
}

// An entryView is one line of log --json.
type entryView struct {
	At      string `json:"at"`
	Edited  string `json:"edited,omitempty"`
	Kind    string `json:"kind"`
	Worker  string `json:"worker"`
	Author  string `json:"author"`
	State   string `json:"state,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	By      string `json:"by,omitempty"`
	Reason  string `json:"reason,omitempty"`
	PR      string `json:"pr,omitempty"`
	Stage   string `json:"stage,omitempty"`
	URL     string `json:"url"`
	Ignored string `json:"ignored,omitempty"`
}

func showLog(ctx context.Context, c *call, i claim.Issue) error {
	f, _, err := c.Ledger.Check(ctx, i, lifecycle.Seeker{})
	if err != nil {
		return err
	}
	entries := timeline(f.Log)
	if len(entries) == 0 && !c.Bool("json") {
		return c.answer(nil, i.String()+" has no records\n")
	}
	for n, line := range lines(entries) {
		if err := c.tell(entries[n], c.dated(line)); err != nil {
			return err
		}
	}
	return nil
}

// timeline mixes what counts and what does not, in the order of the log.
func timeline(s claim.State) []entryView {
	type placed struct {
		at   claim.Comment
		view entryView
	}
	var all []placed
	for _, e := range s.Log {
		r := e.Record
		v := entryView{
			At: stamp(e.Created), Kind: string(r.Kind), Worker: r.Worker.String(), Author: e.Author, Outcome: r.Outcome,
			By: r.By, Reason: oneLine(r.Reason), PR: r.PR, Stage: stageOf(r), URL: e.URL,
		}
		if r.Kind == claim.KindClaim {
			v.State = progress(r)
		}
		if e.Updated.After(e.Created) {
			v.Edited = stamp(e.Updated)
		}
		all = append(all, placed{e.Comment, v})
	}
	for _, g := range s.Ignored {
		all = append(all, placed{g.Comment, entryView{At: stamp(g.Comment.Created), Kind: "ignored", Author: g.Comment.Author, URL: g.Comment.URL, Ignored: oneLine(g.Reason)}})
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		if c := a.at.Created.Compare(b.at.Created); c != 0 {
			return c
		}
		return int(a.at.ID - b.at.ID)
	})
	out := make([]entryView, len(all))
	for i, p := range all {
		out[i] = p.view
	}
	return out
}

// stageOf is where a release has moved the issue in a pipeline.
func stageOf(r claim.Record) string {
	if r.Kind != claim.KindRelease {
		return ""
	}
	return oneLine(r.Stage)
}

// progress is how far a claim got.
func progress(r claim.Record) string {
	switch {
	case !r.Held:
		return "asked"
	case r.Heartbeat > 0:
		return fmt.Sprintf("held, renewed %s", count(int(r.Heartbeat), "time", "times"))
	}
	return "held"
}
