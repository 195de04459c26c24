package gitrepo

import (
	"fmt"
	"strings"
)

// Zero is the object id that stands for "no object" in a reference update.
const Zero = "0000000000000000000000000000000000000000"

// checkRef accepts full reference names by the rules of git-check-ref-format(1).
func checkRef(name string) error {
	rest, ok := strings.CutPrefix(name, "refs/")
	if !ok || !wellFormed(rest) {
		return fmt.Errorf("reference %q: %w", name, ErrInvalid)
	}
	return nil
}

// wellFormed applies the rules that hold for a whole name and for each of its parts.
func wellFormed(name string) bool {
	if name == "@" || strings.HasPrefix(name, "-") || strings.HasSuffix(name, ".") {
		return false
	}
	if strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.ContainsFunc(name, forbidden) {
		return false
	}

	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}

	return true
}

func forbidden(c rune) bool {
	return c <= ' ' || c == 0x7f || strings.ContainsRune("~^:?*[\\", c)
}

// sha256Length is how long an object id is in a repository with SHA-256, which git may serve from
// Dir, too.
const sha256Length = 64

// checkOID accepts a full id in lower case, SHA-1 or SHA-256.
func checkOID(oid string) error {
	if len(oid) != len(Zero) && len(oid) != sha256Length || strings.Trim(oid, "0123456789abcdef") != "" {
		return fmt.Errorf("object id %q: %w", oid, ErrInvalid)
	}
	return nil
}

// checkObject accepts the id of something, so not Zero.
func checkObject(oid string) error {
	if strings.Trim(oid, "0") == "" {
		return fmt.Errorf("object id %q: %w", oid, ErrInvalid)
	}
	return checkOID(oid)
}

// checkRevision accepts HEAD, an object id, a full reference name or a branch or tag by its short
// name; none of git's revision operators passes.
func checkRevision(rev string) error {
	if !wellFormed(rev) {
		return fmt.Errorf("revision %q: %w", rev, ErrInvalid)
	}
	return nil
}

// checkPath accepts a path inside a tree: relative, without empty, ".", ".." or ".git" parts,
// without NUL and line breaks.
func checkPath(path string) error {
	bad := strings.ContainsAny(path, "\x00\n")
	for part := range strings.SplitSeq(path, "/") {
		bad = bad || part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git")
	}

	if bad {
		return fmt.Errorf("path %q: %w", path, ErrInvalid)
	}

	return nil
}
