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

// The guests: strangers, a member who may only read, and one who may label.
const (
	reader = "reader"
	tia    = "tia"
)

func guests() []string { return []string{"guest-0", "guest-1", reader, tia} }

// open lets contributors into the world, members whose holds end, agents in the cloud, assignments
// that end, and limits on what one may hold.
func (s *shape) open() {
	s.guests, s.action, s.strict, s.rush = true, true, false, false
	s.issues += 3 // for workers, contributors and members
	r := &s.settings.Rules
	r.AssignedBotTTL, r.AssigneeTTL, r.PersonTTL = 20*time.Minute, 30*time.Minute, 25*time.Minute
	r.ContributorTTL = s.contributors().TTL
	r.Unassign = s.number%12 == 2
	r.Limits = lifecycle.Limits{Holds: 2}
}

// contributors is what they may do there.
func (s shape) contributors() config.Contributors {
	c := config.Default().Contributors
	if s.guests {
		c.Claim, c.PullRequests, c.TTL = config.ContributorsAll, config.PullsClaim, 15*time.Minute
	}
	return c
}

// visit is the day of a contributor, or of a member on the site: commands, talk, assignments and
// pull requests, which they close in the evening.
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
			err = a.server.Assign(app, n, "olga", []string{cloudAgent, tia}[a.rng.IntN(2)])
		default:
			text := []string{"/claim", "/claim", "/take", "/claim", "/release", "Still on it.", "/hold", "> /claim"}[what-2]
			_, err = a.server.AddComment(app, n, a.name, text)
		}

		a.note("#%d is visited: %v", n, err)
		a.oneHolder(n)
		a.withinLimit()
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

// withinLimit complains about a contributor with more holds than one login may have. A hold whose
// first ttl is over may have expired, and does not count.
func (a *actor) withinLimit() {
	if a.name == tia {
		return
	}

	rules, held := a.contributors(), 0
	for n := range a.issues {
		c, holds := replay(a.comments(n + 1)).HeldBy(a.name)
		if holds && c.Held() && time.Since(c.Created) < rules.TTL {
			held++
		}
	}

	if held > rules.Limit {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.breach("%s has %d holds, and one login may have %d", a.name, held, rules.Limit)
	}
}

// commanded reports whether an event is somebody's command, for which a workflow runs.
func commanded(e githubsim.Event) bool {
	return e.Name == "issue_comment" && e.Action == "created" && strings.Contains(string(e.Payload), `"body":"/`)
}
