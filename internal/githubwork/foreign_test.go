package githubwork_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/githubwork"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/work"
)

// TestForeignKey: the key of a hold is public. Another login that shows it completes and releases
// nothing, neither while the hold stands nor after its end, and writes nothing.
func TestForeignKey(t *testing.T) { synctest.Test(t, foreignKey) }

func foreignKey(t *testing.T) {
	w := newWorld(t, []githubsim.SeedIssue{
		{
			Number: 1,
			Title:  "Held",
			Author: "bot",
			Labels: []string{queued},
		}, {
			Number: 2,
			Title:  "Released",
			Author: "bot",
			Labels: []string{queued},
		},
	})
	s := w.source(agent("lucius"))
	holds := map[int]ledger.Hold{}
	for n, id := range map[int]string{1: "github-1", 2: "github-2"} {
		if _, err := s.Claim(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		holds[n], _ = s.Hold(id)
	}

	if err := s.Release(t.Context(), "github-2", work.ReleaseOptions{}); err != nil {
		t.Fatal(err)
	}
	c, l := w.partsOf("tok-other")
	other := githubwork.New(c, l, githubwork.Options{
		Repo:   repo,
		Worker: claim.Worker{Codename: "lucius"},
		Wait:   clock{}.Sleep,
		Recall: func(i claim.Issue) (ledger.Hold, bool) { return holds[i.Number], true },
	})
	before := [2]int{len(w.bodies(1)), len(w.bodies(2))}

	for _, id := range []string{"github-1", "github-2"} {
		for name, err := range map[string]error{
			"success": other.Complete(t.Context(), id, work.Result{Outcome: work.Success, Summary: "mine"}),
			"failure": other.Complete(t.Context(), id, work.Result{Outcome: work.Failure, Summary: "mine"}),
			"release": other.Release(t.Context(), id, work.ReleaseOptions{Comment: true}),
		} {
			if !refused(err, work.InvalidState) || id == "github-1" && !errors.Is(err, claim.ErrNotHolder) {
				t.Errorf("%s of %s: %v", name, id, err)
			}
		}
	}

	w.shows(1, "open", "agent:in-flight")
	w.shows(2, "open", queued)
	if after := [2]int{len(w.bodies(1)), len(w.bodies(2))}; after != before {
		t.Errorf("%v comments, %v before", after, before)
	}
}
