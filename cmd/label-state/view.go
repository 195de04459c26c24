package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// when prints a server time for people, with the distance to now.
func when(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return fmt.Sprintf("%s (%s)", moment(t), distance(t.Sub(now)))
}

// moment prints a server time for people.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func distance(d time.Duration) string {
	switch {
	case d >= time.Second:
		return "in " + round(d)
	case d <= -time.Second:
		return round(-d) + " ago"
	}
	return "now"
}

// round prints two units at most: 3d 4h, 4h 5m, 5m 10s, 12s.
func round(d time.Duration) string {
	units := []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}
	var out []string
	for _, u := range units {
		if n := d / u.size; n > 0 && len(out) < 2 {
			out = append(out, fmt.Sprintf("%d%s", n, u.name))
			d -= n * u.size
		} else if len(out) > 0 {
			break
		}
	}
	return strings.Join(out, " ")
}

func reasons(v lifecycle.Verdict) []reason {
	var out []reason
	for _, r := range v.Reasons {
		out = append(out, reason{Code: string(r.Code), Text: oneLine(r.Text), URL: r.URL, Until: stamp(r.Until)})
	}
	return out
}

// A holding is the JSON of a hold.
type holding struct {
	Issue    string `json:"issue"`
	Answer   string `json:"answer"`
	Codename string `json:"codename"`
	Firing   string `json:"firing_id"`
	Since    string `json:"since"`
	Until    string `json:"until,omitempty"` // absent when it never lapses
	Token    int64  `json:"token,omitempty"`
	Branch   string `json:"branch,omitempty"`
	URL      string `json:"url"`
}

func held(h ledger.Hold, answer string) holding {
	return holding{
		Issue: h.Issue.String(), Answer: answer, Codename: h.Record.Worker.Codename, Firing: h.Record.Worker.FiringID,
		Since: stamp(h.Since), Until: stamp(h.Until), Token: h.Token, Branch: h.Record.Branch, URL: h.URL,
	}
}

// A claimView is the JSON of one claim in status and log.
type claimView struct {
	Codename string `json:"codename"`
	Firing   string `json:"firing_id"`
	Author   string `json:"author"`
	Since    string `json:"since"`
	Renewed  string `json:"renewed,omitempty"`
	Until    string `json:"until,omitempty"`
	Held     bool   `json:"confirmed"`
	Lapsed   bool   `json:"lapsed"`
	Token    int64  `json:"token,omitempty"`
	Branch   string `json:"branch,omitempty"`
	Bundle   string `json:"bundle,omitempty"`
	URL      string `json:"url"`
	Outcome  string `json:"outcome,omitempty"`
	Ended    string `json:"ended,omitempty"`
	By       string `json:"by,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

func viewClaim(c claim.Claim, t claim.Terms, now time.Time) claimView {
	v := claimView{
		Codename: c.Record.Worker.Codename, Firing: c.Record.Worker.FiringID, Author: c.Author, Since: stamp(c.Created),
		Held: c.Held(), Lapsed: c.Lapsed(t, now), Token: c.Record.Token, Branch: c.Record.Branch, Bundle: oneLine(c.Record.Bundle), URL: c.URL,
	}
	if c.Updated.After(c.Created) {
		v.Renewed = stamp(c.Updated)
	}
	if c.End != nil {
		v.Outcome, v.Ended, v.By, v.Reason = c.End.Outcome, stamp(c.End.At), c.End.By, c.End.Reason
		return v
	}
	if end, ok := c.Until(t); ok {
		v.Until = stamp(end)
	}
	return v
}

// table lays out name: value lines.
func table(rows [][2]string) string {
	width := 0
	for _, r := range rows {
		width = max(width, len(r[0]))
	}
	var b strings.Builder
	for _, r := range rows {
		if r[1] != "" {
			fmt.Fprintf(&b, "%-*s  %s\n", width, r[0], r[1])
		}
	}
	return b.String()
}
