package clock_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/clock"
)

// TestVigil: what is waited for is told when nothing was for as long as Silence; what ends before
// is not.
func TestVigil(t *testing.T) {
	for name, c := range map[string]struct {
		steps func(v *clock.Vigil)
		want  []string
	}{
		"quick": {func(v *clock.Vigil) {
			v.For("an answer", time.Now().Add(10*time.Second))
			time.Sleep(clock.Silence - 1)
		}, nil},
		"slow": {func(v *clock.Vigil) {
			v.For("an answer", time.Now().Add(10*time.Second))
			time.Sleep(clock.Silence + 1)
		}, []string{"3s: an answer until 10s"}},
		"several": {func(v *clock.Vigil) {
			v.For("an answer", time.Now().Add(10*time.Second))
			time.Sleep(2 * time.Second)
			v.For("another try", time.Now().Add(4*time.Second))
			time.Sleep(4 * time.Second)
			v.For("the limit", time.Now().Add(time.Minute))
			time.Sleep(time.Minute)
			v.For("a last answer", time.Now().Add(10*time.Second))
			time.Sleep(time.Second)
		}, []string{"3s: another try until 6s", "9s: the limit until 1m6s"}},
		"told, and on": {func(v *clock.Vigil) {
			v.For("an answer", time.Now().Add(10*time.Second))
			time.Sleep(4 * time.Second)
			for range 3 {
				v.For("more", time.Now().Add(10*time.Second))
				time.Sleep(2 * time.Second)
			}
		}, []string{"3s: an answer until 10s", "7s: more until 16s"}},
		"nothing yet": {func(v *clock.Vigil) {
			time.Sleep(5 * time.Second)
			v.For("an answer", time.Now().Add(5*time.Second))
			time.Sleep(5 * time.Second)
		}, []string{"8s: an answer until 10s"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var told []string
				v := clock.Watch(func(what string, until time.Time) {
					told = append(told, time.Since(start).String()+": "+what+" until "+until.Sub(start).String())
				})
				c.steps(v)
				synctest.Wait()
				v.End()
				v.For("the end", start)
				time.Sleep(time.Minute)
				if !slices.Equal(told, c.want) {
					t.Errorf("told %q, want %q", told, c.want)
				}
			})
		})
	}

	var nobody *clock.Vigil = clock.Watch(nil)
	nobody.For("an answer", time.Now())
	nobody.End()
}
