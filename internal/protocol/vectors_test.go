package protocol_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/claim/claimtest"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/protocol"
)

// TestVectors shows operations what the files below testdata say and compares what they do.
//
//	== a title
//	op NAME [ARGUMENT…]         the operation; "store" among the arguments: a lease store decides; > says
//	                            why it may not be asked for; "words" among them: what people read is
//	                            shown beside the record
//	labels NAME…                of the issue from here on
//	assigned LOGIN TIME         that login is assigned from here on
//	pull NUMBER                 an open pull request of the branch work, by bot, from here on
//	lease WORKER NONCE          the store has that lease from here on
//	facts WORD…                 of the issue from here on: closed, pull-request, missing, unshown,
//	                            timeless (no server time), bare (its pull request), completed (as
//	                            it was closed), awake (what it waited for is closed)
//	+ COMMENT                   a comment more (claimtest), or one that takes the place of another with its id
//	< SEEN; SEEN… | SEEN…       what the operation is shown, after the effects before, step by step
//	> EFFECTS                   what it does after the last of these; -update writes it
//
// SEEN is one of: begin, waited, read TIME, unread, counts, applied [ID TIME], refused, unknown,
// gone, held, lost, ending, elapsed DURATION, moved LOGIN TIME, unanswered, busy (the login holds
// another issue), late (read hours later), stale (read without the newest comment), found URL
// [bare] (a pull request; bare closes nothing), nothing (no pull request is there).
//
// testdata/otherwise.txt has what else may come of each effect of theirs, again and again, and how
// the operation ends then.
func TestVectors(t *testing.T) {
	files, err := filepath.Glob("testdata/*.vectors")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}

	others := map[string][]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		var b strings.Builder
		v := vector{others: map[string][]string{}}
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "> ") {
				b.WriteString(line)
			}
			if err := v.take(t, &b, strings.TrimSpace(line)); err != nil {
				t.Fatalf("%s: %q: %v", file, strings.TrimSpace(line), err)
			}
		}

		v.otherwise()
		golden.Check(t, file, b.String())
		maps.Copy(others, v.others)
	}

	var b strings.Builder
	for _, at := range slices.Sorted(maps.Keys(others)) {
		before, after, _ := strings.Cut(at, "\n")
		fmt.Fprintf(&b, "%s\n< %s\n%s\n", before, strings.Join(others[at], ", "), after)
	}
	golden.Check(t, "testdata/otherwise.txt", b.String())
}

// A vector is an operation on its way.
type vector struct {
	op       protocol.Operation
	worded   bool            // what people read is shown
	past     []protocol.Seen // what it was shown
	next     func(protocol.Seen) protocol.Effects
	log      []claim.Comment
	labels   []string
	pull     int
	words    []string // of facts
	assigned map[string]time.Time
	now      string // when it was read last
	elapsed  time.Duration
	lease    lease.Lease // that the store has
	asked    lease.Ask   // of the store

	effects protocol.Effects    // that are to be carried out
	others  map[string][]string // what may happen to the effects, by them and by what is done then
}

// otherwise plays what else may come of the effects, up to six times, or until the operation ends,
// and keeps what it does.
func (v vector) otherwise() {
	for _, word := range []string{
		"applied", "refused", "unknown", "gone", "lost", "held", "unread", "unanswered", "ending",
		"unread ending", "unknown ending", "late", "stale",
	} {
		if v.fits(word) == nil || v.effects.Done != nil {
			continue
		}

		did := v.shown(v.effects)
		o, stop := v.fork()
		for n := 0; n < 5 && o.effects.Done == nil; n++ {
			fits := o.fits(word)
			if fits == nil {
				fits = slices.Repeat([]string{"applied"}, len(o.effects.Writes))
				if o.effects.Read {
					fits = append(fits, "read "+o.now)
				}
			}

			seen, _ := o.seen(fits)
			o.effects = o.next(seen)
			did += "\n> " + o.shown(o.effects)
		}

		stop()
		if o.effects.Done != nil && !slices.Contains(v.others[did], word) {
			v.others[did] = append(v.others[did], word)
		}
	}
}

// fork is the vector with the operation begun once more and shown the same.
func (v vector) fork() (vector, func()) {
	next, stop := v.op.Begin()
	v.next = next
	for _, seen := range v.past {
		next(seen)
	}
	return v, stop
}

// fits is what may come of the effects in those words, or nil.
func (v vector) fits(words string) (seen []string) {
	e := v.effects
	writes := len(e.Writes) > 0
	for _, word := range strings.Fields(words) {
		fits := writes
		switch word {
		case "ending":
			fits = e.Wait > 0 || words != word
		case "unread", "late", "stale":
			fits = !writes && e.Read
		case "unanswered":
			fits = !writes && !e.Read && e.Ask != (protocol.Ask{})
		case "lost", "held": // says a store
			fits = writes && e.Writes[0].Kind.Tells()
		}

		switch {
		case !fits:
			return nil
		case !writes || word == "ending":
			seen = append(seen, word)
		case e.Read:
			seen = append(slices.Repeat([]string{word}, len(e.Writes)), "unread")
		default:
			seen = slices.Repeat([]string{word}, len(e.Writes))
		}
	}

	return seen
}

var (
	issue = claim.Issue{Owner: "acme", Repo: "app", Number: 7}
	epoch = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
)

// take follows one line, and writes what the operation does.
func (v *vector) take(t *testing.T, b *strings.Builder, line string) (err error) {
	t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	if verb == "==" || verb == "op" {
		v.otherwise()
	}

	switch verb {
	case "==":
		*v = vector{labels: []string{"agent:implement"}, now: "0:10", others: v.others}
	case "op":
		v.effects, v.past = protocol.Effects{}, nil
		args := strings.Fields(rest)
		v.worded = slices.Contains(args, "words")
		v.op, err = operation(args)
		if answer.Is(err, answer.Usage) {
			fmt.Fprintf(b, "> call: %s\n", err)
			v.op, err = nil, nil
		}
		if v.op != nil {
			next, stop := v.op.Begin()
			t.Cleanup(stop)
			v.next = next
		}
	case "labels":
		v.labels = strings.Fields(rest)
	case "assigned":
		login, at, _ := strings.Cut(rest, " ")
		since, err := claimtest.Time(at)
		v.assigned = map[string]time.Time{login: since}
		return err
	case "facts":
		v.words = strings.Fields(rest)
	case "pull":
		v.pull, err = strconv.Atoi(rest)
	case "lease":
		worker, nonce, _ := strings.Cut(rest, " ")
		codename, run, _ := strings.Cut(worker, ":")
		v.lease = lease.Lease{
			Issue:   issue,
			Worker:  claim.Worker{Codename: codename, FiringID: run},
			Nonce:   nonce,
			TTL:     time.Hour,
			Token:   41,
			Expires: epoch.Add(time.Hour),
		}
	case "+":
		c, err := claimtest.Comment(rest)
		if err != nil {
			return err
		}
		v.log = slices.DeleteFunc(slices.Clone(v.log), func(o claim.Comment) bool { return o.ID == c.ID })
		v.log = append(v.log, c)

	case "<":
		said := ""
		for part := range strings.SplitSeq(rest, " | ") {
			seen, err := v.seen(strings.Split(part, "; "))
			if err != nil {
				return err
			}

			v.otherwise()
			v.past = append(slices.Clip(v.past), seen)
			v.effects = v.next(seen)
			said = v.shown(v.effects)
		}

		fmt.Fprintf(b, "> %s\n", said)
	}

	return err
}

// operation makes the operation that a vector is about.
func operation(args []string) (protocol.Operation, error) {
	rules := lifecycle.DefaultRules()
	rules.Rest, rules.PersonTTL = nil, 168*time.Hour
	c := &protocol.Config{
		Rules:      rules,
		Settle:     2 * time.Second,
		Margin:     10 * time.Second,
		MaxReads:   3,
		Reconciles: 3,
		Assign:     protocol.AssignNone,
	}

	at := func(key string) string {
		for _, a := range args {
			if value, is := strings.CutPrefix(a, key+"="); is {
				return value
			}
		}
		return ""
	}

	if slices.Contains(args, "stages") {
		c.Rules.Scheme = labels.Agent().Pipeline([]labels.Stage{{Name: "ready", Label: "agent:implement"}, {Name: "review", Label: "stage:review"}})
	}
	if at("approver") != "" {
		c.Rules.Approvers = lifecycle.Approvers{at("approver")}
	}
	if slices.Contains(args, "unassign") {
		c.Rules.AssigneeTTL, c.Rules.Unassign = time.Hour, true
	}
	if slices.Contains(args, "assign") {
		c.Assign = protocol.AssignAll
	}
	if slices.Contains(args, "store") {
		c.Store = "redis"
	}
	c.Quiet = slices.Contains(args, "quiet")
	if slices.Contains(args, "rest") {
		c.Rules.Rest = []time.Duration{time.Hour}
	}
	c.Rules.Limits.Holds, _ = strconv.Atoi(at("limit"))
	if at("reconciles") != "" {
		c.Reconciles, _ = strconv.Atoi(at("reconciles"))
	}
	c.Rules.MaxAttempts, _ = strconv.Atoi(at("attempts"))
	c.Rules.ContributorTTL, _ = time.ParseDuration(at("wait"))
	c.Lease, _ = time.ParseDuration(at("lease"))
	codename, run, _ := strings.Cut(at("worker"), ":")
	w := claim.Worker{Codename: codename, FiringID: run}
	token, _ := strconv.ParseInt(at("token"), 10, 64)
	o := protocol.Override{By: at("by"), Reason: at("reason")}
	if at("moment") != "" {
		moment, err := claimtest.Time(at("moment"))
		if err != nil {
			return nil, err
		}
		o.Moment = moment
	}

	switch args[0] {
	case "claim":
		ttl, err := time.ParseDuration(cmp.Or(at("ttl"), "1h"))
		if err != nil {
			return nil, err
		}
		op, err := protocol.NewClaim(c, issue, protocol.Request{
			Worker: w,
			TTL:    ttl,
			Person: at("person"),
			By:     at("by"),
			Branch: at("branch"),
			Bundle: at("bundle"),
			Mine:   at("mine"),
			Resume: slices.Contains(args, "resume"),
			Force:  slices.Contains(args, "force"),

			Earlier: func(o claim.Worker) bool { return o.Codename == at("earlier") },
		}, at("nonce"))
		return op.Run, err

	case "renew":
		var known claim.Claim
		if known.Comment, _ = strconv.ParseInt(at("known"), 10, 64); known.Comment != 0 {
			known.Created = epoch
			known.Record = claim.Record{
				Kind:      claim.KindClaim,
				Worker:    w,
				Nonce:     at("nonce"),
				TTL:       time.Hour,
				Heartbeat: 4,
				Held:      true,
				Token:     41,
			}
		}
		r := protocol.NewRenewal(c, issue, w, token, known, "w0rd")
		r = r.Noting(at("note"))
		if slices.Contains(args, "labels") {
			r = r.Relabeling()
		}
		return r.Run, nil

	case "release":
		e := protocol.Ending{
			Worker:  w,
			Outcome: at("outcome"),
			Token:   token,
			PR:      at("pr"),
			By:      o.By,
			Reason:  o.Reason,
			Done:    slices.Contains(args, "done"),
		}
		if to, named := rules.Scheme.Parse(at("to")); named {
			e.To = &to
		}

		return protocol.NewRelease(c, issue, e), nil
	case "advance":
		return protocol.NewAdvance(c, issue, protocol.Advance{Worker: w, By: at("by"), To: at("to")}, "w0rd"), nil
	case "plan":
		return protocol.NewPlan(c, issue, w, strings.ReplaceAll(at("text"), "_", " "), at("gate")), nil
	case "approve", "reject":
		return protocol.NewAnswer(c, issue, protocol.Answer{
			Kind:    claim.Kind(args[0]),
			Worker:  w,
			By:      o.By,
			Reason:  o.Reason,
			Vouched: slices.Contains(args, "vouched"),
			Moment:  o.Moment,
		}), nil
	case "force":
		return protocol.NewForce(c, issue, o, "w0rd"), nil
	case "revoke":
		return protocol.NewRevoke(c, issue, o), nil
	case "reset":
		return protocol.NewReset(c, issue, o), nil
	case "restart":
		return protocol.NewRestart(c, issue, o, "w0rd"), nil
	case "unlink":
		return protocol.NewUnlink(c, issue, lifecycle.PR{URL: at("pr")}, at("by")), nil
	case "undo":
		return protocol.NewUndo(c, issue, w, at("nonce"), slices.Contains(args, "taken")), nil
	case "tend":
		var answer *protocol.Answer
		if at("answer") != "" {
			answer = &protocol.Answer{Kind: claim.Kind(at("answer")), By: at("by")}
		}
		return protocol.NewTend(c, issue, "sweep-1", answer, "w0rd"), nil
	}

	return nil, fmt.Errorf("no operation %s", args[0])
}

var (
	errLost    = errors.New("the answer was lost")
	errRefused = protocol.NotWritten(errors.New("forbidden"))
	errUnread  = &protocol.UnknownError{Issue: issue, Err: errors.New("bad gateway")}
	errOver    = errors.New("deadline exceeded")
)

// seen reads what the operation is shown.
func (v *vector) seen(parts []string) (s protocol.Seen, err error) {
	for _, part := range parts {
		f := strings.Fields(part)
		result := func(did protocol.Did, err error) {
			s.Results = append(s.Results, protocol.Result{
				Did:      did,
				Err:      err,
				Sent:     v.elapsed,
				Answered: v.elapsed,
			})
		}

		switch f[0] {
		case "begin", "waited", "counts":
		case "found":
			s.Replies.Pull = lifecycle.PR{URL: f[1], Bare: len(f) == 3}
		case "moved":
			s.Replies.Moved = protocol.Removal{By: f[1], Person: !claim.IsApp(f[1])}
			s.Replies.Moved.At, err = claimtest.Time(f[2])
		case "unanswered":
			s.Replies.Err = errLost
		case "nothing":
			s.Replies.Err = &answer.Problem{Code: answer.NoPull, Why: "there is no pull request"}
		case "busy":
			other := *v
			held, err := claimtest.Comment("1 0:00 bot claim a:2 nonce=m ttl=3600 state=held person=bot")
			if err != nil {
				return s, err
			}
			other.log = []claim.Comment{held}
			f, err := other.facts("0:10")
			f.Issue.Number++
			s.Replies.Load, s.Err = lifecycle.Load{Issues: []lifecycle.Facts{f}}, err

		case "lost":
			result(protocol.Refused, lease.ErrLost)
		case "elapsed":
			v.elapsed, err = time.ParseDuration(f[1])
		case "read":
			s.Read, v.now = true, f[1]
			s.Facts, err = v.facts(f[1])
			s.Lease = v.lease
		case "late":
			v.now = "23:00"
			s.Read = true
			s.Facts, err = v.facts(v.now)
			s.Lease = v.lease
		case "stale":
			shows := *v
			shows.log = v.log[:max(0, len(v.log)-1)]
			s.Read = true
			s.Facts, err = shows.facts(v.now)
			s.Lease = v.lease

		case "unread":
			s.Err = errUnread
		case "ending":
			s.Ending = errOver
		case "applied":
			result(protocol.Applied, nil)
			r := &s.Results[len(s.Results)-1]
			if len(f) == 3 {
				r.Comment.ID, _ = strconv.ParseInt(f[1], 10, 64)
				r.Comment.Created, err = claimtest.Time(f[2])
				r.Comment.Updated = r.Comment.Created
			}

			if v.asked.TTL > 0 {
				v.lease = v.asked.Bare()
				v.lease.Token, v.lease.Expires, v.asked = 41, epoch.Add(3*time.Hour), lease.Ask{}
			}

			r.Lease = v.lease
		case "refused":
			result(protocol.Refused, errRefused)
		case "unknown":
			result(protocol.Unknown, errLost)
		case "gone":
			result(protocol.Gone, protocol.ErrGone)
		case "held":
			result(protocol.Refused, &lease.HeldError{Lease: lease.Lease{
				Issue:  issue,
				Worker: claim.Worker{Codename: "b", FiringID: "1"},
			}})
		default:
			err = fmt.Errorf("nothing is seen as %q", f[0])
		}

		if err != nil {
			return s, err
		}
	}

	s.Elapsed = v.elapsed
	return s, nil
}

// facts is a snapshot of the log as it is.
func (v *vector) facts(at string) (lifecycle.Facts, error) {
	now, err := claimtest.Time(at)
	f := lifecycle.Facts{
		Issue:      issue,
		Open:       !slices.Contains(v.words, "closed"),
		Labels:     v.labels,
		Assignees:  slices.Collect(maps.Keys(v.assigned)),
		AssignedAt: v.assigned,
		Log:        claim.Replay(v.log),
		Now:        now,
		Viewer:     "bot",
	}

	f.PullRequest = slices.Contains(v.words, "pull-request")
	if slices.Contains(v.words, "missing") {
		f.Missing = []string{"the comments"}
	}

	if slices.Contains(v.words, "completed") {
		f.StateReason = "completed"
	}

	if slices.Contains(v.words, "awake") {
		closed := issue
		closed.Number = 3
		f.BlockersRead, f.Blockers, f.BlockedAt = true, []lifecycle.Blocker{{Issue: closed}}, epoch
	}

	if slices.Contains(v.words, "unshown") {
		f.Unshown = 1
	}

	if slices.Contains(v.words, "timeless") {
		f.Now = time.Time{}
	}

	if v.pull > 0 {
		f.PRs = []lifecycle.PR{{
			Repo:        "acme/app",
			Number:      v.pull,
			URL:         fmt.Sprintf("https://h/acme/app/pull/%d", v.pull),
			State:       lifecycle.PROpened,
			Author:      "bot",
			Head:        "work",
			DefaultBase: true,
			Bare:        slices.Contains(v.words, "bare"),
		}}
	}

	return f, err
}

// shown words effects.
func (v *vector) shown(e protocol.Effects) string {
	var out []string
	for _, w := range e.Writes {
		text := string(w.Kind)
		switch w.Kind {
		case protocol.WritePost, protocol.WriteEdit:
			line, words, _ := strings.Cut(strings.TrimSuffix(w.Body, printable.Footer), "\n")
			if v.worded {
				line += fmt.Sprintf(" %q", words)
			}
			if w.Kind == protocol.WriteEdit {
				text += fmt.Sprintf(" #%d", w.Comment)
			}

			text += " " + line
			if w.Uncertain {
				text += " in any case"
			}

		case protocol.WriteRelabel:
			for _, name := range w.Labels.Add {
				text += " +" + name
			}
			for _, name := range w.Labels.Remove {
				text += " -" + name
			}
		case protocol.WriteAssign, protocol.WriteUnassign:
			text += " " + w.Login
		case protocol.WriteExtend, protocol.WriteRelease:
			text += " the lease " + w.Lease.Nonce
		case protocol.WriteEnd:
			text += " the lease of " + w.Record.Worker.String()
		case protocol.WriteAcquire:
			v.asked = w.Acquire
			text += fmt.Sprintf(" %s %s for %s", w.Acquire.Worker, w.Acquire.Nonce, w.Acquire.TTL)
			if w.Acquire.Takes > 0 {
				text += fmt.Sprintf(" from %d", w.Acquire.Takes)
			}
			if w.Acquire.Above > 0 {
				text += fmt.Sprintf(" above %d", w.Acquire.Above)
			}
			if w.Acquire.Issue != issue {
				text += " of another issue"
			}
		}

		if w.Optional {
			text += " if it may be"
		}
		out = append(out, text)
	}

	if e.Read {
		out = append(out, "read")
	}

	if e.Ask.Lease {
		out = append(out, "the lease")
	}

	if e.Ask.Here {
		out = append(out, "the host's pause")
	}

	if e.Ask.Pull != "" {
		out = append(out, "is it there?")
	}

	if m := e.Ask.Moved; m != nil {
		out = append(out, fmt.Sprintf("who moved %s, on %t?", m.Label, m.On))
	}

	if e.Ask.Load {
		out = append(out, "what is in progress?")
	}

	if e.Ask.Counts {
		out = append(out, "does it count?")
	}

	switch {
	case e.Spread:
		out = append(out, "wait up to "+e.Wait.String())
	case e.Wait > 0:
		out = append(out, "wait "+e.Wait.String())
	}

	if d := e.Done; d != nil {
		out = append(out, "done: "+ended(d))
	}

	return strings.Join(out, "; ")
}

// ended words a conclusion.
func ended(d *protocol.Conclusion) string {
	var held *protocol.HeldError
	var lost *protocol.LostError
	var late *protocol.LabelsError
	var unknown *protocol.UnknownError
	kind := "ok"
	switch {
	case d.Err == nil:
	case errors.As(d.Err, &late):
		kind = "late"
	case errors.As(d.Err, &held):
		kind = "held"
	case errors.As(d.Err, &lost):
		kind = "lost"
	case errors.As(d.Err, &unknown):
		kind = "unknown"
	case answer.Is(d.Err, answer.Usage):
		kind = "call"
	default:
		kind = "error"
	}

	if held != nil && held.Verdict.Answer != lifecycle.Held {
		kind += ", " + held.Verdict.Answer.String()
	}
	if d.Err != nil {
		kind += ": " + strings.ReplaceAll(d.Err.Error(), "\n", "; ")
	}

	if problem := new(answer.Problem); errors.As(d.Err, &problem) {
		kind += fmt.Sprintf(" (%s)", problem.Code)
	}

	if spent := new(protocol.SpentError); errors.As(d.Err, &spent) {
		kind += ", the key is spent"
	}

	if c := d.Claim.Record; !c.Worker.IsZero() {
		made := claimtest.Clock(d.Claim.Created)
		kind += fmt.Sprintf(", %s of %s with token %d since %s", c.Worker, made, c.Token, d.Since)
	}

	said := func(format string, v any) {
		if v != nil && !reflect.ValueOf(v).IsZero() {
			kind += fmt.Sprintf(format, v)
		}
	}

	of := issue
	switch {
	case late != nil:
		of = late.Issue
	case held != nil:
		of = held.Issue
	case lost != nil:
		of = lost.Issue
	case unknown != nil:
		of = unknown.Issue
	}

	if of != issue || d.Err != nil && late == nil && d.Repair.Issue != issue {
		kind += ", of another issue"
	}

	said(" for %s", d.Term)
	if !d.Until.IsZero() {
		said(" until %s", claimtest.Clock(d.Until))
	}

	said(", by the lease %s", d.Lease.Nonce)
	said(", last comment %d", d.Comment.ID)
	said(", found at %s", d.Comment.URL)
	for _, r := range d.Records {
		said(", wrote %s", r.Kind)
	}
	for _, c := range d.Ended {
		said(", ended %s", c.Record.Worker.String())
	}

	said(", swept %d", d.Swept)
	if d.Mirrored != nil {
		said(", mirrored %s", d.Mirrored.Record.Worker.String())
	}

	said(", answered %t", d.Answered)
	said(", stage %s", d.Stage.Name)
	said(", not assigned: %s", d.Unassigned)
	if r := d.Repair; !r.Change.Empty() || r.Stranded != "" || r.Unproven {
		kind += fmt.Sprintf("; %v +%v -%v = %v because %s", r.Was, r.Change.Add, r.Change.Remove, r.Is, r.Why)
		said(", stranded: %s", r.Stranded)
		said(", unproven %t", r.Unproven)
	}

	return kind
}

// TestStopped: an operation that is stopped is refused everything, and told why.
func TestStopped(t *testing.T) {
	var seen protocol.Seen
	op := protocol.Operation(func(do protocol.Do) protocol.Conclusion {
		seen = do(protocol.Effects{Writes: make([]protocol.Write, 2)})
		return protocol.Conclusion{}
	})
	next, stop := op.Begin()
	next(protocol.Seen{})
	stop()

	if seen.Err == nil || seen.Ending == nil || len(seen.Results) != 2 {
		t.Errorf("%+v", seen)
	}
	for _, r := range seen.Results {
		if r.Did != protocol.Refused || r.Err == nil {
			t.Errorf("%+v", r)
		}
	}
}

func TestVotesAreWorded(t *testing.T) {
	for kind, want := range map[claim.Kind]string{
		claim.KindApprove: "ann approved the plan",
		claim.KindReject:  "ann rejected the plan",
	} {
		if got := (protocol.Vote{Login: "ann", Answer: kind}).String(); got != want {
			t.Errorf("%s: %s", kind, got)
		}
	}
}
