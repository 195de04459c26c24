package config

import (
	"cmp"
	"maps"
	"slices"

	"github.com/label-state/label-state/internal/labels"
)

// A WorkSource says where an agent takes its work from. What is empty is the repository's own.
type WorkSource struct {
	Type       string   // github
	Repo       string   // owner/name; empty is the repository of the file
	Ready      string   // label of the queue
	InProgress string   // label of what is claimed
	Exclude    []string // labels besides the repository's that keep an issue from this agent
	KeepFailed bool     // what failed goes to a person, instead of back to the queue
	TokenEnv   string   // environment variable with the token
}

// An agent is one entry of a fleet as it is written.
type agent struct {
	WorkSource
	cleanup bool
}

// newAgent is an entry that sets nothing.
func newAgent() *agent {
	return &agent{WorkSource: WorkSource{Type: "github"}, cleanup: true}
}

// keys is the format of an entry.
func (a *agent) keys() rule {
	source := object(
		key{"type", "Kind of source.", word(&a.Type, "github")},
		key{"repo", "Repository (default: the one of this file).", text(&a.Repo, repository())},
		key{"labels", "Label names of a repository without a configuration of its own.", object(
			key{"ready", "Eligible for pickup.", text(&a.Ready, label())},
			key{"in_progress", "A worker holds it.", text(&a.InProgress, label())},
		)},
		key{
			"exclude_labels",
			"Labels, besides the repository's, that keep an issue from this agent.",
			texts(&a.Exclude, label()),
		},
		key{
			"cleanup_on_failure",
			"Whether what failed goes back to the queue; else a person must look.",
			truth(&a.cleanup),
		},
		key{"auth", "How to sign in.", object(
			key{"token_env", "Environment variable with the token.", text(&a.TokenEnv, variable())},
		)},
	)

	return object(key{"work_source", "Where work comes from.", source})
}

// source is what an entry says.
func (a *agent) source() WorkSource {
	w := a.WorkSource
	w.KeepFailed = !a.cleanup
	return w
}

// fleet takes over the defaults and the agents, who began with the defaults.
func (f *file) fleet() {
	f.c.Work = f.defaults.source()
	for name, a := range f.agents {
		if f.c.Agents == nil {
			f.c.Agents = map[string]WorkSource{}
		}
		f.c.Agents[name] = a.source()
	}
}

// checkSources checks the entries of a fleet in the file of the reader.
func (c Config) checkSources(r *reader) {
	c.checkSource(r, "defaults.work_source", c.Work)
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		c.checkSource(r, join("agents", name)+".work_source", c.Agents[name])
	}
}

// checkSource reports a queue that cannot be told from what is claimed, and excluded labels with
// which no issue is eligible, where the entry itself says so. Of another repository the file knows
// the labels that the entry names.
func (c Config) checkSource(r *reader, path string, w WorkSource) {
	named := r.has(path + ".labels")
	if named && w.Ready != "" && labels.Same(w.Ready, w.InProgress) {
		r.at(path+".labels.in_progress", "is "+quote(w.InProgress)+", the same label as ready", "another label")
	}

	s := c.Labels
	if w.Repo != "" {
		s = labels.Scheme{}
	}
	s.Available, s.Claimed = cmp.Or(w.Ready, s.Available), cmp.Or(w.InProgress, s.Claimed)
	if named || r.has(path+".exclude_labels") {
		r.excludes(path+".", w.Exclude, s)
	}
}

// Source returns where an agent takes its work from: its own entry, else the defaults. known
// reports whether it has an entry.
func (c Config) Source(agent string) (w WorkSource, known bool) {
	if w, known = c.Agents[agent]; known {
		return w, true
	}
	return c.Work, false
}

// Named returns the configuration with an agent's label names for its queue. A file that decides
// the names already must agree, unless free says that they may be laid over it. file is what errors
// call it; the error is an *Error.
func (c Config) Named(file, ready, inProgress string, free bool) (Config, error) {
	r := newReader(file)
	lay := func(key, have, want string) string {
		if want != "" && !labels.Same(have, want) && !free {
			r.problem(0, "labels."+key, "is "+quote(have)+", and the work source says "+quote(want), "the same in both")
		}
		if want == "" {
			return have
		}

		return want
	}

	c.Labels.Available = lay("available", c.Labels.Available, ready)
	c.Labels.Claimed = lay("claimed", c.Labels.Claimed, inProgress)
	if len(r.problems) == 0 {
		newFile(&c).tellApart(r)
	}

	if err := r.err(); err != nil {
		return Config{}, err
	}

	return c, nil
}
