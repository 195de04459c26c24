package local

import (
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/workflow"
)

// TestLackingInJobs: what the configuration has a job do is compared with what the job may and
// knows.
func TestLackingInJobs(t *testing.T) {
	const variable = "FLEET_REDIS_URL"
	for name, c := range map[string]struct {
		lease string
		made  workflow.Options
		want  string
	}{
		"comments":   {lease.Comments, workflow.Options{}, ""},
		"references": {lease.Refs, workflow.Options{Refs: true}, ""},
		"references, read only": {
			lease.Refs,
			workflow.Options{},
			"job label-state lacks contents: write (leases in git references need contents: write)",
		},
		"a service":                     {lease.Redis, workflow.Options{Variables: []string{variable}}, ""},
		"a service, not known":          {lease.Redis, workflow.Options{}, "job label-state lacks the variable " + variable},
		"a service, and it only guards": {lease.Redis, workflow.Options{}, ""},
		"a service, another one": {
			lease.Redis,
			workflow.Options{Variables: []string{"OTHER_URL"}},
			"job label-state lacks the variable " + variable,
		},
	} {
		conf := config.Default()
		conf.Claim.Lease = c.lease
		if c.lease == lease.Redis {
			conf.Lease.RedisURLEnv = variable
		}

		w, err := workflow.Parse([]byte(workflow.Text(c.made)))
		if err != nil {
			t.Fatal(err)
		}

		w.Jobs[0].Guard = strings.HasSuffix(name, "guards")
		call := &cli.Call{Session: &setup.Session{}}
		call.Session.Config = conf
		got, remedy := lackingInJobs(call, w.Jobs)
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}

		what := ""
		switch {
		case strings.Contains(c.want, variable):
			what = `add env: {FLEET_REDIS_URL: "${{ secrets.FLEET_REDIS_URL }}"} to the step in `
		case c.want != "":
			what = "add the missing permissions to the job in "
		}
		if !strings.HasPrefix(remedy, what) || (what == "") != (remedy == "") {
			t.Errorf("%s: the remedy is %q, want %q", name, remedy, what)
		}
	}
}
