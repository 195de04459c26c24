package githubsim

import (
	"cmp"
	"fmt"
	"net/http"
	"sync"
)

// A meter counts what a GraphQL query reads and refuses what is past the limits of the fault it was
// made for. Connections are resolved side by side, so which of them is refused differs from time to
// time, as it does at GitHub.
type meter struct {
	nodes, connections, timeout int // 0: no limit
	status                      int // of a timeout; 0: 502

	mu                         sync.Mutex
	readNodes, readConnections int
	exceeded                   bool
}

func newMeter(f Fault) *meter {
	return &meter{
		nodes:       f.QueryNodes,
		connections: f.QueryConnections,
		timeout:     f.QueryTimeout,
		status:      f.Status,
	}
}

// lift takes the limits away.
func (m *meter) lift() { m.nodes, m.connections, m.timeout = 0, 0, 0 }

// read counts one connection with so many nodes.
func (m *meter) read(nodes int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.readNodes += nodes
	m.readConnections++
	if m.nodes > 0 && m.readNodes > m.nodes || m.connections > 0 && m.readConnections > m.connections {
		m.exceeded = true
	}

	if m.exceeded {
		return &gqlFault{"RESOURCE_LIMITS_EXCEEDED", "Resource limits for this query exceeded."}
	}

	return nil
}

// timedOut reports whether the query took longer than GitHub gives it.
func (m *meter) timedOut() bool { return m.timeout > 0 && m.readNodes > m.timeout }

// giveUp is how GitHub ends a query that takes too long. Its own answer is GraphQL's; a 504 comes
// from a proxy before it.
func (c *call) giveUp(w http.ResponseWriter) {
	status := cmp.Or(c.meter.status, http.StatusBadGateway)
	if status == http.StatusGatewayTimeout {
		c.header.Set("Content-Type", "text/html")
		w.WriteHeader(status)
		_, _ = w.Write([]byte("<html><head><title>504 Gateway Time-out</title></head></html>")) // into memory
		return
	}

	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"data":null,"errors":[{"message":"Something went wrong while executing your query. This may be the result of a `+
		"timeout, or it could be a GitHub bug. Please include `%s` when reporting this issue.\"}]}", c.header.Get("X-GitHub-Request-Id"))
}
