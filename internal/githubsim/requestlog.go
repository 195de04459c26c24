package githubsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A Request is one line of the request log.
type Request struct {
	Time    time.Time `json:"time"` // of its arrival
	Method  string    `json:"method"`
	Path    string    `json:"path"`              // as it was sent, with the query
	Status  int       `json:"status"`            // 0 when no answer arrived
	Login   string    `json:"login"`             // empty for an anonymous request or a bad token
	GraphQL string    `json:"graphql,omitempty"` // query or mutation, with the operation's name if it has one
	Refused bool      `json:"refused,omitempty"` // a mutation of which no field was carried out, though the status is 200
}

// Writes reports whether the request asked for a change.
func (r Request) Writes() bool {
	switch {
	case r.GraphQL != "":
		return strings.HasPrefix(r.GraphQL, "mutation")
	case r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions:
		return false
	}

	_, service, git := gitPath(r.Path)
	return !git || service != "git-upload-pack"
}

// Requests returns every request so far, in the order of their answers.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// note adds the request to the log.
func (s *Server) note(r *http.Request, body []byte, arrived time.Time, answer reply) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := Request{
		Time:    arrived.UTC(),
		Method:  r.Method,
		Path:    r.URL.RequestURI(),
		Status:  answer.status,
		GraphQL: operation(r, body),
	}

	if who, err := s.st.authenticate(r); err == nil && who.account != nil {
		line.Login = who.account.login
	}
	line.Refused = line.GraphQL != "" && line.Writes() && refusedWhole(answer.body)
	s.log = append(s.log, line)
	if s.options.RequestLog == nil {
		return nil
	}
	if err := json.NewEncoder(s.options.RequestLog).Encode(line); err != nil {
		return fmt.Errorf("write request log: %w", err)
	}

	return nil
}

// refusedWhole reports whether the answer to a mutation says that none of its fields was carried
// out: each is null, and has an error about itself. An error deeper in a payload leaves the change
// made, and an answer that cannot be read says nothing.
func refusedWhole(answer []byte) bool {
	var got struct {
		Data   map[string]json.RawMessage
		Errors []struct{ Path []any }
	}

	if json.Unmarshal(answer, &got) != nil || len(got.Errors) == 0 {
		return false
	}

	for name, payload := range got.Data {
		about := func(e struct{ Path []any }) bool { return len(e.Path) == 1 && e.Path[0] == name }
		if string(payload) != "null" || !slices.ContainsFunc(got.Errors, about) {
			return false
		}
	}

	return true
}

var operationPattern = regexp.MustCompile(`^(?:[\s,]|#[^\n]*\n)*(query|mutation|\{)\s*([_A-Za-z][_0-9A-Za-z]*)?`)

// operation says what a GraphQL request does, for the log; empty for other requests.
func operation(r *http.Request, body []byte) string {
	if apiPath(r.URL.Path) != "/graphql" {
		return ""
	}
	var sent struct {
		Query         string `json:"query"`
		OperationName string `json:"operationName"`
	}

	if json.Unmarshal(body, &sent) != nil {
		return "invalid"
	}
	m := operationPattern.FindStringSubmatch(sent.Query)
	switch {
	case m == nil:
		return "invalid"
	case m[1] == "{":
		return "query"
	case m[2] != "":
		return m[1] + " " + m[2]
	}

	return m[1]
}
