package github

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/clock"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// Options say which GitHub to talk to, as whom, and by which rules. REST and GraphQL are required,
// and a zero Scheme is the agent preset; everything else has a default. Addresses are taken as they
// are: whoever reads them from outside has looked at them (internal/host).
type Options struct {
	REST    string // API root, https://api.github.com/ or https://HOST/api/v3/
	GraphQL string // GraphQL address, https://api.github.com/graphql or https://HOST/api/graphql
	Web     string // where people look; empty is https://github.com
	Token   Secret // empty sends no Authorization

	HTTP     http.RoundTripper // what carries requests; nil is http.DefaultTransport
	Scheme   labels.Scheme
	Trust    Trust
	Blockers Blockers
	// View is for a caller that shows and decides nothing: where GitHub tells no roles, what it
	// calls a comment's author says whether the records count. Client.Guessed says that it came to
	// that.
	View bool
	// OutsiderIssues is how many issues an open pull request may move whose author's records do not
	// count; 0 is 3.
	OutsiderIssues int

	Clock ledger.Clock   // nil is the machine's
	Rand  func() float64 // jitter, 0 ≤ x < 1; nil is math/rand/v2

	// Along is the path of a file on the default branch that the first query about a repository
	// brings along; Client.Along returns it then. Empty is none.
	Along string

	DryRun   bool          // refuse every write (ledger.Unsent)
	MaxWait  time.Duration // longest one request waits for rate limits altogether; 0 is 5 minutes
	ReadTime time.Duration // one try of a read; 0 is 10 seconds
	Limits   *Limits       // shared with the program's other clients; nil is none
	Warn     func(string)  // one-line warnings; nil drops them
	Waiting  clock.Teller  // what a request waits for that takes longer than clock.Silence; nil is nobody
}

// Trust says whose records count, besides our own and those of a repository's owner
// (spec.md#which-records-count).
type Trust struct {
	Logins  []string // any case; nil is github-actions[bot], empty is nobody
	Apps    []string // slugs of GitHub Apps: my-app stands for the login my-app[bot]
	Minimum Role     // of collaborators; empty is RoleTriage
}

// settle checks the options and fills in what is left out.
func (o Options) settle() (Options, error) {
	o.REST = strings.TrimRight(o.REST, "/") + "/"
	o.Web = strings.TrimRight(cmp.Or(o.Web, "https://github.com"), "/")
	if o.HTTP == nil {
		o.HTTP = http.DefaultTransport
	}

	if o.Scheme.Available == "" {
		o.Scheme = labels.Agent()
	}

	if o.Clock == nil {
		o.Clock = clock.Machine{}
	}

	if o.Rand == nil {
		o.Rand = rand.Float64
	}

	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	o.MaxWait = cmp.Or(o.MaxWait, 5*time.Minute)
	o.ReadTime = cmp.Or(o.ReadTime, 10*time.Second)
	o.OutsiderIssues = cmp.Or(o.OutsiderIssues, lifecycle.DefaultRules().OutsiderIssues)
	if o.Trust.Logins == nil {
		o.Trust.Logins = []string{actionsBot}
	}

	o.Trust.Minimum = cmp.Or(o.Trust.Minimum, RoleTriage)
	if rank(o.Trust.Minimum) == 0 {
		return o, fmt.Errorf("use options: minimum role %q: expected read, triage, write, maintain or admin",
			o.Trust.Minimum)
	}

	return o, nil
}
