package claim

import "strings"

// Signature words who wrote a record that names somebody in by=. Anybody whose records count may
// name anybody, so the author is said, too, where it is somebody else: "tria, in the name of olga".
// Apps write for whom they have recognized, and runs of workers and of sweeps are not people.
func Signature(author, by string) string {
	run := strings.Contains(by, ":") || strings.HasPrefix(by, "sweep-")
	if by == "" || author == "" || run || SameLogin(author, by) || strings.HasSuffix(strings.ToLower(author), "[bot]") {
		return by
	}
	return author + ", in the name of " + by
}

// Who words who ended or revoked the claim; empty when its own worker did.
func (r *Release) Who() string { return Signature(r.Author, r.By) }

// Who words who answered the plan.
func (p *Plan) Who() string { return Signature(p.Author, p.By) }
