package githubsim

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxLabelName        = 50
	maxLabelDescription = 100
	maxLabelsPerIssue   = 100
	defaultLabelColor   = "ededed"
)

var colorPattern = regexp.MustCompile(`^[0-9a-fA-F]{6}$`)

// labelsIn lists the repository's labels that the view has, in the order of their making.
func (r *repository) labelsIn(v view) []label {
	var seen []label
	for _, c := range r.labels {
		if l, ok := c.at(v); ok {
			seen = append(seen, l)
		}
	}

	return seen
}

// label finds a label by name, without case.
func (r *repository) label(v view, name string) (label, bool) {
	for _, c := range r.labels {
		if l, ok := c.at(v); ok && strings.EqualFold(l.name, name) {
			return l, true
		}
	}
	return label{}, false
}

func (r *repository) labelCell(id int64) *cell[label] {
	for _, c := range r.labels {
		if l, ok := c.at(present()); ok && l.id == id {
			return c
		}
	}
	return nil
}

// labelsOf resolves an issue's labels in the view.
func (r *repository) labelsOf(v view, now issue) []label {
	var found []label
	for _, l := range r.labelsIn(v) {
		if slices.Contains(now.labels, l.id) {
			found = append(found, l)
		}
	}

	slices.SortFunc(found, func(a, b label) int {
		return slices.Index(now.labels, a.id) - slices.Index(now.labels, b.id)
	})
	return found
}

func checkLabel(l label) error {
	switch {
	case strings.TrimSpace(l.name) == "":
		return invalid("Label", "name", "missing_field")
	case utf8.RuneCountInString(l.name) > maxLabelName:
		return invalidBecause("Label", "name", "name is too long (maximum is 50 characters)")
	case !colorPattern.MatchString(l.color):
		return invalid("Label", "color", "invalid")
	case l.description != nil && utf8.RuneCountInString(*l.description) > maxLabelDescription:
		return invalidBecause("Label", "description", "description is too long (maximum is 100 characters)")
	}

	return nil
}

// createLabel adds a label to the repository. To a login that may not push there is no such place.
func (st *store) createLabel(who actor, r *repository, l label) (label, error) {
	err := who.need(r, roleWrite)
	if who.account != nil && who.account.kind != "Bot" && !r.archived && err != nil {
		return label{}, notFound()
	}

	if err == nil {
		err = who.mayMakeLabels()
	}

	if err != nil {
		return label{}, err
	}

	return st.addLabel(who, r, l)
}

// mayMakeLabels refuses a token that may write pull requests alone: it puts labels on and makes
// none.
func (who actor) mayMakeLabels() error {
	if who.grants().allow("issues=write") {
		return nil
	}

	return &refusal{
		status:  403,
		message: "You do not have permission to create labels on this repository.",
		errors:  []any{object{"resource": "Repository", "field": "label", "code": "unauthorized"}},
	}
}

func (st *store) addLabel(who actor, r *repository, l label) (label, error) {
	if err := checkLabel(l); err != nil {
		return label{}, err
	}
	if _, taken := r.label(present(), l.name); taken {
		return label{}, invalid("Label", "name", "already_exists")
	}

	l.id, l.created, l.updated = st.nextID("label"), st.moment, st.moment
	l.color = strings.ToLower(l.color)
	kept := &cell[label]{}
	kept.put(st.change(), l)
	r.labels = append(r.labels, kept)
	st.emitLabel(who, r, "created", l, nil)

	return l, nil
}

// updateLabel changes the label of that name by the edit.
func (st *store) updateLabel(who actor, r *repository, name string, edit func(*label)) (label, error) {
	if err := who.need(r, roleWrite); err != nil {
		return label{}, err
	}
	old, ok := r.label(present(), name)
	if !ok {
		return label{}, notFound()
	}

	l := old
	edit(&l)
	if err := checkLabel(l); err != nil {
		return label{}, err
	}
	if other, taken := r.label(present(), l.name); taken && other.id != l.id {
		return label{}, invalid("Label", "name", "already_exists")
	}

	l.color, l.updated = strings.ToLower(l.color), st.moment
	r.labelCell(l.id).put(st.change(), l)
	changes := changedFrom("name", old.name, l.name)
	maps.Copy(changes, changedFrom("color", old.color, l.color))
	st.emitLabel(who, r, "edited", l, changes)

	return l, nil
}

// deleteLabel removes the label from the repository and so from every issue.
func (st *store) deleteLabel(who actor, r *repository, name string) error {
	if err := who.need(r, roleWrite); err != nil {
		return err
	}
	l, ok := r.label(present(), name)
	if !ok {
		return notFound()
	}

	r.labelCell(l.id).remove(st.change())
	st.emitLabel(who, r, "deleted", l, nil)
	return nil
}

// labelIssue puts labels on an issue. A name that the repository does not have becomes a label of
// it.
func (st *store) labelIssue(who actor, t *thread, names []string) error {
	return st.relabel(who, t, t.state.now().labels, names)
}

// relabelIssue makes these the issue's only labels.
func (st *store) relabelIssue(who actor, t *thread, names []string) error {
	return st.relabel(who, t, nil, names)
}

// relabel makes what an issue keeps and what it is to have besides its labels.
func (st *store) relabel(who actor, t *thread, keeps []int64, names []string) error {
	if err := who.need(t.repo, roleTriage); err != nil {
		return err
	}
	wanted, err := st.labelsNamed(who, t.repo, names)
	if err != nil {
		return err
	}

	return st.setLabels(who, t, union(keeps, wanted))
}

// unlabelIssue takes one label off an issue.
func (st *store) unlabelIssue(who actor, t *thread, name string) error {
	if err := who.need(t.repo, roleTriage); err != nil {
		return err
	}
	l, ok := t.repo.label(present(), name)
	have := t.state.now().labels
	if !ok || !slices.Contains(have, l.id) {
		return &refusal{status: 404, message: "Label does not exist"}
	}

	return st.setLabels(who, t, without(have, []int64{l.id}))
}

// labelsNamed returns the ids of the labels, making those that are missing.
func (st *store) labelsNamed(who actor, r *repository, names []string) ([]int64, error) {
	ids := make([]int64, 0, len(names))
	for _, name := range names {
		l, ok := r.label(present(), name)
		if !ok {
			err := who.mayMakeLabels()
			if err != nil {
				return nil, err
			}
			if l, err = st.addLabel(who, r, label{name: name, color: defaultLabelColor}); err != nil {
				return nil, err
			}
		}

		ids = append(ids, l.id)
	}

	return ids, nil
}

// setLabels makes these the issue's labels, with a line of timeline and a webhook for each that
// came or went.
func (st *store) setLabels(who actor, t *thread, ids []int64) error {
	if len(ids) > maxLabelsPerIssue {
		return invalidBecause("Issue", "labels", "issue has too many labels (maximum is 100)")
	}
	now := t.state.now()
	added, removed := without(ids, now.labels), without(now.labels, ids)
	if len(added)+len(removed) == 0 {
		return nil
	}

	now.labels = ids
	st.touch(t, now)
	st.recordLabels(who, t, "labeled", added)
	st.recordLabels(who, t, "unlabeled", removed)

	return nil
}

func (st *store) recordLabels(who actor, t *thread, kind string, ids []int64) {
	for _, id := range ids {
		kept := t.repo.labelCell(id)
		if kept == nil {
			continue
		}

		st.record(t, event{kind: kind, actor: who.account, label: kept.now()})
		l := kept.now()
		st.emitThread(who, t, kind, func() object { return object{"label": st.labelJSON(t.repo, l)} })
	}
}

// union appends what is new in more, keeping the order.
func union(have, more []int64) []int64 {
	all := slices.Clone(have)
	for _, id := range more {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}

	return all
}

// without returns have less the ids in drop.
func without(have, drop []int64) []int64 {
	var left []int64
	for _, id := range have {
		if !slices.Contains(drop, id) {
			left = append(left, id)
		}
	}

	return left
}
