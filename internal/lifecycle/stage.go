package lifecycle

import "github.com/label-state/label-state/internal/labels"

// staged reports whether the repository works in a pipeline. There a pull request belongs to a
// stage and neither ends a hold nor keeps the next stage from being taken.
func (r Rules) staged() bool { return len(r.Scheme.Stages) > 0 }

// Stage returns the number of the stage that the issue is in: what the log says last, else the
// furthest whose label it has, else the first.
func (r Rules) Stage(f Facts) int {
	n := r.Scheme.Stage(f.Log.Stage)
	if n == len(r.Scheme.Stages)-1 &&
		(f.ReopenedAt.After(f.Log.StageAt) || f.Log.Restart.Created.After(f.Log.StageAt)) {
		return 0
	}

	if n < 0 {
		n = r.Scheme.StageOf(f.Labels)
	}

	return max(n, 0)
}

// StageName returns the stage that an open issue of a pipeline is in, also where failed attempts
// keep it out of that queue; empty for one that is in none.
func (r Rules) StageName(f Facts) string {
	p, _ := r.Label(f)
	n := r.Stage(f)
	if !f.Open || f.PullRequest || n >= len(r.Scheme.Stages)-1 || p.State == labels.None && !r.escalated(f.Log) {
		return ""
	}
	return r.Scheme.Stages[n].Name
}

// through reports whether the log says that the issue went through all stages, and nobody reopened
// it since.
func through(r Rules, f Facts) bool {
	return f.Log.Stage != "" && r.Stage(f) == len(r.Scheme.Stages)-1
}
