package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
)

const term = 2 * time.Minute

// An act is a part of a worker's life with a hold; false ends the life.
type act func(*actor) bool

// worker claims once and then does what the acts say, as long as it holds the issue.
func worker(name string, acts ...act) role {
	return role{name: name, kind: fmt.Sprint("worker ", len(acts)), life: func(a *actor) { a.work(1, acts) }}
}

// human is a person who claims: a hold without an end.
func human(name string, acts ...act) role {
	return role{name: name, kind: fmt.Sprint("human ", len(acts)), life: func(a *actor) {
		a.person = true
		a.work(1, acts)
	}}
}

// guest is a person whose hold ends by itself, as a contributor's does.
func guest(name string, acts ...act) role {
	return role{name: name, kind: fmt.Sprint("guest ", len(acts)), life: func(a *actor) {
		a.person, a.guest = true, true
		a.work(1, acts)
	}}
}

// holder is a worker that has the issue already.
func holder(name string, acts ...act) role {
	return role{
		name: name,
		kind: "holder",
		life: func(a *actor) { a.work(1, acts) },
		has:  true,
	}
}

// again is a worker that claims so many times, each time under a new key.
func again(name string, times int, acts ...act) role {
	return role{name: name, kind: "worker", life: func(a *actor) {
		for n := 1; n <= times && !a.crashed; n++ {
			a.work(n, acts)
		}
	}}
}

// twin is a process of a run that others claim for as well, all with one key.
func twin(name string, acts ...act) role {
	return role{name: name, kind: fmt.Sprint("twin ", len(acts)), life: func(a *actor) {
		a.shared = true
		a.work(1, acts)
	}}
}

// crashedTwin is a process of the run that has the issue and is gone.
func crashedTwin(name string) role {
	return role{
		name: name,
		kind: "crashed twin",
		has:  true,
		life: func(a *actor) {
			a.shared = true
			a.work(1, nil)
			a.hold = nil
		},
	}
}

// holderTwin is a process of the run that has the issue.
func holderTwin(name string, acts ...act) role {
	r := twin(name, acts...)
	r.kind, r.has = "holder twin", true
	return r
}

// resumer is a process of the run that takes over what another one holds.
func resumer(name string, acts ...act) role {
	return role{name: name, kind: fmt.Sprint("resumer ", len(acts)), life: func(a *actor) {
		a.shared, a.resumes = true, true
		a.work(1, acts)
	}}
}

func (a *actor) work(n int, acts []act) {
	w := claim.Worker{Codename: a.name, FiringID: fmt.Sprint(a.name, n)}
	if a.shared {
		w = claim.Worker{Codename: "kay", FiringID: "k1"}
	}

	a.labels = 0
	req := ledger.Request{Worker: w, TTL: term, Resume: a.resumes}
	if a.person {
		req.Person = "bot" // the login of all comments here
	}
	if a.person && !a.guest {
		req.TTL = claim.NoExpiry
	}

	h, err := a.ledger.Claim(context.Background(), issue, req)
	if a.crashed {
		return
	}

	a.took(h, err)
	for _, act := range acts {
		if a.hold == nil || !act(a) || a.crashed {
			return
		}
	}
}

// took notes the answer to a claim, and what holds of it at once.
func (a *actor) took(h ledger.Hold, err error) {
	var held *ledger.HeldError
	var late *ledger.LabelsError
	p := a.run
	if errors.As(err, &held) && (held.Yielded != nil || held.Shared) && a.labels > 0 {
		p.broken = fmt.Errorf("%s lost and wrote %d labels", a.name, a.labels)
	}

	if err != nil && !errors.As(err, &late) {
		a.tell("claim", err)
		return
	}

	if h.Token <= p.token && !p.scenario.tokenless {
		p.broken = errors.Join(p.broken, fmt.Errorf("token %d of %s is not above %d", h.Token, a.name, p.token))
	}
	p.token = max(p.token, h.Token)
	p.wins++
	if h.Record.Resumes != "" {
		p.resumed = append(p.resumed, h.Record.Resumes)
	}

	a.hold = &h
	a.tell("claim", err)
}

// idle is time under the hold.
func idle(a *actor) bool { return a.step("work", func(*scriptedServer) {}) }

// renew is one heartbeat, at any moment.
func renew(a *actor) bool {
	if !idle(a) {
		return false
	}
	h, err := a.ledger.Keep(context.Background(), *a.hold)
	if a.crashed {
		return false
	}

	a.kept(h, err)
	return a.hold != nil
}

func (a *actor) kept(h ledger.Hold, err error) {
	var lost *ledger.LostError
	switch {
	case err == nil:
		a.hold = &h
	case errors.As(err, &lost):
		a.hold = nil
	}

	a.tell("renew", err)
}

// release ends the belief and then the hold.
func release(a *actor) bool {
	if !idle(a) {
		return false
	}
	w, token := a.hold.Record.Worker, a.hold.Token
	a.hold = nil
	_, err := a.ledger.Release(context.Background(), issue,
		ledger.Ending{Worker: w, Token: token, Outcome: claim.OutcomeCancelled})
	if !a.crashed {
		a.tell("release", err)
	}

	return false
}

// push asks the log, then pushes; what the caller cannot wait for it takes as not done
// (spec-writing.md#acting-under-a-hold).
func push(a *actor) bool {
	if !idle(a) {
		return false
	}
	f, err := a.Facts(context.Background(), issue)
	c, _ := f.Log.Find(a.hold.Record.Worker)
	if err != nil || !c.Live() || !c.Held() || c.Revoked != nil || !a.owns() {
		return false
	}

	return a.ask(request{verb: "push", text: a.name}).err == nil
}

// sweeper sweeps so many times.
func sweeper(name string, times int) role {
	return role{name: name, kind: "sweeper", life: func(a *actor) {
		for n := 0; n < times && a.step("start", func(*scriptedServer) {}); n++ {
			a.ledger.Sweep(context.Background(), scan{a},
				ledger.Sweep{Repos: []claim.Repo{{Owner: "o", Name: "r"}}, By: name})
			if !a.crashed {
				a.tell("sweep", nil)
			}
		}
	}}
}

// reconciler brings the labels in line once.
func reconciler(name string) role {
	return role{name: name, kind: "reconciler", life: func(a *actor) {
		if a.step("start", func(*scriptedServer) {}) {
			_, err := a.ledger.Reconcile(context.Background(), issue, name)
			a.tell("reconcile", err)
		}
	}}
}

// A deed is one thing that a person does to the issue.
type deed struct {
	verb string
	act  func(*scriptedServer)
}

// person does one deed after the other, at any moment.
func person(deeds ...deed) role {
	return role{name: "olga", kind: "person", life: func(a *actor) {
		for _, d := range deeds {
			a.step(d.verb, d.act)
		}
	}}
}

func adds(label string) deed {
	return deed{"adds " + label, func(s *scriptedServer) { s.commit(s.stamp("add", 0, label)) }}
}

func removes(label string) deed {
	return deed{"removes " + label, func(s *scriptedServer) { s.commit(s.stamp("remove", 0, label)) }}
}

func closes() deed {
	return deed{"closes", func(s *scriptedServer) { s.commit(s.stamp("close", 0, "")) }}
}

func reopens() deed {
	return deed{"reopens", func(s *scriptedServer) { s.commit(s.stamp("open", 0, "")) }}
}

// deletes removes the n-th comment, if there is one.
func deletes(n int) deed {
	return deed{fmt.Sprint("deletes ", n), func(s *scriptedServer) {
		if e, ok := s.comment(n); ok {
			s.commit(s.stamp("delete", e.id, ""))
		}
	}}
}

// edits adds a word to the n-th comment, if there is one.
func edits(n int) deed {
	return deed{fmt.Sprint("edits ", n), func(s *scriptedServer) {
		if e, ok := s.comment(n); ok {
			s.commit(s.stamp("rewrite", e.id, e.text+" Fine."))
		}
	}}
}

// replies quotes the n-th comment, if there is one.
func replies(n int) deed {
	return deed{fmt.Sprint("quotes ", n), func(s *scriptedServer) {
		if e, ok := s.comment(n); ok {
			s.commit(s.stamp("comment", 0, "> "+e.text+"\n\nFine."))
		}
	}}
}

// comment returns the n-th comment that was posted.
func (s *scriptedServer) comment(n int) (entry, bool) {
	for _, e := range s.log {
		if e.what == "comment" {
			if n--; n == 0 {
				return e, true
			}
		}
	}

	return entry{}, false
}

// operator ends the current hold, at once, or asks its holder to stop.
func operator(do func(a *actor) error) role {
	return role{name: "olga", kind: "operator", life: func(a *actor) {
		if a.step("start", func(*scriptedServer) {}) {
			err := do(a)
			if !a.crashed {
				a.tell("operator", err)
			}
		}
	}}
}

func forces(a *actor) error {
	_, _, err := a.ledger.Force(context.Background(), issue, "olga", "now")
	return err
}

func revokes(a *actor) error {
	_, err := a.ledger.Revoke(context.Background(), issue, "olga", "please")
	return err
}

var holdLabel = labels.Agent().Hold
