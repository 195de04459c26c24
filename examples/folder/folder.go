// Package folder is an example of a work source: a folder with one Markdown file for each item. A
// program of your own copies it, or writes another one, and hands it to work.Next or to a
// work.Dispatcher.
//
// An item is NAME.md. It begins with lines KEY: VALUE, and the text follows after an empty line:
//
//	title: Retry the upload
//	labels: ready, p1
//
//	What is to be done.
//
// Beside it .log/NAME has one file for each step: 1, 2, 3 and so on. The next one is linked into
// place, whole, under the next number, and that fails if it is there already. So of any number of
// claims exactly one wins, nothing is locked, and a process that dies leaves nothing to clean up.
package folder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/work"
)

// Type is how the ids of this source begin.
const Type = "folder"

// A Source is a folder as one agent sees it. It implements work.Source. The clocks of all machines
// that use one folder must agree: they decide when a claim has expired.
type Source struct {
	Dir   string
	Agent string           // codename
	Run   string           // which run of the agent claims
	TTL   time.Duration    // length of a claim
	Ready string           // label of what may be claimed; empty is every item
	Now   func() time.Time // nil is the machine's clock
}

var _ work.Source = (*Source)(nil)

// A step is one file of an item's log: a claim, or its end.
type step struct {
	Worker  string    `json:"worker"`
	At      time.Time `json:"at"`
	Until   time.Time `json:"until,omitzero"`    // of a claim
	Outcome string    `json:"outcome,omitempty"` // of an end
	Text    string    `json:"text,omitempty"`
}

// An entry is an item with its log.
type entry struct {
	name string
	item work.Item
	log  []step
}

// Fetch implements work.Source. A file that cannot be read is an error, because it may be the most
// urgent one.
func (s *Source) Fetch(ctx context.Context, o work.FetchOptions) (work.Page, error) {
	files, err := os.ReadDir(s.Dir)
	if err != nil {
		return work.Page{}, &work.Error{Reason: work.SourceError, Err: err}
	}

	var items []work.Item
	for _, f := range files {
		name, markdown := strings.CutSuffix(f.Name(), ".md")
		if !markdown {
			continue
		}

		e, err := s.read(Type + "-" + name)
		if err != nil {
			return work.Page{}, err
		}

		if refused := s.refuse(e); refused == nil || o.IncludeClaimed && e.item.Claimed {
			items = append(items, e.item)
		}
	}

	all := func(_ context.Context, candidates []work.Item) ([]work.Item, error) { return candidates, nil }
	return work.Select(ctx, items, o, all)
}

// Get implements work.Source.
func (s *Source) Get(_ context.Context, id string) (work.Item, error) {
	e, err := s.read(id)
	return e.item, err
}

// Claim implements work.Source.
func (s *Source) Claim(_ context.Context, id string) (work.Claimed, error) {
	e, err := s.read(id)
	if err != nil {
		return work.Claimed{}, err
	}
	if refused := s.refuse(e); refused != nil {
		return work.Claimed{}, refused
	}

	until := s.now().Add(s.TTL)
	if err := s.append(e, step{Until: until}); err != nil {
		return work.Claimed{}, err
	}

	e.item.Claimed = true
	return work.Claimed{
		Item:  e.item,
		Agent: s.Agent,
		Run:   s.Run,
		Token: int64(len(e.log)) + 1, // it grows with each claim of the item
		Until: until,
	}, nil
}

// Complete implements work.Source. An item whose work succeeded is done; any other may be claimed
// again.
func (s *Source) Complete(_ context.Context, id string, r work.Result) error {
	if r.Outcome != work.Success && r.Outcome != work.Failure && r.Outcome != work.Partial {
		return &work.OptionError{
			Option:  "outcome",
			Problem: fmt.Sprintf("%q: expected success, failure, partial", r.Outcome),
		}
	}
	return s.end(id, step{Outcome: string(r.Outcome), Text: r.Comment(s.Agent)})
}

// Release implements work.Source.
func (s *Source) Release(_ context.Context, id string, o work.ReleaseOptions) error {
	return s.end(id, step{Outcome: "cancelled", Text: o.Note(s.Agent)})
}

// end ends the agent's own claim. Idempotent for one outcome.
func (s *Source) end(id string, end step) error {
	e, err := s.read(id)
	if err != nil {
		return err
	}

	last, claimed := e.holder(s.now())
	switch {
	case !claimed && last.Worker == s.worker() && last.Outcome == end.Outcome:
		return nil
	case !claimed:
		return work.Refused(id, work.InvalidState, "%s is not claimed", id)
	case last.Worker != s.worker():
		return work.Refused(id, work.InvalidState, "%s is held by %s", id, last.Worker)
	}

	return s.append(e, end)
}

// refuse says why the item may not be claimed now; nil if it may.
func (s *Source) refuse(e entry) error {
	id := e.item.ID
	last, claimed := e.holder(s.now())
	switch {
	case claimed:
		return work.Refused(id, work.AlreadyClaimed, "%s is held by %s until %s", id, last.Worker,
			last.Until.Format(time.RFC3339))
	case last.Outcome == string(work.Success):
		return work.Refused(id, work.InvalidState, "%s is done", id)
	case s.Ready != "" && !(work.FetchOptions{Labels: []string{s.Ready}}).Wants(e.item):
		return work.Refused(id, work.InvalidState, "%s does not have the label %s", id, s.Ready)
	}

	return nil
}

// holder returns the last step, and whether that is a claim that stands. Exactly at its end it
// still does.
func (e entry) holder(now time.Time) (last step, claimed bool) {
	if len(e.log) == 0 {
		return step{}, false
	}
	last = e.log[len(e.log)-1]
	return last, last.Outcome == "" && !now.After(last.Until)
}

// names are safe as names of files everywhere, and lead to no other folder.
var names = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// read reads one item and its log.
func (s *Source) read(id string) (entry, error) {
	name, ours := strings.CutPrefix(id, Type+"-")
	if !ours || !names.MatchString(name) {
		return entry{}, work.Refused(id, work.NotFound,
			"no such item %q: expected folder-NAME, where NAME has a to z, 0 to 9 and -", id)
	}

	file := filepath.Join(s.Dir, name+".md")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return entry{}, work.Refused(id, work.NotFound, "no such item %q", id)
	}

	var e entry
	if err == nil {
		e, err = parse(name, string(text))
	}

	if err == nil {
		e.log, err = s.readLog(name)
	}

	if err != nil {
		return entry{}, &work.Error{ID: id, Reason: work.SourceError, Err: fmt.Errorf("read %s: %w", file, err)}
	}

	if info, err := os.Stat(file); err == nil {
		e.item.Created, e.item.Updated = info.ModTime().UTC(), info.ModTime().UTC()
	}
	_, e.item.Claimed = e.holder(s.now())

	return e, nil
}

// parse reads the text of an item.
func parse(name, text string) (entry, error) {
	head, body, _ := strings.Cut(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n")
	item := work.Item{
		ID:          Type + "-" + name,
		Source:      Type,
		ExternalID:  name,
		Description: body,
		Blockers:    []string{},
	}

	for n, line := range strings.Split(strings.TrimSpace(head), "\n") {
		key, value, found := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch {
		case found && key == "title":
			item.Title = value
		case found && key == "labels":
			for label := range strings.SplitSeq(value, ",") {
				item.Labels = append(item.Labels, strings.TrimSpace(label))
			}

		default:
			return entry{}, fmt.Errorf("line %d: %q: expected title: or labels:, and an empty line before the text", n+
				1, line)
		}
	}

	if item.Title == "" {
		return entry{}, errors.New("the title is missing")
	}

	item.Priority = work.DefaultWords().Of(item.Labels)
	return entry{name: name, item: item}, nil
}

// file is where the n-th step of an item is, counted from 1.
func (s *Source) file(name string, n int) string {
	return filepath.Join(s.Dir, ".log", name, strconv.Itoa(n))
}

// readLog reads the steps of an item up to the first number that is not there.
func (s *Source) readLog(name string) ([]step, error) {
	var log []step
	for {
		text, err := os.ReadFile(s.file(name, len(log)+1))
		if errors.Is(err, fs.ErrNotExist) {
			return log, nil
		}

		var next step
		if err == nil {
			err = json.Unmarshal(text, &next)
		}

		if err != nil {
			return nil, fmt.Errorf("step %d of its log: %w", len(log)+1, err)
		}
		log = append(log, next)
	}
}

// append links the agent's next step into place. This is the atomic step that decides a race:
// os.Link fails if another process was faster.
func (s *Source) append(e entry, next step) error {
	next.Worker, next.At = s.worker(), s.now().UTC()
	file := s.file(e.name, len(e.log)+1)

	err := link(file, next)
	if errors.Is(err, fs.ErrExist) {
		return work.Refused(e.item.ID, work.AlreadyClaimed, "another agent was faster with %s", e.item.ID)
	}
	if err != nil {
		return &work.Error{ID: e.item.ID, Reason: work.SourceError, Err: fmt.Errorf("write %s: %w", file, err)}
	}

	return nil
}

// link makes a file that appears whole, and only if there is none of that name.
func link(file string, content step) error {
	text, err := json.Marshal(content)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}

	draft, err := os.CreateTemp(filepath.Dir(file), "draft-*")
	if err != nil {
		return err
	}

	defer os.Remove(draft.Name())
	_, err = draft.Write(append(text, '\n'))
	if err = errors.Join(err, draft.Close()); err != nil {
		return err
	}

	return os.Link(draft.Name(), file)
}

func (s *Source) worker() string { return s.Agent + ":" + s.Run }

func (s *Source) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}
