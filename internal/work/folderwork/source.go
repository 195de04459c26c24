// Package folderwork is the work source of a tiny team, and of tests: a folder with one Markdown file for
// each item, and beside it one append-only log for each.
//
// An item is NAME.md and begins with front matter:
//
//	---
//	id: fix-upload
//	title: Retry the upload
//	labels: [ready, p1]
//	state: open
//	---
//	What is to be done.
//
// The log of an item is the folder .log/ID with the files 00000001, 00000002, …; a new entry is linked into
// place whole, under the next number, and that fails when somebody was faster. So of any number of
// claims one wins, nothing is locked, and a program that dies leaves nothing to clean up.
package folderwork

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/work"
)

// Type is the source's name in the registry, and how its ids begin.
const Type = "folder"

// Options are one agent's view of a folder. Agent, Run and Now are required.
type Options struct {
	Agent, Run  string           // codename, and the name of this run
	TTL         time.Duration    // how long a claim stands; 0 is four hours
	Ready       string           // label of what is ready; empty is ready
	Exclude     []string         // labels that keep an item out
	MaxAttempts int              // failures before an item is no longer handed out; 0 is 3
	Words       work.Words       // nil is work.DefaultWords
	Now         func() time.Time // of one machine or of machines whose clocks agree
}

// A Source is one agent's view of a folder.
type Source struct {
	dir string
	o   Options
}

var _ work.Source = (*Source)(nil)

// Open returns the source; the folder must exist.
func Open(dir string, o Options) (*Source, error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, fmt.Errorf("open folder %s: %w", dir, printable.Cause(err))
	case !info.IsDir():
		return nil, fmt.Errorf("open folder %s: not a folder", dir)
	case o.Agent == "" || o.Run == "" || o.Now == nil:
		return nil, fmt.Errorf("open folder %s: want an agent, its run and a clock", dir)
	}
	if o.TTL == 0 {
		o.TTL = 4 * time.Hour
	}
	if o.Ready == "" {
		o.Ready = "ready"
	}
	if o.MaxAttempts == 0 {
		o.MaxAttempts = 3
	}
	if o.Words == nil {
		o.Words = work.DefaultWords()
	}
	return &Source{dir, o}, nil
}

// Fetch reads every file. One that cannot be read is an error: it may be the most urgent.
func (s *Source) Fetch(ctx context.Context, o work.FetchOptions) (work.Page, error) {
	docs, err := s.all()
	if err != nil {
		return work.Page{}, err
	}
	items := make([]work.Item, len(docs))
	byID := map[string]document{}
	for n, d := range docs {
		items[n] = s.item(d)
		byID[items[n].ID] = d
	}
	return work.Select(ctx, items, o, func(_ context.Context, all []work.Item) ([]work.Item, error) {
		var out []work.Item
		for _, i := range all {
			l, err := s.log(byID[i.ID].ID)
			if err != nil {
				return nil, &work.Error{ID: i.ID, Reason: work.SourceError, Err: err}
			}
			refusal := s.refuse(i.ID, byID[i.ID], l)
			_, i.Claimed = l.holder(s.o.Now())
			if refusal == nil || o.IncludeClaimed && refusal.Reason == work.AlreadyClaimed {
				out = append(out, i)
			}
		}
		return out, nil
	})
}

// refuse is the one predicate of this source.
func (s *Source) refuse(id string, d document, l log) *work.Error {
	if d.State != stateOpen {
		return work.Refused(id, work.InvalidState, "%s is %s", id, d.State)
	}
	if h, held := l.holder(s.o.Now()); held {
		return work.Refused(id, work.AlreadyClaimed, "%s is held by %s until %s", id, h.Worker, h.Until.UTC().Format(time.RFC3339))
	}
	for _, x := range s.o.Exclude {
		if d.has(x) {
			return work.Refused(id, work.InvalidState, "label %s keeps %s out", x, id)
		}
	}
	switch {
	case !d.has(s.o.Ready):
		return work.Refused(id, work.InvalidState, "%s is not in the queue (no label %s)", id, s.o.Ready)
	case l.failures() >= s.o.MaxAttempts:
		return work.Refused(id, work.InvalidState, "%d attempts at %s failed", l.failures(), id)
	}
	return nil
}

func (s *Source) item(d document) work.Item {
	created := d.changed
	if !d.Created.IsZero() {
		created = d.Created.UTC()
	}
	return work.Item{
		ID: Type + "-" + d.ID, Source: Type, ExternalID: d.ID, Title: d.Title, Description: d.body, Priority: s.o.Words.Of(d.Labels),
		Labels: append([]string{}, d.Labels...), URL: d.file, Created: created, Updated: d.changed,
		Metadata: work.Metadata{State: d.State, Assignees: []string{}}, Blockers: []string{},
	}
}

// Get returns one item, whatever its state.
func (s *Source) Get(_ context.Context, id string) (work.Item, error) {
	d, l, err := s.find(id)
	if err != nil {
		return work.Item{}, err
	}
	i := s.item(d)
	_, i.Claimed = l.holder(s.o.Now())
	return i, nil
}

// find reads an item's log and then the item. In this order an item that is finished in between is
// either seen closed, or the entry that follows this log is taken.
func (s *Source) find(id string) (document, log, error) {
	name, ours := strings.CutPrefix(id, Type+"-")
	if !ours || !idName.MatchString(name) {
		return document{}, nil, work.Refused(id, work.NotFound, "no such item %q", id)
	}
	l, err := s.log(name)
	if err != nil {
		return document{}, nil, &work.Error{ID: id, Reason: work.SourceError, Err: err}
	}
	docs, err := s.all()
	if err != nil {
		return document{}, nil, err
	}
	for _, d := range docs {
		if d.ID == name {
			return d, l, nil
		}
	}
	return document{}, nil, work.Refused(id, work.NotFound, "no such item %q", id)
}

func (s *Source) worker() string { return s.o.Agent + ":" + s.o.Run }

// Claim takes an item. The link that makes the entry is the atomic step.
func (s *Source) Claim(_ context.Context, id string) (work.Claimed, error) {
	d, l, err := s.find(id)
	if err != nil {
		return work.Claimed{}, err
	}
	if refusal := s.refuse(id, d, l); refusal != nil {
		return work.Claimed{}, refusal
	}
	now := s.o.Now().UTC()
	e := entry{Kind: kindClaim, Worker: s.worker(), At: now, Until: now.Add(s.o.TTL)}
	if err := s.append(id, d.ID, l, e); err != nil {
		return work.Claimed{}, err
	}
	i := s.item(d)
	i.Claimed = true
	return work.Claimed{Item: i, Agent: s.o.Agent, Run: s.o.Run, Token: int64(len(l) + 1), Until: e.Until}, nil
}

// Complete ends a hold: success closes the file first, so that nobody can take it in between.
func (s *Source) Complete(_ context.Context, id string, r work.Result) error {
	if r.Outcome != work.Success && r.Outcome != work.Failure && r.Outcome != work.Partial {
		return &work.OptionError{Option: "outcome", Problem: fmt.Sprintf("%q: allowed are success, failure, partial", r.Outcome)}
	}
	d, l, err := s.find(id)
	if err != nil {
		return err
	}
	if n := len(l); n > 0 && l[n-1].Kind == kindEnd && l[n-1].Worker == s.worker() && l[n-1].Outcome == string(r.Outcome) {
		return nil // it was done before
	}
	if err := s.mine(id, l); err != nil {
		return err
	}
	if r.Outcome == work.Success {
		if err := d.close(); err != nil {
			return &work.Error{ID: id, Reason: work.SourceError, Err: err}
		}
	}
	return s.append(id, d.ID, l, entry{Kind: kindEnd, Worker: s.worker(), At: s.o.Now().UTC(), Outcome: string(r.Outcome), Text: r.Comment(s.o.Agent)})
}

// Release releases an item undone.
func (s *Source) Release(_ context.Context, id string, o work.ReleaseOptions) error {
	d, l, err := s.find(id)
	if err != nil {
		return err
	}
	if err := s.mine(id, l); err != nil {
		return err
	}
	if d.State != stateOpen {
		return work.Refused(id, work.InvalidState, "%s is %s", id, d.State)
	}
	return s.append(id, d.ID, l, entry{Kind: kindEnd, Worker: s.worker(), At: s.o.Now().UTC(), Outcome: "cancelled", Text: o.Note(s.o.Agent)})
}

func (s *Source) mine(id string, l log) error {
	h, held := l.holder(s.o.Now())
	switch {
	case !held:
		return work.Refused(id, work.InvalidState, "%s is not claimed", id)
	case h.Worker != s.worker():
		return work.Refused(id, work.InvalidState, "%s is held by %s", id, h.Worker)
	}
	return nil
}

// all reads the documents of the folder.
func (s *Source) all() ([]document, error) {
	files, err := filepath.Glob(filepath.Join(escape(s.dir), "*.md"))
	if err != nil {
		return nil, &work.Error{Reason: work.SourceError, Err: err}
	}
	var docs []document
	seen := map[string]string{}
	for _, file := range files {
		d, err := read(file)
		if err == nil && seen[d.ID] != "" {
			err = fmt.Errorf("read %s: id %q is also in %s", filepath.Base(file), d.ID, seen[d.ID])
		}
		if err != nil {
			return nil, &work.Error{Reason: work.SourceError, Err: err}
		}
		seen[d.ID] = filepath.Base(file)
		docs = append(docs, d)
	}
	return docs, nil
}

// escape takes the meaning from what Glob would read as a pattern.
func escape(dir string) string {
	if filepath.Separator == '\\' {
		return dir // there a backslash cannot escape
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
