package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// byCommand signs what was done along with a command.
const byCommand = "command"

// How a command is acknowledged.
const (
	reactYes = "+1"
	reactNo  = "confused"
)

// A no is the answer to a command that makes no sense now.
type no struct{ text string }

func (n no) Error() string { return n.text }

// A verb is a command that a comment can give, with all that differs between commands.
type verb struct {
	name    string
	words   bool // may follow
	takes   bool // makes a hold of the commenter's
	gives   bool // ends it
	answers bool // says something, and moves no label

	do func(*commands, context.Context, order, *result) error
}

// verbs are the commands; helpText tells people of them. A contributor may give those that make or
// end a hold of the commenter's own, or only answer.
func verbs() []verb {
	return []verb{
		{name: "/claim", takes: true, do: (*commands).claim},
		{name: "/take", takes: true, do: (*commands).claim}, // another word for it
		{name: "/release", gives: true, words: true, do: (*commands).release},
		{name: "/approve", do: (*commands).approve},
		{name: "/reject", words: true, do: (*commands).reject},
		{name: "/hold", do: (*commands).keepOff},
		{name: "/unhold", do: (*commands).unhold},
		{name: "/requeue", do: (*commands).requeue},
		{name: "/help", answers: true, do: (*commands).help},
	}
}

// helpText tells of the commands of an issue, or of a pull request.
func helpText(pull bool) string {
	what, more := "issue", ", `/approve`, `/reject why`, `/requeue`"
	if pull {
		what, more = "pull request", ""
	}

	return "\nA command is the first line of a new comment:\n\n" +
		"- `/claim` or `/take`: you hold the " + what + ", and nobody else takes it\n" +
		"- `/release`: your hold ends; maintainers can end an agent's hold with it, too\n" +
		"- for maintainers: `/release --force`, `/hold`, `/unhold`" + more
}

// A command is what the first line of a comment asks for.
type command struct {
	verb
	text    string
	surplus bool // there are words where the command takes none

	wrong string // what was written, where it only begins like the verb
}

// open reports whether people may give the command whose records do not count.
func (v verb) open() bool { return v.takes || v.gives || v.answers }

// written is the command's first word, as it stands in the comment.
func (c command) written() string { return cmp.Or(c.wrong, c.name) }

const wordsLimit = 300 // characters of a reason that are kept

// parseCommand reads the first line of a comment, which begins with the command's slash as the
// workflow asks for, in any case: a phone begins a comment with a capital. ok is false for ordinary
// talk and for other tools' commands.
func parseCommand(body string) (c command, ok bool) {
	if !strings.HasPrefix(body, "/") {
		return c, false
	}
	line, _, _ := strings.Cut(body, "\n")
	words := strings.Fields(line)
	asked := strings.ToLower(words[0])

	for _, v := range verbs() {
		if asked == v.name {
			text := plain(printable.Short(strings.Join(words[1:], " "), wordsLimit))
			return command{verb: v, text: text, surplus: text != "" && !v.words}, true
		}

		rest, begins := strings.CutPrefix(asked, v.name)
		if begins && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz") == "" {
			c = command{verb: v, wrong: asked}
		}
	}

	return c, c.wrong != ""
}

// An order is a command with everything that it is about.
type order struct {
	command
	facts lifecycle.Facts
	by    string
	at    time.Time     // of the comment: what began later is not meant
	ttl   time.Duration // of a hold that it makes

	run     string // the key of that hold is the login's with this run
	nonce   string
	force   bool // younger pull requests of others are passed over
	outside bool // a contributor's, who ends nobody else's hold and takes no label off
}

// worker is who has that hold.
func (o order) worker() claim.Worker { return claim.Worker{Codename: o.by, FiringID: o.run} }

// byComment is the run of a hold that a comment asked for.
const byComment = "comment-%d"

// ordered is the order of the event's comment. The comment is the run of a hold that it makes, so
// that a second delivery is the same claim.
func (cm *commands) ordered(cmd command, f lifecycle.Facts, ttl time.Duration) order {
	c := cm.Event.Comment
	return order{
		command: cmd,
		facts:   f,
		by:      c.User.Login,
		at:      c.Created,
		ttl:     ttl,
		run:     fmt.Sprintf(byComment, c.ID),
		nonce:   nonceOf(c.ID),
	}
}

// commands obeys what the comment of a step's event asks for.
type commands struct {
	*Step

	sweeping bool // the comment waited for the sweep, which counts the commands of strangers
	takeBack bool // it takes back what the same login asked for before, carried out or not
}

// commands obey the comment of the event, with a step of their own. In a dry run they come as far as
// the first request that would write.
func (s *Step) commands() *commands {
	own := *s
	return &commands{Step: &own}
}

// run obeys a slash command on an issue. The comment is acknowledged by a reaction, which is
// also how a second delivery knows that all is done.
func (cm *commands) run(ctx context.Context) result {
	var r result
	c := cm.Event.Comment
	cmd, ok := cm.Event.command()
	if !ok {
		r.leave("no command for label-state")
		return r
	}

	viewer, err := cm.Hub.Viewer(ctx)
	if err != nil {
		return result{err: err}
	}

	reactions, err := cm.Hub.Reactions(ctx, cm.Repo, c.ID, viewer)
	switch {
	case absent(err):
		r.leave("the comment is gone")
		return r
	case err != nil:
		return result{err: err}
	case slices.Contains(reactions, reactYes): // by a run whose labels may be late
		r.leave("%s was carried out by an earlier run", cmd.name)
		r.add(cm.tend(ctx, []claim.Issue{cm.Repo.Issue(cm.Event.Issue.Number)}, byCommand))
		return r
	case slices.Contains(reactions, reactNo):
		r.leave("%s was answered by an earlier run", cmd.name)
		return r
	}

	may, err := cm.Hub.MayLabel(ctx, cm.Repo, c.User.Login)
	switch {
	case err != nil:
		r.err = err
	case !may && cmd.wrong != "": // another tool's, perhaps
		r.leave("no command for label-state")
	case !may && !cm.contributes(cmd):
		r.leave("%s may not label this repository: %s was ignored", c.User.Login, cmd.name)
		r.err = cm.react(ctx, c, reactNo)
	default:
		cm.carryOut(ctx, cmd, !may, &r)
	}

	if absent(r.err) {
		r.leave("%s", r.err)
		r.err = nil
	}

	return r
}

// carryOut obeys a command and answers it. What cannot be done is said once; what went wrong on the
// way is not answered, so that the run can be repeated, nor is what waits for the sweep.
func (cm *commands) carryOut(ctx context.Context, cmd command, contributor bool, r *result) {
	c := cm.Event.Comment
	i := cm.Repo.Issue(cm.Event.Issue.Number)
	obey, mark, since := cm.obey, replyMark(c.ID), c.Created
	if contributor {
		since = day(c.Created)
		obey, mark = cm.contribute, contributorMark(c.User.Login, since)
	}

	err := obey(ctx, i, cmd, r)
	said := fmt.Sprintf("%s by %s on %s", cmd.written(), c.User.Login, i)
	var refused no
	switch {
	case errors.Is(err, errCrowded), errors.Is(err, errChatter):
		r.note("%s waits for the sweep: %s", said, err)
	case cm.dry() && errors.As(err, &refused):
		r.note("%s would be refused: %s", said, refused)
	case cm.dry() && (err == nil || ledger.IsUnsent(err)):
		r.note("%s would be carried out", said)
	case err == nil:
		r.note("%s", said)
		r.err = cm.react(ctx, c, reactYes)

	case errors.As(err, &refused):
		r.note("%s was refused: %s", said, refused)
		r.err = cm.reply(ctx, i, cmd, refused, mark, since)
		// On a locked conversation, or by the token, there may be no words; else a repeated run
		// says them.
		if _, barred := errors.AsType[*github.PermissionError](r.err); r.err == nil || barred {
			r.err = errors.Join(r.err, cm.react(ctx, c, reactNo))
		}
	default:
		r.err = fmt.Errorf("%s on %s: %w", cmd.name, i, err)
	}
}

// command is what the event's comment asks for: a new comment, by a person, on an issue or a pull
// request.
func (e Event) command() (cmd command, ok bool) {
	c := e.Comment
	if c == nil || e.Action != "created" || e.Issue.Number == 0 || c.App != nil || !c.User.person() {
		return cmd, false
	}
	return parseCommand(c.Body)
}

// obey carries a command out and brings the issue's labels in line.
func (cm *commands) obey(ctx context.Context, i claim.Issue, cmd command, r *result) error {
	if cmd.surplus {
		return no{cmd.name + " takes no arguments"}
	}
	if cmd.wrong != "" {
		return no{"there is no such command; " + cmd.name + " is one, and /help lists all"}
	}
	facts, err := cm.facts(ctx, i)
	if err != nil {
		return err
	}

	err = cmd.do(cm, ctx, cm.ordered(cmd, facts, claim.NoExpiry), r)
	if err != nil && !ledger.IsUnsent(err) || cmd.answers {
		return err
	}
	r.add(cm.tend(ctx, []claim.Issue{i}, byCommand))

	return nil
}

func (cm *commands) react(ctx context.Context, c *Comment, content string) error {
	if cm.dry() {
		return nil
	}
	return unlessAbsent(cm.Hub.React(ctx, cm.Repo, c.ID, content))
}

// reply says why a command was not carried out, in one comment for each mark.
func (cm *commands) reply(ctx context.Context, i claim.Issue, cmd command, why no, mark string, since time.Time) error {
	body := replyBody(mark, cmd.written(), cm.Event.Comment.User.Login, why)
	return cm.say(ctx, i, since, mark, body)
}

// say makes our own comments since a moment that begin with the mark be exactly want: one, which is
// edited where it says something else, because that notifies nobody; or none. Of two that were
// posted at once the first stays.
func (p Place) say(ctx context.Context, i claim.Issue, since time.Time, mark, want string) error {
	own, err := p.ours(ctx, i, since, mark)
	if err != nil {
		return err
	}

	if want != "" && len(own) == 0 {
		if _, err := p.Hub.Comment(ctx, i, want); err != nil {
			return err
		}
		if own, err = p.ours(ctx, i, since, mark); err != nil { // somebody may have spoken at the same time
			return err
		}
	}

	for n, c := range own {
		switch {
		case n > 0 || want == "":
			err = p.Hub.DeleteComment(ctx, i, c.ID)
		case c.Body != want:
			_, err = p.Hub.EditComment(ctx, i, c.ID, want)
		}

		if err != nil {
			return err
		}
	}

	return nil
}

// help lists the commands, once for each issue and day.
func (cm *commands) help(ctx context.Context, o order, _ *result) error {
	today := day(cm.Event.Comment.Created)
	mark := "<!-- label-state:help day=" + today.Format(time.DateOnly) + " -->"
	return cm.say(ctx, o.facts.Issue, today, mark, mark+helpText(o.facts.PullRequest)+printable.Footer)
}

// day is when the day of a moment begins, in UTC.
func day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// replyMark is how the reply to a comment is found again. It is not a record.
func replyMark(comment int64) string {
	return fmt.Sprintf("<!-- label-state:reply comment=%d -->", comment)
}

func replyBody(mark, verb, login string, why no) string {
	return fmt.Sprintf("%s\n`%s` by **%s** was not carried out: %s.%s", mark, verb, markdown(login), markdown(why.text),
		printable.Footer)
}

// ours lists our own comments since a moment that begin with the mark, oldest first.
func (p Place) ours(ctx context.Context, i claim.Issue, since time.Time, mark string) ([]claim.Comment, error) {
	viewer, err := p.Hub.Viewer(ctx)
	if err != nil {
		return nil, err
	}

	all, err := p.Hub.Comments(ctx, i, since)
	return slices.DeleteFunc(all, func(c claim.Comment) bool {
		return !strings.EqualFold(c.Author, viewer) || !strings.HasPrefix(c.Body, mark)
	}), err
}

// claim is a person's hold: a claim like any other, which we, an App or the commenter, write for
// the commenter.
func (cm *commands) claim(ctx context.Context, o order, r *result) error {
	if mine, holds := cm.Ledger.Rules().HeldNow(o.facts, o.by); holds {
		err := cm.Ledger.Assign(ctx, o.facts, mine)
		if errors.Is(err, ledger.ErrUnassignable) {
			return nil
		}
		return err
	}
	viewer := o.facts.Viewer
	if !claim.IsApp(viewer) && !claim.SameLogin(viewer, o.by) { // docs/spec.md, People: such a person would be ignored
		cm.Console.warn("%s cannot claim through the token of %s; leave the input token out, or set it to an App's token", o.by, viewer)
		return no{"the Action's token is " + viewer +
			"'s, and only an App may record a claim for somebody else; in the workflow, leave the input token out, or set it to an App's token"}
	}

	w := o.worker()
	if w.Validate() != nil {
		return no{"a record cannot name a login of this form"}
	}

	h, err := cm.Ledger.Claim(ctx, o.facts.Issue, ledger.Request{
		Worker: w,
		TTL:    o.ttl,
		Person: o.by,
		By:     o.by,
		Nonce:  o.nonce,
		Force:  o.force,
	})
	var held *ledger.HeldError
	var lost *ledger.LostError
	var late *ledger.LabelsError
	switch {
	case errors.As(err, &held):
		return no{heldText(held, o.outside)}
	case errors.As(err, &lost), errors.Is(err, claim.ErrKeyUsed):
		return cm.claimedBefore(ctx, o, w)
	case err != nil && !errors.As(err, &late):
		return err
	}

	if h.Unassigned != nil && !errors.Is(h.Unassigned, ledger.ErrUnassignable) {
		cm.Console.warn("%s could not be assigned to %s: %s", o.by, o.facts.Issue, h.Unassigned)
	}
	cm.deleteRepeats(ctx, nil, o.facts.Issue)
	r.note("%s holds %s", o.by, o.facts.Issue)

	return nil
}

// nonceOf is the nonce of every run of the command of a comment, or for a pull request: a run goes
// on with what an earlier one left. Two at once may both win, and the hold is the same person's.
func nonceOf(comment int64) string { return fmt.Sprintf("%016x", comment) }

// claimedBefore answers a command of which an earlier run, or one beside this, has ended the claim:
// what became of it is in the log.
func (cm *commands) claimedBefore(ctx context.Context, o order, w claim.Worker) error {
	now, err := cm.facts(ctx, o.facts.Issue)
	if err != nil {
		return err
	}

	c, _ := now.Log.Find(w)
	switch {
	case c.Held():
		return nil
	case c.End == nil:
		return no{"it could not be claimed; comment /claim again"}
	}

	if winner, yielded := claim.Yielded(c.End.Outcome); yielded {
		return no{winner.Codename + " was faster"}
	}

	return no{"the claim was given up before it was confirmed; comment /claim again"}
}

// toPeople is a reason without the run of whom it names, which says nothing to people.
func toPeople(r lifecycle.Reason) string {
	if r.Claim == nil {
		return r.Text
	}
	return strings.Replace(r.Text, " (run "+r.Claim.Record.Worker.FiringID+")", "", 1)
}

// heldText says why a claim was refused, and what the commenter can do about it; a contributor can
// do nothing.
func heldText(held *ledger.HeldError, outside bool) string {
	for _, reason := range held.Verdict.Reasons {
		switch {
		case outside:
			return toPeople(reason)
		case reason.ByStranger():
			return fmt.Sprintf("%s; close that first, or run label-state claim %d --force in a clone",
				reason.Text, held.Issue.Number)
		case reason.Code == lifecycle.CodeHold:
			return reason.Text + "; comment /unhold first to take it off"
		case reason.Code != lifecycle.CodeInFlight:
		case reason.Claim.Person != "":
			return toPeople(reason) + "; ask them, or comment /release --force first to take it over"
		default:
			return toPeople(reason) + "; comment /release first to take it over"
		}
	}

	return held.Error()
}

// forceWord is what a release of another person's hold begins with.
const forceWord = "--force"

// release releases the issue, whoever has it: the commenter's own hold as such, a worker's by force
// and in the commenter's name, another person's only when that is said. A label without a claim is
// taken off.
func (cm *commands) release(ctx context.Context, o order, r *result) error {
	reason, force := strings.CutPrefix(o.text, forceWord)
	if mine, held := o.facts.Log.HeldBy(o.by); held {
		if !o.means(mine) {
			return nil
		}
		rep, err := cm.Ledger.Release(ctx, o.facts.Issue,
			ledger.Ending{Worker: mine.Record.Worker, By: o.by, Reason: strings.TrimSpace(reason)})
		var lost *ledger.LostError
		if errors.As(err, &lost) {
			return nil // it has ended meanwhile
		}
		if err := cm.steered(ctx, rep, []claim.Claim{mine}, err, r); err != nil {
			return err
		}

		// Put on in the second of the release, the label could as well be a new one; it was there
		// before, so that it is not.
		if hold := cm.Ledger.Rules().Scheme.Hold; labels.Has(o.facts.Labels, hold) &&
			!labels.Has(rep.Change.Remove, hold) {
			return cm.Hub.RemoveLabel(ctx, o.facts.Issue, hold)
		}

		return nil
	}

	c, held := o.facts.Log.Holder()
	if held && c.Person != "" && !force {
		return no{fmt.Sprintf("%s holds it; ask them, or comment /release --force to end it in your name", c.Person)}
	}

	scheme := cm.Ledger.Rules().Scheme
	if !labels.Has(o.facts.Labels, scheme.Hold) && !o.somebodyHeld() {
		removal, err := cm.Hub.LastMove(ctx, o.facts.Issue, ledger.LabelMoved{Label: scheme.Hold})
		if err != nil {
			return err
		}

		// else a run of this command that was cut off, or somebody beside it, took the label off
		if removal.At.Before(o.at) {
			if held {
				return no{cmp.Or(c.Person, c.Record.Worker.Codename) + " claimed it after this comment"}
			}
			return no{"nobody holds it"}
		}
	}

	if labels.Has(o.facts.Labels, scheme.Hold) && (!held || c.Person == "") {
		if err := cm.Hub.RemoveLabel(ctx, o.facts.Issue, scheme.Hold); err != nil {
			return err
		}
	}

	meant := o.at
	if held && o.means(c) {
		meant = claim.Latest(meant, c.Created)
	}

	rep, ended, err := cm.Ledger.ForceBefore(ctx, o.facts.Issue, meant, o.by, strings.TrimSpace(reason))
	return cm.steered(ctx, rep, ended, err, r)
}

// means reports whether the comment was written after the claim, or after the comment that asked
// for it, however late that one was carried out.
func (o order) means(c claim.Claim) bool {
	var asked, own int64
	_, err := fmt.Sscanf(c.Record.Worker.FiringID+" "+o.run, byComment+" "+byComment, &asked, &own)

	return !c.Created.After(o.at) || err == nil && asked < own
}

// somebodyHeld reports whether a claim that is meant was live when the comment was written.
func (o order) somebodyHeld() bool {
	return slices.ContainsFunc(o.facts.Log.Claims, func(c claim.Claim) bool {
		return o.means(c) && (c.End == nil || !c.End.At.Before(o.at))
	})
}

// requeue gives a failed issue another round of attempts.
func (cm *commands) requeue(ctx context.Context, o order, r *result) error {
	switch {
	case o.facts.PullRequest:
		return no{"a pull request is in no queue"}
	case !o.facts.Open:
		return no{"the issue is closed"}
	}

	if _, err := cm.Ledger.Reset(ctx, o.facts.Issue, o.at, o.by); err != nil {
		return err
	}
	cm.deleteRepeats(ctx, nil, o.facts.Issue)

	return cm.Hub.RemoveLabel(ctx, o.facts.Issue, cm.Ledger.Rules().Scheme.NeedsScope)
}

// keepOff keeps agents off without anybody holding the issue: by the label alone, which a person's
// hold has already and takes along when its end is recorded, however long that is over.
func (cm *commands) keepOff(ctx context.Context, o order, _ *result) error {
	switch c, held := o.facts.Log.Holder(); {
	case !held || c.Person == "":
	case c.Expired(cm.Ledger.Rules().Terms, o.facts.Now):
		return no{"the hold of " + c.Person + " has run out, and its label goes when that is recorded; " +
			"comment /release --force first, then /hold"}
	default:
		return no{c.Person + " holds it, which keeps agents off as well; comment /hold when that hold has ended"}
	}

	return cm.Hub.AddLabel(ctx, o.facts.Issue, cm.Ledger.Rules().Scheme.Hold)
}

// unhold takes that label off again. What somebody has claimed is released instead.
func (cm *commands) unhold(ctx context.Context, o order, r *result) error {
	if c, held := o.facts.Log.Holder(); held && c.Person != "" {
		return cm.release(ctx, o, r)
	}
	return cm.Hub.RemoveLabel(ctx, o.facts.Issue, cm.Ledger.Rules().Scheme.Hold)
}

func (cm *commands) approve(ctx context.Context, o order, r *result) error {
	return cm.answer(ctx, o, claim.KindApprove, r)
}

func (cm *commands) reject(ctx context.Context, o order, r *result) error {
	return cm.answer(ctx, o, claim.KindReject, r)
}

// answer answers a plan. That none is waiting is not a refusal when this very command has answered
// it before, in a run that was cut off or in one beside this.
func (cm *commands) answer(ctx context.Context, o order, kind claim.Kind, r *result) error {
	rep, err := cm.Ledger.Answer(ctx, o.facts.Issue, ledger.Answer{
		Kind:   kind,
		By:     o.by,
		Moment: o.at,
		Reason: o.text,
	})
	if answer.Is(err, answer.NoPlan) {
		now, unread := cm.facts(ctx, o.facts.Issue)
		if o.facts = now; unread == nil && o.settled(kind) {
			return nil
		}
	}

	if answer.Is(err, answer.Barred) || answer.Is(err, answer.NoPlan) {
		return no{err.Error()}
	}

	cm.deleteRepeats(ctx, nil, rep.Issue)
	return cm.steered(ctx, rep, nil, err, r)
}

// settled reports whether this very command was carried out before: the same person answered the
// plan the same way no earlier than the comment.
func (o order) settled(kind claim.Kind) bool {
	return slices.ContainsFunc(o.facts.Log.Claims, func(c claim.Claim) bool {
		return c.Plan != nil && !c.Plan.Pending() && c.Plan.Approved == (kind == claim.KindApprove) &&
			strings.EqualFold(c.Plan.By, o.by) && !c.Plan.AnsweredAt.Before(o.at)
	})
}
