package config

import (
	"maps"
	"slices"
	"strconv"

	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/printable"
)

// stagePrefix begins the labels of all stages but the last (spec.md#names).
const stagePrefix = "stage:"

func stageName() form {
	return form{allowed: "a stage: up to 40 of a-z 0-9 _ -", pattern: `^[a-z0-9][a-z0-9_-]*$`, longest: 40}
}

// pipeline makes the scheme of a repository with stages.
func (f *file) pipeline(r *reader) {
	if f.c.Preset != "stages" {
		for _, key := range []string{"stages", "stage_ttl"} {
			if r.has(key) {
				r.at(key, "stages without their preset", "preset: stages")
			}
		}
		return
	}
	if len(f.stages) < 2 {
		r.at("stages", "is "+printable.Count(len(f.stages), "stage", "stages"), "two stages or more; the last one is done")
		return
	}

	var out []labels.Stage
	for n, name := range f.stages {
		s := labels.Stage{Name: name, Label: stagePrefix + name, TTL: f.ttls[name]}
		if n == len(f.stages)-1 {
			s.Label = name
		}

		if name != "" && slices.Contains(f.stages[:n], name) {
			r.at("stages["+strconv.Itoa(n)+"]", "is "+quote(name)+", which is a stage already", "a name of its own")
		}

		if s.TTL > f.c.Claim.MaxTTL {
			problem := "is " + printable.Exact(s.TTL) + " and claim.max_ttl " + printable.Exact(f.c.Claim.MaxTTL)
			r.at("stage_ttl."+name, problem, "at most claim.max_ttl")
		}
		if s.TTL > 0 && n < len(f.stages)-1 {
			f.settles(r, "stage_ttl."+name, s.TTL)
		}

		out = append(out, s)
	}

	for _, name := range slices.Sorted(maps.Keys(f.ttls)) {
		at := slices.Index(f.stages, name)
		if at < 0 || at == len(f.stages)-1 {
			r.at("stage_ttl."+name, "no stage in which anybody works", "one of the stages but the last")
		}
	}

	f.c.Labels = f.c.Labels.Pipeline(out)
	for _, key := range []string{"labels.available", "labels.done"} {
		if r.has(key) {
			r.at(key, "a pipeline's stages name it", "leave it out")
		}
	}

	for n, s := range out { // one whose label means something else as well
		for _, l := range named(&f.c.Labels) {
			if !f.c.staged(l.key) && labels.Same(*l.name, s.Label) {
				problem := "has the label " + quote(s.Label) + ", the same as labels." + l.key
				r.at("stages["+strconv.Itoa(n)+"]", problem, "a label of its own")
			}
		}
	}
}

// staged reports whether a pipeline's stages are what gives the label of that key its name.
func (c *Config) staged(key string) bool {
	return len(c.Labels.Stages) > 0 && (key == "available" || key == "done")
}
