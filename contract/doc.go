// Package contract holds the embedded GitHub and our client against what GitHub says of itself.
//
// It is a module of its own, so that the judges it imports stay out of the product's. The
// descriptions come from npm:
//
//	cd contract && npm ci && go test ./...
//
// Without them the tests that need them skip with the reason; where LABEL_STATE_REQUIRE lists npm
// they fail.
//
//	TestRequests   every REST endpoint and every mutation of the simulator, asked and answered as GitHub describes it
//	TestClient     every request of the client, by REST and by GraphQL, and every answer to it
//	TestSchema     the simulator's GraphQL schema is a part of GitHub's
//	TestWebhooks   the simulator's events are webhooks of GitHub's
//	TestExamples   the Action reads GitHub's own examples of webhooks
//	TestSabotaged… the judges of all these see what is wrong
//	TestBehaviour  what no description says: order, races, texts. It, TestProgram, TestReader and TestLimits need no npm
//	TestReader     a second implementation of the contract, in reader, gives the result of every vector (node)
//	TestProgram    the same of "label-state sim" as a program of its own
//
// The program in live looks at the real GitHub for what no description says (docs/github.md).
//
// Where a description is wrong or behind, the difference is listed with its reason in
// exceptions_test.go; what is listed and does not occur fails too.
//
// TestBehaviour always runs against the simulator. It runs against any other GitHub too, for which
// it needs LABEL_STATE_CONTRACT_URL (the API root), LABEL_STATE_CONTRACT_TOKEN and
// LABEL_STATE_CONTRACT_REPO: owner/repo of a scratch repository with a commit, where the token may
// write. It leaves closed issues behind.
package contract
