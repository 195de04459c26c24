package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// errMember says that a login is not a contributor.
var errMember = errors.New("its records count")

// Why a command of a stranger is not carried out at once.
var (
	errCrowded = errors.New("contributors have reached the limit of commands an hour (contributors.hourly)")
	errChatter = errors.New("this hour has too many comments to count the commands of contributors")
)

// How many pages of a hundred comments are read at most for the commands of strangers.
const (
	crowdPages = 3
	sweepPages = 10
)

// undecided is how long an earlier command of the same login without an answer counts as a hold
// that is being made.
const undecided = 10 * time.Minute

// contributes reports whether a command is one that people may give whose records do not count.
func (p Place) contributes(cmd command) bool {
	return p.Contributors.Open() && cmd.open()
}

// contributorMark is how the one reply to a contributor on an issue and a day is found again. It is
// not a record.
func contributorMark(login string, day time.Time) string {
	return fmt.Sprintf("<!-- label-state:reply contributor=%s day=%s -->", url.PathEscape(strings.ToLower(login)),
		day.Format(time.DateOnly))
}

// contribute carries out the command of somebody whose records do not count: their own hold is made
// or ended, and nothing else. None of their words goes into a record.
func (cm *commands) contribute(ctx context.Context, i claim.Issue, cmd command, r *result) error {
	c := cm.Event.Comment
	if cmd.surplus {
		return no{cmd.name + " takes no arguments"}
	}

	remarks, whole, err := cm.Hub.Remarks(ctx, cm.Repo, c.Created.Add(-time.Hour), crowdPages)
	if err != nil {
		return err
	}

	before := cm.commandsBefore(remarks)
	switch {
	case cm.sweeping:
	case len(before) >= cm.Contributors.Hourly:
		return errCrowded
	case !whole:
		return errChatter
	}
	if cmd.answers {
		pull := cm.Event.Issue.PullRequest != nil
		return cmd.do(cm, ctx, order{facts: lifecycle.Facts{Issue: i, PullRequest: pull}}, r)
	}

	facts, err := cm.facts(ctx, i)
	if err != nil {
		return err
	}

	o := cm.ordered(command{verb: cmd.verb}, facts, cm.Contributors.TTL)
	o.outside = true
	mine, holds := o.facts.Log.HeldBy(o.by)
	switch {
	case cmd.gives && !holds && cm.takeBack:
	case cmd.gives && !holds && o.released(): // by a run that may have been cut off before the labels
	case cmd.gives && !holds:
		return o.notHeld()
	case cmd.gives:
		err = cm.release(ctx, o, r)
	default:
		if !holds || mine.Expired(cm.Ledger.Rules().Terms, o.facts.Now) {
			err = cm.mayTake(ctx, &o, 0, before)
		}
		if err == nil {
			err = cm.claim(ctx, o, r)
		}
	}

	if err != nil && !ledger.IsUnsent(err) {
		return err
	}
	r.add(cm.tend(ctx, []claim.Issue{i}, byCommand))

	return err
}

// notHeld says why there is nothing to release.
func (o order) notHeld() no {
	if _, ended := o.facts.Log.LastEnded(func(c claim.Claim) bool { return c.IsOf(o.by) && c.Held() }); ended {
		return no{"your hold of this issue has ended already"}
	}
	return no{"you do not hold this issue"}
}

// released reports whether this very command was carried out before, in a run that was cut off or
// in one beside this: the claim of the commenter has ended no earlier than the comment, and in
// their own name.
func (o order) released() bool {
	last, ended := o.facts.Log.LastEnded(func(c claim.Claim) bool { return c.IsOf(o.by) })
	return ended && claim.SameLogin(last.End.By, o.by) && !last.End.At.Before(o.at)
}

// commandsBefore are the commands of strangers and of the commenter in the hour before this one,
// without it. Members who may only read are contributors, too, but do not crowd others out: to find
// out who they are costs a request each.
func (cm *commands) commandsBefore(remarks []github.Remark) []github.Remark {
	c := cm.Event.Comment
	return slices.DeleteFunc(slices.Clone(remarks), func(m github.Remark) bool {
		later := cmp.Or(m.Created.Compare(c.Created), cmp.Compare(m.ID, c.ID)) >= 0
		return later || !cm.open(m) || !m.Outside && !claim.SameLogin(m.Author, c.User.Login)
	})
}

// open reports whether a remark is a command that is open to people whose records do not count.
func (p Place) open(m github.Remark) bool {
	cmd, is := parseCommand(m.Body)
	return is && cmd.wrong == "" && m.Person && !m.Edited && p.contributes(cmd)
}

// replaces reports whether a command takes the place of an earlier one, because the same login
// wrote it later on the same issue.
func (p Place) replaces(later, earlier github.Remark) bool {
	decides := func(m github.Remark) bool {
		cmd, _ := parseCommand(m.Body)
		return (cmd.takes || cmd.gives) && p.open(m)
	}
	return later.ID > earlier.ID && later.Number == earlier.Number && claim.SameLogin(later.Author, earlier.Author) &&
		decides(later) && decides(earlier)
}

// mayTake says why the contributor may not take the issue, or nil: by a comment, or for the pull
// request of that number. The protocol decides who wins.
func (cm *commands) mayTake(ctx context.Context, o *order, pull int, before []github.Remark) error {
	if err := cm.barred(o, pull); err != nil {
		return err
	}

	// of who has given a command that is known, and of the author of a pull request it is asked now
	if is, err := cm.contributor(ctx, o.by); err != nil || !is {
		return cmp.Or(err, errMember)
	}
	if err := cm.oldEnough(ctx, *o); err != nil {
		return err
	}

	return cm.belowLimit(ctx, *o, before)
}

// barred says what about the issue keeps the contributor from it, or nil. It asks GitHub nothing.
func (s *Step) barred(o *order, pull int) error {
	rules, f := s.Contributors, o.facts
	if f.PullRequest {
		return no{"a contributor takes issues, not pull requests"}
	}

	if !rules.Covers(f.Labels) && f.Open {
		return no{"contributors may take issues with the label " + strings.Join(rules.Labels, " or ")}
	}

	return s.free(o, pull)
}

// free says who or what keeps a contributor from the issue: what keeps any person from it, and what
// maintainers have said about it. Who asks for a pull request is not kept from it by one that was
// opened later.
func (s *Step) free(o *order, pull int) error {
	f := o.facts
	f.Viewer = o.by
	v := s.Ledger.Rules().Verdict(f, lifecycle.Seeker{Contributor: true})
	if v.Answer == lifecycle.Unknown {
		return errors.New(v.String())
	}

	for _, reason := range v.Reasons {
		if reason.Claim != nil && reason.Claim.IsOf(o.by) { // an earlier run began the claim and was cut off
			continue
		}

		younger := reason.PR != nil && pull > 0 && reason.PR.Number > pull &&
			strings.EqualFold(reason.PR.Repo, s.Repo.String())
		if !younger || !reason.ByStranger() {
			return no{toPeople(reason)}
		}
		o.force = true
	}

	return nil
}

// oldEnough refuses accounts that are younger than the repository wants. Only a repository that
// asks for an age costs the request.
func (cm *commands) oldEnough(ctx context.Context, o order) error {
	if cm.Contributors.AccountAge == 0 {
		return nil
	}

	since, err := cm.Hub.Joined(ctx, o.by)
	if err != nil {
		return err
	}
	if young := cm.Contributors.TooYoung(since, o.at); young != "" {
		return no{young}
	}

	return nil
}

// belowLimit refuses who holds as many issues as one login may, or has just asked for them: of two
// commands at once on two issues the earlier one counts.
func (cm *commands) belowLimit(ctx context.Context, o order, before []github.Remark) error {
	holds, err := cm.Hub.PersonsHolds(ctx, cm.Repo)
	if err != nil {
		return err
	}

	held := cm.Ledger.Rules().HoldsOf(holds, o.by)
	for _, m := range before {
		cmd, _ := parseCommand(m.Body)
		asks := cmd.takes && !m.Answered && claim.SameLogin(m.Author, o.by) &&
			o.at.Sub(m.Created) <= undecided
		if asks && !slices.Contains(held, m.Number) {
			held = append(held, m.Number)
		}
	}

	held = slices.DeleteFunc(held, func(n int) bool { return n == o.facts.Issue.Number })
	if many := cm.Contributors.TooMany(held); many != "" {
		return no{many}
	}

	return nil
}

// catchUp carries out the commands of strangers that no event has: those that waited, and those
// whose event was lost. Oldest first, and together with those of the last hour no more than
// contributors.hourly.
func (s *Step) catchUp(ctx context.Context, r *result) {
	if !s.Contributors.Open() || s.dry() || r.report.Stopped != nil {
		return
	}

	remarks, whole, err := s.Hub.Remarks(ctx, s.Repo, s.Now.Add(-ledger.Lookback), sweepPages)
	if err != nil {
		r.skip("commands of contributors: %s", err)
		return
	}

	hourAgo := s.Now.Add(-time.Hour)
	if !whole && remarks[len(remarks)-1].Created.After(hourAgo) {
		r.leave("%s: commands of contributors wait for the next sweep: %s", s.Repo, errChatter)
		return
	}

	budget := s.Contributors.Hourly
	var waiting []github.Remark
	for _, m := range remarks {
		switch {
		case !s.open(m):
		case !m.Answered:
			waiting = append(waiting, m)
		case m.Outside && m.Created.After(hourAgo):
			budget--
		}
	}

	slices.Reverse(waiting)
	for n, m := range waiting {
		if budget <= 0 {
			r.leave("%s: %d commands of contributors wait for the next sweep", s.Repo,
				len(waiting)-n)
			return
		}

		is, err := s.contributor(ctx, m.Author)
		if err != nil {
			r.skip("a command of %s: %s", m.Author, err)
		}
		if err != nil || !is {
			continue
		}

		budget--
		if slices.ContainsFunc(remarks, func(later github.Remark) bool { return s.replaces(later, m) }) {
			if err := unlessAbsent(s.Hub.React(ctx, s.Repo, m.ID, reactYes)); err != nil {
				r.skip("%s", err)
			}
			continue
		}

		cm := s.commandsOf(m)
		cm.takeBack = slices.ContainsFunc(remarks, func(before github.Remark) bool { return s.replaces(m, before) })
		done := cm.run(ctx)
		r.notes = append(r.notes, done.notes...)
		r.add(done.report)
		if done.err != nil {
			r.skip("%s", done.err)
		}

		if r.report.Stopped != nil {
			return
		}
	}
}

// commandsOf obeys a remark of which there is no event, as if there were one.
func (s *Step) commandsOf(m github.Remark) *commands {
	cm := s.commands()
	cm.sweeping = true
	cm.Event = Event{Name: "issue_comment", Action: "created", Comment: &Comment{
		ID:      m.ID,
		Body:    m.Body,
		Created: m.Created,
		User:    Account{Login: m.Author, Type: "User"},
	}}
	cm.Event.Issue.Number = m.Number
	if m.Pull {
		cm.Event.Issue.PullRequest = &struct{}{}
	}

	return cm
}
