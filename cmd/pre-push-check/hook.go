package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/label-state/label-state/internal/closing"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/dedup"
	"github.com/label-state/label-state/internal/outgoing"
	"github.com/label-state/label-state/internal/setup"
)

// budget is how long everything may take together, as long as no configuration says otherwise
// (hook.md).
const budget = 3 * time.Second

// A hook is one run of the program: what it was given, and nothing it found out.
type hook struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	env            setup.Environment
	environ        []string // for git's own variables
	start          time.Time

	commits []outgoing.Commit // what the first stage found, if it walked
	walked  bool
}

// guard judges the push and says what there is to say. A panic is one more reason why nothing is known.
func (h *hook) guard(ctx context.Context) (code int) {
	defer func() {
		if p := recover(); p != nil {
			code = h.say(h.unknown(fmt.Errorf("internal error: %v", p)))
		}
	}()
	push, err := h.push(ctx)
	if errors.Is(err, errUsage) {
		fmt.Fprint(h.stderr, usage)
		return exitUsage
	}
	if err != nil {
		return h.say(h.unknown(err))
	}
	messages, err := h.scan(ctx, push)
	if err != nil {
		return h.say(h.unknown(inTime(ctx, err)))
	}
	if len(messages) == 0 { // no commit names an issue: whether the push is checked all the same, the configuration says
		if len(outgoing.Branches(push.Updates)) == 0 {
			return exitPass
		}
		if l, bad := h.local(); !l.pulls && (bad == nil || !h.mentionsPulls()) {
			return exitPass
		}
	}
	return h.say(h.check(ctx, push, messages))
}

// scan reads the commits that leave, unless the first stage did, and keeps those that may name an issue. Which host is meant is not known yet, so it keeps
// too many rather than too few.
func (h *hook) scan(ctx context.Context, push outgoing.Push) ([]dedup.Message, error) {
	push.Keep = func(message []byte) bool { return closing.Perhaps(string(message)) }
	var messages []dedup.Message
	add := func(c outgoing.Commit) bool {
		messages = append(messages, dedup.Message{Commit: dedup.Commit{OID: c.OID, Subject: c.Subject()}, Text: string(c.Message), Cut: c.Cut})
		return true
	}
	if h.walked {
		for _, c := range h.commits {
			add(c)
		}
		return messages, nil
	}
	err := outgoing.Commits(ctx, outgoing.Location{Dir: h.env.Dir, Env: h.environ}, push, add)
	return messages, err
}

// unknown is the report of a push of which nothing is known. How that counts the configuration says;
// one that cannot be read lets the push go.
func (h *hook) unknown(err error) dedup.Report {
	l, bad := h.local()
	r := dedup.Report{Unknown: []dedup.Unchecked{{Reason: err.Error()}}}
	if bad == nil {
		r.Policy = l.policy
	}
	return r
}

func policy(conf config.Config) dedup.Policy {
	if conf.Hook.OnUnknown == "refuse" {
		return dedup.Refuse
	}
	return dedup.Allow
}

// say writes the report, in the form that the environment asks for, and returns the exit code.
func (h *hook) say(r dedup.Report) int {
	text := ""
	if h.env.HookJSON() {
		text = dedup.JSON(r)
	} else {
		text = dedup.Text(r, dedup.Style{Color: h.env.Color(h.stderr)})
	}
	_, _ = io.WriteString(h.stderr, text) // nobody is left to tell that nobody listens
	if r.Stops() {
		return exitRefuse
	}
	return exitPass
}

// errLate: the time is over.
var errLate = errors.New("no answer in time (hook.timeout)")

// inTime words the end of the time; what was going on then does not matter.
func inTime(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, context.DeadlineExceeded):
		return errLate
	case cause != nil:
		return cause
	}
	return err
}
