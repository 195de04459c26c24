package github

import (
	"net/http"
	"regexp"
	"strings"
)

// acceptedHeader names the permissions that an endpoint accepts from a fine-grained token: sets with "; " between, of which one is
// enough, and the permissions of a set with "," (GitHub's REST docs, "Troubleshooting the REST API").
const acceptedHeader = "X-Accepted-GitHub-Permissions"

var acceptedPattern = regexp.MustCompile(`^([a-z_]+)=(read|write|admin)$`)

// accepted is what the header says in the words of a workflow: "issues: write or pull-requests: write". It is empty where there is
// nothing that can be read. A set that only adds to one before it says nothing new.
func accepted(h http.Header) string {
	var sets []string
	for set := range strings.SplitSeq(h.Get(acceptedHeader), ";") {
		var all []string
		for one := range strings.SplitSeq(set, ",") {
			m := acceptedPattern.FindStringSubmatch(strings.TrimSpace(one))
			if m == nil {
				return ""
			}
			all = append(all, strings.ReplaceAll(m[1], "_", "-")+": "+m[2])
		}
		if text := strings.Join(all, " and "); len(sets) == 0 || !strings.HasPrefix(text, sets[0]+" and ") {
			sets = append(sets, text)
		}
	}
	return strings.Join(sets, " or ")
}
