// Package claimtest reads the notation in which the public test vectors write issue logs.
//
// A vector file is a list of cases:
//
//	# a remark
//	== the title of a case
//	what goes in, a line each
//	-> what comes out, a line each
//
// A comment of a log is one line,
//
//	ID CREATED[~UPDATED] AUTHOR[?][/EDITOR] BODY
//
// Times are hours and minutes, H:MM or H:MM:SS, counted from 2026-05-01T00:00:00Z; updated is
// created unless given. A "?" marks an author whose records do not count. BODY is a quoted
// string, or the short form "KIND CODENAME:FIRING_ID [FIELD…]" of a comment that holds nothing
// but that record. Quoted strings know \n \r \t \\ \" \xHH (one byte) and \{N:TEXT} (TEXT N times).
package claimtest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// epoch is the moment 0:00 of every vector.
var epoch = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

// A Case is one case of a vector file.
type Case struct {
	Title    string
	Line     int // of the title, from 1
	In, Want []string
}

// Cases splits a vector file. Remarks and empty lines are dropped.
func Cases(text string) ([]Case, error) {
	var cases []Case
	titles := map[string]int{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		title, isTitle := strings.CutPrefix(line, "== ")
		switch {
		case line == "" || line[0] == '#':
		case isTitle:
			if first := titles[title]; first > 0 {
				return nil, fmt.Errorf("line %d: the title of line %d again", i+1, first)
			}
			titles[title] = i + 1
			cases = append(cases, Case{Title: title, Line: i + 1})
		case len(cases) == 0:
			return nil, fmt.Errorf("line %d: before the first title", i+1)
		default:
			c := &cases[len(cases)-1]
			if want, ok := strings.CutPrefix(line, "-> "); ok {
				c.Want = append(c.Want, want)
			} else {
				c.In = append(c.In, line)
			}
		}
	}

	return cases, nil
}

// Comment reads one line of a log.
func Comment(line string) (claim.Comment, error) {
	f := strings.SplitN(line, " ", 4)
	if len(f) < 4 {
		return claim.Comment{}, fmt.Errorf("comment %q: want ID CREATED AUTHOR BODY", line)
	}

	id, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil {
		return claim.Comment{}, fmt.Errorf("comment %q: %w", line, err)
	}

	c := claim.Comment{ID: id, URL: "#" + f[0]}
	from, to, edited := strings.Cut(f[1], "~")
	if c.Created, err = Time(from); err != nil {
		return c, err
	}

	c.Updated = c.Created
	if edited {
		if c.Updated, err = Time(to); err != nil {
			return c, err
		}
	}

	c.Author, c.Editor, _ = strings.Cut(f[2], "/")
	author, stranger := strings.CutSuffix(c.Author, "?")
	c.Author, c.Trusted = author, !stranger
	c.Body, err = Body(strings.TrimSpace(f[3]))

	return c, err
}

// Body reads a comment's text: a quoted string, or the short form of a record.
func Body(s string) (string, error) {
	if strings.HasPrefix(s, `"`) {
		return Unquote(s)
	}
	f := strings.Fields(s)
	if len(f) < 2 {
		return "", fmt.Errorf("body %q: want KIND CODENAME:FIRING_ID", s)
	}

	codename, firing, found := strings.Cut(f[1], ":")
	if !found {
		return "", fmt.Errorf("body %q: %q is not CODENAME:FIRING_ID", s, f[1])
	}

	fields := append([]string{"codename=" + codename, "firing_id=" + firing}, f[2:]...)
	return "<!-- agent-" + f[0] + ":" + strings.Join(fields, " ") + " -->", nil
}

// Time reads H:MM or H:MM:SS, counted from the epoch.
func Time(s string) (time.Time, error) {
	var parts []int
	for p := range strings.SplitSeq(s, ":") {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 {
			return time.Time{}, fmt.Errorf("time %q: want H:MM or H:MM:SS", s)
		}
		parts = append(parts, n)
	}

	if len(parts) < 2 || len(parts) > 3 {
		return time.Time{}, fmt.Errorf("time %q: want H:MM or H:MM:SS", s)
	}
	seconds := parts[0]*3600 + parts[1]*60
	if len(parts) == 3 {
		seconds += parts[2]
	}

	return epoch.Add(time.Duration(seconds) * time.Second), nil
}

// Clock writes a time as Time reads it, with milliseconds where there are any.
func Clock(t time.Time) string {
	d := t.Sub(epoch)
	out := fmt.Sprintf("%d:%02d", int(d.Hours()), int(d.Minutes())%60)
	if d%time.Minute != 0 {
		out += fmt.Sprintf(":%02d", int(d.Seconds())%60)
	}

	if d%time.Second != 0 {
		out += fmt.Sprintf(".%03d", d.Milliseconds()%1000)
	}

	return out
}
