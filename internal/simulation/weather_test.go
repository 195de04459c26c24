package simulation

import (
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
)

// A weather is how often what goes wrong. Shares are of requests.
type weather struct {
	name    string
	stale   time.Duration // a read may miss what is younger than this …
	late    time.Duration // … and what somebody posted may become visible so much later, after what is younger
	lost    float64       // applied, and the answer lost
	delayed float64       // applied up to a minute later, and no answer
	dropped float64       // neither applied nor answered
	failed  float64       // 502, half of them applied
	limited float64       // 403 or 429: too fast
	cut     float64       // the answer breaks off
	slow    float64       // takes up to 15 s on one of its ways
	paused  float64       // the machine sleeps before it, or before it sees the answer
	crash   float64       // the process ends before it, or before it sees the answer
	skew    time.Duration // a machine's clock may be wrong by this
}

// weathers are the kinds of trouble, alone and together. What guarantees.md#what-the-log-guarantees
// does not promise, comments that are deleted and reads older than the grace, is in none.
func weathers() []weather {
	return []weather{
		{name: "calm"},
		{name: "stale", stale: 25 * time.Second},
		{name: "inverted", late: 20 * time.Second},
		{name: "stale and inverted", stale: 20 * time.Second, late: 20 * time.Second},
		{
			name:    "lossy",
			lost:    0.05,
			delayed: 0.03,
			dropped: 0.05,
			failed:  0.03,
			cut:     0.02,
		},
		{name: "limited", limited: 0.03},
		{
			name:   "slow",
			slow:   0.1,
			paused: 0.004,
			skew:   5 * time.Hour,
		},
		{name: "crashes", crash: 0.01},
		{
			name:    "everything",
			stale:   20 * time.Second,
			late:    15 * time.Second,
			lost:    0.03,
			delayed: 0.02,
			dropped: 0.02,
			failed:  0.02,
			limited: 0.005,
			cut:     0.01,
			slow:    0.02,
			paused:  0.002,
			crash:   0.005,
			skew:    5 * time.Hour,
		},
	}
}

// A fate is what happens to one request.
type fate struct {
	fault          githubsim.Fault
	there, back    time.Duration // how long its ways take
	before, after  time.Duration // how long the machine sleeps before it is sent and before its answer is looked at
	dies, diesLate bool          // the process, before it is sent or before its answer arrives
}

// draw decides what happens to a request.
func (w weather) draw(rng *rand.Rand) fate {
	f := fate{there: way(rng), back: way(rng)}
	if w.stale > 0 && rng.Float64() < 0.5 { // writes know the present all the same
		f.fault.StaleFor = span(rng, w.stale)
	}

	for _, trouble := range []struct {
		share float64
		do    func()
	}{
		{w.lost, func() { f.fault.ApplyThenFail = true }},
		{w.delayed, func() { f.fault.ApplyLate = span(rng, time.Minute) }},
		{w.dropped, func() { f.fault.Reset = true }},
		{w.failed, func() { f.fault.Status, f.fault.ApplyThenFail = http.StatusBadGateway, rng.Float64() < 0.5 }},
		{w.limited, func() { f.fault = tooFast(rng) }},
		{w.cut, func() { f.fault.Truncate = 1 + rng.IntN(200) }},
		{w.slow, func() { f.there, f.back = eitherWay(rng, 15*time.Second) }},
		{w.paused, func() { f.before, f.after = eitherWay(rng, 45*time.Minute) }},
		{w.crash, func() { f.dies = rng.Float64() < 0.5; f.diesLate = !f.dies }},
	} {
		if rng.Float64() < trouble.share {
			trouble.do()
		}
	}

	return f
}

// tooFast is one of the ways in which GitHub says so.
func tooFast(rng *rand.Rand) githubsim.Fault {
	f := githubsim.SecondaryLimit(rng.IntN(3) * (1 + rng.IntN(40)))
	if rng.Float64() < 0.5 {
		f.Status = http.StatusTooManyRequests
	}
	return f
}

func eitherWay(rng *rand.Rand, d time.Duration) (there, back time.Duration) {
	if rng.Float64() < 0.5 {
		return span(rng, d), way(rng)
	}
	return way(rng), span(rng, d)
}

// way is how long a request takes one way on an ordinary day.
func way(rng *rand.Rand) time.Duration {
	if rng.Float64() < 0.2 {
		return span(rng, 1500*time.Millisecond)
	}
	return span(rng, 100*time.Millisecond)
}

// hide is how long a comment stays out of sight: mostly about as long as a claim waits before it
// looks.
func hide(rng *rand.Rand, most time.Duration) time.Duration {
	if rng.Float64() < 0.7 {
		most = min(most, 5*time.Second)
	}
	return span(rng, most)
}

// span is above zero and at most d.
func span(rng *rand.Rand, d time.Duration) time.Duration {
	return 1 + time.Duration(rng.Int64N(int64(d)))
}
