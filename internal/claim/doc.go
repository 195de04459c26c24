// Package claim says what an issue's log means: records, their order, and who holds the issue.
//
// It is pure. A log goes in, a State comes out; time is an argument, and the same log gives
// everybody the same answer. The rules are those of docs/spec.md (spec.md#records,
// spec.md#the-log).
package claim
