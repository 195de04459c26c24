package github

import (
	"net/http"
	"testing"
)

// TestAccepted: what GitHub's header says, in the words of a workflow; what is not of its form is
// not repeated.
func TestAccepted(t *testing.T) {
	for header, want := range map[string]string{
		"":                                  "",
		"contents=write":                    "contents: write",
		"issues=write; pull_requests=write": "issues: write or pull-requests: write",
		"contents=write; contents=write,workflows=write": "contents: write",
		"contents=write,workflows=write":                 "contents: write and workflows: write",
		"issues=write; ::error::x":                       "",
		"issues":                                         "",
		"allows_permissionless_access=true":              "",
	} {
		if got := accepted(http.Header{"X-Accepted-Github-Permissions": {header}}); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}
