package protocol

import (
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
)

// An Operation is what is done about one issue, from the first look to the conclusion. It knows
// nothing but what do shows it.
type Operation func(do Do) Conclusion

// A Do carries effects out, and returns what came of them.
type Do func(Effects) Seen

// Begin begins the operation. next is shown what came of the last effects, the zero Seen at first,
// and says what is to be done now. stop must be called in the end: of an operation that is not done
// everything that it still wants is refused, and nobody hears of its conclusion.
func (op Operation) Begin() (next func(Seen) Effects, stop func()) {
	var seen Seen
	var end Conclusion
	pull, stop := iter.Pull(func(yield func(Effects) bool) {
		end = op(func(e Effects) Seen {
			if yield(e) {
				return seen
			}
			refused := Result{Did: Refused, Err: errStopped}
			return Seen{Err: errStopped, Ending: errStopped, Results: slices.Repeat([]Result{refused}, len(e.Writes))}
		})
	})

	return func(s Seen) Effects {
		seen = s
		effects, goesOn := pull()
		if !goesOn {
			return Effects{Done: &end}
		}
		return effects
	}, stop
}

var errStopped = errors.New("the operation was stopped")

// Effects are what an operation wants done: one line of the table in
// docs/decisions/2026-11-23-one-road.md.
type Effects struct {
	Writes []Write // in order, up to the first that was not applied
	Read   bool    // if all writes were applied: the snapshot that came with the last one, else a new one
	Ask    Ask     // what is asked beyond the snapshot
	Wait   time.Duration
	Spread bool        // Wait is the most: the driver draws how much of it
	Done   *Conclusion // the operation has ended
}

// An Ask is what an operation has to know beyond an issue's facts. The zero value asks for nothing.
type Ask struct {
	Lease  bool        // with a snapshot, the lease that a store has for the issue; Seen.Err says that it is not known
	Here   bool        // with a snapshot, this host's pause of the repository
	Counts bool        // whether records of this login count in the repository
	Pull   string      // the pull request at this address
	Load   bool        // what is in progress in the repository
	Moved  *LabelMoved // who moved a label last
	Votes  int64       // the reactions +1 and -1 to the comment with this id
	May    string      // whether the records of this login count in the repository
}

// A LabelMoved names a move of a label.
type LabelMoved struct {
	Label string
	On    bool // put on; else taken off
}

// Replies are the answers to an Ask that came without a snapshot.
type Replies struct {
	Err   error        // why the answer is not known, or is no
	Pull  lifecycle.PR // at Ask.Pull
	Load  lifecycle.Load
	Moved Removal // of Ask.Moved; zero when there was none
	Votes []Vote  // on Ask.Votes, oldest first
	May   bool    // Ask.May
}

// A Vote is one reaction to a plan.
type Vote struct {
	Login  string
	Person bool       // rather than an app or a bot
	Answer claim.Kind // claim.KindApprove or claim.KindReject
	At     time.Time
}

// String says who answered how.
func (v Vote) String() string {
	if v.Answer == claim.KindReject {
		return v.Login + " rejected the plan"
	}
	return v.Login + " approved the plan"
}

// A Removal says who took a label off an issue, or put it on, and when by the server's clock.
type Removal struct {
	By     string
	Person bool // rather than an app or a bot
	At     time.Time
}

// Seen is what an operation is shown. Durations are from the beginning of the operation, by this
// machine's clock.
type Seen struct {
	Read    bool            // Facts are a snapshot that was not shown before
	Facts   lifecycle.Facts // the snapshot, as the log has it
	Lease   lease.Lease     // that a store has for the issue; zero when none stands, or none was asked for
	Err     error           // an *UnknownError: why there is no snapshot, or no Lease to it
	Replies Replies
	Results []Result // one for each of the last writes that was sent, in their order
	Elapsed time.Duration
	Ending  error // why the caller has given up: clean up by what is known, then conclude; nil while it waits
}

// waited reports whether nothing was read: what was asked for was only to wait.
func (s Seen) waited() bool { return !s.Read && s.Err == nil }

// first returns the result of the first write.
func (s Seen) first() Result {
	if len(s.Results) == 0 {
		return Result{}
	}
	return s.Results[0]
}

// last returns the result of the last write that was sent.
func (s Seen) last() Result {
	if len(s.Results) == 0 {
		return Result{}
	}
	return s.Results[len(s.Results)-1]
}

// A WriteKind says what a Write does.
type WriteKind string

// The writes.
const (
	WritePost     WriteKind = "post"     // a comment with Body
	WriteEdit     WriteKind = "edit"     // of Comment, into Body
	WriteErase    WriteKind = "erase"    // of Comment
	WriteRelabel  WriteKind = "relabel"  // Labels: those to add, then those to remove
	WriteAssign   WriteKind = "assign"   // Login
	WriteUnassign WriteKind = "unassign" // Login
	WriteClose    WriteKind = "close"    // the issue, as completed
	WriteAcquire  WriteKind = "acquire"  // the lease that Acquire asks for
	WriteExtend   WriteKind = "extend"   // Lease
	WriteRelease  WriteKind = "release"  // Lease
	WriteEnd      WriteKind = "end"      // the lease that Record ends, if there is one
)

// Tells reports whether the write is to a lease store, rather than to GitHub.
func (k WriteKind) Tells() bool {
	return k == WriteAcquire || k == WriteExtend || k == WriteRelease || k == WriteEnd
}

// A Write changes something about the issue.
type Write struct {
	Kind      WriteKind
	Optional  bool // that it is refused does not keep the writes after it
	Body      string
	Uncertain bool // of a post: also where it is not known whether it counts
	Comment   int64
	Node      string // the global id of Comment, where a snapshot has shown it; the driver sets it
	Labels    labels.Change
	Login     string
	Acquire   lease.Ask
	Lease     lease.Lease
	Record    claim.Record
}

// Did says what became of a write.
type Did string

// What becomes of a write.
const (
	Applied Did = "applied"
	Refused Did = "refused" // certainly not applied
	Unknown Did = "unknown" // applied, or not, or later
	Gone    Did = "gone"    // what was to be changed does not exist
)

// A Result is what became of a write.
type Result struct {
	Did            Did
	Err            error // nil when it was applied
	Comment        claim.Comment
	Lease          lease.Lease   // of WriteAcquire and WriteExtend
	Sent, Answered time.Duration // just before and just after; what a lease counts from is Sent
}

// A Conclusion is how an operation ended. Every operation says what its fields mean.
type Conclusion struct {
	Err    error
	Facts  lifecycle.Facts // the last snapshot
	Repair Repair          // of the labels

	Claim      claim.Claim   // the hold
	Lease      lease.Lease   // that a store gave for it
	Since      time.Duration // when the lease was asked for, from Began
	Began      time.Time     // when the operation began, by the clock of the driver, which sets it
	Records    []claim.Record
	Comment    claim.Comment // of the last record
	Ended      []claim.Claim
	Swept      int          // how many of them because their time was over
	Mirrored   *claim.Claim // a store's hold whose record was missing; nil when none was
	Answered   bool
	Stage      labels.Stage
	Term       time.Duration // how long the lease stands, from Since on
	Until      time.Time     // when that is by the server's clock; zero for never
	Admitted   *Claim        // of an admission
	Unassigned error         // why the login could not be assigned
}

// failed is the end of an operation with an error.
func failed(i claim.Issue, err error) Conclusion {
	return Conclusion{Err: err, Repair: Repair{Issue: i}}
}
