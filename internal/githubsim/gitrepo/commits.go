package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Signature says who and when, to the second and with the zone's offset.
type Signature struct {
	Name, Email string
	When        time.Time
}

// A Commit as git stores it. Message is verbatim. OID is filled when reading only.
type Commit struct {
	OID, Tree         string
	Parents           []string
	Message           string
	Author, Committer Signature
}

// A Tag is an annotated tag: a name and a message for the object Target of type Type ("commit" when
// empty).
type Tag struct {
	Name, Target, Type string
	Message            string
	Tagger             Signature
}

// WriteCommit stores a commit and returns its id. The tree and the parents must exist (ErrNoObject)
// and be what they are called (ErrWrongType).
func (r *Repo) WriteCommit(ctx context.Context, c Commit) (string, error) {
	want := map[string]string{c.Tree: "tree"}
	head := "tree " + c.Tree + "\n"
	for _, parent := range c.Parents {
		want[parent] = "commit"
		head += "parent " + parent + "\n"
	}

	if err := r.mustBe(ctx, want); err != nil {
		return "", fmt.Errorf("write commit: %w", err)
	}
	if strings.Contains(c.Message, "\x00") {
		return "", fmt.Errorf("write commit: message with a NUL byte: %w", ErrInvalid)
	}

	text := fmt.Sprintf("%sauthor %s\ncommitter %s\n\n%s", head, c.Author, c.Committer, c.Message)
	// git says what it thinks of others
	if len(c.Tree) == len(Zero) && c.Author.When.Unix() >= 0 && c.Committer.When.Unix() >= 0 {
		oid, err := plantObject(r.Dir, "commit", []byte(text))
		return oid, wrap("write commit", err)
	}

	out, err := r.git(ctx, call{args: []string{"hash-object", "-t", "commit", "-w", "--stdin"}, stdin: []byte(text)})
	return line(out), wrap("write commit", err)
}

// mustBe is ErrNoObject or ErrWrongType unless each id is that of an object of the given type.
func (r *Repo) mustBe(ctx context.Context, types map[string]string) error {
	for oid, want := range types {
		if err := r.mustObject(ctx, oid); err != nil {
			return err
		}
		o, err := r.object(ctx, oid)
		if err != nil {
			return err
		}
		if o.kind != want {
			return fmt.Errorf("%s is a %s: %w", oid, o.kind, ErrWrongType)
		}
	}

	return nil
}

// WriteTag stores an annotated tag object and returns its id; it creates no reference.
func (r *Repo) WriteTag(ctx context.Context, t Tag) (string, error) {
	if err := checkRef("refs/tags/" + t.Name); err != nil {
		return "", fmt.Errorf("write tag: %w", err)
	}
	o, err := r.object(ctx, t.Target)
	if checkObject(t.Target) != nil || err != nil {
		return "", fmt.Errorf("write tag: %s: %w", t.Target, errors.Join(ErrNoObject, err))
	}
	if t.Type != "" && t.Type != o.kind {
		return "", fmt.Errorf("write tag: %s is a %s: %w", t.Target, o.kind, ErrWrongType)
	}

	text := fmt.Sprintf("object %s\ntype %s\ntag %s\ntagger %s\n\n%s", t.Target, o.kind, t.Name, t.Tagger, t.Message)
	out, err := r.git(ctx, call{args: []string{"mktag"}, stdin: []byte(text)})
	return line(out), wrap("write tag", err)
}

// ReadTag returns the annotated tag with this id; another object's id is ErrWrongType.
func (r *Repo) ReadTag(ctx context.Context, oid string) (Tag, error) {
	data, err := r.typed(ctx, oid, "tag")
	if err != nil {
		return Tag{}, fmt.Errorf("read tag: %w", err)
	}

	head, message, _ := strings.Cut(string(data), "\n\n")
	t := Tag{Message: message}
	for text := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimRight(text, "\n"), " ")
		switch key {
		case "object":
			t.Target = value
		case "type":
			t.Type = value
		case "tag":
			t.Name = value
		case "tagger":
			t.Tagger = parseSignature(value)
		}
	}

	return t, nil
}

// revision is what a commit may be called: the name of a reference, or hexadecimal digits of an id.
var revision = regexp.MustCompile(`^(refs/(heads|tags)/[0-9A-Za-z][0-9A-Za-z._/-]*|[0-9a-f]{4,40})$`)

// Commit is the id of the commit that a reference, or the beginning of an id, stands for; a tag is
// followed. It is ErrNotFound where there is none.
func (r *Repo) Commit(ctx context.Context, name string) (string, error) {
	if !revision.MatchString(name) {
		return "", ErrNotFound
	}
	o, err := r.object(ctx, name+"^{commit}")
	return o.oid, err
}

// ReadCommit returns the commit with this id. An unknown id is ErrNoObject, another object's
// ErrWrongType.
func (r *Repo) ReadCommit(ctx context.Context, oid string) (Commit, error) {
	data, err := r.typed(ctx, oid, "commit")
	if err != nil {
		return Commit{}, fmt.Errorf("read commit: %w", err)
	}
	return parseCommit(oid, data), nil
}

func (r *Repo) typed(ctx context.Context, oid, kind string) ([]byte, error) {
	if err := checkObject(oid); err != nil {
		return nil, err
	}
	o, err := r.object(ctx, oid)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, fmt.Errorf("%s: %w", oid, ErrNoObject)
	case err == nil && o.kind != kind:
		return nil, fmt.Errorf("%s is a %s: %w", oid, o.kind, ErrWrongType)
	}

	return o.data, err
}

func parseCommit(oid string, data []byte) Commit {
	head, message, _ := bytes.Cut(data, []byte("\n\n"))
	c := Commit{OID: oid, Message: string(message)}
	for text := range strings.Lines(string(head)) {
		key, value, _ := strings.Cut(strings.TrimRight(text, "\n"), " ")
		switch key {
		case "tree":
			c.Tree = value
		case "parent":
			c.Parents = append(c.Parents, value)
		case "author":
			c.Author = parseSignature(value)
		case "committer":
			c.Committer = parseSignature(value)
		}
	}

	return c
}

// Between lists the commits that head reaches and base does not, parents before children; with base
// empty or Zero, everything that head reaches.
func (r *Repo) Between(ctx context.Context, base, head string) ([]Commit, error) {
	if err := r.mustObject(ctx, head); err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	args := []string{"rev-list", "--topo-order", "--reverse", head}
	if base != "" && base != Zero {
		if err := r.mustObject(ctx, base); err != nil {
			return nil, fmt.Errorf("list commits: %w", err)
		}
		args = append(args, "^"+base)
	}

	out, err := r.git(ctx, call{args: args})
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}

	return r.readCommits(ctx, out)
}

// readCommits reads many commits with one process; ids has one id a line.
func (r *Repo) readCommits(ctx context.Context, ids []byte) ([]Commit, error) {
	out, err := r.git(ctx, call{args: []string{"cat-file", "--batch"}, stdin: ids})
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}

	commits := []Commit{}
	for len(out) > 0 {
		head, rest, _ := bytes.Cut(out, []byte("\n"))
		fields := strings.Fields(string(head))
		if len(fields) != 3 {
			return nil, fmt.Errorf("list commits: %q: %w", head, ErrNotFound)
		}

		size, err := strconv.Atoi(fields[2])
		if err != nil || size >= len(rest) {
			return nil, fmt.Errorf("list commits: %q: %w", head, ErrInvalid)
		}

		commits = append(commits, parseCommit(fields[0], rest[:size]))
		out = rest[size+1:]
	}

	return commits, nil
}

// IsAncestor reports whether descendant contains ancestor; a commit contains itself, and nothing
// that is not a commit contains anything.
func (r *Repo) IsAncestor(ctx context.Context, ancestor, descendant string) (bool, error) {
	for _, oid := range []string{ancestor, descendant} {
		if err := r.mustObject(ctx, oid); err != nil {
			return false, fmt.Errorf("compare commits: %w", err)
		}
	}

	if r.parentOf(ancestor, descendant) {
		return true, nil
	}
	_, err := r.git(ctx, call{args: []string{"merge-base", "--is-ancestor", ancestor, descendant}})
	var failed *gitError
	if errors.As(err, &failed) {
		return false, nil
	}

	return err == nil, wrap("compare commits", err)
}

func (s Signature) date() string {
	return strconv.FormatInt(s.When.Unix(), 10) + s.When.Format(" -0700")
}

// String is the signature in git's own form; characters that would end a field are left out.
func (s Signature) String() string {
	clean := strings.NewReplacer("<", "", ">", "", "\n", " ", "\x00", "")
	return clean.Replace(s.Name) + " <" + clean.Replace(s.Email) + "> " + s.date()
}

func parseSignature(text string) Signature {
	name, rest, _ := strings.Cut(text, "<")
	email, date, _ := strings.Cut(rest, ">")
	s := Signature{Name: strings.TrimSpace(name), Email: email}
	fields := strings.Fields(date)
	if len(fields) != 2 {
		return s
	}

	seconds, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return s
	}

	s.When = time.Unix(seconds, 0).UTC()
	if zone, err := time.Parse("-0700", fields[1]); err == nil {
		s.When = s.When.In(zone.Location())
	}

	return s
}
