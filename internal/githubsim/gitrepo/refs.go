package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// A Ref is one reference: its full name, and the id and type ("commit", "tag", "tree", "blob") of
// what it points at.
type Ref struct{ Name, OID, Type string }

// A RefUpdate is one part of a transaction. Before is what the reference must be now: Zero when it
// must not exist, empty when anything will do. After is what it shall be: Zero to delete it. Unless
// Force is set, a commit that replaces another must contain it.
type RefUpdate struct {
	Name, Before, After string
	Force               bool
}

// Ref returns what the reference points at; ok is false when there is none.
func (r *Repo) Ref(ctx context.Context, name string) (oid string, ok bool, err error) {
	if err := checkRef(name); err != nil {
		return "", false, fmt.Errorf("read ref: %w", err)
	}
	if oid, ok := r.looseRef(name); ok {
		return oid, oid != "", nil
	}

	out, err := r.git(ctx, call{args: []string{"show-ref", "--verify", "--hash", "--", name}})
	var failed *gitError
	if errors.As(err, &failed) && strings.Contains(failed.stderr, "not a valid ref") {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read ref %s: %w", name, err)
	}

	return line(out), true, nil
}

// Refs lists the references whose full names start with prefix ("" for all), in the order of their
// names. The prefix need not end at a slash: "refs/heads/fea" finds refs/heads/feature, as GitHub's
// matching-refs does.
func (r *Repo) Refs(ctx context.Context, prefix string) ([]Ref, error) {
	folder := path.Dir(prefix)
	if checkRef(folder) != nil {
		folder = "refs"
	}

	refs, ok := r.looseRefs(folder)
	if !ok {
		var err error
		if refs, err = r.packedRefs(ctx, folder); err != nil {
			return nil, fmt.Errorf("list refs: %w", err)
		}
	}

	return slices.DeleteFunc(refs, func(ref Ref) bool { return !strings.HasPrefix(ref.Name, prefix) }), nil
}

// packedRefs has git list the references below a folder of names, wherever they are.
func (r *Repo) packedRefs(ctx context.Context, folder string) ([]Ref, error) {
	out, err := r.git(ctx, call{args: []string{
		"for-each-ref", "--format=%(refname) %(objectname) %(objecttype)",
		folder,
	}})
	refs := []Ref{}
	for text := range strings.Lines(string(out)) {
		if fields := strings.Fields(text); len(fields) == 3 {
			refs = append(refs, Ref{Name: fields[0], OID: fields[1], Type: fields[2]})
		}
	}

	return refs, err
}

// CreateRef makes a reference. Of many callers at one moment exactly one succeeds, the others get
// ErrExists. An id that is not in the repository is ErrNoObject, a branch on something else than a
// commit ErrWrongType.
func (r *Repo) CreateRef(ctx context.Context, name, oid string) error {
	if err := checkObject(oid); err != nil {
		return fmt.Errorf("create ref: %w", err)
	}
	err := r.transact(ctx, []RefUpdate{{Name: name, Before: Zero, After: oid}})
	if errors.Is(err, ErrConflict) {
		if _, ok, again := r.Ref(ctx, name); again == nil && ok {
			return fmt.Errorf("create ref %s: %w", name, ErrExists)
		}
	}

	return wrap("create ref "+name, err)
}

// UpdateRef points an existing reference at oid. Without force the new commit must contain the old
// one (ErrNotFastForward). A missing reference is ErrNotFound.
func (r *Repo) UpdateRef(ctx context.Context, name, oid string, force bool) error {
	if err := checkObject(oid); err != nil {
		return fmt.Errorf("update ref: %w", err)
	}
	before, err := r.mustRef(ctx, name)
	if err != nil {
		return fmt.Errorf("update ref: %w", err)
	}

	return wrap("update ref "+name, r.UpdateRefs(ctx, []RefUpdate{{
		Name:   name,
		Before: before,
		After:  oid,
		Force:  force,
	}}))
}

// DeleteRef removes a reference; a missing one is ErrNotFound.
func (r *Repo) DeleteRef(ctx context.Context, name string) error {
	before, err := r.mustRef(ctx, name)
	if err != nil {
		return fmt.Errorf("delete ref: %w", err)
	}
	return wrap("delete ref "+name, r.transact(ctx, []RefUpdate{{Name: name, Before: before, After: Zero}}))
}

// UpdateRefs applies all updates or none. A reference that is not as Before says is ErrConflict; a
// commit that does not contain the one it replaces, without Force, is ErrNotFastForward.
func (r *Repo) UpdateRefs(ctx context.Context, updates []RefUpdate) error {
	pinned := make([]RefUpdate, 0, len(updates))
	for _, u := range updates {
		if !u.Force {
			var err error
			if u, err = r.fastForward(ctx, u); err != nil {
				return fmt.Errorf("update refs: %s: %w", u.Name, err)
			}
		}

		pinned = append(pinned, u)
	}

	return wrap("update refs", r.transact(ctx, pinned))
}

// fastForward checks u against the reference as it is now and, when Before was left open, pins it
// to that, so that the transaction fails if the reference moves in between.
func (r *Repo) fastForward(ctx context.Context, u RefUpdate) (RefUpdate, error) {
	now, ok, err := r.Ref(ctx, u.Name)
	if err != nil {
		return u, err
	}

	if !ok {
		now = Zero
	}

	if u.Before == "" {
		u.Before = now
	}

	if u.Before != now || now == Zero || u.After == Zero || u.After == now {
		return u, nil
	}
	if err := r.mustObject(ctx, u.After); err != nil {
		return u, err
	}

	contains, err := r.IsAncestor(ctx, now, u.After)
	if err == nil && !contains {
		err = ErrNotFastForward
	}

	return u, err
}

func (r *Repo) mustRef(ctx context.Context, name string) (string, error) {
	oid, ok, err := r.Ref(ctx, name)
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", name, ErrNotFound)
	}
	return oid, err
}

// transact hands the updates to git as one transaction.
func (r *Repo) transact(ctx context.Context, updates []RefUpdate) error {
	var script strings.Builder
	script.WriteString("start\n")
	for _, u := range updates {
		if err := u.check(); err != nil {
			return err
		}
		script.WriteString(u.command())
	}

	script.WriteString("prepare\ncommit\n")
	_, err := r.git(ctx, call{args: []string{"update-ref", "--no-deref", "--stdin"}, stdin: []byte(script.String())})
	return refError(err)
}

func (u RefUpdate) check() error {
	if err := checkRef(u.Name); err != nil {
		return err
	}
	if err := checkOID(u.After); err != nil || u.Before == "" {
		return err
	}

	return checkOID(u.Before)
}

// command is the update as git update-ref reads it. Zero is never spelled out: it has another
// length with SHA-256.
func (u RefUpdate) command() string {
	switch {
	case u.After == Zero && u.Before == Zero:
		return "verify " + u.Name + "\n"
	case u.After == Zero:
		return strings.TrimRight("delete "+u.Name+" "+u.Before, " ") + "\n"
	case u.Before == Zero:
		return "create " + u.Name + " " + u.After + "\n"
	}

	return strings.TrimRight("update "+u.Name+" "+u.After+" "+u.Before, " ") + "\n"
}

// refError finds the reason in what git update-ref says in the C locale.
func refError(err error) error {
	var failed *gitError
	if !errors.As(err, &failed) {
		return err
	}

	for _, known := range []struct {
		text   string
		reason error
	}{
		{"nonexistent object", ErrNoObject},
		{"invalid <", ErrNoObject}, // an id of the other hash
		{"non-commit object", ErrWrongType},
		{"reference already exists", ErrConflict},
		{"reference is missing", ErrConflict},
		{"unable to resolve reference", ErrConflict},
		{"but expected", ErrConflict},
		{"exists; cannot create", ErrConflict},
		{"cannot process", ErrConflict},
		{"multiple updates for", ErrConflict},
	} {
		if strings.Contains(failed.stderr, known.text) {
			return fmt.Errorf("%w: %w", known.reason, err)
		}
	}

	return err
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
