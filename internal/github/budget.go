package github

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A budget is what an answer says of one hourly budget.
type budget struct {
	limit, remaining int
	reset            time.Time
}

// lowBudget is how many requests are left when the one warning is given.
const lowBudget = 100

// watch looks after the budgets.
type watch struct {
	warn   func(string)
	mu     sync.Mutex
	warned bool
}

// see reads an answer's rate headers and warns once in a client's life when little is left.
func (w *watch) see(h http.Header, resource string) {
	b, ok := budgetOf(h)
	if !ok || b.remaining >= lowBudget || !w.first() {
		return
	}
	if named := h.Get("X-RateLimit-Resource"); named != "" {
		resource = oneLine(named)
	}
	w.warn(fmt.Sprintf("%d of %d %s requests left until %s", b.remaining, b.limit, resource, b.reset.Format("15:04 UTC")))
}

// first reports whether nobody was warned yet.
func (w *watch) first() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.warned
	w.warned = true
	return !was
}

func budgetOf(h http.Header) (budget, bool) {
	limit, err1 := strconv.Atoi(h.Get("X-RateLimit-Limit"))
	remaining, err2 := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	reset, err3 := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	ok := err1 == nil && err2 == nil && err3 == nil
	return budget{limit, remaining, time.Unix(reset, 0).UTC()}, ok
}

// isComment reports whether a request posts a comment, which GitHub limits more than anything else.
func (t traits) isComment(root string) bool {
	words := pathOf(t.url, root)
	return t.method == http.MethodPost && !t.graphql && len(words) == 6 && words[3] == "issues" && words[5] == "comments"
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
