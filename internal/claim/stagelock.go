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
	// A run is 1 to 128 letters, digits and, except first, any of "._:-"; a ttl is 1 to 9 digits, with a unit or without.
	const digits = "0123456789"
	const word = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" + digits
	number := strings.TrimRight(ttl, "smh")
	badTTL := number == "" || len(number) > 9 || len(ttl)-len(number) > 1 || strings.Trim(number, digits) != ""
	if run == "" || len(run) > 128 || !strings.Contains(word, run[:1]) || strings.Trim(run, word+"._:-") != "" || !ok || !closed || timed && badTTL {
		return body
	}
	text, err := Encode(Record{Kind: KindClaim, Worker: Worker{Codename: StageLock, FiringID: run}, TTL: parseTTL(ttl)})
	if err != nil {
		return body
	}
	return text
}
