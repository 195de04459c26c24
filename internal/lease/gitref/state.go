package gitref

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/printable"
)

// A kind says what a commit of the chain does.
type kind string

const (
	kindClaim kind = "claim" // a new lease; on the tip of one that ran out, its end too
	kindRenew kind = "renew" // the same lease, counted from here
	// the same lease, from a commit made outside the API: it extends nothing (stores.md#references)
	kindPush    kind = "push"
	kindRelease kind = "release" // nobody's
	kindVoid    kind = "void"    // nobody's: a claim on the same parent was given up and can never land
)

// A state is what one commit says, and all that matters of those before it.
type state struct {
	kind   kind
	worker claim.Worker
	nonce  string // of the worker's process; empty when it gave none
	epoch  int64  // number of the lease
	pos    int64  // of the commit in its chain, from 1; 0 is no chain
	token  int64  // of the claim: its pos, or above what the claim had seen
	ttl    time.Duration
	prev   string    // claim, void: whose lease, left to run out, it ended; as records name workers
	dated  time.Time // push: date of the last commit that the server dated
}

// subject is how the first line of every commit begins.
const subject = "label-state: "

// encode is the commit message: for people the first line, then one line of fields.
func (s state) encode() string {
	out := subject + string(s.kind) + "\n\n"
	add := func(key, value string) { out += key + "=" + url.QueryEscape(value) + " " }
	add("codename", s.worker.Codename)
	add("firing_id", s.worker.FiringID)
	if s.nonce != "" {
		add("nonce", s.nonce)
	}

	// rounded up: a lease that lasts longer for others than for its holder does no harm
	ttl := int64((s.ttl + time.Second - 1) / time.Second)
	for _, f := range []struct {
		key   string
		value int64
	}{{"epoch", s.epoch}, {"pos", s.pos}, {"token", s.token}, {"ttl", ttl}} {
		add(f.key, strconv.FormatInt(f.value, 10))
	}

	if s.prev != "" {
		add("prev", s.prev)
		add("outcome", claim.OutcomeStaleSwept)
	}

	if !s.dated.IsZero() {
		add("dated", strconv.FormatInt(s.dated.Unix(), 10))
	}

	return strings.TrimRight(out, " ") + "\n"
}

// decode reads a commit message. Unknown fields are left aside; of two with one name the first
// counts.
func decode(message string) (state, error) {
	first, rest, _ := strings.Cut(message, "\n")
	word, ok := strings.CutPrefix(strings.TrimSpace(first), subject)
	if !ok {
		return state{}, errors.New("the commit is somebody else's")
	}

	f := fields{values: map[string]string{}}
	for _, token := range strings.Fields(rest) {
		key, value, ok := strings.Cut(token, "=")
		text, err := url.QueryUnescape(value)
		if _, known := f.values[key]; ok && err == nil && !known {
			f.values[key] = text
		}
	}

	s := state{
		kind:   kind(word),
		worker: claim.Worker{Codename: f.values["codename"], FiringID: f.values["firing_id"]},
		nonce:  f.values["nonce"],
		epoch:  f.number("epoch"),
		pos:    f.number("pos"),
		token:  f.number("token"),
		prev:   f.values["prev"],
		ttl:    time.Duration(f.number("ttl")) * time.Second,
	}

	switch s.kind {
	case kindClaim, kindRenew, kindRelease, kindVoid:
	case kindPush:
		s.dated = time.Unix(f.number("dated"), 0).UTC()
	default:
		return state{}, fmt.Errorf("a commit of kind %q is newer than this program", printable.Clip(word, 40))
	}

	if f.err == nil && (s.worker.Codename == "" || s.worker.FiringID == "") {
		f.err = errors.New("its worker is missing")
	}

	return s, f.err
}

// fields are the decoded words of a message, with the first thing that was wrong.
type fields struct {
	values map[string]string
	err    error
}

// number reads a field that must be there and above zero. What does not fit a time.Duration in
// seconds is nothing that was ever written.
func (f *fields) number(key string) int64 {
	const most = int64(1) << 33
	n, err := strconv.ParseInt(f.values[key], 10, 64)
	if f.err == nil && (err != nil || n < 1 || n > most) {
		f.err = fmt.Errorf("its %s is %q", key, printable.Clip(f.values[key], 40))
	}
	return n
}

// owned reports whether the commit leaves the issue with a holder, who may be overdue.
func (s state) owned() bool {
	return s.kind == kindClaim || s.kind == kindRenew || s.kind == kindPush
}

// is reports whether the chain's lease is l; one without a token is any lease of its process.
func (s state) is(l lease.Lease) bool {
	if l.Token == 0 {
		return s.ownedBy(lease.Ask{Worker: l.Worker, Nonce: l.Nonce})
	}
	return s.owned() && s.worker == l.Worker && l.Token == s.token
}

// ownedBy reports whether the process that asks has the lease, be it overdue.
func (s state) ownedBy(a lease.Ask) bool {
	return s.owned() && a.Of(lease.Lease{Worker: s.worker, Nonce: s.nonce})
}

// mayTake reports whether the process that asks may take over the lease, of another process of its
// worker.
func (s state) mayTake(a lease.Ask) bool {
	return s.owned() && s.worker == a.Worker && a.Takes == s.token
}

// claim is the next state when w takes the lease.
func (s state) claim(a lease.Ask) state {
	next := state{
		kind:   kindClaim,
		worker: a.Worker,
		nonce:  a.Nonce,
		epoch:  s.epoch + 1,
		pos:    s.pos + 1,
		token:  max(s.pos, s.token, a.Floor()) + 1,
		ttl:    a.TTL,
	}

	if s.owned() {
		next.prev = s.worker.String()
	}

	return next
}

// then is the next state of the same lease, or of none.
func (s state) then(k kind) state {
	s.kind, s.prev, s.dated = k, "", time.Time{}
	s.pos++
	return s
}

// void is the next state when w's claim on this one was given up.
func (s state) void(a lease.Ask) state {
	next := s.claim(a)
	next.kind = kindVoid
	return next
}
