package workflow

import (
	"fmt"
	"slices"
	"strings"
)

// without says what does not happen in a repository whose workflow does not run on an event.
var without = []struct{ event, text string }{
	{"schedule", "no sweep ends expired holds"},
	{"pull_request", "labels do not follow pull requests, and the guard does not judge them"},
	{"issues", "changes that people make to labels, and closed issues, are noticed late"},
	{"issue_comment", "neither /claim nor any other command is carried out"},
	{"merge_group", "a merge queue waits for the guard forever"},
}

// defaults are the types of an event of which a workflow names none, where those are not all
// (GitHub's docs, "Events that trigger workflows").
var defaults = map[string][]string{"pull_request": {"opened", "synchronize", "reopened"}}

// Misses lists the events, and the types of events, that the workflow lacks beside Text, each with
// what does not happen for it. guard says that the configuration has pull requests judged.
func (w Workflow) Misses(guard bool) []string {
	full, err := Parse([]byte(example))
	if err != nil {
		return []string{err.Error()}
	}

	var out []string
	for _, one := range without {
		has, runs := w.On[one.event]
		if has == nil {
			has = defaults[one.event]
		}

		var lacks []string
		for _, kind := range full.On[one.event] {
			if has != nil && !slices.Contains(has, kind) {
				lacks = append(lacks, kind)
			}
		}

		switch {
		case one.event == "merge_group" && !guard:
		case !runs:
			out = append(out, fmt.Sprintf("%s (%s)", one.event, one.text))
		case len(lacks) > 0:
			out = append(out, fmt.Sprintf("%s: %s", one.event, strings.Join(lacks, ", ")))
		}
	}

	return out
}

// A Reference is what a step names of an action in another repository.
type Reference struct {
	Repo string // OWNER/NAME
	Ref  string // a branch, a tag or a commit
}

// Refers is what a step's uses names; ok is false for an action of the workflow's own repository,
// or an image.
func Refers(uses string) (r Reference, ok bool) {
	path, ref, found := strings.Cut(uses, "@")
	parts := strings.Split(path, "/")
	if !found || ref == "" || len(parts) < 2 || parts[0] == "." || strings.Contains(path, ":") {
		return Reference{}, false
	}
	return Reference{Repo: parts[0] + "/" + parts[1], Ref: ref}, true
}

// Short reports whether a reference looks like the beginning of a commit's name, which GitHub takes
// nowhere in a workflow.
func (r Reference) Short() bool {
	return len(r.Ref) >= 7 && len(r.Ref) < 40 && strings.Trim(r.Ref, "0123456789abcdef") == ""
}
