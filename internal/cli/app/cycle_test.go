package app

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/githubsim"
)

// TestCircleBounds: however long the way and however many the blockers, status reads no more than
// it says, and says when that was not enough; what could not be read is not taken for no cycle.
func TestCircleBounds(t *testing.T) {
	const more = " of its blockers were checked, and there are more; the sweep checks all"
	for name, c := range map[string]struct {
		blocks  []string // "4>5": 4 is blocked by 5
		broken  bool     // GitHub refuses whatever is asked for the cycle
		cycle   string
		unknown string // what it begins with
		most    int    // requests for the cycle
	}{
		"none":              {nil, false, "", "", 0},
		"one and no more":   {[]string{"4>5"}, false, "", "", 1},
		"by way of others":  {[]string{"4>5", "5>6", "6>4"}, false, "4 5 6 4", "", 2},
		"as far as it goes": {[]string{"4>5", "5>6", "6>7", "7>8", "8>4"}, false, "4 5 6 7 8 4", "", 4},
		"too far":           {[]string{"4>5", "5>6", "6>7", "7>8", "8>9", "9>4"}, false, "", "4" + more, 4},
		"too many":          {append(fan(5, 30), "30>4"), false, "", "20" + more, 2},
		"many and in time":  {append(fan(5, 24), "24>4"), false, "4 24 4", "", 2},
		"not readable":      {[]string{"4>5", "5>4"}, true, "", "read acme/app#5: ", 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := wide(t, 30)
			_, before := w.status(t, 4)
			w.block(t, c.blocks)
			if c.broken {
				w.refuseAfter(before)
			}

			s, asked := w.status(t, 4)
			got := cli.CycleView{}
			if s.Cycle != nil {
				got = *s.Cycle
			}

			path := strings.ReplaceAll(strings.Join(got.Path, " "), "acme/app#", "")
			if path != c.cycle || !strings.HasPrefix(got.Unknown, c.unknown) ||
				(got.Unknown == "") != (c.unknown == "") || (got.Remedy == "") != (path == "") {
				t.Errorf("%+v, want %q or %q", got, c.cycle, c.unknown)
			}

			if asked-before > c.most {
				t.Errorf("%d requests for the cycle, want %d at most", asked-before, c.most)
			}
		})
	}
}

// fan has 4 wait for each of them.
func fan(from, to int) (all []string) {
	for n := from; n <= to; n++ {
		all = append(all, fmt.Sprintf("4>%d", n))
	}
	return all
}

// wide is a world whose acme/app has issues up to that number.
func wide(t *testing.T, last int) *world {
	t.Helper()
	w := embedded(t)
	for n := 4; n <= last; n++ {
		if _, err := w.AddIssue("acme/app", "olga", fmt.Sprint("Issue ", n), ""); err != nil {
			t.Fatal(err)
		}
	}

	return w
}

func (w *world) block(t *testing.T, pairs []string) {
	t.Helper()
	for _, pair := range pairs {
		var a, b int
		_, err := fmt.Sscanf(pair, "%d>%d", &a, &b)
		if err == nil {
			err = w.Block("acme/app", a, b, "olga")
		}

		if err != nil {
			t.Fatal(err)
		}
	}
}

// refuseAfter has GitHub take the token for so many requests more.
func (w *world) refuseAfter(n int) {
	var asked atomic.Int64
	refuse := func(*http.Request) *githubsim.Fault {
		if asked.Add(1) <= int64(n) {
			return nil
		}
		return &githubsim.Fault{
			Status: http.StatusUnauthorized,
			Header: http.Header{"Content-Type": {"application/json"}}, Body: `{"message":"Bad credentials"}`,
		}
	}

	w.fault.Store(&refuse)
}

// status asks for an issue of acme/app and returns how many requests it took.
func (w *world) status(t *testing.T, number int) (s cli.StatusView, requests int) {
	t.Helper()
	before := len(w.Requests())
	term := quiet(t, t.TempDir(), w.Transport(), nil)
	term.Take = func(v any) { s = v.(cli.StatusView) }
	if err := cli.Execute(t.Context(), []string{"label-state", "status", fmt.Sprintf("acme/app#%d", number)}, term); err != nil {
		t.Fatal(err)
	}

	return s, len(w.Requests()) - before
}
