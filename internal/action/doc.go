// Package action runs one step in GitHub Actions: a workflow event becomes ledger operations, and
// what they did becomes a job summary, outputs, a log and an exit code.
//
// The event only says where to look. What is true is read from GitHub: deliveries repeat, arrive
// out of order, and may lack half of their payload.
package action
