// Package ledger carries out what package protocol decides: it reads issues, writes comments and
// labels, asks lease stores and waits. Run is the one place that does. Bundles, sweeps and waiting
// for an issue are plain Go above it.
package ledger
