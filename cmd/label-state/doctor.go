package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/lease"
	"github.com/urfave/cli/v2"
)

func doctorCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "check token, repository, labels, workflow and hook", ArgsUsage: "[OWNER/NAME]",
		Description: "Each line is ok, warn or fail, the last two with the remedy. Exit 1 when anything fails.\n\n" +
			"   label-state doctor\n   label-state doctor acme/app --json",
		Flags:  common(),
		Action: t.doctor,
	}
}

// A diagnosis is one line of the doctor's.
type diagnosis struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warn, fail
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"`
}

func ok(check, format string, args ...any) diagnosis {
	return diagnosis{Check: check, Status: "ok", Detail: oneLine(fmt.Sprintf(format, args...))}
}

func (d diagnosis) or(status, remedy string) diagnosis {
	d.Status, d.Remedy = status, remedy
	return d
}

func (t terminal) doctor(cc *cli.Context) error {
	o, err := inOneRepo(cc)
	if err != nil {
		return err
	}
	ctx, cancel := deadline(cc)
	defer cancel()
	c := &call{Context: cc, terminal: t}
	all := []diagnosis{git(ctx)}
	err = c.open(ctx, o)
	defer c.close()
	if err != nil {
		all = append(all, c.bad("setup", err))
	} else {
		all = append(all, ok("setup", "configuration: %s; token: %s", c.Source, c.TokenFrom))
		all = append(all, c.examine(ctx)...)
	}
	return c.report(append(all, c.hook(ctx)))
}

// bad is a failed check. The remedy is the hint that other commands give, unless that is to ask the doctor.
func (c *call) bad(check string, err error) diagnosis {
	d := ok(check, "%s", strings.Join(problems(err), "; "))
	var auth *github.AuthError
	var allowed *github.PermissionError
	var missing *github.NotFoundError
	var denied *lease.DeniedError
	switch {
	case errors.As(err, &denied):
		return d.or("fail", denied.Remedy)
	case errors.As(err, &auth):
		return d.or("fail", "put a token that GitHub takes into LABEL_STATE_TOKEN, GH_TOKEN or GITHUB_TOKEN, or: gh auth login")
	case errors.As(err, &allowed):
		return d.or("fail", "give the token the permission issues: write")
	case errors.As(err, &missing):
		return d.or("fail", "check the name, and that the token may see it")
	}
	return d.or("fail", hintFor(err))
}

func (c *call) report(all []diagnosis) error {
	failed := 0
	for _, d := range all {
		if d.Status != "ok" {
			d.Remedy = cmp.Or(d.Remedy, "see what was asked and answered: label-state doctor --verbose")
		}
		text := wrap(fmt.Sprintf("%s  %-12s %s\n", c.colored(d.Status), d.Check, d.Detail), c.env.Width(c.out))
		if d.Remedy != "" {
			text += strings.Repeat(" ", 19) + "-> " + d.Remedy + "\n"
		}
		if err := c.answer(d, text); err != nil {
			return err
		}
		if d.Status == "fail" {
			failed++
		}
	}
	if failed > 0 {
		no := &answerNo{count(failed, "check", "checks") + " failed"}
		return &failure{doing: "doctor", err: no, hint: "do what the arrows say, then run it again"}
	}
	return nil
}

// colored pads a status to four columns and paints it.
func (c *call) colored(status string) string {
	ink := map[string]string{"ok": inkGreen, "warn": inkYellow, "fail": inkAlarm}[status]
	return c.paint(ink, fmt.Sprintf("%-4s", status))
}

func git(ctx context.Context) diagnosis {
	out, err := exec.CommandContext(ctx, "git", "version").Output()
	if err != nil {
		return ok("git", "git does not run: %s", err).or("fail", "install git")
	}
	return ok("git", "%s", strings.TrimSpace(string(out)))
}

// examine asks GitHub. A bad token ends the examination: everything after it would only repeat it.
func (c *call) examine(ctx context.Context) []diagnosis {
	who, err := c.Viewer(ctx)
	if err != nil {
		return []diagnosis{c.bad("token", err)}
	}
	out := []diagnosis{c.scopes(ctx, who)}
	repo, err := c.Client.Repository(ctx, c.Repo)
	if err != nil {
		return append(out, c.bad("repository", err))
	}
	out = append(out, c.repository(repo)...)
	return append(out, c.labels(ctx), c.pauses(ctx), c.leases(ctx), c.blockers(ctx), c.workflow(ctx), c.clock(ctx))
}

// leases tries what taking a lease needs, in the store that the configuration names.
func (c *call) leases(ctx context.Context) diagnosis {
	kind := c.Config.Claim.Lease
	prober, able := c.Store.(lease.Prober)
	if !able {
		return ok("leases", "%s: the issue's own log decides", kind)
	}
	if err := prober.Probe(ctx, claim.Issue{Owner: c.Repo.Owner, Repo: c.Repo.Name, Number: 1}); err != nil {
		return c.bad("leases", fmt.Errorf("%s: %w", kind, err))
	}
	return ok("leases", "%s: it can be written", kind)
}

func (c *call) scopes(ctx context.Context, who string) diagnosis {
	scopes, told, err := c.Client.TokenScopes(ctx)
	switch {
	case err != nil:
		return ok("token", "%s, scopes could not be read: %s", who, err).or("warn", "")
	case !told:
		return ok("token", "%s (fine-grained, app or workflow token: permissions are probed below)", who)
	}
	for _, s := range scopes {
		if s == "repo" || s == "public_repo" {
			return ok("token", "%s, scopes %s", who, strings.Join(scopes, ", "))
		}
	}
	return ok("token", "%s, scopes %s", who, strings.Join(scopes, ", ")).or("fail", "the token needs the scope repo (or public_repo)")
}

func (c *call) repository(r github.Repository) []diagnosis {
	out := []diagnosis{ok("repository", "%s, default branch %s", r.Repo, r.DefaultBranch)}
	switch {
	case r.Archived:
		out[0] = out[0].or("fail", "it is archived: nothing can be written")
	case !r.HasIssues:
		out[0] = out[0].or("fail", "issues are switched off there")
	}
	role := ok("permission", "%s", cmp.Or(string(r.Role), "not told"))
	switch r.Role {
	case "read":
		role = role.or("fail", "claims count only from people who may label: ask for triage or write")
	case "":
		role = role.or("warn", "GitHub does not tell this token; claims need issues: write")
	}
	return append(out, role)
}

func (c *call) labels(ctx context.Context) diagnosis {
	have, err := c.Client.Labels(ctx, c.Repo)
	if err != nil {
		return c.bad("labels", err)
	}
	var missing []string
	for _, v := range compare(c.Ledger.Rules().Scheme.Definitions(), have) {
		if v.Status == "missing" {
			missing = append(missing, v.Name)
		}
	}
	if len(missing) > 0 {
		text := strings.Join(missing[:min(len(missing), 3)], ", ")
		if more := len(missing) - 3; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		return ok("labels", "missing: %s", text).or("warn", "label-state labels sync "+c.Repo.String())
	}
	return ok("labels", "all there")
}

func (c *call) pauses(ctx context.Context) diagnosis {
	here, err := c.PausedHere(c.Repo)
	if err != nil {
		return c.bad("pause", err)
	}
	p, err := c.Client.Pause(ctx, c.Repo)
	switch {
	case err != nil:
		return c.bad("pause", err)
	case p != nil:
		return c.paused(viewPause(c.Repo.String(), p, false))
	case here != nil:
		return c.paused(viewPause(c.Repo.String(), here, true))
	}
	return ok("pause", "not paused")
}

func (c *call) paused(v pauseView) diagnosis {
	return ok("pause", "%s", strings.TrimSpace(v.line())).or("warn", "label-state repo resume "+v.resume())
}

// clock compares this machine with GitHub. Nothing depends on it: only server time counts (PRODUCT ruling 6).
func (c *call) clock(ctx context.Context) diagnosis {
	header, err := c.Client.Do(ctx, http.MethodGet, c.repoPath(), nil, nil)
	if err != nil {
		return ok("clock", "not compared: %s", err).or("warn", hintFor(err))
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return ok("clock", "not compared: the answer had no date")
	}
	switch skew := time.Since(now); {
	case skew > time.Minute:
		return ok("clock", "%s ahead of GitHub's", round(skew)).or("warn", setClock)
	case skew < -time.Minute:
		return ok("clock", "%s behind GitHub's", round(-skew)).or("warn", setClock)
	}
	return ok("clock", "agrees with GitHub's")
}

const setClock = "set the clock; claims are judged by GitHub's time, so they are safe"

// repoPath is the repository's place in GitHub's REST.
func (c *call) repoPath() string {
	return "repos/" + url.PathEscape(c.Repo.Owner) + "/" + url.PathEscape(c.Repo.Name)
}
