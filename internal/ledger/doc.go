// Package ledger appends one record to an issue's log and then brings its labels in line.
//
// Every verb is the same few steps: read, refuse, append, read again, reconcile. The claim adds
// the two-phase confirmation that makes its winner the only one (spec.md#claim). Nothing
// here decides what a log or a label means; that is claim's and lifecycle's business.
package ledger
