package github

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// lowBudget is how many requests are left when the one warning is given.
const lowBudget = 100

// watch looks after the budgets.
type watch struct {
	warn   func(string)
	warned atomic.Bool
}

// see reads an answer's rate headers and warns once in a client's life when little is left.
func (w *watch) see(h http.Header, resource string) {
	limit, noLimit := strconv.Atoi(h.Get("X-RateLimit-Limit"))
	remaining, noRemaining := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	reset, noReset := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	if noLimit != nil || noRemaining != nil || noReset != nil || remaining >= lowBudget || w.warned.Swap(true) {
		return
	}
	if named := h.Get("X-RateLimit-Resource"); named != "" {
		resource = oneLine(named)
	}
	w.warn(fmt.Sprintf("%d of %d %s requests left until %s", remaining, limit, resource, time.Unix(reset, 0).UTC().Format("15:04 UTC")))
}

// isComment reports whether a request posts a comment, which GitHub limits more than anything else.
func (t traits) isComment(root string) bool {
	base, err := url.Parse(root)
	if err != nil {
		return false
	}
	words := strings.Split(strings.TrimPrefix(t.url.EscapedPath(), base.EscapedPath()), "/")
	return t.method == http.MethodPost && !t.graphql && len(words) == 6 && words[3] == "issues" && words[5] == "comments"
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
