package labelstate

// An Outcome is how a hold ended.
type Outcome string

// The outcomes that a worker may give to [Client.Release]. Failure, partial, no-commit, max-turns
// and error count as a failed attempt at the issue.
const (
	OutcomeSuccess            Outcome = "success"
	OutcomeFailure            Outcome = "failure"
	OutcomePartial            Outcome = "partial"
	OutcomeNoCommit           Outcome = "no-commit"
	OutcomeMaxTurns           Outcome = "max-turns"
	OutcomeError              Outcome = "error"
	OutcomeRateLimit          Outcome = "rate-limit"
	OutcomeWorktreeFailed     Outcome = "worktree-failed"
	OutcomeCancelled          Outcome = "cancelled"
	OutcomeAlreadyImplemented Outcome = "already-implemented"
)

// The outcomes that others record. A lost race has its own outcome,
// race-yielded-to=CODENAME:FIRING_ID.
const (
	OutcomeStaleSwept       Outcome = "stale-swept" // the lease expired; it counts as a failed attempt
	OutcomeForced           Outcome = "forced"
	OutcomePlanRejected     Outcome = "plan-rejected"
	OutcomePlanTimeout      Outcome = "plan-timeout"
	OutcomeAdvanced         Outcome = "advanced"  // to the next stage of a pipeline
	OutcomeAbandoned        Outcome = "abandoned" // given up before it was won
	OutcomeBundleRolledBack Outcome = "bundle-claim-rolled-back"
)

// A ReasonCode names a reason why an issue may not be taken.
type ReasonCode = string

// The codes of reasons, as docs/cli.md lists them.
const (
	ReasonInFlight        ReasonCode = "in-flight"         // another worker holds it, or is claiming it
	ReasonOwn             ReasonCode = "own"               // this run, or this person, holds it already
	ReasonPROpen          ReasonCode = "pr-open"           // a pull request for it is open
	ReasonMerged          ReasonCode = "merged"            // a pull request for it was merged, and it is still open
	ReasonClosed          ReasonCode = "closed"            // the issue, or the pull request, is closed
	ReasonPersonHold      ReasonCode = "person-hold"       // a label says that a person holds it
	ReasonAssigned        ReasonCode = "assigned"          // to another login
	ReasonNeedsScope      ReasonCode = "needs-scope"       // a person has to say what is wanted
	ReasonPaused          ReasonCode = "paused"            // the repository is paused
	ReasonLimit           ReasonCode = "limit"             // the repository limits how much is in progress at once
	ReasonExcludedLabel   ReasonCode = "excluded-label"    // a label keeps it out
	ReasonBlocked         ReasonCode = "blocked"           // it has open blockers
	ReasonBackingOff      ReasonCode = "backing-off"       // it waits between two attempts
	ReasonCutShort        ReasonCode = "cut-short"         // a contributor waits after a hold that expired or was ended
	ReasonTooManyAttempts ReasonCode = "too-many-attempts" // it failed too often
	ReasonPlan            ReasonCode = "plan"              // a label says that a plan waits
	ReasonDone            ReasonCode = "done"              // it is done, and still open
)

// The codes of reasons why it is unknown whether an issue is free; of [Status] only.
const (
	ReasonUnread  ReasonCode = "unread"  // something could not be read
	ReasonUnshown ReasonCode = "unshown" // GitHub counts comments that it does not show
)

// The codes of a [PassedOver] that do not come from the issue itself.
const (
	ReasonNotAskedFor ReasonCode = "not-asked-for" // other labels or priorities were asked for
	ReasonLostRace    ReasonCode = "lost-race"     // another worker was faster
	// this codename has released it as success a moment ago, without a pull request
	ReasonUnproven ReasonCode = "unproven"
)
