package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/workflow"
)

// checkWorkflow looks for the Action in the repository's workflows by the name of the usual file,
// and compares it with what the configuration needs: permissions, events, the variables of a lease
// service, and a reference to the Action that there is.
func checkWorkflow(ctx context.Context, c *cli.Call) []Diagnosis {
	text, err := c.Session.Client.File(ctx, c.Session.Repo, cli.WorkflowPath)
	var missing *github.NotFoundError
	switch {
	case errors.As(err, &missing) && c.Session.Tree != "" && !isAbsent(c.Session.Tree, cli.WorkflowPath):
		d := ok("workflow", "%s is in this clone, and not on %s's default branch yet", cli.WorkflowPath, c.Session.Repo)
		return []Diagnosis{d.or("warn", "commit it, push it, and have it merged")}

	case errors.As(err, &missing):
		return []Diagnosis{ok("workflow", "no %s", cli.WorkflowPath).or("warn",
			"without it no sweep runs; label-state init writes it")}
	case err != nil:
		return []Diagnosis{ok("workflow", "%s", err).or("warn", c.Hint(err))}
	}

	w, err := workflow.Parse(text)
	if err == nil && !w.Runs {
		d := ok("workflow", "%s does not run the Action", cli.WorkflowPath)
		return []Diagnosis{d.or("warn",
			"compare it with docs/action.md, or move it away and let label-state init write it")}
	}

	out := []Diagnosis{checkSwitch(ctx, c)}
	if err != nil { // GitHub says so itself
		return out
	}

	if lacking, remedy := lackingInJobs(c, w.Jobs); lacking != "" {
		out[0] = ok("workflow", "%s: %s", cli.WorkflowPath, lacking).or("fail", remedy)
	}

	out = append(out, checkEvents(c, w))
	return append(out, checkAction(ctx, c, w.Jobs)...)
}

// checkSwitch asks whether GitHub still runs the workflow: after 60 days without activity it turns
// schedules off in public repositories.
func checkSwitch(ctx context.Context, c *cli.Call) Diagnosis {
	var answer struct {
		State string `json:"state"` // active, disabled_inactivity, disabled_manually ("Get a workflow" in GitHub's REST docs)
	}
	_, err := c.Session.Client.Do(ctx, http.MethodGet, repoPath(c)+"/actions/workflows/label-state.yml", nil, &answer)
	state := cmp.Or(answer.State, "unknown")
	switch {
	case err != nil:
		d := ok("workflow", "%s; could not check whether it is enabled: %s", cli.WorkflowPath, err)
		return d.or("warn", "look under Actions, or give the token the permission actions: read")
	case state != "active":
		d := ok("workflow", "%s exists but is disabled (%s)", cli.WorkflowPath, state)
		return d.or("fail", "gh workflow enable label-state.yml --repo "+c.Session.Repo.String())
	}

	return ok("workflow", "%s, switched on", cli.WorkflowPath)
}

// lackingInJobs says which permissions and variables the jobs of a workflow lack for what the
// configuration has them do, and what to add.
func lackingInJobs(c *cli.Call, jobs []workflow.Job) (lacking, remedy string) {
	conf := c.Session.Config
	var out, remedies []string
	add := func(what string) {
		if !slices.Contains(remedies, what) {
			remedies = append(remedies, what)
		}
	}

	for _, j := range jobs {
		missing := j.Lacks(workflow.Needs(j.Guard, conf.Claim.Lease == lease.Refs))
		if len(missing) > 0 {
			add("the missing permissions to the job")
		}
		if variable := conf.Lease.RedisURLEnv; conf.Claim.Lease == lease.Redis && !j.Guard &&
			!slices.Contains(j.Variables, variable) {
			missing = append(missing, "the variable "+variable)
			add(fmt.Sprintf(`env: {%s: "${{ secrets.%[1]s }}"} to the step`, variable))
		}

		if len(missing) == 0 {
			continue
		}
		one := "job " + cli.OneLine(j.Name) + " lacks " + strings.Join(missing, ", ")
		if slices.Contains(missing, "contents: write") {
			one += " (leases in git references need contents: write)"
		}

		out = append(out, one)
	}

	if len(out) == 0 {
		return "", ""
	}
	return strings.Join(out, "; "), "add " + strings.Join(remedies, ", and ") + " in " + cli.WorkflowPath +
		" on the default branch"
}

// checkEvents compares the events that start the workflow with those that what is configured needs.
// A person may have left some out.
func checkEvents(c *cli.Call, w workflow.Workflow) Diagnosis {
	misses := w.Misses(c.Session.Config.Guard != "off")
	if len(misses) == 0 {
		return ok("events", "the workflow runs on every event that it needs")
	}
	d := ok("events", "the workflow does not run on %s", strings.Join(misses, "; "))
	return d.or("warn", "add them under on: in "+cli.WorkflowPath+", unless they were left out on purpose")
}

// checkAction looks whether the branch, tag or commit of the Action that the workflow names is
// there: without it no job starts.
func checkAction(ctx context.Context, c *cli.Call, jobs []workflow.Job) []Diagnosis {
	var seen []string
	var out []Diagnosis
	for _, j := range jobs {
		r, elsewhere := workflow.Refers(j.Uses)
		if !elsewhere || slices.Contains(seen, j.Uses) {
			continue
		}
		seen = append(seen, j.Uses)
		out = append(out, checkReference(ctx, c, r))
	}

	return out
}

func checkReference(ctx context.Context, c *cli.Call, r workflow.Reference) Diagnosis {
	name := r.Repo + "@" + r.Ref
	commit, err := findCommit(ctx, c, r)
	var absent *github.NotFoundError
	switch {
	case errors.Is(err, errNoCommit):
		return ok("action", "%s does not exist, so the workflow cannot start", name).or("fail", "name a commit of "+
			r.Repo+" in "+cli.WorkflowPath)

	case errors.As(err, &absent):
		return ok("action", "%s was not found here: this token sees no repository %s", name, r.Repo).or("warn",
			"see under Actions whether the workflow starts")

	case err != nil:
		return ok("action", "could not check whether %s exists: %s", name, err).or("warn",
			"see under Actions whether the workflow starts")

	case r.Short() && strings.HasPrefix(commit, r.Ref):
		return ok("action", "%s: a workflow takes no shortened commit", name).or("fail", "name "+r.Repo+"@"+commit+
			" in "+cli.WorkflowPath)
	}

	return ok("action", "%s exists", name)
}
