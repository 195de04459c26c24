package agenthost

import (
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// retry is how long after an attempt that found nothing out the next one waits.
const retry = 30 * time.Second

// refused is how long the next one waits where GitHub did answer: the issue may not be claimed now.
const refused = 5 * time.Minute

// A Beat is what a machine knows of a hold besides its claim: which session keeps it alive, and
// when it was last extended. Times are the machine's, and all may be zero.
type Beat struct {
	Session Session   `json:"-"`                // whose events renew it; zero until one has
	Claimed time.Time `json:"claimed,omitzero"` // when it was claimed
	Renewed time.Time `json:"renewed,omitzero"` // before the request that last extended the lease
	Tried   time.Time `json:"tried,omitzero"`   // when it could last not be extended; zero when that went well
	Ended   time.Time `json:"ended,omitzero"`   // when its session ended; zero while it has not
	Passed  bool      `json:"passed,omitempty"` // its session ended for the one that follows it in this worktree

	// why it is somebody else's, or a person ended it; empty as long as GitHub has not said so
	Lost string `json:"lost,omitempty"`
	// why it could not be claimed again after it had expired; empty since it was, or was not tried
	Refused string `json:"refused,omitempty"`
	Unsure  bool   `json:"unsure,omitempty"` // the session knows that nothing can be found out
	Tell    string `json:"tell,omitempty"`   // what the session is told at its next event; empty for nothing
}

// A Hold is what a worktree has recorded of one of its claims.
type Hold struct {
	Issue  claim.Issue
	Worker claim.Worker
	TTL    time.Duration // negative never expires
	Beat
	Gone   bool // the process of its session's host is gone
	Beside bool // another session of the same process sends the event
	Good   bool // GitHub has said just now that it stands
}

// expires returns the end of the lease by this machine's clock; zero is never.
func (h Hold) expires() time.Time {
	if h.TTL < 0 {
		return time.Time{}
	}
	return h.Renewed.Add(h.TTL)
}

// Expired reports whether the lease is over by this machine's clock. A clock that was set back
// knows nothing.
func (h Hold) Expired(now time.Time) bool { return h.TTL >= 0 && !now.Before(h.expires()) }

// Alive reports whether the hold stands as far as the record knows.
func (h Hold) Alive(now time.Time) bool { return h.Lost == "" && !h.Expired(now) }

// due reports whether a heartbeat is due, or the clock was set back and nobody knows. A hold that
// never expires has none.
func (h Hold) due(now time.Time) bool {
	if h.Lost != "" || h.TTL < 0 {
		return false
	}
	pause := retry
	if h.Refused != "" {
		pause = refused
	}

	if wait := now.Sub(h.Tried); !h.Tried.IsZero() && wait >= 0 && wait < pause {
		return false
	}
	gone := now.Sub(h.Renewed)

	return gone < 0 || gone >= claim.HeartbeatDue(h.TTL)
}

// A World is what is known on this machine when an event comes.
type World struct {
	Now   time.Time
	Mine  []Hold // of the session, in whatever worktree
	Here  []Hold // of the worktrees that the event is about, whosever they are
	Known bool   // the event is about a repository that uses label-state
	Claim bool   // sessions.require_claim, for an edit of a worktree

	Unusable string // why the configuration that says so cannot be used; empty if it can
}

// A Plan is what an event asks for. The zero Plan is that there is nothing to do.
type Plan struct {
	Adopt  []claim.Issue // holds that no session keeps alive yet: this one does from now on
	Renew  []claim.Issue // heartbeats that are due
	Verify []claim.Issue // holds to be looked at now
	Show   []claim.Issue // holds to be described from one snapshot
	End    []claim.Issue // holds whose session ends: to release, if nothing was done under them
	Pass   []claim.Issue // holds whose session ends for the next one
}

// Nothing reports whether the plan asks for nothing.
func (p Plan) Nothing() bool {
	return len(p.Adopt)+len(p.Renew)+len(p.Verify)+len(p.Show)+len(p.End)+len(p.Pass) == 0
}

// Decide returns what an event asks for. Events of other sessions never extend a hold.
func Decide(e Event, w World) Plan {
	switch {
	case e.Kind == Ignored || e.Session.ID == "":
		return Plan{}
	case e.Kind == SessionEnd:
		return atEnd(e, w)
	}

	var p Plan
	for _, h := range w.Mine {
		if e.Kind == SessionStart && !h.Ended.IsZero() { // it is resumed
			p.Adopt = append(p.Adopt, h.Issue)
		}

		p.keep(h, w.Now, e.publishes() && h.Lost == "" && slices.ContainsFunc(w.Here, h.is))
	}

	for _, h := range w.Here {
		switch {
		case e.Kind == SessionStart:
			p.Show = append(p.Show, h.Issue)
			if h.follows(e) {
				p.Adopt = append(p.Adopt, h.Issue)
			}
		case (h.Session.IsZero() || h.follows(e)) && h.Alive(w.Now):
			p.Adopt = append(p.Adopt, h.Issue)
			p.keep(h, w.Now, e.publishes())
		}
	}

	return p
}

// atEnd is what the end of a session asks for. It takes up no hold: its own go on with the session
// that follows it in the worktree, or are released.
func atEnd(e Event, w World) Plan {
	var p Plan
	for _, h := range w.Mine {
		switch {
		case e.clears() && h.Lost == "":
			p.Pass = append(p.Pass, h.Issue)
		case h.Alive(w.Now):
			p.End = append(p.End, h.Issue)
		}
	}

	return p
}

// keep renews a hold of the session whose heartbeat is due. One that is not is looked at if a push
// from its worktree needs that.
func (p *Plan) keep(h Hold, now time.Time, pushed bool) {
	switch {
	case h.due(now):
		p.Renew = append(p.Renew, h.Issue)
	case pushed:
		p.Verify = append(p.Verify, h.Issue)
	}
}

// publishes reports whether a push is about to be made.
func (e Event) publishes() bool { return e.Kind == BeforeTool && e.Call == Publishes }

// is reports whether two records are of one hold of one session.
func (h Hold) is(o Hold) bool { return o.Issue.Same(h.Issue) && o.Session == h.Session }

// follows reports whether the session goes on with the hold of another one, which the same person
// had in the same process. Not every host says at the end that it is no other: what has ended while
// the process goes on has, and who starts because a conversation was cleared. Of a host that says so
// at the end the holds of the cleared session have passed, and its others are at work.
func (h Hold) follows(e Event) bool {
	if h.Session.Host != e.Session.Host || h.Session == e.Session || h.Lost != "" {
		return false
	}
	return h.Passed || h.Beside && (!h.Ended.IsZero() || e.clears() && !e.Session.Host.Profile().passes)
}

// Denies returns the reason for which a tool call may not be made, or "". Holds are as they are
// after what the plan asked for. Only what is known denies: that a hold of this session, of the
// worktree that is written, is lost; and where the repository wants a claim first, that there is
// none. A push is the other way round: the session's hold there has to be known to stand. Where it
// has none, the hook judges the push.
func Denies(e Event, w World) string {
	if e.Kind != BeforeTool || e.Call == Reads {
		return ""
	}

	for _, h := range w.Here {
		if h.Session != e.Session {
			continue
		}

		switch {
		case h.Lost != "":
			return lost(h.Issue, h.Lost)
		case e.Call == Publishes && !e.Vague && !h.Good:
			return unproven(h, w.Now)
		}
	}

	alive := slices.ContainsFunc(w.Here,
		func(h Hold) bool { return h.Alive(w.Now) || h.Lost == "" && h.Session == e.Session })
	if e.Call == Edits && w.Claim && !alive {
		if w.Unusable != "" {
			return unclaimed + ". The configuration cannot be used: " + w.Unusable
		}
		return unclaimed
	}

	return ""
}
