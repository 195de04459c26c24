package simulation

import (
	"fmt"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// cloudAgent is assigned to issues and never does anything.
const cloudAgent = "copilot-swe-agent[bot]"

// open lets contributors into the world, agents in the cloud, and limits on what one may hold.
func (s *shape) open() {
	s.guests, s.action, s.strict, s.rush = true, true, false, false
	s.issues += 2 // for workers and contributors
	s.settings.Rules.AssignedBotTTL = 20 * time.Minute
	s.settings.Rules.Limits = lifecycle.Limits{Holds: 2}
}

// contributors is what they may do there.
func (s shape) contributors() config.Contributors {
	c := config.Default().Contributors
	if s.guests {
		c.Claim, c.PullRequests, c.TTL = config.ContributorsAll, config.PullsClaim, 15*time.Minute
	}
	return c
}

// visit is a contributor's day: commands, talk and pull requests, which they close in the evening.
func (a *actor) visit() {
	var pulls []int
	for {
		a.idle(6 * time.Minute)
		if time.Now().After(a.until) {
			break
		}

		n := 1 + a.rng.IntN(a.issues)
		var err error
		switch what := a.rng.IntN(10); what {
		case 0:
			var pull int
			pull, err = a.server.OpenPull(app, a.name,
				githubsim.Pull{Title: "Fix", Body: fmt.Sprintf("Closes #%d", n), Head: a.name + a.word()})
			pulls = append(pulls, pull)
		case 1:
			err = a.server.Assign(app, n, "olga", cloudAgent)
		default:
			text := []string{"/claim", "/claim", "/take", "/claim", "/release", "Still on it.", "/hold", "> /claim"}[what-2]
			_, err = a.server.AddComment(app, n, a.name, text)
		}

		a.note("#%d is visited: %v", n, err)
		a.oneHolder(n)
	}

	for _, pull := range pulls {
		a.note("closes #%d: %v", pull, a.server.Close(app, pull, a.name))
	}
}

// oneHolder complains about workers who may act while the log says that a person holds the issue.
func (w *world) oneHolder(n int) {
	log := replay(w.comments(n))
	c, held := log.Holder()
	if !held || c.Person == "" || !c.Held() {
		return
	}

	w.mu.Lock()
	defer w.mu.Unlock()
	w.visits++
	for who, h := range w.holds {
		if h.issue.Number == n && h.owns() && !decided(log, who.worker) {
			w.breach("%s and %s hold %s", who, c.Person, h.issue)
		}
	}
}

// commanded reports whether an event is somebody's command, for which a workflow runs.
func commanded(e githubsim.Event) bool {
	return e.Name == "issue_comment" && e.Action == "created" && strings.Contains(string(e.Payload), `"body":"/`)
}
