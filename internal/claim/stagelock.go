package claim

import (
	"regexp"
	"strings"
)

// StageLock is the codename of claims that were read from stage locks.
const StageLock = "stage-lock"

// stageLock is the record of stage pipelines that keep no log: <!-- claim run=<nonce> ttl=600s -->.
var stageLock = regexp.MustCompile(`^<!-- claim run=([A-Za-z0-9][A-Za-z0-9._:-]{0,127})(?: ttl=([0-9]{1,9}[smh]?))? -->`)

// FromStageLock returns the claim that a stage lock stands for, in our own form, or the body as it is.
// It has no nonce, and so counts as confirmed, as an original writer's does.
func FromStageLock(body string) string {
	m := stageLock.FindStringSubmatch(strings.TrimPrefix(body, "\ufeff"))
	if m == nil {
		return body
	}
	text, err := Encode(Record{Kind: KindClaim, Worker: Worker{Codename: StageLock, FiringID: m[1]}, TTL: parseTTL(m[2])})
	if err != nil {
		return body
	}
	return text
}
