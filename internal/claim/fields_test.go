package claim_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// TestFields: what a state knows of a claim that the vectors do not show.
func TestFields(t *testing.T) {
	s := stateOf(t, `6 0:05 bot release a:1 outcome=failure reason=broken
1 0:00 bot claim a:1 nonce=n state=held hb=2
2 0:01 bot claim a:1 nonce=n state=held hb=1 assignee=ann
3 0:02 bot claim a:1 nonce=n state=held assignee=bob
4 0:03 bot plan a:1
5 0:04 ann approve a:1 by=ann
7 0:06 bot claim b:2 nonce=n`)
	c := s.Claims[0]
	bid, _ := s.Bid(c.Record.Worker, "n")
	if c.Record.Assignee != "ann" || bid.Record.Heartbeat != 2 || bid.URL != "#1" || c.Comment != 1 || c.URL != "#1" {
		t.Errorf("claim: %+v", c)
	}
	if c.Plan.Comment != 4 || c.Plan.URL != "#4" || c.Plan.Who() != "ann" || !c.Plan.AnsweredAt.Equal(at(t, "0:04")) {
		t.Errorf("plan: %+v", c.Plan)
	}
	if c.End.Reason != "broken" || c.End.URL != "#6" || c.End.Author != "bot" {
		t.Errorf("end: %+v", c.End)
	}

	var ids []int64
	for _, e := range s.Log {
		ids = append(ids, e.ID)
	}
	if !slices.Equal(ids, []int64{1, 2, 3, 4, 5, 6, 7}) || !s.Last.Equal(at(t, "0:06")) {
		t.Errorf("the log is %v, the last at %s", ids, s.Last)
	}
}

// TestEndNamesItsClaim: a claim whose key was ended, and its last bid after that, is what it was
// when the key was.
func TestEndNamesItsClaim(t *testing.T) {
	c := stateOf(t, `1 0:00 bot claim a:1 nonce=n state=held token=3
2 0:01 bot claim a:1 nonce=m resumes=n
3 0:02 bot release a:1 outcome=failure token=3
5 0:02 bot release a:1 outcome=error token=3
4 0:03 bot release a:1 nonce=m outcome=abandoned`).Claims[0]
	if c.End == nil || c.End.Outcome != claim.OutcomeFailure || c.Comment != 1 ||
		c.URL != "#1" || c.Record.Nonce != "n" {
		t.Errorf("%+v, ended %+v", c, c.End)
	}
}

// TestEnded: the state as it will be has the ends that are to be written, and no other.
func TestEnded(t *testing.T) {
	s := stateOf(t, `1 0:00 bot claim a:1 nonce=n state=held
2 0:01 bot claim b:2 nonce=n state=held
3 0:02 bot claim c:3 nonce=n state=held
4 0:03 bot release c:3 outcome=success`)
	failed := func(claim.Claim) string { return claim.OutcomeError }
	got := s.Ended([]claim.Claim{s.Claims[0], s.Claims[2]}, failed, at(t, "0:09"))
	a, b, c := got.Claims[0], got.Claims[1], got.Claims[2]
	if a.End == nil || a.End.Outcome != claim.OutcomeError || !a.End.At.Equal(at(t, "0:09")) ||
		!a.End.Rank.Created.Equal(a.End.At) ||
		a.End.Rank.Compare(c.End.Rank) <= 0 || b.End != nil ||
		c.End.Outcome != claim.OutcomeSuccess {
		t.Errorf("ends: %+v, %+v, %+v", a.End, b.End, c.End)
	}
	if len(got.Attempts) != 1 || got.Attempts[0].Worker.Codename != "a" || s.Claims[0].End != nil ||
		len(s.Attempts) != 0 {
		t.Errorf("attempts: %+v, and before it %+v", got.Attempts, s.Attempts)
	}
}

// TestUnstored: who won at the store leaves the issue to the first that the log decided.
func TestUnstored(t *testing.T) {
	a, b := claim.Worker{Codename: "a", FiringID: "1"}, claim.Worker{Codename: "b", FiringID: "2"}
	const won = "1 0:00 bot claim a:1 nonce=n state=held lease=refs token=3"
	for name, c := range map[string]struct {
		log   string
		found bool
		place claim.Place
	}{
		"alone":                        {won, false, 0},
		"another that the store had":   {won + "\n2 0:01 bot claim b:2 nonce=n state=held lease=refs token=4", false, 0},
		"another that the log decided": {won + "\n2 0:01 bot claim b:2 nonce=n state=held", true, claim.PlaceBeaten},
		"another process of the key":   {won + "\n2 0:01 bot claim a:1 nonce=m state=held", true, claim.PlaceShared},
	} {
		got, found := stateOf(t, c.log).Unstored(a, "n")
		if found != c.found || got.Place != c.place || found && got.Last.ID != 2 ||
			got.Place == claim.PlaceBeaten && got.Rival.Record.Worker != b {
			t.Errorf("%s: %t, %+v", name, found, got)
		}
	}
}

// TestLastingOfLateClaims: a bundle's release whose claim never showed says nothing of the issue;
// that of another claim does.
func TestLastingOfLateClaims(t *testing.T) {
	s := stateOf(t, `1 0:00 bot claim a:1 nonce=n state=held hb=1 bundle=checkout
2 0:01 bot release a:1 outcome=bundle-claim-rolled-back
3 0:02 bot release b:2 outcome=failure
4 0:03 bot release c:3 outcome=bundle-claim-rolled-back
5 0:04 bot claim d:4 nonce=n state=held`)
	got := s.Lasting()
	var ids []int64
	for _, e := range got.Log {
		ids = append(ids, e.ID)
	}
	if !slices.Equal(ids, []int64{3, 5}) || !slices.Equal(names(got.Claims), []string{"d:4"}) || got.Records != 2 {
		t.Errorf("records %v, claims %q", ids, names(got.Claims))
	}
	if again := got.Lasting(); len(again.Claims) != 1 || len(again.Log) != 2 {
		t.Errorf("lasting once more: %+v", again)
	}
	if !s.Claims[0].Undone() || s.Claims[1].Undone() {
		t.Error("what was rolled back is undone, and nothing else")
	}
}

// TestUnheldByAnother: the end of another worker's hold is none of one that the log does not know.
func TestUnheldByAnother(t *testing.T) {
	s := stateOf(t, "1 0:00 bot release b:2 outcome=failure")
	for name, want := range map[string]error{"a": claim.ErrNotHolder, "b": claim.ErrEnded} {
		w := claim.Worker{Codename: name, FiringID: map[string]string{"a": "1", "b": "2"}[name]}
		if err := s.RefuseRenewal(w, "bot", claim.DefaultTerms(), at(t, "0:10"), 0); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}

// TestTokenOfTheMirror: a token that was mirrored for the same process is no other process's.
func TestTokenOfTheMirror(t *testing.T) {
	s := stateOf(t, `1 0:00 bot claim a:1 nonce=n state=held lease=refs token=3
2 0:01 bot claim a:1 nonce=n state=held lease=refs token=5 by=sweep-1`)
	err := s.RefuseToken(claim.Worker{Codename: "a", FiringID: "1"}, 3)
	if !errors.Is(err, claim.ErrStale) || strings.Contains(err.Error(), "another process") {
		t.Error(err)
	}
}

// TestLivesOfPersons: a login that has no person's hold is not asked for pull requests, and a person's
// hold may be longer than a worker's.
func TestLivesOfPersons(t *testing.T) {
	s := stateOf(t, `1 0:00 bot claim a:1 nonce=n state=held
2 0:01 ann claim ann:1 nonce=n state=held person=ann ttl=168h
3 0:02 bob claim bob:1 nonce=n state=held person=bob
4 0:03 bob release bob:1 outcome=failure
5 0:04 eve claim eve:1 nonce=n person=eve
6 0:05 eve release eve:1 outcome=abandoned
7 0:09 ann "nearly done"`)
	lived := s.Lived(func(login string) (bool, time.Time) {
		if login != "ann" {
			t.Errorf("asked about %q", login)
		}
		return false, time.Time{}
	})

	ann := lived.Claims[1]
	if !ann.LastSeen().Equal(at(t, "0:09")) {
		t.Errorf("last seen at %s", ann.LastSeen())
	}
	if last, ok := s.LastPerson(); !ok || last.Person != "bob" {
		t.Errorf("the last person's hold that ended: %+v", last)
	}
	if left := names(s.Lasting().Claims); !slices.Equal(left, []string{"a:1"}) {
		t.Errorf("without people's: %q", left)
	}
	if got := ann.Lease(claim.DefaultTerms()); got != 168*time.Hour || ann.Holder() != "ann" ||
		ann.HolderKey() != "ann" {
		t.Errorf("%s holds it for %s", ann.Holder(), got)
	}
	if len(s.Attempts) != 1 { // what a person let run out is none
		t.Errorf("attempts: %+v", s.Attempts)
	}
}

// TestAboutKinds: every kind has its own row, and three say nothing once their key has ended.
func TestAboutKinds(t *testing.T) {
	once := map[claim.Kind]bool{
		claim.KindApprove: true,
		claim.KindReject:  true,
		claim.KindUnlink:  true,
	}
	var aging []claim.Kind
	for _, k := range claim.Kinds() {
		about := k.About()
		if about.Kind != k || about.Once != once[k] {
			t.Errorf("%s: %+v", k, about)
		}
		if about.Aging {
			aging = append(aging, k)
		}
	}
	if !slices.Equal(aging, []claim.Kind{claim.KindClaim, claim.KindRelease, claim.KindRevoke}) {
		t.Errorf("aging: %v", aging)
	}
}

func TestIssuesAreNamed(t *testing.T) {
	i := claim.Issue{Owner: "o", Repo: "r", Number: 7}
	err := &claim.IssueError{Doing: "read", Issue: i, Err: errors.New("gone")}
	if err.Error() != "read o/r#7: gone" || err.Unwrap() != err.Err ||
		(claim.Issue{Owner: "O", Repo: "R", Number: 7}).Folded() != i || i.In() != (claim.Repo{Owner: "o", Name: "r"}) || i.In().Issue(7) != i ||
		i.In().String() != "o/r" {
		t.Errorf("%v, %v", err, i.In())
	}
}

// TestEmptyExtra: a record with no other keys may say so by an empty list.
func TestEmptyExtra(t *testing.T) {
	w := claim.Worker{Codename: "az", FiringID: "AZ09"}
	r := claim.Record{Kind: claim.KindClaim, Worker: w, Extra: []claim.Field{}}
	r.TTL, r.Reason = 90*time.Second+time.Millisecond, "\uFFFD"
	if text, err := claim.Encode(r); !strings.Contains(text, " ttl=90 ") || !strings.Contains(text, "reason=\uFFFD ") {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := claim.Encode(r); err != nil || r.Worker.Validate() != nil {
		t.Errorf("%v, %v", err, r.Worker.Validate())
	}
}

// TestStakesOfTwo: each key has its own stake, with the pull requests that its releases name.
func TestStakesOfTwo(t *testing.T) {
	var log []claim.Comment
	for _, e := range stateOf(t, `1 0:00 bot claim a:1 nonce=n
2 0:01 bot claim b:2 nonce=n
3 0:02 bot release b:2 outcome=success pr=https://h/o/r/pull/9
4 0:03 bot release b:2 outcome=success pr=https://h/o/r/pull/9
5 0:04 bot release b:2 outcome=success
6 0:04 bot release c:3 outcome=success pr=https://h/o/r/pull/8`).Log {
		log = append(log, e.Comment)
	}
	got := claim.Stakes(log)
	if len(got) != 2 || got[0].Worker.Codename != "a" || got[0].Over || len(got[0].PRs) != 0 ||
		got[1].Worker.Codename != "b" ||
		!got[1].Over || !slices.Equal(got[1].PRs, []string{"https://h/o/r/pull/9"}) || len(got[1].Marks) != 3 {
		t.Errorf("%+v", got)
	}
}

// TestLease: how long claims stand that name no ttl, none at all, or more than the longest.
func TestLease(t *testing.T) {
	terms, open := claim.DefaultTerms(), claim.DefaultTerms()
	open.Max = 0
	for ttl, want := range map[string][2]time.Duration{
		"":        {4 * time.Hour, 4 * time.Hour},
		"ttl=48h": {24 * time.Hour, 48 * time.Hour},
	} {
		c := stateOf(t, "1 0:00 bot claim a:1 nonce=n state=held "+ttl).Claims[0]
		if got := [2]time.Duration{c.Lease(terms), c.Lease(open)}; got != want {
			t.Errorf("%q: %v, want %v", ttl, got, want)
		}
	}

	never := stateOf(t, "1 0:00 bot claim a:1 nonce=n state=held ttl=none").Claims[0]
	if got := never.Lease(terms); got < 1<<62 {
		t.Errorf("without an end: %s", got)
	}
	if never.Late(terms, at(t, "99:00")) {
		t.Error("a hold without an end is late")
	}
	if old := terms.Staleness(); old != 58*time.Second {
		t.Errorf("an answer may be %s old", old)
	}
	if due := claim.HeartbeatDue(time.Hour); due != 20*time.Minute {
		t.Errorf("a heartbeat is due after %s", due)
	}
}

// TestLate: a hold is late when more than half of its lease went without a heartbeat.
func TestLate(t *testing.T) {
	c := stateOf(t, "1 0:00~1:00 bot claim a:1 nonce=n state=held ttl=2h").Claims[0]
	for now, want := range map[string]bool{"1:30": false, "2:00": false, "2:00:01": true} {
		if got := c.Late(claim.DefaultTerms(), at(t, now)); got != want {
			t.Errorf("late at %s: %t", now, got)
		}
	}
}

// TestNobodyAsked: only a person is asked, and only about a hold.
func TestNobodyAsked(t *testing.T) {
	for _, c := range stateOf(t, `1 0:00 bot claim a:1 nonce=n state=held ttl=24h
2 0:00 ann claim ann:1 nonce=n person=ann ttl=24h`).Claims {
		if when, asked := c.AskedAt(claim.DefaultTerms(), time.Hour); asked {
			t.Errorf("%s is asked at %s", c.Holder(), when)
		}
	}
}

// TestMirroredRival: what only a sweep wrote down is before a later claim, too.
func TestMirroredRival(t *testing.T) {
	s := stateOf(t, `1 0:00 bot claim b:2 nonce=n state=held lease=refs token=3 by=sweep-1
2 0:01 bot claim a:1 nonce=n
3 0:02 bot claim c:3 nonce=n`)
	got := s.Contest(claim.Worker{Codename: "a", FiringID: "1"}, "n", claim.Rank{})
	if got.Place != claim.PlaceBeaten || got.Rival.Record.Worker.Codename != "b" || got.Last.ID != 1 {
		t.Errorf("%+v", got)
	}

	s = stateOf(t, `1 0:00 bot claim b:2 nonce=n state=held lease=refs token=3 by=sweep-1
2 0:01 bot claim a:1 nonce=n state=held
3 0:02 bot claim b:2 nonce=n state=held lease=refs token=3`)
	if got := s.Contest(claim.Worker{Codename: "a", FiringID: "1"}, "n", claim.Rank{}); got.Place != claim.PlaceBeaten {
		t.Errorf("what was mirrored before its worker wrote: %+v", got)
	}

	unseen := claim.Ruling{Worker: claim.Worker{Codename: "c", FiringID: "3"}, TTL: time.Hour}
	s = stateOf(t, "1 0:01 bot claim a:1 nonce=n").Ruled(unseen)
	if got := s.Contest(claim.Worker{Codename: "a", FiringID: "1"}, "n", claim.Rank{}); got.Place != claim.PlaceBeaten {
		t.Errorf("what the store alone knows: %+v", got)
	}
}

// TestRejectedForAll: a rejected plan ends the key for every process, also one that was not seen.
func TestRejectedForAll(t *testing.T) {
	w := claim.Worker{Codename: "a", FiringID: "1"}
	s := stateOf(t, planned+"\n3 0:06 ann reject a:1 by=ann")
	if end := s.Claims[0].End; end.Rank.ID != 3 || end.URL != "#3" {
		t.Errorf("%+v", end)
	}
	if !s.Over(w, s.Claims[0].Bids[0].Nonce) || s.Claims[0].Expired(claim.DefaultTerms(), at(t, "99:00")) {
		t.Error("its process is not over, or it has expired")
	}
	if !s.Over(w, "unseen") || !s.Dead(w) || s.Over(claim.Worker{Codename: "b", FiringID: "2"}, "unseen") {
		t.Errorf("%t, %t", s.Over(w, "unseen"), s.Dead(w))
	}
	if s := stateOf(t, held); s.Dead(w) || s.Claims[0].Undone() {
		t.Error("a hold is dead or undone")
	}
	if !claim.HasLogin([]string{"bob", "Ann"}, "ann") || claim.HasLogin([]string{"bob"}, "ann") {
		t.Error("a login is there in any case")
	}
}

// TestForeign: the error names the person whose hold it is once, and an agent's run beside its
// login.
func TestForeign(t *testing.T) {
	s := stateOf(t, `1 0:00 ann claim ann:1 nonce=n state=held person=ann
2 0:01 bot claim a:1 nonce=n state=held`)
	for want, w := range map[string]claim.Worker{
		"not the holder: the claim was written by ann":               {Codename: "ann", FiringID: "1"},
		"not the holder: the claim was written by bot, as a (run 1)": {Codename: "a", FiringID: "1"},
	} {
		if err := s.RefuseLogin(w, "eve"); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestMirroredLegacy: a hold that was once mirrored without a nonce is an original writer's.
func TestMirroredLegacy(t *testing.T) {
	c := stateOf(t, `1 0:00 bot claim a:1 lease=refs token=3 by=sweep-1
2 0:01 bot claim a:1 nonce=n lease=refs token=3 by=sweep-1`).Claims[0]
	if !c.Legacy || !c.Held() {
		t.Errorf("%+v", c)
	}
}

// TestAsEnded: the claim of a process that has ended still says what that process wrote.
func TestAsEnded(t *testing.T) {
	c := stateOf(t, held+"\n2 0:05 bot release a:1 outcome=failure").Claims[0]
	if own := c.As(c.Bids[0].Nonce); own.Record.Worker != c.Record.Worker || own.Comment != c.Comment || !own.Held() {
		t.Errorf("%+v", own)
	}
}

// TestRestarts: only a reset that says so begins the issue again.
func TestRestarts(t *testing.T) {
	s := stateOf(t, `1 0:00 ann reset a:1 by=ann restart=yes
2 0:01 ann reset a:1 by=ann`)
	if s.Restart.ID != 1 || s.Reset.ID != 2 {
		t.Errorf("restart %d, reset %d", s.Restart.ID, s.Reset.ID)
	}
}

// TestByTokenOfRuled: what the store has overruled stays so.
func TestByTokenOfRuled(t *testing.T) {
	s := stateOf(t, stored).Ruled(claim.Ruling{}).ByToken()
	if over := names(s.Overruled()); !slices.Equal(over, []string{"a:1", "b:2"}) {
		t.Errorf("overruled %q", over)
	}
}

// TestRivalsOfAnotherKey: that a process goes on with another's hold says nothing to other keys.
func TestRivalsOfAnotherKey(t *testing.T) {
	a, b := claim.Worker{Codename: "a", FiringID: "1"}, claim.Worker{Codename: "b", FiringID: "2"}
	s := stateOf(t, `1 0:00 bot claim b:2 nonce=n state=held
2 0:01 bot claim a:1 nonce=n resumes=k state=held
3 0:02 bot claim b:2 nonce=n state=held`)
	if got := s.Contest(a, "n", claim.Rank{}); got.Place != claim.PlaceBeaten || got.Last.ID != 3 {
		t.Errorf("the later one: %+v", got)
	}
	if got := s.Contest(b, "n", claim.Rank{}); got.Place != claim.PlaceFirst {
		t.Errorf("the earlier one: %+v", got)
	}
	one := stateOf(t, held)
	if own := one.Claims[0].Record; one.Lacks(own.Worker, own.Nonce) || !one.Lacks(own.Worker, "another") {
		t.Error("a process whose own claim is not there knows more than the log")
	}
	if ended := stateOf(t, "1 0:00 bot release b:2 outcome=failure"); !ended.Over(b, "n") || ended.Over(a, "n") {
		t.Error("the key that was ended before its claim")
	}
}

// TestTold: another notice, or one of another occasion, does not tell it.
func TestTold(t *testing.T) {
	s := stateOf(t, `1 0:00 bot "<!-- label-state:awake k -->"`)
	for n, want := range map[claim.Notice]bool{
		{Kind: claim.NoticeAwake, Key: "k"}:     true,
		{Kind: claim.NoticeAwake, Key: "l"}:     false,
		{Kind: claim.NoticeEscalated, Key: "k"}: false,
	} {
		if s.Told(n) != want {
			t.Errorf("%s %s: told %t", n.Kind, n.Key, !want)
		}
	}
}
