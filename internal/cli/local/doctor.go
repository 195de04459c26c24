package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/setup"
)

// Doctor checks token, repository and clone.
func Doctor() cli.Verb {
	return cli.Do(cli.Verb{
		Name:     "doctor",
		Summary:  "check token, repository, labels, workflow and hook",
		About:    "Each line is ok, warn or fail, the last two with the remedy. Exit 1 when anything fails, 3 when all that fails could not be found out.",
		Examples: "label-state doctor\nlabel-state doctor acme/app --json\nlabel-state doctor --repo acme/app,acme/web\n",
	}, examine)
}

// A Diagnosis is one line of the doctor's.
type Diagnosis struct {
	Repo   string `json:"repo,omitempty"` // that it is about; empty of this machine and this clone
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warn, fail
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"`

	Unknown bool `json:"-"` // it failed, and nobody knows what it would have found
}

func ok(check, format string, args ...any) Diagnosis {
	return Diagnosis{Check: check, Status: "ok", Detail: cli.OneLine(fmt.Sprintf(format, args...))}
}

func (d Diagnosis) or(status, remedy string) Diagnosis {
	d.Status, d.Remedy = status, remedy
	return d
}

// examine checks the machine once, and each repository.
func examine(ctx context.Context, c *cli.Call, _ *cli.SomeRepos) error {
	all := []Diagnosis{checkGit(ctx, c.Terminal)}
	for _, name := range cli.OrHere(c.Named()) {
		all = append(all, checkRepo(ctx, c.Part(), name)...)
	}

	return showReport(ctx, c, append(all, checkHook(ctx, c)))
}

// checkSetup is what the session goes by. Where the repository has no configuration, it is looked
// for under the name that nobody reads.
func checkSetup(ctx context.Context, c *cli.Call) Diagnosis {
	if wrong := c.Session.Unusable; wrong != nil {
		return failedCheck(c, "setup", wrong)
	}

	d := ok("setup", "configuration: %s; token: %s", c.Session.Source, c.Session.TokenFrom)
	if !c.Session.Unconfigured {
		return d
	}
	if _, err := c.Session.Client.File(ctx, c.Session.Repo, config.Unread); err == nil {
		d.Detail += "; " + config.Unread + " is there and is not read"
		return d.or("warn", "git mv "+config.Unread+" "+config.Path)
	}

	return d
}

// checkCheckout is what is wrong with the configuration in the worktree, which decides nothing
// before it is on the default branch, or that it corrects the one there; empty where it does
// neither.
func checkCheckout(c *cli.Call) []Diagnosis {
	_, there, err := c.Session.Checkout()
	wrong, is := errors.AsType[*config.Error](err)
	published := c.Session.Unusable
	switch {
	case is && wrong.File != config.Path: // checkSetup says it of a file by the name that nobody reads
		return nil
	case is && published != nil && wrong.Same(published): // checkSetup says it
		return nil
	case is:
		d := ok("checkout", "%s", strings.Join(cli.Lines(wrong), "; "))
		return []Diagnosis{d.or("fail",
			"correct it before you push it; until then the default branch of "+c.Session.Repo.String()+" counts")}
	case there && published != nil:
		return []Diagnosis{ok("checkout",
			"%s has no mistakes in this worktree; it counts once it is on the default branch of %s",
			config.Path, c.Session.Repo)}
	}

	return nil
}

func checkGit(ctx context.Context, t cli.Terminal) Diagnosis {
	version, err := t.Env.Git().Ask(ctx, "version")
	if err != nil {
		return ok("git", "git does not run: %s", err).or("fail", "install git")
	}
	return ok("git", "%s", version)
}

// checkRepo is everything about one repository, by the name that was typed; empty is the clone's.
func checkRepo(ctx context.Context, c *cli.Call, name string) []Diagnosis {
	o := c.Options()
	o.Repo = name
	defer c.Close()

	o.Tolerant = true
	err := c.Open(ctx, o)
	if err != nil {
		d := failedCheck(c, "setup", err)
		d.Repo = cli.WithoutURL(name)
		return []Diagnosis{d}
	}

	found := append([]Diagnosis{checkSetup(ctx, c)}, checkCheckout(c)...)
	if c.Session.Unusable == nil { // else what the rest would go by is a guess
		found = append(found, examineRepo(ctx, c)...)
	}
	for k := range found {
		found[k].Repo = c.Session.Repo.String()
	}

	return found
}

// failedCheck is a failed check. The remedy is the hint that other commands give, unless that is to
// ask the doctor.
func failedCheck(c *cli.Call, check string, err error) Diagnosis {
	d := ok(check, "%s", strings.Join(cli.Lines(err), "; "))
	var auth *github.AuthError
	var allowed *github.PermissionError
	var missing *github.NotFoundError
	var denied *lease.DeniedError
	var none *setup.NoTokenError
	switch {
	case errors.As(err, &denied):
		return d.or("fail", denied.Remedy)
	case errors.As(err, &auth):
		return d.or("fail", tokenRemedy(auth.From, c.Session.Endpoints.Host()))
	case errors.As(err, &allowed):
		return d.or("fail", "give the token the permission "+cmp.Or(allowed.Needs, "issues: write"))
	case errors.As(err, &missing):
		return d.or("fail", "check the name, and that the token may see it")
	case errors.Is(err, context.DeadlineExceeded):
		err = cli.Advise(err, answer.Call("give it more time", answer.AgainLonger))
	}

	d.Unknown = cli.ExitCode(err) == answer.ExitUnknown && !errors.As(err, &none) // without a token it is set up wrongly
	return d.or("fail", c.Hint(err))
}

// tokenRemedy is how to replace a token that GitHub refuses, by where it was found, and its
// host, which may be empty.
func tokenRemedy(from, host string) string {
	switch from {
	case setup.FromGH, "":
		return setup.Login(host)
	case setup.FromGit:
		return "have git forget the token that it keeps (git credential reject), then: " + setup.Login(host)
	}
	return "put a valid token into " + from
}

func showReport(ctx context.Context, c *cli.Call, all []Diagnosis) error {
	failed, unknown, arrows, several := 0, 0, false, len(c.Named()) > 1
	about := "-" // neither a repository nor this machine
	inks := map[string]string{"ok": cli.InkGreen, "warn": cli.InkYellow, "fail": cli.InkAlarm}
	for _, d := range all {
		if d.Status != "ok" {
			see := answer.Call("", "doctor", append(strings.Fields(d.Repo), "--verbose")...)
			d.Remedy = cmp.Or(d.Remedy, "see the requests and answers: "+cli.Words([]answer.Command{see}))
		}
		status := c.Paint(inks[d.Status], fmt.Sprintf("%-4s", d.Status))
		text := cli.Wrap(fmt.Sprintf("%s  %-12s %s\n", status, d.Check, d.Detail), c.Env.Width(c.Out))
		if several && d.Repo != about {
			about = d.Repo
			text = cmp.Or(about, "this machine") + "\n" + text
		}

		if d.Remedy != "" {
			arrows = true
			text += strings.Repeat(" ", 19) + "-> " + d.Remedy + "\n"
		}

		if err := c.Answer(d, text); err != nil {
			return err
		}

		switch {
		case d.Status != "fail":
		case d.Unknown:
			unknown++
		default:
			failed++
		}
	}

	if !arrows {
		if err := c.Answer(nil, "all is well; take an issue: label-state next --codename NAME\n"); err != nil {
			return err
		}
	}

	advice := "do what the arrows say, then"
	if c.JSON {
		advice = "do what each remedy says, then"
	}

	again := answer.Call(advice, answer.Again)
	if ctx.Err() != nil {
		again.Verb = answer.AgainLonger
	}

	switch {
	case failed > 0:
		return cli.Declined(printable.Count(failed+unknown, "check", "checks")+" failed", again)
	case unknown > 0:
		return &answer.Problem{
			Code: answer.Unread,
			Why:  printable.Count(unknown, "check", "checks") + " could not be carried out",
			Next: []answer.Command{again},
		}
	}

	return nil
}

// examineRepo asks GitHub. A bad token ends the examination: everything after it would only repeat
// it.
func examineRepo(ctx context.Context, c *cli.Call) []Diagnosis {
	who, err := c.Session.Client.Viewer(ctx)
	if err != nil {
		return []Diagnosis{failedCheck(c, "token", err)}
	}

	out := []Diagnosis{checkScopes(ctx, c, who)}
	repo, err := c.Session.Client.Repository(ctx, c.Session.Repo)
	if err != nil {
		return append(out, failedCheck(c, "repository", err))
	}

	out = append(out, checkRepository(ctx, c, repo)...)
	set := checkLabelSet(ctx, c)
	if repo.Parent != (claim.Repo{}) && set.Status == "warn" {
		set.Remedy = cli.Words([]answer.Command{cli.MeansParent(repo.Parent)}) + "; else: " + set.Remedy
	}

	out = append(out, set, checkPauses(ctx, c), checkLeases(ctx, c), checkBlockers(ctx, c))
	out = append(out, checkWorkflow(ctx, c)...)
	return append(out, checkQueue(ctx, c), checkClock(ctx, c))
}

// checkLeases tries what taking a lease needs, in the store that the configuration names.
func checkLeases(ctx context.Context, c *cli.Call) Diagnosis {
	kind := c.Session.Config.Claim.Lease
	prober, able := c.Session.Store.(lease.Prober)
	if !able {
		return ok("leases", "%s: the issue's own log decides", kind)
	}
	if err := prober.Probe(ctx, claim.Issue{
		Owner: c.Session.Repo.Owner, Repo: c.Session.Repo.Name,
		Number: 1,
	}); err != nil {
		return failedCheck(c, "leases", fmt.Errorf("%s: %w", kind, err))
	}

	return ok("leases", "%s: it can be written", kind)
}

func checkScopes(ctx context.Context, c *cli.Call, who string) Diagnosis {
	scopes, told, err := c.Session.Client.TokenScopes(ctx)
	switch {
	case err != nil:
		return ok("token", "%s, scopes could not be read: %s", who, err).or("warn", "")
	case !told:
		return ok("token", "%s (fine-grained, app or workflow token: GitHub does not tell what it may do; "+
			"claims need issues: write)", who)
	}

	d := ok("token", "%s, scopes %s", who, strings.Join(scopes, ", "))
	if slices.Contains(scopes, "repo") || slices.Contains(scopes, "public_repo") {
		return d
	}

	return d.or("fail", "the token needs the scope repo (or public_repo)")
}

func checkRepository(ctx context.Context, c *cli.Call, r github.Repository) []Diagnosis {
	out := []Diagnosis{ok("repository", "%s, default branch %s", r.Repo, r.DefaultBranch)}
	switch {
	case r.Archived:
		out[0] = out[0].or("fail", "it is archived: nothing can be written")
	case !r.HasIssues:
		out[0] = out[0].or("fail", "issues are switched off there")
		if r.Parent != (claim.Repo{}) {
			out[0].Remedy += "; " + cli.Words([]answer.Command{cli.MeansParent(r.Parent)})
		}
	}

	role := ok("permission", "%s", cmp.Or(string(r.Role), "unknown"))
	switch r.Role {
	case "read":
		role = role.or("fail", "claims count only from people who may label: ask for triage or write")
	case "":
		role = role.or("warn", "GitHub does not show it to this token; claims need issues: write")
	}

	var outsider *github.OutsiderError
	// an App, or a role below trust.permission
	if r.Role != "read" && errors.As(c.Session.Client.Heard(ctx, c.Session.Repo), &outsider) {
		role = ok("permission", "%s", outsider).or("fail", outsider.Remedy())
	}

	switch {
	case role.Status == "fail" && c.Session.Config.Contributors.Open() && r.Role != "":
		role = role.or("warn", "take an issue as a contributor, by a comment: /claim; to do more: "+role.Remedy)
	case role.Status == "ok" && r.Role == github.RoleTriage && len(c.Session.Config.Trust.Logins) == 0:
		role.Detail += "; GitHub does not tell this token whose records count, so claims of others cannot be read"
		remedy := "use a token that may push, or name the logins that work there in trust.logins"
		if c.HeedsComments(ctx) {
			remedy = "comment /claim, /release, /approve or /reject there, or " + remedy
		}
		role = role.or("warn", remedy)
	}

	return append(out, role)
}

func checkLabelSet(ctx context.Context, c *cli.Call) Diagnosis {
	have, err := c.Session.Client.Labels(ctx, c.Session.Repo)
	if err != nil {
		return failedCheck(c, "labels", err)
	}

	var missing []string
	for _, v := range cli.CompareLabels(c.Rules().Scheme.Definitions(), have) {
		if v.Status == "missing" {
			missing = append(missing, v.Name)
		}
	}

	if len(missing) > 0 {
		text := strings.Join(missing[:min(len(missing), 3)], ", ")
		if more := len(missing) - 3; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		return ok("labels", "missing: %s", text).or("warn", "label-state labels sync "+c.Session.Repo.String())
	}

	return ok("labels", "all there")
}

func checkPauses(ctx context.Context, c *cli.Call) Diagnosis {
	here, err := c.Env.PausedHere(c.Session.Repo)
	if err != nil {
		return failedCheck(c, "pause", err)
	}

	p, err := c.Session.Client.Pause(ctx, c.Session.Repo)
	switch {
	case err != nil:
		return failedCheck(c, "pause", err)
	case p == nil && here == nil:
		return ok("pause", "not paused")
	}

	v := cli.ViewPause(c.Session.Repo.String(), cmp.Or(p, here), p == nil)
	return ok("pause", "%s", strings.TrimSpace(v.Line())).or("warn", "label-state repo resume "+v.Resume())
}

// checkQueue counts what is in the queue, whoever holds it. Nothing is not a failure, but who has
// just begun looks for the next step.
func checkQueue(ctx context.Context, c *cli.Call) Diagnosis {
	queued := 0
	for _, label := range c.Rules().Scheme.Queues() {
		found, err := c.Session.Client.OpenIssues(ctx, c.Session.Repo, label)
		if err != nil {
			return failedCheck(c, "queue", err)
		}
		queued += len(found)
	}

	d := ok("queue", "%s in the queue; which of them are free: label-state next --list --repo %s",
		printable.Count(queued, "open issue is", "open issues are"), c.Session.Repo)
	if queued == 0 {
		d = ok("queue", "no issue is ready")
		d.Remedy = cli.Words([]answer.Command{c.FirstCommand()})
	}

	return d
}

// checkClock compares this machine with GitHub. Nothing depends on it: only server time counts
// (spec.md#definitions).
func checkClock(ctx context.Context, c *cli.Call) Diagnosis {
	header, err := c.Session.Client.Do(ctx, http.MethodGet, repoPath(c), nil, nil)
	if err != nil {
		return ok("clock", "not compared: %s", err).or("warn", c.Hint(err))
	}

	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return ok("clock", "not compared: the answer had no date")
	}

	switch skew := time.Since(now); {
	case skew > time.Minute:
		return ok("clock", "%s ahead of GitHub's", printable.Span(skew)).or("warn", setClock)
	case skew < -time.Minute:
		return ok("clock", "%s behind GitHub's", printable.Span(-skew)).or("warn", setClock)
	}

	return ok("clock", "agrees with GitHub's")
}

const setClock = "set the clock; claims are judged by GitHub's time, so they are safe"

// repoPath is the repository's place in GitHub's REST.
func repoPath(c *cli.Call) string {
	return "repos/" + url.PathEscape(c.Session.Repo.Owner) + "/" + url.PathEscape(c.Session.Repo.Name)
}
