package config

import (
	"strings"
	"time"

	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/printable"
)

// finish completes the settings and checks what only makes sense together.
func (f *file) finish(r *reader) {
	if f.c.Preset == "ready" {
		f.c.Labels = labels.Ready()
	}
	changed := named(&f.labels)
	for i, l := range named(&f.c.Labels) {
		if name := *changed[i].name; name != "" {
			*l.name = name
		}
	}

	f.pipeline(r)
	f.fleet()
	if f.c.Claim.TTL > f.c.Claim.MaxTTL {
		path := "claim.max_ttl"
		if r.has("claim.ttl") {
			path = "claim.ttl"
		}
		problem := "ttl is " + printable.Exact(f.c.Claim.TTL) + " and max_ttl " + printable.Exact(f.c.Claim.MaxTTL)
		r.at(path, problem, "a ttl of at most max_ttl")
	}

	f.settles(r, "claim.ttl", f.c.Claim.TTL)
	f.checkStore(r)
	f.tellApart(r)
}

// settles reports a ttl under which no claim could be decided.
func (f *file) settles(r *reader, path string, ttl time.Duration) {
	if set := f.c.Settings(); ttl < set.Shortest() {
		r.at(path, "is too short for a claim to settle (claim.settle)", printable.Exact(set.Shortest())+" or more")
	}
}

// tellApart reports labels with two meanings, labels that would be taken for bundles, and excluded
// labels with which no issue is eligible, or none whose hold has ended: an issue could never be told
// from one in another state, or be taken.
func (f *file) tellApart(r *reader) {
	all := named(&f.c.Labels)
	for j, b := range all {
		for _, a := range all[:j] {
			if !labels.Same(*a.name, *b.name) || f.c.staged(a.key) || f.c.staged(b.key) {
				continue
			}
			mine, other := "labels."+b.key, "labels."+a.key
			if !r.has(mine) && r.has(other) {
				mine, other = other, mine
			}

			r.at(mine, "is "+quote(*b.name)+", the same label as "+other, "a label of its own")
		}
	}

	p := f.c.Labels.BundlePrefix
	for _, l := range all {
		if l.key == "bundle_prefix" || len(*l.name) <= len(p) || !strings.EqualFold((*l.name)[:len(p)], p) {
			continue
		}
		path := "labels." + l.key
		if !r.has(path) {
			path = "labels.bundle_prefix"
		}

		r.at(path, "label "+quote(*l.name)+" begins like a bundle's, "+quote(p), "labels that do not")
	}

	r.excludes("", f.c.Exclude, f.c.Labels)
	if o := f.c.Contributors; o.Claim == ContributorsLabelled && len(o.Labels) == 0 {
		r.at("contributors.labels", "is empty: no issue could be taken", "labels, or claim: "+ContributorsOff)
	}
}

// whole checks what only the repository's own file can tell: it has the labels that count, and
// says what the keys mean that it leaves out.
func (c Config) whole(r *reader) {
	c.checkSources(r)
	if o := c.Contributors; !o.Open() && (o.PullRequests == PullsWarn || o.PullRequests == PullsFail) {
		r.at("contributors.pull_requests", "is "+quote(o.PullRequests)+", and contributors can claim no issue",
			PullsOff+", or claim: "+ContributorsLabelled+" or "+ContributorsAll)
	}
}

// excludes reports excluded labels with which no issue is eligible, or none whose hold has ended.
// above is the key that has both lists.
func (r *reader) excludes(above string, exclude []string, s labels.Scheme) {
	const shows = "shows a hold and is excluded: what a dead worker held would stay out"
	for _, l := range []struct{ key, name, why string }{
		{"labels.available", s.Available, "is available and excluded: no issue could be taken"},
		{"labels.claimed", s.Claimed, shows},
		{"labels.plan_pending", s.PlanPending, shows},
	} {
		if !labels.Has(exclude, l.name) {
			continue
		}

		path := above + "exclude_labels"
		if above == "" && !r.has(path) {
			path = l.key
		}
		r.at(path, "label "+quote(l.name)+" "+l.why, "different labels")
	}
}
