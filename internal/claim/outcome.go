package claim

import "strings"

// The outcomes this project writes (spec.md#attempts). Readers accept any other word; it does not
// count as an attempt.
const (
	OutcomeSuccess            = "success"
	OutcomeFailure            = "failure"
	OutcomePartial            = "partial"
	OutcomeNoCommit           = "no-commit"
	OutcomeMaxTurns           = "max-turns"
	OutcomeError              = "error"
	OutcomeStaleSwept         = "stale-swept"
	OutcomeRateLimit          = "rate-limit"
	OutcomeWorktreeFailed     = "worktree-failed"
	OutcomeRaceYielded        = "race-yielded"
	OutcomeCancelled          = "cancelled"
	OutcomeBundleRolledBack   = "bundle-claim-rolled-back"
	OutcomePlanRejected       = "plan-rejected"
	OutcomePlanTimeout        = "plan-timeout"
	OutcomeAlreadyImplemented = "already-implemented"
	OutcomeAbandoned          = "abandoned" // a claim that was given up before it was confirmed
	OutcomeForced             = "forced"
	OutcomeAdvanced           = "advanced" // the next stage of a pipeline
)

// WorkerOutcomes are the ones a worker may give for its own release, for help texts and checks.
func WorkerOutcomes() []string {
	return []string{
		OutcomeSuccess, OutcomeFailure, OutcomePartial, OutcomeNoCommit, OutcomeMaxTurns, OutcomeError,
		OutcomeRateLimit, OutcomeWorktreeFailed, OutcomeCancelled, OutcomeAlreadyImplemented,
	}
}

// CountsAgainst reports whether a hold that ended so was a failed attempt at the issue.
func CountsAgainst(outcome string) bool {
	switch outcome {
	case OutcomeFailure, OutcomePartial, OutcomeNoCommit, OutcomeMaxTurns, OutcomeError, OutcomeStaleSwept:
		return true
	}
	return false
}

// YieldedTo is the outcome of a lost race.
func YieldedTo(winner Worker) string { return OutcomeRaceYielded + "-to=" + winner.String() }

// Yielded returns who a lost race was yielded to.
func Yielded(outcome string) (Worker, bool) {
	rest, ok := strings.CutPrefix(outcome, OutcomeRaceYielded+"-to=")
	if !ok {
		return Worker{}, false
	}
	codename, firing, ok := strings.Cut(rest, ":")
	return Worker{codename, firing}, ok
}
