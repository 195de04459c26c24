// Package claim says what an issue's log means: records, their order, and who holds the issue.
//
// It is pure. A log goes in, a State comes out; time is an argument, and the same
// log gives everybody the same answer. The rules are PROTOCOL sections 1 and 2,
// restated for implementers in docs/spec.md.
package claim
