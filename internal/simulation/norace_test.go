//go:build !race

package simulation

const (
	perTest = 100 // seeds
	big     = 200 // workers
)
