package simulation

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// took notes a new holder: nobody else may believe to hold the issue, and its token is the largest
// ever given. A worker that slept since it won, while somebody ended its hold by decision, is
// excused.
func (w *world) took(h ledger.Hold, owns func() bool) {
	who, n := processOf(h), h.Issue.Number
	w.mu.Lock()
	w.wins++

	// who is taken over is fenced off, and acts until its next check, even if it was still waiting
	// for the answer to its last request
	if w.fenced[who] {
		w.mu.Unlock()
		return
	}
	if from := (process{who.worker, h.Record.Resumes}); from.nonce != "" {
		w.resumed++
		w.fenced[from] = true
		delete(w.holds, from)
	}

	w.holds[who] = holding{h.Issue, owns}
	if last := w.tokens[n]; h.Token <= last && !decided(replay(w.comments(n)), who.worker) {
		w.breach("%s got token %d of %s after %d", who, h.Token, h.Issue, last)
	}

	w.tokens[n] = max(w.tokens[n], h.Token)
	w.mu.Unlock()
	w.alone(who)
}

// alone complains about whoever else believes to hold the issue of a holder. A hold that somebody
// ended by decision is excused until its worker looks: that window is inherent
// (spec-writing.md#revoke-and-force).
func (w *world) alone(who process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	mine, known := w.holds[who]
	if !known || !mine.owns() {
		return
	}

	for other, h := range w.holds {
		if other == who || h.issue != mine.issue || !h.owns() {
			continue
		}
		log := replay(w.comments(h.issue.Number))
		if !w.given[other] && !w.given[who] && !decided(log, other.worker) && !decided(log, who.worker) {
			w.breach("%s and %s hold %s", other, who, h.issue)
		}
	}
}

// decided reports whether a person, or a pull request, ended the worker's hold.
func decided(log claim.State, worker claim.Worker) bool {
	c, _ := log.Find(worker)
	return c.End != nil && (c.End.Outcome == claim.OutcomeForced || c.End.Outcome == claim.OutcomeSuccess &&
		c.End.By != "")
}

// swept complains about a record that releases, for its age, what its holder may still act under.
// The lock is not held.
func (w *world) swept(n int, r claim.Record) {
	if r.Kind != claim.KindRelease || r.Outcome != claim.OutcomeStaleSwept {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()

	for who, h := range w.holds {
		if who.worker == r.Worker && h.issue.Number == n && h.owns() {
			w.breach("%s sweeps %s, which holds %s", r.By, who, h.issue)
		}
	}
}

func (w *world) comments(n int) []githubsim.Comment {
	all, err := w.server.Comments(app, n)
	if err != nil {
		w.breach("read the comments of #%d: %v", n, err)
	}
	return all
}

// replay is what the comments say, which are as GitHub has them and not as anybody saw them.
func replay(all []githubsim.Comment) claim.State {
	in := make([]claim.Comment, len(all))
	for k, c := range all {
		in[k] = claim.Comment{
			ID:      c.ID,
			Created: c.CreatedAt,
			Updated: c.UpdatedAt,
			Author:  c.Author,
			Editor:  c.Editor,
			Body:    c.Body,
			Trusted: c.Author != "mallory",
		}
	}

	return claim.Replay(in)
}

// turned notes the end that a request wrote over a claim. From then on the comment is that end:
// nothing may put the claim back.
func (w *world) turned(r *http.Request, body string, resp *http.Response) {
	var sent struct{ Body string }
	_ = json.Unmarshal([]byte(body), &sent) // a request without a body says nothing
	record, is, err := claim.Decode(sent.Body)
	if r.Method != http.MethodPatch || !is || err != nil || resp == nil || resp.StatusCode != http.StatusOK {
		return
	}

	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case record.Kind == claim.KindRelease:
		w.buried[process{record.Worker, record.Nonce}] = true
	case w.buried[process{record.Worker, record.Nonce}]:
		w.breach("%s lives again", record.Worker)
	}
}

// givenBack notes the holds whose lease a person gives back, or anybody while the issue is closed, by
// a commit of package gitref: an end by decision, also if who gives it back dies before the log
// says so.
func (w *wire) givenBack(r *http.Request, body string) {
	var sent struct{ Message string }
	_ = json.Unmarshal([]byte(body), &sent) // a request without a body says nothing
	if r.Method != http.MethodPost || !strings.HasPrefix(sent.Message, "label-state: release\n") {
		return
	}

	w.mu.Lock()
	defer w.mu.Unlock()
	for who, h := range w.holds {
		i, err := w.server.Issue(app, h.issue.Number)
		decision := w.name == "olga" || err == nil && i.State == "closed"
		if decision && strings.Contains(sent.Message, " nonce="+who.nonce+" ") {
			w.given[who] = true
		}
	}
}

// atRest looks at an issue that nobody works on any more.
func (w *world) atRest(f lifecycle.Facts) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := f.Issue.Number
	if live := f.Log.Live(); len(live) > 0 {
		w.breach("#%d is still held by %s", n, live[0].Record.Worker)
	}

	projection, why := w.settings.Rules.Label(f)
	if change := w.settings.Rules.Scheme.Change(f.Labels, projection); !change.Empty() {
		w.breach("#%d has labels %q and needs %+v: %s", n, f.Labels, change, why)
	}

	if of := w.settings.Rules.Scheme.Of(f.Labels); len(of) > 1 {
		w.breach("#%d has %d lifecycle labels", n, len(of))
	}

	if slices.Contains(f.Labels, w.settings.Rules.Scheme.Name(labels.Claimed)) {
		w.breach("#%d looks held", n)
	}
	v := w.settings.Rules.Verdict(f, lifecycle.Seeker{})
	if w.guests && v.Has(lifecycle.CodeAssigned) {
		w.breach("#%d is kept by an assignment of long ago: %s", n, v)
	}
	if w.settings.Rules.Unassign && f.Open && len(f.Assignees) > 0 {
		w.breach("#%d is assigned to %v, who have not been heard of", n, f.Assignees)
	}
	w.counts(n)
}

// counts compares an issue's records with what was sent. Each that was acknowledged is there. A
// hold costs two comments (spec.md#records): one more for each answer that was lost, and for each
// other process that ended it at the same time.
func (w *world) counts(n int) {
	type hold struct {
		kind   claim.Kind
		worker claim.Worker
	}
	have, heard, unheard, writers := map[hold]int{}, map[hold]int{}, map[hold]int{}, map[hold]int{}
	for _, c := range w.comments(n) {
		r, ok, err := claim.Decode(c.Body)
		// the claim that was posted (spec-writing.md#quiet-comments)
		turned := w.settings.Quiet && r.Kind == claim.KindRelease && c.Editor != ""
		switch {
		case !ok || err != nil || c.Author == "mallory":
		case turned:
			have[hold{claim.KindClaim, r.Worker}]++
		default:
			have[hold{r.Kind, r.Worker}]++
		}
	}

	for k := range w.tries {
		if h := (hold{k.kind, k.worker}); k.issue == n {
			heard[h] += w.heard[k]
			unheard[h] += w.unheard[k]
			writers[h]++
		}
	}

	for h, got := range have {
		switch {
		case got < heard[h] && !w.action: // which takes repeats away
			w.breach("#%d: %d of %d acknowledged %s records of %s are there", n, got, heard[h], h.kind, h.worker)
		case got > writers[h]+unheard[h]:
			w.breach("#%d: %d %s records of %s from %d processes with %d lost answers", n, got, h.kind, h.worker,
				writers[h], unheard[h])
		case writers[h] > w.workers+w.sweepers+1: // each of whom saw it expired before it saw the end
			w.breach("#%d: %d processes say %s of %s", n, writers[h], h.kind, h.worker)
		}

		delete(heard, h)
	}

	for h, lost := range heard {
		if lost > 0 {
			w.breach("#%d: the acknowledged %s record of %s is not there", n, h.kind, h.worker)
		}
	}
}
