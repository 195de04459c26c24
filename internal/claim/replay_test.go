package claim_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/claim/claimtest"
)

// A replayCase is one case of testdata/replay.txt.
type replayCase struct {
	comments []claim.Comment
	terms    claim.Terms
	now      time.Time
	asked    []string // the lines about fencing tokens and logins
}

func replayCases(t testing.TB) []claimtest.Case {
	t.Helper()
	text, err := os.ReadFile("testdata/replay.txt")
	if err != nil {
		t.Fatal(err)
	}

	cases, err := claimtest.Cases(string(text))
	if err != nil {
		t.Fatal(err)
	}

	return cases
}

func parseReplay(t testing.TB, c claimtest.Case) replayCase {
	t.Helper()
	out := replayCase{terms: claim.DefaultTerms()}
	for _, line := range c.In {
		if err := out.take(line); err != nil {
			t.Fatalf("line %d: %v", c.Line, err)
		}
	}

	return out
}

func (c *replayCase) take(line string) (err error) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "now":
		c.now, err = claimtest.Time(rest)
	case "terms":
		err = setTerms(&c.terms, rest)
	case "confirms", "shows", "acts", "contends":
		c.asked = append(c.asked, line)
	default:
		var comment claim.Comment
		comment, err = claimtest.Comment(line)
		c.comments = append(c.comments, comment)
	}

	return err
}

func setTerms(terms *claim.Terms, text string) error {
	for _, f := range strings.Fields(text) {
		name, value, _ := strings.Cut(f, "=")
		d, err := time.ParseDuration(value)
		if err != nil {
			return err
		}

		field := map[string]*time.Duration{
			"ttl": &terms.TTL, "max": &terms.Max, "pending": &terms.Pending, "grace": &terms.Grace, "plan": &terms.Plan,
			"bundle": &terms.Bundle,
		}[name]

		if field == nil {
			return fmt.Errorf("terms %q: unknown", f)
		}
		*field = d
	}

	return nil
}

func TestReplayVectors(t *testing.T) {
	cases := replayCases(t)
	if len(cases) < 90 {
		t.Fatalf("read %d cases, want all of them", len(cases))
	}

	for _, c := range cases {
		t.Run(c.Title, func(t *testing.T) {
			in := parseReplay(t, c)
			if got := in.state(); !slices.Equal(got, c.Want) {
				t.Errorf("line %d\n got:\n-> %s\nwant:\n-> %s", c.Line, strings.Join(got, "\n-> "),
					strings.Join(c.Want, "\n-> "))
			}
		})
	}
}

// state writes what Replay returned as the vectors do.
func (c replayCase) state() []string {
	s := claim.Replay(c.comments)
	var out []string
	for _, x := range s.Claims {
		out = append(append(out, c.claim(x)), bids(x)...)
	}

	out = append(out, c.tombstones(s)...)
	if h, ok := s.Holder(); ok {
		out = append(out, "holder "+h.Record.Worker.String())
	}

	out = append(out, fmt.Sprintf("records %d index %d", s.Records, s.Index()))
	for _, a := range s.Attempts {
		out = append(out, fmt.Sprintf("attempt %s %s at=%s", a.Worker, a.Release.Outcome,
			claimtest.Clock(a.Release.At)))
	}

	if last, ok := s.LastEnded(claim.Claim.Held); ok && len(s.Claims) > 1 {
		out = append(out, "last-ended "+last.Record.Worker.String())
	}

	for _, n := range s.Named() {
		out = append(out, "named "+n.PR+" at="+claimtest.Clock(n.Newest.Created))
	}

	if s.Stage != "" {
		out = append(out, "stage "+s.Stage+" at="+claimtest.Clock(s.StageAt))
	}

	if !s.NotBefore.IsZero() {
		out = append(out, "not-before "+claimtest.Clock(s.NotBefore))
	}

	for _, i := range s.Ignored {
		out = append(out, fmt.Sprintf("ignored %d: %s", i.Comment.ID, i.Reason))
	}

	for _, line := range c.asked {
		out = append(out, line+" -> "+answer(s, strings.Fields(line)))
	}

	return out
}

// answer says what comes of a line about a fencing token or a login.
func answer(s claim.State, words []string) string {
	codename, firing, _ := strings.Cut(words[1], ":")
	w := claim.Worker{Codename: codename, FiringID: firing}
	if words[0] == "confirms" {
		own, _ := s.Find(w)
		nonce := own.Record.Nonce
		if len(words) > 2 {
			nonce = words[2]
		}
		return fmt.Sprint(s.NextToken(w, nonce))
	}

	switch words[0] {
	case "acts":
		return mayAct(s, w, words[2])
	case "contends":
		return contends(s, w, words[2:])
	}

	token, err := strconv.ParseInt(words[2], 10, 64)
	switch {
	case err != nil:
		return err.Error()
	case s.RefuseToken(w, token) != nil:
		return "refused"
	}

	return "accepted"
}

// contends says what R1 or R2 decides about the bid of w with a nonce, which goes by the comment
// that is named, else by its first.
func contends(s claim.State, w claim.Worker, words []string) string {
	var bound claim.Rank
	if own, seen := s.Bid(w, words[0]); seen && len(words) > 1 {
		id, _ := strconv.ParseInt(words[1], 10, 64)
		bound = own.Ranks[slices.IndexFunc(own.Ranks, func(r claim.Rank) bool { return r.ID == id })]
	}

	got := s.Contest(w, words[0], bound)
	if got.Rival.Record.Worker.IsZero() {
		return got.Place.String()
	}

	return got.Place.String() + " " + got.Rival.Record.Worker.String() + "/" + got.Rival.Record.Nonce
}

// mayAct says whether the login may act as w, as whatever asks that has it: of a hold that lives,
// its release and its renewal.
func mayAct(s claim.State, w claim.Worker, login string) string {
	refused := s.RefuseLogin(w, login) != nil
	if c, held := s.Find(w); held && c.Live() && c.Held() {
		release := s.Refuse(claim.Record{Kind: claim.KindRelease, Worker: w}, login, claim.DefaultTerms(), c.Updated)
		renewal := s.RefuseRenewal(w, login, claim.DefaultTerms(), c.Updated, 0)
		if errors.Is(release, claim.ErrNotHolder) != refused || errors.Is(renewal, claim.ErrNotHolder) != refused {
			return fmt.Sprintf("refused is %t, but a release: %v, a renewal: %v", refused, release, renewal)
		}
	}

	if refused {
		return "refused"
	}

	return "accepted"
}

func (c replayCase) claim(x claim.Claim) string {
	out := []string{
		"claim", x.Record.Worker.String(),
		fmt.Sprintf("rank=%s/%d", claimtest.Clock(x.Rank.Created), x.Rank.ID),
	}
	if x.Held() {
		out = append(out, "held")
	} else {
		out = append(out, "unconfirmed")
	}

	if len(x.Ranks) > 1 {
		out = append(out, fmt.Sprintf("comments=%d", len(x.Ranks)))
	}

	if x.Record.Token != 0 {
		out = append(out, fmt.Sprintf("token=%d", x.Record.Token))
	}

	if x.Person != "" {
		out = append(out, "person="+x.Person)
	}
	out = append(out, planOf(x)...)
	if x.Revoked != nil {
		out = append(out, "revoked-by="+x.Revoked.By)
	}

	if x.Live() {
		return strings.Join(append(out, c.lease(x)...), " ")
	}

	return strings.Join(append(out, endOf(x.End)...), " ")
}

// bids lists those of a claim that has several.
func bids(x claim.Claim) (out []string) {
	if len(x.Bids) < 2 {
		return nil
	}

	for _, b := range x.Bids {
		line := fmt.Sprintf("bid %s/%s rank=%s/%d unconfirmed", x.Record.Worker, b.Nonce,
			claimtest.Clock(b.Rank.Created), b.Rank.ID)
		if b.Held() {
			line = strings.TrimSuffix(line, "unconfirmed") + "held"
		}

		if b.Record.Token != 0 {
			line += fmt.Sprintf(" token=%d", b.Record.Token)
		}

		if b.Record.Resumes != "" {
			line += " resumes=" + b.Record.Resumes
		}

		if b.Ended {
			line += " ended"
		}
		out = append(out, line)
	}

	return out
}

func planOf(x claim.Claim) []string {
	switch {
	case x.Plan == nil:
		return nil
	case x.Plan.Pending():
		return []string{"plan=pending"}
	case x.Plan.Approved:
		return []string{"plan=approved", "answered-by=" + x.Plan.By}
	}

	return []string{"plan=rejected", "answered-by=" + x.Plan.By}
}

func (c replayCase) lease(x claim.Claim) []string {
	until := "never"
	if end, ok := x.Until(c.terms); ok {
		until = claimtest.Clock(end)
	}

	out := []string{"live", "until=" + until}
	switch {
	case c.now.IsZero():
	case x.Expired(c.terms, c.now):
		out = append(out, "expired")
	case x.Overdue(c.terms, c.now):
		out = append(out, "overdue")
	default:
		out = append(out, "stands")
	}

	return out
}

func endOf(r *claim.Release) []string {
	out := []string{"ended=" + plain(r.Outcome), "at=" + claimtest.Clock(r.At)}
	if r.By != "" {
		out = append(out, "by="+plain(r.By))
	}

	if r.PR != "" {
		out = append(out, "pr="+plain(r.PR))
	}

	if r.Closes {
		out = append(out, "link=closes")
	}

	if r.Unlinked {
		out = append(out, "unlinked")
	}

	if !r.NotBefore.IsZero() {
		out = append(out, "not_before="+claimtest.Clock(r.NotBefore))
	}

	return out
}

// tombstones lists the keys that a release killed before any claim of theirs was seen.
func (c replayCase) tombstones(s claim.State) []string {
	var out []string
	for _, comment := range c.comments {
		r, ok, _ := claim.Decode(comment.Body)
		if _, claimed := s.Find(r.Worker); ok && !claimed && s.Dead(r.Worker) {
			out = append(out, "tombstone "+r.Worker.String())
		}
	}

	slices.Sort(out)
	return slices.Compact(out)
}
