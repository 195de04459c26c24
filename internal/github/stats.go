package github

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Stats count what a client has sent. Every try counts as a request.
type Stats struct {
	Requests int
	Reads    int
	Writes   int
	Retries  int            // tries after the first of a request, rate limits aside
	Waits    int            // times a request waited for a rate limit or for its turn to post
	ByKind   map[string]int // "GET issues", "POST issues/comments", "query", "mutation", …
	Budgets  map[string]Budget
}

// A Budget is what the last answer said of one hourly budget.
type Budget struct {
	Limit, Remaining int
	Reset            time.Time
}

const (
	lowBudget   = 100 // requests left when the one warning is given
	kindQuery   = "query"
	kindMutate  = "mutation"
	kindComment = "POST issues/comments"
)

// recorder keeps the counts, the budgets and what a dry run held back.
type recorder struct {
	warn func(string)

	mu      sync.Mutex
	stats   Stats
	planned []Planned
	warned  bool
}

func newRecorder(warn func(string)) *recorder {
	return &recorder{warn: warn, stats: Stats{ByKind: map[string]int{}, Budgets: map[string]Budget{}}}
}

func (r *recorder) sent(kind string, write bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Requests++
	r.stats.ByKind[kind]++
	if write {
		r.stats.Writes++
	} else {
		r.stats.Reads++
	}
}

func (r *recorder) retry() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Retries++
}

func (r *recorder) wait() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Waits++
}

func (r *recorder) plan(p Planned) Planned {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.planned = append(r.planned, p)
	return p
}

// budget notes the rate headers and warns once in a client's life when little is left.
func (r *recorder) budget(h http.Header, resource string) {
	b, ok := budgetOf(h)
	if !ok {
		return
	}
	if named := h.Get("X-RateLimit-Resource"); named != "" {
		resource = printable(named)
	}
	if r.note(b, resource) {
		r.warn(fmt.Sprintf("%d of %d %s requests left until %s", b.Remaining, b.Limit, resource, b.Reset.Format("15:04 UTC")))
	}
}

func (r *recorder) note(b Budget, resource string) (warn bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Budgets[resource] = b
	warn = b.Remaining < lowBudget && !r.warned
	r.warned = r.warned || warn
	return warn
}

func budgetOf(h http.Header) (Budget, bool) {
	limit, err1 := strconv.Atoi(h.Get("X-RateLimit-Limit"))
	remaining, err2 := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	reset, err3 := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	ok := err1 == nil && err2 == nil && err3 == nil
	return Budget{Limit: limit, Remaining: remaining, Reset: time.Unix(reset, 0).UTC()}, ok
}

func (r *recorder) snapshot() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.stats
	out.ByKind, out.Budgets = maps.Clone(out.ByKind), maps.Clone(out.Budgets)
	return out
}

func (r *recorder) plans() []Planned {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.planned)
}

// kindOf names a request without its parameters: "POST issues/comments", "GET labels", "query".
func kindOf(t traits, root string) string {
	switch {
	case t.graphql && t.write:
		return kindMutate
	case t.graphql:
		return kindQuery
	}
	words := pathOf(t.url, root)
	if len(words) > 3 && words[0] == "repos" {
		words = words[3:]
	}
	var kept []string
	for i, word := range words {
		if i > 0 && takesName(words[i-1]) || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_") != "" {
			continue
		}
		kept = append(kept, word)
	}
	return t.method + " " + strings.Join(kept, "/")
}

// takesName reports whether the next part of a path is a name somebody chose.
func takesName(word string) bool {
	return slices.Contains([]string{"repos", "labels", "collaborators", "contents"}, word)
}

// pathOf returns the parts of a REST path below the API root, still escaped.
func pathOf(u *url.URL, root string) []string {
	base, err := url.Parse(root)
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimPrefix(u.EscapedPath(), base.EscapedPath()), "/")
}

// readsOnly reports whether a GraphQL request cannot change anything. A document that begins with
// a query and names no operation runs that query, or nothing (GraphQL specification, 6.1).
func readsOnly(body []byte) bool {
	var request struct {
		Query         string
		OperationName string `json:"operationName"`
	}
	if json.Unmarshal(body, &request) != nil || request.OperationName != "" {
		return false
	}
	document := strings.TrimLeft(request.Query, " \t\r\n,\ufeff")
	return strings.HasPrefix(document, "{") || strings.HasPrefix(document, "query")
}
