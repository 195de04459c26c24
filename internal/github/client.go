package github

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	gogithub "github.com/google/go-github/v62/github"
)

// A Client is one GitHub, seen with one token: REST and GraphQL over one transport, and what was
// learned from answers. It may be used from any goroutine.
type Client struct {
	o         Options
	transport *transport
	rest      *gogithub.Client

	lacks    memo[string, bool]     // what the server does not have, by feature
	nodes    memo[string, string]   // global ids of issues
	labels   memo[string, label]    // of repositories
	roles    memo[string, Role]     // of accounts
	measures memo[string, measure]  // issues with their facts on a page, by repository; in one query, by nothing
	crowds   memo[string, openList] // open pull requests, by repository or by account
	along    memo[string, along]    // what came along with the first query, by repository
	shown    memo[string, shownTip] // references as snapshots showed them
	meddlers memo[revision, string] // who of others has edited a record; empty when nobody has

	leases  atomic.Bool // whether snapshots show the references of leases
	welcome atomic.Bool // who does not count may claim by a comment

	login   atomic.Value              // whose token it is; nil until it is known
	guessed atomic.Value              // that a view went by a guess; nil when it did not
	begun   atomic.Pointer[beginning] // until it is asked for
}

// New returns a client. It sends nothing.
func New(o Options) (*Client, error) {
	o, err := o.settle()
	if err != nil {
		return nil, err
	}

	base, err := url.Parse(o.REST)
	if err != nil {
		return nil, fmt.Errorf("use REST address: %w", err)
	}

	c := &Client{o: o, transport: newTransport(o)}
	c.rest = gogithub.NewClient(&http.Client{Transport: c.transport})
	c.rest.BaseURL = base
	if o.Blockers.NativeOff {
		c.lack(featureBlockers)
		c.lack(featureDependencies)
	}

	return c, nil
}

// has reports whether nothing is known to be missing of a feature of the server's.
func (c *Client) has(feature string) bool {
	lacks, _ := c.lacks.get(feature)
	return !lacks
}

func (c *Client) lack(feature string) { c.lacks.note(feature, true) }

// A memo is what was learned about things, by their keys.
type memo[K comparable, V any] struct{ of sync.Map }

func (m *memo[K, V]) get(k K) (v V, known bool) {
	got, known := m.of.Load(k)
	v, _ = got.(V) // nothing, where it is not known
	return v, known
}

func (m *memo[K, V]) note(k K, v V) { m.of.Store(k, v) }

// first notes something unless it is known, and reports whether it was not.
func (m *memo[K, V]) first(k K, v V) bool {
	_, known := m.of.LoadOrStore(k, v)
	return !known
}

func (m *memo[K, V]) forget(k K) { m.of.Delete(k) }

// key is the key of something that is named by parts, in any case.
func key(parts ...string) string { return strings.ToLower(strings.Join(parts, "\x00")) }

// pattern is a regular expression that is compiled when it is first asked for.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
