// Package github is the ledger's GitHub: REST through go-github, batches through GraphQL, and one
// transport of our own under both that retries, waits, paces, redacts and refuses writes in a dry run.
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
// # Parts
//
// A Client has no method of its own. Each part of it has the requests of one noun, the caches that their answers fill, and as named fields
// the parts that it asks: api sends, snapshots reads issues whole, scans reads repositories of them, mutations writes and reads in one request,
// roles judges whose records count. Its file has its name or, for snapshots, is facts.go, query.go and authors.go.
//
// # Errors
//
// Every error says what was tried and wraps one of *AuthError, *PermissionError, *NotFoundError,
// *MovedError, *RateLimitError, *StatusError, *AnswerError, *NetworkError, *QueryError or *DryRunError.
// Each has a method Rejected: true means that a write was certainly not applied, false that nobody knows.
// No error, and no value of this package when printed, contains the token or a URL's query.
//
// # How much one query asks for
//
// What GitHub cannot answer in time or within its resource limits is asked for again in halves, down to
// one issue, which is then read by REST. The size that worked is kept for the client's life. A scan that
// cannot go on names every issue that it did not read (*UnreadError).
//
// # Reading without GraphQL
//
// Where GraphQL is off, refused or too old, the same facts are read by REST with more requests.
// REST does not say who edited a comment, so a record changed by somebody else counts there; it
// does not show pull requests linked by hand; and the marker of a pause has no time of its own.
package github
