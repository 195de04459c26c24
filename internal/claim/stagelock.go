package claim

import "strings"

// StageLock is the codename of claims that were read from stage locks.
const StageLock = "stage-lock"

// FromStageLock returns the claim that a stage lock stands for, in our own form, or the body as it is. A stage lock is the
// record of stage pipelines that keep no log: <!-- claim run=RUN ttl=600s -->, the ttl optional. The claim has no nonce, and so
// counts as confirmed, as an original writer's does.
func FromStageLock(body string) string {
	fields, ok := strings.CutPrefix(strings.TrimPrefix(body, "\ufeff"), "<!-- claim run=")
	fields, _, closed := strings.Cut(fields, " -->")
	run, ttl, timed := strings.Cut(fields, " ttl=")
	if !ok || !closed || !isStageRun(run) || (timed && !isStageTTL(ttl)) {
		return body
	}
	text, err := Encode(Record{Kind: KindClaim, Worker: Worker{Codename: StageLock, FiringID: run}, TTL: parseTTL(ttl)})
	if err != nil {
		return body
	}
	return text
}

// isStageRun reports whether s can be the run of a stage lock: 1 to 128 letters, digits and, except first, any of "._:-".
func isStageRun(s string) bool {
	if len(s) == 0 || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		case i > 0 && strings.IndexByte("._:-", c) >= 0:
		default:
			return false
		}
	}
	return true
}

// isStageTTL reports whether s is 1 to 9 digits, with a unit (s, m or h) or without.
func isStageTTL(s string) bool {
	digits := strings.TrimRight(s, "smh")
	if len(digits) == 0 || len(digits) > 9 || len(s)-len(digits) > 1 {
		return false
	}
	return strings.Trim(digits, "0123456789") == ""
}
