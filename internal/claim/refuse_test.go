package claim_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/claim/claimtest"
)

func stateOf(t *testing.T, log string) claim.State {
	t.Helper()
	var comments []claim.Comment
	for line := range strings.SplitSeq(strings.TrimSpace(log), "\n") {
		c, err := claimtest.Comment(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		comments = append(comments, c)
	}

	return claim.Replay(comments)
}

func at(t *testing.T, s string) time.Time {
	t.Helper()
	out, err := claimtest.Time(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const (
	held      = "1 0:00 bot claim a:1 nonce=n ttl=1800 state=held"
	contender = "1 0:00 bot claim a:1 nonce=n ttl=1800"
	ended     = held + "\n2 0:05 bot release a:1 outcome=failure"
	planned   = held + "\n2 0:05 bot plan a:1"
)

func TestRefuse(t *testing.T) {
	for _, c := range []struct {
		name, log, record, author, now string
		want                           error
	}{
		{"claim with a new key", held, "claim b:2 nonce=m", "bot", "0:10", nil},
		{"claim with a live key", held, "claim a:1 nonce=m", "bot", "0:10", claim.ErrKeyUsed},
		{"claim with a dead key", ended, "claim a:1 nonce=m", "bot", "0:10", claim.ErrKeyUsed},
		{
			"claim with a tombstoned key", "1 0:00 bot release a:1 outcome=abandoned", "claim a:1 nonce=m", "bot", "0:10",
			claim.ErrKeyUsed,
		},
		{"release by the holder", held, "release a:1 outcome=success", "BOT", "0:10", nil},
		{"release after the lease", held, "release a:1 outcome=success", "bot", "9:00", nil},
		{"release by another login", held, "release a:1 outcome=success", "ann", "0:10", claim.ErrNotHolder},
		{"release by another login that says so", held, "release a:1 outcome=forced by=ann", "ann", "0:10", nil},
		{
			"release of a tombstoned key", "1 0:00 bot release a:1 outcome=abandoned", "release a:1 outcome=success", "bot",
			"0:10", claim.ErrEnded,
		},
		{"release of a run that never claimed", held, "release b:2 outcome=success", "bot", "0:10", claim.ErrNotHolder},
		{"release twice", ended, "release a:1 outcome=success", "bot", "0:10", claim.ErrEnded},
		{"plan by the holder", held, "plan a:1", "bot", "0:30", nil},
		{"plan by another login", held, "plan a:1", "ann", "0:10", claim.ErrNotHolder},
		{"plan after the lease", held, "plan a:1", "bot", "0:30:01", claim.ErrOverdue},
		{"plan of a contender", contender, "plan a:1", "bot", "0:01", claim.ErrNotHolder},
		{"approve", planned, "approve a:1 by=ann", "ann", "24:05", nil},
		{"approve too late", planned, "approve a:1 by=ann", "ann", "24:05:01", claim.ErrOverdue},
		{"approve without a plan", held, "approve a:1 by=ann", "ann", "0:10", claim.ErrNoPlan},
		{"approve without by", planned, "approve a:1", "ann", "0:10", claim.ErrUnsigned},
		{"reject", planned, "reject a:1 by=ann", "ann", "99:00", nil},
		{"reject without a plan", held, "reject a:1 by=ann", "ann", "0:10", claim.ErrNoPlan},
		{"reject of an ended claim", ended, "reject a:1 by=ann", "ann", "0:10", claim.ErrEnded},
		{"reject without by", planned, "reject a:1", "ann", "0:10", claim.ErrUnsigned},
		{"revoke", held, "revoke a:1 by=ann", "ann", "0:10", nil},
		{"revoke without by", held, "revoke a:1", "ann", "0:10", claim.ErrUnsigned},
		{"revoke of nobody", held, "revoke b:2 by=ann", "ann", "0:10", claim.ErrNotHolder},
		{"reset", ended, "reset a:1 by=ann", "ann", "0:10", nil},
		{"reset without by", ended, "reset a:1", "ann", "0:10", claim.ErrUnsigned},
	} {
		t.Run(c.name, func(t *testing.T) {
			body, err := claimtest.Body(c.record)
			if err != nil {
				t.Fatal(err)
			}

			r, _, err := claim.Decode(body)
			if err != nil {
				t.Fatal(err)
			}

			if got := stateOf(t, c.log).Refuse(r, c.author, claim.DefaultTerms(), at(t, c.now)); !errors.Is(got,
				c.want) {
				t.Errorf("Refuse(%s) = %v, want %v", c.record, got, c.want)
			}
		})
	}
}

func TestRefuseRenewal(t *testing.T) {
	a1, b2 := claim.Worker{Codename: "a", FiringID: "1"}, claim.Worker{Codename: "b", FiringID: "2"}
	for _, c := range []struct {
		name, log   string
		worker      claim.Worker
		author, now string
		want        error
	}{
		{"in time", held, a1, "bot", "0:29:50", nil},
		{"inside the margin", held, a1, "bot", "0:29:51", claim.ErrOverdue},
		{"after a revoke", held + "\n2 0:05 ann revoke a:1 by=ann", a1, "bot", "0:10", claim.ErrRevoked},
		{"after the end", ended, a1, "bot", "0:10", claim.ErrEnded},
		{"by another login", held, a1, "ann", "0:10", claim.ErrNotHolder},
		{"never claimed", held, b2, "bot", "0:10", claim.ErrNotHolder},
		{"never confirmed", contender, a1, "bot", "0:01", claim.ErrNotHolder},
		{"while a plan waits", planned, a1, "bot", "20:00", nil},
		{
			"behind a confirmed claim", held + "\n2 0:01 bot claim b:2 nonce=m state=held ttl=2h", b2, "bot", "0:10",
			claim.ErrNotHolder,
		},
		{"before a confirmed claim", held + "\n2 0:01 bot claim b:2 nonce=m state=held ttl=2h", a1, "bot", "0:10", nil},
		{
			"behind a claim in its grace", held + "\n2 0:01 bot claim b:2 nonce=m state=held ttl=2h", b2, "bot", "0:30:59",
			claim.ErrNotHolder,
		},
		{
			"behind a claim that expired", held + "\n2 0:01 bot claim b:2 nonce=m state=held ttl=2h", b2, "bot",
			"0:31", nil,
		},
		{"behind a contender", contender + "\n2 0:01 bot claim b:2 nonce=m state=held ttl=2h", b2, "bot", "0:01", nil},
		{"without end", "1 0:00 bot claim a:1 nonce=n ttl=none state=held", a1, "bot", "999:00", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := stateOf(t, c.log).RefuseRenewal(c.worker, c.author, claim.DefaultTerms(), at(t, c.now),
				10*time.Second)
			if !errors.Is(got, c.want) {
				t.Errorf("RefuseRenewal = %v, want %v", got, c.want)
			}
		})
	}
}

func TestRefusalSaysHowTheClaimEnded(t *testing.T) {
	r := claim.Record{Kind: claim.KindRelease, Worker: claim.Worker{Codename: "a", FiringID: "1"}}
	for end, want := range map[string]string{
		"ann release a:1 outcome=forced by=ann":       "forced by ann",
		"bot release a:1":                             "released",
		"bot release a:1 outcome=race-yielded-to=b:2": "lost the race to b:2",
	} {
		err := stateOf(t, held+"\n2 0:05 "+end).Refuse(r, "bot", claim.DefaultTerms(), at(t, "0:10"))
		if want = "the hold has ended: " + want + " at 2026-05-01 00:05:00 UTC"; err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", end, err, want)
		}
	}
}

// TestRefusedTokens: a token of another process of the run says so.
func TestRefusedTokens(t *testing.T) {
	s := stateOf(t, `1 0:00 bot claim a:1 nonce=n ttl=1800 state=held lease=refs token=3
2 0:01 bot claim a:1 nonce=m resumes=n ttl=1800 state=held lease=refs token=4`)
	for token, taken := range map[int64]bool{3: true, 2: false} {
		err := s.RefuseToken(claim.Worker{Codename: "a", FiringID: "1"}, token)
		if !errors.Is(err, claim.ErrStale) || strings.Contains(err.Error(), "another process of this run") != taken {
			t.Errorf("%d: %v", token, err)
		}
	}
}

func TestWorkerValidate(t *testing.T) {
	long := strings.Repeat("x", 65)
	for _, c := range []struct {
		codename, firing string
		valid            bool
	}{
		{"lucius", "20260501-194217-643a", true},
		{"a", "1", true},
		{"claude/opus-4.1_b", "run:2026-05-01T19:42:33Z", true},
		{long[1:], long[1:], true},
		{"", "1", false},
		{"a", "", false},
		{long, "1", false},
		{"a", long, false},
		{"-a", "1", false},
		{"a", ":1", false},
		{"a:b", "1", false},
		{"a b", "1", false},
		{"a", "1\n2", false},
		{"a", "-->", false},
		{"é", "1", false},
		{"a=b", "1", false},
	} {
		w := claim.Worker{Codename: c.codename, FiringID: c.firing}
		if err := w.Validate(); (err == nil) != c.valid {
			t.Errorf("Validate(%q) = %v, want valid %v", w, err, c.valid)
		}
	}
}

func TestIssueNames(t *testing.T) {
	i := claim.Issue{Owner: "Acme", Repo: "App", Number: 7}
	if i.String() != "Acme/App#7" || i.Slug() != "Acme/App" {
		t.Errorf("String() = %s, Slug() = %s", i, i.Slug())
	}

	if !i.Same(claim.Issue{Owner: "acme", Repo: "APP", Number: 7}) ||
		i.Same(claim.Issue{Owner: "Acme", Repo: "App", Number: 8}) ||
		i.Same(claim.Issue{Owner: "Acme", Repo: "Web", Number: 7}) {
		t.Error("Same does not compare names without case and numbers exactly")
	}

	for _, c := range []struct {
		other claim.Issue
		want  int
	}{
		{claim.Issue{Owner: "acme", Repo: "app", Number: 7}, 0},
		{claim.Issue{Owner: "acme", Repo: "app", Number: 10}, -1},
		{claim.Issue{Owner: "aaa", Repo: "zzz", Number: 99}, 1},
	} {
		if got := i.Compare(c.other); got != c.want {
			t.Errorf("Compare(%s) = %d, want %d", c.other, got, c.want)
		}
	}
}

func TestYielded(t *testing.T) {
	drake := claim.Worker{Codename: "drake", FiringID: "20260501:7"}
	if got, ok := claim.Yielded(claim.YieldedTo(drake)); !ok || got != drake {
		t.Errorf("Yielded(YieldedTo(%s)) = %s, %v", drake, got, ok)
	}

	for _, outcome := range []string{"", "failure", "race-yielded", "race-yielded-to=", "race-yielded-to=drake"} {
		if got, ok := claim.Yielded(outcome); ok {
			t.Errorf("Yielded(%q) = %s, want nobody", outcome, got)
		}
	}
}

func TestBody(t *testing.T) {
	r := claim.Record{Kind: claim.KindPlan, Worker: claim.Worker{Codename: "a", FiringID: "1"}}
	const record = "<!-- agent-plan:codename=a firing_id=1 -->"
	for sentence, want := range map[string]string{"": record, "**a** has a plan.": record + "\n**a** has a plan."} {
		if got, err := claim.Body(r, sentence); err != nil || got != want {
			t.Errorf("Body(%q) = %q, %v, want %q", sentence, got, err, want)
		}
	}

	if got, err := claim.Body(claim.Record{Kind: "note"}, "x"); !errors.Is(err, claim.ErrUnwritable) || got != "" {
		t.Errorf("Body of no record = %q, %v", got, err)
	}
}

// TestEncodeBounds: a record too long for a comment is refused, not cut.
func TestEncodeBounds(t *testing.T) {
	r := claim.Record{
		Kind:   claim.KindRevoke,
		Worker: claim.Worker{Codename: "a", FiringID: "1"},
		By:     "ann",
		Reason: strings.Repeat("é", 5000),
	}

	if text, err := claim.Encode(r); !errors.Is(err, claim.ErrUnwritable) {
		t.Errorf("Encode of %d bytes of reason = %d bytes, %v", len(r.Reason), len(text), err)
	}
	r.Reason = strings.Repeat("é", 200)
	if _, err := claim.Encode(r); err != nil {
		t.Errorf("Encode: %v", err)
	}
}

func TestWorkerOutcomes(t *testing.T) {
	want := "success failure partial no-commit max-turns error rate-limit worktree-failed cancelled already-implemented"
	if got := strings.Join(claim.WorkerOutcomes(), " "); got != want {
		t.Errorf("WorkerOutcomes() = %s, want %s", got, want)
	}

	for _, o := range claim.WorkerOutcomes() {
		r := claim.Record{Kind: claim.KindRelease, Worker: claim.Worker{Codename: "a", FiringID: "1"}, Outcome: o}
		if _, err := claim.Encode(r); err != nil {
			t.Errorf("outcome %q cannot be written: %v", o, err)
		}
	}
}

// TestIsName: the first and the last of each range, and what is beside them.
func TestIsName(t *testing.T) {
	for name, want := range map[string]bool{
		"azAZ09._-": true, "": false, ".": false, "..": false, "...": true, "a/b": false, "a:b": false, "a@b": false, "a[b": false,
		"a`b": false, "a{b": false, strings.Repeat("x", 100): true, strings.Repeat("x", 101): false, "é": false,
	} {
		if got := claim.IsName(name); got != want {
			t.Errorf("IsName(%q) = %v", name, got)
		}
	}
}

// TestLacks: what a process knows of its own hold tells a log that is late from one in which the
// hold has ended.
func TestLacks(t *testing.T) {
	for log, lacks := range map[string]bool{
		"1 0:00 bot claim b:2 nonce=m ttl=1800":                                                    true, // of one that is claiming it
		"1 0:00 bot claim b:2 nonce=m ttl=1800 state=held":                                         false,
		"1 0:00 bot claim b:2 nonce=m ttl=1800 state=held\n2 0:05 bot release b:2 outcome=failure": true,
		contender: true,
		held:      false,
		ended:     false,
		"2 0:05 bot release a:1 outcome=abandoned nonce=n":         false, // and its claim is not shown
		"2 0:05 bot release a:1 outcome=abandoned nonce=o":         true,
		held + "\n2 0:05 bot claim a:1 nonce=o ttl=1800 resumes=n": false,
	} {
		if got := stateOf(t, log).Lacks(claim.Worker{Codename: "a", FiringID: "1"}, "n"); got != lacks {
			t.Errorf("%t of\n%s", got, log)
		}
	}
}
