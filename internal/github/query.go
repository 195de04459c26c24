package github

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A document is a query under construction. Names from outside travel as variables only.
type document struct {
	head      string  // its kind, and the name that stands in the logs of servers and of proxies
	much      portion // how much of an issue its fragments ask for
	declared  []string
	variables map[string]any
	body      strings.Builder
}

func newDocument() *document {
	return &document{head: "query", much: ofOne(), variables: map[string]any{}}
}

// bind declares a variable and returns its name with the dollar sign.
func (d *document) bind(kind string, value any) string {
	return d.declare(fmt.Sprint("v", len(d.declared)), kind, value)
}

// declare declares a variable of a name, if there is none yet.
func (d *document) declare(name, kind string, value any) string {
	if _, there := d.variables[name]; !there {
		d.declared = append(d.declared, "$"+name+": "+kind)
		d.variables[name] = value
	}
	return "$" + name
}

// alias names the n-th of several fields.
func alias(field string, n int) string { return field + strconv.Itoa(n) }

func (d *document) add(format string, args ...any) { fmt.Fprintf(&d.body, format, args...) }

// after continues a list after a cursor, if there is one.
func (d *document) after(cursor string) string {
	if cursor == "" {
		return ""
	}
	return ", after: " + d.bind("String", cursor)
}

// text is the query with the fragments that it names.
func (d *document) text(c *Client) string {
	text := " {\n" + d.body.String() + "}\n"
	if strings.Contains(text, "...R ") {
		text += c.names(d)
	}

	for _, f := range c.fragments(d.much) {
		if name, _, _ := strings.Cut(f, " on "); strings.Contains(text, "..."+name+" ") {
			text += "fragment " + f + "\n"
		}
	}

	if len(d.declared) > 0 {
		return d.head + "(" + strings.Join(d.declared, ", ") + ")" + text
	}

	return d.head + text
}

// names are what is read along of a repository, as the fragment R: our own role, and the labels
// whose existence matters, each with its alias and its variable.
func (c *Client) names(d *document) string {
	text := "fragment R on Repository { viewerPermission\n"
	for k, definition := range c.o.Scheme.Definitions() {
		if definition.Name != "" {
			label := alias("l", k)
			text += fmt.Sprintf("  %s: label(name: %s) { id name }\n", label,
				d.declare(label, "String!", definition.Name))
		}
	}

	if c.o.Scheme.Paused != "" {
		text += "  pause: label(name: " + d.declare("pause", "String!", c.o.Scheme.Paused) + ") " + pauseFields + "\n"
	}

	return text + "}\n"
}

// pauseFields are what is read of the marker of a pause.
const pauseFields = "{ name description createdAt }"

// open starts the selection of a repository.
func (d *document) open(alias string, r claim.Repo) {
	d.add("  %s: repository(owner: %s, name: %s) {\n", alias, d.bind("String!", r.Owner), d.bind("String!", r.Name))
}

// openSheet starts the selection of a repository for noteSheet.
func (c *Client) openSheet(d *document, alias string, r claim.Repo) {
	d.open(alias, r)
	d.add("    ...R \n")
	c.askAlong(d, r)
}

// completeFacts reads what the queries for several issues have left out.
func (c *Client) completeFacts(ctx context.Context, snapshots []*snapshot) error {
	var cut []*snapshot // more hangs on them than is asked of one among many
	for _, r := range snapshots {
		if short(r.err) {
			cut = append(cut, r)
		}
	}

	alone := halves[*snapshot]{ask: c.askFacts, alone: c.askPages}
	if err := alone.read(ctx, cut, 1); err != nil {
		return err
	}

	return c.completeAll(ctx, snapshots)
}

// askFacts reads issues by one query. Of many it asks for less than of one.
func (c *Client) askFacts(ctx context.Context, snapshots []*snapshot) error {
	much := ofMany()
	if len(snapshots) == 1 {
		much = ofOne()
	}
	much.comments = lastComments
	return c.askIssues(ctx, snapshots, much, c.leases.Load())
}

// askPages reads an issue that was too much for one query by smaller pages of its comments and pull
// requests. One that is too much even so cannot be read: its error is kept with it.
func (c *Client) askPages(ctx context.Context, one *snapshot, _ error) error {
	pages := page{lastComments / 2, leastPage}
	err := pages.ask(ctx, func(ctx context.Context, n int) error {
		much := ofOne()
		much.comments, much.closing = n, n
		return c.askIssues(ctx, []*snapshot{one}, much, c.leases.Load())
	})

	if one.page = pages.size; err != nil {
		one.err = err
	}

	return err
}

// askIssues reads issues by one query, so much of each, and with tips the references of their
// leases.
func (c *Client) askIssues(ctx context.Context, snapshots []*snapshot, much portion, tips bool) error {
	d := newDocument()
	d.much = much
	d.add("  viewer { login }\n")
	var repos []claim.Repo // each once
	of := make([]int, len(snapshots))
	for n, one := range snapshots {
		i := one.facts.Issue
		if of[n] = slices.IndexFunc(repos,
			func(r claim.Repo) bool { return strings.EqualFold(r.String(), i.Slug()) }); of[n] < 0 {
			of[n], repos = len(repos), append(repos, i.In())
		}
	}

	for k, r := range repos {
		c.openSheet(d, alias("r", k), r)
		if tips {
			d.add("    id\n")
		}

		for n, one := range snapshots {
			if of[n] == k {
				if tips {
					d.add("%s", d.tip(n, one.facts.Issue))
				}
				d.add("    i%d: issueOrPullRequest(number: %d) { __typename ...I ...Q }\n", n, one.facts.Issue.Number)
			}
		}

		d.add("  }\n")
	}

	var data map[string]json.RawMessage
	writes := c.transport.writes.Load()
	got, err := c.ask(ctx, d, &data)
	if err != nil {
		return err
	}

	for k, r := range repos {
		sheet := sheet{repo: r, alias: alias("r", k), partial: got}
		c.noteSheet(&sheet, data)
		for n, one := range snapshots {
			if of[n] == k {
				*one = snapshot{facts: lifecycle.Facts{Issue: one.facts.Issue}}
				c.noteTip(sheet, n, one.facts.Issue, writes)
				c.takeAt(one, sheet, alias("i", n))
			}
		}
	}

	return nil
}

// askSheet asks a repository, whose selection is open as r0, for what the document selects in it.
func (c *Client) askSheet(ctx context.Context, r claim.Repo, d *document, lists ...*cursor) (sheet, error) {
	d.add("  }\n")
	var data map[string]json.RawMessage
	got, err := c.ask(ctx, d, &data)
	if err != nil {
		return sheet{}, err
	}

	s := sheet{
		partial: got,
		repo:    r,
		alias:   "r0",
		lists:   lists,
	}
	c.noteSheet(&s, data)
	return s, s.err
}

// noteSheet reads a sheet, and remembers what it says besides issues: who we are, our own role, the
// labels of the repository, and what came along.
func (c *Client) noteSheet(s *sheet, data map[string]json.RawMessage) {
	var viewer struct{ Login string }
	_ = json.Unmarshal(data["viewer"], &viewer) // who is not known stays so
	c.note(viewer.Login)
	s.read(data)
	var own string // role; an App's is null
	if json.Unmarshal(s.fields["viewerPermission"], &own) == nil && own != "" && viewer.Login != "" {
		c.noteRole(s.repo, viewer.Login, Role(strings.ToLower(own)))
	}

	if s.err != nil {
		return
	}

	for k, d := range c.o.Scheme.Definitions() {
		var there *queryLabel
		switch {
		case json.Unmarshal(s.fields[alias("l", k)], &there) != nil || d.Name == "":
		case there != nil && labels.Same(there.Name, d.Name):
			c.noteLabel(s.repo, d.Name, label{true, there.ID})
		default:
			c.noteLabel(s.repo, d.Name, label{})
		}
	}

	c.noteAlong(*s)
}

// A sheet is one repository's part of an answer.
type sheet struct {
	partial
	repo   claim.Repo
	alias  string
	lists  []*cursor // in it, whose issues may fail one by one
	fields map[string]json.RawMessage
	pause  *lifecycle.Pause
	err    error // the repository as a whole could not be read
}

func (s *sheet) read(data map[string]json.RawMessage) {
	_ = json.Unmarshal(data[s.alias], &s.fields) // null, and nothing at all, leave it nil
	for _, e := range s.errors {
		if len(e.Path) == 0 || e.part(0) == s.alias && !s.leavesRest(e) {
			s.err = missing(e.typed(), repository(s.repo))
			return
		}
	}

	if s.fields == nil {
		s.err = unusable("repository " + s.repo.String() + " is missing")
		return
	}

	var marker *struct {
		Description string
		CreatedAt   time.Time
	}

	if err := json.Unmarshal(s.fields["pause"], &marker); err == nil && marker != nil {
		p := parsePause(marker.Description, marker.CreatedAt.UTC())
		s.pause = &p
	}
}

// leavesRest reports whether an error of a part leaves the rest of the repository as it is.
func (s *sheet) leavesRest(e queryError) bool {
	alias := e.part(1)
	switch {
	case numbered(alias, "i"): // one issue
		return true
	case alias == "branch" || alias == "file" || numbered(alias, "t"): // what came along
		return true
	case strings.HasPrefix(alias, pullsAlias) && is[*PermissionError](e.typed()): // a list of pull requests is left out
		return true
	}

	inList := slices.ContainsFunc(s.lists, func(k *cursor) bool { return k.alias == alias })
	return inList && len(e.Path) > 4 && e.part(2) == "nodes" // a part of one issue in a list
}

// numbered reports whether an alias is the letter with a number.
func numbered(alias, letter string) bool {
	digits, is := strings.CutPrefix(alias, letter)
	_, err := strconv.Atoi(digits)
	return is && err == nil
}

// failed returns the first error about an alias in the repository.
func (s *sheet) failed(alias string) error { return s.partial.failed(s.alias, alias) }

// takeAt fills a snapshot from its part of the sheet. What is not there is an error, never an empty
// issue.
func (c *Client) takeAt(one *snapshot, s sheet, alias string) {
	what := issueObject(one.facts.Issue)
	if one.err = s.err; one.err != nil {
		return
	}
	if one.err = missing(s.failed(alias), what); one.err != nil {
		return
	}

	var q *queryIssue
	if err := json.Unmarshal(s.fields[alias], &q); err != nil || q == nil {
		one.err = unusable(what.String() + " is missing")
		return
	}

	c.takeIssue(one, s, q)
}

func (c *Client) takeIssue(one *snapshot, s sheet, q *queryIssue) {
	one.facts, one.err = q.facts(one.facts.Issue, c.o.Scheme)
	one.facts.Now, one.facts.Pause, one.facts.Body = s.now, s.pause, q.Body
	if q.Number == one.facts.Issue.Number { // the global ids are for writes
		if q.ID != "" {
			c.nodes.note(key(one.facts.Issue.String()), q.ID)
		}

		for l := range q.Labels.shown() {
			c.noteLabel(s.repo, l.Name, label{true, l.ID})
		}
	}

	if one.err != nil {
		return
	}

	if q.Closing != nil {
		if one.addClosers(q.Closing); q.Closing.PageInfo.HasNextPage {
			one.closers = q.Closing
		}
	}

	if q.Comments == nil {
		one.err = unusable("comments are missing")
		return
	}

	one.read = true
	comments, err := q.Comments.all("comments")
	if err != nil || len(comments) > q.Comments.TotalCount {
		one.more = q.Comments
		return
	}

	for _, m := range comments {
		one.comments = append(one.comments, m.comment())
	}
}
