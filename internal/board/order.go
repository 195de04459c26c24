package board

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// An Act is what an order does.
type Act int

// The acts. TakeOver and End end what somebody else holds, by force.
const (
	Claim Act = iota
	TakeOver
	Release
	End
	Approve
	Reject
	PauseRepo
	Resume
)

// An Order is what a key asks for: a command of this program about one card, or about one
// repository.
type Order struct {
	Act    Act
	Card   Card   // as the person saw it; the zero value when it is about a repository
	Repo   string // owner/name
	Reason string // one line
	Here   bool   // a pause of this host only
}

// acts are the command of each act, and what is said once a snapshot shows what it did.
var acts = [...]struct {
	verb     string
	force    bool
	reasoned bool   // others read a reason in the log, or are refused with it
	done     string // of the card, or of the repository
}{
	Claim:     {verb: "claim", done: "%s is yours"},
	TakeOver:  {verb: "claim", force: true, reasoned: true, done: "%s is yours"},
	Release:   {verb: "release", done: "%s is released"},
	End:       {verb: "release", force: true, reasoned: true, done: "the hold on %s is ended"},
	Approve:   {verb: "approve", done: "the plan on %s is approved"},
	Reject:    {verb: "reject", reasoned: true, done: "the plan on %s is rejected"},
	PauseRepo: {verb: "repo pause", reasoned: true, done: "%s is paused"},
	Resume:    {verb: "repo resume", done: "%s is no longer paused"},
}

// Args are the words of the command that does it, without the program's name.
func (o Order) Args() []string {
	act := acts[o.Act]
	args := append(strings.Fields(act.verb), cmp.Or(o.Repo, o.Card.Issue.String()))
	if act.force {
		args = append(args, "--force")
	}

	if act.reasoned {
		args = append(args, "--reason", o.Reason)
	}

	if o.Here {
		args = append(args, "--local")
	}

	return args
}

// Command is the order as it would be typed into a shell.
func (o Order) Command() string { return command(o.Args()...) }

func command(args ...string) string {
	out := "label-state"
	for _, arg := range args {
		out += " " + printable.ShellWord(arg)
	}
	return out
}

// seen reports whether a snapshot shows what the order did.
func (o Order) seen(r Snapshot) bool {
	switch o.Act {
	case PauseRepo, Resume:
		for _, p := range r.Pauses {
			if p.Repo == o.Repo && p.Here == o.Here {
				return o.Act == PauseRepo
			}
		}
		return o.Act == Resume
	}

	now, there := Card{}, false
	for _, c := range r.Cards {
		if c.Issue == o.Card.Issue {
			now, there = c, true
		}
	}

	switch o.Act {
	case Claim, TakeOver:
		return there && now.isOf(r.Viewer)
	case Release:
		return !now.isOf(r.Viewer)
	case End:
		return now.Worker == "" || now.Worker != o.Card.Worker
	}

	return !now.Plan
}

// A question is an order that waits for a yes, or for its reason.
type question struct {
	Order
	text string
}

// ask is what the key asks for the chosen card. Without an order there is only a text, which says
// why not.
func (v view) ask(key string, c Card) (q question, ok bool) {
	ref := v.ref(c)
	q.Card = c
	switch key {
	case "c":
		switch {
		case c.Lane == lifecycle.LaneDone:
			q.text = ref + " is done: there is nothing to claim"
			return q, false

		case c.isOf(v.snapshot.Viewer):
			q.text = ref + " is yours already"
			return q, false
		case c.Expired:
			q.text = fmt.Sprintf("Claim %s for yourself? The lease of %s has expired.", ref, c.Holder)
		case c.Holder != "":
			q.Act = TakeOver
			q.text = fmt.Sprintf("Take %s from %s by force, for yourself?", ref, c.Holder)
		default:
			q.text = fmt.Sprintf("Claim %s for yourself? Workers will leave it alone.", ref)
		}

		return q, true

	case "r":
		q.Act = Release
		switch {
		case c.isOf(v.snapshot.Viewer) || c.Person && c.Worker == "":
			q.text = fmt.Sprintf("Release %s, so that workers may take it?", ref)
			return q, true
		case c.Holder != "":
			q.text = fmt.Sprintf("%s holds %s, not you; f ends the hold by force", c.Holder, ref)
			return q, false
		}

		q.text = "nobody holds " + ref
		return q, false

	case "f":
		q.Act = End
		switch {
		case c.Holder != "":
			q.text = fmt.Sprintf("End the hold of %s on %s by force?", c.Holder, ref)
		case c.Stranded && c.Cycle == nil:
			q.text = fmt.Sprintf("Start %s over, by force?", ref)
		default:
			q.text = "nobody holds " + ref
			return q, false
		}

		return q, true
	}

	q.Act = Approve
	q.text = fmt.Sprintf("Approve the plan of %s on %s?", c.Holder, ref)
	if key == "x" {
		q.Act = Reject
		q.text = fmt.Sprintf("Reject the plan of %s on %s?", c.Holder, ref)
	}

	if !c.Plan {
		q.text = "no plan is waiting on " + ref
	}

	return q, c.Plan
}

// askPause is what p asks: to pause the chosen card's repository, or to end its pause.
func (v view) askPause() (q question, ok bool) {
	c, chosen := v.chosen()
	switch {
	case chosen:
		q.Repo = c.Issue.Slug()
	case len(v.snapshot.Repos) == 1:
		q.Repo = v.snapshot.Repos[0]
	default:
		q.text = "select a card: the pause applies to its repository"
		return q, false
	}

	for _, p := range v.snapshot.Pauses {
		if strings.EqualFold(p.Repo, q.Repo) {
			q.Act, q.Repo, q.Here = Resume, p.Repo, p.Here
			q.text = fmt.Sprintf("Let workers claim in %s again?", q.Repo)
			return q, true
		}
	}

	q.Act = PauseRepo
	q.text = fmt.Sprintf("Pause %s? Nothing is claimed there until it is resumed; holds go on.", q.Repo)
	return q, true
}
