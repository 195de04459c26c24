package github

import (
	"sync"

	"github.com/label-state/label-state/internal/lease/gitref"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/prchain"
)

// What a client is to others, which ask for most of it by the interface.
var (
	_ ledger.Forge    = (*Client)(nil)
	_ ledger.Repos    = (*Client)(nil)
	_ gitref.Refs     = (*Client)(nil)
	_ prchain.Forge   = (*Client)(nil)
	_ prchain.Watcher = (*Client)(nil)
)

// A Client is one GitHub, seen with one token. It may be used from any goroutine. What was learned
// from answers is in the parts that are embedded or named here, each with a lock of its own;
// everything else is a request.
type Client struct {
	o             Options
	*api          // REST and GraphQL themselves
	*viewer       // whose token it is
	*repositories // what a repository is, and its files
	*roles        // whose records count
	*definitions  // the labels that a repository defines
	*tips         // references as snapshots showed them
	edits         *edits
	beginnings    *beginnings

	mu      sync.Mutex
	nodes   map[string]string   // global ids of issues, lower case
	inQuery measure             // issues with their facts, in one query
	onPage  map[string]measure  // the same on a page of a list, by repository, lower case
	crowds  map[string]openList // open pull requests, by repository or by account
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

	v := &viewer{api: a}
	rp := &repositories{api: a, path: o.Along, along: map[string]*along{}}
	rs := &roles{
		api:          a,
		viewer:       v,
		repositories: rp,
		trust:        o.Trust,
		view:         o.View,
		warn:         o.Warn,
		known:        map[string]Role{},
		secretive:    map[string]bool{},
	}

	return &Client{
		o:            o,
		api:          a,
		viewer:       v,
		repositories: rp,
		roles:        rs,
		definitions: &definitions{
			api:          a,
			repositories: rp,
			roles:        rs,
			scheme:       o.Scheme,
			exists:       map[string]bool{},
			nodes:        map[string]string{},
		},
		tips:       &tips{api: a, clock: o.Clock, shown: map[string]shownTip{}},
		edits:      &edits{api: a, meddlers: map[revision]string{}},
		beginnings: &beginnings{api: a, clock: o.Clock},
		nodes:      map[string]string{},
		onPage:     map[string]measure{},
		crowds:     map[string]openList{},
	}, nil
}
