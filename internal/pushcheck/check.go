package pushcheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/dedup"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/outgoing"
	"github.com/label-state/label-state/internal/setup"
)

// A local is what this machine knows before GitHub has been asked: how long to wait, and what an
// unknown counts for. The repository's configuration is the one on its default branch.
type local struct {
	guess   config.Config // what the default branch probably says: what is checked out, and over it the caller's own
	there   bool          // something is checked out that can be read
	timeout time.Duration
	policy  dedup.Policy
	pulls   bool // pull requests are asked for even where no commit names an issue
	notes   []dedup.Note
}

// local reads the file that LABEL_STATE_CONFIG names and the one that is checked out. The latter
// may be anybody's: it may have the hook wait longer and be stricter, because the default branch's
// cannot be asked for that beforehand, but never the opposite.
func (h *Hook) local() (local, error) {
	own, err := h.Env.Own(setup.Options{})
	if err != nil {
		return local{}, err
	}

	checkedOut, there, err := setup.Checkout(h.Env.Dir)
	l := local{guess: checkedOut, there: there && err == nil}
	if err != nil {
		l.guess = config.Default()
		first, _, _ := strings.Cut(err.Error(), "\n")
		l.notes = append(l.notes, dedup.Note{Text: first + "; what counts is the default branch"})
	}

	l.timeout, l.policy = max(outgoing.Budget, l.guess.Hook.Timeout), policy(l.guess)
	if own.Has("hook.timeout") {
		l.timeout = own.Hook.Timeout
	}

	if own.Has("hook.on_unknown") {
		l.policy = policy(own.Config)
	}
	l.pulls = l.guess.Hook.PullRequests || err != nil && h.mentionsPulls()
	if own.Has("hook.pull_requests") {
		l.pulls = own.Hook.PullRequests
	}

	if whole, err := own.Over(l.guess, ""); err == nil {
		l.guess = whole // a right guess saves reading everything again
	}

	return l, nil
}

// A checker is one push on its way to GitHub's answer.
type checker struct {
	*Hook
	push   outgoing.Push
	local  local
	remote host.Remote // whose issues are meant
	heads  []string    // branches whose pull requests are asked for, whatever the commits name
	notes  []dedup.Note
}

// home is the repository whose issues are meant.
func (c *checker) home() claim.Repo { return claim.Repo{Owner: c.remote.Owner, Name: c.remote.Repo} }

// settle returns the session under the configuration on the default branch. Where that has
// problems, the push is checked without what they concern, and a note says so.
func (c *checker) settle(ctx context.Context, guessed *setup.Session) (*setup.Session, error) {
	s, err := guessed.Settle(ctx)
	if err == nil && s.Unusable != nil {
		c.notes = append(c.notes, dedup.Note{Text: s.Unusable.Brief()})
	}
	return s, err
}

// check finds out what the messages name and whose work that is.
func (h *Hook) check(ctx context.Context, push outgoing.Push, messages []dedup.Message) dedup.Report {
	local, err := h.local()
	if err != nil {
		return h.unknown(err)
	}

	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), h.Start.Add(local.timeout))
	defer cancel()
	c := checker{Hook: h, push: push, local: local}
	var elsewhere *host.NotGitHubError
	switch c.remote, err = h.Env.Remote(ctx, push.URL); {
	case errors.As(err, &elsewhere):
		return dedup.Report{}
	case err != nil:
		return h.unknown(inTime(ctx, err))
	}

	home := c.home()
	named, unread := dedup.Name(messages, home, c.remote.Host), dedup.Unread(messages, home, c.remote.Host)
	if local.pulls {
		c.heads = outgoing.Branches(push.Updates)
	}

	if len(named)+len(unread)+len(c.heads) == 0 {
		return dedup.Report{}
	}

	report := c.judgeInTime(ctx, named, unread)
	if !report.Stops() || !h.unsure {
		return report
	}

	// Refused is only what leaves. Where that cannot be found out, what probably leaves counts.
	leaving, err := outgoing.Leaving(ctx, h.git(), push, h.commits)
	if err != nil || len(leaving) == len(h.commits) {
		return report
	}
	h.commits, h.unsure = leaving, false

	return h.check(ctx, push, messagesOf(leaving))
}

// grace is how long after the end of the time the answers that came before it may take to be
// understood.
const grace = 100 * time.Millisecond

// judgeInTime is judge, given up when something does not end with the time.
func (c *checker) judgeInTime(ctx context.Context, named []dedup.Named, cut []dedup.Unchecked) dedup.Report {
	within, cancel := context.WithDeadlineCause(context.WithoutCancel(ctx), c.Start.Add(c.local.timeout+grace), errLate)
	defer cancel()
	r, err := outgoing.InTime(within, func() (dedup.Report, error) { return c.judge(ctx, named, cut), nil })
	if err == nil {
		return r
	}

	r = dedup.Report{
		Home:    c.home().String(),
		Policy:  c.local.policy,
		Notes:   c.local.notes,
		Unknown: cut,
	}

	for _, one := range c.unread(named, err) {
		r.Unknown = append(r.Unknown, dedup.Unchecked{Issue: one.Issue, Reason: one.Unread})
	}

	return r
}

// judge reads the issues and holds them against the rules. What of the messages nobody has read
// stays unknown.
func (c *checker) judge(ctx context.Context, named []dedup.Named, cut []dedup.Unchecked) dedup.Report {
	conf, snapshots, err := c.read(ctx, named)
	rules, policed := conf.Rules(), policy(conf)
	var noToken *setup.NoTokenError
	switch {
	case errors.As(err, &noToken) && c.stranger(ctx):
		return dedup.Report{Notes: []dedup.Note{{Text: "not checked: " + c.remote.Host +
			" is not GitHub, or has no token here"}}}
	case errors.As(err, &noToken):
		err = fmt.Errorf("no token for %s: %s", noToken.Host, variables(noToken))
	}

	if err != nil && snapshots == nil {
		snapshots = c.unread(named, err)
	}
	answered := slices.ContainsFunc(snapshots, func(r dedup.Snapshot) bool { return r.Unread == "" })
	if !answered && (err != nil || len(snapshots) > 0) {
		// where nothing could be read, a configuration that is not there says nothing
		policed = max(policed, c.local.policy)
	}

	who, notes := c.pusher()
	if c.local.there && err == nil {
		if text := setup.Differs(c.local.guess, conf, c.home()); text != "" {
			notes = append(notes, dedup.Note{Text: text})
		}
	}

	r := dedup.Check(rules, who, snapshots)
	if len(named)+len(cut) == 0 && r.Empty() {
		return r // nobody has asked for anything but a no
	}

	r.Home, r.Policy = c.home().String(), policed
	if len(c.notes) == 0 {
		c.notes = c.local.notes // the same file is probably checked out, and one line is enough
	}

	r.Notes, r.Unknown = slices.Concat(c.notes, notes, r.Notes), slices.Concat(cut, r.Unknown)
	return r
}

// variables is what to do where a token is missing, with the names of the variables that may hold
// it.
func variables(e *setup.NoTokenError) string {
	return strings.Replace(e.Remedy(), "one of them", strings.Join(e.Variables, " or "), 1)
}

// stranger reports whether the host may be no GitHub at all: GitHub does not run it, and nobody
// said that it is one.
func (c *checker) stranger(ctx context.Context) bool {
	get := c.Env.Getenv
	// another may be an alias of ssh's configuration
	known := c.remote.Host == "github.com" || strings.HasSuffix(c.remote.Host, ".ghe.com")
	if known || get("LABEL_STATE_API_URL") != "" || strings.EqualFold(get("GH_HOST"), c.remote.Host) {
		return false
	}

	said, _ := c.Env.Git().Ask(ctx, "config", "--get", "label-state.host") // empty where it cannot be read
	return said == ""
}

// read asks GitHub about every issue, and in the same request for the configuration on the default
// branch. When that is not what was guessed, the issues are read again under it: whose records
// count is its to say. Of a fork, what it does not have itself is its parent's (hook.md). The error
// is for all issues.
func (c *checker) read(ctx context.Context,
	named []dedup.Named,
) (conf config.Config, snapshots []dedup.Snapshot, err error) {
	ctx, hangUp := context.WithCancelCause(ctx)
	defer hangUp(nil)
	env := c.Env
	env.HTTP = impatient{env.HTTP, hangUp}
	guessed, err := setup.Open(ctx, env, setup.Options{
		Repo:     c.home().String(),
		Host:     c.remote.Host,
		Guess:    &c.local.guess,
		Tolerant: true,
	})
	if err != nil {
		return config.Config{}, nil, inTime(ctx, err)
	}

	s, snapshots, pulls, err := c.readAll(ctx, guessed, named)
	cause := context.Cause(ctx)
	switch {
	case err == nil:
		snapshots, pulls = decide(ctx, s, s.Repo, snapshots), c.settlePulls(ctx, env, s, pulls)
		if cause = context.Cause(ctx); cause != nil {
			return s.Config, late(append(snapshots, pulls...), inTime(ctx, cause)), nil
		}
		return s.Config, append(c.askParent(ctx, env, s, snapshots), pulls...), nil
	case cause != nil:
		return config.Config{}, nil, inTime(ctx, cause)
	case slices.ContainsFunc(slices.Concat(snapshots, pulls), func(r dedup.Snapshot) bool { return r.Unread == "" }):
		return config.Config{}, nil, err // they could be read, and nobody knows by which rules
	}

	return config.Config{}, append(snapshots, pulls...), err
}

// readUnder reads the issues, and with them the configuration of the session's repository.
func (c *checker) readUnder(ctx context.Context, guessed *setup.Session,
	named []dedup.Named,
) (s *setup.Session, snapshots []dedup.Snapshot, err error) {
	snapshots = ask(ctx, guessed.Client, named)
	s, err = c.settle(ctx, guessed)
	if err == nil && s != guessed {
		snapshots = ask(ctx, s.Client, named)
	}
	return s, snapshots, err
}

// late is what snapshots say whose time ran out: what was found out by then may still be a no.
func late(snapshots []dedup.Snapshot, cause error) []dedup.Snapshot {
	for k := range snapshots {
		switch r := &snapshots[k]; {
		case r.Unread != "":
			r.Unread = cause.Error()
		case !r.Absent:
			r.Facts.Doubts = append(r.Facts.Doubts, cause.Error())
		}
	}

	return snapshots
}

func ask(ctx context.Context, client *github.Client, named []dedup.Named) []dedup.Snapshot {
	issues := make([]claim.Issue, len(named))
	for k, n := range named {
		issues[k] = n.Issue
	}

	out := make([]dedup.Snapshot, len(named))
	for k, got := range client.HoldersOf(ctx, issues) {
		out[k] = dedup.Snapshot{Named: named[k], Facts: got.Facts, Guess: got.Guess}
		var absent *github.NotFoundError
		switch {
		case got.Err == nil:
		case errors.As(got.Err, &absent) && absent.What.Kind == github.IssueObject:
			out[k].Absent = true
		default:
			out[k].Unread = ledger.Reason(issues[k], got.Err)
		}
	}

	return out
}

// askParent replaces the snapshots of issues that a fork does not have by those of its parent. When
// it cannot be found out whether the repository is a fork, they stay not found.
func (c *checker) askParent(ctx context.Context, env setup.Environment, s *setup.Session,
	snapshots []dedup.Snapshot,
) []dedup.Snapshot {
	home := c.home()
	var missing []dedup.Named
	var at []int
	for k, r := range snapshots {
		if strings.EqualFold(r.Issue.Slug(), home.String()) && (r.Absent || r.Facts.PullRequest) {
			missing, at = append(missing, r.Named), append(at, k)
		}
	}

	if len(missing) == 0 {
		return snapshots
	}
	repo, err := s.Client.Repository(ctx, home)
	if err != nil || repo.Parent == (claim.Repo{}) {
		return snapshots
	}

	for k := range missing {
		missing[k].Issue.Owner, missing[k].Issue.Repo = repo.Parent.Owner, repo.Parent.Name
	}

	for k, r := range c.readParent(ctx, env, s, repo.Parent, missing) {
		full := slices.IndexFunc(snapshots, func(s dedup.Snapshot) bool { return s.Issue.Same(r.Issue) })
		if full >= 0 && r.Unread == "" { // it was named as the parent's, too, and counts once
			for _, one := range snapshots[full].Commits {
				if !slices.Contains(r.Commits, one) {
					r.Commits = append(r.Commits, one)
				}
			}
			snapshots[full].Absent = true
		}
		snapshots[at[k]] = r
	}

	return snapshots
}

// readParent reads issues of the repository that this one is a fork of, under that one's own
// configuration: the fork's may be a stranger's.
func (c *checker) readParent(ctx context.Context, env setup.Environment, fork *setup.Session, parent claim.Repo,
	named []dedup.Named,
) []dedup.Snapshot {
	guessed, err := setup.Open(ctx, env, setup.Options{
		Repo:     parent.String(),
		Host:     c.remote.Host,
		Guess:    &fork.Config,
		Tolerant: true,
	})
	if err != nil {
		return c.unread(named, err)
	}
	s, snapshots, err := c.readUnder(ctx, guessed, named)
	if err != nil {
		return c.unread(named, err)
	}

	return decide(ctx, s, parent, snapshots)
}

// pusher is who pushes, and what should be known about how that was found out.
func (c *checker) pusher() (dedup.Pusher, []dedup.Note) {
	who := dedup.Pusher{Repo: c.pushedTo().String(), Branches: outgoing.Branches(c.push.Updates)}
	if w := c.Env.Identity(); w.Codename != "" && w.FiringID != "" {
		who.Worker = w
	}

	if _, sessions := c.Env.Session(); len(sessions) > 0 {
		who.Made = func(w claim.Worker) bool {
			return slices.ContainsFunc(sessions, func(s agenthost.Session) bool { return s.Made(w.FiringID) })
		}
	}

	var notes []dedup.Note
	if v := c.Env.Getenv("LABEL_STATE_SKIP_DEDUP_CHECK"); v != "" {
		notes = append(notes, dedup.Note{Text: "LABEL_STATE_SKIP_DEDUP_CHECK=" + v +
			" does not skip the check; only 1 and true do"})
	}

	inside := c.Env.InSession()
	store, err := c.Env.Holds()
	if err == nil {
		holds, bad := store.All()
		for _, h := range holds {
			if whose := c.Env.Whose(h); inside && whose != setup.Own && whose != setup.Either {
				continue // another session's, and this one pushes nothing under it
			}
			who.Holds = append(who.Holds, dedup.Hold{Issue: h.Issue, Worker: h.Worker, Token: h.Token})
		}

		err = bad
	}

	if err != nil {
		notes = append(notes, dedup.Note{Text: err.Error()})
	}

	return who, notes
}
