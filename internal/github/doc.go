// Package github is the ledger's GitHub: what issues are is read by GraphQL, what GraphQL has not
// or has worse by REST through go-github, and one transport of our own under both retries, waits,
// paces, redacts and refuses writes in a dry run.
//
// A Client satisfies ledger.Forge and ledger.Repos. What it offers:
//
//	New(Options) (*Client, error)
//
//	Facts(ctx, issue) (lifecycle.Facts, error)          one issue, one request
//	FactsOf(ctx, issues) []Snapshot                     fifty issues of any repositories, one request
//	Scan(ctx, repo, since) iter.Seq2[Facts, error]      everything a sweep looks at
//	Comment, EditComment, React                         comments
//	AddLabel, RemoveLabel                               labels of an issue
//	Labels, CreateLabel, UpdateLabel, DeleteLabel       label definitions of a repository
//	Pause, Pauses, SetPause, ClearPause                 the pause marker
//	Viewer, TokenScopes, Repository, Pull, File         who we are and what there is
//	Do, Query                                           anything else, over the same transport
//
// # Where what was learned is kept
//
// Requests are methods of Client, in a file for each noun. What answers have taught is in the
// client's memos, maps that may be asked from any goroutine, and in a few atomic values
// (client.go).
//
// # Errors
//
// Every error says what was tried and wraps one of *AuthError, *PermissionError, *NotFoundError,
// *MovedError, *RateLimitError, *StatusError, *AnswerError, *NetworkError, *QueryError or
// *NoGraphQLError; a dry run fails every write. Each has a method Rejected: true means that a write
// was certainly not applied, false that nobody knows. No error, and no value of this package when
// printed, contains the token or a URL's query.
//
// # How much one query asks for
//
// What is too much is asked for again in halves: what GitHub could not answer in time, refused for
// its weight, or answered with more than is read. Several issues are halved down to one, one
// issue's pages of comments and pull requests down to twelve, a list's pages down to one item
// (halves.go). An issue that is too much even so is an error that names it, and the others are
// read. A scan that cannot go on names every issue that it did not read (*UnreadError). A list
// whose pages do not end is an error.
//
// # Without GraphQL
//
// Where GraphQL is off, refused or too old, nothing is known about an issue: the error is a
// *NoGraphQLError. What a schema lacks and can be done without (blockers, duplicates, assigned
// bots, edits, parts of long threads) is left out of further queries.
package github
