package github

import (
	"github.com/label-state/label-state/internal/lease/gitref"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/prchain"
)

// What a client is to others, which ask for most of it by the interface.
var (
	_ ledger.Forge      = (*Client)(nil)
	_ ledger.Repos      = (*Client)(nil)
	_ ledger.Jury       = (*Client)(nil)
	_ ledger.Recorder   = (*Client)(nil)
	_ ledger.Relabeler  = (*Client)(nil)
	_ ledger.Minimizer  = (*Client)(nil)
	_ ledger.Witness    = (*Client)(nil)
	_ ledger.PullReader = (*Client)(nil)
	_ ledger.Assigner   = (*Client)(nil)
	_ ledger.Eraser     = (*Client)(nil)
	_ ledger.Electorate = (*Client)(nil)
	_ gitref.Refs       = (*Client)(nil)
	_ gitref.Mover      = (*Client)(nil)
	_ gitref.Namer      = (*Client)(nil)
	_ gitref.Shower     = (*Client)(nil)
	_ prchain.Forge     = (*Client)(nil)
	_ prchain.Watcher   = (*Client)(nil)
)

// A Client is one GitHub, seen with one token. It may be used from any goroutine. Each part has a noun's requests and what was learned
// from their answers; the parts' methods are the client's.
type Client struct {
	*api          // REST and GraphQL themselves
	*viewer       // whose token it is
	*repositories // what a repository is, and its files
	*roles        // whose records count
	*definitions  // the labels that a repository defines
	*labelling    // the labels of an issue
	*comments
	*issues // texts and states; nothing that decides
	*pulls
	*checks
	*pauses
	*blockers
	*outsiders // pull requests of strangers
	*refs
	*tips      // references as snapshots showed them
	*snapshots // issues with everything that the rules look at
	*scans
	*heads     // pull requests by their branches
	*mutations // writes whose answer is a snapshot
}

// New returns a client. It sends nothing.
func New(o Options) (*Client, error) {
	o, err := o.settle()
	if err != nil {
		return nil, err
	}
	a, err := newAPI(o)
	if err != nil {
		return nil, err
	}
	c := &Client{api: a, viewer: &viewer{api: a}, checks: &checks{api: a}, refs: &refs{api: a}}
	c.comments = &comments{api: a, viewer: c.viewer}
	c.repositories = &repositories{api: a, path: o.Along, along: map[string]*along{}}
	c.roles = &roles{
		api: a, viewer: c.viewer, repositories: c.repositories, trust: o.Trust, view: o.View, warn: o.Warn,
		known: map[string]Role{}, secretive: map[string]bool{},
	}
	c.definitions = &definitions{
		api: a, repositories: c.repositories, roles: c.roles, scheme: o.Scheme, exists: map[string]bool{}, nodes: map[string]string{},
	}
	c.labelling = &labelling{api: a, definitions: c.definitions}
	c.pauses = &pauses{api: a, definitions: c.definitions, repositories: c.repositories, scheme: o.Scheme}
	begun := &beginnings{api: a, clock: o.Clock}
	c.issues = &issues{api: a, repositories: c.repositories, beginnings: begun, scheme: o.Scheme}
	c.pulls = &pulls{api: a, repositories: c.repositories, issues: c.issues, web: o.Web, dose: &dose{now: perQuery}}
	c.blockers = &blockers{api: a, issues: c.issues, scheme: o.Scheme, web: o.Web, off: o.Blockers, dose: &dose{now: perQuery}}
	c.outsiders = &outsiders{api: a, roles: c.roles, limit: o.OutsiderIssues, web: o.Web}
	c.tips = &tips{api: a, clock: o.Clock, shown: map[string]shownTip{}}
	c.snapshots = &snapshots{
		api: a, viewer: c.viewer, repositories: c.repositories, roles: c.roles, definitions: c.definitions, pauses: c.pauses, pulls: c.pulls,
		blockers: c.blockers, outsiders: c.outsiders, tips: c.tips, beginnings: begun,
		threads:     &threads{api: a, pages: &dose{now: perPage}, stretch: &dose{now: stretchesInQuery}},
		edits:       &edits{api: a, dose: &dose{now: editsInQuery}, meddlers: map[revision]string{}},
		linkedPulls: &linkedPulls{pulls: c.pulls, roles: c.roles, web: o.Web},
		scheme:      o.Scheme, web: o.Web, stageLocks: o.StageLocks, dose: &dose{now: perQuery}, nodes: map[string]string{},
	}
	c.scans = &scans{
		api: a, repositories: c.repositories, snapshots: c.snapshots, beginnings: begun, scheme: o.Scheme, pages: &dose{now: perPage}, numbers: &dose{now: perPage},
	}
	c.heads = &heads{api: a, repositories: c.repositories, pulls: c.pulls, snapshots: c.snapshots, scheme: o.Scheme}
	c.mutations = &mutations{api: a, viewer: c.viewer, definitions: c.definitions, snapshots: c.snapshots}
	return c, nil
}
