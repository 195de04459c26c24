package githubwork_test

import (
	"testing"
	"testing/synctest"
	"time"
)

// BenchmarkFleet drains a queue with agents that die, in virtual time, and reports the requests for
// each completed issue and the virtual time; ns/op is the real time of all of it, the embedded
// GitHub included.
// -agents and -issues set the size.
func BenchmarkFleet(b *testing.B) {
	var requests int
	var wall time.Duration
	play := func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, *agents, *issues)
			start := time.Now()
			f.drain(t.Context())
			f.check()
			requests, wall = len(f.Requests()), time.Since(start)
		})
	}

	all := func(string, string) (bool, error) { return true, nil }
	for b.Loop() {
		if !testing.RunTests(all, []testing.InternalTest{{Name: "fleet", F: play}}) {
			b.Fatal("the fleet failed")
		}
	}

	b.ReportMetric(float64(requests)/float64(*issues), "requests/issue")
	b.ReportMetric(wall.Minutes(), "virtual-min")
}
