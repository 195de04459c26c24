package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// Write implements ledger.Forge. What is wanted with a snapshot is a mutation, whose fields run one
// after the other, and the payload of the last one about an issue shows it as it is then. Issues,
// labels and comments are named by the global ids that an earlier snapshot has shown, so that a
// label that does not exist is never created here. Where an id is not known, and where GitHub
// certainly refused the mutation, it is one request a write, which finds out why.
func (c *Client) Write(ctx context.Context, all []ledger.Batch) []ledger.Written {
	out := make([]ledger.Written, len(all))
	var joined []*mutation
	for n, b := range all {
		m := c.mutation(ctx, b)
		if m == nil {
			out[n] = c.writeEach(ctx, b)
			continue
		}

		m.out = &out[n]
		joined = append(joined, m)
	}

	for len(joined) > 0 {
		part := joined[:c.together(joined)]
		joined = joined[len(part):]
		c.mutateAll(ctx, part)
	}

	return out
}

// mutatedAtOnce is how many issues one mutation writes about.
const mutatedAtOnce = 20

// together is how many of the mutations may be one request: those that may be repeated, of one
// repository. GitHub takes about one new comment a second, and an answer that is lost leaves all of
// them open.
func (c *Client) together(all []*mutation) int {
	n := 0
	for n < len(all) && n < mutatedAtOnce && all[n].repeats() && all[n].Issue.SameRepo(all[0].Issue) {
		n++
	}
	return max(n, 1)
}

// A mutation is what is written about one issue with a snapshot after it.
type mutation struct {
	ledger.Batch
	subject     string // global ids
	add, remove []string
	one         *snapshot
	out         *ledger.Written
}

// record is the write that is not about labels, nil without one.
func (m *mutation) record() *protocol.Write {
	if w := &m.Writes[0]; w.Kind != protocol.WriteRelabel {
		return w
	}
	return nil
}

// relabels reports whether labels are changed.
func (m *mutation) relabels() bool { return len(m.add)+len(m.remove) > 0 }

// repeats reports whether it does no harm to do it twice.
func (m *mutation) repeats() bool { w := m.record(); return w == nil || w.Kind == protocol.WriteEdit }

// mutation returns the batch as a mutation, nil if it cannot be one.
func (c *Client) mutation(ctx context.Context, b ledger.Batch) *mutation {
	if !b.Read || len(b.Writes) == 0 {
		return nil
	}
	m := &mutation{Batch: b, one: &snapshot{facts: lifecycle.Facts{Issue: b.Issue}}}
	subject, known := c.issueNode(b.Issue)
	m.subject = subject

	rest := b.Writes
	if w := m.record(); w != nil {
		rest = rest[1:]
		posts := w.Kind == protocol.WritePost && known
		edits := w.Kind == protocol.WriteEdit && w.Node != "" && len(rest) == 0
		if !posts && !edits {
			return nil
		}
	}

	for _, w := range rest {
		repo, all, both := b.Issue.In(), false, false
		for _, name := range w.Labels.Add {
			if _, defined := c.labelNodes(repo, []string{name}); !defined && c.ensureLabel(ctx, repo, name) != nil {
				return nil // adding it says why
			}
		}
		m.add, all = c.labelNodes(repo, w.Labels.Add)
		m.remove, both = c.labelNodes(repo, w.Labels.Remove)
		if w.Kind != protocol.WriteRelabel || len(rest) > 1 || !known || !all || !both || !m.relabels() {
			return nil
		}
	}

	return m
}

// last is the field that shows the issue as it is after all of them.
func (m *mutation) last() string {
	switch {
	case len(m.remove) > 0:
		return "remove"
	case len(m.add) > 0:
		return "add"
	}

	return "record"
}

// fields adds the fields of the mutation with the number n to a document.
func (m *mutation) fields(c *Client, d *document, n int) {
	after := func(field, issue string) string {
		if field != m.last() {
			return "clientMutationId"
		}
		repository := "repository { ...R "
		if c.leases.Load() {
			repository += "id\n" + d.tip(0, m.Issue)
		}
		repository += "}"
		if issue == "issue" { // a comment's
			return "shown: issue { __typename ...I " + repository + " }"
		}

		return "shown: " + issue + " { __typename ... on Issue { ...I " + repository + " } ... on PullRequest { ...Q " + repository + " } }"
	}

	switch w := m.record(); {
	case w == nil:
	case w.Kind == protocol.WriteEdit:
		d.add("  %s: updateIssueComment(input: {id: %s, body: %s}) { issueComment { ...C %s } }\n", alias("record", n),
			d.bind("ID!", w.Node), d.bind("String!", w.Body), after("record", "issue"))
	default:
		d.add("  %s: addComment(input: {subjectId: %s, body: %s}) { commentEdge { node { ...C } } %s }\n",
			alias("record", n), d.bind("ID!", m.subject), d.bind("String!", w.Body), after("record", "subject"))
	}

	change := func(field, mutation string, nodes []string) {
		if len(nodes) > 0 {
			d.add("  %s: %s(input: {labelableId: %s, labelIds: %s}) { %s }\n", alias(field, n), mutation,
				d.bind("ID!", m.subject), d.bind("[ID!]!", nodes), after(field, "labelable"))
		}
	}
	change("add", "addLabelsToLabelable", m.add)
	change("remove", "removeLabelsFromLabelable", m.remove)
}

// A payload is what a field of a mutation answers with.
type payload struct {
	CommentEdge  *struct{ Node *queryComment }
	IssueComment *struct {
		queryComment
		Shown json.RawMessage
	}
	Shown json.RawMessage // the issue as it is after it
}

// mutateAll sends mutations as one request. Where that is too much, each is sent by itself.
func (c *Client) mutateAll(ctx context.Context, all []*mutation) {
	hint, much := hinted(ctx, repeatable), ofMany()
	if !all[0].repeats() {
		hint = hinted(ctx, commenting)
	}
	if len(all) > 1 {
		hint = replaceable(hint)
	}
	much.comments = lastComments

	var data map[string]*payload
	writes := c.transport.writes.Load() + 1
	d := newDocument()
	d.head, d.much = "mutation Write", much
	for n, m := range all {
		m.fields(c, d, n)
	}

	got, err := c.ask(hint, d, &data)
	if len(all) > 1 && err != nil && !wholeRequest(err) {
		for n := range all {
			c.mutateAll(ctx, all[n:n+1])
		}
		return
	}

	refused := is[*NoGraphQLError](err) || hidden(err)
	for n, m := range all {
		if !refused && (m.record() != nil || !tooMuch(err)) {
			m.answered(c, n, data, got, err, writes)
		}
		if m.out.Results == nil {
			c.forgetLabels(m.Batch) // one may have been deleted since, and is made again then
			*m.out = c.writeEach(ctx, m.Batch)
		}
	}

	c.showAfter(ctx, all)
}

// answered takes in what became of the mutation with the number n. Without any result GitHub has
// certainly refused it.
func (m *mutation) answered(c *Client, n int, data map[string]*payload, got partial, err error, writes int64) {
	of := func(field string) *payload { return data[alias(field, n)] }
	if m.record() != nil {
		if err == nil && of("record") == nil {
			err = got.refused(alias("record", n))
		}
		if errors.Is(err, errors.ErrUnsupported) {
			return
		}

		result := protocol.Result{Err: err}
		if err == nil {
			result.Comment, result.Err = ours(of("record").comment())
		}
		m.out.Results = append(m.out.Results, result)
		if result.Err != nil {
			return
		}
	}

	changed := (of("add") != nil || len(m.add) == 0) && (of("remove") != nil || len(m.remove) == 0)
	if m.relabels() {
		labelled := protocol.Result{Err: err}
		switch {
		case err != nil || changed:
		case m.record() == nil: // one request a label finds out which, and why
			return
		default:
			labelled.Err = errUnseen
		}
		m.out.Results = append(m.out.Results, labelled)
	}

	// What could not be added must not be told as done.
	if last := alias(m.last(), n); err == nil && changed && got.failed(last) == nil {
		c.takeAfter(m.one, got, data[last].shown(), writes)
	}
}

// errUnseen is why it is not known whether labels were changed after a record.
var errUnseen = errors.New("the answer does not show it")

// comment is the comment that was written, the zero one where it is missing.
func (p *payload) comment() comment {
	switch {
	case p.CommentEdge != nil && p.CommentEdge.Node != nil:
		return p.CommentEdge.Node.comment()
	case p.IssueComment != nil:
		return p.IssueComment.comment()
	}

	return comment{}
}

// shown is the issue as it is after it.
func (p *payload) shown() json.RawMessage {
	if p.IssueComment != nil {
		return p.IssueComment.Shown
	}
	return p.Shown
}

// showAfter completes the snapshots that payloads have shown: those that cannot be are nil.
func (c *Client) showAfter(ctx context.Context, all []*mutation) {
	var shown []*snapshot
	for _, m := range all {
		shown = append(shown, m.one)
	}

	_ = c.finish(ctx, shown, nil, everyRecord) // a snapshot that is not whole is none
	for _, m := range all {
		if after := m.one.public(); m.one.read && after.Err == nil {
			m.out.After = &after.Facts
		}
	}
}

// writeEach sends writes one by one, up to the first that was not applied.
func (c *Client) writeEach(ctx context.Context, b ledger.Batch) (out ledger.Written) {
	for _, w := range b.Writes {
		var r protocol.Result
		r.Comment, r.Err = c.writeOne(ctx, b.Issue, w)
		out.Results = append(out.Results, r)
		if r.Err != nil {
			break
		}
	}

	return out
}

func (c *Client) writeOne(ctx context.Context, i claim.Issue, w protocol.Write) (claim.Comment, error) {
	switch w.Kind {
	case protocol.WritePost:
		return c.Comment(ctx, i, w.Body)
	case protocol.WriteEdit:
		return c.EditComment(ctx, i, w.Comment, w.Body)
	case protocol.WriteErase:
		return claim.Comment{}, c.DeleteComment(ctx, i, w.Comment)
	case protocol.WriteAssign:
		return claim.Comment{}, c.Assign(ctx, i, w.Login)
	case protocol.WriteUnassign:
		return claim.Comment{}, c.Unassign(ctx, i, w.Login)
	case protocol.WriteClose:
		return claim.Comment{}, c.CloseCompleted(ctx, i)
	case protocol.WriteRelabel:
		return claim.Comment{}, c.changeLabels(ctx, i, w.Labels)
	}

	return claim.Comment{}, fmt.Errorf("%s: not a write of GitHub's", w.Kind)
}

// forgetLabels forgets what was known of the labels that a batch adds.
func (c *Client) forgetLabels(b ledger.Batch) {
	for _, w := range b.Writes {
		for _, name := range w.Labels.Add {
			c.labels.forget(key(b.Issue.Slug(), name))
		}
	}
}

// changeLabels adds labels, then removes others, one request each.
func (c *Client) changeLabels(ctx context.Context, i claim.Issue, change labels.Change) error {
	for _, name := range change.Add {
		if err := c.AddLabel(ctx, i, name); err != nil {
			return err
		}
	}

	for _, name := range change.Remove {
		if err := c.RemoveLabel(ctx, i, name); err != nil {
			return err
		}
	}

	return nil
}

// Reply implements ledger.Forge.
func (c *Client) Reply(ctx context.Context, i claim.Issue, ask protocol.Ask) (out protocol.Replies) {
	repo := i.In()
	if ask.Counts {
		out.Err = c.Heard(ctx, repo)
	}

	switch {
	case out.Err != nil:
	case ask.Load:
		out.Load, out.Err = c.InProgress(ctx, repo)
	case ask.Pull != "":
		out.Pull, out.Err = c.PullAt(ctx, ask.Pull, i)
	case ask.Moved != nil:
		out.Moved, out.Err = c.LastMove(ctx, i, *ask.Moved)
	case ask.Votes != 0:
		out.Votes, out.Err = c.Votes(ctx, i, ask.Votes)
	case ask.May != "":
		out.May, out.Err = c.MayLabel(ctx, repo, ask.May)
	}

	return out
}

// refused is why the field of a mutation answered with nothing. What was certainly refused is
// errors.ErrUnsupported.
func (p partial) refused(alias string) error {
	e := p.first(alias)
	if e == nil {
		return unusable("the comment is missing")
	}

	// of the field itself, not of a part of its payload
	refusals := []string{"NOT_FOUND", "FORBIDDEN", "INSUFFICIENT_SCOPES", "UNPROCESSABLE"}
	if len(e.Path) == 1 && slices.Contains(refusals, e.Type) {
		return errors.ErrUnsupported
	}

	return &QueryError{Type: oneLine(e.Type), Message: oneLine(e.Message)} // it may be there
}

// takeAfter fills a snapshot from the payload of a mutation, the last of so many writes.
func (c *Client) takeAfter(one *snapshot, got partial, payload json.RawMessage, writes int64) {
	var whole struct{ Repository json.RawMessage }
	_ = json.Unmarshal(payload, &whole) // null leaves it empty
	i := one.facts.Issue
	s := sheet{repo: i.In(), alias: "repository", partial: got}
	s.read(map[string]json.RawMessage{"repository": whole.Repository})
	if s.err == nil {
		c.noteTip(s, 0, i, writes)
		s.fields["i0"] = payload
	}

	c.takeAt(one, s, "i0")
}

// minimizedAtOnce is how many comments one mutation minimizes.
const minimizedAtOnce = 20

// Minimize implements ledger.Minimizer. Comments that were not read by GraphQL are left alone,
// those that are gone, or were minimized meanwhile, are not an error. A token that may not minimize
// is a *PermissionError.
func (c *Client) Minimize(ctx context.Context, comments []claim.Comment) (done int, err error) {
	for part := range slices.Chunk(comments, minimizedAtOnce) {
		d := newDocument()
		d.head = "mutation Minimize"
		for n, m := range part {
			if m.Node != "" {
				d.add("  %s: minimizeComment(input: {subjectId: %s, classifier: OUTDATED}) { minimizedComment { isMinimized } }\n",
					alias("m", n), d.bind("ID!", m.Node))
			}
		}

		if len(d.declared) == 0 {
			continue
		}

		var data map[string]*struct {
			MinimizedComment *struct{ IsMinimized bool }
		}
		got, err := c.ask(hinted(ctx, repeatable), d, &data)

		for _, one := range data {
			if one != nil && one.MinimizedComment != nil && one.MinimizedComment.IsMinimized {
				done++
			}
		}

		for _, e := range got.errors {
			if e := e.typed(); err == nil && !is[*NotFoundError](e) {
				err = e
			}
		}

		if err != nil {
			return done, fmt.Errorf("minimize comments: %w", err)
		}
	}

	return done, nil
}
