package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/clock"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/sample"
)

// TestNoRolesForReaders: who may not push is not told roles. What somebody is called beside a
// comment is not a role, so a claim or an end by anybody whom nothing else decides is in doubt: the
// snapshot names whom, and nobody is asked in vain.
func TestNoRolesForReaders(t *testing.T) {
	server := simulated(t)
	i := claim.Issue{Owner: "acme", Repo: "app", Number: 2}
	sent := watched(server.Transport())
	client := connect(t, sent, as("tok-rob"))
	var hidden *HiddenRoleError
	if _, err := client.Facts(t.Context(), i); !errors.As(err, &hidden) ||
		!strings.Contains(hidden.Remedy(), "trust.logins") {
		t.Errorf("%v, want a HiddenRoleError", err)
	}

	r := client.HoldersOf(t.Context(), []claim.Issue{i})[0]
	if r.Err != nil {
		t.Fatal(r.Err)
	}

	if h, held := r.Facts.Log.Holder(); held || len(r.Facts.Doubts) != 2 {
		t.Errorf("holder %v %t, doubts %q, want nobody and a doubt each of mal and tia", h.Record.Worker, held,
			r.Facts.Doubts)
	}

	if n := asked(sent); n > 0 {
		t.Errorf("%d requests for roles that GitHub tells no reader", n)
	}
	listed := connect(t, server.Transport(), as("tok-rob"),
		func(o *Options) { o.Trust.Logins = []string{"tia", "mal"} })
	if f, err := listed.Facts(t.Context(), i); err != nil || len(f.Log.Live()) != 2 {
		t.Errorf("with listed logins: %d claims, %v", len(f.Log.Live()), err)
	}
}

// TestTriageClaimsWhatItCanJudge: a triage login, one with a custom role and one that is only
// listed may not ask for roles. They never win beside a hold that a forged release of somebody with
// less seems to end; they do win where the configuration decides about everybody in the log.
func TestTriageClaimsWhatItCanJudge(t *testing.T) {
	i := claim.Issue{Owner: "acme", Repo: "app", Number: 1}
	forged := "<!-- agent-release:codename=first firing_id=f1 outcome=forced by=olga -->"
	for _, login := range []string{"tia", "kim", "named"} {
		for _, last := range []struct {
			author string
			wins   bool
		}{{"", true}, {"named", true}, {"rob", false}, {"mal", false}} {
			t.Run(login+", "+last.author, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := court(t)
					listed := func(o *Options) { trusting(RoleTriage)(o); o.Trust.Logins = []string{"named", "wes"} }
					if last.author != "" {
						wes := run(connect(t, server.Transport(), as("tok-wes"), listed))
						_, err := wes.Claim(t.Context(), i,
							ledger.Request{Worker: claim.Worker{Codename: "first", FiringID: "f1"}})
						var late *ledger.LabelsError
						if err != nil && !errors.As(err, &late) {
							t.Fatal(err)
						}

						if _, err := server.AddComment("acme/app", 1, last.author, forged); err != nil {
							t.Fatal(err)
						}
					}

					sent := watched(server.Transport())
					_, err := run(connect(t, sent, as("tok-"+login), listed)).Claim(t.Context(), i,
						ledger.Request{Worker: claim.Worker{Codename: "lucius", FiringID: "f2"}})
					var hidden *HiddenRoleError
					var late *ledger.LabelsError
					switch won := err == nil || errors.As(err, &late); {
					case won != last.wins:
						t.Errorf("claim: %v", err)
					case !won && (!errors.As(err, &hidden) || sent.like("POST /repos")+sent.like("PATCH") > 0):
						t.Errorf("claim: %v after %q", err, sent.sent)
					}
				})
			})
		}
	}
}

// TestRoleRefused: one 403 to a question for a role makes nobody count by what stands beside the
// comment.
func TestRoleRefused(t *testing.T) {
	server := simulated(t)
	refusing := roundTrip(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/permission") {
			r.Header.Set("Authorization", "Bearer tok-rob")
		}
		return server.Transport().RoundTrip(r)
	})
	record := "<!-- agent-claim:codename=lucius firing_id=f1 nonce=7f3a9c1e ttl=none state=held -->"
	if _, err := server.AddComment("acme/app", 1, "tia", record); err != nil {
		t.Fatal(err)
	}

	var hidden *HiddenRoleError
	sent := watched(refusing)
	c := connect(t, sent)
	if _, err := c.Facts(t.Context(), issue("app", 1)); !errors.As(err, &hidden) || asked(sent) != 1 {
		t.Errorf("%v, want a HiddenRoleError of the one account that was asked about", err)
	}
}

// asked counts the questions for one account's role.
func asked(sent *counting) (n int) {
	for _, one := range sent.sent {
		if strings.HasSuffix(one, "/permission") {
			n++
		}
	}
	return n
}

// A login of the court, and the largest least role under which its records count.
type candidate struct {
	login, role string
	most        Role
}

func (c candidate) counts(least Role) bool { return rank(c.most) >= rank(least) }

func candidates() []candidate {
	return []candidate{
		{"olga", "admin", RoleAdmin},
		{"max", "maintain", RoleMaintain},
		{"lin", "maintain:lead", RoleMaintain},
		{"wes", "write", RoleWrite},
		{"tia", "triage", RoleTriage},
		{"kim", "triage:issue keeper", RoleTriage},
		{"lea", "write:release manager", RoleWrite},
		{"ray", "read:admin of papers", roleRead},
		{"rob", "read", roleRead},
		{"mal", "", roleNone},
		{"named", "", RoleAdmin},
		{"listed[bot]", "write", RoleAdmin},
		{"unlisted[bot]", "write", roleNone},
	}
}

// court is a repository with an issue, and everybody with a token.
func court(t *testing.T) *githubsim.Server {
	t.Helper()
	seed := githubsim.Seed{Repos: []githubsim.SeedRepo{{Name: "acme/app", Issues: []githubsim.SeedIssue{
		{
			Number: 1,
			Title:  "Free",
			Author: "olga",
			Labels: []string{"agent:implement"},
		},
	}}, {Name: "acme/lib", Issues: []githubsim.SeedIssue{
		{
			Number: 1,
			Title:  "Free",
			Author: "olga",
			Labels: []string{"agent:implement"},
		},
	}}}}

	for _, c := range candidates() {
		u := githubsim.SeedUser{Login: c.login, Token: "tok-" + strings.TrimSuffix(c.login, "[bot]")}
		if c.role != "" { // the labels are missing: who may not create them wins with late labels
			u.Permissions = map[string]string{"acme/app": c.role}
			if c.login == "olga" { // who reads both
				u.Permissions["acme/lib"] = c.role
			}
		}

		seed.Users = append(seed.Users, u)
	}

	server, err := githubsim.New(seed, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	return server
}

func trusting(least Role) func(*Options) {
	return func(o *Options) {
		o.Trust = Trust{Logins: []string{"named"}, Apps: []string{"github-actions", "listed"}, Minimum: least}
	}
}

// TestWhoWinsMustCount: whoever is told to hold an issue is seen as its holder by everybody else.
// All others are told so, with what would change it, before they have written anything
// (spec.md#which-records-count).
func TestWhoWinsMustCount(t *testing.T) {
	for _, who := range candidates() {
		for _, least := range []Role{RoleTriage, RoleWrite, RoleMaintain, RoleAdmin} {
			t.Run(fmt.Sprintf("%s, %s", who.login, least), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { mustCount(t, who, least) })
			})
		}
	}
}

func mustCount(t *testing.T, who candidate, least Role) {
	server, i := court(t), claim.Issue{Owner: "acme", Repo: "app", Number: 1}
	sent := watched(server.Transport())
	mine := connect(t, sent, as("tok-"+strings.TrimSuffix(who.login, "[bot]")), trusting(least))
	_, err := run(mine).Claim(t.Context(), i, ledger.Request{Worker: claim.Worker{Codename: "lucius", FiringID: "f1"}})
	var outsider *OutsiderError
	var late *ledger.LabelsError
	switch counts := who.counts(least); {
	case counts && err != nil && !errors.As(err, &late):
		t.Fatalf("claim: %v", err)
	case counts && err != nil && !strings.Contains(err.Error(),
		"label agent:in-flight does not exist in acme/app, and this login may not create it: label-state labels sync acme/app"):
		t.Errorf("late labels: %v", err)
	case counts:
	case !errors.As(err, &outsider):
		t.Fatalf("claim: %v, want an OutsiderError", err)
	case sent.like("POST /repos")+sent.like("PATCH")+sent.like("DELETE") > 0:
		t.Errorf("written: %q", sent.sent)
	case !strings.Contains(outsider.Remedy(), "trust."),
		strings.Contains(outsider.Remedy(), "trust.permission to "+string(outsider.Role)) != (rank(outsider.Role) > rank(roleRead)):
		t.Errorf("remedy: %s", outsider.Remedy())
	}

	served := []http.RoundTripper{server.Transport()}
	if !strings.Contains(who.role, ":") { // a server that is older ranks no roles in a map, and has none of its own names
		served = append(served, spoiled(server.Transport(), `"triage":`, `"-":`))
	}

	for _, by := range served {
		f, err := connect(t, by, as("tok-olga"), trusting(least)).Facts(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		if _, held := f.Log.Holder(); held != who.counts(least) || len(f.Log.Ignored) > 0 {
			t.Errorf("somebody holds it: %t, want %t; ignored: %v", held, who.counts(least), f.Log.Ignored)
		}
	}
}

// run is a ledger of a client that does not settle.
func run(c *Client) *ledger.Ledger {
	set, n := ledger.DefaultSettings(), atomic.Int64{}
	set.Settle = 0
	return ledger.New(c, clock.Machine{}, func() string { return fmt.Sprintf("%08x", n.Add(1)) }, set)
}

// TestOwnRoleCostsNothing: whether the own records count comes with the query that is made anyway.
func TestOwnRoleCostsNothing(t *testing.T) {
	server := court(t)
	for _, login := range []string{"olga", "kim", "rob"} {
		sent := watched(server.Transport())
		c := connect(t, sent, as("tok-"+login), trusting(RoleTriage))
		if _, err := c.Facts(t.Context(), claim.Issue{Owner: "acme", Repo: "app", Number: 1}); err != nil {
			t.Fatal(err)
		}

		err := c.Heard(t.Context(), claim.Repo{Owner: "acme", Name: "app"})
		if (err == nil) != (login != "rob") || len(sent.sent) != 1 {
			t.Errorf("%s: %v after %q", login, err, sent.sent)
		}
	}
}

// TestNothingIsWrittenUnheard: every kind of record is refused before it is posted, not the claim
// alone.
func TestNothingIsWrittenUnheard(t *testing.T) {
	server, ctx := court(t), t.Context()
	i := claim.Issue{Owner: "acme", Repo: "app", Number: 1}
	worker := claim.Worker{Codename: "lucius", FiringID: "f1"}
	if _, err := run(connect(t, server.Transport(), as("tok-olga"), trusting(RoleTriage))).Claim(ctx, i,
		ledger.Request{Worker: worker}); err != nil {
		t.Fatal(err)
	}

	for _, login := range []string{"rob", "unlisted"} {
		sent := watched(server.Transport())
		l := run(connect(t, sent, as("tok-"+login), trusting(RoleTriage)))
		for name, do := range map[string]func() error{
			"force":  func() error { _, _, err := l.Force(ctx, i, login, "because"); return err },
			"revoke": func() error { _, err := l.Revoke(ctx, i, login, "because"); return err },
			"release": func() error {
				_, err := l.Release(ctx, i,
					ledger.Ending{Worker: worker, By: login})
				return err
			},
		} {
			var outsider *OutsiderError
			var hidden *HiddenRoleError
			if err := do(); !errors.As(err, &outsider) && !(login == "rob" && errors.As(err, &hidden)) {
				t.Errorf("%s by %s: %v, want an OutsiderError", name, login, err)
			}
		}

		if n := sent.like("POST /repos"); n > 0 {
			t.Errorf("%s wrote: %q", login, sent.sent)
		}
	}
}

// TestRoleOfOneRepository: who counts in one repository does not for that count in another.
func TestRoleOfOneRepository(t *testing.T) {
	server := court(t)
	record := "<!-- agent-claim:codename=lucius firing_id=f1 nonce=7f3a9c1e ttl=none state=held -->"
	for _, repo := range []string{"acme/app", "acme/lib"} {
		if _, err := server.AddComment(repo, 1, "tia", record); err != nil {
			t.Fatal(err)
		}
	}

	c := connect(t, server.Transport(), as("tok-olga"), trusting(RoleTriage))
	for _, repo := range []string{"app", "lib", "app"} {
		f, err := c.Facts(t.Context(), issue(repo, 1))
		if err != nil {
			t.Fatal(err)
		}

		if _, held := f.Log.Holder(); held != (repo == "app") {
			t.Errorf("%s is held: %t", repo, held)
		}
	}
}

// far answers after so long, and counts how many requests are under way at most.
type far struct {
	next      http.RoundTripper
	latency   time.Duration
	now, most atomic.Int64
}

func (f *far) RoundTrip(r *http.Request) (*http.Response, error) {
	for n := f.now.Add(1); ; {
		most := f.most.Load()
		if n <= most || f.most.CompareAndSwap(most, n) {
			break
		}
	}

	defer f.now.Add(-1)
	select {
	case <-time.After(f.latency):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}

	return f.next.RoundTrip(r)
}

// besieged is an issue that tia holds behind forged claims of strangers, after past holders of her
// fleet, between so many comments that say nothing.
func besieged(t *testing.T, strangers, past, talk int) *githubsim.Server {
	t.Helper()
	at := func(n int) *time.Time { m := time.Now().Add(time.Duration(n-3600) * time.Second); return &m }
	record := func(kind, name, more string) string {
		return "<!-- agent-" + kind + ":codename=" + name + " firing_id=f-" + name + " nonce=7f3a9c1e " + more + "-->"
	}

	seed := githubsim.Seed{
		Users: []githubsim.SeedUser{
			{Login: "bot", Token: "tok-bot", Permissions: map[string]string{"acme/app": "write"}},
			{Login: "tia", Token: "tok-tia", Permissions: map[string]string{"acme/app": "triage"}},
		},
		Repos: []githubsim.SeedRepo{{Name: "acme/app", Issues: []githubsim.SeedIssue{{
			Number: 1,
			Title:  "Wanted",
			Author: "bot",
			Labels: []string{"agent:in-flight"},
		}}}},
	}
	thread := &seed.Repos[0].Issues[0].Comments
	say := func(n int, author, body string) {
		*thread = append(*thread, githubsim.SeedComment{Author: author, Body: body, CreatedAt: at(n)})
	}

	for n := range past {
		name := fmt.Sprintf("past%d", n)
		seed.Users = append(seed.Users,
			githubsim.SeedUser{Login: name, Token: "tok-" + name, Permissions: map[string]string{"acme/app": "triage"}})
		say(2*n, name, record("claim", name, "ttl=none state=held "))
		say(2*n+1, name, record("release", name, "outcome=failure "))
	}

	for n := range strangers {
		name := fmt.Sprintf("stranger%d", n)
		say(1000+n, name, record("claim", name, "ttl=none state=held "))
		say(1500+n, name, record("release", "tia", "outcome=forced by="+name+" "))
	}

	say(1400, "tia", record("claim", "tia", "ttl=none state=held "))
	for n := range talk {
		say(1000+n%1000, fmt.Sprintf("stranger%d", n%50), "any news?")
	}

	slices.SortStableFunc(*thread, func(a, b githubsim.SeedComment) int { return a.CreatedAt.Compare(*b.CreatedAt) })
	server, err := githubsim.New(seed, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	return server
}

// TestVerdictInTime: neither forty strangers nor twenty past holders keep the hook from its
// verdict, at 150 ms a request. An ordinary run plays some.
func TestVerdictInTime(t *testing.T) {
	for _, c := range []struct {
		name                  string
		strangers, past, talk int

		options []func(*Options)
		within  time.Duration
		asked   int // for roles
	}{
		{"nobody else", 0, 0, 0, nil, 400 * time.Millisecond, 1},
		{"past holders", 0, 20, 0, nil, 400 * time.Millisecond, 1},
		{"strangers", 40, 0, 0, nil, time.Second, 0},
		{"both", 40, 20, 0, nil, time.Second, 0},
		{
			"both, roles one by one", 40, 20, 0,
			[]func(*Options){func(o *Options) { o.Trust.Minimum = roleRead }},
			2 * time.Second, 41,
		},
		{"400 strangers", 400, 0, 0, nil, time.Second, 1},
		{"5,000 comments and strangers", 40, 20, 5000, nil, time.Second, 0},
	} {
		if c.asked <= 1 && !sample.Plays(c.name, 0, 3) { // of those that ask for many roles each is played
			continue
		}

		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				way := &far{next: besieged(t, c.strangers, c.past, c.talk).Transport(), latency: 150 * time.Millisecond}
				sent := watched(way)
				start := time.Now()
				r := connect(t, sent, c.options...).HoldersOf(t.Context(), []claim.Issue{issue("app", 1)})[0]
				if r.Err != nil || len(r.Facts.Doubts) > 0 {
					t.Fatal(r.Err, r.Facts.Doubts)
				}

				if h, held := r.Facts.Log.Holder(); c.name != "both, roles one by one" &&
					(!held || h.Record.Worker.Codename != "tia") {
					t.Errorf("holder %v %t, want tia", h.Record.Worker, held)
				}

				if took := time.Since(start); took > c.within {
					t.Errorf("%s, want %s: %d requests", took, c.within, len(sent.sent))
				}

				if n := asked(sent); n != c.asked {
					t.Errorf("%d requests for one role each, want %d", n, c.asked)
				}

				if got := way.most.Load(); got > 8 {
					t.Errorf("%d requests at once, want at most 8", got)
				}
			})
		})
	}
}

// TestNoInDoubt: when time runs out before everybody was asked about, whom the configuration trusts
// still holds the issue, and the facts say whose records are missing.
func TestNoInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := besieged(t, 40, 0, 0)
		slow := roundTrip(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/permission") {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return server.Transport().RoundTrip(r)
		})
		c := connect(t, slow, func(o *Options) { o.Trust = Trust{Logins: []string{"tia"}, Minimum: RoleWrite} },
			func(o *Options) { o.Trust.Minimum = roleRead })
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		r := c.HoldersOf(ctx, []claim.Issue{issue("app", 1)})[0]
		if r.Err != nil || ctx.Err() != nil {
			t.Fatal(r.Err, ctx.Err())
		}

		if h, held := r.Facts.Log.Holder(); !held || h.Record.Worker.Codename != "tia" || len(r.Facts.Doubts) == 0 {
			t.Errorf("holder %v %t, doubts %q", h.Record.Worker, held, r.Facts.Doubts)
		}
	})
}

// TestViewGuesses: a view whose token is told no roles goes by GitHub's word beside the comments
// and says so; everybody else does not know.
func TestViewGuesses(t *testing.T) {
	var warned []string
	view := func(o *Options) { o.View, o.Warn = true, func(text string) { warned = append(warned, text) } }
	_, err := connect(t, simulated(t).Transport(), as("tok-rob")).Facts(t.Context(), issue("app", 2))
	var hidden *HiddenRoleError
	if !errors.As(err, &hidden) {
		t.Errorf("%v, want that it is not known", err)
	}

	c := connect(t, simulated(t).Transport(), as("tok-rob"), view)
	f, err := c.Facts(t.Context(), issue("app", 2))
	if h, held := f.Log.Holder(); err != nil || !held || h.Author != "tia" || len(f.Log.Live()) != 1 {
		t.Errorf("view: %+v, %v; want tia's claim and not mal's", f.Log.Claims, err)
	}

	if len(warned) != 1 || c.Guessed() != warned[0] || !strings.Contains(warned[0], "which is a guess") {
		t.Errorf("view: warned %q, guessed %q", warned, c.Guessed())
	}
	warned = nil
	told := connect(t, simulated(t).Transport(), view)
	if f, err := told.Facts(t.Context(), issue("app", 2)); err != nil || len(f.Log.Live()) != 1 ||
		told.Guessed() != "" || len(warned) != 0 {
		t.Errorf("view that is told: %v, %q, %v", f.Log.Live(), told.Guessed(), err)
	}
}

// TestGuessedRefusal: who is told no roles gets a guess beside the log, of which nothing is
// certain. It has the records of those whom GitHub calls members, theirs alone, and who is told has
// none.
func TestGuessedRefusal(t *testing.T) {
	server := simulated(t)
	i := issue("app", 2)

	r := connect(t, server.Transport(), as("tok-rob")).HoldersOf(t.Context(), []claim.Issue{i})[0]
	if r.Err != nil || len(r.Facts.Log.Live()) > 0 || len(r.Facts.Doubts) != 2 || r.Guess == nil {
		t.Fatalf("%+v", r)
	}

	if live := r.Guess.Live(); len(live) != 1 || live[0].Author != "tia" {
		t.Errorf("guess %+v, want tia's claim alone", live)
	}

	const second = "<!-- agent-claim:codename=drake firing_id=f2 nonce=n2 ttl=1800 state=held -->"
	if _, err := server.AddComment("acme/app", 2, "github-actions[bot]", second); err != nil {
		t.Fatal(err)
	}
	r = connect(t, server.Transport(), as("tok-rob")).HoldersOf(t.Context(), []claim.Issue{i})[0]
	if r.Err != nil || r.Guess == nil || len(r.Facts.Log.Live()) != 1 || len(r.Guess.Live()) != 2 {
		t.Errorf("%v, guess %+v, want one that has what certainly counts, too", r.Err, r.Guess)
	}

	told := connect(t, server.Transport()).HoldersOf(t.Context(), []claim.Issue{i})[0]
	if told.Err != nil || told.Guess != nil {
		t.Errorf("a guess %+v for who is told, %v", told.Guess, told.Err)
	}
}
