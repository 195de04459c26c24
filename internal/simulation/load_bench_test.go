package simulation

import (
	"testing"
	"time"
)

// BenchmarkFleet prints what fleets cost GitHub in an hour of virtual time: requests for each
// issue, and the worst that any account asks for. Its own time says how fast the simulation is,
// nothing else.
func BenchmarkFleet(b *testing.B) {
	for name, form := range map[string]func() *fleet{"200-tokens": ownTokens, "one-token": oneToken} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f := form()
				virtually(b, f.run)
				f.metrics(b)
			}
		})
	}
}

// virtually runs a test in a benchmark: there is no virtual time without a test.
func virtually(b *testing.B, run func(*testing.T)) {
	b.Helper()
	all := func(string, string) (bool, error) { return true, nil }
	if !testing.RunTests(all, []testing.InternalTest{{Name: b.Name(), F: run}}) {
		b.Fatal("the fleet failed")
	}
}

func (f *fleet) metrics(b *testing.B) {
	g := f.gauge
	b.ReportMetric(float64(f.done), "issues")
	b.ReportMetric(f.spent.Minutes(), "minutes")
	b.ReportMetric(float64(g.requests)/float64(f.done), "requests/issue")
	b.ReportMetric(float64(g.refused), "refused")
	b.ReportMetric(float64(g.worst(func(u *usage) int { return hourly(u.core) })), "REST/h")
	b.ReportMetric(float64(g.worst(func(u *usage) int { return hourly(u.query) })), "GraphQL/h")
	b.ReportMetric(float64(g.worst(func(u *usage) int { return most(u.points, time.Minute) })), "points/min")
	b.ReportMetric(float64(g.worst(func(u *usage) int { return most(u.content, time.Hour) })), "comments/h")
}
