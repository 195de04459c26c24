// Package protocol decides what is written about one issue: how it is claimed, renewed, released
// and all else that the specification has. It is pure. An Operation is shown what came of its last
// Effects and says what to do next; package ledger drives it: it reads, writes, waits and repeats
// what a transport may repeat.
//
// Nothing here decides what a log or a label means; that is claim's and lifecycle's business.
package protocol
