package lifecycle_test

import (
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/claim/claimtest"
	"github.com/label-state/label-state/internal/lifecycle"
)

// logged is an open issue with labels and a log in the notation of the vectors.
func logged(t *testing.T, names []string, comments ...string) lifecycle.Facts {
	t.Helper()
	f := lifecycle.Facts{Open: true, Labels: names, Now: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)}
	var all []claim.Comment
	for _, line := range comments {
		c, err := claimtest.Comment(line)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	f.Log = claim.Replay(all)

	return f
}

// TestRelieved: somebody took needs:human-scope off, if the issue failed too often, that was told, and the label is
// missing.
func TestRelieved(t *testing.T) {
	failed := []string{
		"1 0:00 bot claim a:1 nonce=n state=held", "2 0:10 bot release a:1 outcome=failure",
		`3 0:11 bot "<!-- label-state:escalated a:1 -->"`,
	}
	rules := lifecycle.DefaultRules()
	rules.MaxAttempts = 1
	for name, c := range map[string]struct {
		want   bool
		change func(*lifecycle.Facts, *lifecycle.Rules)
	}{
		"it is missing":    {true, func(*lifecycle.Facts, *lifecycle.Rules) {}},
		"it is there":      {false, func(f *lifecycle.Facts, r *lifecycle.Rules) { f.Labels = []string{r.Scheme.NeedsScope} }},
		"closed":           {false, func(f *lifecycle.Facts, _ *lifecycle.Rules) { f.Open = false }},
		"a pull request":   {false, func(f *lifecycle.Facts, _ *lifecycle.Rules) { f.PullRequest = true }},
		"not failed often": {false, func(_ *lifecycle.Facts, r *lifecycle.Rules) { r.MaxAttempts = 2 }},
		"not told":         {false, func(f *lifecycle.Facts, _ *lifecycle.Rules) { f.Log = logged(t, nil, failed[:2]...).Log }},
	} {
		f, r := logged(t, nil, failed...), rules
		if c.change(&f, &r); r.Relieved(f) != c.want {
			t.Errorf("%s: relieved: %v", name, !c.want)
		}
	}
}

// TestWished: the queue's label on a stuck issue asks to begin it again, but not beside the label for done.
func TestWished(t *testing.T) {
	stuck := []string{"1 0:00 bot claim a:1 nonce=n state=held", "2 0:10 bot release a:1 outcome=already-implemented"}
	r := lifecycle.DefaultRules()
	for _, c := range []struct {
		names []string
		log   []string
		want  bool
	}{
		{[]string{r.Scheme.Available}, stuck, true},
		{[]string{r.Scheme.Available, r.Scheme.Done}, stuck, false},
		{nil, stuck, false},
		{[]string{r.Scheme.Available}, nil, false},
	} {
		if got := r.Wished(logged(t, c.names, c.log...)); got != c.want {
			t.Errorf("%v with %d records: wished %v", c.names, len(c.log), got)
		}
	}
}

// TestBeyondForce: which reasons are left of a verdict for a claim with --force, by what the table says of each.
func TestBeyondForce(t *testing.T) {
	r, stranger := lifecycle.DefaultRules(), &lifecycle.PR{Stranger: true}
	done := logged(t, nil, "1 0:00 bot claim a:1 nonce=n state=held", "2 0:10 bot release a:1 outcome=already-implemented")
	for _, m := range lifecycle.Meanings() {
		for _, person := range []bool{false, true} {
			for _, pr := range []*lifecycle.PR{nil, stranger} {
				for stuck, f := range map[bool]lifecycle.Facts{false: logged(t, nil), true: done} {
					v := lifecycle.Verdict{Reasons: []lifecycle.Reason{{Code: m.Code, PR: pr}}}
					left := len(r.BeyondForce(f, v, person).Reasons) == 1
					gone := m.Force == lifecycle.ForceEnds || m.Force == lifecycle.ForcePasses ||
						m.Force == lifecycle.ForcePerson && person ||
						m.Force == lifecycle.ForceRestarts && (stuck || m.Code == lifecycle.CodePROpen && pr != nil)
					if left == gone {
						t.Errorf("%s, person %v, a stranger's %v, stuck %v: left %v", m.Code, person, pr != nil, stuck, left)
					}
				}
			}
		}
	}
}
